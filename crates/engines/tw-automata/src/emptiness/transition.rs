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
    /// The obligations as a set of few bits: who owes a part has a part of the bits.
    print: u64,
}

/// The bits of some obligations.
fn print(obligations: &[ExprId]) -> u64 {
    obligations.iter().fold(0, |bits, id| bits | 1 << (id.0.wrapping_mul(0x9e37_79b9) >> 26))
}

impl Transition {
    /// Whether it owes nothing but what is in `obligations`, whose bits are `bits`. Most do not by their bits alone.
    fn owes_part(&self, context: &mut Context<'_>, obligations: &[ExprId], bits: u64) -> bool {
        if self.print & !bits != 0 {
            return false;
        }
        context.spend(self.obligations.len());
        self.obligations.iter().all(|id| obligations.binary_search(id).is_ok())
    }
}

impl Expansion {
    /// Whether every way to complete what is decided so far is superfluous: a transition found before owes no more and
    /// has no more pending.
    pub fn superfluous(&self, context: &mut Context<'_>, scratch: &mut Scratch) -> bool {
        if self.found.is_empty() {
            return false;
        }
        let owed = self.owed(context);
        let bits = print(&owed);
        context.spend(self.trail.len() + self.found.len());
        self.found.iter().any(|transition| {
            transition.memory.is_empty()
                && transition.owes_part(context, &owed, bits)
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
        let bits = print(&obligations);
        context.spend(self.trail.len() + self.found.len());
        let covers = |found: &Transition| {
            found.owes_part(context, &obligations, bits)
                && found.memory == memory
                && found.literals.iter().all(|literal| literals.binary_search(literal).is_ok())
                && found.pending.iter().all(|index| pending.binary_search(index).is_ok())
        };
        if self.found.iter().any(covers) {
            return Ok(None);
        }
        let transition = Transition { obligations, memory, pending, literals, print: bits };
        self.found.push(transition.clone());
        Ok(Some(transition))
    }
}
