//! Transitions by the instant that they lead to: the time- and the change-preserving merger.
//!
//! A trace passes a transition between instants at most once, and at a position that the instant tells. So a transition
//! needs three numbers (how many traces, the first, the last), and its state needs none: what is seen of a state is the
//! sum of what leads to it. There is one small table for each instant. A trace goes through all of them, too many for the
//! caches; so names are gathered from many traces, and taken through a few instants at a time.

use crate::merger::{Budget, TooLarge};
use crate::table::{Key, Table, Tally};
use std::ops::Range;

/// Which traces passed.
#[derive(Clone, Copy, Default)]
pub(crate) struct Pass {
    pub count: u32,
    /// The first, with all bits turned, so that zero is later than any and adding needs no branch.
    turned: u32,
    pub last: u32,
}

impl Tally for Pass {
    #[inline]
    fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl Pass {
    #[inline]
    pub fn add(&mut self, other: Pass) {
        self.count += other.count;
        self.turned = self.turned.max(other.turned);
        self.last = self.last.max(other.last);
    }

    /// The first trace.
    pub fn first(self) -> u32 {
        !self.turned
    }

    pub fn once(trace: u32) -> Self {
        Pass { count: 1, turned: !trace, last: trace }
    }
}

/// The last state of a trace so far, as position and name; where changes count, the one of the last change.
pub(crate) type Last = (u32, u32);

/// Where a transition comes from and the name it leads to.
pub(crate) trait Step: Key {
    /// Position and name of the state it leaves; `to` is the position it leads to.
    fn from(self, to: u32) -> Last;
    /// Name that it leads to.
    fn to(self) -> u32;
    /// With other numbers for names.
    fn renamed(self, rename: &[u32]) -> Self;
    /// The last state after names, the first of which is at `position`.
    fn last(last: Last, position: u32, names: &[u32]) -> Last;
    /// Whether one of the names is a new state.
    fn moves(last: Last, names: &[u32]) -> bool;
    /// Takes a trace through names, with the tables of their positions. Returns the number of new transitions.
    fn run(tables: &mut [Table<Self, Pass>], part: &Part, names: &[u32]) -> usize;
}

/// Names before and after; the instant before is the one before.
impl Step for [u32; 2] {
    fn from(self, to: u32) -> Last {
        (to - 1, self[0])
    }

    fn to(self) -> u32 {
        self[1]
    }

    fn renamed(self, rename: &[u32]) -> Self {
        self.map(|name| rename[name as usize])
    }

    fn last(last: Last, position: u32, names: &[u32]) -> Last {
        names.last().map_or(last, |&name| (position + names.len() as u32 - 1, name))
    }

    fn moves(_last: Last, names: &[u32]) -> bool {
        !names.is_empty()
    }

    fn run(tables: &mut [Table<Self, Pass>], part: &Part, names: &[u32]) -> usize {
        let (pass, mut before, mut new) = (Pass::once(part.trace), part.last.1, 0);
        for (table, &name) in tables.iter_mut().zip(names) {
            let entry = table.entry([before, name]);
            new += usize::from(entry.is_empty());
            entry.add(pass);
            before = name;
        }
        new
    }
}

/// Position of the last change before, names before and after.
impl Step for [u32; 3] {
    fn from(self, _to: u32) -> Last {
        (self[0], self[1])
    }

    fn to(self) -> u32 {
        self[2]
    }

    fn renamed(self, rename: &[u32]) -> Self {
        [self[0], rename[self[1] as usize], rename[self[2] as usize]]
    }

    fn last(last: Last, position: u32, names: &[u32]) -> Last {
        let Some(&name) = names.last() else { return last };
        let since = names.iter().rposition(|&other| other != name).map_or(0, |at| at + 1);
        if since == 0 && last.1 == name { last } else { (position + since as u32, name) }
    }

    fn moves(last: Last, names: &[u32]) -> bool {
        names.iter().any(|&name| name != last.1)
    }

