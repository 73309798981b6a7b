//! Parts of a trace: `by user`, `every 1m`.

use crate::by::Groups;
use crate::load::Loaded;
use crate::query::Edge;
use crate::{Error, Specification};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::Arc;
use tw_core::{Column, Position, Value};
use tw_ir::{Bound, Clock, Division, Interval, IntervalError};
use tw_monitor::{EvaluateOptions, Segments, Trace};
use tw_trace::Stamp;

/// What distinguishes a part.
#[derive(Clone, Debug, Default)]
pub(super) struct Label {
    pub key: Option<Value>,
    pub window: Option<(Edge, Edge)>,
}

/// A trace whose segments are the parts.
pub(super) struct Divided<'t> {
    pub trace: Cow<'t, Trace>,
    /// Original position of each position, if they were sorted.
    pub order: Option<Vec<u32>>,
    /// One per segment.
    pub labels: Vec<Label>,
}

impl<'t> Divided<'t> {
    pub(super) fn new(
        division: &Division,
        key: Option<&Column>,
        loaded: &'t Loaded,
        options: &EvaluateOptions,
    ) -> Result<Self, Error> {
        let trace = &loaded.trace;
        let whole = Divided { trace: Cow::Borrowed(trace), order: None, labels: vec![Label::default()] };
        let mut divided = match (&division.by, key) {
            (None, _) => whole,
            (Some(path), column) => {
                let (keys, ids) = match (column, &loaded.keys) {
                    (Some(column), _) => keys(column),
                    (None, Some(keys)) => (keys.names.clone(), Cow::Borrowed(keys.ids.as_slice())),
                    (None, None) => (Vec::new(), Cow::Owned(Vec::new())),
                };
                by(trace, keys, &ids, &path.to_string(), &loaded.name)?
            }
        };
        if let Some(every) = division.every {
            divided.cut(every, loaded, options)?;
        }
        Ok(divided)
    }

    /// Where the position of this trace stands in the log.
    pub(super) fn original(&self, position: Position) -> Position {
        self.order.as_ref().map_or(position, |order| order[position] as Position)
    }

    /// Cuts every part into windows. Times do not decrease, so a window is a stretch of positions.
    fn cut(&mut self, every: Bound, loaded: &Loaded, options: &EvaluateOptions) -> Result<(), Error> {
        let clock = if self.trace.times.is_some() { options.clock } else { Clock::Index };
        let length = Interval { low: every, high: Some(every) }
            .ticks(clock, options.unit)
            .map_err(|error| {
                Error::Usage(match error {
                    IntervalError::UnitWithoutTime => format!(
                        "`every {every}`: {} has no timestamps, so windows count positions; leave the unit out, or \
                         name the column of timestamps with `--time COL`",
                        loaded.name
                    ),
                    _ => format!("`every {every}`: {error}"),
                })
            })?
            .low;
        if length <= 0 {
            return Err(Error::Usage(format!("`every {every}`: a window must be longer than nothing")));
        }
        let (mut starts, mut labels) = (Vec::new(), Vec::new());
        let style = loaded.summary.style;
        for (segment, label) in self.labels.iter().enumerate() {
            let (start, end) = (self.trace.starts()[segment], self.trace.segment_end(segment));
            let mut current = None;
            for at in start..end {
                let place = match (&self.trace.times, clock) {
                    (Some(times), Clock::Stamps | Clock::Dense) => times[at],
                    _ => (at - start) as i64,
                };
                let window = place.div_euclid(length);
                if current == Some(window) {
                    continue;
                }
                current = Some(window);
                let edge = |window: i64| {
                    let place = window.saturating_mul(length);
                    match (clock, style) {
                        (Clock::Stamps | Clock::Dense, Some(style)) => {
                            Edge::Time(Stamp { time: place, style })
                        }
                        _ => Edge::Position(place as Position),
                    }
                };
                starts.push(at);
                let window = Some((edge(window), edge(window.saturating_add(1))));
                labels.push(Label { window, ..label.clone() });
            }
        }
        self.trace.to_mut().segments = Some(Segments { starts });
        self.labels = labels;
        Ok(())
    }
}

fn by(
    trace: &Trace,
    keys: Vec<Arc<str>>,
    ids: &[u32],
    name: &str,
    file: &str,
) -> Result<Divided<'static>, Error> {
    if trace.len > u32::MAX as usize {
        return Err(Error::Usage(format!(
            "`by` handles up to {} positions; this trace has {}",
            u32::MAX,
            trace.len
        )));
    }
    if keys.is_empty() {
        return Err(Error::Usage(format!("the column `{name}` of `by` has no value anywhere in {file}")));
    }
    let groups = Groups::of(keys.len(), ids);
    let trace = Cow::Owned(groups.apply(trace));
    let labels = keys.into_iter().map(|key| Label { key: Some(Value::Str(key)), window: None }).collect();
    Ok(Divided { trace, order: Some(groups.order), labels })
}

/// The distinct values of a column as text, in order of appearance, and the number of each position's (`u32::MAX`: null).
fn keys(column: &Column) -> (Vec<Arc<str>>, Cow<'static, [u32]>) {
    let (mut keys, mut numbers): (Vec<Arc<str>>, FxHashMap<Arc<str>, u32>) = Default::default();
    let mut number = |value: Value| {
        let text: Arc<str> = match value {
            Value::Null => return u32::MAX,
            Value::Str(text) => text,
            other => other.to_string().into(),
        };
        *numbers.entry(text.clone()).or_insert_with(|| {
            keys.push(text);
            (keys.len() - 1) as u32
        })
    };
    let ids = (0..column.len()).map(|at| number(column.value(at))).collect();
    (keys, Cow::Owned(ids))
}

/// The trace as a program with fewer roots reads it: atoms and terms are numbered per program.
pub(super) fn restrict<'t>(trace: &'t Trace, from: &Specification, to: &Specification) -> Cow<'t, Trace> {
    let (atoms, terms) = (from.program.atoms(), from.program.terms());
    let (kept_atoms, kept_terms) = (to.program.atoms(), to.program.terms());
    if atoms == kept_atoms && (terms == kept_terms || trace.terms.is_empty()) {
        return Cow::Borrowed(trace);
    }
    let atom = |id: &tw_ir::NodeId| atoms.binary_search(id).ok().map(|index| trace.atoms[index].clone());
    let term =
        |id: &tw_ir::NodeId| terms.binary_search(id).ok().and_then(|index| trace.terms.get(index).cloned());
    Cow::Owned(Trace {
        len: trace.len,
        atoms: kept_atoms.iter().filter_map(atom).collect(),
        times: trace.times.clone(),
        slots: trace.slots.clone(),
        terms: kept_terms.iter().filter_map(term).collect(),
        relations: trace.relations.clone(),
        signals: Vec::new(),
        segments: trace.segments.clone(),
    })
}
