//! The loop of a watch: messages in, verdicts out; timers, checkpoints, and the end.

use super::checkpoint::Checkpoint;
use super::clock::{Passed, StreamClock};
use super::feed::{Feed, Message, Resume};
use super::filled::{Filled, Filling};
use super::halt::{Halt, unwritten};
use super::judge::{Judge, Timing};
use super::keyed::Keyed;
use super::lock::Lock;
use super::parametric::Parametric;
use super::queries::QueryMonitor;
use super::settings::settings;
use super::timers::Timers;
use super::untimed::Untimed;
use super::watcher::Watcher;
use super::{Checkpoints, Control, Every, WatchOptions, WatchReport, WatchSink, WatchSource};
use crate::diag::Diagnostic;
use crate::error::Setting;
use crate::explain::horizon;
use crate::run::faults::{trace_error, warning_code};
use crate::run::open::{epoch_note, format_of, preamble_note};
use crate::run::order::uses_time;
use crate::run::streams::Computing;
use crate::run::timing::reads_times;
use crate::{Error, Session, Specification, monitors, plan};
use std::borrow::Cow;
use std::time::Instant;
use tw_core::Time;
use tw_ir::{Clock, Measure, RootKind, Slot, What};
use tw_monitor::{Engine, Monitor};
use tw_trace::{Live, Projection, ReadOptions, TraceFormat, TraceWarning};

/// Positions after which names that have not occurred are mentioned.
const NAMES_AFTER: u64 = 1000;
/// How many of them.
const NAMES_MENTIONED: usize = 5;

pub(crate) fn watch(
    session: &Session,
    spec: &Specification,
    options: &WatchOptions,
    control: &Control,
    sink: &mut dyn WatchSink,
) -> Result<WatchReport, Error> {
    let session = &*monitors::beside(session, spec)?;
    let spec = &*watched(spec, options)?;
    match options.by.is_some() {
        true => keyed(session, spec, options, sink)?.watch(session, control),
        false => {
            let own = spec.of_kind(RootKind::Property);
            single(session, [spec, &own], options, sink)?.watch(session, control)
        }
    }
}

/// A specification as it is watched: its requirements divided, and what ends the traces of values a property of it.
pub(super) fn watched<'s>(
    spec: &'s Specification,
    options: &WatchOptions,
) -> Result<Cow<'s, Specification>, Error> {
    let mut spec = Cow::Borrowed(spec);
    if !spec.program.requirements.is_empty() {
        spec = Cow::Owned(spec.with_divided_requirements(options.by.as_deref()));
    }
    if let (Some(_), Some(until)) = (&options.by, &options.until) {
        spec = Cow::Owned(spec.ending(until)?);
    }
    Ok(spec)
}

/// A trace for each value of a column. Where a formula ends traces, it is the last property of `spec`.
pub(super) fn keyed<'r>(
    session: &Session,
    spec: &'r Specification,
    options: &'r WatchOptions,
    sink: &'r mut dyn WatchSink,
) -> Result<Run<'r, Keyed<'r>>, Error> {
    let (name, path) = names(&options.source);
    let format = format_of(session, path)?;
    let by = options.by.as_deref().unwrap_or_default();
    refuse_required(spec, options)?;
    refuse_elapsed(spec, options)?;
    let horizon = horizon(spec, &session.evaluate_options());
    let keyed = Keyed::new(session, spec, options, (name, by), horizon, sink)?;
    let settings = settings(session, spec, options, format, &keyed.engines());
    let projection = Projection::of(&spec.program, Some(by), true);
    let read = ReadOptions { any_order: keyed.lets_time_go_back(), ..session.read.clone() };
    let live = Live::new(name, format, &projection, &read).watermark(options.watermark.clone());
    Ok(Run::new(live, keyed, options, spec, settings))
}

