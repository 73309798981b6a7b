//! `tracewise watch`: verdicts on a live trace, the moment they are settled.

mod alarm;
pub(super) mod printer;
pub(super) mod signals;

use super::Runnable;
use crate::context::{Context, Failure, Outcome, usage};
use crate::exit::Exit;
use crate::options::{ChartArgs, FILES, ReadArgs, bytes, engines, inline, semantics, specification};
use crate::report::{self, FormArgs, Reporter, Silent};
use alarm::Alarm;
use clap::Args;
use printer::Printer;
use std::path::PathBuf;
use std::time::Duration;
use tracewise::findings::Gathered;
use tracewise::watch::{Address, Checkpoints, Control, Every, WatchOptions, WatchSource};
use tracewise::{Evaluating, Semantics, Specification, Verdict};

/// Verdicts on a live trace, one line as soon as each is settled
#[derive(Args, Debug)]
#[command(
    override_usage = "tracewise watch [OPTIONS] SPEC.tw [TRACE]\n       \
                      tracewise watch [OPTIONS] -e FORMULA [TRACE]",
    after_help = "\
Standard input is read unless a trace, --follow or --listen is given. At the end of the stream, or on an interrupt, \
every property that is still open gets the verdict that it has if the trace ends there.
Signals: INT and TERM end the watch, a second INT kills it, USR1 lists what is pending.
Exit codes: 0 all hold, 1 something is violated, 2 bad usage or input, 3 nothing was read."
)]
pub struct Watch {
    /// The specification, then the trace (`-` is standard input); with `-e`, the trace alone
    #[arg(value_name = "FILE", value_hint = FILES, num_args = 0..=2)]
    files: Vec<String>,

    /// This property or query alone, by its name; may be given several times
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// A formula to watch; may be given several times
    #[arg(short = 'e', long = "formula", value_name = "FORMULA", allow_hyphen_values = true)]
    formulas: Vec<String>,

    /// A query to keep the value of; may be given several times
    #[arg(long = "query", value_name = "QUERY", allow_hyphen_values = true)]
    queries: Vec<String>,

    /// Go on reading the file as it grows
    #[arg(long, conflicts_with = "listen")]
    follow: bool,

    /// Read from the connections to a socket: tcp:HOST:PORT, HOST:PORT or unix:PATH
    #[arg(long, value_name = "ADDRESS", value_parser = Address::parse)]
    listen: Option<Address>,

    /// Watch every property once per value of this column (per request id, per user)
    #[arg(long, value_name = "COL", conflicts_with = "observers")]
    by: Option<String>,

    /// With --by: a value's trace is over with a line where this formula holds; its verdicts are told, its state is freed,
    /// and the same value later is a new trace
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    until: Option<String>,

    /// With --by: a value's trace is over when no line of it came for longer than this (1h), by the stream's time
    #[arg(long, value_name = "TIME", value_parser = period)]
    idle: Option<Duration>,

    /// Begin at the end that the followed file has now
    #[arg(long, requires = "follow")]
    from_end: bool,

    /// Tell the first violation of a property `G φ` alone, not each event or deadline that settles some
    #[arg(long, conflicts_with_all = ["each_position", "observers"])]
    first: bool,

    /// Tell the verdict about every position, as soon as it is settled: of φ for a property `G φ`
    #[arg(long)]
    each_position: bool,

    /// Tell about every position what each property says at once (satisfied, violated or unknown) and, as soon as it is
    /// settled, its exact verdict
    #[arg(long)]
    observers: bool,

    /// When no line comes for so long (1s, 100ms), let time go on with the wall clock, so that deadlines pass
    #[arg(long, value_name = "TIME", value_parser = period)]
    heartbeat: Option<Duration>,

    /// Lines with a time under this name are no positions: they say that no line from then on is earlier
    #[arg(long, value_name = "NAME")]
    watermark: Option<String>,

    /// List what is pending, every so many positions (1000) or so often (5s, 100ms)
    #[arg(long, value_name = "N|TIME", value_parser = every)]
    pending_every: Option<Every>,

    /// Tell the values of queries, every so many positions (1000) or so often (5s); at the end they are told anyway
    #[arg(long, value_name = "N|TIME", value_parser = every)]
    values_every: Option<Every>,

