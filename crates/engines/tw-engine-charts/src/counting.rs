//! Iterated charts: executions are counted.
//!
//! The k-th execution of a basic chart consists of the k-th occurrence of each of its events (what the published division of a
//! trace comes to), so an event goes to the execution of its number, and executions are complete in their order. An execution
//! that is complete has to be in order; precharts must not overlap; and main charts have to answer them, as many and one
//! after the last as published, or each its own.

use crate::shape::{NECESSARY, Out, SUFFICIENT, Shape};
use std::collections::VecDeque;
use tw_core::codec::{Corrupt, put, put_word, take, take_len, take_word};
use tw_ir::chart::Matching;

/// An execution that is not complete.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Execution {
    cut: u64,
    /// Whether an event came before one that precedes it.
    broken: bool,
    /// When its first event was.
    first: u64,
    /// Precharts that were complete then.
    led: u64,
}

/// The executions of a basic chart.
#[derive(Clone, Debug, Default, PartialEq)]
struct Side {
    /// How often each event has happened.
    counts: Vec<u64>,
    complete: u64,
    open: VecDeque<Execution>,
}

/// Where a trace is.
#[derive(Clone, Debug, PartialEq)]
pub struct Counting {
    sides: [Side; 2],
    /// Events so far.
    now: u64,
    /// When the last prechart was complete.
    ended: u64,
    /// When the last main chart that is complete began.
    began: u64,
    /// When the precharts that no main chart has answered were complete: for an injective matching.
    owed: VecDeque<u64>,
}

impl Counting {
    /// Before the first event.
    pub fn new(shape: &Shape) -> Self {
        let side = |events: usize| Side { counts: vec![0; events], ..Side::default() };
        Self { sides: [side(shape.pre), side(shape.main)], now: 0, ended: 0, began: 0, owed: VecDeque::new() }
    }

    /// Takes an event.
    pub fn step(&mut self, shape: &Shape, letter: usize) -> Out {
        let (main, event) = shape.side(letter);
        self.now += 1;
        let led = self.sides[0].complete;
        let side = &mut self.sides[usize::from(main)];
        let number = (side.counts[event] - side.complete) as usize;
        side.counts[event] += 1;
        if number == side.open.len() {
            side.open.push_back(Execution { first: self.now, led, ..Execution::default() });
        }
        let execution = &mut side.open[number];
        execution.broken |= shape.before[letter] & !execution.cut != 0;
        execution.cut |= 1 << event;
        if execution.cut != shape.full(main) {
            return 0;
        }
        // Those before it are complete already.
        let done = *execution;
        side.open.pop_front();
        side.complete += 1;
        let number = side.complete;
        match main {
            false => self.prechart(shape, done),
            true => self.main_chart(shape, done, number),
        }
    }

    fn prechart(&mut self, shape: &Shape, done: Execution) -> Out {
        let overlaps = self.ended > 0 && done.first <= self.ended;
        self.ended = self.now;
        if shape.iterate == Some(Matching::Injective) {
            self.owed.push_back(self.now);
        }
        if done.broken || overlaps { NECESSARY } else { 0 }
    }

    fn main_chart(&mut self, shape: &Shape, done: Execution, number: u64) -> Out {
        self.began = done.first;
        let led = match shape.iterate {
            Some(Matching::Injective) => {
                if self.owed.front().is_some_and(|ended| *ended < done.first) {
                    self.owed.pop_front();
                }
                done.led >= number
            }
            _ => done.led > 0,
        };
        match (done.broken, led) {
            (true, _) => NECESSARY | SUFFICIENT,
            (false, false) => SUFFICIENT,
            (false, true) => 0,
        }
    }

    /// What is owed if the trace ends here.
    pub fn end(&self, shape: &Shape) -> Out {
        let [pre, main] = [self.sides[0].complete, self.sides[1].complete];
        match shape.iterate {
            Some(Matching::Injective) => {
                if self.owed.is_empty() {
                    0
                } else {
                    NECESSARY
                }
            }
            _ => {
                let unanswered = pre > 0 && (main < pre || self.began <= self.ended);
                (if unanswered { NECESSARY } else { 0 }) | (if main > pre { SUFFICIENT } else { 0 })
            }
        }
    }

    /// How far the first main chart got that is not complete.
    pub fn progress(&self) -> u64 {
        self.sides[1].open.front().map_or(0, |open| open.cut)
    }

    pub(crate) fn save(&self, out: &mut Vec<u8>) {
        [self.now, self.ended, self.began].into_iter().for_each(|number| put(number, out));
        put(self.owed.len() as u64, out);
        self.owed.iter().for_each(|&ended| put(ended, out));
        for side in &self.sides {
            put(side.complete, out);
            side.counts.iter().for_each(|&count| put(count, out));
            put(side.open.len() as u64, out);
            for open in &side.open {
                put_word(open.cut, out);
                put(open.first << 1 | u64::from(open.broken), out);
                put(open.led, out);
            }
        }
    }

    pub(crate) fn load(shape: &Shape, from: &mut &[u8]) -> Result<Self, Corrupt> {
        let bad = || Corrupt("the saved executions of a chart do not fit together".into());
        let mut counting = Counting::new(shape);
        counting.now = take(from)?;
        counting.ended = take(from)?;
        counting.began = take(from)?;
        for _ in 0..take_len(from)? {
            counting.owed.push_back(take(from)?);
        }
        for (number, side) in counting.sides.iter_mut().enumerate() {
            side.complete = take(from)?;
            for count in &mut side.counts {
                *count = take(from)?;
            }
            for _ in 0..take_len(from)? {
                let cut = take_word(from)?;
                let first = take(from)?;
                let led = take(from)?;
                side.open.push_back(Execution { cut, broken: first & 1 == 1, first: first >> 1, led });
            }
            // An event's next execution is one of those that are open, or the one behind them.
            let next =
                |count: &u64| count.checked_sub(side.complete).is_some_and(|at| at <= side.open.len() as u64);
            let inside = side.open.iter().all(|open| open.cut & !shape.full(number == 1) == 0);
            if !side.counts.iter().all(next) || !inside {
                return Err(bad());
            }
        }
        Ok(counting)
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        let side = |side: &Side| side.counts.capacity() * 8 + side.open.capacity() * size_of::<Execution>();
        size_of::<Self>() + self.sides.iter().map(side).sum::<usize>() + self.owed.capacity() * 8
    }
}
