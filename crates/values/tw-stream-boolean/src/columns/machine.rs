//! A component of outputs that refer back to each other, as a machine: its state is the values that are referred to, a
//! letter what the component depends on, and a table leads from a state and the letters of some positions to the next
//! state and the values between. States are numbered as they come up.
//!
//! Near the ends of the trace, where references lead beyond it, and where the table would grow too large, the component
//! is computed position by position.

use super::{BLOCK, Block, Columns, Slot, fetch, inside};
use crate::{Id, Node};
use rustc_hash::FxHashMap;

/// One step of a member's equation at one position.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// A bit of what the component depends on.
    Letter(usize),
    /// A member, so many positions ago; `shift` is where the referred position is.
    Member { member: usize, back: i64, shift: i64, default: bool },
    /// An operator over earlier steps.
    Apply(Node),
}

/// The most bytes of a table.
const MOST_BYTES: usize = 4 << 20;

/// The most bits of letters in one look-up.
const MOST_BITS: usize = 10;

#[derive(Clone, Debug)]
pub(super) struct Machine {
    /// The members in an order of computation; which outputs they are.
    pub(super) members: Vec<usize>,
    /// The equation of each member: steps, the last is the value.
    pub(super) equations: Vec<Vec<Step>>,
    pub(super) letters: Vec<Slot>,
    /// How many values of each member the state holds.
    pub(super) kept: Vec<i64>,
    /// The least and the largest shift of a reference.
    pub(super) shifts: (i64, i64),
}

#[derive(Clone, Copy)]
struct Entry {
    /// The row of the next state; `UNKNOWN` where nobody asked yet.
    next: u32,
    values: u64,
}

const UNKNOWN: u32 = u32::MAX;

/// The state of a run.
pub(super) struct Running {
    /// Positions per look-up; none: no table.
    stride: u32,
    table: Vec<Entry>,
    states: Vec<u64>,
    rows: FxHashMap<u64, u32>,
    /// The row of the present state, if the last word went by the table.
    row: Option<u32>,
}

impl Machine {
    pub(super) fn start(&self) -> Running {
        let bits: i64 = self.kept.iter().sum();
        let fits = |stride: &u32| {
            let stride = *stride as usize;
            self.letters.len() * stride <= MOST_BITS.max(self.letters.len())
                && self.members.len() * stride <= 64
        };
        let may = bits <= 64 && self.letters.len() <= 12 && self.members.len() <= 64;
        let stride = if may { [8, 4, 2, 1].into_iter().find(fits).unwrap_or(0) } else { 0 };
        Running { stride, table: Vec::new(), states: Vec::new(), rows: FxHashMap::default(), row: None }
    }

    pub(super) fn block(
        &self,
        running: &mut Running,
        block: usize,
        slots: &[Block],
        columns: &mut Columns<'_>,
    ) {
        for at in 0..BLOCK {
            let word = block * BLOCK + at;
            let start = 64 * word as i64;
            let whole = |shift: i64| inside(start + shift, columns.len) == u64::MAX;
            let middle = whole(self.shifts.0) && whole(self.shifts.1);
            if running.stride == 0 || !middle || !self.word(running, word, at, slots, columns) {
                running.row = None;
                self.positions(word, at, slots, columns);
            }
        }
    }

    /// Position by position.
    fn positions(&self, word: usize, at: usize, slots: &[Block], columns: &mut Columns<'_>) {
        let mut values: Vec<bool> = Vec::new();
        for bit in 0..64 {
            let moment = 64 * word as i64 + bit;
            for (member, steps) in self.equations.iter().enumerate() {
                values.clear();
                for step in steps {
                    let value = match *step {
                        Step::Letter(letter) => slots[self.letters[letter]][at] >> bit & 1 == 1,
                        Step::Member { member, back, shift, default } => {
                            if inside(moment + shift, columns.len) & 1 == 1 {
                                fetch(&columns.outputs[self.members[member]], moment - back) & 1 == 1
                            } else {
                                default
                            }
                        }
                        Step::Apply(node) => apply(node, &values),
                    };
                    values.push(value);
                }
                if values.last() == Some(&true) {
                    columns.outputs[self.members[member]][word] |= 1 << bit;
                }
            }
        }
    }

