//! From lines to verdicts: the receiver of a live trace.

use super::accounts::{Accounts, Read};
use super::clock::StreamClock;
use super::lines::LineMap;
use super::sorter::{OpenTimes, Sorter};
use super::untimed::Untimed;
use super::{Deadline, Due, Every, Pending, WatchOptions, WatchSink, WatchVerdict};
use crate::run::faults::{not_computable_at, trace_error};
use crate::{Error, LogLine, Specification, Verdict, plan};
use std::io;
use tw_core::{Position, Time};
use tw_ir::NodeId;
use tw_monitor::{Bindings, Monitor, Obligation, Predicates, Settled, Sink, Unsupported};
use tw_trace::{Progress, TraceError};

/// Reads positions into a monitor and tells what they settle.
pub(super) struct Judge<'j> {
    pub spec: &'j Specification,
    pub options: &'j WatchOptions,
    pub name: &'j str,
    pub engine: &'static str,
    pub monitor: Box<dyn Monitor>,
    pub sink: &'j mut dyn WatchSink,
    /// The queries, if there are some.
    pub accounts: Option<Accounts>,
    pub predicates: Predicates<'j>,
    pub sink_of_engine: Sink,
    /// Verdicts of properties told so far.
    pub told: Vec<Told>,
    pub bad_lines: u64,
    /// Where a predicate had no value.
    pub fault: Option<(NodeId, usize)>,
    pub lines: LineMap,
    pub clock: StreamClock,
    /// Positions that wait for earlier ones, with `--sort`.
    pub sorter: Option<Sorter>,
    /// Times of positions about which something is to be told, where each is.
    pub times: Option<OpenTimes>,
    /// Time is known to have passed strictly beyond this.
    pub passed: Option<Time>,
    /// What becomes of a stream without timestamps.
    pub untimed: Untimed,
    /// Whether intervals count positions by choice.
    counting: bool,
    /// Bytes that waiting positions may take.
    pub memory_budget: usize,
}

/// How a watch reads time.
pub(super) struct Timing {
    pub clock: StreamClock,
    /// Whether positions have times at all.
    pub timed: bool,
    pub sorted: bool,
    pub counting: bool,
    pub untimed: Untimed,
    pub memory_budget: usize,
}

/// A verdict that was told, as it has to be told again by a run that resumes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Told {
    pub root: usize,
    pub position: Position,
    pub holds: bool,
    pub line: Option<(u64, String)>,
    /// The time of that position, or to which time had come when that settled it.
    pub time: Option<Time>,
    /// What came due, if time settled it.
    pub due: Option<Obligation>,
    /// What quantified variables are there.
    pub bindings: Bindings,
}

/// Where and when something was settled.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    pub line: Option<(u64, String)>,
    pub time: Option<Time>,
    pub due: Option<Obligation>,
}

/// Why the reading ends early.
pub(super) enum Halt {
    Trace(TraceError),
    Refused(Unsupported),
    /// The queries cannot go on.
    Uncounted(Unsupported),
    Output(io::Error),
    /// A value cannot be told.
    Fault(Error),
    /// Nothing more is wanted.
    Enough,
}

impl From<TraceError> for Halt {
    fn from(error: TraceError) -> Self {
        Halt::Trace(error)
    }
}

impl From<io::Error> for Halt {
    fn from(error: io::Error) -> Self {
        Halt::Output(error)
    }
}

