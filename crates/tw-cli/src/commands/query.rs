//! `tracewise query`: the value of each query on each trace.

mod json;
pub(super) mod plot;
mod table;
mod text;

use super::Runnable;
use crate::context::{Context, Failure, Outcome, usage};
use crate::exit::Exit;
use crate::options::{FILES, Given, ReadArgs, bytes, query_engines, specification_and_traces};
use crate::progress::Progress;
use clap::Args;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracewise::{Approximation, QueryReport, Totals, Value};

/// Value of each query on each trace: counts, extremes, averages, quantiles
#[derive(Args, Debug)]
#[command(
    override_usage = "tracewise query [OPTIONS] SPEC.tw TRACE…\n       \
                      tracewise query [OPTIONS] -e QUERY TRACE…",
    after_help = "Exit codes: 0 the queries could be answered, 2 bad usage or input."
)]
pub struct Query {
    /// The specification, then the traces (`-` is standard input); with `-e`, traces alone
    #[arg(value_name = "FILE", required = true, value_hint = FILES)]
    files: Vec<String>,

    /// A query; may be given several times
    #[arg(short = 'e', long = "query", value_name = "QUERY", allow_hyphen_values = true)]
    queries: Vec<String>,

    /// The value at each position (`all`) instead of the first
    #[arg(long, value_name = "WHERE", value_parser = ["all"])]
    at: Option<String>,

    /// The positions and log lines that a value comes from
    #[arg(long)]
    witness: bool,

    /// One value per value of this column, for queries without a `by` of their own
    #[arg(long, value_name = "COL")]
    by: Option<String>,

    /// Draws the values: an `.svg` or `.png` file
    #[arg(long, value_name = "FILE", value_hint = FILES)]
    plot: Option<PathBuf>,

    /// What to print
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = ["text", "json", "csv", "markdown"])]
    output: String,

    /// Engine to run; `auto` takes the fastest that can
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = query_engines(), help_heading = "Evaluation")]
    engine: String,

    /// Memory that columns and engine may take, e.g. 500MB or 2GB; statistics beyond it are sketches
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = "Evaluation")]
    memory: Option<usize>,

    #[command(flatten)]
    read: ReadArgs,
}

/// A value over all traces, and what is approximate in it.
pub type Total = (Value, Vec<Approximation>);

/// What was computed, ready to be written.
pub struct Answers {
    /// One per trace.
    pub reports: Vec<(QueryReport, Duration)>,
    /// Over all traces, if there are several: a value per query that has a total, and what is approximate in it.
    pub totals: Option<Vec<Option<Total>>>,
    /// Whether it was asked where values come from.
    pub witness: bool,
}

impl Runnable for Query {
    fn run(self, context: &mut Context) -> Outcome {
        let (spec, files) = specification_and_traces(Given::Queries, &self.queries, &self.files, "query")?;
        context.warnings(&spec.warnings, &spec.sources);
        if let Some(path) = &self.plot {
            // Before the work, not after it.
            let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
            if !["svg", "png"].contains(&extension.to_ascii_lowercase().as_str()) {
                return Err(usage(tw_plot::Error::Extension(path.clone()).to_string()));
            }
        }
        let mut session = self
            .read
            .session()?
            .engine(&self.engine)
            .everywhere(self.at.is_some())
            .witness(self.witness)
            .explain(!context.quiet)
            .by(self.by.clone());
        if let Some(bytes) = self.memory {
            session = session.memory_budget(bytes);
        }
        let traces = self.read.traces(&files)?;
        let several = traces.len() > 1;
        let mut totals = Totals::new();
        let mut answers = Answers { reports: Vec::new(), totals: None, witness: self.witness };
        let mut exit = Exit::Holds;
        for trace in traces {
            let started = Instant::now();
            let result = {
                let reading = Arc::default();
                let message = format!("reading {}", trace.join(", "));
                let _progress = Progress::start(context.quiet, message, Some(Arc::clone(&reading)));
                let session = session.clone().progress(reading);
                // Totals cost a pass of their own, and one trace is its own total.
                match several {
                    true => session.query_and_add(&spec, &trace, &mut totals),
                    false => session.query(&spec, &trace),
                }
            };
            match result {
                Ok(mut report) => {
                    context.warnings(&report.warnings, &spec.sources);
                    for failure in report.failures.drain(..) {
                        exit = Exit::Bad;
                        context.error(&failure);
                    }
                    // Where nothing could be computed, there is nothing to tell but the errors.
                    if report.queries.iter().any(|result| !result.groups.is_empty()) {
                        answers.reports.push((report, started.elapsed()));
                    }
                }
                Err(error) => {
                    exit = Exit::Bad;
                    context.error(&error);
                }
            }
        }
        if totals.traces() > 1 {
            let mut told = |total: Option<tracewise::Total>| {
                let tracewise::Total { value, approximate } = total?;
                match value {
                    Ok(value) => Some((value, approximate)),
                    Err(error) => {
                        exit = Exit::Bad;
                        context.error(&error);
                        None
                    }
                }
            };
            answers.totals = Some(totals.values(&spec).into_iter().map(&mut told).collect());
        }
        if !context.quiet {
            write(&self.output, &answers, context)?;
        }
        if let Some(path) = self.plot.as_ref().filter(|_| !answers.reports.is_empty()) {
            let drawn = tw_plot::write(&plot::chart(&answers), path);
            drawn.map_err(|error| Failure::Error(tracewise::Error::Usage(error.to_string())))?;
        }
        Ok(exit)
    }
}

fn write(form: &str, answers: &Answers, context: &mut Context) -> io::Result<()> {
    match form {
        "json" => json::write(answers, &mut context.out),
        "csv" => table::csv(answers, &mut context.out),
        "markdown" => table::markdown(answers, &mut context.out),
        _ => text::write(answers, context.style, &mut context.out),
    }
}