    /// A word by the table; false if that cannot be, and nothing has happened.
    fn word(
        &self,
        running: &mut Running,
        word: usize,
        at: usize,
        slots: &[Block],
        columns: &mut Columns<'_>,
    ) -> bool {
        let stride = running.stride;
        let (mask, width) = ((1u64 << stride) - 1, self.letters.len() as u32 * stride);
        let Some(mut row) = running.row.or_else(|| {
            let state = self.state_at(64 * word as i64, columns);
            self.row(running, state)
        }) else {
            running.stride = 0;
            return false;
        };
        let mut found = [0u64; 64];
        let mut letters = [0u64; 12];
        self.letters.iter().zip(&mut letters).for_each(|(&slot, letter)| *letter = slots[slot][at]);
        let letters = &mut letters[..self.letters.len()];
        for step in 0..64 / stride {
            let mut index = u64::from(row) << width;
            for (nth, letter) in letters.iter_mut().enumerate() {
                index |= (*letter & mask) << (nth as u32 * stride);
                *letter >>= stride;
            }
            let mut entry = running.table[index as usize];
            if entry.next == UNKNOWN {
                let Some(made) = self.make(running, row, index) else {
                    running.stride = 0;
                    return false;
                };
                entry = made;
            }
            row = entry.next;
            for (nth, word) in found[..self.members.len()].iter_mut().enumerate() {
                *word |= (entry.values >> (nth as u32 * stride) & mask) << (step * stride);
            }
        }
        running.row = Some(row);
        for (member, values) in self.members.iter().zip(found) {
            columns.outputs[*member][word] = values;
        }
        true
    }

    /// The values that are referred to, before a moment: of each member the last one in the lowest bit.
    fn state_at(&self, moment: i64, columns: &Columns<'_>) -> u64 {
        let (mut state, mut place) = (0, 0);
        for (member, &kept) in self.kept.iter().enumerate() {
            for back in 1..=kept {
                let bit = fetch(&columns.outputs[self.members[member]], moment - back) & 1;
                state |= bit << place;
                place += 1;
            }
        }
        state
    }

    fn row(&self, running: &mut Running, state: u64) -> Option<u32> {
        if let Some(&row) = running.rows.get(&state) {
            return Some(row);
        }
        let size = 1usize << (self.letters.len() * running.stride as usize);
        let row = running.states.len();
        if (row + 1) * size * size_of::<Entry>() > MOST_BYTES {
            return None;
        }
        running.states.push(state);
        running.table.resize((row + 1) * size, Entry { next: UNKNOWN, values: 0 });
        running.rows.insert(state, row as u32);
        Some(row as u32)
    }

    fn make(&self, running: &mut Running, row: u32, index: u64) -> Option<Entry> {
        let stride = running.stride;
        let (mut state, mut found) = (running.states[row as usize], 0u64);
        let mut values: Vec<bool> = Vec::new();
        let mut places = Vec::with_capacity(self.kept.len());
        let mut place = 0;
        for &kept in &self.kept {
            places.push(place);
            place += kept;
        }
        for step in 0..stride {
            let mut now = 0u64;
            for (member, steps) in self.equations.iter().enumerate() {
                values.clear();
                for one in steps {
                    let value = match *one {
                        Step::Letter(letter) => index >> (letter as u32 * stride + step) & 1 == 1,
                        Step::Member { member, back: 0, .. } => now >> member & 1 == 1,
                        Step::Member { member, back, .. } => state >> (places[member] + back - 1) & 1 == 1,
                        Step::Apply(node) => apply(node, &values),
                    };
                    values.push(value);
                }
                now |= u64::from(values.last() == Some(&true)) << member;
            }
            let mut next = 0;
            for (member, (&place, &kept)) in places.iter().zip(&self.kept).enumerate() {
                if kept > 0 {
                    let all = if kept == 64 { u64::MAX } else { (1 << kept) - 1 };
                    next |= (((state >> place) << 1 | (now >> member & 1)) & all) << place;
                }
                found |= (now >> member & 1) << (member as u32 * stride + step);
            }
            state = next;
        }
        let next = self.row(running, state)?;
        let entry = Entry { next, values: found };
        running.table[index as usize] = entry;
        Some(entry)
    }
}

pub(crate) fn apply(node: Node, values: &[bool]) -> bool {
    node.apply(|id: Id| if values[id as usize] { u64::MAX } else { 0 }) & 1 == 1
}
