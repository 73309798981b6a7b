//! What every command shares: where to write, how, and how errors are told.

use crate::exit::Exit;
use crate::flags::flagged;
use crate::output::{Kind, Output, tame};
use crate::style::{ColorChoice, Ink, Style};
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use tracewise::diag::{Diagnostic, Severity, Sources};
use tracewise::findings::{Report, Severity as Weight, Warning, json};
use tracewise::{Error, Verdict};

/// Where and how a run writes.
pub struct Context {
    /// Standard output.
    pub out: Output,
    /// Its style.
    pub style: Style,
    /// The style of standard error.
    pub error_style: Style,
    /// Nothing but errors.
    pub quiet: bool,
    /// Errors and warnings as JSON.
    pub json: bool,
    /// Whether a warning makes the exit code that of a violation.
    pub deny: bool,
    /// The rules are those of a library: what of them a trace has no use for is no news.
    pub library: bool,
    /// Whether there was one.
    warned: bool,
    told: Vec<Diagnostic>,
}

/// Why a command stopped.
#[derive(Debug)]
pub enum Failure {
    /// Bad usage or input.
    Error(Error),
    /// The output cannot be written.
    Output(io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Error(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}

/// What a command returns.
pub type Outcome = Result<Exit, Failure>;

/// A usage error.
pub fn usage(message: impl Into<String>) -> Failure {
    Failure::Error(Error::refused(message))
}

impl Context {
    /// The process's streams.
    pub fn new(color: ColorChoice, quiet: bool, form: &str) -> Self {
        let columns = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let style = Style::of_stream(color, io::stdout().is_terminal(), columns);
        let json = form == "json";
        let mut out = Output::stdout(match form {
            "json" | "sarif" => Kind::Json,
            _ => Kind::Text { color: style.color },
        });
        if !matches!(form, "text" | "json" | "junit" | "sarif" | "github" | "html") {
            out.data();
        }
        Self {
            out,
            style,
            error_style: Style::of_stream(color, io::stderr().is_terminal(), columns),
            quiet,
            json,
            deny: false,
            library: false,
            warned: false,
            told: Vec::new(),
        }
    }

    /// Tells an error on standard error.
    pub fn error(&mut self, error: &Error) {
        if self.json {
            self.tell(&json::error(error).join("\n"));
        } else {
            let text = error.render(self.error_style.color);
            self.tell(text.trim_end_matches('\n'));
        }
    }

    /// What a verdict means for the exit code: of what is no error, nothing, unless warnings are denied.
    pub fn weigh(&mut self, verdict: Verdict, severity: Weight) -> Exit {
        self.warned |= verdict == Verdict::Violated && severity == Weight::Warning;
        match severity {
            Weight::Error => verdict.into(),
            Weight::Warning | Weight::Suggestion => Exit::Holds,
        }
    }

    /// Tells warnings on standard error, each once in a run; with `--quiet`, not at all.
    pub fn warnings(&mut self, warnings: &[Diagnostic], sources: &Sources) {
        self.warned |= warnings.iter().any(|warning| warning.severity == Severity::Warning);
        if self.quiet {
            return;
        }
        let new: Vec<Diagnostic> = warnings.iter().filter(|w| !self.told.contains(w)).cloned().collect();
        if new.is_empty() {
            return;
        }
        if self.json {
            let lines: Vec<String> = new.iter().map(|warning| json::warning(warning, sources)).collect();
            self.tell(&lines.join("\n"));
        } else {
            let text = tracewise::diag::render(&new, sources, self.error_style.color);
            self.tell(text.trim_end_matches('\n'));
        }
        self.told.extend(new);
    }

    /// Tells the warnings of a report, which have found their places already: those about the run, then each item's own.
    pub fn report_warnings(&mut self, report: &Report) {
        let all = report.warnings.iter().chain(report.items.iter().flat_map(|item| &item.warnings));
        let all: Vec<&Warning> = all.collect();
        // Those about one text are told together.
        for some in all.chunk_by(|a, b| Arc::ptr_eq(&a.sources, &b.sources)) {
            let diagnostics: Vec<Diagnostic> =
                some.iter().map(|warning| warning.diagnostic.clone()).collect();
            self.warnings(&diagnostics, &some[0].sources);
        }
    }

    /// Tells what a live run has to say beside its findings.
    pub fn remark(&mut self, note: &str, json: bool) {
        let text = match json {
            true => json::watch::note(note),
            false => self.error_style.paint(Ink::Faint, note),
        };
        self.tell(&text);
    }

    /// Tells a line on standard error, with flags for the library's settings.
    pub fn tell(&mut self, text: &str) {
        // What was found so far stands before the error on a terminal that shows both.
        let _ = self.out.flush();
        let kind = if self.json { Kind::Json } else { Kind::Text { color: self.error_style.color } };
        let text = flagged(text);
        let mut errors = io::stderr().lock();
        let _ = errors.write_all(&tame(text.as_bytes(), kind)).and_then(|()| errors.write_all(b"\n"));
    }

    /// Whether there was a warning, and warnings are denied.
    pub fn denied(&self) -> bool {
        self.deny && self.warned
    }

    /// The exit of a command's outcome; failures are told.
    pub fn conclude(&mut self, outcome: Outcome) -> Exit {
        let outcome = outcome.and_then(|exit| self.out.flush().map(|()| exit).map_err(Failure::Output));
        match outcome {
            Ok(exit) if self.denied() => exit.and(Exit::Violated),
            Ok(exit) => exit,
            Err(Failure::Error(error)) => {
                self.error(&error);
                Exit::Bad
            }
            Err(Failure::Output(error)) => {
                self.error(&Error::io("cannot write the output", error));
                Exit::Bad
            }
        }
    }
}
