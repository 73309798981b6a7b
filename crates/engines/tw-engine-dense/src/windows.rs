//! When the events behind imprecise timestamps may have happened.

use crate::reading::{span, times};
use crate::signal::Union;
use crate::{Run, Signal, Span, Window};
use std::ops::Range;
use tw_core::{Bits, Position, Time};
use tw_monitor::{Trace, Unsupported};

/// How far timestamps may be off.
#[derive(Clone, Copy, Debug)]
pub enum ClockError<'e> {
    /// All by up to this much.
    Same(Time),
    /// Each by its own, one per position of the trace.
    Each(&'e [Time]),
}

/// A trace whose timestamps are imprecise.
#[derive(Clone, Debug)]
pub struct Observation<'t> {
    /// The atoms and timestamps.
    pub trace: &'t Trace,
    /// The positions looked at: one segment of the trace.
    pub segment: Range<Position>,
    /// How far off timestamps may be.
    pub error: ClockError<'t>,
    /// When time begins; `None` is when the first event may have happened. (In the paper it begins at 0.)
    pub origin: Option<Time>,
}

impl<'t> Observation<'t> {
    /// A whole trace (its first segment).
    pub fn new(trace: &'t Trace, error: ClockError<'t>) -> Self {
        Observation { trace, segment: 0..trace.segment_end(0), error, origin: None }
    }

    /// A position whose event happens at a known instant, at which another may happen too. No two do, so there is no
    /// execution behind such a trace, or fewer than it seems; [`crate::judge()`] refuses it.
    pub fn clash(&self) -> Option<Position> {
        let (windows, exact) = Windows::unchecked(self).ok()?;
        if exact { windows.clash() } else { None }
    }

    /// Whether the events of the segment can have happened at these instants: each within its error of its timestamp, no
    /// two together.
    pub fn allows(&self, instants: &[Time]) -> Result<bool, Unsupported> {
        let windows = Windows::new(self)?;
        let within = |(at, time): (usize, &Time)| {
            let (low, high) = windows.window(at);
            low <= *time && *time <= high
        };
        let mut sorted = instants.to_vec();
        sorted.sort_unstable();
        Ok(instants.len() == windows.times.len()
            && instants.iter().enumerate().all(within)
            && sorted.is_sorted_by(|a, b| a < b))
    }
}

/// When the events may have happened.
pub(crate) struct Windows<'t> {
    pub(crate) segment: Range<Position>,
    pub(crate) times: &'t [Time],
    /// The errors of the segment's positions.
    error: ClockError<'t>,
    /// No event happens before.
    floor: Time,
    pub(crate) span: Span,
}

impl<'t> Windows<'t> {
    pub(crate) fn new(observation: &Observation<'t>) -> Result<Windows<'t>, Unsupported> {
        let (windows, exact) = Windows::unchecked(observation)?;
        match if exact { windows.clash() } else { None } {
            None => Ok(windows),
            Some(at) => Err(Unsupported {
                node: None,
                what: format!(
                    "an exact timestamp, at position {at}, where another event may happen at the same instant"
                ),
                help: Some(
                    "give every event a clock error above 0: no two events happen at the same instant".into(),
                ),
                exhausted: false,
            }),
        }
    }

    /// The windows, and whether some event has a known instant.
    fn unchecked(observation: &Observation<'t>) -> Result<(Windows<'t>, bool), Unsupported> {
        let refuse = |what: String, help: &str| {
            Err(Unsupported { node: None, what, help: Some(help.into()), exhausted: false })
        };
        let segment = observation.segment.clone();
        let times = times(observation.trace, &segment)?;
        let error = match observation.error {
            ClockError::Same(error) => ClockError::Same(error),
            ClockError::Each(errors) => match errors.get(segment.clone()) {
                Some(errors) => ClockError::Each(errors),
                None => return refuse("events without a clock error".into(), "give one per position"),
            },
        };
        let of = |at: usize| match error {
            ClockError::Same(error) => error,
            ClockError::Each(errors) => errors[at],
        };
        // Logs that count from 0 have no events before; those with negative timestamps count from elsewhere.
        let floor = observation.origin.unwrap_or(if times[0] < 0 { Time::MIN } else { 0 });
        if times[0] < floor {
            return refuse("an event before the beginning of time".into(), "choose an earlier origin");
        }
        let (mut start, mut end, mut exact) = (times[0], times[0], false);
        for (at, &time) in times.iter().enumerate() {
            let error = of(at);
            if error < 0 {
                return refuse(
                    format!("a negative clock error, at position {}", segment.start + at),
                    "give at least 0",
                );
            }
            exact |= error == 0;
            start = start.min(time.saturating_sub(error).max(floor));
            end = end.max(time.saturating_add(error));
        }
        let span = span(observation.origin.unwrap_or(start), end)?;
        Ok((Windows { segment, times, error, floor, span }, exact))
    }

    /// When the event at a place of the segment may have happened: between these, both inside.
    pub(crate) fn window(&self, at: usize) -> (Time, Time) {
        let error = match self.error {
            ClockError::Same(error) => error,
            ClockError::Each(errors) => errors[at],
        };
        let time = self.times[at];
        (time.saturating_sub(error).max(self.floor), time.saturating_add(error))
    }

    /// The same as cells of the span.
    pub(crate) fn cells(&self, at: usize) -> (u64, u64) {
        let (low, high) = self.window(at);
        (self.span.cell(low), self.span.cell(high))
    }

    /// A position whose event happens at one instant only, at which another event may happen too: then the relaxed
    /// atoms of the other promise an execution that there is not.
    fn clash(&self) -> Option<Position> {
        let (mut lows, mut highs): (Vec<Time>, Vec<Time>) =
            (0..self.times.len()).map(|at| self.window(at)).unzip();
        lows.sort_unstable();
        highs.sort_unstable();
        let met = |&at: &usize| {
            let (low, high) = self.window(at);
            let begun = lows.partition_point(|&other| other <= low);
            let over = highs.partition_point(|&other| other < low);
            low == high && begun - over > 1
        };
        (0..self.times.len()).find(met).map(|at| self.segment.start + at)
    }

    /// tf(p): the instants at which an event with p may have happened.
    pub(crate) fn relax(&self, bits: &Bits, buffer: Vec<u64>) -> Signal {
        let span = self.span;
        let places = || {
            let from = |at: Position| bits.find(true, at).filter(|&at| at < self.segment.end);
            std::iter::successors(from(self.segment.start), move |&at| from(at + 1))
                .map(|at| self.window(at - self.segment.start))
        };
        match self.error {
            // Equal errors keep the order of the timestamps.
            ClockError::Same(_) => {
                let mut union = Union::new(span, buffer, 0);
                for (low, high) in places() {
                    union.add(span.cell(low), span.cell(high) + 1);
                }
                union.finish()
            }
            ClockError::Each(_) => Signal::new(span, places().map(|(low, high)| Run::closed(low, high))),
        }
    }
}

/// tf(p) by its definition, for a trace whose timestamps were all moved by `shift` (Proposition 4): `events` are the
/// instants of p then, and p may have happened up to `error + shift` before and up to `error - shift` after.
/// [`crate::imprecise()`] builds the same intervals directly. `None` if the shift is larger than the error.
pub fn relax(events: &Signal, error: Time, shift: Time) -> Option<Signal> {
    let (before, after) = (error.checked_add(shift)?, error.checked_sub(shift)?);
    let (ahead, behind) = (Window::closed(0, before)?, Window::closed(0, after)?);
    Some(events.finally(ahead).or(&events.once(behind)))
}