    /// Run a command (by `sh -c`) for each settled violation, given as JSON on its standard input
    #[arg(long, value_name = "CMD")]
    on_violation: Option<String>,

    /// End with the first violation
    #[arg(long)]
    stop_on_violation: bool,

    /// Connections that --listen serves at once; a client beyond is told so, and let go
    #[arg(long, value_name = "N", default_value = "256", value_parser = clap::value_parser!(u16).range(1..), requires = "listen")]
    connections: u16,

    /// With --listen: a line that a connection leaves open, without its end, counts as one
    #[arg(long, requires = "listen")]
    last_line: bool,

    /// Keep the state in a file: after settled verdicts (at most once a second), at the end, and as --checkpoint-every says
    #[arg(long, value_name = "FILE", value_hint = FILES)]
    checkpoint: Option<PathBuf>,

    /// Also every so many positions (1000000) or so often (10s)
    #[arg(long, value_name = "N|TIME", value_parser = every, requires = "checkpoint")]
    checkpoint_every: Option<Every>,

    /// Go on from the checkpoint: a file where it was left, standard input from its start
    #[arg(long, requires = "checkpoint")]
    resume: bool,

    #[command(flatten)]
    form: FormArgs,

    /// Engine to run; `auto` takes the fastest that can
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = engines(), help_heading = "Evaluation")]
    engine: String,

    /// When a verdict is settled: over infinite continuations (ltl3), or over finite ones
    #[arg(long, value_name = "NAME", default_value = "ltl3", value_parser = semantics(), help_heading = "Evaluation")]
    semantics: Semantics,

    /// Memory that a property, the monitors or waiting lines may take, e.g. 500MB or 2GB
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = "Evaluation")]
    memory: Option<usize>,

    #[command(flatten)]
    charts: ChartArgs,

    #[command(flatten)]
    read: ReadArgs,
}

impl Runnable for Watch {
    fn run(self, context: &mut Context) -> Outcome {
        report::with(&self.form.output, Silent, context, |reporter, context| self.watch(reporter, context))
    }
}

impl Watch {
    fn watch(&self, reporter: &mut dyn Reporter, context: &mut Context) -> Outcome {
        let (spec, source) = self.specification_and_source()?;
        let spec = spec.only(&self.only)?.reading_charts(&self.charts.options()?)?.into_owned();
        context.warnings(&spec.warnings, &spec.sources);
        context.warnings(&spec.doubts(), &spec.sources);
        let program = &spec.program;
        if program.roots.is_empty() && program.monitors.is_empty() && program.requirements.is_empty() {
            return Err(usage("the specification has no property and no query to watch"));
        }
        let defaults = Evaluating::default();
        let session = self.read.with(&spec.settings).session(Evaluating {
            engine: self.engine.clone(),
            semantics: self.semantics,
            memory_budget: self.memory.unwrap_or(defaults.memory_budget),
            ..defaults
        })?;
        let checkpoints = self.checkpoint.clone().map(|path| Checkpoints {
            path,
            every: self.checkpoint_every,
            resume: self.resume,
        });
        let options = WatchOptions {
            by: self.by.clone().or_else(|| spec.settings.by.clone()),
            until: self.until.clone(),
            idle: self.idle,
            from_end: self.from_end,
            first: self.first,
            each_position: self.each_position,
            observers: self.observers,
            heartbeat: self.heartbeat,
            watermark: self.watermark.clone(),
            skip_bad_lines: self.read.skip_bad_lines,
            connections: self.connections.into(),
            last_line: self.last_line,
            stop_on_violation: self.stop_on_violation,
            pending_every: self.pending_every,
            values_every: self.values_every,
            checkpoints,
            ..WatchOptions::new(source)
        };
        let control = Control::new();
        signals::install(&control).map_err(|error| usage(format!("cannot wait for signals: {error}")))?;
        let alarm = self.on_violation.as_deref().map(Alarm::new);
        // Warnings may point into what ends traces.
        let whole = self.until.as_ref().map(|until| spec.ending(until)).transpose()?;
        let sources = &whole.as_ref().unwrap_or(&spec).sources;
        let json = self.form.output == "json";
        let (observers, started) = (self.observers, std::time::Instant::now());
        let gathers = !report::streams(&self.form.output);
        let gathered = gathers.then(|| Gathered::new(&spec, self.semantics.name()));
        let mut printer = Printer { context, sources, json, observers, gathered, alarm, started };
        let report = session.watch(&spec, &options, &control, &mut printer);
        printer.silence();
        let report = report?;
        printer.summary(&report);
        if let Some(gathered) = printer.gathered.take().filter(|_| !context.quiet) {
            let found = gathered.finish(options.source.name(), &report, started.elapsed());
            reporter.report(&found, &mut context.out)?;
        }
        if report.positions == 0 {
            return Ok(Exit::Undecided);
        }
        let verdict = |holds: &bool| if *holds { Verdict::Satisfied } else { Verdict::Violated };
        let monitors = report.monitors.iter().fold(Exit::Holds, |exit, (severity, silent)| {
            exit.and(context.weigh(verdict(silent), *severity))
        });
        let monitors = report.requirements.iter().fold(monitors, |exit, verdict| exit.and((*verdict).into()));
        Ok(report.verdicts.iter().fold(monitors, |exit, holds| exit.and(verdict(holds).into())))
    }

