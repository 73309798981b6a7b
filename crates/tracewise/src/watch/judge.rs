//! From lines to verdicts: the receiver of a live trace.

use super::clock::StreamClock;
use super::halt::{self, BadLines, Halt};
use super::lines::LineMap;
use super::parametric::Parametric;
use super::queries::{QueryMonitor, Read};
use super::sorter::Sorter;
use super::times::{LatestTimes, OpenTimes, Times};
use super::told::Record;
use super::untimed::Untimed;
use super::{Deadline, Every, Pending, WatchOptions, WatchSink, WatchVerdict};
use crate::findings::Severity;
use crate::require::parts::Settled;
use crate::run::beside::BesideReader;
use crate::run::order::StepsBack;
use crate::{Error, Specification, Verdict, plan};
use tw_core::{Position, Time, Value};
use tw_ir::Requirement;
use tw_monitor::{Monitor, Obligation, Predicates, Sink};
use tw_trace::{Progress, Stamp};

/// Reads positions into a monitor and tells what they settle.
pub(super) struct Judge<'j> {
    pub spec: &'j Specification,
    pub options: &'j WatchOptions,
    pub name: &'j str,
    pub engine: &'static str,
    pub monitor: Box<dyn Monitor>,
    pub sink: &'j mut dyn WatchSink,
    /// The queries, if there are some.
    pub queries: Option<QueryMonitor>,
    /// The monitors, if there are some.
    pub parametric: Option<Parametric>,
    pub predicates: Predicates<'j>,
    /// What is read beside atoms, if the program has something of the kind.
    pub beside: Option<BesideReader>,
    pub sink_of_engine: Sink,
    /// What was told of properties so far.
    pub told: Record,
    pub bad_lines: BadLines,
    pub lines: LineMap,
    pub clock: StreamClock,
    /// Positions that wait for earlier ones, with `sort`.
    pub sorter: Option<Sorter>,
    /// Times of positions about which something is to be told.
    pub times: Option<Times>,
    /// How timestamps go back, where they may.
    pub back: Option<StepsBack>,
    /// How much has been read, where time passes between arrivals.
    pub read: Progress,
    /// It is time that settles things now.
    pub passing: bool,
    /// Time is known to have passed strictly beyond this.
    pub passed: Option<Time>,
    /// What becomes of a stream without timestamps.
    pub untimed: Untimed,
    /// Positions before the first that is judged.
    pub begins: Position,
    /// Whether intervals count positions by choice.
    counting: bool,
    /// Bytes that waiting positions may take.
    pub memory_budget: usize,
}

/// How a watch reads time.
pub(super) struct Timing {
    pub clock: StreamClock,
    /// How much later than a position its verdict may come, if that is bounded.
    pub horizon: Option<Time>,
    pub sorted: bool,
    pub counting: bool,
    pub untimed: Untimed,
    pub memory_budget: usize,
    /// Whether timestamps may go back, since nobody uses them.
    pub lenient: bool,
}

