//! Transitions: for all positions at once as a tree, or for one.

use super::Stop;
use super::explore::{Explorer, Key};
use super::progress::Progress;
use super::tree::{Forest, Tree};
use crate::diagram::{Diagram, Diagrams, Full};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// What a position does after some memory, and what was already composed with it.
pub(super) struct Moves {
    progress: Progress,
    moved: FxHashMap<Diagram, Diagram>,
    ended: FxHashMap<Diagram, Diagram>,
}

impl Moves {
    /// Diagrams remembered.
    pub(super) fn len(&self) -> usize {
        self.moved.len() + self.ended.len()
    }
}

/// A successor that is still a function of atoms.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Open {
    residual: Diagram,
    end: Option<Diagram>,
    memory: Vec<Diagram>,
}

/// What a position does after some memory, beside the diagrams that it is made of.
struct Found<'a> {
    moves: &'a mut Moves,
    diagrams: &'a mut Diagrams,
    first: usize,
}

impl Explorer {
    /// The transition tree of a state. Atoms in it are places in `Obligations::atoms`. Gives up beyond `limit` tests.
    pub(super) fn expand(&mut self, state: u32, forest: &mut Forest, limit: usize) -> Result<Tree, Stop> {
        let Key { residual, memory, .. } = self.state(state);
        let Found { moves, diagrams, first } = self.moves(memory)?;
        let Moves { progress, moved, ended } = moves;
        let literal = |variable: u32| variable as usize - first;
        let next = diagrams.compose(residual, &|variable| progress.literals[literal(variable)], moved)?;
        let end = diagrams.compose(residual, &|variable| progress.ends[literal(variable)], ended)?;
        let open = Open { residual: next, end: Some(end), memory: progress.memory.clone() };
        self.walk(open, forest, &mut FxHashMap::default(), limit)
    }

    /// The tree of what is remembered after one more position: its leaves are the states in which the goal is entered
    /// after that.
    pub(super) fn remember(&mut self, entered: u32, forest: &mut Forest, limit: usize) -> Result<Tree, Stop> {
        let Key { residual, memory, .. } = self.state(entered);
        let remembered = self.moves(memory)?.moves.progress.memory.clone();
        let open = Open { residual, end: None, memory: remembered };
        self.walk(open, forest, &mut FxHashMap::default(), limit)
    }

    /// Decides atoms from the top until nothing depends on one. The recursion is as deep as there are atoms.
    fn walk(
        &mut self,
        mut open: Open,
        forest: &mut Forest,
        done: &mut FxHashMap<Open, Tree>,
        limit: usize,
    ) -> Result<Tree, Stop> {
        let mask = self.mask(open.residual);
        for (index, bit) in open.memory.iter_mut().enumerate() {
            if index < 64 && mask >> index & 1 == 0 {
                *bit = Diagram::FALSE;
            }
        }
        if let Some(&known) = done.get(&open) {
            return Ok(known);
        }
        let all = open.memory.iter().copied().chain(open.end).chain([open.residual]);
        let top = all.map(|diagram| self.diagrams.top(diagram)).min().unwrap_or(u32::MAX);
        let tree = if (top as usize) < self.obligations.atoms.len() {
            let part = |diagrams: &Diagrams, value: bool| {
                let of = |diagram: Diagram| diagrams.cofactor(diagram, top, value);
                Open {
                    residual: of(open.residual),
                    end: open.end.map(of),
                    memory: open.memory.iter().map(|&bit| of(bit)).collect(),
                }
            };
            let (low, high) = (part(&self.diagrams, false), part(&self.diagrams, true));
            let low = self.walk(low, forest, done, limit)?;
            let high = self.walk(high, forest, done, limit)?;
            forest.branch(top, low, high)
        } else {
            let memory: Vec<bool> = open.memory.iter().map(|&bit| bit == Diagram::TRUE).collect();
            Tree::leaf(self.intern(open.residual, &memory, open.end.map(|end| end == Diagram::TRUE))?)
        };
        if done.len() >= limit {
            return Err(Stop::Budget(format!(
                "more than {limit} tests of atoms in the transitions of a state"
            )));
        }
        if self.work == 0 {
            let limit = self.budget.work();
            return Err(Stop::Budget(format!(
                "more than {limit} tests of atoms in the transitions of all states"
            )));
        }
        self.work -= 1;
        done.insert(open, tree);
        Ok(tree)
    }

    fn moves(&mut self, memory: u32) -> Result<Found<'_>, Full> {
        let moves = match self.moves.entry(memory) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let progress = self.obligations.progress(
                    &mut self.diagrams,
                    &self.owed,
                    &|diagrams, variable| diagrams.variable(variable),
                    &self.memories[memory as usize],
                )?;
                entry.insert(Moves { progress, moved: FxHashMap::default(), ended: FxHashMap::default() })
            }
        };
        Ok(Found { moves, diagrams: &mut self.diagrams, first: self.obligations.atoms.len() })
    }

    /// The state after a position whose atoms are known: what [`Explorer::expand`] gives for all positions at once,
    /// for goals where that is too much.
    pub(super) fn advance(&mut self, state: u32, row: &[u64]) -> Result<u32, Stop> {
        let memory = self.memory(state).to_vec();
        let Key { residual, .. } = self.state(state);
        let (atoms, first) = (&self.obligations.atoms, self.obligations.atoms.len());
        let holds = |variable: u32| {
            let atom = atoms[variable as usize];
            row[atom as usize / 64] >> (atom % 64) & 1 == 1
        };
        let progress = self.obligations.progress(
            &mut self.diagrams,
            &self.owed,
            &|_, variable| Ok(Diagram::constant(holds(variable))),
            &memory,
        )?;
        let (mut moved, mut ended) = (FxHashMap::default(), FxHashMap::default());
        let literal = |variable: u32| variable as usize - first;
        let next =
            self.diagrams.compose(residual, &|variable| progress.literals[literal(variable)], &mut moved)?;
        let end =
            self.diagrams.compose(residual, &|variable| progress.ends[literal(variable)], &mut ended)?;
        let remembered: Vec<bool> = progress.memory.iter().map(|&bit| bit == Diagram::TRUE).collect();
        self.intern(next, &remembered, Some(end == Diagram::TRUE))
    }
}
