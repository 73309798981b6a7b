//! `tracewise stream`: columns that equations define.

mod analysis;
mod live;
mod page;

use super::{OutputArgs, Runnable};
use crate::context::{Context, Outcome};
use crate::exit::Exit;
use crate::options::{FILES, ReadArgs, formulas, or_standard_input, specification, specification_text};
use crate::progress::Progress;
use crate::style::Ink;
use crate::words;
use clap::{Args, Subcommand};
use std::io::{self, Write};
use tracewise::stream::{
    AutomatonForm, StreamForm, StreamOperation, StreamOptions, StreamPasses, StreamQuestion, StreamReport,
};
use tracewise::{Evaluating, Session, Value};

/// Columns that equations define, and what can be said of them before they run
#[derive(Args, Debug)]
pub struct Stream {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// The value of each stream at each position
    Run(Run),
    /// What can be said of the equations: are they well-defined, in how many passes, with what state
    Analyse(Analyse),
    /// Whether two specifications allow the same values on every input
    Equal(Two),
    /// Whether the first accepts every input that the second accepts
    Includes(Two),
    /// Whether a trace has a model
    Accepts(Accepts),
    /// Whether no input has a model
    Empty(Analyse),
    /// Whether every input has a model
    Universal(Analyse),
    /// A specification that accepts what one or the other accepts
    Union(Pair),
    /// A specification that accepts what both accept
    Intersect(Pair),
    /// A specification that accepts an input of the first, then one of the second
    Concat(Pair),
    /// A specification that accepts one or more inputs of another, end to end
    Plus(One),
    /// A specification that accepts the inputs of another, backwards
    Reverse(One),
    /// The equations of a formula
    FromLtl(FromLtl),
    /// The automaton of the inputs that have a model
    ToAutomaton(ToAutomaton),
    /// The equations of an automaton (JSON or HOA)
    FromAutomaton(One),
    /// An equal specification that is well-formed, of alternation depth 1 at most
    Normalise(One),
}

/// Two specifications, of which another is made
#[derive(Args, Debug)]
struct Pair {
    /// The first specification
    #[arg(value_name = "A", value_hint = FILES)]
    a: String,

    /// The second
    #[arg(value_name = "B", value_hint = FILES)]
    b: String,

    #[command(flatten)]
    made: Made,
}

/// A file of which a specification is made
#[derive(Args, Debug)]
struct One {
    /// The file
    #[arg(value_name = "FILE", value_hint = FILES)]
    file: String,

    /// States to look at before giving up
    #[arg(long, value_name = "N")]
    states: Option<usize>,

    #[command(flatten)]
    made: Made,
}

/// A formula, as equations
#[derive(Args, Debug)]
struct FromLtl {
    /// The formula
    #[arg(value_name = "FORMULA", allow_hyphen_values = true)]
    formula: String,

    /// Accept only the inputs that satisfy it
    #[arg(long)]
    accept: bool,

    #[command(flatten)]
    made: Made,
}

/// A specification, as an automaton
#[derive(Args, Debug)]
struct ToAutomaton {
    /// The specification
    #[arg(value_name = "SPEC", value_hint = FILES)]
    spec: String,

    /// How it is written
    #[arg(long, value_name = "FORM", default_value = "json", value_parser = ["json", "hoa", "dot"])]
    output: String,

    /// States to look at before giving up
    #[arg(long, value_name = "N")]
    states: Option<usize>,

    /// Where to (standard output)
    #[arg(short = 'o', value_name = "FILE", value_hint = FILES)]
    file: Option<String>,
}

/// Where what is made goes
#[derive(Args, Debug)]
struct Made {
    /// Where to (standard output)
    #[arg(short = 'o', value_name = "FILE", value_hint = FILES)]
    output: Option<String>,
}

/// Writes a text to a file, or to standard output.
fn put(text: &str, file: Option<&str>, context: &mut Context) -> Outcome {
    match file {
        Some(file) => std::fs::write(file, text)
            .map_err(|error| crate::context::usage(format!("cannot write {file}: {error}")))?,
        None => write!(context.out, "{text}")?,
    }
    Ok(Exit::Holds)
}

fn combined(operation: StreamOperation, pair: &Pair, context: &mut Context) -> Outcome {
    let (a, b) = (specification(&pair.a)?, specification(&pair.b)?);
    put(&Session::stream_combine(operation, &a, Some(&b))?, pair.made.output.as_deref(), context)
}

fn changed(operation: StreamOperation, one: &One, context: &mut Context) -> Outcome {
    let spec = specification(&one.file)?;
    put(&Session::stream_combine(operation, &spec, None)?, one.made.output.as_deref(), context)
}

/// A specification of streams
#[derive(Args, Debug)]
struct Analyse {
    /// The specification
    #[arg(value_name = "SPEC", value_hint = FILES)]
    spec: String,

    /// States to look at before giving up
    #[arg(long, value_name = "N")]
    states: Option<usize>,

    #[command(flatten)]
    output: OutputArgs,
}

/// Two specifications of streams
#[derive(Args, Debug)]
struct Two {
    /// The first specification
    #[arg(value_name = "A", value_hint = FILES)]
    a: String,

    /// The second
    #[arg(value_name = "B", value_hint = FILES)]
    b: String,

    /// Streams that are compared (those of the first that are observed)
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    on: Vec<String>,

