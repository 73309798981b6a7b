//! What a position may do: guesses are tried 64 at a time, and dropped early where what is guessed so far breaks a demand.

use super::{Cell, MOST_GUESSES, Move, Source, State, System, TooLarge};
use crate::Node;

/// The guesses of one word: the lowest six guessed bits take all their values.
const PATTERNS: [u64; 6] = [
    0xaaaa_aaaa_aaaa_aaaa,
    0xcccc_cccc_cccc_cccc,
    0xf0f0_f0f0_f0f0_f0f0,
    0xff00_ff00_ff00_ff00,
    0xffff_0000_ffff_0000,
    0xffff_ffff_0000_0000,
];

/// With more guessed bits than that, partial guesses are tested before they are completed.
const FEW: usize = 14;

/// Partial guesses that are tested for one position at most.
const MOST_TRIES: u64 = 1 << 20;

/// With that many moves among 64 guesses, all 64 are written at once.
const MANY: u32 = 4;

/// The widths of the parts of a move, the label lowest, then promises made, registers that look back, promises kept: as a
/// number it is ordered as the move is.
#[derive(Clone, Copy, Debug)]
struct Packing {
    label: usize,
    ahead: usize,
    back: usize,
}

impl Packing {
    fn pack(self, one: &Move) -> u64 {
        let shift = |value: u64, by: usize| value.checked_shl(by as u32).unwrap_or(0);
        let Packing { label, ahead, back } = self;
        one.label
            | shift(one.next.ahead, label)
            | shift(one.next.back, label + ahead)
            | shift(one.kept, label + ahead + back)
    }

    fn unpack(self, key: u64) -> Move {
        let part = |from: usize, width: usize| {
            let value = key.checked_shr(from as u32).unwrap_or(0);
            if width < 64 { value & ((1 << width) - 1) } else { value }
        };
        let Packing { label, ahead, back } = self;
        Move {
            label: part(0, label),
            next: State { ahead: part(label, ahead), back: part(label + ahead, back) },
            kept: part(label + ahead + back, ahead),
        }
    }
}

/// Moves as they are found: packed where they fit a word.
struct Found {
    limit: usize,
    packing: Option<Packing>,
    keys: Vec<u64>,
    moves: Vec<Move>,
}

impl Found {
    fn len(&self) -> usize {
        self.keys.len() + self.moves.len()
    }

    fn push(&mut self, one: Move) {
        match self.packing {
            Some(packing) => self.keys.push(packing.pack(&one)),
            None => self.moves.push(one),
        }
    }

    /// In order, each once.
    fn sorted(mut self) -> Result<Vec<Move>, TooLarge> {
        if self.len() > self.limit {
            return Err(TooLarge);
        }
        self.keys.sort_unstable();
        self.keys.dedup();
        self.moves.sort_unstable();
        self.moves.dedup();
        match self.packing {
            Some(packing) => Ok(self.keys.into_iter().map(|key| packing.unpack(key)).collect()),
            None => Ok(self.moves),
        }
    }
}

/// Bit `i` of word `j` becomes bit `j` of word `i`.
fn transpose(rows: &mut [u64; 64]) {
    let mut width = 32;
    let mut mask = 0x0000_0000_ffff_ffff_u64;
    while width != 0 {
        for at in (0..64).filter(|at| at & width == 0) {
            let swap = (rows[at] >> width ^ rows[at + width]) & mask;
            rows[at] ^= swap << width;
            rows[at + width] ^= swap;
        }
        width /= 2;
        mask ^= mask << width;
    }
}

impl System {
    /// Whether the promises of a state under a mask are what holds beyond the trace.
    pub(crate) fn keeps(&self, state: State, mask: u64) -> bool {
        (state.ahead ^ self.last) & mask == 0
    }

    /// Whether a state may be the last one.
    pub(crate) fn is_last(&self, state: State) -> bool {
        state.ahead == self.last
    }

