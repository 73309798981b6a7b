//! When a verdict is settled.
//!
//! *Finite continuations.* No slice and the empty slice show most verdicts, but not that `F last` holds or that
//! `F a & G !a` fails. Where that can happen ([`tw_automata::informative`]), a small deterministic automaton runs beside the
//! slices; its state follows from them, so that there are no more states than before. One that is not small is left out,
//! and so is one that settles nothing.
//!
//! *Infinite continuations.* A question of emptiness, for the slices of the goal and of its negation.

use super::machine::{Key, NONE, Slices};
use std::sync::Arc;
use tw_automata::alternating::{Direction, NodeIndex};
use tw_automata::deterministic::{Budget, Deterministic, Options};
use tw_automata::emptiness::Emptiness;
use tw_automata::past::Past;
use tw_core::codec::Corrupt;
use tw_ir::{NodeId, Program};
use tw_monitor::EvaluateOptions;

/// What a small automaton has.
const SMALL: Budget = Budget { states: 1 << 10, nodes: 1 << 14 };

/// The automaton of a goal, for its verdicts.
pub(super) struct Ahead {
    automaton: Deterministic,
    /// The memories of the machine that are the automaton's.
    memories: Vec<usize>,
}

impl Ahead {
    /// `None` where there is nothing to be gained.
    pub(super) fn new(
        program: &Arc<Program>,
        goal: NodeId,
        past: &Past,
        options: &EvaluateOptions,
    ) -> Option<Self> {
        let budget = Budget { states: SMALL.states.min(options.state_budget), ..SMALL };
        let build = Options { semantics: options.semantics, budget, anywhere: true, verdicts_only: false };
        let automaton = Deterministic::new(program, goal, &build).ok()?;
        (0..automaton.len() as u32).find(|&state| automaton.settled(state).is_some())?;
        let find = |node| past.memories().iter().position(|memory| memory.node == node);
        let memories =
            automaton.past().memories().iter().map(|memory| find(memory.node)).collect::<Option<_>>()?;
        Some(Self { automaton, memories })
    }

    pub(super) fn enter(&self, memory: &[bool]) -> u32 {
        let own: Vec<bool> = self.memories.iter().map(|&index| memory[index]).collect();
        self.automaton.enter(&own).unwrap_or(NONE)
    }

    pub(super) fn step(&self, state: u32, row: &[u64]) -> u32 {
        self.automaton.step(state, row)
    }

    /// The atoms that it reads.
    pub(super) fn atoms(&self) -> &[u32] {
        self.automaton.atoms()
    }

    pub(super) fn load(&self, saved: u64) -> Result<u32, Corrupt> {
        let known = |&state: &u32| state == NONE || (state as usize) < self.automaton.len();
        let state = u32::try_from(saved).ok().filter(known);
        state.ok_or_else(|| Corrupt("the saved state is of another automaton".into()))
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.automaton.heap_bytes()
    }
}

impl Slices {
    /// The verdict that every continuation has in common.
    pub(super) fn settle(&mut self, key: Key) -> Option<bool> {
        self.shown(key).or_else(|| match &self.goals[key.owner as usize].ahead {
            Some(ahead) if key.ahead != NONE => ahead.automaton.settled(key.ahead),
            _ => None,
        })
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
