//! Parts of a trace, each a trace of its own: `by` in options, `by user`, `every 1m`.
//!
//! Positions are sorted by key (stably, by counting), laid end to end and evaluated as segments: an engine runs once,
//! whatever the number of keys. Positions where the key is null belong to no part. Windows cut each part further.

use super::columns::{Keys, Loaded};
use crate::Error;
use crate::error::Setting;
use std::borrow::Cow;
use std::sync::Arc;
use tw_core::{Column, Position, TimeUnit, Value};
use tw_ir::{Bound, Clock, Division, Interval, IntervalError};
use tw_monitor::{EvaluateOptions, Segments, Trace};
use tw_trace::Stamp;

/// An end of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Edge {
    /// An instant.
    Time(Stamp),
    /// A position.
    Position(Position),
}

/// What distinguishes a part.
#[derive(Clone, Debug, Default)]
pub(crate) struct Label {
    pub key: Option<Value>,
    pub window: Option<(Edge, Edge)>,
}

/// What distinguishes the segments of a trace, in their order.
#[derive(Clone, Debug)]
pub(crate) enum Labels {
    /// There is one, the whole trace.
    Whole,
    /// Values of a column: kept by the text alone, there may be many.
    Keys(Vec<Arc<str>>),
    /// Windows of the trace, or of each key's.
    Windows(Vec<Label>),
}

impl Labels {
    /// How many segments there are.
    pub fn len(&self) -> usize {
        match self {
            Labels::Whole => 1,
            Labels::Keys(keys) => keys.len(),
            Labels::Windows(labels) => labels.len(),
        }
    }

    /// What distinguishes a segment.
    pub fn get(&self, segment: usize) -> Label {
        match self {
            Labels::Whole => Label::default(),
            Labels::Keys(keys) => Label { key: Some(Value::Str(keys[segment].clone())), window: None },
            Labels::Windows(labels) => labels[segment].clone(),
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Label> + '_ {
        (0..self.len()).map(|segment| self.get(segment))
    }
}

/// Where the positions of a divided trace stand in the log: sorted by key, or as they are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order(Option<Vec<u32>>);

impl Order {
    /// Where a position stands in the log.
    pub fn original(&self, position: Position) -> Position {
        self.0.as_ref().map_or(position, |order| order[position] as Position)
    }

    /// Whether positions were sorted by key.
    pub fn by_key(&self) -> bool {
        self.0.is_some()
    }

    /// What belongs to positions of the log, for those of the divided trace.
    pub fn gather<T: Copy>(&self, column: Vec<T>) -> Vec<T> {
        match &self.0 {
            Some(order) => order.iter().map(|&at| column[at as usize]).collect(),
            None => column,
        }
    }
}

/// A trace whose segments are the parts.
pub(crate) struct Divided<'t> {
    pub trace: Cow<'t, Trace>,
    pub order: Order,
    pub labels: Labels,
}

impl<'t> Divided<'t> {
    /// Divides `trace`. The keys are those of a column that was kept, or those that were read beside the slots.
    pub fn new(
        division: &Division,
        column: Option<&Column>,
        loaded: &Loaded,
        trace: Cow<'t, Trace>,
        options: &EvaluateOptions,
    ) -> Result<Self, Error> {
        let mut divided = match &division.by {
            None => Divided { trace, order: Order(None), labels: Labels::Whole },
            Some(path) => {
                let of_column;
                let keys = match (column, &loaded.keys) {
                    (Some(column), _) => {
                        of_column = keys_of(column);
                        Some(&of_column)
                    }
                    (None, keys) => keys.as_ref(),
                };
                let (names, ids) = keys.map_or((&[][..], &[][..]), |keys| (&keys.names, &keys.ids));
                by(&trace, names, ids, &path.to_string(), loaded.name())?
            }
        };
        if let Some(every) = division.every {
            divided.cut(every, loaded, options)?;
        }
        Ok(divided)
    }

    /// Cuts every part into windows. Times do not decrease, so a window is a stretch of positions.
    fn cut(&mut self, every: Bound, loaded: &Loaded, options: &EvaluateOptions) -> Result<(), Error> {
        let clock = if self.trace.times.is_some() { options.clock } else { Clock::Index };
        let length = length(every, clock, loaded, options)?;
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
        self.labels = Labels::Windows(labels);
        Ok(())
    }
}

/// The length of a window, in ticks of the clock.
fn length(every: Bound, clock: Clock, loaded: &Loaded, options: &EvaluateOptions) -> Result<i64, Error> {
    length_on(every, clock, loaded.name(), options.unit)
}

/// The same on a trace of that name.
pub(crate) fn length_on(every: Bound, clock: Clock, name: &str, unit: TimeUnit) -> Result<i64, Error> {
    let interval = Interval { low: every, high: Some(every) };
    let ticks = interval.ticks(clock, unit).map_err(|error| {
        Error::refused(match error {
            IntervalError::UnitWithoutTime => format!(
                "`every {every}`: {name} has no timestamps, so windows count positions; leave the unit out, or name the \
                 column of timestamps with `{}`",
                Setting::Time.to("COL")
            ),
            _ => format!("`every {every}`: {error}"),
        })
    })?;
    match ticks.low {
        length @ 1.. => Ok(length),
        _ => Err(Error::refused(format!("`every {every}`: a window must be longer than nothing"))),
    }
}

fn by(
    trace: &Trace,
    names: &[Arc<str>],
    ids: &[u32],
    column: &str,
    file: &str,
) -> Result<Divided<'static>, Error> {
    if trace.len > u32::MAX as usize {
        return Err(Error::refused(format!(
            "dividing by a column handles up to {} positions; this trace has {}",
            u32::MAX,
            trace.len
        )));
    }
    let groups = Groups::of(names.len(), ids);
    if groups.order.is_empty() {
        return Err(no_value(column, file));
    }
    let trace = Cow::Owned(trace.gather(&groups.order, groups.starts));
    Ok(Divided { trace, order: Order(Some(groups.order)), labels: Labels::Keys(names.to_vec()) })
}

/// A key that no position has.
pub(crate) fn no_value(column: &str, file: &str) -> Error {
    Error::refused(format!("the column `{column}`, which divides the trace, has no value anywhere in {file}"))
}

/// The distinct values of a column as text, and which of them each position has.
fn keys_of(column: &Column) -> Keys {
    let mut keys = Keys::default();
    keys.extend_values(column);
    keys
}

/// Positions sorted by key.
pub(crate) struct Groups {
    /// Original position of each sorted one.
    pub order: Vec<u32>,
    /// Where each key's stretch starts in `order`; the n-th stretch is the n-th key's.
    pub starts: Vec<usize>,
}

impl Groups {
    /// Of that many keys, from the key's number of each position (`u32::MAX`: no key).
    pub fn of(keys: usize, ids: &[u32]) -> Self {
        let mut counts = vec![0usize; keys];
        for &id in ids {
            if id != u32::MAX {
                counts[id as usize] += 1;
            }
        }
        let mut next = 0;
        let starts: Vec<usize> = counts
            .iter()
            .map(|count| {
                next += count;
                next - count
            })
            .collect();
        let mut fill = starts.clone();
        let mut order = vec![0u32; next];
        for (at, &id) in ids.iter().enumerate() {
            if id != u32::MAX {
                order[fill[id as usize]] = at as u32;
                fill[id as usize] += 1;
            }
        }
        Self { order, starts }
    }
}
