//! What ends a run without an answer, told apart by whose fault it is: the specification's, the trace's, the caller's, the
//! machine's, a limit's or our own.

use crate::Specification;
use std::fmt;
use std::io;
use tw_diag::{Diagnostic, Sources};
use tw_trace::{TraceError, TraceErrorKind};

pub use tw_diag::{Setting, plain, spelled};

/// Why there is no answer.
#[derive(Debug)]
pub enum Error {
    /// The specification has errors (and perhaps warnings).
    Specification {
        /// Findings, at least one of them an error.
        diagnostics: Vec<Diagnostic>,
        /// The texts they point into.
        sources: Box<Sources>,
    },
    /// The trace cannot be read, or does not fit the specification.
    Trace {
        /// What is wrong with the trace.
        error: Box<TraceError>,
        /// The place of the specification that asks for what is not there.
        asked: Option<Diagnostic>,
        /// The texts it points into.
        sources: Box<Sources>,
    },
    /// The text of a model's file is wrong.
    Model(Box<tw_model::ModelError>),
    /// An engine refuses a construct, or gives up.
    Unsupported {
        /// The refusal, pointing at the subformula.
        diagnostic: Diagnostic,
        /// The texts it points into.
        sources: Box<Sources>,
        /// Whether it could run, had it been allowed more memory or states.
        exhausted: bool,
    },
    /// What was asked for is not done: settings or files that do not go together.
    Refused(Refusal),
    /// A file, socket or stream beside the trace fails.
    Io {
        /// What could not be done: "cannot write `model.json`".
        what: String,
        /// Why.
        error: io::Error,
    },
    /// More is needed than was allowed.
    Budget(Budget),
    /// A bug of ours.
    Internal(String),
}

/// What was asked for and is not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The settings concerned, in the order in which the message names them.
    pub what: Vec<Setting>,
    /// Why not.
    pub why: String,
    /// What to do instead, if something can be done.
    pub instead: Option<String>,
}

impl Refusal {
    /// For this reason.
    pub fn new(why: impl Into<String>) -> Self {
        let why = why.into();
        Self { what: Setting::named_in(&why), why, instead: None }
    }

    /// The same, with something to do instead.
    #[must_use]
    pub fn instead(mut self, instead: impl Into<String>) -> Self {
        let instead = instead.into();
        let more = Setting::named_in(&instead);
        self.what.extend(more.into_iter().filter(|setting| !self.what.contains(setting)).collect::<Vec<_>>());
        self.instead = Some(instead);
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)?;
        self.instead.as_ref().map_or(Ok(()), |instead| write!(f, ": {instead}"))
    }
}

/// A budget that is too small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The setting to raise.
    pub setting: Setting,
    /// What takes so much: "the columns of 12 positions".
    pub what: String,
    /// How much it takes, if that is known.
    pub needed: Option<usize>,
    /// How much is allowed.
    pub allowed: usize,
    /// Another way to go.
    pub instead: Option<String>,
    /// The trace.
    pub trace: String,
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { setting, what, allowed, trace, .. } = self;
        let Some(needed) = self.needed else {
            return write!(f, "{trace}: {what} take more than {allowed} bytes");
        };
        write!(f, "{trace}: {what} take {needed} bytes, beyond the memory budget of {allowed}")?;
        let instead = self.instead.as_ref().map_or(String::new(), |instead| format!(", or {instead}"));
        write!(f, " (raise it with {setting}{instead})")
    }
}

/// Whose fault an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The specification's (or a model's): its text says where.
    Specification,
    /// The trace's: its line says what.
    Trace,
    /// The caller's, who asks for what is not done.
    Refused,
    /// The machine's: a file, a socket, a stream.
    Io,
    /// A limit's, which can be raised.
    Budget,
    /// Our own.
    Internal,
}

impl Error {
    /// A construct of a specification that nobody runs.
    pub(crate) fn unsupported(spec: &Specification, diagnostic: Diagnostic) -> Self {
        Error::Unsupported { diagnostic, sources: Box::new(spec.sources.clone()), exhausted: false }
    }

    /// What was asked for is not done, for this reason.
    pub fn refused(why: impl Into<String>) -> Self {
        Error::Refused(Refusal::new(why))
    }

    /// The same, with something to do instead.
    pub(crate) fn refused_instead(why: impl Into<String>, instead: impl Into<String>) -> Self {
        Error::Refused(Refusal::new(why).instead(instead))
    }

    /// Something beside the trace fails: "cannot write `model.json`".
    pub fn io(what: impl Into<String>, error: io::Error) -> Self {
        Error::Io { what: what.into(), error }
    }

