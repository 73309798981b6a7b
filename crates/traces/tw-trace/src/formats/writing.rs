//! What the writers share. None of them drops data silently: what a format cannot express is an error that names it and a
//! format that can.

use crate::{Row, Stamp, TraceError, TraceErrorKind};
use std::borrow::Cow;
use std::io::Write;
use tw_core::Value;

/// Text handed over line by line (or record by record).
pub(super) struct Lined<'a> {
    out: Box<dyn Write + 'a>,
    /// The line in the making.
    pub(super) line: String,
}

impl<'a> Lined<'a> {
    /// Writes to `out`.
    pub(super) fn new(out: Box<dyn Write + 'a>) -> Self {
        Self { out, line: String::new() }
    }

    /// Ends the line.
    pub(super) fn end(&mut self) -> Result<(), TraceError> {
        self.line.push('\n');
        self.out.write_all(self.line.as_bytes()).map_err(unwritable)?;
        self.line.clear();
        Ok(())
    }

    /// Hands over what remains.
    pub(super) fn finish(&mut self) -> Result<(), TraceError> {
        self.out.write_all(self.line.as_bytes()).and_then(|()| self.out.flush()).map_err(unwritable)?;
        self.line.clear();
        Ok(())
    }
}

fn unwritable(error: std::io::Error) -> TraceError {
    TraceError::new(TraceErrorKind::Io, format!("cannot write: {error}"))
}

/// `what` at this row cannot be written in `format`; `others` can hold it (names joined by "` or `").
pub(super) fn inexpressible(row: &Row, what: &str, format: &str, others: &str) -> TraceError {
    let message = format!("`{format}` cannot hold {what}; convert to `{others}`");
    TraceError { line: Some(row.line), ..TraceError::new(TraceErrorKind::Usage, message) }
}

/// The row's timestamp, in a trace where rows have them.
pub(super) fn stamp_of(row: &Row) -> Result<Stamp, TraceError> {
    row.time.ok_or_else(|| {
        let message = "this position has no timestamp, and others have; either all have one or none";
        TraceError { line: Some(row.line), ..TraceError::new(TraceErrorKind::Usage, message) }
    })
}

/// What a value is worth as a proposition, if it can be one; null is false.
pub(super) fn truth(value: &Value, typed: bool) -> Option<bool> {
    match value {
        Value::Null => Some(false),
        Value::Bool(bool) => Some(*bool),
        Value::Int(0) => Some(false),
        Value::Int(1) => Some(true),
        Value::Str(text) if !typed => match &**text {
            "true" | "1" => Some(true),
            "false" | "0" | "" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// A value as the text of a cell, unless it is nested; null is `None` within.
pub(super) fn scalar(value: &Value) -> Option<Option<Cow<'_, str>>> {
    match value {
        Value::Null => Some(None),
        Value::Str(text) => Some(Some(Cow::Borrowed(text))),
        Value::Bool(_) | Value::Int(_) | Value::Real(_) => Some(Some(Cow::Owned(value.to_string()))),
        Value::List(_) | Value::Object(_) => None,
    }
}