    /// States to look at before giving up
    #[arg(long, value_name = "N")]
    states: Option<usize>,

    #[command(flatten)]
    output: OutputArgs,
}

/// A specification of streams and a trace
#[derive(Args, Debug)]
struct Accepts {
    /// The specification
    #[arg(value_name = "SPEC", value_hint = FILES)]
    spec: String,

    /// The trace (`-` is standard input)
    #[arg(value_name = "TRACE", value_hint = FILES)]
    files: Vec<String>,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    read: ReadArgs,
}

impl Runnable for Stream {
    fn run(self, context: &mut Context) -> Outcome {
        match self.action {
            Action::Run(run) => run.run(context),
            Action::Analyse(own) => {
                let found = Session::stream_analyse(&specification(&own.spec)?, own.states)?;
                analysis::write(&found, own.output.json(), context)
            }
            Action::Empty(own) => {
                let spec = specification(&own.spec)?;
                let answer = Session::stream_ask(&StreamQuestion::Empty(&spec), own.states)?;
                analysis::write_answer(&answer, own.output.json(), context)
            }
            Action::Universal(own) => {
                let spec = specification(&own.spec)?;
                let answer = Session::stream_ask(&StreamQuestion::Universal(&spec), own.states)?;
                analysis::write_answer(&answer, own.output.json(), context)
            }
            Action::Equal(two) => {
                let (a, b) = (specification(&two.a)?, specification(&two.b)?);
                let answer = Session::stream_ask(&StreamQuestion::Equal(&a, &b, two.on), two.states)?;
                analysis::write_answer(&answer, two.output.json(), context)
            }
            Action::Includes(two) => {
                let (a, b) = (specification(&two.a)?, specification(&two.b)?);
                let answer = Session::stream_ask(&StreamQuestion::Includes(&a, &b), two.states)?;
                analysis::write_answer(&answer, two.output.json(), context)
            }
            Action::Union(pair) => combined(StreamOperation::Union, &pair, context),
            Action::Intersect(pair) => combined(StreamOperation::Intersect, &pair, context),
            Action::Concat(pair) => combined(StreamOperation::Concat, &pair, context),
            Action::Plus(one) => changed(StreamOperation::Plus, &one, context),
            Action::Reverse(one) => changed(StreamOperation::Reverse, &one, context),
            Action::FromLtl(own) => {
                let spec = formulas(std::slice::from_ref(&own.formula))?;
                put(&Session::stream_from_ltl(&spec, own.accept)?, own.made.output.as_deref(), context)
            }
            Action::ToAutomaton(own) => {
                let form = match own.output.as_str() {
                    "hoa" => AutomatonForm::Hoa,
                    "dot" => AutomatonForm::Dot,
                    _ => AutomatonForm::Json,
                };
                let text = Session::stream_to_automaton(&specification(&own.spec)?, form, own.states)?;
                put(&text, own.file.as_deref(), context)
            }
            Action::FromAutomaton(one) => {
                let text = specification_text(&one.file)?;
                put(&Session::stream_from_automaton(&one.file, &text)?, one.made.output.as_deref(), context)
            }
            Action::Normalise(one) => {
                let text = Session::stream_normalise(&specification(&one.file)?, one.states)?;
                put(&text, one.made.output.as_deref(), context)
            }
            Action::Accepts(own) => {
                let files = or_standard_input(&own.files, "tracewise stream accepts SPEC TRACE")?;
                let trace = own.read.one_trace(&files, "stream accepts")?;
                let spec = specification(&own.spec)?;
                let session = own.read.with(&spec.settings).session(Evaluating::default())?;
                let answer = session.stream_accepts(&spec, &trace)?;
                analysis::write_answer(&answer, own.output.json(), context)
            }
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

    /// How streams are computed: Boolean ones in two passes over an automaton, or well-formed ones in the classic passes (what suits them)
    #[arg(long, value_name = "WHICH", value_parser = ["two", "classic"])]
    passes: Option<String>,

    /// Tell each position as it is read; in a terminal as a page that is drawn over
    #[arg(long)]
    live: bool,

    /// With --live: go on reading the file as it grows
    #[arg(long, requires = "live")]
    follow: bool,

    #[command(flatten)]
    read: ReadArgs,
}

impl Run {
    fn run(self, context: &mut Context) -> Outcome {
        let files = or_standard_input(&self.files, "tracewise stream run SPEC TRACE")?;
        let trace = self.read.one_trace(&files, "stream run")?;
        let spec = specification(&self.spec)?;
        let session = self.read.with(&spec.settings).session(Evaluating::default())?;
        if self.live {
            return live::run(&self, &spec, &trace, &session, context);
        }
        let passes = self.passes.as_deref().map(|which| match which {
            "two" => StreamPasses::Two,
            _ => StreamPasses::Classic,
        });
        let report = {
            let message = format!("reading {}", trace.join(", "));
            let (_progress, session) = Progress::reading(context.quiet, message, session);
            session.stream_run(&spec, &trace, &StreamOptions { passes, values: !context.quiet })?
        };
        context.warnings(&report.warnings, &report.sources);
        if !context.quiet {
            match self.output.as_str() {
                "json" => report.write(StreamForm::Json, &mut context.out)?,
                "csv" => report.write(StreamForm::Csv, &mut context.out)?,
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
