//! Deterministic automata over the events of a parametric monitor, whatever its formalism.
//!
//! The letters are the monitor's events, one at a time: a state is a row of a table, an event costs one look-up. A state says what
//! the trace of a binding has come to (`match`, `fail`, `violation`, …). Expressions become automata by their derivatives
//! ([`tw_ir::ere`]), machines as they stand with a state for what they lack, formulas by [`crate::deterministic`]; expressions and
//! formulas are then minimised. Memory: four bytes per state and event.
//!
//! [`Enables`] holds what "RV-Monitor" computes from it: which parameters are bound before an event on the way to a report
//! (ENABLE), and which have to be named afterwards for one (COENABLE).

mod build;
mod enable;
#[cfg(test)]
mod tests;

pub use enable::Enables;

use tw_ir::monitor::{Category, Monitor};

/// What a state says of the trace that leads to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Output {
    /// What the trace has come to.
    pub category: Option<Category>,
    /// Whether it violates the formula if it ends here. Of the empty trace, which nobody judges, this says nothing.
    pub violated_at_end: bool,
}

/// An automaton over the events of a monitor. States are numbered from 0, the initial one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventAutomaton {
    events: usize,
    /// By state, then by event.
    moves: Vec<u32>,
    outputs: Vec<Output>,
}

impl EventAutomaton {
    /// Number of states.
    pub fn len(&self) -> usize {
        self.outputs.len()
    }

    /// There is always a state.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The state after an event.
    #[inline]
    pub fn step(&self, state: u32, event: usize) -> u32 {
        self.moves[state as usize * self.events + event]
    }

    /// What a state says.
    #[inline]
    pub fn output(&self, state: u32) -> Output {
        self.outputs[state as usize]
    }

    /// Where the events lead from a state.
    pub fn row(&self, state: u32) -> &[u32] {
        &self.moves[state as usize * self.events..][..self.events]
    }

    /// Whether something is reported of a trace that leads to a state, now or if it ends there.
    pub fn is_goal(&self, monitor: &Monitor, state: u32) -> bool {
        let Output { category, violated_at_end } = self.output(state);
        category.is_some_and(|category| monitor.reports(category))
            || violated_at_end && monitor.reports(Category::Violation)
    }

    /// The smallest automaton with the same outputs: classes of states are divided until the events lead from equal classes to
    /// equal classes. The initial state stays the first.
    fn minimal(self) -> Self {
        let mut class: Vec<u32> = number(self.outputs.iter());
        loop {
            let signature = |state: usize| {
                let row = self.row(state as u32).iter().map(|&next| class[next as usize]);
                std::iter::once(class[state]).chain(row).collect::<Vec<u32>>()
            };
            let signatures: Vec<Vec<u32>> = (0..self.len()).map(signature).collect();
            let finer = number(signatures.iter());
            if finer == class {
                break;
            }
            class = finer;
        }
        let count = class.iter().max().map_or(0, |&last| last as usize + 1);
        let voice: Vec<usize> =
            (0..count).filter_map(|name| class.iter().position(|&own| own as usize == name)).collect();
        let moves = voice.iter().flat_map(|&state| self.row(state as u32)).map(|&next| class[next as usize]);
        Self {
            events: self.events,
            moves: moves.collect(),
            outputs: voice.iter().map(|&state| self.outputs[state]).collect(),
        }
    }
}

/// Numbers for equal items, in the order in which they are first seen.
fn number<T: std::hash::Hash + Eq>(items: impl Iterator<Item = T>) -> Vec<u32> {
    let mut names = rustc_hash::FxHashMap::default();
    items
        .map(|item| {
            let fresh = names.len() as u32;
            *names.entry(item).or_insert(fresh)
        })
        .collect()
}
