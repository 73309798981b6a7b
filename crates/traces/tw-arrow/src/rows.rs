//! Record batches as rows.

use crate::cell::{stamp, value};
use crate::guarded;
use arrow::array::{Array, RecordBatch};
use arrow::datatypes::SchemaRef;
use std::collections::HashSet;
use std::sync::Arc;
use tw_core::Value;
use tw_ir::Path;
use tw_trace::{
    Arguments, Event, ReadOptions, Row, RowSource, Stamps, TimePlace, TraceError, TraceErrorKind, quote,
};

/// Delivers record batches.
pub(crate) trait Batches: Send {
    /// The next one.
    fn next(&mut self) -> Result<Option<RecordBatch>, TraceError>;
}

/// What each column is.
pub(crate) struct Layout {
    pub(crate) time: Option<usize>,
    pub(crate) event: Option<usize>,
    /// Where they stand instead: inside columns, or in several of them. Only rows are read so.
    pub(crate) time_place: Option<TimePlace>,
    pub(crate) event_path: Option<Path>,
    pub(crate) variables: Vec<(usize, Arc<str>)>,
    pub(crate) names: Vec<Arc<str>>,
    pub(crate) stamps: Stamps,
}

impl Layout {
    pub(crate) fn new(schema: &SchemaRef, options: &ReadOptions) -> Result<Self, TraceError> {
        let usage = |message| TraceError::new(TraceErrorKind::Usage, message);
        let names: Vec<Arc<str>> = schema.fields().iter().map(|field| field.name().as_str().into()).collect();
        if names.len() > options.max_columns {
            let message =
                format!("this file has {} columns, beyond the limit of {}", names.len(), options.max_columns);
            return Err(TraceError::new(TraceErrorKind::Budget, message));
        }
        let mut seen = HashSet::new();
        if let Some(twice) = names.iter().find(|name| !seen.insert(name.to_string())) {
            let message =
                format!("found the column {} twice, expected columns with different names", quote(twice));
            return Err(TraceError::new(TraceErrorKind::Syntax, message));
        }
        let find = |wanted: &Option<String>, default: &str| {
            let name = wanted.as_deref().unwrap_or(default);
            let found = names.iter().position(|known| **known == *name);
            if found.is_none() && wanted.is_some() {
                let hint = match tw_core::suggest(name, names.iter().map(|name| &**name)) {
                    Some(near) => format!("; did you mean `{near}`?"),
                    None => String::new(),
                };
                return Err(usage(format!(
                    "`⟨{default}: {name}⟩`: this file has no column {}{hint}",
                    quote(name)
                )));
            }
            Ok(found)
        };
        let has = |name: &str| names.iter().any(|known| **known == *name);
        let elsewhere = |wanted: &Option<String>| match wanted {
            Some(name) if !has(name) => TimePlace::of(name).filter(|place| place.columns().all(has)),
            _ => None,
        };
        let time_place = elsewhere(&options.time);
        let time = if time_place.is_some() { None } else { find(&options.time, "time")? };
        let inside = options.event.as_ref().filter(|name| name.contains('.') && !name.contains(' '));
        let event_path = inside.filter(|_| elsewhere(&options.event).is_some()).map(|name| Path::parse(name));
        let event = if event_path.is_some() { None } else { find(&options.event, "event")? };
        if time.is_some() && time == event {
            return Err(usage(
                "the timestamp and the event name cannot be the same column (`⟨time⟩`, `⟨event⟩`)".into(),
            ));
        }
        let variables =
            names.iter().cloned().enumerate().filter(|(at, _)| ![time, event].contains(&Some(*at))).collect();
        Ok(Self { time, event, time_place, event_path, variables, names, stamps: options.stamps() })
    }

    /// Whether rows have events.
    pub(crate) fn has_events(&self) -> bool {
        self.event.is_some() || self.event_path.is_some()
    }

    /// Whether columns alone do not say when and what happens.
    pub(crate) fn needs_rows(&self) -> bool {
        self.time_place.is_some() || self.event_path.is_some()
    }

    /// The column of a variable.
    pub(crate) fn variable(&self, name: &str) -> Option<usize> {
        self.variables.iter().find(|(_, known)| **known == *name).map(|(index, _)| *index)
    }
}

/// Rows of batches.
pub(crate) struct Source<B> {
    batches: B,
    layout: Arc<Layout>,
    batch: Option<RecordBatch>,
    at: usize,
    row: u64,
}