    /// All moves of a position with these registers, this letter and these ends, in order. At most `limit` of them.
    pub(crate) fn moves(
        &self,
        back: u64,
        letter: u64,
        outside: u64,
        limit: usize,
    ) -> Result<Vec<Move>, TooLarge> {
        if self.guesses > MOST_GUESSES {
            return Err(TooLarge);
        }
        let mut found = Found { limit, keys: Vec::new(), moves: Vec::new(), packing: self.packing() };
        let mut values = vec![0u64; self.cells.len()];
        let words = self.guesses.saturating_sub(6);
        if self.guesses <= FEW {
            for high in 0..1u64 << words {
                self.word((back, letter, outside), high, &mut values, &mut found);
            }
        } else {
            // Bits are guessed from the highest on: outputs before promises.
            let mut pairs = vec![(0u64, 0u64); self.cells.len()];
            let mut todo = vec![(0u64, words)];
            let mut tried = 0u64;
            while let Some((high, open)) = todo.pop() {
                tried += 1;
                if tried > MOST_TRIES || found.len() > limit {
                    return Err(TooLarge);
                }
                if open == 0 {
                    self.word((back, letter, outside), high, &mut values, &mut found);
                } else if self.may_hold(back, letter, outside, (high, open), &mut pairs) {
                    todo.push((high | 1 << (open - 1), open - 1));
                    todo.push((high, open - 1));
                }
            }
        }
        found.sorted()
    }

    /// Where the parts of a move stand in a word, if all of them fit one.
    fn packing(&self) -> Option<Packing> {
        let (label, ahead, back) = (self.labels.len(), self.ahead.len(), self.back.len());
        (label + 2 * ahead + back <= 64).then_some(Packing { label, ahead, back })
    }

    /// The moves among the 64 guesses whose higher bits are these.
    fn word(
        &self,
        (back, letter, outside): (u64, u64, u64),
        high: u64,
        values: &mut [u64],
        found: &mut Found,
    ) {
        let all = |bit: u64| 0u64.wrapping_sub(bit & 1);
        let guessed = |bit: u32| match PATTERNS.get(bit as usize) {
            Some(&pattern) => pattern,
            None => all(high >> (bit - 6)),
        };
        for (at, cell) in self.cells.iter().enumerate() {
            values[at] = match *cell {
                Cell::Letter(bit) => all(letter >> bit),
                Cell::Back(bit) => all(back >> bit),
                Cell::Outside(bit) => all(outside >> bit),
                Cell::Guess(bit) => guessed(bit),
                Cell::Apply(node) => node.apply(|child| values[child as usize]),
            };
        }
        let lanes = if self.guesses >= 6 { u64::MAX } else { (1u64 << (1 << self.guesses)) - 1 };
        let mut holds = self.demands.iter().fold(lanes, |holds, &cell| holds & values[cell as usize]);
        let kept = |source: &Source| match *source {
            Source::Cell(cell) => values[cell as usize],
            Source::Register(register) => guessed(register),
        };
        let carried = |source: &Source| match *source {
            Source::Cell(cell) => values[cell as usize],
            Source::Register(register) => all(back >> register),
        };
        if found.packing.is_some() && holds.count_ones() >= MANY {
            // The parts of 64 moves lie across words: turned, each word is a move.
            let mut rows = [0u64; 64];
            let labels = self.labels.iter().map(|&cell| values[cell as usize]);
            let ahead = (0..self.ahead.len() as u32).map(guessed);
            let parts =
                labels.chain(ahead).chain(self.back.iter().map(carried)).chain(self.ahead.iter().map(kept));
            rows.iter_mut().zip(parts).for_each(|(row, part)| *row = part);
            transpose(&mut rows);
            while holds != 0 {
                found.keys.push(rows[holds.trailing_zeros() as usize]);
                holds &= holds - 1;
            }
            return;
        }
        let promises = (1u64 << self.ahead.len()) - 1;
        while holds != 0 {
            let lane = holds.trailing_zeros();
            holds &= holds - 1;
            let ahead = (high << 6 | u64::from(lane)) & promises;
            let one = |all: u64, (at, word): (usize, u64)| all | (word >> lane & 1) << at;
            found.push(Move {
                kept: self.ahead.iter().map(kept).enumerate().fold(0, one),
                next: State { back: self.back.iter().map(carried).enumerate().fold(0, one), ahead },
                label: self.labels.iter().map(|&cell| values[cell as usize]).enumerate().fold(0, one),
            });
        }
    }

