//! `tracewise query`: the value of each query on each trace.

pub(super) mod plot;
mod table;
mod text;

use super::Runnable;
use crate::context::{Context, Failure, Outcome, usage};
use crate::exit::Exit;
use crate::options::{FILES, Given, ReadArgs, bytes, query_engines, specification_and_traces};
use crate::progress::Progress;
use crate::report::{self, Outlet, Reporter};
use crate::style::Style;
use clap::Args;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;
use tracewise::diag::Diagnostic;
use tracewise::findings::{Detail, Item, Report};
use tracewise::query::{Approximation, QueryOptions, Totals};
use tracewise::{Evaluating, Value};

/// Value of each query on each trace: counts, extremes, averages, quantiles
#[derive(Args, Debug)]
#[command(
    override_usage = "tracewise query [OPTIONS] SPEC.tw TRACE…\n       \
                      tracewise query [OPTIONS] -e QUERY TRACE…",
    after_help = "Exit codes: 0 the queries could be answered, 1 a requirement is violated, 2 bad usage or input, \
                  3 a requirement is undecided."
)]
pub struct Query {
    /// The specification, then the traces (`-` is standard input); with `-e`, traces alone
    #[arg(value_name = "FILE", value_hint = FILES)]
    files: Vec<String>,

    /// A query; may be given several times
    #[arg(short = 'e', long = "query", value_name = "QUERY", allow_hyphen_values = true)]
    queries: Vec<String>,

    /// The value at each position (`all`) instead of the first
    #[arg(long, value_name = "WHERE", value_parser = ["all"])]
    at: Option<String>,

    /// This property or query alone, by its name; may be given several times
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

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
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = report::names_and(TABLES))]
    output: String,

    /// With `--output csv`, put an apostrophe before texts that spreadsheets would read as formulas (= + - @)
    #[arg(long)]
    csv_guard: bool,

    /// Engine to run; `auto` takes the fastest that can
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = query_engines(), help_heading = "Evaluation")]
    engine: String,

    /// Memory that columns and engine may take, e.g. 500MB or 2GB; statistics beyond it are sketches
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = "Evaluation")]
    memory: Option<usize>,

    #[command(flatten)]
    read: ReadArgs,
}

/// Forms that values alone have.
const TABLES: &[(&str, &str)] = &[("csv", "One line per value"), ("markdown", "Tables for documents")];

/// What was computed, ready to be written: text and tables look at all traces at once.
#[derive(Default)]
pub struct Answers {
    /// One per trace.
    pub reports: Vec<Rc<Report>>,
    /// Over all traces, if there are several: an item per query.
    pub totals: Option<Rc<Report>>,
    /// Whether it was asked where values come from.
    pub witness: bool,
    /// Whether texts that look like formulas are guarded in CSV.
    pub csv_guard: bool,
}

impl Answers {
    /// Puts a picture into each report that has more than single values; with several traces, into the totals.
    fn draw(&mut self) {
        let worth = |item: &Item| match &item.detail {
            Detail::Value(result) => {
                table::divided(result)
                    || result.everywhere.is_some()
                    || result.groups.iter().any(|group| text::histogram(&group.value).is_some())
            }
            _ => false,
        };
        let drawn = |answers: &Answers| plot::picture(answers).svg();
        if let Some(totals) = &mut self.totals {
            let all = Answers { reports: self.reports.clone(), ..Answers::default() };
            Rc::make_mut(totals).pictures.push(drawn(&all));
        }
        for report in &mut self.reports {
            let one = |item: &Item| {
                let alone = Report { items: vec![item.clone()], ..Report::clone(report) };
                drawn(&Answers { reports: vec![Rc::new(alone)], ..Answers::default() })
            };
            let pictures: Vec<String> = report.items.iter().filter(|item| worth(item)).map(one).collect();
            Rc::make_mut(report).pictures = pictures;
        }
    }

    /// The total of each query, and what is approximate in it.
    pub fn totals(&self) -> Option<impl Iterator<Item = Option<&(Value, Vec<Approximation>)>>> {
        let items = &self.totals.as_ref()?.items;
        Some(items.iter().map(|item| match &item.detail {
            Detail::Total(_, total) => total.as_ref(),
            _ => None,
        }))
    }
}

/// Gathers answers for one of the forms that look at all of them.
struct Gather {
    answers: Answers,
    style: Style,
    write: fn(&Answers, Style, &mut dyn Outlet) -> io::Result<()>,
}

impl Reporter for Gather {
    fn report(&mut self, report: &Report, out: &mut dyn Outlet) -> io::Result<()> {
        self.keep(&Rc::new(report.clone()), out)
    }

