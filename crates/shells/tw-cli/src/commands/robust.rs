//! `tracewise robust`: how far a trace is from violating a property, or from satisfying it.

mod follow;
mod plot;
mod printer;
pub(super) mod screen;
mod table;
mod text;

use super::Runnable;
use crate::context::{Context, Failure, Outcome, usage};
use crate::exit::Exit;
use crate::options::{
    FILES, Given, ReadArgs, Skew, bytes, inline, named, semantics, specification, specification_and_traces,
};
use crate::progress::Progress;
use crate::report::{self, Reporter};
use clap::Args;
use std::path::PathBuf;
use std::time::Instant;
use tracewise::findings::Report;
use tracewise::robust::{Interpolation, Predictor, RobustAlgorithm, RobustOptions};
use tracewise::watch::Address;
use tracewise::{Clock, Evaluating, Semantics, Session, Specification};

/// By how much each property holds or fails, and which sample decides that
#[derive(Args, Debug)]
#[command(
    override_usage = "tracewise robust [OPTIONS] SPEC.tw TRACE…\n       \
                      tracewise robust [OPTIONS] -e FORMULA TRACE…\n       \
                      tracewise robust --live WHAT [OPTIONS] -e FORMULA [TRACE]",
    after_help = "\
A comparison is worth the distance of its two sides (x < 3 is worth 3 - x), what is only true or false is worth inf or \
-inf; `and` is the least, `or` the greatest, `not` changes the sign. A positive value holds, a negative one is violated.
With --live, --follow, --listen, --predict or --stop-on-negative the trace is read as a stream, and values are told as \
they come: of φ for a property `G φ`.
Exit codes: 0 the robustness could be computed, whatever its sign, 1 a value is below --min, 2 bad usage or input."
)]
pub struct Robust {
    /// The specification, then the traces (`-` is standard input); with `-e`, traces alone
    #[arg(value_name = "FILE", value_hint = FILES)]
    files: Vec<String>,

    /// A formula; may be given several times
    #[arg(short = 'e', long = "formula", value_name = "FORMULA", allow_hyphen_values = true)]
    formulas: Vec<String>,

    /// This property alone, by its name; may be given several times
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// The value at each position (`all`) instead of the first
    #[arg(long, value_name = "WHERE", value_parser = ["all"])]
    at: Option<String>,

    /// The value of each property once per value of this column (per vehicle, per run)
    #[arg(long, value_name = "COL", conflicts_with = "plot")]
    by: Option<String>,

    /// Reads signals between the samples, in continuous time: each holds until the next (step), or runs straight to it
    /// (linear)
    #[arg(long, value_name = "HOW", value_parser = named(&Interpolation::ALL))]
    interpolate: Option<Interpolation>,

    /// What each subformula is worth where it counts, and how much each predicate alone would have to change
    #[arg(long, conflicts_with = "at")]
    contributions: bool,

    /// Draws the signals and the robustness over time: an `.svg` or `.png` file
    #[arg(long, value_name = "FILE", value_hint = FILES)]
    plot: Option<PathBuf>,

    /// Exit with 1 if a value that is told is below this: that of each property, or with `--at all` at each position
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = limit)]
    min: Option<f64>,

    #[command(flatten)]
    form: RobustForm,

    #[command(flatten)]
    live: LiveArgs,

    /// How the end of the trace is read
    #[arg(long, value_name = "NAME", default_value = "finite", value_parser = semantics(), help_heading = "Evaluation")]
    semantics: Semantics,

    /// How values are computed: a pass per operator, the published table (it recomputes a window with every sample), or
    /// the definition; all agree
    #[arg(long, value_name = "NAME", default_value = "columns", value_parser = named(&RobustAlgorithm::ALL), help_heading = "Evaluation")]
    algorithm: RobustAlgorithm,

    /// Memory that columns and engine may take, e.g. 500MB or 2GB
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = "Evaluation")]
    memory: Option<usize>,

    #[command(flatten)]
    read: ReadArgs,
}

/// `--output`, with the table that values have.
#[derive(Args, Clone, Debug)]
struct RobustForm {
    /// What to print
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = report::names_and(&[("csv", "One line per value")]))]
    output: String,
}

/// A number, not NaN.
fn limit(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|limit: &f64| !limit.is_nan())
        .ok_or_else(|| "a number is expected, such as 0.5".into())
}

/// How streams are followed.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Streams")]
struct LiveArgs {
    /// Tell values as they are settled (exact), with bounds before that (interval), or with each sample the value now
    /// (now)
    #[arg(long, value_name = "WHAT", value_parser = ["exact", "interval", "now"])]
    live: Option<String>,

    /// How samples that have not come are predicted for the value now: not at all, staying as they are, or going on as
    /// between the last two
    #[arg(long, value_name = "HOW", value_parser = named(&Predictor::ALL))]
    predict: Option<Predictor>,

    /// Time from one sample that --predict hold predicts to the next (10ms, or a number in the trace's unit) [default: as
    /// between the last two]
    #[arg(long, value_name = "TIME", value_parser = Skew::parse)]
    period: Option<Skew>,

    /// End with the first negative value, or with the first negative upper bound
    #[arg(long)]
    stop_on_negative: bool,

    /// Go on reading the file as it grows
    #[arg(long, conflicts_with = "listen")]
    follow: bool,

    /// Read from the connections to a socket: tcp:HOST:PORT, HOST:PORT or unix:PATH
    #[arg(long, value_name = "ADDRESS", value_parser = Address::parse)]
    listen: Option<Address>,

    /// Draw signals and robustness in the terminal as they come
    #[arg(long)]
    live_plot: bool,
}

