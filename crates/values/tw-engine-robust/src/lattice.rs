//! The ordered values, and what a stretch of positions is worth to a temporal operator.
//!
//! Robustness is computed in the lattice of the reals with ±inf: `or` is the join, `and` the meet. An operator and its
//! dual (`F` and `G`, `U` and `R`) are one computation in the lattice and in the lattice upside down.
//!
//! No value is NaN (traces hold finite numbers) and none is −0.0 ([`negate`]), so every computation of the same joins
//! and meets, in any order, gives the same bits.

/// −v, and never −0.0.
#[inline(always)]
pub(crate) fn negate(v: f64) -> f64 {
    0.0 - v
}

/// The greater.
#[inline(always)]
pub(crate) fn max(a: f64, b: f64) -> f64 {
    // One instruction; `f64::max` spends more on NaN, which does not occur.
    if a > b { a } else { b }
}

/// The smaller.
#[inline(always)]
pub(crate) fn min(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The reals with ±inf, one way up or the other.
pub(crate) trait Lattice: Copy {
    /// The join of nothing.
    const BOTTOM: f64;
    /// The meet of nothing.
    const TOP: f64;
    fn join(a: f64, b: f64) -> f64;
    fn meet(a: f64, b: f64) -> f64;
    /// Whether a lies below b, and is not b.
    fn below(a: f64, b: f64) -> bool;
}

/// The right way up: `F`, `U`, `O`, `S`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Up;

/// Upside down: the duals `G`, `R`, `H`, `T`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Down;

impl Lattice for Up {
    const BOTTOM: f64 = f64::NEG_INFINITY;
    const TOP: f64 = f64::INFINITY;
    #[inline(always)]
    fn join(a: f64, b: f64) -> f64 {
        max(a, b)
    }
    #[inline(always)]
    fn meet(a: f64, b: f64) -> f64 {
        min(a, b)
    }
    #[inline(always)]
    fn below(a: f64, b: f64) -> bool {
        a < b
    }
}

impl Lattice for Down {
    const BOTTOM: f64 = f64::INFINITY;
    const TOP: f64 = f64::NEG_INFINITY;
    #[inline(always)]
    fn join(a: f64, b: f64) -> f64 {
        min(a, b)
    }
    #[inline(always)]
    fn meet(a: f64, b: f64) -> f64 {
        max(a, b)
    }
    #[inline(always)]
    fn below(a: f64, b: f64) -> bool {
        a > b
    }
}

/// What a stretch of positions is worth; stretches side by side are put together.
pub(crate) trait Monoid {
    type Item: Copy;
    /// Of no positions.
    const EMPTY: Self::Item;
    fn cat(left: Self::Item, right: Self::Item) -> Self::Item;
}

/// The join of the values.
pub(crate) struct Joined<L>(L);

impl<L: Lattice> Monoid for Joined<L> {
    type Item = f64;
    const EMPTY: f64 = L::BOTTOM;
    #[inline(always)]
    fn cat(left: f64, right: f64) -> f64 {
        L::join(left, right)
    }
}

/// The meet of the values.
pub(crate) struct Met<L>(L);

impl<L: Lattice> Monoid for Met<L> {
    type Item = f64;
    const EMPTY: f64 = L::TOP;
    #[inline(always)]
    fn cat(left: f64, right: f64) -> f64 {
        L::meet(left, right)
    }
}

/// A stretch for until or since: the meet of what has to hold, and the best way to the goal inside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Way {
    pub hold: f64,
    pub goal: f64,
}

/// Until: a goal on the right is reached by holding all along the left.
pub(crate) struct Untils<L>(L);

impl<L: Lattice> Monoid for Untils<L> {
    type Item = Way;
    const EMPTY: Way = Way { hold: L::TOP, goal: L::BOTTOM };
    #[inline(always)]
    fn cat(left: Way, right: Way) -> Way {
        Way { hold: L::meet(left.hold, right.hold), goal: L::join(left.goal, L::meet(left.hold, right.goal)) }
    }
}

/// Since: a goal on the left is kept by holding all along the right.
pub(crate) struct Sinces<L>(L);

impl<L: Lattice> Monoid for Sinces<L> {
    type Item = Way;
    const EMPTY: Way = Way { hold: L::TOP, goal: L::BOTTOM };
    #[inline(always)]
    fn cat(left: Way, right: Way) -> Way {
        Way {
            hold: L::meet(left.hold, right.hold),
            goal: L::join(right.goal, L::meet(right.hold, left.goal)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_negative_zero() {
        for v in [0.0, -0.0, 1.0, f64::INFINITY] {
            assert!(negate(v).to_bits() != (-0.0f64).to_bits());
            assert_eq!(negate(v), -v);
        }
    }
}
