//! `tracewise races`: what can go wrong between threads in another run of the same program.

mod json;
mod text;

use super::{OutputArgs, Runnable};
use crate::context::{Context, Outcome};
use crate::exit::Exit;
use crate::options::{FILES, ReadArgs, limit};
use crate::progress::Progress;
use crate::words;
use clap::Args;
use std::io::Write;
use std::time::Instant;
use tracewise::{Diagnostic, OddityKind, Place, RaceFields, RaceLimits, RacesReport, Sources};

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
    #[arg(value_name = "TRACE", required = true, value_hint = FILES)]
    files: Vec<String>,

    #[command(flatten)]
    output: OutputArgs,

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
    fn fields(&self) -> RaceFields {
        let default = RaceFields::default();
        let or = |given: &Option<String>, default| given.clone().map_or(default, |name| vec![name]);
        RaceFields {
            thread: or(&self.thread_field, default.thread),
            lock: or(&self.lock_field, default.lock),
            variable: or(&self.variable_field, default.variable),
            child: or(&self.child_field, default.child),
        }
    }
}

impl Runnable for Races {
    fn run(self, context: &mut Context) -> Outcome {
        let session = self.read.session()?;
        let limits = RaceLimits { cycles: self.cycles, ..RaceLimits::default() };
        let mut exit = Exit::Holds;
        let mut written = false;
        for trace in self.read.traces(&self.files)? {
            let started = Instant::now();
            let result = {
                let message = format!("looking for races in {}", trace.join(", "));
                let _progress = Progress::start(context.quiet, message, None);
                session.races(&trace, &self.fields(), limits)
            };
            let report = match result {
                Ok(report) => report,
                Err(error) => {
                    context.error(&error);
                    exit = Exit::Bad;
                    continue;
                }
            };
            context.warnings(&warnings(&report), &Sources::default());
            exit = exit.and(outcome(&report));
            if context.quiet {
                continue;
            }
            if self.output.json() {
                for object in json::objects(&report) {
                    writeln!(context.out, "{object}")?;
                }
            } else {
                if std::mem::replace(&mut written, true) {
                    writeln!(context.out)?;
                }
                text::write(&report, started.elapsed(), context.style, &mut context.out)?;
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

/// Oddities told; a trace that is odd throughout says the same thing over and over.
const TOLD: usize = 5;

fn warnings(report: &RacesReport) -> Vec<Diagnostic> {
    let found = &report.found;
    let mut warnings: Vec<Diagnostic> = Vec::new();
    for oddity in found.oddities.iter().take(TOLD) {
        let (thread, lock) = (words::printable(&oddity.thread), words::printable(&oddity.lock));
        let at = at(report, oddity.at);
        let since = |other: &str, place: Place| {
            format!("`{}` holds it since line {}", words::printable(other), report.line(place).line)
        };
        warnings.push(match &oddity.kind {
            OddityKind::NotHeld => Diagnostic::warning(
                "not-held",
                format!("{at}: thread `{thread}` unlocks `{lock}`, which nobody holds"),
            ),
            OddityKind::HeldByOther(other, place) => Diagnostic::warning(
                "held-by-other",
                format!("{at}: thread `{thread}` unlocks `{lock}`, but {}", since(other, *place)),
            ),
            OddityKind::GotWhileHeld(other, place) => Diagnostic::warning(
                "got-while-held",
                format!("{at}: thread `{thread}` gets `{lock}`, but {}", since(other, *place)),
            )
            .help("log `lock` after getting a lock and `unlock` before giving it back"),
        });
    }
    if found.oddity_count > TOLD as u64 {
        let more = words::count(found.oddity_count - TOLD as u64);
        let message = format!("{}: {more} more locks and unlocks that do not fit together", report.trace);
        warnings.push(Diagnostic::warning("odd-locks", message));
    }
    if let Some(why) = &found.search.incomplete {
        let message = format!("{}: perhaps not all deadlocks are listed: {why}", report.trace);
        warnings.push(Diagnostic::warning("search-limit", message));
    }
    if found.search.unordered {
        let message = format!(
            "{}: too many forks and joins to follow: some findings may be about code that cannot run in parallel",
            report.trace
        );
        warnings.push(Diagnostic::warning("order-limit", message));
    }
    warnings
}

fn at(report: &RacesReport, place: Place) -> String {
    let line = report.line(place);
    format!("{}:{}", line.file, line.line)
}
