//! `tracewise classify`: which traces fail in the same way.

mod picture;
mod text;

use super::Runnable;
use crate::context::{Context, Outcome, usage};
use crate::exit::Exit;
use crate::options::{FILES, Given, ReadArgs, bytes, specification_and_traces};
use crate::progress::Progress;
use crate::report::{self, Reporter};
use clap::Args;
use std::time::Instant;
use tracewise::classify::{Classes, ClassifyOptions, Rules};
use tracewise::findings::Report;
use tracewise::{Evaluating, Verdict};

/// Sorts traces into classes that fail, or hold, in the same way
///
/// How a formula comes to its value on a trace is a tree of operators and truth values, its hologram; rules leave parts of it
/// out, and traces with equal trees are in one class. A class has a name of 32 digits that is the same in every run.
#[derive(Args, Debug)]
#[command(
    override_usage = "tracewise classify [OPTIONS] SPEC.tw TRACE…\n       \
                      tracewise classify [OPTIONS] -e FORMULA TRACE…",
    after_help = "Exit codes: 0 nothing fails (with --store: in no new way), 1 a class is violated (with --store: a new one), \
                  2 bad usage or input, 3 classes are only undecided."
)]
pub struct Classify {
    /// The specification, then the traces (`-` is standard input); with `-e`, traces alone
    #[arg(value_name = "FILE", value_hint = FILES)]
    files: Vec<String>,

    /// A formula; may be given several times
    #[arg(short = 'e', long = "formula", value_name = "FORMULA", allow_hyphen_values = true)]
    formulas: Vec<String>,

    /// This property alone, by its name; may be given several times
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// Sort the traces of every value of this column (sessions of one log)
    #[arg(long, value_name = "COL")]
    by: Option<String>,

    /// What is left out of trees: fail-fast, polarity, values, truncate=N, separated by commas, or none
    /// [default: fail-fast,polarity]
    #[arg(long, value_name = "RULES")]
    rules: Option<String>,

    /// Add the rules one by one, and show which classes fall together [default rules: fail-fast,polarity,values,truncate=1]
    #[arg(long)]
    chain: bool,

    /// Known classes, an SQLite database (made if there is none): only new ways to fail give exit code 1
    #[arg(long, value_name = "FILE", value_hint = FILES)]
    store: Option<String>,

    /// What a property or a `let` weighs in severities (`login=3`); may be given several times
    #[arg(long, value_name = "NAME=N", value_parser = weight)]
    weight: Vec<(String, f64)>,

    /// For one trace of each class, find a smallest part that is still of it
    #[arg(long)]
    shrink: bool,

    /// Draw the classes, as `.svg` or `.dot`
    #[arg(long, value_name = "FILE", value_hint = FILES)]
    draw: Option<String>,

    /// How many traces of each class to name
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u32).range(1..))]
    examples: u32,

    /// Memory that columns may take, e.g. 500MB or 2GB
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    memory: Option<usize>,

    /// What to print
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = report::names())]
    output: String,

    #[command(flatten)]
    read: ReadArgs,
}

/// `NAME=N`.
fn weight(text: &str) -> Result<(String, f64), String> {
    let expected = "expected a name and a number that is not negative, as in `login=3`";
    let (name, number) = text.rsplit_once('=').ok_or(format!("found `{text}`, {expected}"))?;
    match number.trim().parse::<f64>() {
        Ok(weight) if weight.is_finite() && weight >= 0.0 && !name.trim().is_empty() => {
            Ok((name.trim().to_string(), weight))
        }
        _ => Err(format!("found `{text}`, {expected}")),
    }
}

impl Runnable for Classify {
    fn run(self, context: &mut Context) -> Outcome {
        let text = text::Text::new(context.style);
        report::with(&self.output, text, context, |reporter, context| self.classify(reporter, context))
    }
}

impl Classify {
    fn rules(&self) -> Result<Vec<Rules>, String> {
        match (&self.rules, self.chain) {
            (Some(text), true) => Rules::chain(text),
            (None, true) => Rules::chain("fail-fast,polarity,values,truncate=1"),
            (Some(text), false) => Rules::parse(text).map(|rules| vec![rules]),
            (None, false) => Ok(vec![Rules::default()]),
        }
    }

    fn classify(&self, reporter: &mut dyn Reporter, context: &mut Context) -> Outcome {
        let rules = self.rules().map_err(|error| usage(format!("--rules: {error}")))?;
        let (spec, files) =
            specification_and_traces(Given::Formulas, &self.formulas, &self.files, "classify")?;
        let spec = spec.only(&self.only)?.into_owned();
        context.warnings(&spec.warnings, &spec.sources);
        if let Some(path) = &self.draw {
            picture::check(path)?;
        }
        if let Some(path) = &self.store {
            // What is wrong with it is told before hours of reading.
            try_store(path)?;
        }
        let read = self.read.with(&spec.settings);
        let defaults = Evaluating::default();
        let memory_budget = self.memory.unwrap_or(defaults.memory_budget);
        let session = read.session(Evaluating { memory_budget, ..defaults })?;
        let options = ClassifyOptions {
            rules,
            by: self.by.clone().or_else(|| spec.settings.by.clone()),
            weights: self.weight.clone(),
            examples: self.examples as usize,
            shrink: self.shrink,
        };
        let (started, mut classes, mut exit) = (Instant::now(), Classes::new(), Exit::Holds);
        for trace in self.read.traces(&files)? {
            let result = {
                let message = format!("classifying {}", trace.join(", "));
                let (_progress, session) = Progress::reading(context.quiet, message, session.clone());
                session.classify(&spec, &trace, &options, &mut classes)
            };
            if let Err(error) = result {
                exit = report::failed(reporter, &trace.join(", "), &error, context)?;
            }
        }
        if let Some(path) = self.store.as_ref().filter(|_| !classes.found.is_empty()) {
            remember(&mut classes, path)?;
        }
        classes.sort(&spec);
        exit = exit.and(outcome(&classes));
        context.warnings(&classes.warnings, &spec.sources);
        if !context.quiet && !classes.found.is_empty() {
            let report = Report::of_classes(&classes, &spec, started.elapsed());
            reporter.report(&report, &mut context.out)?;
        }
        if let Some(path) = &self.draw {
            picture::write(&classes, path)?;
        }
        Ok(exit)
    }
}

/// What classes mean for the exit code.
fn outcome(classes: &Classes) -> Exit {
    let with = |verdict: Verdict| classes.last().filter(move |class| class.verdict == verdict);
    if with(Verdict::Violated).any(|class| !class.known) {
        Exit::Violated
    } else if with(Verdict::Violated).next().is_none() && with(Verdict::Unknown).next().is_some() {
        Exit::Undecided
    } else {
        Exit::Holds
    }
}

#[cfg(feature = "store")]
fn try_store(path: &str) -> Result<(), crate::context::Failure> {
    Ok(Classes::try_store(path)?)
}

#[cfg(feature = "store")]
fn remember(classes: &mut Classes, path: &str) -> Result<(), crate::context::Failure> {
    Ok(classes.remember(path)?)
}

#[cfg(not(feature = "store"))]
fn try_store(_: &str) -> Result<(), crate::context::Failure> {
    Err(usage("--store: this build has no SQLite; build it with `cargo build --release --features store`"))
}

#[cfg(not(feature = "store"))]
fn remember(_: &mut Classes, path: &str) -> Result<(), crate::context::Failure> {
    try_store(path)
}
