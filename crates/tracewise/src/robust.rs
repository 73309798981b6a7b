//! `robust`: how far a trace is from violating a property, or from satisfying it, and which sample decides that.
//!
//! What predicates are worth is computed block by block on the threads that read; only those numbers are kept, and the
//! columns that a picture shows. Streams are read as `watch` reads them.

mod contributions;
mod extent;
mod live;
mod signals;
mod weakest;

use crate::check::LogLine;
use crate::diag::Diagnostic;
use crate::error::Setting;
use crate::plan::Who;
use crate::run::clock::{counts_positions, refuse_units};
use crate::run::faults::without_timestamps;
use crate::run::{Asked, Run};
use crate::trace::{Stamp, TimeStyle};
use crate::{Error, Session, Specification, Value, plan};
use std::borrow::Cow;
use tw_core::{Position, Time};
use tw_engine_robust::Robust;
use tw_ir::{Clock, Node, NodeId, Root, Temporal};
use tw_monitor::EvaluateOptions;

pub use contributions::{Contribution, Contributions};
pub(crate) use extent::extent;
pub(crate) use live::live;
pub use live::{Least, RobustLive, RobustLiveReport, RobustSink, RobustTold, RobustValue, Telling};
pub use signals::{Level, Signal};
pub use tw_engine_robust::{Algorithm as RobustAlgorithm, Interpolation, Predictor};

/// What is asked beside the value at position 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobustOptions {
    /// The value once per value of this column.
    pub by: Option<String>,
    /// What decides each value, which takes a second look at the trace.
    pub explain: bool,
    /// The value at every position.
    pub everywhere: bool,
    /// What a picture shows: the signals, and the robustness over time.
    pub picture: bool,
    /// Signals go on between the samples. `Clock::Dense` asks for steps.
    pub interpolate: Option<Interpolation>,
    /// What each subformula contributes to the value at position 0.
    pub contributions: bool,
    /// How values at the samples are computed; all ways agree.
    pub algorithm: RobustAlgorithm,
}

impl Default for RobustOptions {
    /// One value for the whole trace, and what decides it.
    fn default() -> Self {
        Self {
            by: None,
            explain: true,
            everywhere: false,
            picture: false,
            interpolate: None,
            contributions: false,
            algorithm: RobustAlgorithm::default(),
        }
    }
}

/// The robustness of all properties on one trace.
#[derive(Clone, Debug)]
pub struct RobustReport {
    /// The trace as the user named it.
    pub trace: String,
    /// Number of positions.
    pub positions: u64,
    /// Bytes read.
    pub bytes: u64,
    /// The column of `by` and how many different values it had.
    pub by: Option<(String, usize)>,
    /// One per property, in the order written, and with `by` per value of the column, in the order in which they turn up.
    pub properties: Vec<Robustness>,
    /// Timestamps and how they are written, if the trace has some and every position was asked for.
    pub times: Option<(Vec<Time>, TimeStyle)>,
    /// The numeric columns that the predicates read, for a picture.
    pub signals: Vec<Signal>,
    /// Findings that did not stop the run.
    pub warnings: Vec<Diagnostic>,
}

impl RobustReport {
    /// The timestamp of a position, where they were kept.
    pub fn stamp(&self, position: Position) -> Option<Stamp> {
        let (times, style) = self.times.as_ref()?;
        times.get(position).map(|&time| Stamp { time, style: *style })
    }
}

/// The robustness of one property.
#[derive(Clone, Debug)]
pub struct Robustness {
    /// Name; with `-e` the formula's text.
    pub name: String,
    /// The sentence in quotes after the name.
    pub title: Option<String>,
    /// The value of the `by` column whose trace this is about.
    pub key: Option<Value>,
    /// The first position of that trace: 0, unless the log is divided.
    pub position: Position,
    /// The value there.
    pub value: f64,
    /// Its timestamp.
    pub time: Option<Stamp>,
    /// What decides it; nothing if that was not asked for, or takes too much memory.
    pub weakest: Option<WeakestLink>,
    /// What each subformula contributes to it, if that was asked for.
    pub contributions: Option<Contributions>,
    /// The value at every position of the trace, with the position in the log.
    pub everywhere: Option<Vec<(Position, f64)>>,
    /// For a picture: a formula and its value at every position. For a property `G φ` that is φ, whose least value is
    /// the property's.
    pub curve: Option<(String, Vec<f64>)>,
}

