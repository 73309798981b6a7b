//! `y = y[-k|d] ? a : b` by words.
//!
//! With k = 1 every position keeps the value before it, turns it, sets or clears it. The prefix sum modulo two of the turns
//! is taken off: what remains keeps, sets or clears, and that is the carry of an addition. With 1 < k < 64 the functions
//! of positions k, 2k, 4k … apart are composed. With k ≥ 64 the word before is there already.

use super::{BLOCK, Block, fetch, inside};

/// Solves one block and writes it into the column. `range` is the place of the first referred position, and the length of
/// the trace; beyond it, `default` is what is referred to.
pub(super) fn solve(
    column: &mut [u64],
    block: usize,
    (yes, no): (&Block, &Block),
    back: i64,
    range: (i64, i64),
    default: bool,
) {
    let clear = range.0 >= 0 && range.0 + 64 * BLOCK as i64 <= range.1;
    for at in 0..BLOCK {
        let word = block * BLOCK + at;
        let (mut a, mut b) = (yes[at], no[at]);
        if !clear {
            // Where there is no such position, both ways lead to what the default leads to.
            let there = inside(range.0 + 64 * at as i64, range.1);
            let fixed = if default { a } else { b };
            (a, b) = (a & there | fixed & !there, b & there | fixed & !there);
        }
        let before = if word == 0 { 0 } else { column[word - 1] };
        column[word] = match back {
            1 => one(a, b, before >> 63),
            2..64 => stride(a, b, before, back as u32),
            _ => {
                let referred = fetch(column, 64 * word as i64 - back);
                referred & a | !referred & b
            }
        };
    }
}

#[inline]
fn one(a: u64, b: u64, before: u64) -> u64 {
    let turns = prefix(!a & b);
    let keeps = a ^ b;
    let sets = !keeps & (a ^ turns);
    let (sum, first) = (sets | keeps).overflowing_add(sets);
    let (sum, second) = sum.overflowing_add(before);
    let carries = (sets | keeps) ^ sets ^ sum;
    (carries >> 1 | u64::from(first | second) << 63) ^ turns
}

/// At each bit, the sum modulo two of all bits up to it.
#[inline]
fn prefix(mut bits: u64) -> u64 {
    if bits == 0 {
        return 0;
    }
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

#[inline]
fn stride(mut a: u64, mut b: u64, before: u64, back: u32) -> u64 {
    let mut referred = before >> (64 - back);
    let mut shift = back;
    while shift < 64 {
        // Bits below `shift` have no function before them in this word: they keep their own.
        let low = (1u64 << shift) - 1;
        let (yes, no) = (a << shift | low, b << shift & !low);
        let (first, second) = (yes & a | !yes & b, no & a | !no & b);
        (a, b) = (first, second);
        referred |= referred << shift;
        shift *= 2;
    }
    referred & a | !referred & b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_positions_are() {
        let mut rng = tw_testkit::Rng::new(7);
        for round in 0..2000 {
            let back = 1 + rng.below(if round % 2 == 0 { 5 } else { 140 }) as i64;
            let (yes, no): (Block, Block) = match round % 3 {
                0 => ([(); BLOCK].map(|()| rng.bits()), [(); BLOCK].map(|()| rng.bits())),
                // Long runs of keeping and turning.
                1 => (
                    [(); BLOCK].map(|()| rng.bits() | rng.bits() | rng.bits()),
                    [(); BLOCK].map(|()| rng.bits() & rng.bits()),
                ),
                _ => (
                    [(); BLOCK].map(|()| rng.bits() & rng.bits()),
                    [(); BLOCK].map(|()| rng.bits() | rng.bits()),
                ),
            };
            let (default, shift, len) =
                (rng.one_in(2), -(rng.below(70) as i64) - back, 1900 + rng.below(300) as i64);
            let mut column = vec![0u64; 2 * BLOCK];
            solve(&mut column, 0, (&yes, &no), back, (shift, len), default);
            solve(&mut column, 1, (&no, &yes), back, (shift + 64 * BLOCK as i64, len), default);
            let bit = |words: &[u64], at: i64| words[at as usize / 64] >> (at % 64) & 1 == 1;
            for at in 0..128 * BLOCK as i64 {
                let (a, b) = if at < 64 * BLOCK as i64 { (&yes, &no) } else { (&no, &yes) };
                let there = (0..len).contains(&(at + shift));
                let referred = if there { bit(&column, at - back) } else { default };
                let inner = at % (64 * BLOCK as i64);
                let expected = if referred { bit(a, inner) } else { bit(b, inner) };
                assert_eq!(bit(&column, at), expected, "round {round}, bit {at}, back {back}");
            }
        }
    }
}
