//! Bits of a block: 64 positions per word, bits past the block's length are zero.

use crate::kernels;
use std::borrow::Cow;

/// The mask of the first `count` (at most 64) bits.
#[inline]
pub(crate) fn low(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// `len` ones.
pub(crate) fn ones(len: usize) -> Vec<u64> {
    let mut words = vec![u64::MAX; len.div_ceil(64)];
    if !len.is_multiple_of(64)
        && let Some(last) = words.last_mut()
    {
        *last = low(len % 64);
    }
    words
}

#[inline]
pub(crate) fn get(words: &[u64], at: usize) -> bool {
    words[at / 64] >> (at % 64) & 1 == 1
}

#[inline]
pub(crate) fn clear(words: &mut [u64], at: usize) {
    words[at / 64] &= !(1 << (at % 64));
}

pub(crate) fn set(words: &mut [u64], at: usize) {
    words[at / 64] |= 1 << (at % 64);
}

/// The word at `index` with the bits outside of `from..to` (positions) cleared.
#[inline]
pub(crate) fn masked(words: &[u64], index: usize, from: usize, to: usize) -> u64 {
    let start = index * 64;
    let mut word = words[index];
    if from > start {
        word &= !low(from - start);
    }
    if to < start + 64 {
        word &= low(to - start);
    }
    word
}

/// The numbers of the words that hold `from..to`.
#[inline]
pub(crate) fn span(from: usize, to: usize) -> std::ops::Range<usize> {
    from / 64..to.div_ceil(64)
}

/// The words that hold the positions `from..to`, of which the first is a multiple of 64.
pub(crate) fn cut(words: &[u64], from: usize, to: usize) -> Cow<'_, [u64]> {
    let part = &words[span(from, to)];
    let end = to - from;
    match part.last() {
        Some(last) if !end.is_multiple_of(64) && last & !low(end % 64) != 0 => {
            let mut part = part.to_vec();
            part[end / 64] &= low(end % 64);
            Cow::Owned(part)
        }
        _ => Cow::Borrowed(part),
    }
}

/// How many bits of `from..to` are set.
pub(crate) fn count(words: &[u64], from: usize, to: usize) -> u64 {
    if from.is_multiple_of(64) && to >= words.len() * 64 {
        return (kernels::best().count)(&words[from / 64..]);
    }
    span(from, to).map(|index| u64::from(masked(words, index, from, to).count_ones())).sum()
}

/// The lowest set bit of `from..to`.
pub(crate) fn first(words: &[u64], from: usize, to: usize) -> Option<usize> {
    span(from, to).find_map(|index| {
        let word = masked(words, index, from, to);
        (word != 0).then(|| index * 64 + word.trailing_zeros() as usize)
    })
}

/// The highest set bit of `from..to`.
pub(crate) fn last(words: &[u64], from: usize, to: usize) -> Option<usize> {
    span(from, to).rev().find_map(|index| {
        let word = masked(words, index, from, to);
        (word != 0).then(|| index * 64 + 63 - word.leading_zeros() as usize)
    })
}

/// Calls `f` with each set bit of `from..to`, descending.
#[inline]
pub(crate) fn each_down(words: &[u64], from: usize, to: usize, mut f: impl FnMut(usize)) {
    for index in span(from, to).rev() {
        let mut word = masked(words, index, from, to);
        while word != 0 {
            let bit = 63 - word.leading_zeros() as usize;
            word ^= 1 << bit;
            f(index * 64 + bit);
        }
    }
}

pub(crate) fn zip(a: &[u64], b: &[u64], f: impl Fn(u64, u64) -> u64) -> Vec<u64> {
    a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
}

/// Each bit one position lower; the one that comes in at the end of `len` bits is `carry`.
pub(crate) fn shifted_down(words: &[u64], len: usize, carry: bool) -> Vec<u64> {
    let above = words[1..].iter().map(|word| word << 63).chain([0]);
    let mut out: Vec<u64> = words.iter().zip(above).map(|(word, above)| word >> 1 | above).collect();
    if carry {
        set(&mut out, len - 1);
    }
    out
}

/// One word of `hold U now`: where `now` holds, or `hold` does and the position after it is in the result.
#[inline]
pub(crate) fn until(hold: u64, now: u64, carry: bool) -> u64 {
    // An addition lets a carry run upwards from each `now` through the `hold` that follow it: here from the other end.
    let (hold, now) = (hold.reverse_bits(), now.reverse_bits());
    let either = hold | now;
    let (sum, _) = either.overflowing_add(now);
    let (sum, _) = sum.overflowing_add(u64::from(carry));
    let carried = sum ^ either ^ now;
    (now | hold & carried).reverse_bits()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tw_testkit::Rng;

    #[test]
    fn until_is_its_definition() {
        let mut rng = Rng::new(3);
        for round in 0..2000 {
            let (mut hold, now) = (rng.bits(), rng.bits() & rng.bits() & rng.bits());
            if round % 2 == 0 {
                hold |= rng.bits() | rng.bits();
            }
            let carry = rng.one_in(2);
            let (mut state, mut expected) = (carry, 0);
            for bit in (0..64).rev() {
                state = now >> bit & 1 == 1 || hold >> bit & 1 == 1 && state;
                expected |= u64::from(state) << bit;
            }
            assert_eq!(until(hold, now, carry), expected, "{hold:x} U {now:x}, {carry}");
        }
    }

    #[test]
    fn ranges_of_bits() {
        let mut rng = Rng::new(4);
        for _ in 0..500 {
            let len = 1 + rng.below(200);
            let words: Vec<u64> = ones(len).iter().map(|word| word & rng.bits() & rng.bits()).collect();
            let from = rng.below(len);
            let to = from + rng.below(len - from + 1);
            let set: Vec<usize> = (from..to).filter(|at| get(&words, *at)).collect();
            assert_eq!(count(&words, from, to), set.len() as u64);
            assert_eq!(first(&words, from, to), set.first().copied());
            assert_eq!(last(&words, from, to), set.last().copied());
            let mut down = Vec::new();
            each_down(&words, from, to, |at| down.push(at));
            assert!(down.iter().rev().eq(&set));
            let carry = rng.one_in(2);
            let shifted = shifted_down(&words, len, carry);
            for at in 0..len {
                assert_eq!(get(&shifted, at), if at + 1 < len { get(&words, at + 1) } else { carry });
            }
        }
    }
}
