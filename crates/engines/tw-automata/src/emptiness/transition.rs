//! Transitions: what a completed expansion leaves owed, what is pending over it, and which are superfluous.
//!
//! A transition is superfluous if another one from the same configuration owes a part of what it owes, with the same
//! memory and with no loop pending that is not pending over it: whatever run goes on with it can go on with the other.

use super::expand::Expansion;
use super::remember::remember;
use super::scratch::{Context, Mark, Scratch};
use crate::alternating::{Direction, Expr, ExprId, NodeIndex};

/// One way to go on.
#[derive(Clone, Debug)]
pub(crate) struct Transition {
    /// What is owed at the next position, ascending.
    pub obligations: Vec<ExprId>,
    /// What is remembered there.
    pub memory: Vec<bool>,
    /// The rejecting loops that are pending over it, ascending.
    pub pending: Vec<NodeIndex>,
    /// What the position must satisfy, ascending; empty where letters do not count.
    pub literals: Vec<(u32, bool)>,
}

impl Expansion {
    /// Whether every way to complete what is decided so far is superfluous: a transition found before owes no more and
    /// has no more pending.
    pub fn superfluous(&self, context: &mut Context<'_>, scratch: &mut Scratch) -> bool {
        if self.found.is_empty() {
            return false;
        }
        let owed = self.owed(context);
        context.spend(self.found.len());
        self.found.iter().any(|transition| {
            transition.memory.is_empty()
                && transition.obligations.iter().all(|id| owed.binary_search(id).is_ok())
                && transition.pending.iter().all(|&index| self.stays_pending(context, scratch, index))
        })
    }

    /// Whether a loop cannot be met any more without going round.
    fn stays_pending(&self, context: &mut Context<'_>, scratch: &mut Scratch, index: NodeIndex) -> bool {
        let delta = context.reader.automaton.node(index).delta;
        let reader = context.reader;
        scratch.forget();
        let without = scratch.evaluate(context, delta, |scratch, node| {
            if node == index { Some(false) } else { reader.certain(scratch, &self.memory, node) }
        });
        without == Some(false)
    }

    /// What is owed at the next position so far, ascending.
    fn owed(&self, context: &Context<'_>) -> Vec<ExprId> {
        let delta = |&(mark, _): &(Mark, bool)| match mark {
            Mark::Owed(index) => Some(context.reader.automaton.node(index).delta),
            Mark::Atom(_) | Mark::Required(_) => None,
        };
        let mut owed: Vec<ExprId> = self.trail.iter().filter_map(delta).collect();
        owed.retain(|&id| context.reader.automaton.expr(id) != Expr::True);
        owed.sort_unstable();
        owed.dedup();
        owed
    }

    /// What has been decided about atoms, ascending.
    fn literals(&self) -> Vec<(u32, bool)> {
        let literal = |&(mark, value): &(Mark, bool)| match mark {
            Mark::Atom(atom) => Some((atom, value)),
            Mark::Owed(_) | Mark::Required(_) => None,
        };
        let mut literals: Vec<(u32, bool)> = self.trail.iter().filter_map(literal).collect();
        literals.sort_unstable();
        literals
    }

    /// The transition, now that all obligations are met, unless it is superfluous; or an atom to decide first.
    pub fn complete(
        &mut self,
        context: &mut Context<'_>,
        scratch: &mut Scratch,
    ) -> Result<Option<Transition>, u32> {
        let obligations = self.owed(context);
        let reader = context.reader;
        let atom = |atom: u32| scratch.atoms[atom as usize];
        context.spend(4 * self.memory.len());
        let memory = remember(reader.tables, &obligations, &self.memory, atom)?;
        let mut pending = Vec::new();
        // A loop may count as pending from when it is first owed on, or from the position after: no run is accepted by
        // the one and not by the other. The first makes more configurations alike, the second fewer loops pending.
        let fresh: Vec<(NodeIndex, ExprId)>;
        let rejecting = if self.letters {
            let owed = |&id: &ExprId| reader.tables.rejecting(reader.automaton, id).map(|node| (node, id));
            fresh = obligations.iter().filter_map(owed).collect();
            &fresh
        } else {
            &self.rejecting
        };
        for &(index, delta) in rejecting {
            // Met without going round, perhaps by what was chosen for another obligation.
            scratch.forget();
            let met = scratch.evaluate(context, delta, |scratch, node| {
                let found = reader.automaton.node(node);
                let owed =
                    found.direction == Direction::Future && obligations.binary_search(&found.delta).is_ok();
                let holds = owed || reader.certain(scratch, &self.memory, node) == Some(true);
                Some(node != index && holds)
            });
            if met != Some(true) {
                pending.push(index);
            }
        }
        pending.sort_unstable();
        let literals = if self.letters { self.literals() } else { Vec::new() };
        let covers = |found: &Transition| {
            found.memory == memory
                && found.literals.iter().all(|literal| literals.binary_search(literal).is_ok())
                && found.obligations.iter().all(|id| obligations.binary_search(id).is_ok())
                && found.pending.iter().all(|index| pending.binary_search(index).is_ok())
        };
        context.spend(self.found.len());
        if self.found.iter().any(covers) {
            return Ok(None);
        }
        let transition = Transition { obligations, memory, pending, literals };
        self.found.push(transition.clone());
        Ok(Some(transition))
    }
}
