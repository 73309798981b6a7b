//! Signals that hold from sample to sample, compared and never computed with.
//!
//! Time is cut into *cells*: cell 2k is the instant of tick k, cell 2k + 1 the open stretch between ticks k and k + 1.
//! Samples and the ends of intervals lie on ticks, so signals, and whatever operators make of them, are constant on each
//! cell, and a signal that only comes near a value, from the left or from the right, is told from one that has it.

use super::{Signal, Window};
use crate::lattice::{Joined, Up, max, min, negate};
use crate::sliding::Sliding;

/// Runs of cells with one value each. They are wider than 64 bits, so that distances are.
#[derive(Clone, Debug)]
pub(super) struct Runs {
    /// The first cell of each run, ascending; never none.
    starts: Vec<i128>,
    values: Vec<f64>,
    /// The last cell of the last run.
    end: i128,
}

/// The cell of an instant.
fn instant(time: i64) -> i128 {
    2 * i128::from(time)
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

    /// The join over the window ahead, cut at the end.
    fn window(&self, window: Window) -> Runs {
        let mut out = Runs::empty(self.end);
        let first = self.starts[0];
        if window.is_empty() {
            out.add(first, f64::NEG_INFINITY);
            return out;
        }
        let mut sliding = Sliding::<Joined<Up>>::new(0);
        let count = self.starts.len();
        // The first cell from which the near edge, and the far edge, sees a cell.
        let odd = |cell: i128| cell & 1;
        let low = 2 * i128::from(window.low);
        let near_sees = |cell: i128| cell - low - if window.low_open { odd(cell) } else { 0 };
        let high = window.high.map(|high| 2 * i128::from(high));
        let far_sees =
            |high: i128, cell: i128| cell - high + if window.high_open { 1 - odd(cell) } else { 0 };
        // The next run that each of them comes to.
        let mut near = self.starts.partition_point(|&start| near_sees(start) <= first);
        let mut far =
            high.map_or(count, |high| self.starts.partition_point(|&start| far_sees(high, start) <= first));
        // From here on there is nothing but the end ahead.
        let beyond = near_sees(self.end + 1).max(first);
        let mut now = first;
        while now < beyond {
            out.add(now, sliding.slide(near - 1, far, |run| self.values[run]));
            let next_near = self.starts.get(near).map(|&start| near_sees(start));
            let next_far = high.and_then(|high| self.starts.get(far).map(|&start| far_sees(high, start)));
            let Some(next) = next_near.into_iter().chain(next_far).min() else { break };
            near += usize::from(next_near == Some(next));
            far += usize::from(next_far == Some(next));
            now = next;
        }
        if beyond <= self.end {
            out.add(beyond, f64::NEG_INFINITY);
        }
        out
    }

    /// What holds right after each instant, in the place of what holds there.
    fn after(&self) -> Runs {
        let mut out = Runs::empty(self.end);
        for (&start, &value) in self.starts.iter().zip(&self.values) {
            // A run that begins with a stretch begins with the instant before it; one that is an instant is passed over.
            out.add((start - (start & 1)).max(self.starts[0]), value);
        }
        out.add(self.end, f64::NEG_INFINITY);
        out
    }

    /// Until over everything ahead.
    fn unbounded(hold: &Runs, goal: &Runs) -> Runs {
        let mut found = Vec::new();
        let mut ahead = f64::NEG_INFINITY;
        for (start, hold, goal) in hold.both(goal).rev() {
            let worth = max(goal, min(hold, ahead));
            found.push((start, worth));
            // From an instant no goal in the stretch after it is reached without holding in a part of the stretch.
            ahead = if start & 1 == 1 { min(hold, worth) } else { worth };
        }
        let mut out = Runs::empty(goal.end);
        found.into_iter().rev().for_each(|(start, worth)| out.add(start, worth));
        out
    }
}

impl Signal for Runs {
    const SCALED: bool = false;

    fn new(times: &[i64], values: &[f64]) -> Self {
        let mut out = Runs::empty(instant(times[times.len() - 1]));
        times.iter().zip(values).for_each(|(&time, &value)| out.add(instant(time), value));
        out
    }

    fn constant(times: &[i64], value: f64) -> Self {
        let mut out = Runs::empty(instant(times[times.len() - 1]));
        out.add(instant(times[0]), value);
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
        let Some(hold) = hold else { return goal.window(window) };
        let mut all = Runs::unbounded(hold, goal);
        if window.low > 0 || window.low_open {
            let [near, there] = window.reach();
            let held = hold.clone().negate().window(near).negate();
            let inside = if window.low_open { all.meet(hold).after() } else { all };
            all = inside.window(there).meet(&held);
        }
        if window.high.is_some() { all.meet(&goal.window(window)) } else { all }
    }

    fn at(&self, times: &[i64]) -> Vec<f64> {
        let mut run = 0;
        let mut one = |&time: &i64| {
            while self.starts.get(run + 1).is_some_and(|&start| start <= instant(time)) {
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
