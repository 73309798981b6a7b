//! Sets of states, 64 to a word.

use tw_core::Bits;

/// Combines two sets word by word. Bits past the end are cleared.
pub(super) fn combine(a: &Bits, b: &Bits, f: impl Fn(u64, u64) -> u64) -> Bits {
    debug_assert_eq!(a.len(), b.len());
    Bits::from_words(a.words().iter().zip(b.words()).map(|(&a, &b)| f(a, b)).collect(), a.len())
}

pub(super) fn and(a: &Bits, b: &Bits) -> Bits {
    combine(a, b, |a, b| a & b)
}

pub(super) fn or(a: &Bits, b: &Bits) -> Bits {
    combine(a, b, |a, b| a | b)
}

/// In the first set and not in the second.
pub(super) fn without(a: &Bits, b: &Bits) -> Bits {
    combine(a, b, |a, b| a & !b)
}

pub(super) fn complement(a: &Bits) -> Bits {
    Bits::from_words(a.words().iter().map(|word| !word).collect(), a.len())
}
