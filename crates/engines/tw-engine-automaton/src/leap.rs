//! Several positions per look-up, from columns.
//!
//! A byte holds the symbols of 8, 4, 2 or 1 consecutive positions, for goals that use 1, 2, 3–4 or 5–8 atoms. A second
//! table tells for each state and byte the state after all of them, and which of them changed it last. The chain of
//! dependent look-ups, which is what a run costs, is shorter by that factor.

use crate::table::Table;
use std::hint::select_unpredictable;
use tw_monitor::{Run, State, Stretch, transpose_eight};

/// Most states of an automaton that has such a table: 256 KiB of it.
const STATES: usize = 256;

/// Atoms that a byte has room for at each of its positions: 1, 2, 4 or 8.
pub(crate) struct Leaps {
    width: usize,
    /// Atoms of the goal.
    atoms: usize,
    /// By `state << 8 | byte`: the next state, shifted as much, and the number of the last position that changed the
    /// state, from 1; 0 if none did.
    table: Vec<u32>,
}

impl Leaps {
    /// For an automaton with so many states, the atoms of its goal, and its transitions by cell and symbol.
    pub(crate) fn new(states: usize, atoms: &[u32], next: &[State]) -> Option<Self> {
        let atoms = atoms.len();
        if states > STATES {
            return None;
        }
        let width = atoms.next_power_of_two();
        let mut table = Vec::with_capacity(states << 8);
        for from in 0..states as State {
            for byte in 0..256usize {
                let (mut state, mut last) = (from, 0);
                for position in 0..8 / width {
                    let symbol = byte >> (position * width) & ((1 << atoms) - 1);
                    let after = next[(state as usize) << atoms | symbol] >> atoms;
                    if after != state {
                        (state, last) = (after, position as u32 + 1);
                    }
                }
                table.push(state << 8 | last);
            }
        }
        Some(Self { width, atoms, table })
    }

    #[inline]
    pub(crate) fn run(
        &self,
        goal: &Table,
        next: &[State],
        state: State,
        stretch: &Stretch<'_>,
        from: usize,
        to: usize,
    ) -> Run {
        match self.width {
            1 => self.run_by::<1>(goal, next, state, stretch, from, to),
            2 => self.run_by::<2>(goal, next, state, stretch, from, to),
            4 => self.run_by::<4>(goal, next, state, stretch, from, to),
            _ => self.run_by::<8>(goal, next, state, stretch, from, to),
        }
    }

    fn run_by<const WIDTH: usize>(
        &self,
        goal: &Table,
        next: &[State],
        mut state: State,
        stretch: &Stretch<'_>,
        from: usize,
        to: usize,
    ) -> Run {
        // A settled state is never left, so it is enough to look after each word; it was reached where the state last
        // changed.
        let mut changed = usize::MAX;
        let mut at = from;
        while at < to {
            let word = at / 64;
            let (start, until) = (64 * word, to.min(64 * (word + 1)));
            let bytes = bytes::<WIDTH>(goal.atoms(), stretch, word);
            if at == start && until == start + 64 {
                let mut cell = goal.number(state) << 8;
                for (index, &byte) in bytes[..8 * WIDTH].iter().enumerate() {
                    let entry = self.table[(cell | u32::from(byte)) as usize];
                    let last = (entry & 0xff) as usize;
                    let place = (start + index * (8 / WIDTH) + last).wrapping_sub(1);
                    changed = select_unpredictable(last == 0, changed, place);
                    cell = entry & !0xff;
                }
                state = goal.state(cell >> 8);
            } else {
                for position in at..until {
                    let place = (position - start) * WIDTH;
                    let symbol = bytes[place / 8] as usize >> (place % 8) & ((1 << self.atoms) - 1);
                    let after = next[goal.cell(state) + symbol];
                    changed = if after == state { changed } else { position };
                    state = after;
                }
            }
            at = until;
            if goal.settled(state).is_some() {
                let changed = (changed != usize::MAX).then_some(changed);
                return Run { state, end: changed.unwrap_or(from) + 1, changed };
            }
        }
        Run { state, end: to, changed: (changed != usize::MAX).then_some(changed) }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.table.len() * size_of::<u32>()
    }
}

/// The symbols of 64 positions, `WIDTH` bits each.
#[inline]
fn bytes<const WIDTH: usize>(atoms: &[u32], stretch: &Stretch<'_>, word: usize) -> [u8; 64] {
    let mut columns = [0u64; WIDTH];
    for (column, &atom) in columns.iter_mut().zip(atoms) {
        *column = stretch.word(atom as usize, word);
    }
    let mut bytes = [0; 64];
    let mut put =
        |index: usize, word: u64| bytes[8 * index..8 * index + 8].copy_from_slice(&word.to_le_bytes());
    match WIDTH {
        1 => put(0, columns[0]),
        2 => {
            let [low, high] = interleave(columns[0], columns[1]);
            put(0, low);
            put(1, high);
        }
        4 => {
            let (even, odd) = (interleave(columns[0], columns[2]), interleave(columns[1], columns[3]));
            for half in 0..2 {
                let [low, high] = interleave(even[half], odd[half]);
                put(2 * half, low);
                put(2 * half + 1, high);
            }
        }
        _ => {
            for byte in 0..8 {
                let gathered = columns.iter().enumerate().fold(0, |gathered, (place, column)| {
                    gathered | (column >> (8 * byte) & 0xff) << (8 * place)
                });
                put(byte, transpose_eight(gathered));
            }
        }
    }
    bytes
}

/// Bits of the one at even places, bits of the other at odd ones.
#[inline]
fn interleave(even: u64, odd: u64) -> [u64; 2] {
    [spread(even) | spread(odd) << 1, spread(even >> 32) | spread(odd >> 32) << 1]
}

/// The lower 32 bits at even places.
#[inline]
fn spread(word: u64) -> u64 {
    let mut word = word & 0xffff_ffff;
    for (shift, mask) in [
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ] {
        word = (word | word << shift) & mask;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interleaved_bits_alternate() {
        let (even, odd) = (0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3211);
        let both = interleave(even, odd);
        for place in 0..64 {
            let pair = both[place / 32] >> (2 * (place % 32)) & 3;
            assert_eq!(pair, even >> place & 1 | (odd >> place & 1) << 1);
        }
    }
}
