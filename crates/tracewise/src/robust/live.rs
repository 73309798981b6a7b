//! Robustness of a stream: values as soon as they are settled, bounds before that, or predictions.
//!
//! Kept are the samples that intervals still reach over, and a timestamp for each position that is pending.

mod sorted;
mod watcher;

use crate::run::faults::nothing_to;
use crate::run::open::format_of;
use crate::trace::Stamp;
use crate::watch::run::{Run, names};
use crate::watch::{Control, Every, LiveSink, WatchOptions, WatchSource};
use crate::{Error, Session, Specification};
use std::io;
use std::time::Duration;
use tw_core::Position;
use tw_engine_robust::Predictor;
use tw_ir::RootKind;
use tw_trace::{Live, Projection};
use watcher::RobustWatcher;

/// What is told of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    /// Exact values, each as soon as no later sample can change it.
    Exact,
    /// These, and with each sample the bounds of the oldest position that is not settled and of the newest.
    Interval,
    /// With each sample the value now, the samples that it waits for predicted.
    Now(Predictor),
}

/// How to follow a stream.
#[derive(Clone, Debug)]
pub struct RobustLive {
    /// Where the trace comes from.
    pub source: WatchSource,
    /// What is told.
    pub telling: Telling,
    /// Nanoseconds from one predicted sample to the next; otherwise as between the last two.
    pub period: Option<i64>,
    /// End with the first negative value, or the first negative upper bound.
    pub stop_on_negative: bool,
    /// Leave out lines that cannot be read, instead of ending with the first.
    pub skip_bad_lines: bool,
    /// Hand over the numeric columns that predicates read.
    pub signals: bool,
    /// Flush at least so often.
    pub every: Option<Duration>,
}

impl RobustLive {
    /// Exact values, nothing more.
    pub fn new(source: WatchSource) -> Self {
        Self {
            source,
            telling: Telling::Exact,
            period: None,
            stop_on_negative: false,
            skip_bad_lines: false,
            signals: false,
            every: None,
        }
    }
}

/// What is known of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RobustValue {
    /// All of it.
    Settled(f64),
    /// No continuation gives less than the first or more than the second.
    Bounds(f64, f64),
    /// What it would be if the prediction came true.
    Predicted(f64),
}

/// A value on its way out.
#[derive(Clone, Debug, PartialEq)]
pub struct RobustTold<'t> {
    /// Number of the property, from 0.
    pub index: usize,
    /// Its name; with `-e` the formula's text.
    pub property: &'t str,
    /// The position that the value is of. For a property `G φ` it is the value of φ there.
    pub position: Position,
    /// Its timestamp.
    pub time: Option<Stamp>,
    /// The value.
    pub value: RobustValue,
    /// For a settled value of φ under `G`: the least so far.
    pub minimum: Option<f64>,
    /// The newest position that was read.
    pub newest: Position,
}

/// Takes what is told of a stream, as it happens.
pub trait RobustSink: LiveSink {
    /// A value.
    fn told(&mut self, told: &RobustTold<'_>) -> io::Result<()>;
    /// The signals that will be handed over, by name; before the first sample.
    fn signals(&mut self, _names: &[String]) {}
    /// A sample: what the signals are there, NaN for what they are not.
    fn sample(&mut self, _position: Position, _signals: &[f64]) {}
}

/// The least value of a property that was told, settled or predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Least {
    /// The value.
    pub value: f64,
    /// Where it was first.
    pub position: Position,
    /// Its timestamp.
    pub time: Option<Stamp>,
}

impl Least {
    /// The lesser of what is known and another.
    fn update(known: &mut Option<Least>, value: f64, position: Position, time: Option<Stamp>) {
        if known.is_none_or(|least| value < least.value) {
            *known = Some(Least { value, position, time });
        }
    }
}

/// What following a stream came to.
#[derive(Clone, Debug, PartialEq)]
pub struct RobustLiveReport {
    /// Positions read.
    pub positions: u64,
    /// Lines left out.
    pub bad_lines: u64,
    /// Of each property: its name, and the least value told.
    pub least: Vec<(String, Option<Least>)>,
    /// Whether a negative value ended it.
    pub stopped: bool,
}

pub(crate) fn live(
    session: &Session,
    spec: &Specification,
    options: &RobustLive,
    control: &Control,
    sink: &mut dyn RobustSink,
) -> Result<RobustLiveReport, Error> {
    if let Some(query) = spec.program.roots.iter().find(|root| root.kind == RootKind::Query)
        && spec.program.roots.iter().any(|root| root.kind == RootKind::Property)
    {
        sink.note(&format!(
            "`{}` and other queries are left out: they have values, not robustness",
            query.name
        ));
    }
    let spec = &*super::properties(spec)?;
    let (name, path) = names(&options.source);
    let format = format_of(session, path)?;
    let projection = Projection::of(&spec.program, None, true);
    let live = Live::new(name, format, &projection, &session.read);
    let watcher = RobustWatcher::new(session, spec, options, name, sink)?;
    let watch = WatchOptions {
        skip_bad_lines: options.skip_bad_lines,
        // Nothing is pending, but what was told is flushed.
        pending_every: options.every.map(Every::Time),
        ..WatchOptions::new(options.source.clone())
    };
    let mut run = Run::new(live, watcher, &watch, spec, Vec::new());
    run.watch(session, control)?;
    match run.judge.report() {
        report if report.positions == 0 => Err(nothing_to(name, "compute")),
        report => Ok(report),
    }
}