impl Robustness {
    /// The least of the values that are told.
    pub fn lowest(&self) -> f64 {
        self.everywhere.iter().flatten().map(|(_, value)| *value).fold(self.value, f64::min)
    }
}

/// What decides a value: no other predicate or sample changes it unless this one changes, or is overtaken.
#[derive(Clone, Debug, PartialEq)]
pub struct WeakestLink {
    /// The predicate in the user's own words, or the formula that is constant or has an empty window.
    pub formula: String,
    /// What kind of reason it is.
    pub reason: Reason,
    /// Where.
    pub position: Position,
    /// Its timestamp.
    pub time: Option<Stamp>,
    /// What it is worth there: the value explained, but for the sign.
    pub value: f64,
    /// The columns that the predicate reads, as they are there.
    pub values: Vec<(String, Value)>,
    /// The log line.
    pub line: Option<LogLine>,
}

/// Why something is worth what it is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The sample says so.
    Predicate,
    /// It is always worth that.
    Constant,
    /// There is no sample in its interval.
    Empty,
}

impl Reason {
    /// As programs read it.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::Predicate => "predicate",
            Reason::Constant => "constant",
            Reason::Empty => "empty",
        }
    }
}

/// Properties alone, and something to compute.
fn properties(spec: &Specification) -> Result<Cow<'_, Specification>, Error> {
    let spec = spec.properties()?;
    match spec.program.roots.is_empty() {
        true => Err(Error::refused("the specification has no property to compute the robustness of")),
        false => Ok(spec),
    }
}

/// The engine on these options, or why it cannot.
fn engine(spec: &Specification, options: &EvaluateOptions) -> Result<Robust, Error> {
    if options.clock == Clock::Index {
        refuse_units(spec, options, &counts_positions())?;
    }
    Robust::new(&spec.program, options).map_err(|refusal| refused(spec, refusal))
}

/// The same, for a trace without timestamps: intervals count positions.
fn engine_without_times(
    spec: &Specification,
    options: &EvaluateOptions,
    trace: &str,
) -> Result<Robust, Error> {
    let options = EvaluateOptions { clock: Clock::Index, ..options.clone() };
    refuse_units(spec, &options, &format!("{trace} has no timestamps"))?;
    engine(spec, &options)
}

fn refused(spec: &Specification, refusal: tw_monitor::Unsupported) -> Error {
    plan::refused(spec, "robust", refusal)
}

/// φ for a property `G φ` without an interval: its least value from here on is the property's.
fn below_always(spec: &Specification, root: &Root) -> Option<NodeId> {
    let mut node = root.node;
    while let Node::Unary(Temporal::Globally, None, body) = spec.program.dag.node(node) {
        node = body;
    }
    (node != root.node).then_some(node)
}

