//! When a verdict is settled.
//!
//! *Finite continuations.* No slice and the empty slice show most verdicts, but not that `F last` holds or that
//! `F a & G !a` fails. Where that can happen ([`tw_automata::informative`]), the states that can follow are searched: if
//! all of them have the same end, that is the verdict, of each state met too. The search is cut off, for each question and
//! over all of them; the verdict is then left open, as by the published algorithm.
//!
//! *Infinite continuations.* A question of emptiness, for the slices of the goal and of its negation.

use super::machine::{Key, Slices};
use rustc_hash::FxHashSet;
use tw_automata::alternating::{Direction, NodeIndex};
use tw_automata::emptiness::Emptiness;
use tw_ir::NodeId;
use tw_monitor::{Machine, State};

/// Transitions looked at for one question.
const STEPS: usize = 1 << 12;
/// Transitions looked at for all questions.
pub(super) const ALL_STEPS: usize = 1 << 17;
/// Most atoms that may decide where a state leads.
const ATOMS: u32 = 8;

/// The next subset of a mask; `false` after the last.
fn next_row(row: &mut [u64], mask: &[u64]) -> bool {
    for (row, mask) in row.iter_mut().zip(mask) {
        *row = row.wrapping_sub(*mask) & mask;
        if *row != 0 {
            return true;
        }
    }
    false
}

impl Slices {
    /// The verdict that every continuation of a state has in common.
    pub(super) fn settle(&mut self, state: State) -> Option<bool> {
        let key = self.key(state);
        self.shown(key).or_else(|| {
            let searched = self.emptiness.is_none() && !self.goals[key.owner as usize].informative;
            if searched { self.search(state) } else { None }
        })
    }

    /// The verdict that every state has which can follow, found by looking at all of them.
    fn search(&mut self, state: State) -> Option<bool> {
        let Key { owner, ends, .. } = self.key(state);
        let mut seen = FxHashSet::from_iter([state]);
        let mut todo = vec![state];
        let mut steps = STEPS.min(self.looks);
        while let Some(state) = todo.pop() {
            let mask = self.states[state as usize].table.mask().to_vec();
            if mask.iter().map(|word| word.count_ones()).sum::<u32>() > ATOMS {
                return None;
            }
            let mut row = vec![0; mask.len()];
            loop {
                steps = steps.checked_sub(1)?;
                self.looks -= 1;
                // Out of budget: leave it open. States that are searched must not crowd out those that are in use.
                let next = self.step(owner as usize, state, &row).ok()?;
                if self.key(next).ends != ends || self.is_open(next) || 2 * self.index.len() > self.crowd.0 {
                    return None;
                }
                if seen.insert(next) {
                    todo.push(next);
                }
                if !next_row(&mut row, &mask) {
                    break;
                }
            }
        }
        seen.into_iter().for_each(|state| self.know(state, ends));
        Some(ends)
    }

    /// The verdict that slices show.
    fn shown(&mut self, key: Key) -> Option<bool> {
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
