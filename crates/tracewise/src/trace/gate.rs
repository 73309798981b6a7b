//! Reading lines for nothing but whether they can be read: what a server does before it takes them.

use super::{Projection, TraceError};
use crate::{Error, Reading, Session, Specification};
use tw_core::{Batch, Time};
use tw_trace::{Arrival, Live, Receiver};

/// Bad lines of one arrival that are told with what is wrong with them.
const TOLD: usize = 20;

/// A stream's door: lines are read in full, in the format of the reading, whatever a specification asks of them.
pub struct Gate {
    reading: Reading,
    live: Live,
    /// Whether something has passed.
    used: bool,
}

/// What came to a gate.
#[derive(Clone, Debug, Default)]
pub struct Arrived {
    /// Lines, the bad and the empty included.
    pub lines: u64,
    /// Positions.
    pub positions: u64,
    /// The first, the earliest and the latest timestamp, where positions have some.
    pub times: Option<Times>,
    /// The numbers of lines that cannot be read, from 1, ascending.
    pub bad: Vec<u64>,
    /// What is wrong with the first of them; lines are those of the arrival.
    pub errors: Vec<TraceError>,
}

/// When positions of an arrival are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// The earliest.
    pub earliest: Time,
    /// The latest.
    pub latest: Time,
    /// The first of them, in the order in which they came, that is earlier than one before it.
    pub back: Option<Time>,
}

impl Gate {
    /// Nothing has come yet.
    pub fn new(reading: &Reading) -> Result<Self, Error> {
        let reading = Reading { any_order: true, sort: None, ..reading.clone() };
        let live = Self::live(&reading)?;
        Ok(Self { reading, live, used: false })
    }

    fn live(reading: &Reading) -> Result<Live, Error> {
        let session = Session::new().reading(reading.clone());
        let format = crate::run::open::format_of(&session, "-")?;
        Ok(Live::new("", format, &Projection::new(&[], None, true), reading))
    }

    /// Reads whole lines, of which the last has its end. What they show of the stream (how it writes time, say) counts for those
    /// that come later, unless they are the first and are not taken.
    pub fn read(&mut self, bytes: &[u8], take: impl FnOnce(&Arrived) -> bool) -> Result<Arrived, Error> {
        let before = self.live.progress().lines;
        let mut seen = Seen { before, arrived: Arrived::default() };
        let pushed = self.live.push(bytes, false, &mut seen).and_then(|()| self.live.silence(&mut seen));
        let mut arrived = seen.arrived;
        arrived.lines = self.live.progress().lines - before;
        let taken = pushed.is_ok() && take(&arrived);
        if pushed.is_err() || !taken && !self.used {
            self.live = Self::live(&self.reading)?;
        }
        self.used |= taken;
        match pushed {
            Ok(()) => Ok(arrived),
            Err(mut error) => {
                error.line = error.line.map(|line| line.saturating_sub(before));
                let nothing = Specification::from_text("", "")?;
                Err(crate::run::faults::trace_error(&nothing, error))
            }
        }
    }
}

/// Notes what comes.
struct Seen {
    before: u64,
    arrived: Arrived,
}

impl Receiver for Seen {
    type Mapped = Option<Vec<Time>>;
    type Error = TraceError;

    fn map(&mut self, batch: Batch) -> Result<Self::Mapped, (usize, TraceError)> {
        Ok(batch.times)
    }

    fn take(&mut self, times: Self::Mapped, arrival: &Arrival<'_>) -> Result<(), TraceError> {
        self.arrived.positions += arrival.len as u64;
        let mut own = self.arrived.times;
        for time in times.into_iter().flatten() {
            let Some(Times { earliest, latest, back }) = own else {
                own = Some(Times { earliest: time, latest: time, back: None });
                continue;
            };
            let back = back.or((time < latest).then_some(time));
            own = Some(Times { earliest: earliest.min(time), latest: latest.max(time), back });
        }
        self.arrived.times = own;
        Ok(())
    }

    fn bad_line(&mut self, mut error: TraceError) -> Result<(), TraceError> {
        let line = error.line.unwrap_or(self.before + 1).saturating_sub(self.before);
        error.line = Some(line);
        self.arrived.bad.push(line);
        if self.arrived.errors.len() < TOLD {
            self.arrived.errors.push(error);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate() -> Gate {
        Gate::new(&Reading { format: Some("jsonl".into()), ..Reading::default() }).unwrap()
    }

    #[test]
    fn lines_are_counted_and_bad_ones_named() {
        let mut gate = gate();
        let good = gate.read(b"{\"time\":1,\"a\":true}\n{\"time\":3}\n{\"time\":2}\n", |_| true).unwrap();
        assert_eq!((good.lines, good.positions), (3, 3));
        let second = 1_000_000_000;
        let times = Times { earliest: second, latest: 3 * second, back: Some(2 * second) };
        assert_eq!(good.times, Some(times));
        let bad =
            gate.read(b"{\"time\":4}\n{\"time\":5\n\n[1]\n{\"time\":6,\"x\":\"\\q\"}\n", |_| false).unwrap();
        assert_eq!((bad.lines, bad.positions, bad.bad), (5, 1, vec![2, 4, 5]));
        assert!(bad.errors.iter().map(|error| error.line).eq([Some(2), Some(4), Some(5)]));
    }

    /// A first arrival that is refused says nothing about the stream.
    #[test]
    fn what_is_not_taken_leaves_nothing_behind() {
        let mut gate = gate();
        gate.read(b"{\"a\":1}\n", |_| false).unwrap();
        let timed = gate.read(b"{\"time\":1}\n", |arrived| arrived.bad.is_empty()).unwrap();
        assert!(timed.bad.is_empty(), "{timed:?}");
        let untimed = gate.read(b"{\"a\":1}\n", |_| false).unwrap();
        assert_eq!(untimed.bad, [1]);
    }
}
