//! Intervals of distances with open and closed ends, in exact nanoseconds.

use tw_core::{Time, TimeUnit};
use tw_ir::{Clock, Interval, IntervalError};

/// The distances between two instants that an operator looks at: never empty, never negative.
///
/// Ends are kept doubled, as cells are numbered (see [`crate::Signal`]), with the bit of an open end beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    low: u64,
    low_open: u64,
    /// `None` is unbounded.
    high: Option<u64>,
    high_open: u64,
}

impl Window {
    /// All distances: `[0,inf)`.
    pub const ALL: Window = Window { low: 0, low_open: 0, high: None, high_open: 0 };

    /// The interval as written; `unit` is that of bare numbers. Unlike the discrete clocks, which move an open end to
    /// the next tick, continuous time keeps it: `(0,1)` holds distances even if the unit is the nanosecond.
    pub fn new(interval: Interval, unit: TimeUnit) -> Result<Window, IntervalError> {
        let mut closed = interval;
        closed.low.open = false;
        if let Some(high) = &mut closed.high {
            high.open = false;
        }
        let ticks = closed.ticks(Clock::Dense, unit)?;
        let low_open = interval.low.open && interval.low.billionths >= 0;
        let high_open = interval.high.is_some_and(|high| high.open);
        if interval.high.is_some() && ticks.low == ticks.high && (low_open || high_open) {
            return Err(IntervalError::Empty);
        }
        Ok(Window {
            low: 2 * ticks.low.unsigned_abs(),
            low_open: u64::from(low_open),
            high: interval.high.map(|_| 2 * ticks.high.unsigned_abs()),
            high_open: u64::from(high_open),
        })
    }

    /// `[low,high]`, or `None` if it is empty or reaches below 0.
    pub fn closed(low: Time, high: Time) -> Option<Window> {
        (0 <= low && low <= high).then(|| Window {
            low: 2 * low.unsigned_abs(),
            low_open: 0,
            high: Some(2 * high.unsigned_abs()),
            high_open: 0,
        })
    }

    /// Whether it is `[0,inf)`.
    pub fn is_all(self) -> bool {
        self == Window::ALL
    }

    /// Whether an instant sees itself.
    pub(crate) fn has_zero(self) -> bool {
        self.low == 0 && self.low_open == 0
    }

    /// Where the instants begin that see something at or after the beginning `from` of a range ahead. The difference
    /// of two ends is open if one of them is; what lies before the first cell is cut off.
    #[inline]
    pub(crate) fn before_from(self, from: u64) -> u64 {
        match self.high {
            Some(high) if high <= from => (from - high) | self.high_open,
            _ => 0,
        }
    }

    /// Where they end for the end `to` of that range; 0 if there are none. The bit of an end (the first cell behind
    /// it) is set if it is closed, so here the open end clears it.
    #[inline]
    pub(crate) fn before_to(self, to: u64) -> u64 {
        if self.low <= to { (to - self.low) & !self.low_open } else { 0 }
    }

    /// Where the instants begin that see something at or after the beginning `from` of a range behind them.
    #[inline]
    pub(crate) fn after_from(self, from: u64, cells: u64) -> u64 {
        (from.saturating_add(self.low) | self.low_open).min(cells)
    }

    /// Where they end for the end `to` of that range.
    #[inline]
    pub(crate) fn after_to(self, to: u64, cells: u64) -> u64 {
        match self.high {
            Some(high) => (to.saturating_add(high) & !self.high_open).min(cells),
            None => cells,
        }
    }
}
