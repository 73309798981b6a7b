//! The translation of charts to linear temporal logic: what the reading `ltl` says.

use super::{Check, Condition};
use crate::{Node, NodeId, Program, Temporal};

impl Program {
    /// The formula of a root that is a chart: `ξ_pre & χ -> ξ_main`, or `ξ_main -> ξ_pre & χ`. It says nothing of iteration.
    pub fn chart_ltl(&mut self, root: NodeId) -> Option<NodeId> {
        let (_, check, events) = self.chart(root)?;
        let check = check.clone();
        let (pre, main) = events.split_at(check.pre);
        let once = self.once(&check, 0, pre);
        let chi = self.apart(pre, main);
        let led = self.all([once, chi]);
        let follows = self.once(&check, check.pre, main);
        // `¬a -> ¬b` says the same as `b -> a`, and reads better.
        let node = match check.condition {
            Condition::Necessary => Node::Implies(led, follows),
            Condition::Sufficient => Node::Implies(follows, led),
        };
        let node = self.dag.add(node);
        self.spans.resize(self.dag.len(), None);
        Some(node)
    }

    /// ξ: all events of a basic chart happen, each once, in their order.
    fn once(&mut self, check: &Check, from: usize, events: &[NodeId]) -> NodeId {
        let mut parts = Vec::new();
        for (at, &event) in events.iter().enumerate() {
            for (other, &before) in events.iter().enumerate() {
                if check.before[from + at] >> other & 1 == 1 {
                    let not = self.dag.add(Node::Not(event));
                    parts.push(self.dag.add(Node::Binary(Temporal::WeakUntil, None, not, before)));
                }
            }
        }
        for &event in events {
            let not = self.dag.add(Node::Not(event));
            let never = self.dag.add(Node::Unary(Temporal::Globally, None, not));
            let later = self.dag.add(Node::Unary(Temporal::WeakNext, None, never));
            let last = self.dag.add(Node::And(event, later));
            parts.push(self.dag.add(Node::Binary(Temporal::WeakUntil, None, not, last)));
        }
        for &event in events {
            parts.push(self.dag.add(Node::Unary(Temporal::Finally, None, event)));
        }
        self.all(parts)
    }

    /// χ: no event of the main chart before all of the prechart.
    fn apart(&mut self, pre: &[NodeId], main: &[NodeId]) -> NodeId {
        let none: Vec<NodeId> = main.iter().map(|&event| self.dag.add(Node::Not(event))).collect();
        let none = self.all(none);
        let parts: Vec<NodeId> = pre
            .iter()
            .map(|&event| self.dag.add(Node::Binary(Temporal::WeakUntil, None, none, event)))
            .collect();
        self.all(parts)
    }

    fn all(&mut self, parts: impl IntoIterator<Item = NodeId>) -> NodeId {
        let dag = &mut self.dag;
        let parts: Vec<NodeId> = parts.into_iter().collect();
        let whole = parts.into_iter().reduce(|whole, part| dag.add(Node::And(whole, part)));
        whole.unwrap_or_else(|| dag.add(Node::Bool(true)))
    }
}