    fn specification_and_source(&self) -> Result<(Specification, WatchSource), Failure> {
        let mut files = self.files.iter().map(String::as_str);
        let given = !self.formulas.is_empty() || !self.queries.is_empty();
        let spec = if given {
            inline(&self.formulas, &self.queries)?
        } else {
            match files.next() {
                Some("-") => {
                    return Err(usage("standard input is the trace; the specification has to be a file"));
                }
                Some(path) => specification(path)?,
                None => {
                    let help = "no specification given: tracewise watch SPEC.tw [TRACE] (or -e FORMULA)";
                    return Err(usage(help));
                }
            }
        };
        let trace = files.next();
        if let Some(extra) = files.next() {
            return Err(usage(format!("`watch` takes one trace, but `{extra}` was given too")));
        }
        if given && trace.is_some_and(|trace| trace.ends_with(".tw")) {
            return Err(usage(
                "with `-e` the file is a trace, but a specification was given; give one or the other",
            ));
        }
        let source = match (trace, &self.listen) {
            (Some(trace), Some(_)) => {
                return Err(usage(format!("`{trace}` and --listen: a watch reads one or the other")));
            }
            (None, Some(address)) => WatchSource::Listen(address.clone()),
            (None | Some("-"), None) if self.follow => {
                return Err(usage("--follow needs a file; standard input is followed to its end anyway"));
            }
            (None | Some("-"), None) => WatchSource::Stdin,
            (Some(path), None) if self.follow => WatchSource::Follow(path.to_string()),
            (Some(path), None) => WatchSource::File(path.to_string()),
        };
        Ok((spec, source))
    }
}

/// `1000`, `5s`, `100ms`.
fn every(text: &str) -> Result<Every, String> {
    let help = "expected a number of positions, or a time such as 5s, 100ms, 1m";
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    if unit.is_empty() {
        return match number.trim().parse() {
            Ok(0) | Err(_) => Err(help.into()),
            Ok(positions) => Ok(Every::Positions(positions)),
        };
    }
    let time = tracewise::TimeUnit::parse(unit).and_then(|unit| unit.parse_number(number.trim()).ok());
    match time.and_then(|time| u64::try_from(time).ok()) {
        Some(time) if time > 0 => Ok(Every::Time(Duration::from_nanos(time))),
        _ => Err(help.into()),
    }
}

/// `5s`, `100ms`.
fn period(text: &str) -> Result<Duration, String> {
    match every(text) {
        Ok(Every::Time(period)) => Ok(period),
        _ => Err("expected a time such as 5s, 100ms, 1m".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_have_units() {
        assert_eq!(period("250ms"), Ok(Duration::from_millis(250)));
        assert!(period("1000").is_err() && period("0s").is_err() && period("soon").is_err());
    }

    #[test]
    fn how_often() {
        assert_eq!(every("1000"), Ok(Every::Positions(1000)));
        assert_eq!(every("1.5s"), Ok(Every::Time(Duration::from_millis(1500))));
        assert_eq!(every("100 ms"), Ok(Every::Time(Duration::from_millis(100))));
        for bad in ["", "0", "-1", "5 weeks", "s", "0s", "-1s"] {
            assert!(every(bad).is_err(), "{bad}");
        }
    }
}
