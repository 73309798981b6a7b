//! Sentences about operators with an interval: what was missed by how much, and what is still awaited.

use super::{Narrator, cited};
use tw_core::{Position, duration};
use tw_ir::{Clock, Form, Interval, NodeId};
use tw_monitor::{Claim, Rule};

impl Narrator<'_> {
    /// What decides an operator with an interval, if that is the interval.
    pub(super) fn window(&self, claim: &Claim) -> Option<String> {
        let operator = self.spec.program.dag.node(claim.node).temporal()?;
        let interval = operator.interval?;
        let at = claim.range.0;
        // What has to hold meanwhile, if anything, and what is awaited or has to hold throughout.
        let (hold, goal) = match (operator.form, operator.left) {
            // The first operand releases the second.
            (Form::Release, Some(left)) => (Some(operator.right), left),
            (_, left) => (left, operator.right),
        };
        let words = |node: NodeId| cited(&self.spec.words_with(node, &claim.bindings));
        let side = if !operator.past { "after" } else { "before" };
        let within = format!("within {} {side} position {}", span(&interval), self.original(at));
        let asked = if claim.holds { ", so nothing is asked" } else { "" };
        // "position 3, 5.5s later"
        let away = |other: Position| {
            let there = if !operator.past { "later" } else { "before" };
            let distance = self.distance(at.min(other), at.max(other))?;
            Some(format!("at position {}, {distance} {there}", self.original(other)))
        };
        Some(match claim.rule {
            Rule::Missed { at: other } => {
                let place = if other == at { "right here".into() } else { away(other)? };
                format!("{} does not hold {within}, but {place}", words(goal))
            }
            Rule::Never { pending: false } => format!("{} does not hold {within}", words(goal)),
            Rule::Never { pending: true } => {
                let (_, end) = self.loaded.trace.segment_of(at);
                let passed = self.distance(at, end - 1)?;
                format!(
                    "{} has not held when {} ends, {passed} later: still pending",
                    words(goal),
                    self.whole()
                )
            }
            Rule::NoPosition { pending: true } => {
                format!("no position lies {within}, where {} ends: still pending{asked}", self.whole())
            }
            Rule::NoPosition { pending: false } => format!("no position lies {within}{asked}"),
            Rule::OutsideInterval => {
                let other = if !operator.past { at + 1 } else { at.checked_sub(1)? };
                let next = if !operator.past { "next" } else { "previous" };
                let distance = self.distance(at.min(other), at.max(other))?;
                format!("the {next} position is {distance} away, not within {}{asked}", span(&interval))
            }
            Rule::Everywhere if hold.is_none() => format!("{} holds {within}", words(goal)),
            Rule::FailsAt { at: other } if other != at => format!("{} fails {}", words(goal), away(other)?),
            Rule::BrokenAt { at: other } if !operator.weak && hold.is_some() => {
                let place = if other == at { "right here".into() } else { away(other)? };
                let by_then = if !operator.past { "up to there" } else { "from there on" };
                let hold = words(hold?);
                format!("{hold} fails {place}, and {} does not hold {within} {by_then}", words(goal))
            }
            Rule::Witness { at: other } if other != at => {
                let held = match (hold, operator.past) {
                    (Some(hold), false) => format!(", and {} until then", words(hold)),
                    (Some(hold), true) => format!(", and {} since then", words(hold)),
                    (None, _) => String::new(),
                };
                format!("{} holds {}{held}", words(goal), away(other)?)
            }
            _ => return None,
        })
    }

    /// How far apart two positions are, as time or as a number of positions.
    fn distance(&self, from: Position, to: Position) -> Option<String> {
        if self.session.evaluate.clock == Clock::Index || !self.loaded.summary.timed {
            let count = to - from;
            return Some(format!("{count} position{}", if count == 1 { "" } else { "s" }));
        }
        let times = self.loaded.trace.times.as_ref()?;
        Some(duration(times.get(to)?.saturating_sub(*times.get(from)?)))
    }
}

/// `[0,5s]` is "5s".
fn span(interval: &Interval) -> String {
    match interval.high {
        Some(high) if interval.low.billionths == 0 && !interval.low.open && !high.open => high.to_string(),
        _ => interval.to_string(),
    }
}
