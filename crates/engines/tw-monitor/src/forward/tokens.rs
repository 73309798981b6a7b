//! One run from each position; runs that reach the same state are one.

use crate::{Corrupt, Machine, State, Unsupported, put, take};
use rustc_hash::FxHashMap;
use tw_core::Position;

/// Open runs of one goal, by state.
#[derive(Default)]
pub(super) struct Tokens {
    groups: Vec<Group>,
}

/// Room that a step needs, whose tokens soever it steps.
#[derive(Default)]
pub(super) struct Scratch {
    /// Where the group of a state is, once there are many.
    index: FxHashMap<State, usize>,
    spare: Vec<Group>,
    counted: bool,
}

impl Scratch {
    /// Positions in one state are kept apart or, if `counted`, counted from the first: constant memory, however many wait.
    pub(super) fn new(counted: bool) -> Self {
        Self { counted, ..Self::default() }
    }
}

/// The positions whose runs are in one state.
struct Group {
    state: State,
    positions: Ranges,
}

/// Sets of positions as ranges: a position that waits has often neighbours that wait for the same.
#[derive(Default)]
struct Ranges {
    ranges: Vec<(Position, Position)>,
}

impl Ranges {
    fn push(&mut self, from: Position, to: Position, counted: bool) {
        match self.ranges.last_mut() {
            // The first of all, and from there on as many as there are.
            Some((first, end)) if counted => {
                let count = *end - *first + (to - from);
                *first = from.min(*first);
                *end = *first + count;
            }
            Some(last) if last.1 == from => last.1 = to,
            _ => self.ranges.push((from, to)),
        }
    }

    fn append(&mut self, mut other: Ranges, counted: bool) {
        // Small into large; the order within a group does not matter.
        if other.ranges.len() > self.ranges.len() {
            std::mem::swap(self, &mut other);
        }
        for (from, to) in other.ranges {
            self.push(from, to, counted);
        }
    }
}

/// The group of a state. The table holds the groups up to the number of its entries.
fn find(groups: &[Group], index: &mut FxHashMap<State, usize>, state: State) -> Option<usize> {
    if groups.len() <= FEW {
        return groups.iter().position(|group| group.state == state);
    }
    for (at, group) in groups.iter().enumerate().skip(index.len()) {
        index.insert(group.state, at);
    }
    index.get(&state).copied()
}

/// Beyond as many groups a table finds the one with the same state.
const FEW: usize = 8;

impl Tokens {
    /// Steps every run over a position, and starts one there, in the given room. `settle` is told of ranges of positions that are settled.
    pub(super) fn step<M: Machine>(
        &mut self,
        machine: &mut M,
        goal: usize,
        history: State,
        (at, row): (Position, &[u64]),
        Scratch { index: table, spare: next, counted }: &mut Scratch,
        settle: &mut impl FnMut(Position, Position, bool),
    ) -> Result<(), Unsupported> {
        next.clear();
        table.clear();
        for mut group in self.groups.drain(..) {
            group.state = machine.step(goal, group.state, row)?;
            if let Some(verdict) = machine.settled(goal, group.state) {
                group.positions.ranges.iter().for_each(|&(from, to)| settle(from, to, verdict));
                continue;
            }
            match find(next, table, group.state) {
                Some(index) => next[index].positions.append(group.positions, *counted),
                None => next.push(group),
            }
        }
        // Most runs are settled by their first position: those are never stored.
        let fresh = machine.enter(goal, history)?;
        let state = machine.step(goal, fresh, row)?;
        match machine.settled(goal, state) {
            Some(verdict) => settle(at, at + 1, verdict),
            None => match find(next, table, state) {
                Some(index) => next[index].positions.push(at, at + 1, *counted),
                None => {
                    next.push(Group { state, positions: Ranges { ranges: vec![(at, at + 1)] } });
                }
            },
        }
        if next.len() <= 1 {
            // The room stays for other tokens: most traces wait for one thing at most.
            self.groups.append(next);
        } else {
            std::mem::swap(&mut self.groups, next);
        }
        Ok(())
    }

    /// The trace ends: what is open is decided by the end, or stays open.
    pub(super) fn end<M: Machine>(
        &mut self,
        machine: &M,
        goal: usize,
        three_valued: bool,
        settle: &mut impl FnMut(Position, Position, bool),
    ) {
        if !three_valued {
            self.at_end(machine, goal, settle);
        }
        self.groups.clear();
    }

    /// What each open run is worth if the trace ends here.
    pub(super) fn at_end<M: Machine>(
        &self,
        machine: &M,
        goal: usize,
        settle: &mut impl FnMut(Position, Position, bool),
    ) {
        for group in &self.groups {
            let verdict = machine.holds_at_end(goal, group.state);
            group.positions.ranges.iter().for_each(|&(from, to)| settle(from, to, verdict));
        }
    }

    pub(super) fn save<M: Machine>(&self, machine: &M, goal: usize, out: &mut Vec<u8>) {
        put(self.groups.len() as u64, out);
        for group in &self.groups {
            machine.save(goal, group.state, out);
            put(group.positions.ranges.len() as u64, out);
            for &(from, to) in &group.positions.ranges {
                put(from as u64, out);
                put(to as u64, out);
            }
        }
    }

    /// Reads back what [`Tokens::save`] wrote after `read` positions.
    pub(super) fn load<M: Machine>(
        machine: &mut M,
        goal: usize,
        read: Position,
        from: &mut &[u8],
    ) -> Result<Self, Corrupt> {
        let mut tokens = Tokens::default();
        for _ in 0..take(from)? {
            let state = machine.load(goal, from)?;
            let mut positions = Ranges::default();
            for _ in 0..take(from)? {
                let (start, end) = (take(from)? as Position, take(from)? as Position);
                if start >= end || end > read {
                    return Err(Corrupt("the saved state is about positions that were not read".into()));
                }
                positions.ranges.push((start, end));
            }
            tokens.groups.push(Group { state, positions });
        }
        Ok(tokens)
    }

    /// The states in use.
    pub(super) fn states(&self) -> impl Iterator<Item = State> + '_ {
        self.groups.iter().map(|group| group.state)
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let ranges = self.groups.iter().map(|group| group.positions.ranges.capacity() * 16);
        ranges.sum::<usize>() + self.groups.capacity() * size_of::<Group>()
    }
}
