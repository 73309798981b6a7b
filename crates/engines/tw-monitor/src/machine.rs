//! What forward engines have in common: a deterministic machine that reads one position at a time.
//!
//! Formula rewriting (a state is a residual formula), breadth-first traversal (a set of slices) and the deterministic
//! automaton differ in what a state is, not in how it is used. Each implements [`Machine`]; [`crate::Forward`] turns
//! any of them into an evaluator of stored traces and into a live monitor.

use crate::{Corrupt, Unsupported};
use std::cell::OnceCell;
use tw_core::{Bits, Position};

/// A state of a machine, by number. Numbers are the machine's own; equal states have equal numbers.
pub type State = u32;

/// A deterministic machine for several goals (formulas). Atoms of a position are packed 64 to a word: bit `i` of the
/// words is the atom `Program::atoms()[i]`.
///
/// Past operators make a state depend on what came before. `origin` and `remember` keep that as a *history* (a number
/// too, always 0 without past operators), so that a goal can be entered at any position, not only at the first.
pub trait Machine: Send {
    /// The history before the first position.
    fn origin(&mut self) -> State;
    /// The history after one more position.
    fn remember(&mut self, history: State, atoms: &[u64]) -> Result<State, Unsupported>;
    /// The state in which `goal` is to hold at the position that comes next, after `history`.
    fn enter(&mut self, goal: usize, history: State) -> Result<State, Unsupported>;
    /// The state after one more position.
    fn step(&mut self, goal: usize, state: State, atoms: &[u64]) -> Result<State, Unsupported>;
    /// Whether the goal holds if the trace ends with the position that led to `state`. Never asked of a state that
    /// was entered but not stepped.
    fn holds_at_end(&self, goal: usize, state: State) -> bool;
    /// The verdict that every continuation has in common, if there is one: every infinite continuation under
    /// `Semantics::Ltl3`, every finite one otherwise. A settled state never changes its verdict, and a machine may
    /// answer `None` where finding out would exceed its budget. Never asked of a state that was entered but not
    /// stepped.
    fn settled(&mut self, goal: usize, state: State) -> Option<bool>;
    /// Why some verdict of [`Machine::settled`] was left open that another engine may settle, if one was: a budget of
    /// its questions ran out. Whoever asked for verdicts asks this too, and refuses rather than leave them open.
    fn undecided(&self) -> Option<Unsupported> {
        None
    }
    /// What is still owed in `state`, as a formula in the user's words.
    fn residual(&self, goal: usize, state: State) -> String;
    /// Writes a state so that another process, with the same program and options, can [`Machine::load`] it.
    fn save(&self, goal: usize, state: State, out: &mut Vec<u8>);
    /// Reads back what [`Machine::save`] wrote, advancing `from`.
    fn load(&mut self, goal: usize, from: &mut &[u8]) -> Result<State, Corrupt>;
    /// As [`Machine::save`], for a history.
    fn save_history(&self, history: State, out: &mut Vec<u8>);
    /// As [`Machine::load`], for a history.
    fn load_history(&mut self, from: &mut &[u8]) -> Result<State, Corrupt>;
    /// Bytes held.
    fn heap_bytes(&self) -> usize;

    /// Steps the goals `0..states.len()` over the position `at` and writes `at` to `since` where the state changes.
    /// Goals with a verdict need not be stepped; their states are not used again. Returns whether to ask if goals whose
    /// `since` is `at` are settled. Override it where all goals together can be stepped faster than one by one.
    #[inline]
    fn step_all(
        &mut self,
        states: &mut [State],
        since: &mut [Position],
        verdicts: &[Option<bool>],
        at: Position,
        atoms: &[u64],
    ) -> Result<bool, Unsupported> {
        let mut changed = at == 0;
        for (goal, (state, since)) in states.iter_mut().zip(since).enumerate() {
            if verdicts[goal].is_none() {
                let next = self.step(goal, *state, atoms)?;
                if next != *state {
                    (*state, *since, changed) = (next, at, true);
                }
            }
        }
        Ok(changed)
    }

    /// A step, and what the state it leads to settles.
    #[inline]
    fn advance(
        &mut self,
        goal: usize,
        state: State,
        atoms: &[u64],
    ) -> Result<(State, Option<bool>), Unsupported> {
        let next = self.step(goal, state, atoms)?;
        Ok((next, self.settled(goal, next)))
    }

    /// Whether there is one history alone and no state is ever forgotten: then it does not matter whether goals are
    /// stepped together or one after the other.
    fn constant(&self) -> bool {
        false
    }

    /// Takes positions of the stretch, from `from` on, with each of which a run of the goal starts in `fresh`, for as long
    /// as no run fails and all that are open are in one state, and are `waiting` there. Returns the first position that is
    /// not taken. A machine that is no faster at this than by steps takes none.
    fn follow(
        &mut self,
        goal: usize,
        fresh: State,
        waiting: &mut Option<Waiting>,
        stretch: &Stretch<'_>,
        from: usize,
    ) -> usize {
        let _ = (goal, fresh, waiting, stretch);
        from
    }

    /// Whether more states are kept than the budget allows: the caller is to say with [`Machine::retain`] which it still
    /// uses. Asked after each position.
    #[inline]
    fn crowded(&self) -> bool {
        false
    }
    /// How many steps had to build the state or transition that they needed. A stored trace for which that happens more
    /// often than the budget has states is left to another engine.
    fn misses(&self) -> u64 {
        0
    }
    /// The goals and states that are still in use, and the histories; the machine may forget all others.
    fn retain(&mut self, live: &[(usize, State)], histories: &[State]) {
        let _ = (live, histories);
    }

