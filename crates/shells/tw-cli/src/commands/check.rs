//! `tracewise check`: the verdict of each property on each trace.

use super::{Runnable, residuals};
use crate::clock_error::ClockErrorArgs;
use crate::context::{Context, Failure, Outcome, usage};
use crate::exit::Exit;
use crate::options::{
    ChartArgs, EvaluateArgs, FILES, Given, ReadArgs, library, limit, or_standard_input,
    specification_and_traces, statistics,
};
use crate::progress::Progress;
use crate::report::text::Text;
use crate::report::{self, Reporter};
use crate::slices::SliceArgs;
use clap::Args;
use std::time::Instant;
use tracewise::check::{CheckOptions, Statistic};
use tracewise::findings::Report;
use tracewise::{Session, Specification};

/// Verdict of each property on each trace, with an explanation of every violation
#[derive(Args, Debug)]
#[command(
    override_usage = "tracewise check [OPTIONS] SPEC.tw TRACE…\n       \
                      tracewise check [OPTIONS] -e FORMULA TRACE…\n       \
                      tracewise check [OPTIONS] --library NAME TRACE…",
    after_help = "Exit codes: 0 all hold, 1 something is violated, 2 bad usage or input, 3 undecided."
)]
pub struct Check {
    /// The specification, then the traces (`-` is standard input); with `-e`, traces alone
    #[arg(value_name = "FILE", value_hint = FILES)]
    files: Vec<String>,

    /// A formula to check; may be given several times
    #[arg(short = 'e', long = "formula", value_name = "FORMULA", allow_hyphen_values = true)]
    formulas: Vec<String>,

    /// Check the rules of a library: `posix` for recorded calls of libc, `collections` for iterators, readers and locks
    #[arg(long, value_name = "NAME", conflicts_with = "formulas")]
    library: Option<String>,

    /// This property or query alone, by its name; may be given several times
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// How many violations to list for each property, or `all`
    #[arg(long, value_name = "N", default_value = "10", value_parser = limit)]
    violations: usize,

    /// Explain satisfied properties too
    #[arg(long)]
    witness: bool,

    /// Explain nothing: verdicts and places alone
    #[arg(long, conflicts_with = "witness")]
    no_explain: bool,

    /// Check every property once per value of this column (per request id, per user)
    #[arg(long, value_name = "COL")]
    by: Option<String>,

    /// Beside each verdict: fewest visits to rejecting nodes, parts of the formula that were exercised, how long
    /// eventualities waited, parts that did not matter
    #[arg(long, value_name = "NAME", value_parser = statistics())]
    stat: Option<Statistic>,

    /// The formula that is still owed after each event (by the engine `rewrite`)
    #[arg(long, conflicts_with_all = ["by", "stat", "witness", "violations"])]
    show_residual: bool,

    /// What to print
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = report::names())]
    output: String,

    #[command(flatten)]
    charts: ChartArgs,

    #[command(flatten)]
    clock_error: ClockErrorArgs,

    #[command(flatten)]
    slices: SliceArgs,

    #[command(flatten)]
    evaluate: EvaluateArgs,

    #[command(flatten)]
    read: ReadArgs,
}

impl Runnable for Check {
    fn run(self, context: &mut Context) -> Outcome {
        if self.slices.work {
            return self.work(context);
        }
        let text = Text::new(context.style);
        report::with(&self.output, text, context, |reporter, context| self.check(reporter, context))
    }
}

impl Check {
    /// Evaluates slices for another process: nobody reads a report.
    fn work(&self, context: &mut Context) -> Outcome {
        let (spec, _) = self.given(context)?;
        let spec = spec.only(&self.only)?.reading_charts(&self.charts.options()?)?.into_owned();
        let session = self.read.with(&spec.settings).session(self.evaluate.evaluating())?;
        session.work_on_slices(&spec, &mut std::io::stdin().lock(), &mut context.out)?;
        Ok(Exit::Holds)
    }

    /// The specification and the traces.
    fn given(&self, context: &mut Context) -> Result<(Specification, Vec<String>), Failure> {
        match &self.library {
            None => specification_and_traces(Given::Formulas, &self.formulas, &self.files, "check"),
            Some(name) => {
                context.library = true;
                let form = format!("tracewise check --library {name} TRACE…");
                Ok((library(name)?, or_standard_input(&self.files, &form)?))
            }
        }
    }

    fn check(&self, reporter: &mut dyn Reporter, context: &mut Context) -> Outcome {
        let (spec, files) = self.given(context)?;
        let spec = spec.only(&self.only)?.reading_charts(&self.charts.options()?)?.into_owned();
        context.warnings(&spec.warnings, &spec.sources);
        let program = &spec.program;
        if program.roots.is_empty() && program.monitors.is_empty() && program.requirements.is_empty() {
            // "All of nothing holds" would pass for a success.
            return Err(usage("the specification has no property to check"));
        }
        let read = self.read.with(&spec.settings);
        let session = read.session(self.evaluate.evaluating())?;
        let options = CheckOptions {
            // With `--quiet` verdicts alone count: no need to go back for log lines.
            violations: if context.quiet { 0 } else { self.violations },
            explain: !self.no_explain && !context.quiet,
            explained: 0,
            witness: self.witness,
            by: self.by.clone().or_else(|| spec.settings.by.clone()),
            statistic: self.stat,
            clock_error: self.clock_error.error(read.unit())?,
            slicing: self.slices.slicing()?,
            overview: self.output == report::HTML,
            listing: false,
        };
        if self.slices.workers.is_some()
            && self.formulas.is_empty()
            && self.files.first().is_some_and(|own| own == "-")
        {
            return Err(usage(
                "workers read the specification, too: give it as a file, not on standard input",
            ));
        }
        if self.show_residual {
            let mut exit = Exit::Holds;
            if !report::streams(&self.output) {
                return Err(usage("--show-residual is no finding: it is told as text or json"));
            }
            if options.clock_error.is_some() {
                return Err(usage("formulas are rewritten event by event: leave out --clock-error"));
            }
            for trace in self.read.traces(&files)? {
                for report in session.residuals(&spec, &trace)? {
                    exit = exit.and(residuals::exit(&report, self.evaluate.semantics));
                    if !context.quiet {
                        residuals::write(&report, self.output == "json", context)?;
                    }
                }
            }
            return Ok(exit);
        }
        verdicts(&session, &spec, &self.read.traces(&files)?, &options, reporter, context)
    }
}

/// The verdicts on each trace, told one after the other.
pub(super) fn verdicts(
    session: &Session,
    spec: &Specification,
    traces: &[Vec<String>],
    options: &CheckOptions,
    reporter: &mut dyn Reporter,
    context: &mut Context,
) -> Outcome {
    let mut exit = Exit::Holds;
    for trace in traces {
        let started = Instant::now();
        let result = {
            let message = format!("checking {}", trace.join(", "));
            let (_progress, session) = Progress::reading(context.quiet, message, session.clone());
            session.check(spec, trace, options)
        };
        match result {
            Ok(mut report) => {
                if context.library {
                    tracewise::library::relevant(spec, &trace.join(", "), &mut report.warnings);
                }
                context.warnings(&report.warnings, &spec.sources);
                context.warnings(&report.slicing, &spec.sources);
                for property in &report.properties {
                    exit = exit.and(context.weigh(property.verdict, property.severity));
                }
                if !context.quiet {
                    let report = Report::of_check(report, spec, started.elapsed());
                    reporter.report(&report, &mut context.out)?;
                }
            }
            Err(error) => {
                exit = report::failed(reporter, &trace.join(", "), &error, context)?;
            }
        }
    }
    Ok(exit)
}
