//! What ends a run without a verdict, worded by whose fault it is: the specification's, the trace's, a limit's, the
//! command line's.

use tw_diag::{Diagnostic, Sources};
use tw_trace::{TraceError, TraceErrorKind};

/// Why there is no answer. Every one of them is exit code 2.
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
    /// An engine refuses a construct, or a limit is reached.
    Unsupported {
        /// The refusal, pointing at the subformula.
        diagnostic: Diagnostic,
        /// The texts it points into.
        sources: Box<Sources>,
    },
    /// The text of a model's file is wrong.
    Model(Box<tw_model::ModelError>),
    /// Options that do not go together, files that cannot be written.
    Usage(String),
}

impl Error {
    /// For people: message, underlined text, hint.
    pub fn render(&self, color: bool) -> String {
        match self {
            Error::Specification { diagnostics, sources } => tw_diag::render(diagnostics, sources, color),
            Error::Unsupported { diagnostic, sources } => {
                tw_diag::render(std::slice::from_ref(diagnostic), sources, color)
            }
            Error::Trace { error, asked, sources } => {
                let mut text = match asked {
                    Some(asked) => tw_diag::render(std::slice::from_ref(asked), sources, color),
                    None => tw_diag::render(&[trace_diagnostic(error)], sources, color),
                };
                if !text.ends_with('\n') {
                    text.push('\n');
                }
                text
            }
            Error::Model(error) => {
                let found = Diagnostic::error("model-syntax", error.to_string());
                tw_diag::render(&[found], &Sources::default(), color)
            }
            Error::Usage(message) => {
                tw_diag::render(&[Diagnostic::error("usage", message)], &Sources::default(), color)
            }
        }
    }

    /// For programs: one object per finding.
    pub fn to_json(&self) -> Vec<serde_json::Value> {
        match self {
            Error::Specification { diagnostics, sources } => {
                diagnostics.iter().map(|d| tw_diag::to_json(d, sources)).collect()
            }
            Error::Unsupported { diagnostic, sources } => vec![tw_diag::to_json(diagnostic, sources)],
            Error::Trace { error, asked, sources } => {
                let own = trace_diagnostic(error);
                let mut object = tw_diag::to_json(asked.as_ref().unwrap_or(&own), sources);
                if object["file"].is_null() {
                    // No place in the specification: the place is the one in the trace.
                    object["file"] = error.file.clone().into();
                    object["line"] = error.line.into();
                    object["column"] = error.column.into();
                }
                object["trace"] = error.file.clone().into();
                object["trace_line"] = error.line.into();
                object["trace_column"] = error.column.into();
                vec![object]
            }
            Error::Model(error) => {
                let found = Diagnostic::error("model-syntax", error.to_string());
                let mut object = tw_diag::to_json(&found, &Sources::default());
                if let tw_model::ModelError::Syntax { file, line, column, .. } = &**error {
                    object["file"] = file.clone().into();
                    object["line"] = (*line).into();
                    object["column"] = (*column).into();
                }
                vec![object]
            }
            Error::Usage(message) => {
                vec![tw_diag::to_json(&Diagnostic::error("usage", message), &Sources::default())]
            }
        }
    }
}

/// An error of the trace alone; `run::faults::trace_error` adds the place of the specification where a slot is to blame.
impl From<TraceError> for Error {
    fn from(error: TraceError) -> Self {
        Error::Trace { error: Box::new(error), asked: None, sources: Box::default() }
    }
}

/// The stable code of a trace error.
pub(crate) fn trace_code(kind: &TraceErrorKind) -> &'static str {
    match kind {
        TraceErrorKind::Io => "trace-io",
        TraceErrorKind::Syntax => "trace-syntax",
        TraceErrorKind::Type => "trace-type",
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

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Error {}