pub(crate) fn robust(
    session: &Session,
    spec: &Specification,
    files: &[String],
    asked: &RobustOptions,
) -> Result<RobustReport, Error> {
    let spec = &*properties(spec)?;
    if asked.picture && asked.by.is_some() {
        return Err(Error::refused_instead(
            "a picture shows one trace",
            format!("leave out {}", Setting::By),
        ));
    }
    let mut session = session.clone();
    let mut interpolate = asked.interpolate;
    if session.evaluate.clock == Clock::Dense {
        // Continuous time over samples is that each holds until the next.
        session.evaluate.clock = Clock::Stamps;
        interpolate = interpolate.or(Some(Interpolation::Step));
    }
    let session = &session;
    let straight = match interpolate {
        Some(Interpolation::Linear) => {
            let program = tw_engine_robust::straighten(&spec.program);
            let program = program.map_err(|refusal| refused(spec, refusal))?;
            Some(Specification { program, ..spec.clone() })
        }
        _ => None,
    };
    let spec = straight.as_ref().unwrap_or(spec);
    let engine = tw_engine_robust::Robustness { algorithm: asked.algorithm, interpolate };
    let shown = if asked.picture { signals::shown(spec) } else { Vec::new() };
    let times = asked.everywhere || asked.picture || interpolate.is_some();
    let wanted = Asked { times, by: asked.by.as_deref(), kept: &shown, ..Asked::default() };
    let mut run = Run::new(session, spec, files, Who::This(&engine), wanted)?;
    if interpolate.is_some() && !run.loaded.summary.timed {
        let why = "signals between the samples are about time";
        return Err(without_timestamps(run.loaded.name(), why));
    }

    let roots = &spec.program.roots;
    let mut nodes: Vec<NodeId> = roots.iter().map(|root| root.node).collect();
    let drawn = |root: &Root| below_always(spec, root).unwrap_or(root.node);
    if asked.picture {
        nodes.extend(roots.iter().map(drawn));
    }
    let refused = |refusal| refused(spec, refusal);
    let mut columns =
        run.chosen.evaluator.robustness(&run.loaded.trace, &nodes).map_err(refused)?.into_iter();
    let mut found = Vec::with_capacity(roots.len());
    for root in roots {
        let column = columns.next().unwrap_or_default();
        found.extend(values(&run, root, column, asked.everywhere));
    }
    for ((property, root), column) in found.iter_mut().zip(roots).zip(columns) {
        property.curve = Some((spec.words(drawn(root)), column));
    }
    let mut warnings = run.warnings();
    if asked.explain || asked.contributions {
        let robust = Robust::new(&spec.program, &run.options).map_err(refused)?;
        if asked.explain {
            weakest::add(&run, &robust, &mut found, &mut warnings);
        }
        if asked.contributions {
            contributions::add(&run, &robust, &mut found).map_err(refused)?;
        }
    }
    stamp(&run, &mut found);
    let kept = run.loaded.kept.iter().map(signals::numbers).collect();
    let by = asked.by.clone().map(|column| (column, run.labels.len()));
    Ok(RobustReport {
        trace: run.loaded.name().to_string(),
        positions: run.loaded.summary.positions,
        bytes: run.loaded.summary.bytes,
        by,
        properties: found,
        times: times_of(&run).filter(|_| asked.everywhere || asked.picture),
        signals: signals::with_values(spec, shown, kept),
        warnings,
    })
}

/// What a property is worth on each part of the trace.
fn values(run: &Run<'_>, root: &Root, column: Vec<f64>, everywhere: bool) -> Vec<Robustness> {
    let trace = &run.loaded.trace;
    let part = |(segment, &start): (usize, &Position)| {
        let everywhere = everywhere.then(|| {
            let places = start..trace.segment_end(segment);
            places.map(|at| (run.order.original(at), column[at])).collect()
        });
        Robustness {
            name: root.name.clone(),
            title: root.title.clone(),
            key: run.labels.get(segment).key,
            position: run.order.original(start),
            value: column.get(start).copied().unwrap_or(f64::NAN),
            time: None,
            weakest: None,
            contributions: None,
            everywhere,
            curve: None,
        }
    };
    trace.starts().iter().enumerate().map(part).collect()
}

/// The part of the trace that each value is about: properties of one part stand as far apart as there are parts.
fn parts<'a>(
    run: &'a Run<'_>,
    found: &'a mut [Robustness],
) -> impl Iterator<Item = (&'a Root, Position, &'a mut Robustness)> {
    let starts = run.loaded.trace.starts();
    let roots = run.spec.program.roots.iter().flat_map(move |root| starts.iter().map(move |&at| (root, at)));
    roots.zip(found).map(|((root, at), property)| (root, at, property))
}

/// The timestamps of the first positions: as they were read, or looked up.
fn stamp(run: &Run<'_>, found: &mut [Robustness]) {
    if run.loaded.trace.times.is_some() {
        parts(run, found).for_each(|(_, at, property)| property.time = run.stamp(at));
        return;
    }
    let mut positions: Vec<Position> = found.iter().map(|property| property.position).collect();
    positions.sort_unstable();
    positions.dedup();
    // Beyond so many the log is not read again for them.
    positions.truncate(crate::check::LOCATED);
    let lines = run.locate(&positions);
    for property in found {
        property.time = lines.get(&property.position).and_then(|line| line.time);
    }
}

/// The timestamps in the order of the log.
fn times_of(run: &Run<'_>) -> Option<(Vec<Time>, TimeStyle)> {
    let (times, style) = run.loaded.trace.times.as_ref().zip(run.loaded.summary.style)?;
    if !run.order.by_key() {
        return Some((times.clone(), style));
    }
    let mut all = vec![0; run.loaded.summary.positions as usize];
    times.iter().enumerate().for_each(|(at, &time)| all[run.order.original(at)] = time);
    Some((all, style))
}
