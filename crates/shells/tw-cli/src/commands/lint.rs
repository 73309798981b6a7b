//! `tracewise lint`: what is wrong with specifications, without a trace.

use super::{OutputArgs, Runnable};
use crate::context::{Context, Outcome};
use crate::exit::Exit;
use crate::flags::flagged;
use crate::options::{FILES, specification_text};
use clap::Args;
use std::io::Write;
use tracewise::Error;
use tracewise::diag::{Diagnostic, Severity, Sources, to_json};
use tracewise::findings::json::{Object, array};
use tracewise::language;

/// Errors and warnings of specifications, without a trace
///
/// Exits with 2 if a specification has errors, and with `--deny warnings` with 1 if it has warnings.
#[derive(Args, Debug)]
pub struct Lint {
    /// The specifications (`-` is standard input)
    #[arg(value_name = "SPEC", required = true, value_hint = FILES)]
    files: Vec<String>,

    #[command(flatten)]
    output: OutputArgs,
}

impl Runnable for Lint {
    fn run(self, context: &mut Context) -> Outcome {
        let mut exit = Exit::Holds;
        for file in &self.files {
            let text = specification_text(file)?;
            let name = if file == "-" { "<stdin>" } else { file };
            let found = language::look(name, &text).diagnostics;
            let mut sources = Sources::default();
            sources.add(name, text);
            let (errors, warnings): (Vec<Diagnostic>, Vec<Diagnostic>) =
                found.into_iter().partition(|finding| finding.severity == Severity::Error);
            if !errors.is_empty() {
                exit = Exit::Bad;
            }
            if self.output.json() {
                let told = errors.iter().chain(&warnings);
                let told = told.map(|finding| flagged(&to_json(finding, &sources).to_string()));
                let object = Object::new()
                    .field("file", file.as_str())
                    .field("errors", errors.len())
                    .field("warnings", warnings.len())
                    .raw("findings", &array(told.collect::<Vec<_>>()));
                writeln!(context.out, "{}", object.end())?;
            }
            context.warnings(&warnings, &sources);
            if !errors.is_empty() {
                context.error(&Error::Specification { diagnostics: errors, sources: Box::new(sources) });
            }
        }
        Ok(exit)
    }
}
