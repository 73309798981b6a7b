//! What can be wrong with a trace: always with the place, what was found and what was expected.

use crate::Stamp;
use std::fmt::{self, Write as _};
use tw_ir::SlotId;

/// Whose fault and of what kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceErrorKind {
    /// The operating system: missing file, directory, permission, broken compression.
    Io,
    /// The bytes are not of the format.
    Syntax,
    /// A cell does not fit what the specification does with it.
    Type,
    /// An event has another number of arguments than the specification gives it.
    Arity,
    /// A timestamp is missing, malformed or decreasing.
    Time,
    /// The trace has no such variable or event; the known names nearest first.
    UnknownName,
    /// A name is a variable and an event.
    AmbiguousName,
    /// A limit was reached (line length, columns, memory).
    Budget,
    /// The options do not fit the trace.
    Usage,
}

/// A quote that takes all that follows with it.
pub(crate) const NEVER_CLOSED: &str = "a quote that is never closed";

/// What timestamps must not do.
const DECREASES: &str = "timestamps must not decrease";

/// An error about a trace. Prints as `file:line:column: message`.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceError {
    /// Kind.
    pub kind: TraceErrorKind,
    /// File name, `<stdin>` for standard input. Readers may leave it empty; `scan` fills it in.
    pub file: String,
    /// Line, from 1. Block readers give it relative to the block's first line (1 = first line of the block);
    /// `scan` makes it absolute.
    pub line: Option<u64>,
    /// Column in characters, from 1.
    pub column: Option<u64>,
    /// What was found, expected, and what to do, in one sentence or two.
    pub message: String,
    /// The slot whose use asks for what was not found, so that the specification can be shown too.
    pub slot: Option<SlotId>,
    /// The name of what was not found.
    pub name: Option<Box<str>>,
}

impl TraceError {
    /// Whether it is a line that is wrong, and not the file, the trace as a whole or what was asked of it.
    pub fn is_about_a_line(&self) -> bool {
        use TraceErrorKind::{Budget, Syntax, Time, Type};
        matches!(self.kind, Syntax | Type | Time | Budget)
    }

    /// Whether the next line can be read whatever this one holds.
    pub(crate) fn ends_with_its_line(&self) -> bool {
        self.is_about_a_line() && self.kind != TraceErrorKind::Budget && !self.message.contains(NEVER_CLOSED)
    }

    /// Whether it is the order of timestamps that is wrong.
    pub fn is_about_order(&self) -> bool {
        self.kind == TraceErrorKind::Time && self.message.contains(DECREASES)
    }

    /// An error without a place.
    pub fn new(kind: TraceErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            file: String::new(),
            line: None,
            column: None,
            message: message.into(),
            slot: None,
            name: None,
        }
    }

    /// A syntax error at a place.
    pub fn syntax(line: u64, column: u64, found: impl fmt::Display, expected: impl fmt::Display) -> Self {
        Self {
            line: Some(line),
            column: Some(column),
            ..Self::new(TraceErrorKind::Syntax, format!("found {found}, expected {expected}"))
        }
    }

    /// A timestamp earlier than the one before it.
    pub fn decreasing(now: Stamp, before: Stamp) -> Self {
        let message = format!(
            "the timestamp `{}` is earlier than `{}` before it; {DECREASES} (`⟨sort: SKEW⟩` sorts disorder up to a bound)",
            now.format(),
            before.format()
        );
        Self::new(TraceErrorKind::Time, message)
    }

    /// At a line and a column.
    #[must_use]
    pub fn at(mut self, line: u64, column: u64) -> Self {
        self.line = Some(line);
        self.column = Some(column);
        self
    }

    /// In a file.
    #[must_use]
    pub fn in_file(mut self, file: &str) -> Self {
        if self.file.is_empty() {
            self.file = file.to_string();
        }
        self
    }

    /// Because nothing has this name.
    #[must_use]
    pub fn naming(mut self, name: &str) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Because of a slot.
    #[must_use]
    pub fn for_slot(mut self, slot: SlotId) -> Self {
        self.slot = Some(slot);
        self
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // No part of a file's name begins a line of its own.
        self.file.chars().try_for_each(|c| f.write_char(if c.is_control() { '\u{fffd}' } else { c }))?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        if !self.file.is_empty() {
            f.write_str(": ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for TraceError {}

/// Something to look at that does not stop the run: an event name that never occurs.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceWarning {
    /// What.
    pub message: String,
    /// The slot concerned.
    pub slot: Option<SlotId>,
    /// What it is about.
    pub kind: TraceWarningKind,
}

/// What a warning is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceWarningKind {
    /// A name, or a template, of which the trace has nothing.
    NeverOccurs,
    /// Templates that give a placeholder different values at one position.
    TemplatesDisagree,
    /// Events with another number of arguments than a pattern or a declaration has.
    OtherArity,
}
