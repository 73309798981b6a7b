//! Metric intervals on temporal operators.

use std::fmt;
use tw_core::{Time, TimeUnit};

/// Where time comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Clock {
    /// The trace's timestamps.
    #[default]
    Stamps,
    /// Positions.
    Index,
    /// Continuous time between timestamps.
    Dense,
}

impl Clock {
    /// Every clock with its name on the command line.
    pub const ALL: [(&'static str, Clock); 3] =
        [("stamps", Clock::Stamps), ("index", Clock::Index), ("dense", Clock::Dense)];
}

/// One end of an interval, as written: a decimal number and perhaps a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bound {
    /// The number times 10⁹ (so that nine decimals are exact).
    pub billionths: i128,
    /// The unit written after it.
    pub unit: Option<TimeUnit>,
    /// Whether the bound itself lies outside.
    pub open: bool,
}

/// An interval of distances, as written; `high: None` is unbounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interval {
    /// Lower end.
    pub low: Bound,
    /// Upper end.
    pub high: Option<Bound>,
}

/// An interval in ticks of a resolved clock (nanoseconds or positions), both ends inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticks {
    /// Least distance.
    pub low: i64,
    /// Greatest distance, `i64::MAX` if unbounded.
    pub high: i64,
}

impl Ticks {
    /// Whether a distance lies inside.
    pub fn contains(self, distance: i64) -> bool {
        self.low <= distance && distance <= self.high
    }
}

/// Why an interval cannot be used with a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalError {
    /// No distance lies inside.
    Empty,
    /// A unit, but the trace has no timestamps (or `--clock index`).
    UnitWithoutTime,
    /// A fraction of a position or of a nanosecond.
    TooFine,
    /// Beyond 64 bits.
    OutOfRange,
}

impl fmt::Display for IntervalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IntervalError::Empty => "the interval is empty",
            IntervalError::UnitWithoutTime => {
                "the interval has a unit, but time is counted in positions here"
            }
            IntervalError::TooFine => "the bound is finer than the clock",
            IntervalError::OutOfRange => "the bound is out of range",
        })
    }
}

impl Interval {
    /// The interval in ticks of `clock`; `unit` is the trace's unit, that of bare numbers.
    pub fn ticks(&self, clock: Clock, unit: TimeUnit) -> Result<Ticks, IntervalError> {
        let low = self.low.ticks(clock, unit)?;
        let low = if self.low.open { low.checked_add(1).ok_or(IntervalError::OutOfRange)? } else { low };
        let high = match self.high {
            None => i64::MAX,
            Some(bound) => {
                let high = bound.ticks(clock, unit)?;
                if bound.open { high - 1 } else { high }
            }
        };
        // Ticks are whole, so an open end is the next tick inward.
        if low > high { Err(IntervalError::Empty) } else { Ok(Ticks { low: low.max(0), high }) }
    }
}

impl Bound {
    pub(crate) fn ticks(self, clock: Clock, unit: TimeUnit) -> Result<Time, IntervalError> {
        let per_one = match (clock, self.unit) {
            (Clock::Index, Some(_)) => return Err(IntervalError::UnitWithoutTime),
            (Clock::Index, None) => 1,
            (_, written) => written.unwrap_or(unit).nanoseconds(),
        };
        let scaled = self.billionths.checked_mul(i128::from(per_one)).ok_or(IntervalError::OutOfRange)?;
        if scaled % 1_000_000_000 != 0 {
            return Err(IntervalError::TooFine);
        }
        i64::try_from(scaled / 1_000_000_000).map_err(|_| IntervalError::OutOfRange)
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, mut fraction) = (self.billionths / 1_000_000_000, self.billionths % 1_000_000_000);
        write!(f, "{whole}")?;
        if fraction != 0 {
            let mut digits = 9;
            while fraction % 10 == 0 {
                fraction /= 10;
                digits -= 1;
            }
            write!(f, ".{fraction:0digits$}")?;
        }
        f.write_str(self.unit.map_or("", TimeUnit::name))
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.low.open { "(" } else { "[" })?;
        match self.high {
            Some(high) => write!(f, "{},{}{}", self.low, high, if high.open { ")" } else { "]" }),
            None => write!(f, "{},inf)", self.low),
        }
    }
}