    /// Steps from position `from` of the stretch up to `to` and stops after the first position that settles the goal.
    /// Override it where whole columns can be read faster than position by position. The caller has no other state of
    /// the goal in use.
    fn run(
        &mut self,
        goal: usize,
        mut state: State,
        stretch: &Stretch<'_>,
        from: usize,
        to: usize,
    ) -> Result<Run, Unsupported> {
        let mut changed = None;
        for at in from..to {
            let next = self.step(goal, state, stretch.row(at))?;
            if next != state {
                (state, changed) = (next, Some(at));
            }
            if self.settled(goal, state).is_some() {
                return Ok(Run { state, end: at + 1, changed });
            }
        }
        Ok(Run { state, end: to, changed })
    }
}

/// Open runs in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The state.
    pub state: State,
    /// Those that started before the stretch, if there are some.
    pub before: usize,
    /// The position of the stretch where the first of the others started.
    pub first: usize,
    /// The number of the others.
    pub count: usize,
}

/// Where [`Machine::run`] came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The state.
    pub state: State,
    /// The position after the last that was read.
    pub end: usize,
    /// The last position that changed the state.
    pub changed: Option<usize>,
}

/// The atoms of consecutive positions: as columns, and as rows once a row is asked for.
pub struct Stretch<'a> {
    atoms: &'a [Bits],
    /// The first position, in words of the columns.
    first_word: usize,
    len: usize,
    width: usize,
    rows: OnceCell<Vec<u64>>,
}

impl<'a> Stretch<'a> {
    /// `len` positions of the columns from `start`, a multiple of 64.
    pub fn new(atoms: &'a [Bits], start: usize, len: usize) -> Self {
        debug_assert!(start.is_multiple_of(64));
        Self { atoms, first_word: start / 64, len, width: words(atoms.len()), rows: OnceCell::new() }
    }

    /// 64 positions of one atom, from position `64 * index` of the stretch. Bits beyond the stretch are unspecified.
    pub fn word(&self, atom: usize, index: usize) -> u64 {
        self.atoms[atom].words()[self.first_word + index]
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The atoms at a position, packed.
    pub fn row(&self, at: usize) -> &[u64] {
        let rows = self.rows.get_or_init(|| transpose(self.atoms, self.first_word, self.len, self.width));
        &rows[at * self.width..(at + 1) * self.width]
    }
}

/// Words that hold the packed atoms of one position: at least one.
pub fn words(atoms: usize) -> usize {
    atoms.div_ceil(64).max(1)
}

/// Columns to rows, in squares of 64 × 64 bits.
fn transpose(atoms: &[Bits], first_word: usize, len: usize, width: usize) -> Vec<u64> {
    let mut rows = vec![0; len * width];
    for (group, columns) in atoms.chunks(64).enumerate() {
        for block in 0..len.div_ceil(64) {
            let mut square = [0u64; 64];
            for (word, column) in square.iter_mut().zip(columns) {
                *word = column.words()[first_word + block];
            }
            if columns.len() <= 8 {
                // Few columns: spread eight positions of all of them at a time.
                spread(&mut square, columns.len());
            } else {
                transpose_square(&mut square);
            }
            for (at, word) in square.iter().enumerate().take(len - block * 64) {
                rows[(block * 64 + at) * width + group] = *word;
            }
        }
    }
    rows
}

/// As [`transpose_square`] when only the first eight rows (or fewer) hold anything.
fn spread(square: &mut [u64; 64], columns: usize) {
    let words: [u64; 8] = std::array::from_fn(|index| if index < columns { square[index] } else { 0 });
    for byte in 0..8 {
        let mut eight = 0u64;
        for (index, word) in words.iter().enumerate() {
            eight |= ((word >> (byte * 8)) & 0xff) << (index * 8);
        }
        let eight = transpose_eight(eight);
        for position in 0..8 {
            square[byte * 8 + position] = (eight >> (position * 8)) & 0xff;
        }
    }
}

/// Transposes a square of 8 × 8 bits: bit `c` of byte `r` becomes bit `r` of byte `c`.
pub fn transpose_eight(mut x: u64) -> u64 {
    let mut t = (x ^ (x >> 7)) & 0x00aa_00aa_00aa_00aa;
    x ^= t ^ (t << 7);
    t = (x ^ (x >> 14)) & 0x0000_cccc_0000_cccc;
    x ^= t ^ (t << 14);
    t = (x ^ (x >> 28)) & 0x0000_0000_f0f0_f0f0;
    x ^ t ^ (t << 28)
}

/// Transposes a square of 64 × 64 bits by swapping ever smaller quarters.
fn transpose_square(square: &mut [u64; 64]) {
    let mut size = 32;
    let mut mask = 0x0000_0000_ffff_ffffu64;
    while size > 0 {
        for start in (0..64).step_by(2 * size) {
            for row in start..start + size {
                let t = ((square[row] >> size) ^ square[row + size]) & mask;
                square[row] ^= t << size;
                square[row + size] ^= t;
            }
        }
        size /= 2;
        mask ^= mask << size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_hold_what_columns_hold() {
        for atoms in [0usize, 1, 3, 8, 9, 63, 64, 65, 130] {
            for len in [1usize, 2, 63, 64, 65, 200] {
                let mut rng = tw_testkit::Rng::new(1);
                let columns: Vec<Bits> =
                    (0..atoms).map(|_| (0..len).map(|_| rng.one_in(2)).collect()).collect();
                let stretch = Stretch::new(&columns, 0, len);
                for at in 0..len {
                    let row = stretch.row(at);
                    assert_eq!(row.len(), words(atoms));
                    for (atom, column) in columns.iter().enumerate() {
                        assert_eq!(row[atom / 64] >> (atom % 64) & 1 == 1, column.get(at));
                    }
                }
            }
        }
    }
}
