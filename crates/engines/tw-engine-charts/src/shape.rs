//! What all questions about one pair of basic charts have in common.

use tw_ir::chart::{Check, Condition, Matching, Reading};

/// What an event does to the questions of a pair: bits.
pub type Out = u8;
/// A violation of what is necessary; at the end, that it is pending.
pub const NECESSARY: Out = 1;
/// A violation of what is sufficient; at the end, that it lacks something.
pub const SUFFICIENT: Out = 2;

/// The bit of a condition.
pub fn bit(condition: Condition) -> Out {
    match condition {
        Condition::Necessary => NECESSARY,
        Condition::Sufficient => SUFFICIENT,
    }
}

/// Two basic charts and how they are read. Letters are the events, those of the prechart first.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Events of the prechart.
    pub pre: usize,
    /// Events of the main chart.
    pub main: usize,
    /// Of each letter those of its own basic chart that directly precede it.
    pub before: Vec<u64>,
    /// How it is read.
    pub reading: Reading,
    /// Of an iterated chart.
    pub iterate: Option<Matching>,
}

impl Shape {
    /// Of a check.
    pub fn new(check: &Check) -> Self {
        let reading = if check.iterate.is_some() { Reading::Segment } else { check.reading };
        Self {
            pre: check.pre,
            main: check.main(),
            before: check.before.clone(),
            reading,
            iterate: check.iterate,
        }
    }

    /// Number of letters.
    pub fn letters(&self) -> usize {
        self.pre + self.main
    }

    /// Whether a letter is of the main chart, and its number there.
    #[inline]
    pub fn side(&self, letter: usize) -> (bool, usize) {
        if letter < self.pre { (false, letter) } else { (true, letter - self.pre) }
    }

    /// All events of a side as a cut.
    #[inline]
    pub fn full(&self, main: bool) -> u64 {
        let events = if main { self.main } else { self.pre };
        u64::MAX >> (64 - events)
    }

    /// Those that directly precede an event of a side.
    #[inline]
    pub fn before(&self, main: bool, event: usize) -> u64 {
        self.before[if main { self.pre + event } else { event }]
    }
}
