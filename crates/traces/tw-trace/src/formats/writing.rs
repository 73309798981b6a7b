//! What the writers share. None of them drops data silently: what a format cannot express is an error that names it and a
//! format that can.

use crate::{Arguments, Event, Row, Stamp, TraceError, TraceErrorKind, quote};
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

/// A value as the text of a cell; null is `None`. `place` says where it stands. Data in data has no such text, and a
/// cell without text would be null.
pub(super) fn cell_text<'v>(
    row: &Row,
    value: &'v Value,
    place: impl FnOnce() -> String,
    format: &str,
) -> Result<Option<Cow<'v, str>>, TraceError> {
    match value {
        Value::Null => Ok(None),
        Value::Str(text) if text.is_empty() && row.typed => {
            let what = format!("an empty text as {}, which would be null", place());
            Err(inexpressible(row, &what, format, "jsonl"))
        }
        Value::Str(text) => Ok(Some(Cow::Borrowed(text))),
        Value::Bool(_) | Value::Int(_) | Value::Real(_) => Ok(Some(Cow::Owned(value.to_string()))),
        Value::List(_) | Value::Object(_) => {
            let what = format!("{} as {}", value.kind(), place());
            Err(inexpressible(row, &what, format, "jsonl"))
        }
    }
}

/// The arguments of an event by position. Those that have names lose them, and must not change places thereby: of names
/// `arg1`, `arg2`, … each has its own; otherwise they stand in order, and none may be null before another.
pub(super) fn positional<'r>(
    row: &'r Row,
    event: &'r Event,
    format: &str,
) -> Result<Vec<&'r Value>, TraceError> {
    if let Arguments::Positional(values) = &event.arguments {
        return Ok(values.iter().collect());
    }
    let number =
        |name: &str| name.strip_prefix("arg")?.parse::<usize>().ok().filter(|n| (1..=ARGUMENTS).contains(n));
    let mut values: Vec<&Value> = Vec::new();
    if row.variables.iter().all(|(name, _)| number(name).is_some()) {
        for (name, value) in &row.variables {
            let at = number(name).unwrap_or(1);
            values.resize(values.len().max(at), &Value::Null);
            values[at - 1] = value;
        }
    } else {
        let last = row.variables.iter().rposition(|(_, value)| !value.is_null());
        for (at, (name, value)) in row.variables.iter().enumerate() {
            // In a table a cell that is empty is no argument; an object says of each whether it has it.
            if value.is_null() && (row.typed || last.is_some_and(|last| at < last)) {
                let what = format!(
                    "the null {} among the arguments of {}, by position",
                    quote(name),
                    quote(&event.name)
                );
                return Err(inexpressible(row, &what, format, "jsonl"));
            }
            values.push(value);
        }
    }
    // An empty cell at the end of a table's row is an argument that is not there.
    while !row.typed && values.last().is_some_and(|value| value.is_null()) {
        values.pop();
    }
    Ok(values)
}

/// As many as are taken by number.
const ARGUMENTS: usize = 1 << 10;
