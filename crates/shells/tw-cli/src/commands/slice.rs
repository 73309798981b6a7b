//! `tracewise slice`: a trace cut by what its events are about.

use super::{OutputArgs, Runnable};
use crate::context::{Context, Outcome};
use crate::exit::Exit;
use crate::options::{FILES, ReadArgs, or_standard_input};
use crate::progress::Progress;
use crate::style::Ink;
use crate::words;
use clap::Args;
use std::io::{self, Write};
use tracewise::Evaluating;
use tracewise::findings::json;
use tracewise::slice::{SliceOptions, SliceReport};

/// For each binding of variables, the positions that are about nothing else
///
/// A pattern such as `f(x)` matches events `f` with one argument, which x is then bound to. The slice of a binding has the positions
/// of all events that match a pattern and bind no more than it does. The same event may occur with several variables,
/// `f(x), f(y)`, which gives pairs of different things.
#[derive(Args, Debug)]
pub struct SliceBy {
    /// The trace (`-` is standard input)
    #[arg(value_name = "TRACE", value_hint = FILES)]
    files: Vec<String>,

    /// Patterns of events, by position or by name: `f(x), f(y), h(x, _)`, `f(id: x)`
    #[arg(long, value_name = "PATTERNS", allow_hyphen_values = true)]
    patterns: String,

    /// What the values of variables have to satisfy, such as `x > y`
    #[arg(long = "where", value_name = "FORMULA", allow_hyphen_values = true)]
    constraint: Option<String>,

    /// Let two variables have one value
    #[arg(long)]
    allow_equal: bool,

    /// Also the bindings that leave variables open
    #[arg(long)]
    partial: bool,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    read: ReadArgs,
}

impl Runnable for SliceBy {
    fn run(self, context: &mut Context) -> Outcome {
        let trace = self
            .read
            .one_trace(&or_standard_input(&self.files, "tracewise slice --patterns … TRACE")?, "slice")?;
        let session = self.read.session(Evaluating::default())?;
        let options = SliceOptions {
            patterns: self.patterns,
            constraint: self.constraint,
            allow_equal: self.allow_equal,
            partial: self.partial,
        };
        let report = {
            let message = format!("slicing {}", trace.join(", "));
            let (_progress, session) = Progress::reading(context.quiet, message, session);
            session.slice(&trace, &options)?
        };
        context.warnings(&report.warnings, &report.sources);
        if !context.quiet {
            match self.output.json() {
                true => json::slice(&report, &mut context.out)?,
                false => write_slices(&report, context)?,
            }
        }
        Ok(Exit::Holds)
    }
}

/// One slice per line.
fn write_slices(report: &SliceReport, context: &mut Context) -> io::Result<()> {
    let style = context.style;
    for slice in report.slices() {
        let pairs = report.variables.iter().zip(&slice.bindings);
        let bound = pairs.filter_map(|(name, value)| Some(format!("{name} = {}", value.as_ref()?)));
        let bindings = bound.collect::<Vec<_>>().join(", ");
        let positions = slice.positions.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let bindings = if bindings.is_empty() { "no variable bound".to_owned() } else { bindings };
        writeln!(context.out, "{}: {positions}", style.paint(Ink::Strong, words::printable(&bindings)))?;
        if context.out.closed() {
            return Ok(());
        }
    }
    let summary = format!(
        "{} of {} of {}",
        words::counted(report.count() as u64, "slice"),
        words::counted(report.events as u64, "position"),
        words::printable(&report.trace)
    );
    writeln!(context.out, "{}", style.paint(Ink::Faint, summary))
}
