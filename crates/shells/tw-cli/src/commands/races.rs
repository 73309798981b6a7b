//! `tracewise races`: what can go wrong between threads in another run of the same program.

mod text;

use super::Runnable;
use crate::context::{Context, Outcome};
use crate::exit::Exit;
use crate::options::{FILES, ReadArgs, limit, or_standard_input};
use crate::progress::Progress;
use crate::report::{self, FormArgs, Reporter};
use clap::Args;
use std::time::Instant;
use tracewise::Evaluating;
use tracewise::findings::Report;
use tracewise::races::{self, RacesOptions, RacesReport};

/// Possible deadlocks and data races, from one trace of locks and accesses
///
/// Looks at the events lock(thread, lock), unlock(thread, lock), read(thread, variable), write(thread, variable),
/// and fork(parent, child), join(parent, child) if there are any; acquire and release mean lock and unlock. Reports
/// locks that threads take in orders that can deadlock, and variables that threads share without a common lock.
#[derive(Args, Debug)]
#[command(
    after_help = "Exit codes: 0 nothing found, 1 something found, 2 bad usage or input, 3 nothing found \
                        but the search for cycles hit its limit."
)]
pub struct Races {
    /// The traces (`-` is standard input)
    #[arg(value_name = "TRACE", value_hint = FILES)]
    files: Vec<String>,

    #[command(flatten)]
    form: FormArgs,

    /// Key (column) of the thread, where arguments have names [default: thread, or parent]
    #[arg(long, value_name = "KEY")]
    thread_field: Option<String>,

    /// Key of the lock [default: lock, or object]
    #[arg(long, value_name = "KEY")]
    lock_field: Option<String>,

    /// Key of the variable [default: variable, var, or object]
    #[arg(long, value_name = "KEY")]
    variable_field: Option<String>,

    /// Key of the thread that is started or waited for [default: child]
    #[arg(long, value_name = "KEY")]
    child_field: Option<String>,

    /// Most deadlocks to list: a number, or all
    #[arg(long, value_name = "N", default_value = "100", value_parser = limit)]
    cycles: usize,

    #[command(flatten)]
    read: ReadArgs,
}

impl Races {
    fn fields(&self) -> races::Fields {
        let default = races::Fields::default();
        let or = |given: &Option<String>, default| given.clone().map_or(default, |name| vec![name]);
        races::Fields {
            thread: or(&self.thread_field, default.thread),
            lock: or(&self.lock_field, default.lock),
            variable: or(&self.variable_field, default.variable),
            child: or(&self.child_field, default.child),
        }
    }
}

impl Runnable for Races {
    fn run(self, context: &mut Context) -> Outcome {
        let text = text::Text::new(context.style);
        report::with(&self.form.output, text, context, |reporter, context| self.search(reporter, context))
    }
}

impl Races {
    fn search(&self, reporter: &mut dyn Reporter, context: &mut Context) -> Outcome {
        let session = self.read.session(Evaluating::default())?;
        let limits = races::Limits { cycles: self.cycles, ..races::Limits::default() };
        let options = RacesOptions { fields: self.fields(), limits };
        let mut exit = Exit::Holds;
        for trace in self.read.traces(&or_standard_input(&self.files, "tracewise races TRACE")?)? {
            let started = Instant::now();
            let result = {
                let message = format!("looking for races in {}", trace.join(", "));
                let _progress = Progress::start(context.quiet, message, None);
                session.races(&trace, &options)
            };
            match result {
                Ok(found) => {
                    exit = exit.and(outcome(&found));
                    let report = Report::of_races(&found, started.elapsed());
                    context.report_warnings(&report);
                    if !context.quiet {
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
}

fn outcome(report: &RacesReport) -> Exit {
    let found = &report.found;
    match (found.deadlocks.len() + found.races.len(), &found.search.incomplete) {
        (0, None) => Exit::Holds,
        (0, Some(_)) => Exit::Undecided,
        _ => Exit::Violated,
    }
}
