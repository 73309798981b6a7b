//! All tables of a machine together: one event steps every property without a branch that depends on it.
//!
//! The symbols of up to 16 properties are found at once: for each byte of the row that they use, a table gives what it
//! contributes to all of them. Then each property is one look-up; whether some state became settled is a bit of the
//! entries that were read.

use crate::table::{SETTLED, Table};
use std::hint::select_unpredictable;
use tw_core::Position;
use tw_monitor::State;

/// Properties whose symbols are found at once.
const LANES: usize = 16;
/// Most bytes of a row that a group looks at: more tables would not stay in the nearest cache.
const BYTES: usize = 6;
/// Cells of all tables together; of those in use only the beginning is ever read.
const CELLS: usize = 1 << 16;

#[derive(Default)]
pub(crate) struct Bank {
    groups: Vec<Group>,
    /// The tables of all properties, one after the other, then zeros: an index of 16 bits needs no check.
    next: Option<Box<[u32; CELLS]>>,
    /// Cells in use.
    used: usize,
}

struct Group {
    /// The first of consecutive goals.
    first: usize,
    goals: usize,
    bytes: Vec<Byte>,
}

/// A byte of a row that goals look at.
struct Byte {
    /// Where it is: word and shift.
    place: (usize, u32),
    /// For each value, what it adds to the symbols: a byte per goal.
    symbols: Box<[u128; 256]>,
}

impl Bank {
    /// Takes over as many of the goals as fit and returns the others.
    pub(crate) fn new<'a>(
        tables: impl Iterator<Item = (usize, Option<&'a mut Table>)>,
    ) -> (Self, Vec<usize>) {
        let (mut bank, mut others) = (Self::default(), Vec::new());
        for (goal, table) in tables {
            let added = table.is_some_and(|table| bank.add(goal, table));
            if !added {
                others.push(goal);
            }
        }
        (bank, others)
    }

    fn add(&mut self, goal: usize, table: &mut Table) -> bool {
        let Some(entries) = table.dense().map(<[State]>::len) else { return false };
        let places = |atom: &u32| (*atom as usize / 64, atom % 64 / 8 * 8);
        let atoms = table.atoms();
        let mut wanted: Vec<(usize, u32)> = atoms.iter().map(places).collect();
        wanted.dedup();
        if wanted.len() > BYTES || self.used + entries > CELLS {
            return false;
        }
        let fits = |group: &Group| {
            let known = |place: &&(usize, u32)| group.bytes.iter().any(|byte| byte.place == **place);
            let more = wanted.iter().filter(|place| !known(place)).count();
            let room = group.goals < LANES && group.bytes.len() + more <= BYTES;
            room && group.first + group.goals == goal
        };
        if !self.groups.last().is_some_and(fits) {
            self.groups.push(Group { first: goal, goals: 0, bytes: Vec::new() });
        }
        let Some(group) = self.groups.last_mut() else { return false };
        for place in wanted {
            if group.bytes.iter().all(|byte| byte.place != place) {
                group.bytes.push(Byte { place, symbols: Box::new([0; 256]) });
            }
        }
        for (place, atom) in atoms.iter().enumerate() {
            for byte in group.bytes.iter_mut().filter(|byte| byte.place == places(atom)) {
                for value in (0..256).filter(|value| value >> (atom % 8) & 1 == 1) {
                    byte.symbols[value] |= 1 << (8 * group.goals + place);
                }
            }
        }
        group.goals += 1;
        let symbols = 1 << atoms.len();
        let cells = self.next.get_or_insert_with(|| Box::new([0; CELLS]));
        table.place(self.used as State);
        for (cell, &after) in table.dense().unwrap_or_default().iter().enumerate() {
            let before = (self.used + (cell & !(symbols - 1))) as State;
            let becomes = table.settled(before).is_none() && table.settled(after).is_some();
            cells[self.used + cell] = after | if becomes { SETTLED } else { 0 };
        }
        self.used += entries;
        true
    }

    /// As `Machine::step_all`, for the goals taken over.
    #[inline]
    pub(crate) fn step(
        &self,
        states: &mut [State],
        since: &mut [Position],
        at: Position,
        row: &[u64],
    ) -> bool {
        let Some(next) = &self.next else { return false };
        let mut seen = 0;
        for group in &self.groups {
            // Goals beyond are run from each position instead.
            let end = (group.first + group.goals).min(states.len());
            let Some(states) = states.get_mut(group.first..end) else { break };
            let Some(since) = since.get_mut(group.first..end) else { break };
            let mut symbols = 0;
            for Byte { place: (word, shift), symbols: adds } in &group.bytes {
                symbols |= adds[(row[*word] >> shift & 0xff) as usize];
            }
            let symbols = symbols.to_le_bytes();
            for ((state, since), symbol) in states.iter_mut().zip(since).zip(&symbols) {
                // Cells have 16 bits: nothing is cut off.
                let cell = (*state as u16).wrapping_add(u16::from(*symbol));
                let after = next[usize::from(cell)];
                seen |= after;
                // Which of many states change is hard to predict.
                *since = select_unpredictable(after == *state, *since, at);
                *state = after;
            }
        }
        seen & SETTLED != 0
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        let groups = self.groups.iter().map(|group| group.bytes.len() * 256 * 16 + size_of::<Group>());
        self.next.as_ref().map_or(0, |_| CELLS * 4) + groups.sum::<usize>()
    }
}