    /// Whose fault it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Specification { .. } => ErrorKind::Specification,
            Error::Trace { error, .. } => match error.kind {
                TraceErrorKind::Io => ErrorKind::Io,
                TraceErrorKind::Budget => ErrorKind::Budget,
                TraceErrorKind::Usage => ErrorKind::Refused,
                _ => ErrorKind::Trace,
            },
            Error::Model(_) => ErrorKind::Specification,
            Error::Unsupported { exhausted: true, .. } => ErrorKind::Budget,
            Error::Unsupported { .. } | Error::Refused(_) => ErrorKind::Refused,
            Error::Io { .. } => ErrorKind::Io,
            Error::Budget(_) => ErrorKind::Budget,
            Error::Internal(_) => ErrorKind::Internal,
        }
    }

    /// As findings, and the texts they point into.
    fn findings(&self) -> (Vec<Diagnostic>, Option<&Sources>) {
        let (found, sources) = match self {
            Error::Specification { diagnostics, sources } => return (diagnostics.clone(), Some(sources)),
            Error::Trace { error, asked, sources } => {
                (asked.clone().unwrap_or_else(|| trace_diagnostic(error)), Some(&**sources))
            }
            Error::Unsupported { diagnostic, sources, .. } => (diagnostic.clone(), Some(&**sources)),
            Error::Model(error) => (Diagnostic::error("model-syntax", error.to_string()), None),
            Error::Refused(refusal) => (Diagnostic::error("usage", refusal.to_string()), None),
            Error::Io { what, error } => (Diagnostic::error("usage", format!("{what}: {error}")), None),
            Error::Budget(budget) => (Diagnostic::error("trace-limit", budget.to_string()), None),
            Error::Internal(what) => {
                let found = Diagnostic::error("internal", format!("this is a bug of Tracewise: {what}"));
                (found.help("please report it, with the specification and the trace if you can"), None)
            }
        };
        (vec![found], sources)
    }

    /// For people: message, underlined text, hint. Settings stand in angle brackets ([`spelled`]).
    pub fn render(&self, color: bool) -> String {
        let (found, sources) = self.findings();
        let mut text = tw_diag::render(&found, sources.unwrap_or(&Sources::default()), color);
        if matches!(self, Error::Trace { .. }) && !text.ends_with('\n') {
            text.push('\n');
        }
        text
    }

    /// For programs: one object per finding.
    pub fn to_json(&self) -> Vec<serde_json::Value> {
        let (found, sources) = self.findings();
        let none = Sources::default();
        let sources = sources.unwrap_or(&none);
        let objects = found.iter().map(|found| tw_diag::to_json(found, sources));
        match self {
            Error::Trace { error, .. } => {
                objects.map(|object| in_trace(object, &error.file, error.line, error.column)).collect()
            }
            Error::Budget(budget) => {
                objects.map(|object| in_trace(object, &budget.trace, None, None)).collect()
            }
            Error::Model(error) => objects.map(|object| in_model(object, error)).collect(),
            _ => objects.collect(),
        }
    }
}

/// A finding with its place in the file of a model.
fn in_model(mut object: serde_json::Value, error: &tw_model::ModelError) -> serde_json::Value {
    if let tw_model::ModelError::Syntax { file, line, column, .. } = error {
        object["file"] = file.clone().into();
        object["line"] = (*line).into();
        object["column"] = (*column).into();
    }
    object
}

/// A finding with its place in a trace; where it has none in a specification, that is its place.
fn in_trace(
    mut object: serde_json::Value,
    file: &str,
    line: Option<u64>,
    column: Option<u64>,
) -> serde_json::Value {
    if object["file"].is_null() {
        object["file"] = file.into();
        object["line"] = line.into();
        object["column"] = column.into();
    }
    object["trace"] = file.into();
    object["trace_line"] = line.into();
    object["trace_column"] = column.into();
    object
}

/// An error of the trace alone; `run::faults::trace_error` adds the place of the specification where a slot is to blame.
impl From<TraceError> for Error {
    fn from(error: TraceError) -> Self {
        Error::Trace { error: Box::new(error), asked: None, sources: Box::default() }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Error::Refused(refusal)
    }
}

/// The stable code of a trace error.
pub(crate) fn trace_code(kind: &TraceErrorKind) -> &'static str {
    match kind {
        TraceErrorKind::Io => "trace-io",
        TraceErrorKind::Syntax => "trace-syntax",
        TraceErrorKind::Type => "trace-type",
        TraceErrorKind::Arity => "event-arity",
        TraceErrorKind::Time => "trace-time",
        TraceErrorKind::UnknownName => "unknown-name",
        TraceErrorKind::AmbiguousName => "ambiguous-name",
        TraceErrorKind::Budget => "trace-limit",
        TraceErrorKind::Usage => "trace-usage",
    }
}

fn trace_diagnostic(error: &TraceError) -> Diagnostic {
    Diagnostic::error(trace_code(&error.kind), error.to_string())
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}
