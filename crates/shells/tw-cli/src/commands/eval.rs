//! `tracewise eval`: the truth of a formula at each position.

use super::{OutputArgs, Runnable};
use crate::context::{Context, Outcome};
use crate::exit::Exit;
use crate::options::{EvaluateArgs, FILES, ReadArgs, formulas, or_standard_input};
use crate::progress::Progress;
use crate::style::Ink;
use crate::words;
use clap::Args;
use std::io::{self, Write};
use tracewise::eval::EvalReport;
use tracewise::findings::json;

/// Truth value of a formula at each position
#[derive(Args, Debug)]
pub struct Eval {
    /// The trace (`-` is standard input)
    #[arg(value_name = "TRACE", value_hint = FILES)]
    files: Vec<String>,

    /// The formula
    #[arg(
        short = 'e',
        long = "formula",
        value_name = "FORMULA",
        required = true,
        allow_hyphen_values = true
    )]
    formula: String,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    evaluate: EvaluateArgs,

    #[command(flatten)]
    read: ReadArgs,
}

impl Runnable for Eval {
    fn run(self, context: &mut Context) -> Outcome {
        let spec = formulas(std::slice::from_ref(&self.formula))?;
        context.warnings(&spec.warnings, &spec.sources);
        let trace = self
            .read
            .one_trace(&or_standard_input(&self.files, "tracewise eval -e FORMULA TRACE")?, "eval")?;
        let session = self.read.with(&spec.settings).session(self.evaluate.evaluating())?;
        let report = {
            let message = format!("evaluating {}", trace.join(", "));
            let (_progress, session) = Progress::reading(context.quiet, message, session);
            session.eval(&spec, &trace)?
        };
        context.warnings(&report.warnings, &spec.sources);
        if !context.quiet {
            match self.output.json() {
                true => json::eval(&report, &mut context.out)?,
                false => write_runs(&report, context)?,
            }
        }
        Ok(Exit::Holds)
    }
}

/// Stretches of positions with the same value, one per line.
fn write_runs(report: &EvalReport, context: &mut Context) -> io::Result<()> {
    let (bits, style) = (&report.values, context.style);
    let last = bits.len().saturating_sub(1).to_string().len();
    let mut from = 0;
    while from < bits.len() && !context.out.closed() {
        let value = bits.get(from);
        let end = bits.find(!value, from).unwrap_or(bits.len());
        let range = if end - from == 1 { from.to_string() } else { format!("{from}–{}", end - 1) };
        let (ink, word) = if value { (Ink::Good, "true") } else { (Ink::Bad, "false") };
        writeln!(context.out, "{range:>width$}  {}", style.paint(ink, word), width = 2 * last + 1)?;
        from = end;
    }
    let summary = format!(
        "true at {} of {} of {}; engine {}",
        words::count(bits.count_ones() as u64),
        words::counted(bits.len() as u64, "position"),
        words::printable(&report.trace),
        report.engine
    );
    writeln!(context.out, "{}", style.paint(Ink::Faint, summary))
}