/// One trace for all positions: of the properties `own` of a specification, and all else of the `whole`.
pub(super) fn single<'r>(
    session: &Session,
    [whole, own]: [&'r Specification; 2],
    options: &'r WatchOptions,
    sink: &'r mut dyn WatchSink,
) -> Result<Run<'r, Judge<'r>>, Error> {
    let (name, path) = names(&options.source);
    let format = format_of(session, path)?;
    let alone = [(options.until.is_some(), Setting::Until), (options.idle.is_some(), Setting::Idle)];
    if let Some((_, option)) = alone.iter().find(|(given, _)| *given) {
        return Err(Error::refused_instead(
            format!("{option} ends the trace of a value"),
            format!("name the column of the values: {}", Setting::By),
        ));
    }
    let queries = QueryMonitor::open(session, whole)?;
    Run::open(session, [whole, own], options, (name, format), queries, sink)
}

/// Where a value's trace ends is found while a batch is judged, what has passed since its last position before that.
fn refuse_elapsed(spec: &Specification, options: &WatchOptions) -> Result<(), Error> {
    let ends = options.until.is_some() || options.idle.is_some();
    if ends && has_elapsed(spec) {
        return Err(Error::refused_instead(
            format!(
                "`elapsed` is not known where {} or {} end the traces of values",
                Setting::Until,
                Setting::Idle
            ),
            "bound the time between events by an interval: `G (a -> F[0,5s] b)`",
        ));
    }
    if let Some((_, window)) = spec.program.windows().next().filter(|_| ends) {
        return Err(Error::refused_instead(
            format!(
                "`{}` looks back in a value's trace, and where {} or {} end one is found later",
                window.text,
                Setting::Until,
                Setting::Idle
            ),
            "leave them out, or count with an interval",
        ));
    }
    Ok(())
}

/// The parts of requirements end with the stream.
fn refuse_required(spec: &Specification, options: &WatchOptions) -> Result<(), Error> {
    let ends = options.until.is_some() || options.idle.is_some();
    match spec.program.requirements.first().filter(|_| ends) {
        Some(requirement) => Err(Error::refused_instead(
            format!(
                "`{}` is required of all positions of a value, and {} or {} would end its trace before",
                requirement.root.name,
                Setting::Until,
                Setting::Idle
            ),
            "leave them out, or divide the requirement by time: `require … every 1m;`",
        )),
        None => Ok(()),
    }
}

/// Whether something asks how long ago the position before was.
fn has_elapsed(spec: &Specification) -> bool {
    spec.program.timings().any(|(_, timing)| timing.measure == Measure::Elapsed)
}

/// How a live source is called in reports, and the path that tells its format.
pub(crate) fn names(source: &WatchSource) -> (&str, &str) {
    match source {
        WatchSource::Stdin => ("<stdin>", "-"),
        WatchSource::File(path) | WatchSource::Follow(path) => (path.as_str(), path.as_str()),
        WatchSource::Listen(_) => ("<socket>", "-"),
        WatchSource::Push(pushed) => (pushed.name.as_str(), "-"),
    }
}

/// The engine and its monitor. Observers want one that says what it can at once.
fn choose(
    session: &Session,
    spec: &Specification,
    options: &WatchOptions,
    sink: &mut dyn WatchSink,
) -> Result<(&'static dyn Engine, Box<dyn Monitor>), Error> {
    let each = options.telling();
    if options.observers && session.evaluate.engine == "auto" {
        let metric = session.clone().engine("metric");
        if let Ok(chosen) = plan::choose_monitor(&metric, spec, each, &mut |_| {}) {
            return Ok(chosen);
        }
    }
    plan::choose_monitor(session, spec, each, &mut |note| sink.note(note))
}

/// How a stream ended.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Ended {
    /// It is over.
    Over,
    /// Somebody asked.
    Asked,
}

enum Stop {
    Halt(Halt),
    Error(Error),
}

