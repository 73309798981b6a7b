//! `WatchOptions::by`: a trace for each value of a column, all of them in one [`ShardMonitor`].
//!
//! Memory: what a shard keeps of each key ([`crate::live`]), and the lines and times of the latest positions. Time passes in
//! every key's trace as the log goes on, so that a deadline is told when it is missed, whoever's line came next.

mod watcher;

use super::clock::StreamClock;
use super::halt::{BadLines, Halt};
use super::judge::required;
use super::lines::{LineMap, shortened};
use super::times::LatestTimes;
use super::{WatchOptions, WatchSink, WatchValue, WatchVerdict};
use crate::check::{LogLine, Violation};
use crate::error::{Budget, Setting};
use crate::findings::Severity;
use crate::live::{Ended, EndedValue, Ending, Plan, PlanOptions, Prepared, ShardMonitor};
use crate::monitors::{ENGINE, severity};
use crate::require::parts::{Parts, Read, Settled};
use crate::run::clock::needs_times;
use crate::run::order::{StepsBack, uses_time};
use crate::run::timing::without_time;
use crate::{Error, Session, Specification, Verdict};
use rustc_hash::FxHashSet;
use std::io;
use std::time::Instant;
use tw_core::{Batch, Position, Time, Value};
use tw_ir::Clock;
use tw_monitor::{Bindings, Computed};
use tw_trace::{Arrival, Progress, Receiver, Stamp, TraceError, TraceErrorKind};

/// Reads positions into a monitor of many traces and tells what they settle.
pub(super) struct Keyed<'k> {
    spec: &'k Specification,
    options: &'k WatchOptions,
    name: &'k str,
    by: &'k str,
    /// How timestamps go back, where they may since nobody uses them.
    back: Option<StepsBack>,
    shard: ShardMonitor,
    /// For a stream whose first position has no timestamp, though intervals ask for them.
    counting: Option<Result<Plan, String>>,
    sink: &'k mut dyn WatchSink,
    clock: StreamClock,
    lines: LineMap,
    times: LatestTimes,
    /// How much has been read.
    read: Progress,
    told: Vec<Outcome>,
    /// Keys and properties of which a line was told, where one is enough.
    first: FxHashSet<(u32, usize)>,
    /// Lines told, and how many of them are a property's first of a key.
    told_lines: (usize, u64),
    violated: Vec<bool>,
    /// Whether the trace of some key is over.
    some_ended: bool,
    ending: Ending,
    bad_lines: BadLines,
    required: Option<Parts>,
}

/// What was settled, as it is told.
struct Outcome {
    property: usize,
    number: u32,
    key: String,
    holds: bool,
    about: Option<Position>,
    count: u64,
    position: Position,
    time: Option<Time>,
    overdue: bool,
    bindings: Bindings,
    ended: Option<Ended>,
    severity: Severity,
    /// Of a monitor.
    report: Option<Violation>,
}

impl Outcome {
    fn of(outcome: crate::live::Outcome<'_>) -> Self {
        Self {
            property: outcome.property,
            number: outcome.number,
            key: outcome.key.unwrap_or_default().to_string(),
            holds: outcome.verdict == Verdict::Satisfied,
            about: outcome.about,
            count: outcome.count,
            position: outcome.position,
            time: outcome.time,
            overdue: outcome.overdue,
            bindings: outcome.bindings,
            ended: outcome.ended,
            severity: outcome.severity,
            report: outcome.report,
        }
    }
}

