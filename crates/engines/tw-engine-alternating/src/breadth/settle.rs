//! When a verdict is settled.

use super::machine::{Key, Slices};
use tw_automata::alternating::{Direction, NodeIndex};
use tw_automata::emptiness::Emptiness;
use tw_ir::NodeId;

impl Slices {
    /// The verdict that every continuation has in common.
    pub(super) fn settle(&mut self, key: Key) -> Option<bool> {
        let (no_slice, no_obligation) = (self.is_none(key.slices), self.has_empty(key.slices));
        let Some(mut emptiness) = self.emptiness.take() else {
            // The end may decide otherwise than every continuation does, by `last` and by nexts.
            return match key.ends {
                false if no_slice => Some(false),
                true if no_obligation => Some(true),
                _ => None,
            };
        };
        let settled = if no_slice || self.has_empty(key.negation) {
            Some(false)
        } else if no_obligation || self.is_none(key.negation) {
            Some(true)
        } else {
            let satisfiable = self.satisfiable(&mut emptiness, key.slices, key.memory);
            let negation = match satisfiable {
                Some(false) => None,
                _ => self.satisfiable(&mut emptiness, key.negation, key.memory),
            };
            match (satisfiable, negation) {
                (Some(false), _) => Some(false),
                (_, Some(false)) => Some(true),
                (Some(true), Some(true)) => None,
                _ => {
                    self.undecided = true;
                    None
                }
            }
        };
        self.emptiness = Some(emptiness);
        settled
    }

    pub(super) fn is_none(&self, set: u32) -> bool {
        self.sets.get(set).is_empty()
    }

    pub(super) fn has_empty(&self, set: u32) -> bool {
        self.sets.get(set).iter().any(|&slice| self.slices.get(slice).is_empty())
    }

    /// Whether some infinite continuation satisfies one of the slices; `None` where that is not found out.
    pub(super) fn satisfiable(&self, emptiness: &mut Emptiness, set: u32, memory: u32) -> Option<bool> {
        let memory = self.memory(memory);
        let mut none = Some(false);
        for &slice in self.sets.get(set) {
            let owed: Vec<(NodeId, bool)> =
                self.slices.get(slice).iter().map(|&number| self.formula(number)).collect();
            match emptiness.satisfiable(&self.program, &owed, &memory) {
                Some(false) => {}
                Some(true) => return Some(true),
                None => none = None,
            }
        }
        none
    }

    /// What must hold at the next position for the sake of a node, as a formula and whether it is negated.
    pub(super) fn formula(&self, number: u32) -> (NodeId, bool) {
        if let Some(entry) = self.entry(number) {
            return entry;
        }
        let node = self.automaton.node(NodeIndex(number));
        let (formula, negated) = node.origin;
        match self.program.dag.node(formula).children().next() {
            Some(operand) if !node.looping && node.direction == Direction::Future => (operand, negated),
            _ => (formula, negated),
        }
    }
}