impl LiveArgs {
    /// Whether the trace is a stream.
    fn wanted(&self) -> bool {
        self.live.is_some()
            || self.predict.is_some()
            || self.stop_on_negative
            || self.follow
            || self.listen.is_some()
            || self.live_plot
    }
}

impl Runnable for Robust {
    fn run(self, context: &mut Context) -> Outcome {
        if self.form.output == "csv" {
            if self.live.wanted() {
                return Err(usage(
                    "--output csv is a table of a stored trace: leave out --live and what else reads a stream",
                ));
            }
            let table = table::Csv::default();
            return report::with(&self.form.output, table, context, |reporter, context| {
                self.compute(reporter, context)
            });
        }
        let text = text::Text::new(context.style, self.min);
        report::with(&self.form.output, text, context, |reporter, context| self.compute(reporter, context))
    }
}

impl Robust {
    fn compute(&self, reporter: &mut dyn Reporter, context: &mut Context) -> Outcome {
        let (spec, files) = self.specification_and_files()?;
        let spec = spec.only(&self.only)?.into_owned();
        context.warnings(&spec.warnings, &spec.sources);
        let defaults = Evaluating::default();
        let read = self.read.with(&spec.settings);
        let by = self.by.clone().or_else(|| spec.settings.by.clone());
        let session = read.session(Evaluating {
            semantics: self.semantics,
            memory_budget: self.memory.unwrap_or(defaults.memory_budget),
            ..defaults
        })?;
        if self.live.wanted() && self.min.is_some() {
            return Err(usage(
                "--min is about the value of a whole trace: leave out --live and what else reads a stream",
            ));
        }
        if self.live.wanted() {
            if by.is_some() {
                return Err(usage(
                    "--by divides a stored trace: leave out --live and what else reads a stream",
                ));
            }
            return follow::run(self, &spec, &files, &session, reporter, context);
        }
        if self.live.period.is_some() {
            return Err(usage("--period is for streams: add --live"));
        }
        self.stored(&spec, &files, &session, reporter, context)
    }

    fn specification_and_files(&self) -> Result<(Specification, Vec<String>), Failure> {
        if self.live.listen.is_none() {
            // A stream that is not named is standard input.
            let mut files = self.files.clone();
            let spec = usize::from(self.formulas.is_empty());
            if self.live.wanted()
                && !self.live.follow
                && files.len() == spec
                && files.last().is_none_or(|file| file != "-")
            {
                files.push("-".into());
            }
            return specification_and_traces(Given::Formulas, &self.formulas, &files, "robust");
        }
        match (self.formulas.is_empty(), self.files.as_slice()) {
            (false, []) => Ok((inline(&self.formulas, &[])?, Vec::new())),
            (true, [spec]) => Ok((specification(spec)?, Vec::new())),
            (true, []) => Err(usage(
                "no specification given: tracewise robust --listen ADDRESS SPEC.tw (or -e FORMULA)",
            )),
            (_, [.., last]) => Err(usage(format!("`{last}` and --listen: one or the other is read"))),
        }
    }

    /// Whole traces.
    fn stored(
        &self,
        spec: &Specification,
        files: &[String],
        session: &Session,
        reporter: &mut dyn Reporter,
        context: &mut Context,
    ) -> Outcome {
        let traces = self.read.traces(files)?;
        if let Some(path) = &self.plot {
            plot::refuse(path, traces.len())?;
        }
        // What is divided has no picture of the whole.
        let page = self.form.output == report::HTML && self.by.is_none() && spec.settings.by.is_none();
        let options = RobustOptions {
            by: self.by.clone().or_else(|| spec.settings.by.clone()),
            explain: !context.quiet || self.plot.is_some(),
            everywhere: self.at.is_some(),
            picture: self.plot.is_some() || page,
            interpolate: self.interpolate,
            contributions: self.contributions,
            algorithm: self.algorithm,
        };
        let between = self.interpolate.is_some() || self.read.clock == Clock::Dense;
        if between && self.algorithm != RobustAlgorithm::Columns {
            return Err(usage("--algorithm is about values at the samples; between them there is one way"));
        }
        if between && self.contributions {
            return Err(usage("--contributions are about values at the samples, not between them"));
        }
        let steps = match self.interpolate {
            Some(reading) => reading == Interpolation::Step,
            None => self.read.clock == Clock::Dense,
        };
        let several = traces.len() > 1;
        let mut exit = Exit::Holds;
        for trace in traces {
            let started = Instant::now();
            let result = {
                let message = format!("reading {}", trace.join(", "));
                let (_progress, session) = Progress::reading(context.quiet, message, session.clone());
                session.robust(spec, &trace, &options)
            };
            let report = match result {
                Ok(report) => report,
                Err(error) => {
                    exit = report::failed(reporter, &trace.join(", "), &error, context)?;
                    continue;
                }
            };
            context.warnings(&report.warnings, &spec.sources);
            if report.properties.iter().any(|found| self.min.is_some_and(|least| found.lowest() < least)) {
                exit = exit.and(Exit::Violated);
            }
            let panels = self.plot.as_ref().map(|path| (path, plot::panels(&report, steps)));
            let picture = page.then(|| {
                let panels = plot::panels(&report, steps);
                tracewise::plot::svg_panels(&panels, tracewise::plot::WIDTH, tracewise::plot::HEIGHT)
            });
            if !context.quiet {
                let mut report = Report::of_robust(report, spec, self.min, started.elapsed());
                report.several = several;
                report.pictures.extend(picture);
                reporter.report(&report, &mut context.out)?;
            }
            if let Some((path, panels)) = panels {
                tracewise::plot::write_panels(&panels, path).map_err(|error| usage(error.to_string()))?;
            }
        }
        Ok(exit)
    }
}