    fn run(tables: &mut [Table<Self, Pass>], part: &Part, names: &[u32]) -> usize {
        let (pass, mut last, mut new) = (Pass::once(part.trace), part.last, 0);
        for ((table, &name), position) in tables.iter_mut().zip(names).zip(part.position..) {
            if name != last.1 {
                let entry = table.entry([last.0, last.1, name]);
                new += usize::from(entry.is_empty());
                entry.add(pass);
                last = (position, name);
            }
        }
        new
    }
}

/// A part of a trace that is still to be taken through its instants.
pub(crate) struct Part {
    trace: u32,
    /// Position of its first name.
    position: u32,
    /// The state before that.
    last: Last,
    /// Where its names are.
    names: Range<usize>,
}

pub(crate) const PAGE: usize = 1 << 12;

/// How many instants are gone through at a time: their tables should fit in the second cache.
const TILE: usize = 32;

/// How many names are gathered, in how many parts at most.
const NAMES: usize = 1 << 20;
const PARTS: usize = 1 << 16;

/// Tables by position; pages of positions at which nothing changed are absent.
pub(crate) struct Layers<S> {
    pages: Vec<Vec<Table<S, Pass>>>,
    edges: usize,
    names: Vec<u32>,
    parts: Vec<Part>,
    /// Most names that are gathered.
    room: usize,
}

impl<S: Step> Layers<S> {
    pub fn new() -> Self {
        Self { pages: Vec::new(), edges: 0, names: Vec::new(), parts: Vec::new(), room: NAMES }
    }

    pub fn edges(&self) -> usize {
        self.edges
    }

    #[cfg(test)]
    pub fn set_room(&mut self, room: usize) {
        self.room = room;
    }

    /// A trace goes on from its last state through names, the first of which is at `position`. Returns its last state.
    pub fn extend(
        &mut self,
        trace: u32,
        mut last: Last,
        position: u64,
        mut names: &[u32],
        budget: &Budget,
    ) -> Result<Last, TooLarge> {
        let mut position = position as u32;
        while !names.is_empty() {
            let start = self.names.len();
            let (now, later) = names.split_at(names.len().min(self.room - start));
            self.names.extend_from_slice(now);
            self.parts.push(Part { trace, position, last, names: start..self.names.len() });
            last = S::last(last, position, now);
            position += now.len() as u32;
            names = later;
            if self.names.len() == self.room || self.parts.len() == PARTS {
                self.flush(budget)?;
            }
        }
        Ok(last)
    }

    /// Takes what has been gathered through its instants.
    pub fn flush(&mut self, budget: &Budget) -> Result<(), TooLarge> {
        let names = std::mem::take(&mut self.names);
        let mut parts = std::mem::take(&mut self.parts);
        // The last is the next to begin.
        parts.sort_unstable_by_key(|part| std::cmp::Reverse(part.position));
        let mut active: Vec<Part> = Vec::new();
        let mut tile = 0;
        loop {
            if active.is_empty() {
                let Some(next) = parts.last() else { break };
                tile = next.position as usize / TILE;
            }
            active.extend(std::iter::from_fn(|| parts.pop_if(|part| part.position as usize / TILE <= tile)));
            for part in &mut active {
                let at = part.position as usize;
                let count = part.names.len().min(TILE - at % TILE);
                let now = &names[part.names.start..][..count];
                // Where nothing changes for long, there are no tables.
                if S::moves(part.last, now) {
                    self.edges += S::run(&mut self.page(at / PAGE)[at % PAGE..], part, now);
                    part.last = S::last(part.last, part.position, now);
                }
                part.position += count as u32;
                part.names.start += count;
            }
            budget.edges(self.edges)?;
            active.retain(|part| !part.names.is_empty());
            tile += 1;
        }
        // The room is used again.
        self.names = names;
        self.names.clear();
        Ok(())
    }

    fn page(&mut self, page: usize) -> &mut [Table<S, Pass>] {
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, Vec::new);
        }
        let tables = &mut self.pages[page];
        if tables.is_empty() {
            tables.resize_with(PAGE, Table::default);
        }
        tables
    }

    /// Adds what other traces passed.
    pub fn absorb(&mut self, mut other: Self, rename: &[u32], budget: &Budget) -> Result<(), TooLarge> {
        other.flush(budget)?;
        for (page, tables) in other.pages.into_iter().enumerate().filter(|(_, tables)| !tables.is_empty()) {
            let mut new = 0;
            for (ours, theirs) in self.page(page).iter_mut().zip(tables) {
                for (step, pass) in theirs.scattered() {
                    let entry = ours.entry(step.renamed(rename));
                    new += usize::from(entry.is_empty());
                    entry.add(pass);
                }
            }
            self.edges += new;
            budget.edges(self.edges)?;
        }
        Ok(())
    }

    /// Non-empty tables with their positions, ascending.
    pub fn tables(&self) -> impl Iterator<Item = (u32, &Table<S, Pass>)> + '_ {
        self.pages.iter().enumerate().flat_map(|(page, tables)| {
            tables
                .iter()
                .enumerate()
                .filter(|(_, table)| table.len() > 0)
                .map(move |(at, table)| ((page * PAGE + at) as u32, table))
        })
    }
}