    fn keep(&mut self, report: &Rc<Report>, _: &mut dyn Outlet) -> io::Result<()> {
        let total = report.items.iter().any(|item| matches!(item.detail, Detail::Total(..)));
        match total {
            true => self.answers.totals = Some(Rc::clone(report)),
            false => self.answers.reports.push(Rc::clone(report)),
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Outlet) -> io::Result<()> {
        (self.write)(&self.answers, self.style, out)
    }
}

impl Runnable for Query {
    fn run(self, context: &mut Context) -> Outcome {
        if self.csv_guard && self.output != "csv" {
            return Err(usage("--csv-guard is for --output csv"));
        }
        let write: fn(&Answers, Style, &mut dyn Outlet) -> io::Result<()> = match self.output.as_str() {
            "csv" => |answers, _, out| table::csv(answers, out),
            "markdown" => |answers, _, out| table::markdown(answers, out),
            _ => text::write,
        };
        let answers = Answers { witness: self.witness, csv_guard: self.csv_guard, ..Answers::default() };
        let own = Gather { answers, style: context.style, write };
        report::with(&self.output, own, context, |reporter, context| self.query(reporter, context))
    }
}

impl Query {
    fn query(&self, reporter: &mut dyn Reporter, context: &mut Context) -> Outcome {
        let (spec, files) = specification_and_traces(Given::Queries, &self.queries, &self.files, "query")?;
        let spec = spec.only(&self.only)?.into_owned();
        context.warnings(&spec.warnings, &spec.sources);
        if let Some(path) = &self.plot {
            // Before the work, not after it.
            let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
            if !["svg", "png"].contains(&extension.to_ascii_lowercase().as_str()) {
                return Err(usage(tracewise::plot::Error::Extension(path.clone()).to_string()));
            }
        }
        let defaults = Evaluating::default();
        let session = self.read.with(&spec.settings).session(Evaluating {
            engine: self.engine.clone(),
            memory_budget: self.memory.unwrap_or(defaults.memory_budget),
            ..defaults
        })?;
        let options = QueryOptions {
            by: self.by.clone().or_else(|| spec.settings.by.clone()),
            everywhere: self.at.is_some(),
            witness: self.witness,
            explain: !context.quiet,
        };
        let traces = self.read.traces(&files)?;
        let several = traces.len() > 1;
        let mut totals = Totals::new();
        let mut answers = Answers { witness: self.witness, ..Answers::default() };
        let mut exit = Exit::Holds;
        for trace in traces {
            let started = Instant::now();
            let result = {
                let message = format!("reading {}", trace.join(", "));
                let (_progress, session) = Progress::reading(context.quiet, message, session.clone());
                // Totals cost a pass of their own, and one trace is its own total.
                match several {
                    true => session.query_and_add(&spec, &trace, &options, &mut totals),
                    false => session.query(&spec, &trace, &options),
                }
            };
            match result {
                Ok(mut report) => {
                    context.warnings(&report.warnings, &spec.sources);
                    for failure in report.failures.drain(..) {
                        exit = report::failed(reporter, &report.trace, &failure, context)?;
                    }
                    // Where nothing could be computed, there is nothing to tell but the errors.
                    for required in &report.requirements {
                        exit = exit.and(context.weigh(required.verdict, required.severity));
                    }
                    let valued = report.queries.iter().any(|result| !result.groups.is_empty());
                    if valued || !report.requirements.is_empty() {
                        let mut report = Report::of_query(report, &spec, started.elapsed());
                        report.several = several;
                        answers.reports.push(Rc::new(report));
                    }
                }
                Err(error) => {
                    exit = report::failed(reporter, &trace.join(", "), &error, context)?;
                }
            }
        }
        if totals.traces() > 1 {
            let mut told = |total: Option<tracewise::query::Total>| {
                let tracewise::query::Total { value, approximate } = total?;
                match value {
                    Ok(value) => Some((value, approximate)),
                    Err(error) => {
                        exit = Exit::Bad;
                        context.error(&error);
                        None
                    }
                }
            };
            let values: Vec<_> = totals.values(&spec).into_iter().map(&mut told).collect();
            let traces = answers.reports.len();
            answers.totals =
                answers.reports.first().map(|first| Rc::new(Report::of_totals(first, traces, values)));
        }
        if self.output == report::HTML {
            answers.draw();
        }
        if !context.quiet {
            for report in answers.reports.iter().chain(&answers.totals) {
                reporter.keep(report, &mut context.out)?;
            }
        }
        if let Some(path) = self.plot.as_ref().filter(|_| !answers.reports.is_empty()) {
            let picture = plot::picture(&answers);
            let drawn = picture.write(path);
            drawn.map_err(|error| Failure::Error(tracewise::Error::refused(error.to_string())))?;
            if !picture.left_out.is_empty() {
                let message = format!(
                    "the picture is without {}: one has values of one kind",
                    picture.left_out.join(", ")
                );
                let warning =
                    Diagnostic::warning("not-drawn", message).help("draw the others apart: `--only NAME`");
                context.warnings(&[warning], &spec.sources);
            }
        }
        Ok(exit)
    }
}
