//! What commands with findings print: one file and one row in [`REPORTERS`] per form.
//!
//! Every form but text is the same for all commands; text has a layout per command, in that command's folder.

mod escape;
mod github;
pub mod guarantee;
mod html;
mod json;
mod junit;
mod sarif;
pub mod statistics;
pub mod text;

use crate::context::{Context, Failure, Outcome};
use crate::exit::Exit;
use clap::builder::{PossibleValue, PossibleValuesParser};
use std::io;
use std::rc::Rc;
use tracewise::Error;
use tracewise::findings::Report;
pub use tracewise::findings::json::Outlet;

/// Turns reports into text. Forms that are one document (XML, SARIF) gather and write in `finish`.
pub trait Reporter {
    /// A trace or model was examined.
    fn report(&mut self, report: &Report, out: &mut dyn Outlet) -> io::Result<()>;

    /// The same of a report that may be kept, for forms that look at all of them in the end.
    fn keep(&mut self, report: &Rc<Report>, out: &mut dyn Outlet) -> io::Result<()> {
        self.report(report, out)
    }

    /// A trace could not be examined; or, without a trace, nothing could. The error itself is told on standard error
    /// by the caller: forms that people and programs read next to it say nothing more.
    fn error(&mut self, trace: Option<&str>, error: &Error, out: &mut dyn Outlet) -> io::Result<()> {
        let _ = (trace, error, out);
        Ok(())
    }

    /// Nothing follows.
    fn finish(&mut self, out: &mut dyn Outlet) -> io::Result<()> {
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
    /// A reporter that writes it, given the command's own writer of text.
    make: fn(Box<dyn Reporter>) -> Box<dyn Reporter>,
}

/// The form that is a page, which shows more than others if it is there.
pub const HTML: &str = "html";

/// Every form, in the order of help.
pub static REPORTERS: &[Form] = &[
    Form { name: "text", about: "For people", make: |text| text },
    Form {
        name: "json",
        about: "One object per finding, one per line",
        make: |_| Box::<json::Json>::default(),
    },
    Form { name: "junit", about: "JUnit XML, for CI test reports", make: |_| Box::<junit::Junit>::default() },
    Form { name: "sarif", about: "SARIF 2.1.0, for code scanning", make: |_| Box::<sarif::Sarif>::default() },
    Form { name: "github", about: "GitHub Actions annotations", make: |_| Box::new(github::Github) },
    Form {
        name: HTML,
        about: "A page to read in a browser, in one file",
        make: |_| Box::<html::Html>::default(),
    },
];

/// The names for `--output`.
pub fn names() -> PossibleValuesParser {
    names_and(&[])
}

/// The names for `--output` of a command that has forms of its own, too.
pub fn names_and(own: &[(&'static str, &'static str)]) -> PossibleValuesParser {
    let forms = REPORTERS.iter().map(|form| (form.name, form.about)).chain(own.iter().copied());
    PossibleValuesParser::new(forms.map(|(name, about)| PossibleValue::new(name).help(about)))
}

/// `--output` of commands with findings.
#[derive(clap::Args, Clone, Debug)]
pub struct FormArgs {
    /// What to print
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = names())]
    pub output: String,
}

/// Whether a form is written line by line, as things happen.
pub fn streams(name: &str) -> bool {
    matches!(name, "text" | "json")
}

/// Runs a command whose findings go to the form called `name`: `work` hands them over. Where CI looks for findings, an
/// error that ends the run is one.
pub fn with(
    name: &str,
    text: impl Reporter + 'static,
    context: &mut Context,
    work: impl FnOnce(&mut dyn Reporter, &mut Context) -> Outcome,
) -> Outcome {
    let form = REPORTERS.iter().find(|form| form.name == name).unwrap_or(&REPORTERS[0]);
    let mut reporter = (form.make)(Box::new(text));
    let outcome = work(&mut *reporter, context);
    if !context.quiet {
        if let Err(Failure::Error(error)) = &outcome {
            reporter.error(None, error, &mut context.out)?;
        }
        reporter.finish(&mut context.out)?;
    }
    outcome
}

/// Tells an error that ends one trace and not the run, among the findings and on standard error.
pub fn failed(
    reporter: &mut dyn Reporter,
    trace: &str,
    error: &Error,
    context: &mut Context,
) -> io::Result<Exit> {
    if !context.quiet {
        reporter.error(Some(trace), error, &mut context.out)?;
    }
    context.error(error);
    Ok(Exit::Bad)
}

/// Keeps what is told of several traces apart.
#[derive(Debug, Default)]
pub struct Apart(bool);

impl Apart {
    /// A blank line, before all but the first.
    pub fn next(&mut self, out: &mut dyn Outlet) -> io::Result<()> {
        if std::mem::replace(&mut self.0, true) {
            writeln!(out)?;
        }
        Ok(())
    }
}

/// Text for commands that write it as things happen.
pub struct Silent;

impl Reporter for Silent {
    fn report(&mut self, _: &Report, _: &mut dyn Outlet) -> io::Result<()> {
        Ok(())
    }
}

/// Where an error points: file and line, as far as known.
fn place_of(error: &Error) -> (Option<String>, Option<u64>) {
    let in_source = |diagnostic: &tracewise::diag::Diagnostic, sources: &tracewise::diag::Sources| {
        let Some((span, _)) = diagnostic.labels.first() else { return (None, None) };
        let source = sources.get(span.source);
        let before = source.text.as_bytes().iter().take(span.start as usize);
        (Some(source.name.clone()), Some(before.filter(|byte| **byte == b'\n').count() as u64 + 1))
    };
    match error {
        Error::Specification { diagnostics, sources } => {
            diagnostics.first().map_or((None, None), |first| in_source(first, sources))
        }
        Error::Unsupported { diagnostic, sources, .. } => in_source(diagnostic, sources),
        Error::Trace { error, .. } => (Some(error.file.clone()).filter(|file| !file.is_empty()), error.line),
        Error::Budget(budget) => (Some(budget.trace.clone()), None),
        Error::Model(_) | Error::Refused(_) | Error::Io { .. } | Error::Internal(_) => (None, None),
    }
}
