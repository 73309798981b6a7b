//! Formulas: their truth at all positions of a word at once.
//!
//! What is `true` or ⊥ everywhere needs no cells. A transient node of a formula carries one bit from word to word.

use crate::block::Chunk;
use tw_core::Bits;

/// One instruction; its result is the register of its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Word {
    Constant(bool),
    /// A column of the trace.
    Atom(u32),
    /// A column that is given.
    Guard(u32),
    First,
    Last,
    Not(u32),
    And(u32, u32),
    Or(u32, u32),
    Xor(u32, u32),
    /// ⟨A, id⟩; if it stays, the last position is its own next.
    Next(u32, bool),
    /// The loop of `hold U goal`; without `hold`, of `F goal`.
    Until(Option<u32>, u32),
}

/// Registers, and what is carried from the positions behind.
#[derive(Debug)]
pub(crate) struct Words {
    pub registers: Vec<u64>,
    carried: Vec<bool>,
}

impl Words {
    pub(crate) fn new(program: &[Word]) -> Self {
        Self { registers: vec![0; program.len()], carried: vec![false; program.len()] }
    }

    /// At the end of a segment nothing is behind.
    pub(crate) fn reset(&mut self) {
        self.carried.fill(false);
    }

    /// Computes one chunk; bits outside of it are zero.
    pub(crate) fn step(&mut self, program: &[Word], atoms: &[Bits], guards: &[Bits], chunk: Chunk) {
        let Chunk { word, low, high, mask, first, last } = chunk;
        for (at, instruction) in program.iter().enumerate() {
            let of = |register: u32| self.registers[register as usize];
            let value = match *instruction {
                Word::Constant(true) => mask,
                Word::Constant(false) => 0,
                Word::Atom(atom) => atoms[atom as usize].words()[word] & mask,
                Word::Guard(guard) => guards[guard as usize].words()[word] & mask,
                Word::First => u64::from(first) << low,
                Word::Last => u64::from(last) << high,
                Word::Not(a) => !of(a) & mask,
                Word::And(a, b) => of(a) & of(b),
                Word::Or(a, b) => of(a) | of(b),
                Word::Xor(a, b) => of(a) ^ of(b),
                Word::Next(a, stays) => {
                    let a = of(a);
                    let behind = if last && stays { a >> high & 1 == 1 } else { self.carried[at] };
                    self.carried[at] = a >> low & 1 == 1;
                    (a >> 1) & mask | u64::from(behind) << high
                }
                Word::Until(hold, goal) => {
                    let behind = u64::from(self.carried[at]) << high;
                    let value = match hold {
                        Some(hold) => until(of(hold), of(goal), behind),
                        None => below(of(goal) | behind) & mask,
                    };
                    self.carried[at] = value >> low & 1 == 1;
                    value
                }
            };
            self.registers[at] = value;
        }
    }
}

/// `hold U goal` in a word, where bit `behind` tells that it holds right after the highest position.
fn until(hold: u64, goal: u64, behind: u64) -> u64 {
    let (mut reached, mut through) = (goal | hold & behind, hold);
    for step in [1, 2, 4, 8, 16, 32] {
        // `through`: hold at this position and the `step` - 1 after it.
        reached |= through & (reached >> step);
        through &= through >> step;
    }
    reached
}

/// The highest set bit and all below it.
fn below(word: u64) -> u64 {
    if word == 0 { 0 } else { u64::MAX >> word.leading_zeros() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn until_position_by_position() {
        let mut rng = tw_testkit::Rng::new(3);
        for round in 0..3000 {
            let mut random = || rng.bits();
            let (mut hold, mut goal) = (random() | random() | random(), random() & random() & random());
            if round % 3 == 0 {
                (hold, goal) = (u64::MAX, 0);
            }
            let high = (random() % 64) as u32;
            let mask = u64::MAX >> (63 - high);
            let (hold, goal, behind) = (hold & mask, goal & mask, random() & 1);
            let (mut carried, mut expected, mut finally) = (behind == 1, 0u64, 0u64);
            let mut eventually = carried;
            for bit in (0..=high).rev() {
                carried = goal >> bit & 1 == 1 || hold >> bit & 1 == 1 && carried;
                eventually |= goal >> bit & 1 == 1;
                expected |= u64::from(carried) << bit;
                finally |= u64::from(eventually) << bit;
            }
            assert_eq!(until(hold, goal, behind << high), expected, "{hold:x} {goal:x} {behind} {high}");
            assert_eq!(below(goal | behind << high) & mask, finally);
        }
    }
}
