//! What `check` prints: one file and one row in [`REPORTERS`] per form.

mod github;
mod guarantee;
mod json;
mod junit;
mod sarif;
mod statistics;
mod text;

use crate::style::Style;
use clap::builder::{PossibleValue, PossibleValuesParser};
use std::io::{self, Write};
use std::time::Duration;
use tracewise::{CheckReport, Error};

/// A finished check of one trace.
pub struct Checked<'a> {
    /// Verdicts.
    pub report: &'a CheckReport,
    /// How long it took.
    pub elapsed: Duration,
}

/// Turns reports into text. Forms that are one document (XML, SARIF) gather and write in `finish`.
pub trait Reporter {
    /// A trace was checked.
    fn trace(&mut self, checked: &Checked<'_>, out: &mut dyn Write) -> io::Result<()>;

    /// A trace could not be checked; or, without a trace, nothing could. The error itself is told on standard error
    /// by the caller: forms that people and programs read next to it say nothing more.
    fn error(&mut self, trace: Option<&str>, error: &Error, out: &mut dyn Write) -> io::Result<()> {
        let _ = (trace, error, out);
        Ok(())
    }

    /// Nothing follows.
    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let _ = out;
        Ok(())
    }
}

/// A form of output.
pub struct Form {
    /// Name for `--output`.
    name: &'static str,
    /// For help.
    about: &'static str,
    /// A reporter that writes it.
    make: fn(Style) -> Box<dyn Reporter>,
}

/// Every form, in the order of help.
pub static REPORTERS: &[Form] = &[
    Form { name: "text", about: "For people", make: |style| Box::new(text::Text::new(style)) },
    Form {
        name: "json",
        about: "One object per property and trace, one per line",
        make: |_| Box::new(json::Json),
    },
    Form { name: "junit", about: "JUnit XML, for CI test reports", make: |_| Box::<junit::Junit>::default() },
    Form { name: "sarif", about: "SARIF 2.1.0, for code scanning", make: |_| Box::<sarif::Sarif>::default() },
    Form { name: "github", about: "GitHub Actions annotations", make: |_| Box::new(github::Github) },
];

/// The names for `--output`.
pub fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(REPORTERS.iter().map(|form| PossibleValue::new(form.name).help(form.about)))
}

/// The reporter called `name`; text if there is none.
pub fn reporter(name: &str, style: Style) -> Box<dyn Reporter> {
    let form = REPORTERS.iter().find(|form| form.name == name).unwrap_or(&REPORTERS[0]);
    (form.make)(style)
}

/// Where an error points: file and line, as far as known.
fn place_of(error: &Error) -> (Option<String>, Option<u64>) {
    let in_source = |diagnostic: &tracewise::Diagnostic, sources: &tracewise::Sources| {
        let Some((span, _)) = diagnostic.labels.first() else { return (None, None) };
        let source = sources.get(span.source);
        let before = source.text.as_bytes().iter().take(span.start as usize);
        (Some(source.name.clone()), Some(before.filter(|byte| **byte == b'\n').count() as u64 + 1))
    };
    match error {
        Error::Specification { diagnostics, sources } => {
            diagnostics.first().map_or((None, None), |first| in_source(first, sources))
        }
        Error::Unsupported { diagnostic, sources } => in_source(diagnostic, sources),
        Error::Trace { error, .. } => (Some(error.file.clone()).filter(|file| !file.is_empty()), error.line),
        Error::Model(_) | Error::Usage(_) => (None, None),
    }
}
