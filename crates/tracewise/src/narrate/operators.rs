//! Sentences about temporal operators, by their properties.

use super::{Narrator, cited};
use tw_core::Position;
use tw_ir::{Applied, Form, NodeId};
use tw_monitor::{Claim, Explanation};

impl Narrator<'_> {
    /// Where the deciding operand is: the position of a child about that operand.
    fn child_at(&self, claim: &Claim, node: NodeId, explanation: &Explanation) -> Option<Position> {
        let mut children = claim.children.iter().map(|&child| &explanation.claims[child]);
        let child = children.find(|child| child.node == node && child.range.0 == child.range.1)?;
        Some(self.original(child.range.0))
    }

    /// The same, where the operand fails there.
    pub(super) fn fails_at(
        &self,
        claim: &Claim,
        node: NodeId,
        explanation: &Explanation,
    ) -> Option<Position> {
        let mut children = claim.children.iter().map(|&child| &explanation.claims[child]);
        let child =
            children.find(|child| child.node == node && !child.holds && child.range.0 == child.range.1)?;
        Some(self.original(child.range.0))
    }

    /// Why an operator is what it is at a position; nothing where its interval would have to be told.
    pub(super) fn operator(
        &self,
        claim: &Claim,
        operator: Applied,
        explanation: &Explanation,
    ) -> Option<String> {
        let Applied { form, past, weak, left, right, .. } = operator;
        let Some(left) = left else { return self.alone(claim, operator, explanation) };
        let words = |node: NodeId| cited(&self.spec.words_with(node, &claim.bindings));
        let from = self.original(claim.range.0);
        // What has to hold, and what ends that.
        let (hold, goal) = if form == Form::Until { (left, right) } else { (right, left) };
        let (a, b) = (words(hold), words(goal));
        Some(match (form, claim.holds) {
            (Form::Release, false) if weak => match self.fails_at(claim, hold, explanation) {
                Some(at) => format!("{a} fails at position {at} and was not released"),
                None => format!("{a} fails and was not released"),
            },
            (Form::Release, true) => match self.child_at(claim, goal, explanation) {
                Some(at) => format!("{a} holds up to position {at}, where {b} releases it"),
                None => format!("{a} holds throughout"),
            },
            (_, false) => match (self.fails_at(claim, hold, explanation), past) {
                (Some(at), false) => format!("{a} fails at position {at}, before {b} comes"),
                (Some(at), true) => {
                    format!("{a} fails at position {at}, and {b} has not held from there on")
                }
                (None, false) => format!(
                    "{b} never comes before {} ends: still pending since position {from}",
                    self.whole()
                ),
                (None, true) => format!("{b} has not held at any position up to {from}"),
            },
            (_, true) => match (self.child_at(claim, goal, explanation), past) {
                (Some(at), _) if at == from => format!("{b} holds right here"),
                (Some(at), false) => format!("{a} holds until {b} comes at position {at}"),
                (Some(at), true) => format!("{a} holds since {b} at position {at}"),
                (None, false) => format!("{a} holds to the end of {}", self.whole()),
                (None, true) => format!("{a} has held since the start of {}", self.whole()),
            },
        })
    }

    /// The same of an operator with one operand.
    fn alone(&self, claim: &Claim, operator: Applied, explanation: &Explanation) -> Option<String> {
        let Applied { form, past, interval, right, .. } = operator;
        let a = cited(&self.spec.words_with(right, &claim.bindings));
        let (begin, end) = self.loaded.trace.segment_of(claim.range.0);
        let from = self.original(claim.range.0);
        let decided = self.child_at(claim, right, explanation);
        Some(match (form, claim.holds) {
            (Form::Step, holds) => {
                let edge = if past { begin } else { end - 1 };
                let side = if past { "previous" } else { "next" };
                if claim.range.0 == edge && claim.children.is_empty() {
                    let asked = if holds { ", so nothing is asked" } else { "" };
                    return Some(format!("there is no {side} position{asked}"));
                }
                format!("{a} {} at the {side} position", if holds { "holds" } else { "fails" })
            }
            (Form::Until, true) => match decided {
                Some(at) => format!("{a} holds at position {at}"),
                None => format!("{a} holds there"),
            },
            (Form::Release, false) => match decided {
                Some(at) => format!("{a} fails at position {at}"),
                None => format!("{a} fails"),
            },
            _ if interval.is_some() => return None,
            (Form::Until, false) if past => format!("{a} has not held at any position up to {from}"),
            (Form::Until, false) => format!(
                "{a} never holds from position {from} to the end of {} ({}): still pending",
                self.whole(),
                self.original(end - 1)
            ),
            (Form::Release, true) if past => format!("{a} has held at every position up to {from}"),
            (Form::Release, true) => format!("{a} holds at every position from {from} to the end"),
        })
    }
}
