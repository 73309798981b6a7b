//! Streams of a trace that is still being written: a row of values as soon as its position is read.
//!
//! Beside the values, each position says which *alarms* it raises: of the properties `G φ` that look at one position alone (a
//! trigger is one), those whose φ fails there. Others are left to `watch`.

use super::{key_slot, refuse_none};
use crate::run::faults::nothing_to;
use crate::run::open::format_of;
use crate::run::order::uses_time;
use crate::run::timing::reads_times;
use crate::watch::halt::{self, BadLines, Halt};
use crate::watch::run::{Run, names};
use crate::watch::watcher::Watcher;
use crate::watch::{Control, Every, LiveSink, WatchOptions, WatchReport, WatchSource};
use crate::{Error, Session, Specification, Value};
use std::io;
use std::time::Duration;
use tw_core::{Batch, Position};
use tw_ir::{Node, NodeId, Program, Root, RootKind, SlotId, StreamType, Temporal};
use tw_monitor::{Ground, truth};
use tw_trace::{Arrival, Live, Progress, Projection, Receiver, TraceError, TraceErrorKind};

/// How to follow a stream.
#[derive(Clone, Debug)]
pub struct StreamLive {
    /// Where the trace comes from.
    pub source: WatchSource,
    /// Leave out lines that cannot be read, instead of ending with the first.
    pub skip_bad_lines: bool,
    /// Flush at least so often.
    pub every: Option<Duration>,
}

/// A property that a position can violate by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamAlarm {
    /// Its name.
    pub name: String,
    /// Its sentence.
    pub title: Option<String>,
}

/// A position.
#[derive(Clone, Copy, Debug)]
pub struct StreamRow<'r> {
    /// Which.
    pub position: Position,
    /// What each observed stream is worth there.
    pub values: &'r [Value],
    /// The alarms it raises, by their numbers.
    pub alarms: &'r [usize],
}

/// Takes what is told of streams, as it happens.
pub trait StreamSink: LiveSink {
    /// The streams and alarms to come; before the first row.
    fn begin(&mut self, streams: &[(String, StreamType)], alarms: &[StreamAlarm]) -> io::Result<()>;
    /// A position.
    fn row(&mut self, row: StreamRow<'_>) -> io::Result<()>;
}

/// What following streams came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamLiveReport {
    /// Positions read.
    pub positions: u64,
    /// Lines left out.
    pub bad_lines: u64,
}

pub(crate) fn live(
    session: &Session,
    spec: &Specification,
    options: &StreamLive,
    control: &Control,
    sink: &mut dyn StreamSink,
) -> Result<StreamLiveReport, Error> {
    refuse_none(spec)?;
    let (watched, others): (Vec<Root>, Vec<Root>) =
        spec.program.roots.iter().cloned().partition(|root| condition(&spec.program, root).is_some());
    if let Some(other) = others.first() {
        let more = if others.len() > 1 { " and others look" } else { " looks" };
        sink.note(&format!(
            "`{}`{more} at more than one position: `tracewise watch` judges that",
            other.name
        ));
    }
    let spec = &spec.with_roots(watched);
    let (name, path) = names(&options.source);
    let format = format_of(session, path)?;
    let timed = uses_time(session, spec) || reads_times(session, spec);
    let live = Live::new(name, format, &Projection::of(&spec.program, None, timed), &session.read);
    let watcher = StreamWatcher::new(spec, options, sink);
    let watch = WatchOptions {
        skip_bad_lines: options.skip_bad_lines,
        pending_every: options.every.map(Every::Time),
        ..WatchOptions::new(options.source.clone())
    };
    let mut run = Run::new(live, watcher, &watch, spec, Vec::new());
    run.watch(session, control)?;
    match run.judge.seen {
        0 => Err(nothing_to(name, "compute")),
        seen => Ok(StreamLiveReport { positions: seen as u64, bad_lines: run.judge.bad_lines.count }),
    }
}

/// φ of a property `G φ` that looks at one position alone.
fn condition(program: &Program, root: &Root) -> Option<NodeId> {
    let Node::Unary(Temporal::Globally, None, body) = program.dag.node(root.node) else { return None };
    let elsewhere = |&id: &NodeId| {
        let node = program.dag.node(id);
        node.is_temporal() || node.is_first_order() || node.is_experiment() || node == Node::Last
    };
    (root.kind == RootKind::Property && !program.reachable(&[body]).iter().any(elsewhere)).then_some(body)
}

/// A condition, ready to be evaluated.
struct Condition {
    node: NodeId,
    order: Vec<NodeId>,
    given: Vec<(NodeId, Option<(SlotId, bool)>)>,
}

impl Condition {
    fn new(program: &Program, node: NodeId) -> Self {
        let order = program.reachable(&[node]);
        let given = order.iter().filter_map(|&id| match program.dag.node(id) {
            Node::Slot(slot) => Some((id, Some((slot, false)))),
            Node::Truth(slot) => Some((id, Some((slot, true)))),
            Node::First => Some((id, None)),
            _ => None,
        });
        Self { node, given: given.collect(), order }
    }