    /// Whether the demands may hold when the lowest `open` of the high bits and the six lowest are still to be guessed. Each
    /// cell is a pair: may it be true, may it be false.
    fn may_hold(
        &self,
        back: u64,
        letter: u64,
        outside: u64,
        (high, open): (u64, usize),
        pairs: &mut [(u64, u64)],
    ) -> bool {
        let known = |bit: u64| if bit & 1 == 1 { (1, 0) } else { (0, 1) };
        for (at, cell) in self.cells.iter().enumerate() {
            pairs[at] = match *cell {
                Cell::Letter(bit) => known(letter >> bit),
                Cell::Back(bit) => known(back >> bit),
                Cell::Outside(bit) => known(outside >> bit),
                Cell::Guess(bit) if (bit as usize) < 6 + open => (1, 1),
                Cell::Guess(bit) => known(high >> (bit - 6)),
                Cell::Apply(node) => possible(node, pairs),
            };
        }
        self.demands.iter().all(|&cell| pairs[cell as usize].0 == 1)
    }
}

fn possible(node: Node, pairs: &[(u64, u64)]) -> (u64, u64) {
    let of = |id: u32| pairs[id as usize];
    let and = |(a, na): (u64, u64), (b, nb): (u64, u64)| (a & b, na | nb);
    let or = |(a, na): (u64, u64), (b, nb): (u64, u64)| (a | b, na & nb);
    let not = |(a, na): (u64, u64)| (na, a);
    let xor = |(a, na): (u64, u64), (b, nb): (u64, u64)| (a & nb | na & b, a & b | na & nb);
    match node {
        Node::Constant(value) => {
            if value {
                (1, 0)
            } else {
                (0, 1)
            }
        }
        Node::Stream { .. } | Node::Outside(_) => (1, 1),
        Node::Not(a) => not(of(a)),
        Node::And(a, b) => and(of(a), of(b)),
        Node::Or(a, b) => or(of(a), of(b)),
        Node::Xor(a, b) => xor(of(a), of(b)),
        Node::Iff(a, b) => not(xor(of(a), of(b))),
        Node::Implies(a, b) => or(not(of(a)), of(b)),
        Node::If(a, b, c) => {
            let ((a, na), (b, nb), (c, nc)) = (of(a), of(b), of(c));
            (a & b | na & c, a & nb | na & nc)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        let mut rows = [0u64; 64];
        let mut state = 1u64;
        for row in &mut rows {
            state = state.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
            *row = state;
        }
        let before = rows;
        transpose(&mut rows);
        for (at, row) in rows.iter().enumerate() {
            for (bit, column) in before.iter().enumerate() {
                assert_eq!(row >> bit & 1, column >> at & 1, "{at} {bit}");
            }
        }
    }

    #[test]
    fn packed_moves_are_themselves_in_their_order() {
        let packing = Packing { label: 3, ahead: 20, back: 21 };
        let one =
            |kept: u64, back: u64, ahead: u64, label: u64| Move { kept, next: State { back, ahead }, label };
        let moves =
            [one(0, 0, 0, 7), one(0, 0, 1, 0), one(0, 5, 0, 1), one(1, 0, 0, 0), one(0xf_ffff, 1, 2, 3)];
        assert!(moves.is_sorted());
        assert!(moves.map(|one| packing.pack(&one)).is_sorted());
        for one in moves {
            assert_eq!(packing.unpack(packing.pack(&one)), one);
        }
        let none = Packing { label: 64, ahead: 0, back: 0 };
        assert_eq!(none.unpack(none.pack(&one(0, 0, 0, u64::MAX))), one(0, 0, 0, u64::MAX));
    }
}
