//! `robust`: how far a trace is from violating a property, or from satisfying it, and which sample decides that.
//!
//! What predicates are worth is computed block by block on the threads that read; only those numbers are kept, and the
//! columns that a picture shows. Streams are read as `watch` reads them ([`live`]).

mod contributions;
mod extent;
mod live;
mod read;
mod signals;
mod weakest;

use crate::{Diagnostic, Error, LogLine, Session, Specification, Stamp, TimeStyle, Value, check, plan};
use std::borrow::Cow;
use tw_core::{Position, Time};
use tw_engine_robust::Robust;
use tw_ir::{Clock, Node, NodeId, Root};
use tw_monitor::EvaluateOptions;
use tw_trace::{TraceError, TraceErrorKind};

pub use contributions::{Contribution, Contributions};
pub(crate) use extent::extent;
pub(crate) use live::live;
pub use live::{Least, RobustLive, RobustLiveReport, RobustSink, RobustTold, RobustValue, Telling};
pub use signals::{Level, Signal};
pub use tw_engine_robust::{Algorithm as RobustAlgorithm, Interpolation, Predictor};

/// What is asked beside the value at position 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RobustOptions {
    /// The value at every position.
    pub everywhere: bool,
    /// What a picture shows: the signals, and the robustness over time.
    pub picture: bool,
    /// Signals go on between the samples. `--clock dense` asks for steps.
    pub interpolate: Option<Interpolation>,
    /// What each subformula contributes to the value at position 0.
    pub contributions: bool,
    /// How values at the samples are computed; all ways agree.
    pub algorithm: RobustAlgorithm,
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
    /// One per property, in the order written.
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
    /// The value at position 0.
    pub value: f64,
    /// The timestamp of position 0.
    pub time: Option<Stamp>,
    /// What decides it; nothing if that was not asked for, or takes too much memory.
    pub weakest: Option<WeakestLink>,
    /// What each subformula contributes to it, if that was asked for.
    pub contributions: Option<Contributions>,
    /// The value at every position.
    pub everywhere: Option<Vec<f64>>,
    /// For a picture: a formula and its value at every position. For a property `G φ` that is φ, whose least value is
    /// the property's.
    pub curve: Option<(String, Vec<f64>)>,
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
    let spec = check::properties_of(spec)?;
    match spec.program.roots.is_empty() {
        true => Err(Error::Usage("the specification has no property to compute the robustness of".into())),
        false => Ok(spec),
    }
}

/// The engine on these options, or why it cannot.
fn engine(spec: &Specification, options: &EvaluateOptions) -> Result<Robust, Error> {
    if options.clock == Clock::Index {
        plan::refuse_units(spec, options, "`--clock index` counts positions")?;
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
    plan::refuse_units(spec, &options, &format!("{trace} has no timestamps"))?;
    engine(spec, &options)
}

fn refused(spec: &Specification, refusal: tw_monitor::Unsupported) -> Error {
    plan::refused(spec, "robust", refusal)
}

fn nothing_to_compute(name: &str) -> Error {
    let message = "the trace has no positions, so there is nothing to compute";
    TraceError::new(TraceErrorKind::Usage, message).in_file(name).into()
}

/// φ for a property `G φ` without an interval: its least value from here on is the property's.
fn below_always(spec: &Specification, root: &Root) -> Option<NodeId> {
    let mut node = root.node;
    while let Node::Globally(None, body) = spec.program.dag.node(node) {
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
    let mut options = session.evaluate_options();
    let mut reading = asked.interpolate;
    if options.clock == Clock::Dense {
        // Continuous time over samples is that each holds until the next.
        options.clock = Clock::Stamps;
        reading = reading.or(Some(Interpolation::Step));
    }
    let mut robust = engine(spec, &options)?;
    if reading == Some(Interpolation::Linear) {
        let nodes: Vec<NodeId> = spec.program.roots.iter().map(|root| root.node).collect();
        robust.straight(&nodes).map_err(|refusal| refused(spec, refusal))?;
    }
    let shown = if asked.picture { signals::shown(spec) } else { Vec::new() };
    let times = robust.needs_times() || asked.everywhere || asked.picture || reading.is_some();
    let mut read = read::read(session, spec, files, &robust, &shown, times)?;
    if read.samples.len == 0 {
        return Err(nothing_to_compute(&read.name));
    }
    if reading.is_some() && !read.summary.timed {
        let message = "signals between the samples are about time, and this trace has no timestamps (`--time COL` names \
                       their column)";
        return Err(TraceError::new(TraceErrorKind::Usage, message).in_file(&read.name).into());
    }
    if robust.needs_times() && !read.summary.timed {
        robust = engine_without_times(spec, &options, &read.name)?;
    }

    let roots = &spec.program.roots;
    let mut nodes: Vec<NodeId> = roots.iter().map(|root| root.node).collect();
    let drawn = |root: &Root| below_always(spec, root).unwrap_or(root.node);
    if asked.picture {
        nodes.extend(roots.iter().map(drawn));
    }
    let refused = |refusal| refused(spec, refusal);
    let columns = match reading {
        None => robust.values(&read.samples, &nodes, asked.algorithm),
        Some(reading) => robust.interpolated(&read.samples, &nodes, reading),
    };
    let mut columns = columns.map_err(refused)?.into_iter();
    let mut found = Vec::with_capacity(roots.len());
    for root in roots {
        let column = columns.next().unwrap_or_default();
        let value = column.first().copied().unwrap_or(f64::NAN);
        found.push(Robustness {
            name: root.name.clone(),
            title: root.title.clone(),
            value,
            time: None,
            weakest: None,
            contributions: None,
            everywhere: asked.everywhere.then_some(column),
            curve: None,
        });
    }
    for ((property, root), column) in found.iter_mut().zip(roots).zip(columns) {
        property.curve = Some((spec.words(drawn(root)), column));
    }
    let mut warnings = spec.warnings.clone();
    warnings.append(&mut read.warnings);
    if session.explain {
        weakest::add(session, spec, &robust, &read, &mut found, &mut warnings);
    }
    if asked.contributions {
        contributions::add(spec, &robust, &read, &mut found).map_err(refused)?;
    }
    let times = read.samples.times.take().zip(read.summary.style);
    let first =
        times.as_ref().and_then(|(times, style)| Some(Stamp { time: *times.first()?, style: *style }));
    if let Some(first) = first.or_else(|| read.locate(session, &[0]).get(&0).and_then(|line| line.time)) {
        found.iter_mut().for_each(|property| property.time = Some(first));
    }
    Ok(RobustReport {
        trace: read.name,
        positions: read.summary.positions,
        bytes: read.summary.bytes,
        properties: found,
        times: times.filter(|_| asked.everywhere || asked.picture),
        signals: signals::with_values(spec, shown, read.kept),
        warnings,
    })
}
