//! States and transitions on demand.
//!
//! A state is a residual, the bits remembered for past operators (those that the residual still speaks of; the others
//! are put to false, so that they tell no states apart), and whether the trace may end here. Memory: the states kept,
//! their diagrams, and per distinct memory the progress of every literal.

use super::obligation::Obligations;
use super::step::Moves;
use super::{Budget, Stop};
use crate::diagram::{Diagram, Diagrams};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use tw_ir::{NodeId, Program};

/// What a state is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) residual: Diagram,
    /// Index of the remembered bits.
    pub(super) memory: u32,
    /// Whether the goal holds if the trace ends here; `None` before the first position.
    pub(super) end: Option<bool>,
}

/// The states found so far.
pub(super) struct Explorer {
    pub(super) obligations: Obligations,
    pub(super) diagrams: Diagrams,
    /// Each formula of the goal as a function of literals.
    pub(super) owed: Vec<Diagram>,
    /// By number; forgotten ones are free.
    states: Vec<Option<Key>>,
    free: Vec<u32>,
    index: FxHashMap<Key, u32>,
    pub(super) memories: Vec<Arc<[bool]>>,
    memory_index: FxHashMap<Arc<[bool]>, u32>,
    pub(super) moves: FxHashMap<u32, Moves>,
    /// Which past operators the literals of a residual contain.
    speaks_of: FxHashMap<Diagram, u64>,
    pub(super) budget: Budget,
    /// Nodes of transition trees that may still be walked, over all states.
    pub(super) work: usize,
}

impl Explorer {
    pub(super) fn new(
        program: &Arc<Program>,
        atoms: &[NodeId],
        goal: NodeId,
        repeat_last: bool,
        budget: Budget,
        work: usize,
    ) -> Result<Self, Stop> {
        let obligations = Obligations::new(program, atoms, goal, repeat_last)?;
        let mut diagrams = Diagrams::new(budget.nodes);
        let owed = obligations.owed(&mut diagrams)?;
        Ok(Self {
            obligations,
            diagrams,
            owed,
            states: Vec::new(),
            free: Vec::new(),
            index: FxHashMap::default(),
            memories: Vec::new(),
            memory_index: FxHashMap::default(),
            moves: FxHashMap::default(),
            speaks_of: FxHashMap::default(),
            budget,
            work,
        })
    }

    /// The residual of the goal itself.
    fn initial(&self) -> Diagram {
        self.owed.last().copied().unwrap_or(Diagram::TRUE)
    }

    /// The state in which the goal is to hold next, after what `memory` remembers.
    pub(super) fn enter(&mut self, memory: &[bool]) -> Result<u32, Stop> {
        self.intern(self.initial(), memory, None)
    }

    pub(super) fn state(&self, state: u32) -> Key {
        self.states[state as usize].expect("a state that was not forgotten")
    }

    pub(super) fn memory(&self, state: u32) -> &[bool] {
        &self.memories[self.state(state).memory as usize]
    }

    /// Number of states kept.
    pub(super) fn len(&self) -> usize {
        self.states.len() - self.free.len()
    }

    /// The states kept.
    pub(super) fn numbers(&self) -> Vec<u32> {
        (0..self.states.len() as u32).filter(|&state| self.states[state as usize].is_some()).collect()
    }

    /// How many different residuals the states have.
    pub(super) fn residuals(&self) -> usize {
        let residuals = self.states.iter().flatten().map(|key| key.residual);
        residuals.collect::<rustc_hash::FxHashSet<_>>().len()
    }

    /// The number of a state; its memory is reduced to what the residual speaks of.
    pub(super) fn intern(
        &mut self,
        residual: Diagram,
        memory: &[bool],
        end: Option<bool>,
    ) -> Result<u32, Stop> {
        let mask = self.mask(residual);
        let memory: Arc<[bool]> =
            (0..memory.len()).map(|index| memory[index] && (index >= 64 || mask >> index & 1 == 1)).collect();
        let fresh = self.memories.len() as u32;
        let memory = *self.memory_index.entry(memory).or_insert_with_key(|memory| {
            self.memories.push(memory.clone());
            fresh
        });
        let key = Key { residual, memory, end };
        if let Some(&known) = self.index.get(&key) {
            return Ok(known);
        }
        if self.len() >= self.budget.states {
            return Err(Stop::states(self.budget.states));
        }
        let number = self.free.pop().unwrap_or(self.states.len() as u32);
        if number as usize == self.states.len() {
            self.states.push(None);
        }
        self.states[number as usize] = Some(key);
        self.index.insert(key, number);
        Ok(number)
    }

    /// Which past operators decide where the goal is entered.
    pub(super) fn entry_mask(&mut self) -> u64 {
        self.mask(self.initial())
    }

    /// Which past operators the residual speaks of. The recursion is as deep as there are variables.
    pub(super) fn mask(&mut self, residual: Diagram) -> u64 {
        if self.obligations.past.is_empty() {
            return 0;
        }
        let Some((variable, low, high)) = self.diagrams.branches(residual) else { return 0 };
        if let Some(&known) = self.speaks_of.get(&residual) {
            return known;
        }
        let atom = (variable as usize) < self.obligations.atoms.len();
        let own = if atom { 0 } else { self.obligations.memories(variable) };
        let mask = own | self.mask(low) | self.mask(high);
        self.speaks_of.insert(residual, mask);
        mask
    }

    /// Forgets all states but the given ones, which keep their numbers.
    pub(super) fn retain(&mut self, live: &[u32]) -> Result<(), Stop> {
        let mut kept: Vec<(u32, Key, Arc<[bool]>)> = Vec::with_capacity(live.len());
        for &state in live {
            let key = self.state(state);
            kept.push((state, key, self.memories[key.memory as usize].clone()));
        }
        kept.sort_unstable_by_key(|entry| entry.0);
        kept.dedup_by_key(|entry| entry.0);
        let mut roots: Vec<Diagram> = kept.iter().map(|(_, key, _)| key.residual).collect();
        self.diagrams.compact(&mut roots);
        self.owed = self.obligations.owed(&mut self.diagrams)?;
        self.states.iter_mut().for_each(|state| *state = None);
        self.memories.clear();
        self.memory_index.clear();
        self.index.clear();
        self.moves.clear();
        self.speaks_of.clear();
        for ((state, key, memory), residual) in kept.into_iter().zip(roots) {
            let fresh = self.memories.len() as u32;
            let memory = *self.memory_index.entry(memory).or_insert_with_key(|memory| {
                self.memories.push(memory.clone());
                fresh
            });
            let key = Key { residual, memory, end: key.end };
            self.states[state as usize] = Some(key);
            self.index.insert(key, state);
        }
        self.free =
            (0..self.states.len() as u32).filter(|&state| self.states[state as usize].is_none()).collect();
        Ok(())
    }

    /// Bytes held, roughly.
    pub(super) fn heap_bytes(&self) -> usize {
        let composed = self.moves.values().map(|moves| moves.len() * 12 + 256);
        self.diagrams.heap_bytes()
            + self.states.capacity() * 16
            + self.index.capacity() * 20
            + self.memories.len() * 64
            + composed.sum::<usize>()
    }
}