impl From<Halt> for Stop {
    fn from(halt: Halt) -> Self {
        Stop::Halt(halt)
    }
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Stop::Halt(Halt::Output(error))
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Error(error)
    }
}

/// A stream on its way through a watcher.
pub(crate) struct Run<'r, W> {
    pub(super) live: Live,
    pub(crate) judge: W,
    options: &'r WatchOptions,
    pub(super) spec: &'r Specification,
    /// The columns that equations define.
    pub(super) filling: Option<Filling>,
    /// How far lines may be out of order, where they are put in order before equations see them.
    pub(super) presort: Option<Time>,
    pub(super) settings: Vec<(String, String)>,
    next: Timers,
    names_judged: bool,
    /// Why the last state could not be kept.
    unkept: Option<std::io::Error>,
}

impl<'r> Run<'r, Judge<'r>> {
    /// Prepares to watch the properties of `spec`, which are those of `whole`, and its queries.
    pub(super) fn open(
        session: &Session,
        [whole, spec]: [&'r Specification; 2],
        options: &'r WatchOptions,
        (name, format): (&'r str, &'static dyn TraceFormat),
        queries: Option<QueryMonitor>,
        sink: &'r mut dyn WatchSink,
    ) -> Result<Self, Error> {
        let judge = judge(session, [whole, spec], options, name, queries, sink)?;
        let live = reader(session, [whole, spec], options, (name, format));
        let settings = settings(session, whole, options, format, judge.engine);
        let mut run = Self::new(live, judge, options, spec, settings);
        run.presort = presorted(session, whole);
        Ok(run)
    }
}

/// How far lines may be out of order, where equations need them in order.
pub(super) fn presorted(session: &Session, whole: &Specification) -> Option<Time> {
    session.read.sort.filter(|_| whole.program.derives())
}

/// An option that needs timestamps.
fn needs_timestamps(session: &Session, options: &WatchOptions) -> Option<Setting> {
    let needs = [
        (session.read.sort.is_some(), Setting::Sort),
        (options.heartbeat.is_some(), Setting::Heartbeat),
        (options.watermark.is_some(), Setting::Watermark),
    ];
    needs.iter().find(|(given, _)| *given).map(|(_, option)| *option)
}

/// What reads a stream for the properties of `spec`, which are those of `whole`, and its queries.
pub(super) fn reader(
    session: &Session,
    [whole, spec]: [&Specification; 2],
    options: &WatchOptions,
    (name, format): (&str, &'static dyn TraceFormat),
) -> Live {
    let option = needs_timestamps(session, options);
    let lenient = option.is_none() && !uses_time(session, whole);
    // Lines about violations say when; those about every position only where time is read anyway.
    let timed = !options.each_position
        || option.is_some()
        || options.observers
        || uses_time(session, whole)
        || reads_times(session, spec);
    let projection = Projection::of(&spec.program, None, timed);
    // The judge sorts: it knows how far time has come when nothing does.
    let any_order = session.read.sort.is_some() || lenient;
    let read = ReadOptions { any_order, sort: None, ..session.read.clone() };
    Live::new(name, format, &projection, &read).watermark(options.watermark.clone())
}

/// What judges the properties of `spec`, which are those of `whole`, and its queries.
pub(super) fn judge<'r>(
    session: &Session,
    [whole, spec]: [&'r Specification; 2],
    options: &'r WatchOptions,
    name: &'r str,
    queries: Option<QueryMonitor>,
    sink: &'r mut dyn WatchSink,
) -> Result<Judge<'r>, Error> {
    let (engine, monitor) = choose(session, spec, options, sink)?;
    let presort = presorted(session, whole);
    let sorted = session.read.sort.is_some();
    let parametric = Parametric::open(session, whole)?;
    if sorted && presort.is_none() && queries.is_some() && options.checkpoints.is_some() {
        return Err(Error::refused(format!(
            "a checkpoint cannot hold what queries read of lines that wait for earlier ones; leave out `{}`, the \
             queries or `{}`",
            Setting::Sort,
            Setting::Checkpoint
        )));
    }
    if sorted && presort.is_none() && has_elapsed(whole) {
        return Err(Error::refused(format!(
            "`elapsed` is computed as lines come, before `{}` puts them in order; sort the log first, or leave out \
             `{}`",
            Setting::Sort,
            Setting::Sort
        )));
    }
    let option = needs_timestamps(session, options);
    let timing = Timing {
        // Equations need lines in order, and who comes after them has them so.
        clock: StreamClock::new(session.read.unit, session.read.sort.filter(|_| presort.is_none())),
        horizon: horizon(spec, &session.evaluate_options()),
        sorted: sorted && presort.is_none(),
        counting: session.evaluate.clock == Clock::Index,
        untimed: Untimed::new(session, spec, options.telling(), option),
        memory_budget: session.evaluate.memory_budget,
        lenient: option.is_none() && !uses_time(session, whole),
    };
    Ok(Judge::new(spec, options, name, (engine.name(), monitor), (queries, parametric), timing, sink))
}