impl<'k> Keyed<'k> {
    pub(super) fn new(
        session: &Session,
        spec: &'k Specification,
        options: &'k WatchOptions,
        (name, by): (&'k str, &'k str),
        horizon: Option<Time>,
        sink: &'k mut dyn WatchSink,
    ) -> Result<Self, Error> {
        let refusals = [
            (options.observers, Setting::Observers),
            (session.read.sort.is_some(), Setting::Sort),
            (options.values_every.is_some(), Setting::ValuesEvery),
        ];
        if let Some((_, option)) = refusals.iter().find(|(given, _)| *given) {
            return Err(Error::refused_instead(
                format!("{option} is for one trace"),
                format!("leave out {}", Setting::By),
            ));
        }
        let idle = match options.idle.map(|idle| i64::try_from(idle.as_nanos())) {
            None => None,
            Some(Ok(idle)) => Some(idle),
            Some(Err(_)) => return Err(Error::refused(format!("{} is too long", Setting::Idle))),
        };
        // The formula that ends a trace is the last property.
        let until = options.until.as_ref().and_then(|_| spec.program.roots.len().checked_sub(1));
        let ending = Ending { until, idle };
        let evaluate = session.evaluate_options();
        let plan_options = |clock: Clock| PlanOptions {
            semantics: session.evaluate.semantics,
            clock,
            unit: session.read.unit,
            telling: options.telling(),
            engine: session.evaluate.engine.clone(),
            memory_budget: evaluate.memory_budget,
            state_budget: evaluate.state_budget,
        };
        let plan = Plan::new(spec, &plan_options(session.evaluate.clock))?;
        let counting = needs_times(session, spec)
            .then(|| Plan::new(spec, &plan_options(Clock::Index)).map_err(|error| error.to_string()));
        let asked = [options.heartbeat.is_some(), options.watermark.is_some(), idle.is_some()];
        let lenient = !asked.contains(&true) && !uses_time(session, spec);
        Ok(Self {
            spec,
            options,
            name,
            by,
            back: lenient.then(StepsBack::default),
            shard: ShardMonitor::new(&plan, Some(by))?.ending(ending),
            counting,
            sink,
            clock: StreamClock::new(session.read.unit, None),
            lines: LineMap::default(),
            times: LatestTimes::new(horizon.filter(|_| !lenient)),
            read: Progress::default(),
            told: Vec::new(),
            first: FxHashSet::default(),
            told_lines: (0, 0),
            violated: vec![false; spec.program.roots.len() + spec.program.monitors.len()],
            some_ended: false,
            ending,
            bad_lines: BadLines::default(),
            required: Parts::open(session, spec, true)?,
        })
    }

    /// Whether timestamps may go back.
    pub(super) fn lets_time_go_back(&self) -> bool {
        self.back.is_some()
    }

    /// The engines, each once.
    pub(super) fn engines(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for property in self.shard.plan().properties() {
            if !names.contains(&property.engine) {
                names.push(property.engine);
            }
        }
        if !self.spec.program.monitors.is_empty() {
            names.push(ENGINE);
        }
        names.join(", ")
    }

    /// Name and sentence of a property or monitor.
    fn called(&self, property: usize) -> (&'k str, Option<&'k str>) {
        let program = &self.spec.program;
        match program.roots.get(property) {
            Some(root) => (&root.name, root.title.as_deref()),
            None => {
                let monitor = &program.monitors[property - program.roots.len()];
                (&monitor.name, monitor.title.as_deref())
            }
        }
    }

    /// A monitor tells each of its reports.
    fn is_monitor(&self, property: usize) -> bool {
        property >= self.spec.program.roots.len()
    }

    fn key(&self, key: &str) -> Vec<(String, Value)> {
        vec![(self.by.to_string(), Value::Str(key.into()))]
    }

    fn log_line(&self, line: Option<(u64, String)>) -> Option<LogLine> {
        let (line, text) = line?;
        Some(LogLine { file: self.name.to_string(), line, text: text.into() })
    }

