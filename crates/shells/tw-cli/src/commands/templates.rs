//! `tracewise templates`: the templates of a text log, found by looking at it.

use super::{OutputArgs, Runnable};
use crate::context::{Context, Outcome};
use crate::exit::Exit;
use crate::options::{FILES, ReadArgs};
use crate::progress::Progress;
use crate::style::Ink;
use crate::words;
use clap::Args;
use std::io::{self, Write};
use tracewise::Evaluating;
use tracewise::findings::json;
use tracewise::templates::{TemplatesOptions, TemplatesReport};

/// The templates of a text log, as events that a specification can declare
///
/// Lines that a program wrote by filling the gaps of one text are put together, most frequent first. What stands in front of every
/// line (time, host, level) is found and left out. Lines are read in their order, whatever their times.
#[derive(Args, Debug)]
pub struct Templates {
    /// The log (`-` is standard input)
    #[arg(value_name = "LOG", required = true, value_hint = FILES)]
    files: Vec<String>,

    /// The template of every position instead
    #[arg(long)]
    each: bool,

    /// Column that is the text; by default the whole line
    #[arg(long, value_name = "COL", default_value = "text")]
    column: String,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    read: ReadArgs,
}

impl Runnable for Templates {
    fn run(self, context: &mut Context) -> Outcome {
        let trace = self.read.one_trace(&self.files, "templates")?;
        let session = self.read.session(Evaluating::default())?;
        let options = TemplatesOptions { column: self.column, each: self.each };
        let report = {
            let message = format!("reading {}", trace.join(", "));
            let (_progress, session) = Progress::reading(context.quiet, message, session);
            session.templates(&trace, &options)?
        };
        context.warnings(&report.warnings, &Default::default());
        if !context.quiet {
            match self.output.json() {
                true => json::templates(&report, &mut context.out)?,
                false if self.each => write_each(&report, context)?,
                false => write_declarations(&report, context)?,
            }
        }
        Ok(Exit::Holds)
    }
}

/// Declarations that can be pasted into a specification.
fn write_declarations(report: &TemplatesReport, context: &mut Context) -> io::Result<()> {
    let style = context.style;
    for template in &report.templates {
        let example = words::printable(&template.example);
        let about = format!("// {}: {example}", words::counted(template.lines, "line"));
        writeln!(context.out, "{}", style.paint(Ink::Faint, about))?;
        if let Some(declaration) = template.declaration() {
            writeln!(context.out, "{declaration}")?;
        }
        if context.out.closed() {
            return Ok(());
        }
    }
    let summary = format!(
        "// {} of {} of {}",
        words::counted(report.templates.len() as u64, "template"),
        words::counted(report.positions, "position"),
        words::printable(&report.trace)
    );
    writeln!(context.out, "{}", style.paint(Ink::Faint, summary))
}

/// Each position with the name of its template.
fn write_each(report: &TemplatesReport, context: &mut Context) -> io::Result<()> {
    for (position, &template) in report.each.iter().enumerate() {
        writeln!(context.out, "{position}: {}", report.templates[template as usize].event)?;
        if context.out.closed() {
            break;
        }
    }
    Ok(())
}
