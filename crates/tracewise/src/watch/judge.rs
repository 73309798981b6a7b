//! From lines to verdicts: the receiver of a live trace.

use super::accounts::{Accounts, Read};
use super::lines::LineMap;
use super::{Every, Pending, WatchOptions, WatchSink, WatchVerdict};
use crate::load::{not_computable_at, trace_error};
use crate::{Error, LogLine, Specification, Verdict, plan};
use std::io;
use tw_core::{Batch, Bits, Position, Time};
use tw_ir::NodeId;
use tw_monitor::{Chunk, Monitor, Predicates, Settled, Unsupported};
use tw_trace::{Arrival, Progress, Receiver, TraceError, TraceErrorKind};

/// Characters kept of a log line.
const TEXT: usize = 400;

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
    predicates: Predicates<'j>,
    settled: Vec<Settled>,
    /// Verdicts of properties told so far.
    pub told: Vec<Told>,
    pub bad_lines: u64,
    /// Where a predicate had no value.
    fault: Option<(NodeId, usize)>,
    lines: LineMap,
}

/// A verdict that was told, as it has to be told again by a run that resumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub root: usize,
    pub position: Position,
    pub holds: bool,
    pub line: Option<(u64, String)>,
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
        sink: &'j mut dyn WatchSink,
    ) -> Self {
        Self {
            spec,
            options,
            name,
            engine,
            monitor,
            sink,
            accounts,
            predicates: Predicates::new(&spec.program),
            settled: Vec::new(),
            told: Vec::new(),
            bad_lines: 0,
            fault: None,
            lines: LineMap::default(),
        }
    }

    /// Tells the verdict of a property.
    pub fn tell(&mut self, told: &Told, settled: bool, pending: Option<Pending<'_>>) -> io::Result<()> {
        let root = &self.spec.program.roots[told.root];
        let line = told.line.as_ref().map(|(line, text)| LogLine {
            file: self.name.to_string(),
            line: *line,
            text: text.clone(),
        });
        self.sink.verdict(&WatchVerdict {
            property: &root.name,
            title: root.title.as_deref(),
            about: None,
            verdict: verdict(told.holds),
            position: told.position,
            settled,
            line,
            pending,
        })
    }

    /// Tells the verdict about one position.
    pub fn tell_position(&mut self, found: &Settled, about: Position, settled: bool) -> io::Result<()> {
        let root = &self.spec.program.roots[found.root];
        self.sink.verdict(&WatchVerdict {
            property: &root.name,
            title: root.title.as_deref(),
            about: Some(about),
            verdict: verdict(found.holds),
            position: found.at,
            settled,
            line: None,
            pending: None,
        })
    }

    /// What is pending when this much has been read.
    pub fn pending(&mut self, now: Progress) -> Vec<Pending<'j>> {
        let (roots, lines) = (&self.spec.program.roots, &mut self.lines);
        let pending = self.monitor.pending().into_iter();
        pending
            .map(|owed| Pending {
                property: &roots[owed.root].name,
                since: owed.since,
                line: lines.line(owed.since, now),
                owed: owed.residual,
            })
            .collect()
    }

    /// Hands positions to the queries, and tells their values after every so many positions, not after more.
    fn count(
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

    fn error(&mut self, error: TraceError) -> Error {
        match self.fault.take() {
            Some((node, position)) => not_computable_at(self.spec, error, node, position),
            None => trace_error(self.spec, error),
        }
    }
}

fn verdict(holds: bool) -> Verdict {
    if holds { Verdict::Satisfied } else { Verdict::Violated }
}

/// The truth of every atom at positions that were read, and their timestamps.
pub(super) struct Atoms {
    columns: Vec<Bits>,
    times: Option<Vec<Time>>,
    queries: Option<Read>,
}

impl Receiver for Judge<'_> {
    type Mapped = Atoms;
    type Error = Halt;

    fn map(&mut self, mut batch: Batch) -> Result<Atoms, (usize, TraceError)> {
        let times = batch.times.take();
        let queries = self.accounts.as_ref().map(|accounts| accounts.read(&batch)).transpose();
        let both = queries.and_then(|queries| Ok((self.predicates.evaluate_owned(batch)?, queries)));
        match both {
            Ok((columns, queries)) => Ok(Atoms { columns, times, queries }),
            Err(error) => {
                self.fault = Some((error.node, self.monitor.positions() + error.position));
                Err((error.position, TraceError::new(TraceErrorKind::Type, error.message)))
            }
        }
    }

    fn take(&mut self, atoms: Atoms, arrival: &Arrival<'_>) -> Result<(), Halt> {
        self.lines.arrive(arrival.before);
        let before = self.monitor.positions();
        let chunk = Chunk { len: arrival.len, atoms: &atoms.columns, times: atoms.times.as_deref() };
        let mut settled = std::mem::take(&mut self.settled);
        let fed = self.monitor.feed(&chunk, &mut settled);
        for found in &settled {
            match found.about {
                Some(about) => self.tell_position(found, about, true)?,
                None => {
                    let (line, text) = arrival.line(found.at - before);
                    let text = text.unwrap_or_default().chars().take(TEXT).collect();
                    let line = line.map(|line| (line, text));
                    let told = Told { root: found.root, position: found.at, holds: found.holds, line };
                    // Where each position is told, the property's own verdict is in the exit code alone.
                    if !self.options.each_position {
                        self.tell(&told, true, None)?;
                    }
                    self.told.push(told);
                }
            }
            if self.options.stop_on_violation && !found.holds {
                return Err(Halt::Enough);
            }
        }
        settled.clear();
        self.settled = settled;
        fed.map_err(Halt::Refused)?;
        match &atoms.queries {
            Some(read) => self.count(before, arrival.len, read, atoms.times.as_deref()),
            None => Ok(()),
        }
    }

    fn bad_line(&mut self, error: TraceError) -> Result<(), Halt> {
        if !self.options.skip_bad_lines {
            return Err(error.into());
        }
        self.bad_lines += 1;
        let error = self.error(error);
        self.sink.bad_line(&error);
        Ok(())
    }
}
