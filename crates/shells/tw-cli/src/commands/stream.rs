//! `tracewise stream`: columns that equations define.

use super::Runnable;
use crate::context::{Context, Outcome};
use crate::exit::Exit;
use crate::options::{FILES, ReadArgs, or_standard_input, specification};
use crate::progress::Progress;
use crate::style::Ink;
use crate::words;
use clap::{Args, Subcommand};
use std::io::{self, Write};
use tracewise::findings::json;
use tracewise::stream::StreamReport;
use tracewise::{Evaluating, Value};

/// Columns that equations define: their values, and what can be said of them before they run
#[derive(Args, Debug)]
pub struct Stream {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// The value of each stream at each position
    Run(Run),
}

impl Runnable for Stream {
    fn run(self, context: &mut Context) -> Outcome {
        match self.action {
            Action::Run(run) => run.run(context),
        }
    }
}

/// The value of each stream at each position
#[derive(Args, Debug)]
struct Run {
    /// The specification
    #[arg(value_name = "SPEC", value_hint = FILES)]
    spec: String,

    /// The trace (`-` is standard input)
    #[arg(value_name = "TRACE", value_hint = FILES)]
    files: Vec<String>,

    /// A table for people, one JSON object per line, or CSV
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = ["text", "json", "csv"])]
    output: String,

    #[command(flatten)]
    read: ReadArgs,
}

impl Run {
    fn run(self, context: &mut Context) -> Outcome {
        let files = or_standard_input(&self.files, "tracewise stream run SPEC TRACE")?;
        let trace = self.read.one_trace(&files, "stream run")?;
        let spec = specification(&self.spec)?;
        let session = self.read.with(&spec.settings).session(Evaluating::default())?;
        let report = {
            let message = format!("reading {}", trace.join(", "));
            let (_progress, session) = Progress::reading(context.quiet, message, session);
            session.stream_run(&spec, &trace)?
        };
        context.warnings(&report.warnings, &report.sources);
        if !context.quiet {
            match self.output.as_str() {
                "json" => json::stream(&report, &mut context.out)?,
                "csv" => write_csv(&report, context)?,
                _ => write_table(&report, context)?,
            }
        }
        Ok(Exit::Holds)
    }
}

/// A value as a cell: null is empty.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn write_csv(report: &StreamReport, context: &mut Context) -> io::Result<()> {
    let quoted = |text: &str| match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    };
    let names: Vec<String> = report.streams.iter().map(|(name, _)| quoted(name)).collect();
    writeln!(context.out, "position,{}", names.join(","))?;
    for position in 0..report.positions {
        write!(context.out, "{position}")?;
        for stream in 0..report.streams.len() {
            write!(context.out, ",{}", quoted(&cell(&report.value(stream, position))))?;
        }
        writeln!(context.out)?;
        if context.out.closed() {
            break;
        }
    }
    Ok(())
}

/// Columns as wide as their names and usual values.
fn write_table(report: &StreamReport, context: &mut Context) -> io::Result<()> {
    let style = context.style;
    let text = |stream: usize, position: usize| words::printable(&cell(&report.value(stream, position)));
    let shown = report.positions.min(200);
    let width = |stream: usize| {
        let values = (0..shown).map(|position| text(stream, position).chars().count());
        values.max().unwrap_or(0).max(report.streams[stream].0.chars().count())
    };
    let widths: Vec<usize> = (0..report.streams.len()).map(width).collect();
    let first = "position".len().max(report.positions.to_string().len());
    let mut head = format!("{:>first$}", "position");
    for ((name, _), width) in report.streams.iter().zip(&widths) {
        head.push_str(&format!("  {:>width$}", words::printable(name), width = *width));
    }
    writeln!(context.out, "{}", style.paint(Ink::Strong, head))?;
    for position in 0..report.positions {
        write!(context.out, "{position:>first$}")?;
        for (stream, width) in widths.iter().enumerate() {
            write!(context.out, "  {:>width$}", text(stream, position), width = *width)?;
        }
        writeln!(context.out)?;
        if context.out.closed() {
            break;
        }
    }
    Ok(())
}