    fn holds(&self, program: &Program, batch: &Batch, at: usize, first: bool) -> Result<bool, String> {
        let given: Vec<(NodeId, Value)> = self
            .given
            .iter()
            .map(|&(id, what)| {
                let value = match what {
                    None => Value::Bool(first),
                    Some((slot, false)) => batch.slots[slot as usize].value(at),
                    Some((slot, true)) => Value::Bool(truth(&batch.slots[slot as usize].value(at))),
                };
                (id, value)
            })
            .collect();
        Ground { program, order: &self.order, given: &given }.truth()
    }
}

/// Reads positions and tells what streams are worth there.
struct StreamWatcher<'t> {
    spec: &'t Specification,
    options: &'t StreamLive,
    sink: &'t mut dyn StreamSink,
    /// Of each observed stream its slot, and that of the keys it has no value without.
    slots: Vec<(SlotId, Option<SlotId>)>,
    conditions: Vec<Condition>,
    seen: Position,
    bad_lines: BadLines,
}

impl<'t> StreamWatcher<'t> {
    fn new(spec: &'t Specification, options: &'t StreamLive, sink: &'t mut dyn StreamSink) -> Self {
        let program = &spec.program;
        let conditions = program.roots.iter().filter_map(|root| condition(program, root));
        let conditions = conditions.map(|node| Condition::new(program, node)).collect();
        let observed = program.streams.iter().filter(|stream| stream.observed);
        let slots = observed.map(|stream| (stream.slot, key_slot(program, stream))).collect();
        Self { spec, options, sink, slots, conditions, seen: 0, bad_lines: BadLines::default() }
    }

    /// Says what will come.
    fn begin(&mut self) -> io::Result<()> {
        let program = &self.spec.program;
        let observed = program.streams.iter().filter(|stream| stream.observed);
        let streams: Vec<(String, StreamType)> =
            observed.map(|stream| (stream.name.clone(), stream.ty)).collect();
        let alarm = |root: &Root| StreamAlarm { name: root.name.clone(), title: root.title.clone() };
        let alarms: Vec<StreamAlarm> = program.roots.iter().map(alarm).collect();
        self.sink.begin(&streams, &alarms)
    }
}

impl Receiver for StreamWatcher<'_> {
    /// Values and alarms of each position.
    type Mapped = Vec<(Vec<Value>, Vec<usize>)>;
    type Error = Halt;

    fn map(&mut self, batch: Batch) -> Result<Self::Mapped, (usize, TraceError)> {
        let mut rows = Vec::with_capacity(batch.len);
        for at in 0..batch.len {
            let mut alarms = Vec::new();
            for (number, condition) in self.conditions.iter().enumerate() {
                let first = self.seen + at == 0;
                match condition.holds(&self.spec.program, &batch, at, first) {
                    Ok(true) => {}
                    Ok(false) => alarms.push(number),
                    Err(message) => {
                        self.bad_lines.fault = Some((condition.node, self.seen + at));
                        return Err((at, TraceError::new(TraceErrorKind::Type, message)));
                    }
                }
            }
            let value = |slot: SlotId| batch.slots[slot as usize].value(at);
            let own = |&(slot, key): &(SlotId, Option<SlotId>)| match key {
                Some(key) if value(key).is_null() => Value::Null,
                _ => value(slot),
            };
            rows.push((self.slots.iter().map(own).collect(), alarms));
        }
        Ok(rows)
    }

    fn take(&mut self, rows: Self::Mapped, _: &Arrival<'_>) -> Result<(), Halt> {
        // Not before the first position: what cannot run prints nothing.
        if self.seen == 0 && !rows.is_empty() {
            self.begin()?;
        }
        for (values, alarms) in &rows {
            self.sink.row(StreamRow { position: self.seen, values, alarms })?;
            self.seen += 1;
            if self.sink.closed() {
                return Err(Halt::Enough);
            }
        }
        Ok(())
    }

    fn bad_line(&mut self, error: TraceError) -> Result<(), Halt> {
        self.bad_lines.leave_out(self.spec, self.options.skip_bad_lines, error, self.sink)
    }
}

impl Watcher for StreamWatcher<'_> {
    fn sink(&mut self) -> &mut dyn LiveSink {
        self.sink
    }

    fn last_words(&mut self, _: Progress) -> Result<(), Error> {
        Ok(())
    }

    fn conclude(&mut self, halt: Halt) -> Result<(), Error> {
        let fault = self.bad_lines.fault.take();
        halt::conclude(self.spec, halt, fault, |refusal| crate::plan::refused(self.spec, "streams", refusal))
    }

    fn report(&mut self, _: bool, positions: u64) -> WatchReport {
        let bad_lines = self.bad_lines.count;
        WatchReport {
            positions,
            bad_lines,
            engine: "streams",
            verdicts: Vec::new(),
            monitors: Vec::new(),
            requirements: Vec::new(),
        }
    }
}