impl<'r, W: Watcher> Run<'r, W> {
    pub(crate) fn new(
        live: Live,
        judge: W,
        options: &'r WatchOptions,
        spec: &'r Specification,
        settings: Vec<(String, String)>,
    ) -> Self {
        Self {
            live,
            judge,
            options,
            spec,
            filling: None,
            presort: None,
            settings,
            next: Timers::new(options),
            names_judged: false,
            unkept: None,
        }
    }

    /// What reads the stream, and who takes what it reads, with all columns filled in.
    fn reading(&mut self) -> (&mut Live, Filled<'_, W>) {
        let name = names(&self.options.source).0;
        let filled = Filled { inner: &mut self.judge, filling: &mut self.filling, spec: self.spec, name };
        (&mut self.live, filled)
    }

    /// From the first byte, or where a checkpoint left off, to the end.
    pub(crate) fn watch(&mut self, session: &Session, control: &Control) -> Result<WatchReport, Error> {
        self.prepare_streams(session)?;
        let checkpoint = self.options.checkpoints.as_ref().map(|checkpoints| checkpoints.path.as_path());
        // Held until the end.
        let _lock = checkpoint.map(Lock::take).transpose()?;
        let resume = self.resume()?;
        let feed =
            Feed::open(self.options, resume, session.read.max_record, self.live.has_header(), control)?;
        feed.notes.iter().for_each(|note| self.judge.sink().note(note));
        let ended = match self.follow(&feed, control) {
            Ok(ended) => ended,
            Err(Stop::Halt(halt)) => {
                self.judge.conclude(halt)?;
                return Ok(self.report(false));
            }
            Err(Stop::Error(error)) => return Err(error),
        };
        self.end(ended)
    }

    /// What equations need: positions in order, and those after them.
    pub(super) fn prepare_streams(&mut self, session: &Session) -> Result<(), Error> {
        let Some(computing) = Computing::live(session, self.spec, self.options.by.as_deref())? else {
            return Ok(());
        };
        if session.read.sort.is_some() && self.presort.is_none() {
            return Err(Error::refused_instead(
                format!(
                    "streams are computed as lines come here, before `{}` puts them in order",
                    Setting::Sort
                ),
                "`tracewise check` computes them on a stored trace",
            ));
        }
        if self.options.by.is_some() && has_elapsed(self.spec) {
            return Err(Error::refused_instead(
                format!(
                    "a stream is one column for all values of {}, and `elapsed` is one for each",
                    Setting::By
                ),
                "`tracewise check` computes them on a stored trace",
            ));
        }
        let filling =
            Filling::new(computing, session.read.unit, self.presort, session.evaluate.memory_budget);
        if filling.waits() {
            let between = [
                (self.options.heartbeat.is_some(), Setting::Heartbeat),
                (self.options.watermark.is_some(), Setting::Watermark),
            ];
            if let Some((_, setting)) = between.iter().find(|(given, _)| *given) {
                return Err(Error::refused_instead(
                    format!(
                        "positions wait until their streams are known, and `{setting}` lets time pass before"
                    ),
                    format!("leave out `{setting}`, or use offsets that look back and lines in order"),
                ));
            }
            let tuples = |slot: &Slot| matches!(slot.what, What::Tuples { .. });
            if self.options.checkpoints.is_some() && self.spec.program.slots.iter().any(tuples) {
                return Err(Error::refused(format!(
                    "a checkpoint cannot hold the events of positions that wait for their streams; leave out `{}`, or the \
                     offsets that look ahead",
                    Setting::Checkpoint
                )));
            }
        }
        self.filling = Some(filling);
        Ok(())
    }

