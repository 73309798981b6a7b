//! Writes CSV: cells, for whoever prints a table, and rows, for `convert`.

use crate::{Arguments, Outline, Row, RowSink, TraceError, TraceErrorKind, quote};
use rustc_hash::{FxHashMap, FxHashSet};
use std::io::{BufWriter, Write};
use std::sync::Arc;
use tw_core::Value;

/// Appends a cell of RFC 4180. Spreadsheets take a text that begins with `=`, `+`, `-`, `@`, a tab or a carriage return
/// for a formula, and run it; with `guard` an apostrophe stands before it, unless it is a number.
pub fn push_csv_cell(text: &str, guard: bool, out: &mut String) {
    let quoted = text.contains([',', '"', '\n', '\r']);
    if quoted {
        out.push('"');
    }
    if guard && text.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_plain_number(text) {
        out.push('\'');
    }
    if quoted {
        out.push_str(&text.replace('"', "\"\""));
        out.push('"');
    } else {
        out.push_str(text);
    }
}

/// A number as spreadsheets read it too: `-007`, `+1` and `-0.5e3`, but no `-inf`.
fn is_plain_number(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_digit() || b".eE+-".contains(&byte);
    text.bytes().all(plain) && text.parse::<f64>().is_ok()
}

/// Rows to text. The timestamp goes to a column `time`, an event's name to a column `event`; arguments without names
/// to columns `arg1`, `arg2`, …; lists and objects are written as JSON.
pub(super) struct Writer<'a> {
    out: BufWriter<Box<dyn Write + 'a>>,
    columns: FxHashMap<Arc<str>, usize>,
    has_time: bool,
    has_event: bool,
    guard: bool,
    /// The cells of a row.
    cells: Vec<String>,
    /// Cells written so far: those with something in them, and all.
    filled: u64,
    written: u64,
}

/// Cells that may be written however empty they are …
const CELLS: u64 = 1 << 28;
/// … and, beyond, how many there may be for each that has something in it.
const SPARSE: u64 = 1_000;

impl<'a> Writer<'a> {
    pub fn new(
        out: Box<dyn Write + 'a>,
        Outline { columns, has_time, has_event, guard, .. }: Outline<'_>,
    ) -> Result<Self, TraceError> {
        let reserved = [("time", has_time), ("event", has_event)].into_iter().filter(|(_, has)| *has);
        let mut header: Vec<Arc<str>> = reserved.map(|(name, _)| name.into()).collect();
        header.extend(columns.iter().cloned());
        let mut seen = FxHashSet::default();
        if let Some(name) = header.iter().find(|name| name.is_empty() || !seen.insert(Arc::clone(name))) {
            let message =
                format!("the column {} cannot be written to CSV: its name is empty or taken", quote(name));
            return Err(TraceError::new(TraceErrorKind::Usage, message));
        }
        let mut writer = Self {
            out: BufWriter::with_capacity(1 << 16, out),
            columns: header.iter().enumerate().map(|(number, name)| (Arc::clone(name), number)).collect(),
            has_time,
            has_event,
            guard,
            cells: header.iter().map(|name| name.to_string()).collect(),
            filled: 0,
            written: 0,
        };
        if !header.is_empty() {
            writer.flush_cells()?;
            // The header is full, whatever the rows are.
            (writer.filled, writer.written) = (0, 0);
        }
        Ok(writer)
    }

    fn flush_cells(&mut self) -> Result<(), TraceError> {
        let mut line = String::new();
        self.written += self.cells.len() as u64;
        for (number, cell) in self.cells.iter_mut().enumerate() {
            self.filled += u64::from(!cell.is_empty());
            if number > 0 {
                line.push(',');
            }
            push_csv_cell(cell, self.guard, &mut line);
            cell.clear();
        }
        line.push('\n');
        self.out.write_all(line.as_bytes()).map_err(|error| crate::input::describe(&error))
    }

    fn put(&mut self, name: &str, value: &Value, row: &Row) -> Result<(), TraceError> {
        let Some(&number) = self.columns.get(name) else {
            return Err(refuse(
                row,
                format!("the trace has {} here, which was not among its columns", quote(name)),
            ));
        };
        let cell = &mut self.cells[number];
        match value {
            Value::Null => {}
            Value::Str(text) if text.is_empty() && row.typed => {
                let message =
                    format!("an empty text in {} would be null in CSV; convert to `jsonl`", quote(name));
                return Err(refuse(row, message));
            }
            Value::List(_) | Value::Object(_) => json(value, cell),
            other => cell.push_str(&other.to_string()),
        }
        Ok(())
    }
}

