//! The order of timestamps: either all positions have one or none has, and they do not decrease.

use crate::scan::{missing_timestamp, surprising_timestamp};
use crate::{ReadOptions, Row, Stamp, TraceError};

/// What is known of the timestamps so far.
#[derive(Clone, Debug, Default)]
pub struct Order {
    previous: Option<Stamp>,
    timed: Option<bool>,
    /// Somebody else sorts.
    any: bool,
}

impl Order {
    /// Nothing is known yet.
    pub fn new(options: &ReadOptions) -> Self {
        Self { any: options.any_order || options.sort.is_some(), ..Self::default() }
    }

    /// Takes the next position.
    pub fn check(&mut self, row: &Row) -> Result<(), TraceError> {
        let timed = *self.timed.get_or_insert(row.time.is_some());
        match (row.time, self.previous) {
            (None, _) if timed => Err(missing_timestamp().at(row.line, 1)),
            (None, _) => Ok(()),
            (Some(_), _) if !timed => Err(surprising_timestamp().at(row.line, 1)),
            (Some(now), Some(before)) if now.time < before.time && !self.any => {
                Err(TraceError::decreasing(now, before).at(row.line, 1))
            }
            (now, _) => {
                self.previous = now;
                Ok(())
            }
        }
    }

    /// Takes positions that are in order among themselves and all have timestamps or none, given the first and the last;
    /// false, and nothing changes, if they do not go on from the positions before.
    pub fn takes(&mut self, times: Option<(Stamp, Stamp)>) -> bool {
        let back = |(first, _): (Stamp, Stamp)| self.previous.is_some_and(|before| first.time < before.time);
        if self.timed.is_some_and(|timed| timed != times.is_some()) || (!self.any && times.is_some_and(back))
        {
            return false;
        }
        self.timed = Some(times.is_some());
        self.previous = times.map(|(_, last)| last).or(self.previous);
        true
    }
}