    /// Takes over the state of the checkpoint, if there is one and it is wanted: tells what was told, and says where
    /// the stream goes on.
    fn resume(&mut self) -> Result<Resume, Error> {
        let Some(Checkpoints { path, resume: true, .. }) = &self.options.checkpoints else {
            return Ok(Resume::default());
        };
        let refuse = |why: String| Error::refused(format!("cannot resume from {}: {why}", path.display()));
        let Some(state) = Checkpoint::read(path).map_err(refuse)? else {
            self.judge.sink().note(&format!("there is no {} yet; starting anew", path.display()));
            return Ok(Resume::default());
        };
        self.take_over(&state).map_err(refuse)?;
        self.judge.tell_again(state).map_err(unwritten)?;
        if !self.live.reads_on() {
            return Ok(Resume::default());
        }
        Ok(Resume { offset: self.live.progress().bytes, tail: self.live.tail().to_vec() })
    }

    /// Goes on from a state, or says why that cannot be.
    pub(super) fn take_over(&mut self, state: &Checkpoint) -> Result<(), String> {
        if let Some(why) = state.differs(&self.settings) {
            return Err(why);
        }
        let mut saved = state.live.as_slice();
        self.live.restore(&mut saved).map_err(|unreadable| unreadable.0)?;
        if let Some(filling) = &mut self.filling {
            let same = filling.load(self.spec, &mut saved);
            if !same.map_err(|_| "its streams cannot be read".to_string())? {
                return Err("the equations of the streams have changed".into());
            }
        }
        if !saved.is_empty() {
            return Err("its parts do not belong together".into());
        }
        self.judge.restore(state)?;
        self.judge.go_on_after(self.live.progress());
        Ok(())
    }

    /// The whole state.
    pub(super) fn state(&mut self) -> Checkpoint {
        let mut state = Checkpoint { settings: self.settings.clone(), ..Checkpoint::default() };
        self.live.save(&mut state.live);
        if let Some(filling) = &self.filling {
            filling.save(self.spec, &mut state.live);
        }
        self.judge.save(&mut state);
        state
    }

