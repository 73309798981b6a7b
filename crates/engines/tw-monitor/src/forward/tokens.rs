//! One run from each position; runs that reach the same state are one.

use crate::{Corrupt, Machine, State, Stretch, Unsupported, Waiting, put, take};
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
    /// What the state that the last step led to settles.
    settled: Option<bool>,
}

/// A set of positions as ranges: a position that waits has often neighbours that wait for the same. Most sets are one
/// range, which needs no room of its own.
struct Ranges {
    first: (Position, Position),
    more: Vec<(Position, Position)>,
}

impl Ranges {
    fn one(at: Position) -> Self {
        Self { first: (at, at + 1), more: Vec::new() }
    }

    fn iter(&self) -> impl Iterator<Item = &(Position, Position)> {
        std::iter::once(&self.first).chain(&self.more)
    }

    fn push(&mut self, from: Position, to: Position, counted: bool) {
        let (first, end) = self.more.last_mut().unwrap_or(&mut self.first);
        if counted {
            // The first of all, and from there on as many as there are.
            let count = *end - *first + (to - from);
            *first = from.min(*first);
            *end = *first + count;
        } else if *end == from {
            *end = to;
        } else {
            self.more.push((from, to));
        }
    }

    fn append(&mut self, mut other: Ranges, counted: bool) {
        // Small into large; the order within a group does not matter.
        if other.more.len() > self.more.len() {
            std::mem::swap(self, &mut other);
        }
        for &(from, to) in other.iter() {
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
    /// Steps every run over a position, and starts one there, in the given room. `settle` is told of ranges of positions
    /// that are settled.
    pub(super) fn step<M: Machine>(
        &mut self,
        machine: &mut M,
        goal: usize,
        history: State,
        place: (Position, &[u64]),
        scratch: &mut Scratch,
        settle: &mut impl FnMut(Position, Position, bool),
    ) -> Result<(), Unsupported> {
        let fresh = machine.enter(goal, history)?;
        self.step_from(machine, (goal, fresh), place, scratch, settle)
    }

    /// As [`Tokens::step`] for each position of a stretch that begins at `start`, for a machine that is
    /// [constant](Machine::constant). `settle` is told at which position, too.
    ///
    /// Where only failures are told, most positions tell nothing, and at most one group waits: those are the machine's
    /// own to follow.
    pub(super) fn run<M: Machine>(
        &mut self,
        machine: &mut M,
        (goal, history): (usize, State),
        (start, stretch): (Position, &Stretch<'_>),
        scratch: &mut Scratch,
        settle: &mut impl FnMut(Position, Position, Position, bool),
    ) -> Result<(), Unsupported> {
        let fresh = machine.enter(goal, history)?;
        let mut at = 0;
        while at < stretch.len() {
            if scratch.counted && self.groups.len() <= 1 {
                at = self.follow(machine, (goal, fresh), (start, stretch), at);
                if at >= stretch.len() {
                    break;
                }
            }
            let place = (start + at, stretch.row(at));
            let settle = &mut |from, to, holds| settle(start + at, from, to, holds);
            self.step_from(machine, (goal, fresh), place, scratch, settle)?;
            at += 1;
        }
        Ok(())
    }

    /// Lets the machine follow the one group there is, or none.
    fn follow<M: Machine>(
        &mut self,
        machine: &mut M,
        (goal, fresh): (usize, State),
        (start, stretch): (Position, &Stretch<'_>),
        at: usize,
    ) -> usize {
        let old = self.groups.pop();
        let mut waiting = old.as_ref().map(|group| {
            let (first, end) = group.positions.first;
            Waiting { state: group.state, before: end - first, first: 0, count: 0 }
        });
        let at = machine.follow(goal, fresh, &mut waiting, stretch, at);
        if let Some(Waiting { state, before, first, count }) = waiting {
            let earliest = match old {
                Some(old) if before > 0 => old.positions.first.0,
                _ => start + first,
            };
            let positions = Ranges { first: (earliest, earliest + before + count), more: Vec::new() };
            self.groups.push(Group { state, positions, settled: None });
        }
        at
    }

    /// A step, with the state of the run that starts.
    #[inline]
    fn step_from<M: Machine>(
        &mut self,
        machine: &mut M,
        (goal, fresh): (usize, State),
        (at, row): (Position, &[u64]),
        scratch: &mut Scratch,
        settle: &mut impl FnMut(Position, Position, bool),
    ) -> Result<(), Unsupported> {
        let mut moved = false;
        for group in &mut self.groups {
            let (state, settled) = machine.advance(goal, group.state, row)?;
            moved |= state != group.state || settled.is_some();
            (group.state, group.settled) = (state, settled);
        }
        scratch.index.clear();
        if moved {
            self.sort_out(scratch, settle);
        }
        // Most runs are settled by their first position: those are never stored.
        match machine.advance(goal, fresh, row)? {
            (_, Some(verdict)) => settle(at, at + 1, verdict),
            (state, None) => match find(&self.groups, &mut scratch.index, state) {
                Some(index) => self.groups[index].positions.push(at, at + 1, scratch.counted),
                None => self.groups.push(Group { state, positions: Ranges::one(at), settled: None }),
            },
        }
        Ok(())
    }

    /// Tells of the groups that are settled, and makes one of those that came to the same state. The table, which is
    /// empty, is that of the groups afterwards.
    fn sort_out(
        &mut self,
        Scratch { index: table, spare: next, counted }: &mut Scratch,
        settle: &mut impl FnMut(Position, Position, bool),
    ) {
        self.groups.retain(|group| match group.settled {
            Some(verdict) => {
                group.positions.iter().for_each(|&(from, to)| settle(from, to, verdict));
                false
            }
            None => true,
        });
        if self.groups.len() <= 1 {
            return;
        }
        for group in self.groups.drain(..) {
            match find(next, table, group.state) {
                Some(index) => next[index].positions.append(group.positions, *counted),
                None => next.push(group),
            }
        }
        // The room stays for other tokens: most traces wait for little.
        self.groups.append(next);
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
            group.positions.iter().for_each(|&(from, to)| settle(from, to, verdict));
        }
    }

    pub(super) fn save<M: Machine>(&self, machine: &M, goal: usize, out: &mut Vec<u8>) {
        put(self.groups.len() as u64, out);
        for group in &self.groups {
            machine.save(goal, group.state, out);
            put(1 + group.positions.more.len() as u64, out);
            for &(from, to) in group.positions.iter() {
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
            let mut ranges = Vec::new();
            for _ in 0..take(from)? {
                let (start, end) = (take(from)? as Position, take(from)? as Position);
                if start >= end || end > read {
                    return Err(Corrupt("the saved state is about positions that were not read".into()));
                }
                ranges.push((start, end));
            }
            let Some(&first) = ranges.first() else {
                return Err(Corrupt("the saved state has runs from no position".into()));
            };
            let positions = Ranges { first, more: ranges.split_off(1) };
            tokens.groups.push(Group { state, positions, settled: None });
        }
        Ok(tokens)
    }

    /// The states in use.
    pub(super) fn states(&self) -> impl Iterator<Item = State> + '_ {
        self.groups.iter().map(|group| group.state)
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let ranges = self.groups.iter().map(|group| group.positions.more.capacity() * 16);
        ranges.sum::<usize>() + self.groups.capacity() * size_of::<Group>()
    }
}
