//! What the three forms of the first runtime-verification competition (CSRV 2014) share: an event is a name and fields
//! with values, and one event is one position.
//!
//! Fields are the row's variables and the event's arguments, by name. The field called `time` (or `--time`) is the
//! timestamp. A field that occurs several times in one event is a list of its values. Without a type system in the
//! format, values are text whose use says what they are.

#[cfg(test)]
mod tests;

use super::line::{Names, reset, stamp_at, too_many};
use super::writing::{cell_text, inexpressible, stamp_of};
use crate::{Arguments, Event, ReadOptions, Row, Stamps, TraceError, TraceErrorKind, quote};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::Arc;
use tw_core::Value;

/// Fields up to which a repeated one is found by looking at each.
const FEW: usize = 16;

/// Assembles a row from the parts of an event as they are read.
pub(super) struct Assembler {
    names: Names,
    time: String,
    stamps: Stamps,
    most: usize,
    index: FxHashMap<Arc<str>, usize>,
    repeated: Vec<bool>,
}

impl Assembler {
    pub(super) fn new(options: &ReadOptions) -> Self {
        Self {
            names: Names::default(),
            time: options.time.clone().unwrap_or_else(|| "time".to_string()),
            stamps: options.stamps(),
            most: options.max_columns,
            index: FxHashMap::default(),
            repeated: Vec::new(),
        }
    }

    /// Begins the event that starts on `line`.
    pub(super) fn begin(&mut self, row: &mut Row, line: u64) {
        reset(row, line);
        self.index.clear();
        self.repeated.clear();
    }

    /// Names the event.
    pub(super) fn name(&mut self, row: &mut Row, name: &str) {
        row.events.push(Event { name: self.names.get(name), arguments: Arguments::OfRow });
    }

    /// Adds a field whose value stands at a place.
    pub(super) fn field(
        &mut self,
        row: &mut Row,
        name: &str,
        value: Value,
        (line, column): (u64, u64),
    ) -> Result<(), TraceError> {
        if name == self.time {
            let text = if let Value::Str(text) = &value { text } else { "" };
            if row.time.is_some() {
                let message = format!("the timestamp {} is the event's second", quote(name));
                return Err(TraceError::new(TraceErrorKind::Time, message).at(line, column));
            }
            row.time = Some(stamp_at(text, self.stamps, line, column)?);
            return Ok(());
        }
        let known = if row.variables.len() <= FEW {
            row.variables.iter().position(|(known, _)| **known == *name)
        } else {
            if self.index.is_empty() {
                self.index.extend(row.variables.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)));
            }
            self.index.get(name).copied()
        };
        match known {
            None if row.variables.len() == self.most => return Err(too_many(self.most, "fields", line)),
            None => {
                let name = self.names.get(name);
                if !self.index.is_empty() {
                    self.index.insert(name.clone(), row.variables.len());
                }
                row.variables.push((name, value));
                self.repeated.push(false);
            }
            Some(at) => match &mut row.variables[at].1 {
                Value::List(values) if self.repeated[at] => values.push(value),
                first => {
                    let values = vec![std::mem::replace(first, Value::Null), value];
                    *first = Value::List(values);
                    self.repeated[at] = true;
                }
            },
        }
        Ok(())
    }
}

/// The field `field = value` expected where something else was found.
pub(super) const FIELD: &str = "'field = value'";

/// A field to write: its name and its value, null or text.
pub(super) type Field<'r> = (Cow<'r, str>, Option<Cow<'r, str>>);

/// The event of a row as its name and fields, the timestamp first, in the order of the row. Arguments without names are
/// called `arg1`, `arg2`, …
pub(super) fn parts<'r>(
    row: &'r Row,
    has_time: bool,
    format: &str,
) -> Result<(&'r str, Vec<Field<'r>>), TraceError> {
    let event = match row.events.as_slice() {
        [event] => event,
        [] => return Err(inexpressible(row, "a position without an event", format, "csv` or `jsonl")),
        _ => return Err(inexpressible(row, "several events at one position", format, "monpoly")),
    };
    if event.name.is_empty() {
        return Err(inexpressible(row, "an event without a name", format, "jsonl"));
    }
    let mut fields: Vec<Field<'r>> = Vec::new();
    if has_time {
        fields.push((Cow::Borrowed("time"), Some(Cow::Owned(stamp_of(row)?.format()))));
    }
    if let Arguments::Positional(values) = &event.arguments {
        if let Some((name, _)) = row.variables.iter().find(|(_, value)| !value.is_null()) {
            let what = format!("variable {} beside an event whose arguments have no names", quote(name));
            return Err(inexpressible(row, &what, format, "jsonl"));
        }
        for (index, value) in values.iter().enumerate() {
            push(&mut fields, row, Cow::Owned(format!("arg{}", index + 1)), value, format)?;
        }
    }
    for (name, value) in row.variables.iter().filter(|(_, value)| !value.is_null()) {
        if **name == *"time" {
            let message = "the variable `time` would be read back as the timestamp; rename it first";
            return Err(TraceError {
                line: Some(row.line),
                ..TraceError::new(TraceErrorKind::Usage, message)
            });
        }
        if name.is_empty() {
            return Err(inexpressible(row, "a variable without a name", format, "jsonl"));
        }
        push(&mut fields, row, Cow::Borrowed(name), value, format)?;
    }
    Ok((&event.name, fields))
}

fn push<'r>(
    fields: &mut Vec<Field<'r>>,
    row: &'r Row,
    name: Cow<'r, str>,
    value: &'r Value,
    format: &str,
) -> Result<(), TraceError> {
    let values = match value {
        // Read back as a list only if the field occurs more than once.
        Value::List(values) if values.len() > 1 => values.as_slice(),
        _ => std::slice::from_ref(value),
    };
    for value in values {
        fields.push((name.clone(), cell_text(row, value, || format!("field {}", quote(&name)), format)?));
    }
    Ok(())
}

/// A name or value that must fit on one line.
pub(super) fn one_line<'t>(row: &Row, text: &'t str, format: &str) -> Result<&'t str, TraceError> {
    if text.contains(['\n', '\r']) {
        let what = format!("the line break in {}", quote(text));
        return Err(inexpressible(row, &what, format, "csrv-xml` or `jsonl"));
    }
    Ok(text)
}
