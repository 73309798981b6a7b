//! Positions one at a time: the definition of each format, and what `convert` and `inspect` work on.

use crate::{Calendar, Stamp, TraceError, TraceErrorKind, quote};
use std::sync::Arc;
use tw_core::Value;

/// One position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Line it starts on, from 1.
    pub line: u64,
    /// Timestamp.
    pub time: Option<Stamp>,
    /// Variables, in the order of the text, the time and event columns left out.
    pub variables: Vec<(Arc<str>, Value)>,
    /// Events.
    pub events: Vec<Event>,
    /// Whether values carry their own type (JSON). If not, every value is text as written (or null when empty), and its
    /// use decides what it is read as ([`Value::from_cell`] where use says nothing).
    pub typed: bool,
    /// Keys that its text has more than once in one object.
    pub repeated: Vec<Mark>,
    /// The reader has looked for keys that occur twice, here and deeper down, and found none.
    pub distinct: bool,
    /// Numbers that are too large to be held; they arrive as text.
    pub unfit: Vec<Mark>,
}

/// A piece of a row's text.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The text.
    pub text: Arc<str>,
    /// Line and column, from 1, where it stands.
    pub place: (u64, u64),
}

impl Row {
    /// The error that whoever reads the key finds.
    pub(crate) fn twice(&self, key: &str) -> TraceError {
        let found = self.repeated.iter().find(|repeated| *repeated.text == *key);
        let (line, column) = found.map_or((self.line, 1), |found| found.place);
        TraceError::new(TraceErrorKind::Syntax, twice(key)).at(line, column)
    }
}

pub(crate) fn twice(key: &str) -> String {
    format!("found the key {} for the second time in one object, expected it once", quote(key))
}

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Name.
    pub name: Arc<str>,
    /// Arguments.
    pub arguments: Arguments,
}

/// Arguments of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Arguments {
    /// By position (`events`, `monpoly`).
    Positional(Vec<Value>),
    /// The row's variables that are not null, by name (`csv`, `jsonl`, `json`, `csrv-*`).
    OfRow,
}

/// Delivers positions in order.
pub trait RowSource {
    /// The next position into `row` (which is overwritten); false at the end.
    fn next(&mut self, row: &mut Row) -> Result<bool, TraceError>;

    /// The columns every row has, if the format knows them beforehand (a header).
    fn header(&self) -> Option<Vec<Arc<str>>> {
        None
    }

    /// Whether the trace has a vocabulary of events even if none occurs (an event column).
    fn has_events(&self) -> bool {
        false
    }

    /// Where timestamps without years have come to, if it has read any.
    fn calendar(&self) -> Option<Calendar> {
        None
    }

    /// Line and column where the cell of a variable starts in the row delivered last, for messages.
    fn place(&self, variable: &str) -> Option<(u64, u64)> {
        let _ = variable;
        None
    }
}

/// Takes positions in order.
pub trait RowSink {
    /// Writes one position.
    fn write(&mut self, row: &Row) -> Result<(), TraceError>;
    /// Writes what remains.
    fn finish(&mut self) -> Result<(), TraceError>;
}