impl<B: Batches> Source<B> {
    pub(crate) fn new(batches: B, layout: impl Into<Arc<Layout>>) -> Self {
        Self { batches, layout: layout.into(), batch: None, at: 0, row: 0 }
    }
}

impl<B: Batches> RowSource for Source<B> {
    fn next(&mut self, row: &mut Row) -> Result<bool, TraceError> {
        let batch = loop {
            match &self.batch {
                Some(batch) if self.at < batch.num_rows() => break batch,
                _ => {
                    self.batch = self.batches.next()?;
                    self.at = 0;
                    if self.batch.is_none() {
                        return Ok(false);
                    }
                }
            }
        };
        let (at, line) = (self.at, self.row + 1);
        self.at += 1;
        self.row = line;
        row.line = line;
        row.typed = true;
        row.time = None;
        row.variables.clear();
        row.events.clear();
        // A column at a place of the schema is one of the batch, unless the file contradicts itself.
        let column = |index: usize| -> Result<&dyn Array, TraceError> {
            batch.columns().get(index).map(|column| &**column).ok_or_else(|| {
                let message =
                    format!("found a batch without the column {}", quote(&self.layout.names[index]));
                TraceError::new(TraceErrorKind::Syntax, message).at(line, 1)
            })
        };
        let place = |index: usize| index as u64 + 1;
        if let Some(index) = self.layout.time {
            row.time = stamp(column(index)?, at, self.layout.stamps).map_err(|reason| {
                let message = format!("`{}`: {reason}", self.layout.names[index]);
                TraceError::new(TraceErrorKind::Time, message).at(line, place(index))
            })?;
        }
        if let Some(index) = self.layout.event {
            match value(column(index)?, at, 0) {
                Ok(Value::Null) => {}
                Ok(Value::Str(name)) if !name.is_empty() => {
                    row.events.push(Event { name, arguments: Arguments::OfRow });
                }
                other => {
                    let found = match other {
                        Ok(value) => value.kind().to_string(),
                        Err(error) => error.found,
                    };
                    let message = format!(
                        "`{}`: found {found}, expected the event's name as text, or null",
                        self.layout.names[index]
                    );
                    return Err(TraceError::new(TraceErrorKind::Type, message).at(line, place(index)));
                }
            }
        }
        for (index, name) in &self.layout.variables {
            let cell = value(column(*index)?, at, 0)
                .map_err(|error| error.into_trace_error(name, None).at(line, place(*index)))?;
            row.variables.push((name.clone(), cell));
        }
        if let Some(path) = &self.layout.event_path {
            match tw_trace::value_at(row, path) {
                Value::Null => {}
                Value::Str(name) if !name.is_empty() => {
                    row.events.push(Event { name, arguments: Arguments::OfRow });
                }
                other => {
                    let found = other.kind();
                    let message =
                        format!("`{path}`: found {found}, expected the event's name as text, or null");
                    return Err(TraceError::new(TraceErrorKind::Type, message).at(line, 1));
                }
            }
        }
        if let Some(place) = &self.layout.time_place {
            let stamp = place.stamp(row, self.layout.stamps);
            row.time = stamp.map_err(|message| TraceError::new(TraceErrorKind::Time, message).at(line, 1))?;
            if row.time.is_none() && line == 1 {
                let name = place.name();
                let message = format!("found no timestamp, expected `{name}` that `⟨time⟩` names");
                return Err(TraceError::new(TraceErrorKind::Time, message).naming(name).at(line, 1));
            }
            place.take_out(row);
        }
        Ok(true)
    }

    fn header(&self) -> Option<Vec<Arc<str>>> {
        Some(self.layout.variables.iter().map(|(_, name)| name.clone()).collect())
    }

    fn has_events(&self) -> bool {
        self.layout.has_events()
    }
}

impl Batches for std::vec::IntoIter<RecordBatch> {
    fn next(&mut self) -> Result<Option<RecordBatch>, TraceError> {
        Ok(Iterator::next(self))
    }
}

/// Batches from an iterator of the libraries.
pub(crate) struct Iterated<I> {
    pub(crate) iterator: I,
    pub(crate) kind: &'static str,
}

impl<E: std::fmt::Display, I: Iterator<Item = Result<RecordBatch, E>> + Send> Batches for Iterated<I> {
    fn next(&mut self) -> Result<Option<RecordBatch>, TraceError> {
        guarded(self.kind, || self.iterator.next().transpose())
    }
}
