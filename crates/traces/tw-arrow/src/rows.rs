//! Record batches as rows.

use crate::cell::{stamp, value};
use crate::guarded;
use arrow::array::{Array, RecordBatch};
use arrow::datatypes::SchemaRef;
use std::collections::HashSet;
use std::sync::Arc;
use tw_core::Value;
use tw_trace::{Arguments, Event, ReadOptions, Row, RowSource, Stamps, TraceError, TraceErrorKind, quote};

/// Delivers record batches.
pub(crate) trait Batches: Send {
    /// The next one.
    fn next(&mut self) -> Result<Option<RecordBatch>, TraceError>;
}

/// What each column is.
pub(crate) struct Layout {
    pub(crate) time: Option<usize>,
    pub(crate) event: Option<usize>,
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
        let time = find(&options.time, "time")?;
        let event = find(&options.event, "event")?;
        if time.is_some() && time == event {
            return Err(usage(
                "the timestamp and the event name cannot be the same column (`⟨time⟩`, `⟨event⟩`)".into(),
            ));
        }
        let variables =
            names.iter().cloned().enumerate().filter(|(at, _)| ![time, event].contains(&Some(*at))).collect();
        Ok(Self { time, event, variables, names, stamps: options.stamps() })
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
        Ok(true)
    }

    fn header(&self) -> Option<Vec<Arc<str>>> {
        Some(self.layout.variables.iter().map(|(_, name)| name.clone()).collect())
    }

    fn has_events(&self) -> bool {
        self.layout.event.is_some()
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
