//! `tracewise split`: the slices of a log as files.

use super::{OutputArgs, Runnable};
use crate::context::{Context, Outcome, usage};
use crate::exit::Exit;
use crate::options::{EvaluateArgs, FILES, Given, ReadArgs, specification_and_traces};
use crate::progress::Progress;
use crate::words;
use clap::Args;
use std::io::Write;
use std::path::PathBuf;
use tracewise::findings::json::Object;
use tracewise::slicing::{Filter, Slicing};

/// The slices of a log as files, with a manifest that `check` reads
///
/// Each slice can be checked by itself, on another machine; what it may report is said in the manifest. `tracewise check SPEC
/// DIR/manifest.json` checks all of them, and says what the whole log says.
#[derive(Args, Debug)]
#[command(override_usage = "tracewise split [OPTIONS] SPEC.tw TRACE --slices N -o DIR\n       \
                            tracewise split [OPTIONS] -e FORMULA TRACE --slices N -o DIR")]
pub struct Split {
    /// The specification, then the log; with `-e`, the log alone
    #[arg(value_name = "FILE", value_hint = FILES)]
    files: Vec<String>,

    /// A formula to slice for; may be given several times
    #[arg(short = 'e', long = "formula", value_name = "FORMULA", allow_hyphen_values = true)]
    formulas: Vec<String>,

    /// This property alone, by its name; may be given several times
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// How many slices; with `--period`, in each
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    slices: Option<u32>,

    /// Slice on these outer variables, `c` or `c,s` [default: the one that costs least]
    #[arg(long, value_name = "VARIABLE", value_delimiter = ',')]
    slice_on: Vec<String>,

    /// Slice in time, too: periods of this length (7d, 12h, or a number in the trace's unit)
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    period: Option<String>,

    /// Say in the manifest that positions with equal timestamps are evaluated as one; a property that can tell is refused
    #[arg(long)]
    collapse: bool,

    /// The directory to write to
    #[arg(short = 'o', long = "directory", value_name = "DIR")]
    directory: PathBuf,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    evaluate: EvaluateArgs,

    #[command(flatten)]
    read: ReadArgs,
}

impl Runnable for Split {
    fn run(self, context: &mut Context) -> Outcome {
        let (spec, files) = specification_and_traces(Given::Formulas, &self.formulas, &self.files, "split")?;
        let spec = spec.only(&self.only)?.into_owned();
        context.warnings(&spec.warnings, &spec.sources);
        if self.slices.is_none() && self.period.is_none() {
            return Err(usage("say how many slices there are: --slices N, or --period LENGTH"));
        }
        let read = self.read.with(&spec.settings);
        let session = read.session(self.evaluate.evaluating())?;
        let trace = read.one_trace(&files, "split")?;
        let slicing = Slicing {
            slices: self.slices.map_or(1, |slices| slices as usize),
            on: self.slice_on.clone(),
            period: self.period.clone(),
            filter: Filter::Auto,
            collapse: self.collapse,
            ..Slicing::default()
        };
        let report = {
            let message = format!("splitting {}", trace.join(", "));
            let (_progress, session) = Progress::reading(context.quiet, message, session);
            session.split(&spec, &trace, &slicing, &self.directory)?
        };
        if context.quiet {
            return Ok(Exit::Holds);
        }
        let out = &mut context.out;
        if self.output.json() {
            for (file, positions, events) in &report.files {
                let object = Object::new().field("file", file.as_str()).field("positions", *positions);
                writeln!(out, "{}", object.field("events", *events).end())?;
            }
            return Ok(Exit::Holds);
        }
        for (name, way) in &report.ways {
            writeln!(out, "{}: {way}", words::printable(name))?;
        }
        let (positions, events) = report.files.iter().fold((0, 0), |sum, own| (sum.0 + own.1, sum.1 + own.2));
        let largest = report.files.iter().map(|own| own.2.max(own.1)).max().unwrap_or(0);
        writeln!(
            out,
            "{} slices of {} positions and {} events hold {positions} positions and {events} events, the largest {largest}",
            report.files.len(),
            report.positions,
            report.events
        )?;
        writeln!(out, "check them with: tracewise check SPEC {}", report.manifest)?;
        Ok(Exit::Holds)
    }
}
