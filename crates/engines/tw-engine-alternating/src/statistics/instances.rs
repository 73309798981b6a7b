//! The statistics as semirings.

use crate::semiring::Semiring;
use tw_automata::alternating::{Alternating, NodeIndex};

/// MIN-REJ: the fewest visits to rejecting nodes that an accepting run needs.
pub struct Rejecting {
    /// By node.
    rejects: Vec<bool>,
}

impl Rejecting {
    /// For the runs of an automaton.
    pub fn new(automaton: &Alternating) -> Self {
        Self { rejects: automaton.nodes().iter().map(|node| !node.accepting).collect() }
    }
}

/// A count of visits; smaller is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fewest {
    /// As many.
    Count(u64),
    /// There is an accepting run, but its visits do not fit a number.
    Overflow,
    /// There is no accepting run.
    None,
}

impl Semiring for Rejecting {
    type Value = Fewest;
    type Column = Vec<Fewest>;

    fn bottom(&self) -> Fewest {
        Fewest::None
    }

    fn top(&self) -> Fewest {
        Fewest::Count(0)
    }

    fn join(&self, a: &Fewest, b: &Fewest) -> Fewest {
        *a.min(b)
    }

    fn meet(&self, a: &Fewest, b: &Fewest) -> Fewest {
        match (a, b) {
            (Fewest::None, _) | (_, Fewest::None) => Fewest::None,
            (Fewest::Count(a), Fewest::Count(b)) => a.checked_add(*b).map_or(Fewest::Overflow, Fewest::Count),
            _ => Fewest::Overflow,
        }
    }

    fn update(&self, value: &Fewest, node: NodeIndex) -> Fewest {
        let visit = u64::from(self.rejects[node.index()]);
        self.meet(value, &Fewest::Count(visit))
    }

    fn absorbs(&self, value: &Fewest) -> bool {
        *value == Fewest::Count(0)
    }
}

/// COVERAGE: the nodes that every accepting run visits.
pub struct Covered {
    nodes: usize,
}

impl Covered {
    /// For the runs of an automaton.
    pub fn new(automaton: &Alternating) -> Self {
        Self { nodes: automaton.nodes().len() }
    }

    fn words(&self) -> usize {
        self.nodes.div_ceil(64)
    }
}

impl Semiring for Covered {
    /// One bit per node; `None` where there is no accepting run.
    type Value = Option<Box<[u64]>>;
    type Column = Vec<Self::Value>;

    fn bottom(&self) -> Self::Value {
        None
    }

    fn top(&self) -> Self::Value {
        Some(vec![0; self.words()].into())
    }

    fn join(&self, a: &Self::Value, b: &Self::Value) -> Self::Value {
        match (a, b) {
            (None, other) | (other, None) => other.clone(),
            (Some(a), Some(b)) => Some(a.iter().zip(b).map(|(a, b)| a & b).collect()),
        }
    }

    fn meet(&self, a: &Self::Value, b: &Self::Value) -> Self::Value {
        Some(a.as_ref()?.iter().zip(b.as_ref()?).map(|(a, b)| a | b).collect())
    }

    fn update(&self, value: &Self::Value, node: NodeIndex) -> Self::Value {
        let mut value = value.clone()?;
        value[node.index() / 64] |= 1 << (node.index() % 64);
        Some(value)
    }

    fn absorbs(&self, value: &Self::Value) -> bool {
        value.as_ref().is_some_and(|bits| bits.iter().all(|&word| word == 0))
    }

    fn heap_bytes(&self) -> usize {
        self.words() * 8
    }
}

/// How many accepting runs there are, as trees; at most `u64::MAX` are told apart.
#[derive(Clone, Copy, Debug, Default)]
pub struct Runs;

impl Semiring for Runs {
    type Value = u64;
    type Column = Vec<u64>;

    fn bottom(&self) -> u64 {
        0
    }

    fn top(&self) -> u64 {
        1
    }

    fn join(&self, a: &u64, b: &u64) -> u64 {
        a.saturating_add(*b)
    }

    fn meet(&self, a: &u64, b: &u64) -> u64 {
        a.saturating_mul(*b)
    }

    fn update(&self, value: &u64, _: NodeIndex) -> u64 {
        *value
    }

    fn absorbs(&self, value: &u64) -> bool {
        *value == u64::MAX
    }
}
