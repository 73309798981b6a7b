//! The clock of a trace: how many positions or how much time lies between two positions.

use tw_core::Time;
use tw_ir::{Clock, Ticks};
use tw_monitor::Trace;

/// How time passes in one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// By so much from each position to the next: bounds can be counted in positions.
    Even(u64),
    /// Anyhow.
    Uneven,
}

impl Pace {
    /// The pace of each segment of a trace.
    pub(crate) fn of(trace: &Trace, clock: Clock) -> Vec<Pace> {
        let stamps = match (clock, &trace.times) {
            (Clock::Index, _) | (_, None) => return vec![Pace::Even(1); trace.starts().len()],
            (_, Some(times)) => times,
        };
        let of = |(index, &start): (usize, &usize)| Pace::of_stamps(&stamps[start..trace.segment_end(index)]);
        trace.starts().iter().enumerate().map(of).collect()
    }

    fn of_stamps(stamps: &[Time]) -> Pace {
        let &[first, second, ..] = stamps else { return Pace::Even(1) };
        let step = second.wrapping_sub(first);
        // Distances that overflow are cut off at the greatest number, which is no multiple of the step.
        if step <= 0 || stamps[stamps.len() - 1].checked_sub(first).is_none() {
            return Pace::Uneven;
        }
        // Without a way out inside, the inner loop is vector code.
        let differs = |(early, late): (&Time, &Time)| late.wrapping_sub(*early) ^ step;
        let (early, late) = (stamps[..stamps.len() - 1].chunks(256), stamps[1..].chunks(256));
        for (early, late) in early.zip(late) {
            if early.iter().zip(late).map(differs).fold(0, |all, one| all | one) != 0 {
                return Pace::Uneven;
            }
        }
        Pace::Even(step as u64)
    }
}

/// An interval in steps of so many ticks, both ends inside; empty if the first is the larger.
pub(crate) fn in_steps(ticks: Ticks, step: u64) -> (usize, usize) {
    let low = (ticks.low as u64).div_ceil(step);
    let high = if ticks.high == i64::MAX { u64::MAX } else { ticks.high as u64 / step };
    (low as usize, high as usize)
}
