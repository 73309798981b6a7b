//! Which positions lie inside an interval.

use tw_core::{Position, Time, TimeUnit};
use tw_ir::{Applied, Clock, Interval, Ticks};
use tw_monitor::Unsupported;

/// When the positions of one trace are.
#[derive(Clone, Copy, Debug)]
pub struct Timing<'a> {
    /// Their timestamps; `None` counts positions.
    pub times: Option<&'a [Time]>,
    /// How far time has come: what continues the trace is not before that.
    pub until: Option<Time>,
    /// The trace's unit.
    pub unit: TimeUnit,
}

impl Default for Timing<'_> {
    /// Positions are counted.
    fn default() -> Self {
        Self { times: None, until: None, unit: TimeUnit::Seconds }
    }
}

/// The positions inside an interval, seen from one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// First and last, both inside; none if no position is.
    pub range: Option<(Position, Position)>,
    /// Whether a longer trace has no further ones.
    pub closed: bool,
}

impl Timing<'_> {
    pub(crate) fn ticks(&self, interval: Interval) -> Result<Ticks, Unsupported> {
        let clock = if self.times.is_some() { Clock::Stamps } else { Clock::Index };
        interval.ticks(clock, self.unit).map_err(|error| Unsupported {
            node: None,
            what: format!("`{interval}`: {error}"),
            help: None,
            exhausted: false,
        })
    }

    /// The window of an operator at a position of a trace of that length.
    pub(crate) fn window(&self, applied: &Applied, at: Position, len: usize) -> Window {
        let Some(interval) = applied.interval else {
            let range = if applied.past { (0, at) } else { (at, len - 1) };
            return Window { range: Some(range), closed: applied.past };
        };
        // Whoever evaluated the formula has refused what has no ticks.
        let ticks = self.ticks(interval).unwrap_or(Ticks { low: 0, high: 0 });
        let distance = |from: Position, to: Position| match self.times {
            Some(times) => times[to].saturating_sub(times[from]),
            None => (to - from) as i64,
        };
        if applied.past {
            let first = partition(at + 1, |j| distance(j, at) > ticks.high);
            let beyond = partition(at + 1, |j| distance(j, at) >= ticks.low);
            return Window { range: (first < beyond).then(|| (first, beyond - 1)), closed: true };
        }
        let first = at + partition(len - at, |j| distance(at, at + j) < ticks.low);
        let beyond = at + partition(len - at, |j| distance(at, at + j) <= ticks.high);
        let closed = ticks.high < i64::MAX
            && match self.times {
                Some(times) => self.until.unwrap_or(times[len - 1]).saturating_sub(times[at]) > ticks.high,
                None => distance(at, len - 1) >= ticks.high,
            };
        Window { range: (first < beyond).then(|| (first, beyond - 1)), closed }
    }

    /// The neighbour that a step looks at, if it is there and inside the interval.
    pub(crate) fn neighbour(&self, applied: &Applied, at: Position, len: usize) -> Option<Position> {
        let next = if applied.past { at.checked_sub(1)? } else { at + 1 };
        let Some(interval) = applied.interval else { return (next < len).then_some(next) };
        let ticks = self.ticks(interval).ok()?;
        let distance = match self.times {
            Some(times) if next < len => times[next].saturating_sub(times[at]).abs(),
            _ => 1,
        };
        (next < len && ticks.contains(distance)).then_some(next)
    }
}

/// How many of the first numbers satisfy a condition that holds of the first ones alone.
fn partition(len: usize, condition: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low + (high - low) / 2;
        if condition(middle) { low = middle + 1 } else { high = middle }
    }
    low
}