    /// Time and line of a position, which an arrival may hold.
    fn known_of(
        &mut self,
        position: Position,
        arrival: Option<(&Arrival<'_>, Position, Option<&[Time]>)>,
    ) -> (Option<Time>, Option<(u64, String)>) {
        if let Some((arrival, before, times)) = arrival
            && let Some(index) = position.checked_sub(before).filter(|&index| index < arrival.len)
        {
            let (line, text) = arrival.line(index);
            let text = shortened(text.unwrap_or_default());
            return (times.map(|times| times[index]), line.map(|line| (line, text)));
        }
        let now = arrival.map_or(self.read, |(arrival, ..)| arrival.before);
        (self.times.of(position), self.lines.line(position, now).map(|line| (line, String::new())))
    }

    /// Tells what was settled: one line for what one event, or one deadline, settles of a property of a key.
    fn say(&mut self, arrival: Option<(&Arrival<'_>, Position, Option<&[Time]>)>) -> Result<(), Halt> {
        let told = std::mem::take(&mut self.told);
        let roots = self.spec.program.roots.len();
        let same = |a: &Outcome, b: &Outcome| {
            a.property < roots
                && (a.property, a.number, a.position, a.overdue, a.time, a.ended)
                    == (b.property, b.number, b.position, b.overdue, b.time, b.ended)
        };
        let mut enough = false;
        for group in told.chunk_by(same) {
            enough |= group.iter().any(|outcome| !outcome.holds && outcome.severity == Severity::Error);
            self.violated[group[0].property] |= group.iter().any(|outcome| !outcome.holds);
            self.tell(group, arrival)?;
            // The same value later is another.
            if group[0].ended.is_some() {
                self.some_ended = true;
                self.first.remove(&(group[0].number, group[0].property));
            }
        }
        for value in self.shard.take_ended_values() {
            self.some_ended = true;
            let value = self.value_of(value);
            self.sink.value(&value)?;
        }
        match enough && self.options.stop_on_violation {
            true => Err(Halt::Enough),
            false => Ok(()),
        }
    }

    fn tell(
        &mut self,
        group: &[Outcome],
        arrival: Option<(&Arrival<'_>, Position, Option<&[Time]>)>,
    ) -> io::Result<()> {
        let first = &group[0];
        let new = self.first.insert((first.number, first.property));
        let each = self.options.tells_each();
        if !each && self.options.first && !new {
            return Ok(());
        }
        self.told_lines.0 += usize::from(new);
        if self.is_monitor(first.property) {
            let (time, line) = match first.ended {
                Some(Ended::Idle) => (first.time, self.known_of(first.position, arrival).1),
                _ => self.known_of(first.position, arrival),
            };
            let time = time.or(first.time);
            let violation = first.report.clone().map(|report| Violation {
                time: report.position.and(time).map(|time| self.clock.stamp(time)),
                ..report
            });
            let count = u64::from(violation.is_some());
            return self.line(first, (None, time, line), true, violation, count);
        }
        if each {
            // As at the end of the stream.
            for outcome in group.iter().filter(|outcome| outcome.about.is_some() && outcome.ended.is_none()) {
                let about = outcome.about.unwrap_or_default();
                let (time, line) = self.known_of(about, arrival);
                self.line(outcome, (Some(about), time, line), true, None, 0)?;
            }
            return Ok(());
        }
        // A watermark or the wall clock has no line of its own: the last one read stands for it.
        let (time, line) = match (arrival, first.ended) {
            (None, None) => (first.time, self.known_of(first.position, None).1),
            (_, Some(Ended::Idle)) => (first.time, self.known_of(first.position, arrival).1),
            (_, _) => self.known_of(first.position, arrival),
        };
        let failing = || group.iter().filter(|outcome| outcome.about.is_some() && !outcome.holds);
        let earliest = failing().min_by_key(|outcome| outcome.about);
        let violation = match earliest.and_then(|outcome| Some((outcome.about?, &outcome.bindings))) {
            Some((position, bindings)) => {
                let (time, line) = self.known_of(position, arrival);
                Some(self.violation(position, time, line, bindings))
            }
            None => None,
        };
        let count = failing().map(|outcome| outcome.count).sum();
        let worst = group.iter().find(|outcome| !outcome.holds).unwrap_or(first);
        self.line(worst, (None, time.or(first.time), line), true, violation, count)
    }

    fn violation(
        &self,
        position: Position,
        time: Option<Time>,
        line: Option<(u64, String)>,
        bindings: &Bindings,
    ) -> Violation {
        let names = &self.spec.program.dag.variables;
        let name = |variable: u32| names.get(variable as usize).cloned().unwrap_or_default();
        Violation {
            position: Some(position),
            time: time.map(|time| self.clock.stamp(time)),
            bindings: bindings
                .pairs()
                .iter()
                .map(|(variable, value)| (name(*variable), value.clone()))
                .collect(),
            infinite: bindings.infinite(),
            line: self.log_line(line),
            ..Violation::default()
        }
    }

    fn line(
        &mut self,
        outcome: &Outcome,
        (about, time, line): (Option<Position>, Option<Time>, Option<(u64, String)>),
        settled: bool,
        violation: Option<Violation>,
        violation_count: u64,
    ) -> io::Result<()> {
        self.told_lines.1 += 1;
        let (property, title) = self.called(outcome.property);
        let verdict = WatchVerdict {
            property,
            title,
            about,
            verdict: super::judge::verdict(outcome.holds),
            position: outcome.position,
            time: time.map(|time| self.clock.stamp(time)),
            due: None,
            overdue: outcome.overdue,
            settled,
            line: self.log_line(line),
            pending: None,
            more_pending: 0,
            violation,
            violation_count,
            severity: outcome.severity,
            bindings: self.key(&outcome.key),
            ended: outcome.ended,
            required: None,
        };
        self.sink.verdict(&verdict)
    }

    fn value_of(&self, ended: EndedValue) -> WatchValue {
        let EndedValue { property, key, value, position, ended } = ended;
        let root = &self.spec.program.roots[property];
        let (value, fault) = computed(value);
        WatchValue {
            query: root.name.clone(),
            title: root.title.clone(),
            value,
            fault,
            approximate: Vec::new(),
            position,
            bindings: self.key(&key),
            ended: Some(ended),
        }
    }

    /// What the end of the log says of a property or monitor of a key.
    fn at_end(&self, property: usize, key: String, holds: bool, position: Position) -> Outcome {
        let roots = self.spec.program.roots.len();
        let monitor = property.checked_sub(roots).map(|own| &self.spec.program.monitors[own]);
        Outcome {
            property,
            number: 0,
            key,
            holds,
            about: None,
            count: 1,
            position,
            time: None,
            overdue: false,
            bindings: Bindings::default(),
            ended: None,
            severity: monitor.map_or(Severity::Error, severity),
            report: None,
        }
    }

    /// Hands positions to the requirements, and tells what they settle.
    fn require(
        &mut self,
        read: Option<&Read>,
        (before, len): (Position, usize),
        times: Option<&[Time]>,
    ) -> Result<(), Halt> {
        let (Some(parts), Some(read)) = (&mut self.required, read) else { return Ok(()) };
        let stamp = |time| self.clock.stamp(time);
        let settled = parts.take(len, read, times, &stamp).map_err(Halt::Fault)?;
        let time = |at: Position| times.and_then(|times| times.get(at.checked_sub(before)?).copied());
        self.tell_required(settled, true, &time)
    }

    fn tell_required(
        &mut self,
        settled: Vec<Settled>,
        early: bool,
        time: &dyn Fn(Position) -> Option<Time>,
    ) -> Result<(), Halt> {
        let Some(parts) = &self.required else { return Ok(()) };
        let mut enough = false;
        for found in settled {
            enough |= found.verdict == Verdict::Violated;
            let time = time(found.position).map(|time| self.clock.stamp(time));
            let key = found.required.by.clone().into_iter().collect();
            let requirement = parts.requirement(found.number);
            self.sink.verdict(&required(requirement, found, (early, time), key))?;
        }
        match enough && early && self.options.stop_on_violation {
            true => Err(Halt::Enough),
            false => Ok(()),
        }
    }

    fn come_to(&mut self, time: Time) -> Result<(), Halt> {
        if let Some(parts) = &mut self.required {
            let settled = parts.come_to(time, &|time| self.clock.stamp(time)).map_err(Halt::Fault)?;
            self.tell_required(settled, true, &|_| None)?;
        }
        let told = &mut self.told;
        let passed = self.shard.watermark(time, &mut |outcome| told.push(Outcome::of(outcome)));
        passed.map_err(Halt::Fault)?;
        self.say(None)
    }
}

fn computed(computed: Computed) -> (Value, Option<String>) {
    match computed {
        Computed::Value(value) => (value, None),
        Computed::Error(message) => (Value::Null, Some(message)),
    }
}

impl Receiver for Keyed<'_> {
    type Mapped = (Prepared, Option<Read>);
    type Error = Halt;

    fn map(&mut self, batch: Batch) -> Result<Self::Mapped, (usize, TraceError)> {
        match (&batch.times, &self.counting) {
            (Some(times), _) => self.clock.check(times)?,
            (None, _) if self.ending.idle.is_some() => {
                let message = format!("found no timestamp, and {} is measured by them", Setting::Idle);
                return Err((0, TraceError::new(TraceErrorKind::Time, message)));
            }
            (None, Some(Err(refusal))) => {
                let message = format!("found no timestamp, and {refusal}");
                return Err((0, TraceError::new(TraceErrorKind::Time, message)));
            }
            (None, _) => {
                if let Some(error) = without_time(&self.spec.program) {
                    return Err((0, error));
                }
            }
        }
        let required =
            self.required.as_ref().map(|parts| parts.read(&batch, batch.times.as_deref())).transpose();
        let both = required.and_then(|required| Ok((self.shard.prepare(&batch)?, required)));
        both.map_err(|error| {
            self.bad_lines.fault = Some((error.node, self.shard.positions() + error.position));
            (error.position, TraceError::new(TraceErrorKind::Type, error.message))
        })
    }

    fn take(&mut self, (mut prepared, required): Self::Mapped, arrival: &Arrival<'_>) -> Result<(), Halt> {
        self.clock.write_as(arrival.style);
        match &prepared.times {
            Some(times) => self.clock.arrive(times, Instant::now()),
            // Intervals count positions then.
            None => {
                if let Some(Ok(plan)) = self.counting.take() {
                    let shard = ShardMonitor::new(&plan, Some(self.by)).map_err(Halt::Fault)?;
                    self.shard = shard.ending(self.ending);
                }
            }
        }
        self.lines.arrive(arrival.before);
        // Engines take times that never go back.
        let own = if self.back.is_some() { prepared.times.take() } else { None };
        if let (Some(back), Some(times)) = (&mut self.back, &own) {
            back.then(StepsBack::of(times));
        }
        let times = own.as_deref().or(prepared.times.as_deref());
        let (before, told) = (self.shard.positions(), &mut self.told);
        let fed = self.shard.feed_prepared(&prepared, &mut |outcome| told.push(Outcome::of(outcome)));
        self.say(Some((arrival, before, times)))?;
        self.require(required.as_ref(), (before, prepared.len), times)?;
        times.into_iter().flatten().for_each(|&time| self.times.push(time));
        self.read = arrival.after();
        fed.map_err(|error| match error {
            Error::Budget(budget) => {
                Halt::Fault(Error::Budget(Budget { trace: self.name.to_string(), ..budget }))
            }
            error => Halt::Fault(error),
        })
    }

    fn left_over(&mut self, lines: u64, first: u64) {
        self.bad_lines.left_over(lines, first, self.sink);
    }

    fn bad_line(&mut self, error: TraceError) -> Result<(), Halt> {
        self.bad_lines.leave_out(self.spec, self.options.skip_bad_lines, error, self.sink)
    }

    fn watermark(&mut self, stamp: Stamp, _line: u64) -> Result<(), Halt> {
        match self.clock.watermark(stamp) {
            Some(time) => self.come_to(time),
            None => Ok(()),
        }
    }
}