impl<'j> Judge<'j> {
    pub fn new(
        spec: &'j Specification,
        options: &'j WatchOptions,
        name: &'j str,
        (engine, monitor): (&'static str, Box<dyn Monitor>),
        accounts: Option<Accounts>,
        timing: Timing,
        sink: &'j mut dyn WatchSink,
    ) -> Self {
        let roots = spec.program.roots.len();
        let width = tw_monitor::words(spec.program.atoms().len());
        Self {
            spec,
            options,
            name,
            engine,
            monitor,
            sink,
            accounts,
            predicates: Predicates::new(&spec.program),
            sink_of_engine: Sink::default(),
            told: Vec::new(),
            bad_lines: 0,
            fault: None,
            lines: LineMap::default(),
            clock: timing.clock,
            sorter: timing.sorted.then(|| Sorter::new(width)),
            times: (timing.timed && options.tells_each() && roots > 0).then(|| OpenTimes::new(roots)),
            passed: None,
            untimed: timing.untimed,
            counting: timing.counting,
            memory_budget: timing.memory_budget,
        }
    }

    /// Tells the verdict of a property; at the end, with what it waited for.
    pub fn tell(&mut self, told: &Told, settled: bool, owed: Vec<Pending<'_>>) -> io::Result<()> {
        let root = &self.spec.program.roots[told.root];
        let line = told.line.as_ref().map(|(line, text)| LogLine {
            file: self.name.to_string(),
            line: *line,
            text: text.clone(),
        });
        let more_pending = owed.len().saturating_sub(1);
        self.sink.verdict(&WatchVerdict {
            property: &root.name,
            title: root.title.as_deref(),
            about: None,
            verdict: verdict(told.holds),
            position: told.position,
            time: told.time.map(|time| self.clock.stamp(time)),
            due: self.due(told.due.as_ref()),
            settled,
            line,
            pending: owed.into_iter().next(),
            more_pending,
        })
    }

    /// Tells the verdict about one position.
    pub fn tell_position(
        &mut self,
        found: &Settled,
        about: Position,
        settled: bool,
        due: Option<&Obligation>,
    ) -> io::Result<()> {
        let root = &self.spec.program.roots[found.root];
        let time = self.times.as_mut().and_then(|times| times.tell(about));
        self.sink.verdict(&WatchVerdict {
            property: &root.name,
            title: root.title.as_deref(),
            about: Some(about),
            verdict: verdict(found.holds()),
            position: found.at,
            time: time.map(|time| self.clock.stamp(time)),
            due: self.due(due),
            settled,
            line: None,
            pending: None,
            more_pending: 0,
        })
    }

    /// Whether intervals count positions.
    pub fn counts(&self) -> bool {
        self.counting || self.untimed.counting
    }

    fn due(&self, due: Option<&Obligation>) -> Option<Due> {
        let due = due?;
        let deadline = self.clock.stamp(due.deadline?);
        Some(Due { since: due.since, owed: due.residual.clone(), deadline })
    }

    /// Tells what was settled, wherever that was.
    pub fn say(&mut self, found: &Settled, place: Place) -> Result<(), Halt> {
        match found.about {
            Some(about) => self.tell_position(found, about, true, place.due.as_ref())?,
            None => {
                let Place { line, time, due } = place;
                let told = Told {
                    root: found.root,
                    position: found.at,
                    holds: found.holds(),
                    line,
                    time,
                    due,
                    bindings: found.bindings.clone(),
                };
                // Where each position is told, the property's own verdict is in the exit code alone.
                if !self.options.tells_each() {
                    self.tell(&told, true, Vec::new())?;
                }
                self.told.push(told);
            }
        }
        if self.options.stop_on_violation && found.fails() {
            return Err(Halt::Enough);
        }
        Ok(())
    }

    /// What is pending when this much has been read, with the property's number; the most urgent of each comes first.
    pub fn pending(&mut self, now: Progress) -> Vec<(usize, Pending<'j>)> {
        let (roots, counts) = (&self.spec.program.roots, self.counts());
        let mut pending = self.monitor.pending();
        // What has no deadline can wait.
        pending.sort_by_key(|owed| (owed.root, owed.deadline.is_none(), owed.deadline, owed.since));
        let mut tell = |owed: Obligation| {
            let line = match &self.sorter {
                Some(sorter) => sorter.line(owed.since),
                None => self.lines.line(owed.since, now),
            };
            let deadline = owed.deadline.map(|deadline| match counts {
                true => Deadline::Position(usize::try_from(deadline).unwrap_or(0)),
                false => Deadline::Time(self.clock.stamp(deadline)),
            });
            let property = roots[owed.root].name.as_str();
            (owed.root, Pending { property, since: owed.since, line, owed: owed.residual, deadline })
        };
        pending.into_iter().map(&mut tell).collect()
    }

    /// Hands positions to the queries, and tells their values after every so many positions, not after more.
    pub fn count(
        &mut self,
        before: Position,
        len: usize,
        read: &Read,
        times: Option<&[Time]>,
    ) -> Result<(), Halt> {
        let every = match self.options.values_every {
            Some(Every::Positions(every)) => every.max(1) as usize,
            _ => usize::MAX,
        };
        let mut from = 0;
        while from < len {
            let step = (every - (before + from) % every).min(len - from);
            let Some(accounts) = &mut self.accounts else { return Ok(()) };
            let taken = match step == len {
                true => accounts.take(len, read, times),
                false => {
                    let times = times.map(|times| &times[from..from + step]);
                    accounts.take(step, &read.part(from, step), times)
                }
            };
            taken.map_err(Halt::Uncounted)?;
            from += step;
            if (before + from).is_multiple_of(every) {
                self.tell_values().map_err(Halt::Fault)?;
            }
        }
        Ok(())
    }

    /// Tells what queries are worth so far.
    pub fn tell_values(&mut self) -> Result<(), Error> {
        let Some(accounts) = &mut self.accounts else { return Ok(()) };
        for value in accounts.values()? {
            let told = self.sink.value(&value);
            told.map_err(|error| Error::Usage(format!("cannot write the output: {error}")))?;
        }
        Ok(())
    }

    /// An early end as an error, unless it is none.
    pub fn conclude(&mut self, halt: Halt) -> Result<(), Error> {
        match halt {
            Halt::Enough => Ok(()),
            Halt::Fault(error) => Err(error),
            Halt::Trace(error) => Err(self.error(error)),
            Halt::Refused(refusal) => Err(plan::refused(self.spec, self.engine, refusal)),
            Halt::Uncounted(refusal) => Err(match &self.accounts {
                Some(accounts) => accounts.refused(refusal),
                None => plan::refused(self.spec, self.engine, refusal),
            }),
            Halt::Output(error) => Err(Error::Usage(format!("cannot write the output: {error}"))),
        }
    }

    pub fn error(&mut self, error: TraceError) -> Error {
        match self.fault.take() {
            Some((node, position)) => not_computable_at(self.spec, error, node, position),
            None => trace_error(self.spec, error),
        }
    }
}

pub(super) fn verdict(holds: bool) -> Verdict {
    if holds { Verdict::Satisfied } else { Verdict::Violated }
}