impl<'j> Judge<'j> {
    pub fn new(
        spec: &'j Specification,
        options: &'j WatchOptions,
        name: &'j str,
        (engine, monitor): (&'static str, Box<dyn Monitor>),
        (queries, parametric): (Option<QueryMonitor>, Option<Parametric>),
        timing: Timing,
        sink: &'j mut dyn WatchSink,
    ) -> Self {
        let roots = spec.program.roots.len();
        let width = tw_monitor::words(spec.program.atoms().len());
        let beside = BesideReader::new(&spec.program);
        let times = match options.tells_each() {
            true => Times::Open(OpenTimes::new(roots)),
            // Where times go back, none is past for good; and then no verdict waits for them.
            false => Times::Latest(LatestTimes::new(timing.horizon.filter(|_| !timing.lenient))),
        };
        Self {
            spec,
            options,
            name,
            engine,
            monitor,
            sink,
            queries,
            predicates: Predicates::new(&spec.program),
            sink_of_engine: Sink::default(),
            told: Record::default(),
            bad_lines: BadLines::default(),
            lines: LineMap::default(),
            clock: timing.clock,
            sorter: timing.sorted.then(|| Sorter::new(width, (beside.is_some(), parametric.is_some()))),
            beside,
            parametric,
            times: (roots > 0).then_some(times),
            read: Progress::default(),
            passing: false,
            passed: None,
            untimed: timing.untimed,
            counting: timing.counting,
            begins: 0,
            back: timing.lenient.then(StepsBack::default),
            memory_budget: timing.memory_budget,
        }
    }

    /// Whether intervals count positions.
    pub fn counts(&self) -> bool {
        self.counting || self.untimed.counting
    }

    /// The first position is this one; before any has come.
    pub fn begin_at(&mut self, position: Position) {
        self.begins = position;
        self.monitor.skip_to(position);
        if let Some(times) = &mut self.times {
            times.begin_at(position);
        }
        if let Some(parametric) = &mut self.parametric {
            parametric.begin_at(position);
        }
    }

    /// Bytes held, beside the buffers of a chunk: what may grow with a stream.
    pub fn heap_bytes(&self) -> usize {
        let told = self.told.first.capacity() * size_of::<super::told::Told>() + self.told.lines.len() * 16;
        let times = self.times.as_ref().map_or(0, Times::heap_bytes);
        let settled = self.sink_of_engine.settled.capacity() * size_of::<tw_monitor::Settled>();
        let sorter = self.sorter.as_ref().map_or(0, Sorter::heap_bytes);
        self.monitor.heap_bytes() + told + times + settled + sorter
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
        let queried = self.queries.as_ref().is_some_and(QueryMonitor::has_queries);
        let every = match self.options.values_every {
            Some(Every::Positions(every)) if queried => every.max(1) as usize,
            _ => usize::MAX,
        };
        let mut from = 0;
        while from < len {
            let step = (every - (before + from) % every).min(len - from);
            let Some(queries) = &mut self.queries else { return Ok(()) };
            let stamp = |time| self.clock.stamp(time);
            let settled = match step == len {
                true => queries.take(len, read, times, &stamp),
                false => {
                    let times = times.map(|times| &times[from..from + step]);
                    queries.take(step, &read.part(from, step), times, &stamp)
                }
            };
            let time = |at: Position| times.and_then(|times| times.get(at.checked_sub(before)?).copied());
            self.tell_required(settled.map_err(Halt::Fault)?, true, &time)?;
            from += step;
            if (before + from).is_multiple_of(every) {
                self.tell_values().map_err(Halt::Fault)?;
            }
        }
        Ok(())
    }

    /// Tells what queries are worth so far.
    pub fn tell_values(&mut self) -> Result<(), Error> {
        let Some(queries) = &mut self.queries else { return Ok(()) };
        for value in queries.values()? {
            let told = self.sink.value(&value);
            told.map_err(halt::unwritten)?;
        }
        Ok(())
    }

    /// Tells requirements that are settled, or at the end what they are worth there; `time` is that of a position, if it is known.
    pub fn tell_required(
        &mut self,
        settled: Vec<Settled>,
        early: bool,
        time: &dyn Fn(Position) -> Option<Time>,
    ) -> Result<(), Halt> {
        let mut enough = false;
        for found in settled {
            let requirement = self.queries.as_ref().and_then(|queries| queries.requirement(found.number));
            let Some(requirement) = requirement else { continue };
            enough |= found.verdict == Verdict::Violated;
            let time = time(found.position).map(|time| self.clock.stamp(time));
            self.sink.verdict(&required(requirement, found, (early, time), Vec::new()))?;
        }
        match enough && early && self.options.stop_on_violation {
            true => Err(Halt::Enough),
            false => Ok(()),
        }
    }

    /// Windows of requirements that are over when time has come so far.
    pub fn pass_required(&mut self, time: Time) -> Result<(), Halt> {
        let stamp = |time| self.clock.stamp(time);
        let Some(parts) = self.queries.as_mut().and_then(|queries| queries.required.as_mut()) else {
            return Ok(());
        };
        let settled = parts.come_to(time, &stamp).map_err(Halt::Fault)?;
        self.tell_required(settled, true, &|_| None)
    }

    /// What is still to be said of requirements when the trace ends.
    pub fn end_required(&mut self) -> Result<(), Error> {
        let stamp = |time| self.clock.stamp(time);
        let Some(parts) = self.queries.as_mut().and_then(|queries| queries.required.as_mut()) else {
            return Ok(());
        };
        let settled = parts.finish(&stamp)?;
        self.tell_required(settled, false, &|_| None).or_else(|halt| self.conclude(halt))
    }

    /// An early end as an error, unless it is none.
    pub fn conclude(&mut self, halt: Halt) -> Result<(), Error> {
        let fault = self.bad_lines.fault.take();
        halt::conclude(self.spec, halt, fault, |refusal| plan::refused(self.spec, self.engine, refusal))
    }
}

/// A requirement as it is told: early, with its time, or at the end.
pub(super) fn required<'r>(
    requirement: &'r Requirement,
    found: Settled,
    (early, time): (bool, Option<Stamp>),
    bindings: Vec<(String, Value)>,
) -> WatchVerdict<'r> {
    WatchVerdict {
        property: &requirement.root.name,
        title: requirement.root.title.as_deref(),
        about: None,
        verdict: found.verdict,
        position: found.position,
        time,
        due: None,
        overdue: false,
        settled: early,
        line: None,
        pending: None,
        more_pending: 0,
        violation: None,
        violation_count: 0,
        severity: Severity::Error,
        bindings,
        ended: None,
        required: Some(found.required),
    }
}

pub(super) fn verdict(holds: bool) -> Verdict {
    if holds { Verdict::Satisfied } else { Verdict::Violated }
}
