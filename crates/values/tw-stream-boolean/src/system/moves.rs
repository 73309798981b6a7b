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
        let mut found = Vec::new();
        let mut values = vec![0u64; self.cells.len()];
        let words = self.guesses.saturating_sub(6);
        if self.guesses <= FEW {
            for high in 0..1u64 << words {
                self.word(back, letter, outside, high, &mut values, &mut found);
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
                    self.word(back, letter, outside, high, &mut values, &mut found);
                } else if self.may_hold(back, letter, outside, (high, open), &mut pairs) {
                    todo.push((high | 1 << (open - 1), open - 1));
                    todo.push((high, open - 1));
                }
            }
        }
        if found.len() > limit {
            return Err(TooLarge);
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// The moves among the 64 guesses whose higher bits are these.
    fn word(
        &self,
        back: u64,
        letter: u64,
        outside: u64,
        high: u64,
        values: &mut [u64],
        found: &mut Vec<Move>,
    ) {
        let all = |bit: u64| 0u64.wrapping_sub(bit & 1);
        for (at, cell) in self.cells.iter().enumerate() {
            values[at] = match *cell {
                Cell::Letter(bit) => all(letter >> bit),
                Cell::Back(bit) => all(back >> bit),
                Cell::Outside(bit) => all(outside >> bit),
                Cell::Guess(bit) => match PATTERNS.get(bit as usize) {
                    Some(&pattern) => pattern,
                    None => all(high >> (bit - 6)),
                },
                Cell::Apply(node) => node.apply(|child| values[child as usize]),
            };
        }
        let lanes = if self.guesses >= 6 { u64::MAX } else { (1u64 << (1 << self.guesses)) - 1 };
        let mut holds = self.demands.iter().fold(lanes, |holds, &cell| holds & values[cell as usize]);
        let promises = (1u64 << self.ahead.len()) - 1;
        while holds != 0 {
            let lane = holds.trailing_zeros();
            holds &= holds - 1;
            let guess = high << 6 | u64::from(lane);
            let ahead = guess & promises;
            let bit = |cell: u32| values[cell as usize] >> lane & 1;
            let take = |sources: &[Source], registers: u64| {
                let bits = sources.iter().map(|source| match *source {
                    Source::Cell(cell) => bit(cell),
                    Source::Register(register) => registers >> register & 1,
                });
                bits.enumerate().fold(0, |all, (at, bit)| all | bit << at)
            };
            let label = self.labels.iter().enumerate().fold(0, |all, (at, &cell)| all | bit(cell) << at);
            found.push(Move {
                kept: take(&self.ahead, ahead),
                next: State { back: take(&self.back, back), ahead },
                label,
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
