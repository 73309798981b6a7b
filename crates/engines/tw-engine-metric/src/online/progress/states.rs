//! The states of one conjunct, numbered, with the transitions between them: once for all traces.
//!
//! Traces are in states by number. How many are in each is counted, so that room can be made without asking them: what no
//! trace is in is forgotten, the others keep their numbers.

use rustc_hash::FxHashMap;
use tw_automata::diagram::{Diagram, Diagrams};

/// Before the first row, and where a verdict needs no state any more.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Nodes that the diagrams of one conjunct may have.
const NODES: usize = 1 << 20;

#[derive(Clone, Debug)]
pub(super) struct States {
    pub(super) diagrams: Diagrams,
    /// The root's function, then kept values.
    states: Vec<Vec<Diagram>>,
    /// How many traces are in each.
    uses: Vec<u32>,
    /// Numbers of states that were forgotten.
    free: Vec<u32>,
    numbers: FxHashMap<Vec<Diagram>, u32>,
    seen: FxHashMap<(u32, u64), u32>,
    limit: usize,
    /// As many states as are kept before some are forgotten.
    crowd: usize,
}

impl States {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            diagrams: Diagrams::new(NODES),
            states: Vec::new(),
            uses: Vec::new(),
            free: Vec::new(),
            numbers: FxHashMap::default(),
            seen: FxHashMap::default(),
            limit: limit.max(1),
            crowd: limit.max(1),
        }
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> &[Diagram] {
        self.states.get(number as usize).map_or(&[], Vec::as_slice)
    }

    /// One trace more is in the state.
    #[inline]
    pub(super) fn hold(&mut self, number: u32) {
        if let Some(uses) = self.uses.get_mut(number as usize) {
            *uses += 1;
        }
    }

    /// One trace fewer is in the state.
    #[inline]
    pub(super) fn release(&mut self, number: u32) {
        if let Some(uses) = self.uses.get_mut(number as usize) {
            *uses -= 1;
        }
    }

    /// The state after a row, if that was seen.
    #[inline]
    pub(super) fn after(&self, number: u32, row: u64) -> Option<u32> {
        self.seen.get(&(number, row)).copied()
    }

    pub(super) fn learn(&mut self, before: u32, row: u64, after: u32) {
        self.seen.insert((before, row), after);
    }

    /// The number of a state, in which no trace need be.
    pub(super) fn number(&mut self, state: Vec<Diagram>) -> u32 {
        if let Some(&number) = self.numbers.get(&state) {
            return number;
        }
        let number = match self.free.pop() {
            Some(number) => {
                self.states[number as usize] = state.clone();
                number
            }
            None => {
                self.states.push(state.clone());
                self.uses.push(0);
                self.states.len() as u32 - 1
            }
        };
        self.numbers.insert(state, number);
        number
    }

    pub(super) fn crowded(&self) -> bool {
        self.states.len() - self.free.len() >= self.crowd
    }

    /// Forgets the states that no trace is in.
    pub(super) fn forget(&mut self) {
        self.seen.clear();
        self.numbers.clear();
        self.free.clear();
        let mut kept: Vec<Diagram> = Vec::new();
        for (number, state) in self.states.iter_mut().enumerate() {
            match self.uses[number] {
                0 => {
                    *state = Vec::new();
                    self.free.push(number as u32);
                }
                _ => kept.extend_from_slice(state),
            }
        }
        self.diagrams.compact(&mut kept);
        let mut kept = kept.into_iter();
        for (number, state) in self.states.iter_mut().enumerate().filter(|(_, state)| !state.is_empty()) {
            state.iter_mut().zip(&mut kept).for_each(|(diagram, kept)| *diagram = kept);
            self.numbers.insert(state.clone(), number as u32);
        }
        // Where traces are in that many states, looking through them is not worth it at each new one.
        self.crowd = self.limit.max(2 * (self.states.len() - self.free.len()));
    }

    pub(super) fn heap_bytes(&self, width: usize) -> usize {
        let states = self.states.len() * (60 + 8 * width) + self.seen.capacity() * 24;
        self.diagrams.heap_bytes() + states
    }
}
