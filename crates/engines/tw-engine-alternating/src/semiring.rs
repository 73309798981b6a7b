//! Values that runs of an automaton can have: truth, or a statistic.
//!
//! "Checking Finite Traces using Alternating Automata" carries a value through its traversals instead of a truth
//! value. What is needed of the values is a commutative semiring rather than a lattice, since the paper's own example
//! adds numbers: `join` for a choice between runs, with `bottom` (no accepting run) as its zero, and `meet` for runs
//! that go together, with `top` (nothing visited) as its one. `meet` distributes over `join` and is strict in
//! `bottom`. `update` accounts for the visit of a node, and satisfies `update(s, n) = meet(s, update(top, n))`.

use tw_automata::alternating::NodeIndex;
use tw_core::{Bits, Position};

/// A commutative semiring with visits.
pub trait Semiring {
    /// A value.
    type Value: Clone + PartialEq;
    /// One value per position.
    type Column: Column<Self::Value>;
    /// No accepting run.
    fn bottom(&self) -> Self::Value;
    /// The run that visits nothing.
    fn top(&self) -> Self::Value;
    /// Either run.
    fn join(&self, a: &Self::Value, b: &Self::Value) -> Self::Value;
    /// Both runs.
    fn meet(&self, a: &Self::Value, b: &Self::Value) -> Self::Value;
    /// The run after a visit of `node`.
    fn update(&self, value: &Self::Value, node: NodeIndex) -> Self::Value;
    /// Whether joining anything to the value changes nothing, so that other runs need not be looked at.
    fn absorbs(&self, value: &Self::Value) -> bool;
    /// Whether a slice is worth nothing beside a part of it; only then may slices that include others be dropped.
    fn ignores_larger_slices(&self) -> bool {
        false
    }
    /// Bytes that a value holds outside of itself.
    fn heap_bytes(&self) -> usize {
        0
    }
}

/// Values by position, filled in any order.
pub trait Column<V> {
    /// `len` values, all the same.
    fn repeat(value: V, len: usize) -> Self;
    /// Sets one.
    fn put(&mut self, at: Position, value: V);
    /// Gets one.
    fn at(&self, at: Position) -> V;
    /// Bytes that a column of `len` values holds, without what values hold outside of themselves.
    fn bytes(len: usize) -> usize;
}

impl Column<bool> for Bits {
    fn repeat(value: bool, len: usize) -> Self {
        Bits::repeat(value, len)
    }
    fn put(&mut self, at: Position, value: bool) {
        self.set(at, value);
    }
    fn at(&self, at: Position) -> bool {
        self.get(at)
    }
    fn bytes(len: usize) -> usize {
        len.div_ceil(64) * 8
    }
}

impl<V: Clone> Column<V> for Vec<V> {
    fn repeat(value: V, len: usize) -> Self {
        vec![value; len]
    }
    fn put(&mut self, at: Position, value: V) {
        self[at] = value;
    }
    fn at(&self, at: Position) -> V {
        self[at].clone()
    }
    fn bytes(len: usize) -> usize {
        len * size_of::<V>()
    }
}

/// Plain checking: is there an accepting run?
#[derive(Clone, Copy, Debug, Default)]
pub struct Boolean;

impl Semiring for Boolean {
    type Value = bool;
    type Column = Bits;
    #[inline]
    fn bottom(&self) -> bool {
        false
    }
    #[inline]
    fn top(&self) -> bool {
        true
    }
    #[inline]
    fn join(&self, a: &bool, b: &bool) -> bool {
        *a | *b
    }
    #[inline]
    fn meet(&self, a: &bool, b: &bool) -> bool {
        *a & *b
    }
    #[inline]
    fn update(&self, value: &bool, _: NodeIndex) -> bool {
        *value
    }
    #[inline]
    fn absorbs(&self, value: &bool) -> bool {
        *value
    }
    fn ignores_larger_slices(&self) -> bool {
        true
    }
}