    /// Takes bytes of the stream.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), Halt> {
        let (live, mut judge) = self.reading();
        let pushed = live.push(bytes, false, &mut judge);
        self.say_how_read();
        pushed
    }

    /// Reads until the stream or somebody's patience ends.
    fn follow(&mut self, feed: &Feed, control: &Control) -> Result<Ended, Stop> {
        loop {
            if control.take_pending() {
                self.list_pending()?;
            }
            if control.stopped() || self.judge.sink().closed() {
                return Ok(Ended::Asked);
            }
            self.timers()?;
            let told = self.judge.heard();
            let Some(message) = feed.next(self.next.instant()) else {
                // Only now: nothing waits to be read.
                if self.next.is_silent() {
                    self.next.heard(false);
                    let (live, mut judge) = self.reading();
                    live.silence(&mut judge)?;
                    self.say_how_read();
                    self.judge_names();
                    self.said(told)?;
                }
                if self.next.heartbeat.due(Instant::now()) {
                    self.judge.beat(Passed::To(Instant::now()))?;
                    self.said(told)?;
                }
                continue;
            };
            match message {
                Message::Bytes(bytes) => {
                    let before = self.live.progress().positions;
                    self.take(&bytes)?;
                    if self.live.progress().positions > before {
                        self.next.heartbeat.rest(Instant::now());
                    }
                    self.next.heard(self.live.waits());
                    feed.recycle(bytes);
                    self.judge_names();
                }
                Message::Skipped { bytes, lines } => self.live.begin_at(bytes, lines),
                Message::Restarted(note) => {
                    self.judge.sink().note(&note);
                    let (live, mut judge) = self.reading();
                    live.restart(&mut judge)?;
                }
                Message::Opened(greeting) => {
                    self.checkpoint()?;
                    let (position, line) = (self.live.progress().positions, self.live.progress().lines);
                    greeting.say(&format!("{{\"resume\":{{\"position\":{position},\"line\":{line}}}}}\n"));
                }
                Message::Note(note) => self.judge.sink().note(&note),
                Message::BadLine(error) => self.judge.bad_line(error)?,
                Message::Fault(error) => return Err(Halt::Trace(error).into()),
                Message::End => return Ok(Ended::Over),
                Message::Wake => {}
            }
            self.said(told)?;
        }
    }

    /// Tells what the beginning of the stream showed.
    fn say_how_read(&mut self) {
        let Some(settled) = self.live.take_settled() else { return };
        let name = names(&self.options.source).0;
        let epoch = settled.epoch.map(|unit| epoch_note(unit, name));
        let preamble =
            Some(settled.preamble).filter(|lines| *lines > 0).map(|lines| preamble_note(lines, name));
        for note in epoch.into_iter().chain(preamble) {
            self.judge.sink().note(&note.message);
        }
    }

    /// Lets everybody hear what was said, and keeps it: a property's verdict at once, further violations soon, and nothing
    /// more often than once a second.
    fn said(&mut self, (verdicts, lines): (usize, u64)) -> Result<(), Stop> {
        self.judge.sink().flush()?;
        let now = self.judge.heard();
        if now.0 > verdicts && !self.next.just_kept() {
            self.checkpoint()?;
        } else if now.1 > lines && self.options.checkpoints.is_some() {
            self.next.soon();
        }
        Ok(())
    }

    /// What is due by number of positions or by time.
    fn timers(&mut self) -> Result<(), Stop> {
        let positions = self.live.progress().positions;
        if self.next.pending.due(positions) {
            self.list_pending()?;
        }
        if self.next.values.due(positions) {
            self.judge.tell_values()?;
            self.judge.sink().flush()?;
        }
        if self.next.checkpoint.due(positions) || self.next.overdue() {
            self.checkpoint()?;
        }
        Ok(())
    }

    fn list_pending(&mut self) -> Result<(), Stop> {
        self.judge.list_pending(self.live.progress())?;
        self.judge.tell_values()?;
        Ok(self.judge.sink().flush()?)
    }

    /// Mentions names that have not occurred, once there was time for them to: a slip of the pen would never settle.
    pub(super) fn judge_names(&mut self) {
        if self.names_judged || self.live.progress().positions < NAMES_AFTER {
            return;
        }
        self.names_judged = true;
        match self.live.judge() {
            Ok(mut warnings) => {
                let more = warnings.len().saturating_sub(NAMES_MENTIONED);
                warnings.truncate(NAMES_MENTIONED);
                let warnings = self.warnings(warnings, "so far, ");
                self.judge.sink().warnings(&warnings);
                if more > 0 {
                    self.judge.sink().note(&format!("so far, {more} more names have not occurred"));
                }
            }
            Err(error) => self.judge.sink().note(&format!("so far, {}", error.message)),
        }
    }

    fn warnings(&self, warnings: Vec<TraceWarning>, prefix: &str) -> Vec<Diagnostic> {
        let slots = &self.spec.program.slots;
        let diagnostic = |warning: TraceWarning| {
            let diagnostic =
                Diagnostic::warning(warning_code(warning.kind), format!("{prefix}{}", warning.message));
            match warning.slot.and_then(|slot| slots.get(slot as usize)) {
                Some(slot) => diagnostic.at(slot.span, "always false here"),
                None => diagnostic,
            }
        };
        warnings.into_iter().map(diagnostic).collect()
    }

    fn checkpoint(&mut self) -> Result<(), Error> {
        let options = self.options;
        let Some(Checkpoints { path, .. }) = &options.checkpoints else { return Ok(()) };
        let fault =
            |why: String| Error::refused(format!("cannot keep the state in {}: {why}", path.display()));
        if !self.live.reads_on() && matches!(options.source, WatchSource::Listen(_)) {
            return Err(fault(
                "a stream of this format can be resumed only from its start, and a socket has none".into(),
            ));
        }
        match self.state().write(path) {
            Ok(()) => {
                self.next.kept(self.live.progress().positions);
                if self.unkept.take().is_some() {
                    self.judge.sink().note(&format!("the state is kept in {} again", path.display()));
                }
            }
            // A place that cannot be written to at all is a mistake to be told at once; a full disk passes.
            Err(error) if is_mistaken(&error) => return Err(fault(error.to_string())),
            Err(error) => {
                if self.unkept.is_none() {
                    let what = format!("cannot keep the state in {}: {error}", path.display());
                    self.judge.sink().note(&format!("{what}; going on, and trying again"));
                }
                self.unkept = Some(error);
                self.next.later();
            }
        }
        Ok(())
    }

    /// The stream is over: reads its last line, and tells what open properties are worth.
    pub(super) fn end(&mut self, ended: Ended) -> Result<WatchReport, Error> {
        // Without the last line, which may be cut: whoever resumes reads it as it is then.
        self.checkpoint()?;
        let read = match ended {
            Ended::Over => {
                let (live, mut judge) = self.reading();
                live.push(b"", true, &mut judge)
            }
            Ended::Asked => Ok(()),
        };
        let read = read.and_then(|()| self.reading().1.finish());
        if let Err(halt) = read.and_then(|()| self.judge.release()) {
            self.judge.conclude(halt)?;
            return Ok(self.report(false));
        }
        if ended == Ended::Over {
            let warnings = self.live.judge().map_err(|error| trace_error(self.spec, error))?;
            let warnings = self.warnings(warnings, "");
            self.judge.sink().warnings(&warnings);
        }
        let name = names(&self.options.source).0;
        if let Some(warning) = self.judge.steps_back().and_then(|back| back.warning(name)) {
            self.judge.sink().warnings(&[warning]);
        }
        self.judge.last_words(self.live.progress())?;
        // Unless they have just been told.
        let positions = self.live.progress().positions;
        let told = matches!(self.options.values_every, Some(Every::Positions(n)) if positions.is_multiple_of(n.max(1)));
        if !told {
            self.judge.tell_values()?;
        }
        self.judge.sink().flush().map_err(unwritten)?;
        if let (Some(error), Some(Checkpoints { path, .. })) = (self.unkept.take(), &self.options.checkpoints)
        {
            return Err(Error::io(format!("the last state is not kept in {}", path.display()), error));
        }
        Ok(self.report(true))
    }

    fn report(&mut self, ended: bool) -> WatchReport {
        self.judge.report(ended, self.live.progress().positions)
    }
}

/// Whether trying again cannot help.
fn is_mistaken(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::*;
    matches!(
        error.kind(),
        NotFound | PermissionDenied | IsADirectory | NotADirectory | InvalidInput | ReadOnlyFilesystem
    )
}
