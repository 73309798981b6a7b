//! Time does not go back, and either every position has a timestamp or none has.

use crate::scan::{missing_timestamp, surprising_timestamp};
use crate::{Stamp, TraceError};
use tw_core::Time;

/// What is known of the timestamps so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Order {
    pub previous: Option<Time>,
    pub timed: Option<bool>,
}

impl Order {
    /// Whether a block whose timestamps span `range` may follow. `first` looks up how its first timestamp is written.
    /// With `any` order, those of the block are not in order themselves.
    pub fn check(
        &self,
        range: Option<(Time, Time)>,
        any: bool,
        first: impl FnOnce() -> Stamp,
    ) -> Result<Order, TraceError> {
        match (range, self.timed, self.previous) {
            (None, Some(true), _) => Err(missing_timestamp()),
            (Some(_), Some(false), _) => Err(surprising_timestamp()),
            (Some((now, _)), _, Some(before)) if now < before && !any => {
                let now = first();
                Err(TraceError::decreasing(now, Stamp { time: before, style: now.style }))
            }
            (Some((_, last)), ..) => Ok(Order { previous: Some(last), timed: Some(true) }),
            (None, ..) => Ok(Order { previous: None, timed: Some(false) }),
        }
    }
}
