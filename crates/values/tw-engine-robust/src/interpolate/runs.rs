//! Signals that hold from sample to sample: runs of ticks, compared and never computed with.

use super::{Signal, Window};
use crate::lattice::{Joined, Up, max, min, negate};
use crate::sliding::Sliding;

/// Runs of ticks with one value each. Times are wider than 64 bits, so that distances are.
#[derive(Clone, Debug)]
pub(super) struct Runs {
    /// The first tick of each run, ascending; never none.
    starts: Vec<i128>,
    values: Vec<f64>,
    /// The last tick of the last run.
    end: i128,
}

impl Runs {
    fn empty(end: i128) -> Self {
        Self { starts: Vec::new(), values: Vec::new(), end }
    }

    /// From `start` on; a run that goes on as the last one did is part of it.
    fn add(&mut self, start: i128, value: f64) {
        if self.starts.last() == Some(&start) {
            self.starts.pop();
            self.values.pop();
        }
        if self.values.last() != Some(&value) {
            self.starts.push(start);
            self.values.push(value);
        }
    }

    /// The values of both, run by run of their common refinement.
    fn both<'r>(&'r self, other: &'r Runs) -> impl DoubleEndedIterator<Item = (i128, f64, f64)> {
        let mut pairs = Vec::with_capacity(self.starts.len() + other.starts.len());
        let (mut i, mut j) = (0, 0);
        while i < self.starts.len() || j < other.starts.len() {
            let (a, b) = (self.starts.get(i).copied(), other.starts.get(j).copied());
            let start = match (a, b) {
                (Some(a), Some(b)) => a.min(b),
                (one, another) => one.or(another).unwrap_or(self.end),
            };
            i += usize::from(a == Some(start));
            j += usize::from(b == Some(start));
            pairs.push((start, self.values[i - 1], other.values[j - 1]));
        }
        pairs.into_iter()
    }

    fn zip(&self, other: &Runs, f: impl Fn(f64, f64) -> f64) -> Runs {
        let mut out = Runs::empty(self.end);
        self.both(other).for_each(|(start, a, b)| out.add(start, f(a, b)));
        out
    }

    /// The join over `low` to `high` ticks ahead.
    fn window(&self, low: i128, high: Option<i128>) -> Runs {
        let mut out = Runs::empty(self.end);
        let mut sliding = Sliding::<Joined<Up>>::new(0);
        let first = self.starts[0];
        let count = self.starts.len();
        // The next run that the near edge, and the far edge, comes to.
        let mut near = self.starts.partition_point(|&start| start - low <= first);
        let mut far = high.map_or(count, |high| self.starts.partition_point(|&start| start - high <= first));
        let mut now = first;
        while now + low <= self.end {
            out.add(now, sliding.slide(near - 1, far, |run| self.values[run]));
            let next_near = self.starts.get(near).map(|start| start - low);
            let next_far = high.and_then(|high| self.starts.get(far).map(|start| start - high));
            let Some(next) = next_near.into_iter().chain(next_far).min() else { break };
            near += usize::from(next_near == Some(next));
            far += usize::from(next_far == Some(next));
            now = next;
        }
        let beyond = (self.end - low + 1).max(first);
        if beyond <= self.end {
            out.add(beyond, f64::NEG_INFINITY);
        }
        out
    }

    /// Until over everything ahead.
    fn unbounded(hold: &Runs, goal: &Runs) -> Runs {
        let mut found = Vec::new();
        let mut worth = f64::NEG_INFINITY;
        for (start, hold, goal) in hold.both(goal).rev() {
            worth = max(goal, min(hold, worth));
            found.push((start, worth));
        }
        let mut out = Runs::empty(goal.end);
        found.into_iter().rev().for_each(|(start, worth)| out.add(start, worth));
        out
    }
}

impl Signal for Runs {
    const SCALED: bool = false;

    fn new(times: &[i64], values: &[f64]) -> Self {
        let mut out = Runs::empty(i128::from(times[times.len() - 1]));
        times.iter().zip(values).for_each(|(&time, &value)| out.add(time.into(), value));
        out
    }

    fn constant(times: &[i64], value: f64) -> Self {
        let mut out = Runs::empty(i128::from(times[times.len() - 1]));
        out.add(times[0].into(), value);
        out
    }

    fn first(times: &[i64]) -> Self {
        let mut out = Runs::constant(times, f64::INFINITY);
        let second = out.starts[0] + 1;
        if second <= out.end {
            out.add(second, f64::NEG_INFINITY);
        }
        out
    }

    fn negate(mut self) -> Self {
        self.values.iter_mut().for_each(|value| *value = negate(*value));
        self
    }

    fn join(&self, other: &Self) -> Self {
        self.zip(other, max)
    }

    fn meet(&self, other: &Self) -> Self {
        self.zip(other, min)
    }

    fn mirrored(&self) -> Self {
        let ends = self.starts[1..].iter().map(|start| start - 1).chain([self.end]);
        Runs {
            starts: ends.map(|end| -end).rev().collect(),
            values: self.values.iter().rev().copied().collect(),
            end: -self.starts[0],
        }
    }

    fn until(hold: Option<&Self>, goal: &Self, window: Window) -> Self {
        // Ticks are whole: an open end is the next one inward.
        let low = i128::from(window.low) + i128::from(window.low_open);
        let high = window.high.map(|high| i128::from(high) - i128::from(window.high_open));
        let Some(hold) = hold else { return goal.window(low, high) };
        let mut all = Runs::unbounded(hold, goal);
        if low > 0 {
            let held = hold.clone().negate().window(0, Some(low - 1)).negate();
            all = all.window(low, Some(low)).meet(&held);
        }
        if high.is_some() { all.meet(&goal.window(low, high)) } else { all }
    }

    fn at(&self, times: &[i64]) -> Vec<f64> {
        let mut run = 0;
        let mut one = |&time: &i64| {
            while self.starts.get(run + 1).is_some_and(|&start| start <= i128::from(time)) {
                run += 1;
            }
            self.values[run]
        };
        times.iter().map(&mut one).collect()
    }

    fn bytes(&self) -> usize {
        self.starts.capacity() * size_of::<i128>() + self.values.capacity() * size_of::<f64>()
    }
}