fn refuse(row: &Row, message: String) -> TraceError {
    TraceError::new(TraceErrorKind::Usage, message).at(row.line, 1)
}

impl RowSink for Writer<'_> {
    fn write(&mut self, row: &Row) -> Result<(), TraceError> {
        if self.columns.is_empty() {
            return Err(refuse(row, "a row without any column cannot be written to CSV".to_string()));
        }
        if self.written > CELLS && self.written / SPARSE > self.filled {
            let message = format!(
                "the trace has {} columns in all and next to none of them in a row: CSV would be empty cells, more than {} for \
                 each value; ⟨to: jsonl⟩ writes what is there",
                self.columns.len(),
                SPARSE
            );
            return Err(TraceError::new(TraceErrorKind::Budget, message).at(row.line, 1));
        }
        for (name, value) in &row.variables {
            self.put(name, value, row)?;
        }
        if let Some(stamp) = row.time
            && self.has_time
        {
            self.cells[0] = stamp.format();
        }
        match row.events.as_slice() {
            [] => {}
            [event] if self.has_event => {
                self.cells[usize::from(self.has_time)] = event.name.to_string();
                if let Arguments::Positional(values) = &event.arguments {
                    if values.last().is_some_and(Value::is_null) {
                        let event = quote(&event.name);
                        let message = format!(
                            "the last argument of {event} is null, which CSV cannot tell from one that is not there; convert to `jsonl`"
                        );
                        return Err(refuse(row, message));
                    }
                    for (index, value) in values.iter().enumerate() {
                        self.put(&format!("arg{}", index + 1), value, row)?;
                    }
                }
            }
            [_] => {
                return Err(refuse(row, "the trace has an event here, which was not announced".to_string()));
            }
            events => {
                let message = format!(
                    "{} events happen at this position, and a CSV row has room for one; `⟨to: jsonl⟩` or `⟨to: monpoly⟩` keeps them together",
                    events.len()
                );
                return Err(refuse(row, message));
            }
        }
        self.flush_cells()
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        self.out.flush().map_err(|error| crate::input::describe(&error))
    }
}

/// A value as JSON text, without recursion: nesting may be deep.
fn json(value: &Value, out: &mut String) {
    enum Todo<'v> {
        Value(&'v Value),
        Key(&'v str),
        Text(&'static str),
    }
    let mut todo = vec![Todo::Value(value)];
    while let Some(next) = todo.pop() {
        match next {
            Todo::Text(text) => out.push_str(text),
            Todo::Key(key) => {
                out.push_str(&serde_json::Value::from(key).to_string());
                out.push(':');
            }
            Todo::Value(Value::List(items)) => {
                out.push('[');
                todo.push(Todo::Text("]"));
                for (index, item) in items.iter().enumerate().rev() {
                    todo.push(Todo::Value(item));
                    if index > 0 {
                        todo.push(Todo::Text(","));
                    }
                }
            }
            Todo::Value(Value::Object(fields)) => {
                out.push('{');
                todo.push(Todo::Text("}"));
                for (index, (key, item)) in fields.iter().enumerate().rev() {
                    todo.push(Todo::Value(item));
                    todo.push(Todo::Key(key));
                    if index > 0 {
                        todo.push(Todo::Text(","));
                    }
                }
            }
            Todo::Value(Value::Str(text)) => out.push_str(&serde_json::Value::from(&**text).to_string()),
            Todo::Value(other) => out.push_str(&other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that have hardly anything in common are not written out to what their columns and rows multiply to.
    #[test]
    fn columns_that_are_nearly_always_empty_are_refused() {
        let columns: Vec<Arc<str>> = (0..300_000).map(|at| Arc::from(format!("k{at}"))).collect();
        let outline = || Outline { columns: &columns, ..Outline::default() };
        let row = |at: usize| Row { variables: vec![(columns[at].clone(), Value::Int(1))], ..Row::default() };
        let mut writer = Writer::new(Box::new(std::io::sink()), outline()).unwrap();
        let refused = (0..columns.len()).find_map(|at| writer.write(&row(at)).err().map(|error| (at, error)));
        let (at, error) = refused.expect("it is refused");
        assert!(at < 1_000, "at row {at}");
        assert_eq!(error.kind, TraceErrorKind::Budget);
        assert!(
            error.message.contains("300000 columns") && error.message.contains("⟨to: jsonl⟩"),
            "{error:?}"
        );
    }
}
