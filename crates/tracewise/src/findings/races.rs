//! Findings of `races`: each deadlock and each race is a failure, with its places and what threads do there.

use super::{About, Detail, Item, Place, Report, Statistics, Violation, Warning, words};
use crate::check::LogLine;
use crate::races::{OddityKind, RacesReport};
use std::sync::Arc;
use std::time::Duration;
use tw_core::{Position, Verdict};
use tw_diag::Diagnostic;

/// One thread's part in a deadlock.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// The thread.
    pub thread: String,
    /// The lock it holds and the one before it wants.
    pub holds: String,
    /// The lock it wants.
    pub wants: String,
    /// All locks it held then, `holds` among them.
    pub held: Vec<String>,
    /// Position at which it got the lock that it wants in another run.
    pub position: u64,
    /// Where it got the lock that it holds.
    pub held_line: LogLine,
    /// Where it got the lock that it wants.
    pub line: LogLine,
}

/// A variable that threads share, that is written, and that no lock protects.
#[derive(Clone, Debug, PartialEq)]
pub struct Race {
    /// The variable.
    pub variable: String,
    /// The access after which no lock is left that every access had.
    pub access: Access,
    /// An earlier one by another thread.
    pub earlier: Access,
    /// A write, if neither of the two is one.
    pub write: Option<Access>,
    /// The locks that all accesses since the variable became shared had, until `access`.
    pub protected_by: Vec<String>,
}

/// One access to a variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// Thread.
    pub thread: String,
    /// Whether it wrote.
    pub write: bool,
    /// Locks it held.
    pub locks: Vec<String>,
    /// Position.
    pub position: u64,
    /// Log line.
    pub line: LogLine,
}

impl Access {
    /// What the thread does, in a sentence.
    pub fn sentence(&self) -> String {
        let verb = if self.write { "writes" } else { "reads" };
        let locks = if self.locks.is_empty() { "no lock".to_string() } else { words::names(&self.locks) };
        format!("{} {verb} it holding {locks}", words::names([&self.thread]))
    }
}

impl Race {
    /// The accesses that show it, in the order in which they are told.
    pub fn accesses(&self) -> impl Iterator<Item = &Access> {
        self.write.iter().chain([&self.earlier, &self.access])
    }
}

/// Oddities told; a trace that is odd throughout says the same thing over and over.
const TOLD: usize = 5;

impl Report {
    /// What can go wrong between threads.
    pub fn of_races(report: &RacesReport, elapsed: Duration) -> Self {
        let found = &report.found;
        let deadlocks = found.deadlocks.iter().map(|found| deadlock(report, found));
        let races = found.races.iter().map(|found| race(report, found));
        let seen = found.seen;
        let counts = vec![
            ("events", seen.accesses),
            ("threads", seen.threads),
            ("locks", seen.locks),
            ("variables", seen.variables),
        ];
        let (warnings, none) = (warnings(report).into_iter(), Arc::default());
        // A search that hit its limit before it found anything has found out nothing.
        let verdict = if found.search.incomplete.is_some() { Verdict::Unknown } else { Verdict::Satisfied };
        let nothing = Item {
            about: About::Race,
            name: "deadlocks and races".into(),
            verdict: Some(verdict),
            remarks: vec!["nothing found".into()],
            ..Item::default()
        };
        Self {
            command: "races",
            subject: report.trace.clone(),
            statistics: Statistics { counts, elapsed, ..Statistics::default() },
            items: deadlocks.chain(races).collect(),
            nothing: Some(Box::new(nothing)),
            warnings: warnings.map(|found| Warning::new(found, &none)).collect(),
            ..Self::default()
        }
    }
}

fn failure(position: u64, line: &LogLine, text: String) -> Violation {
    Violation {
        position: Some(position as Position),
        line: Some(line.clone()),
        text: Some(text),
        ..Violation::default()
    }
}

fn deadlock(report: &RacesReport, deadlock: &crate::races::Deadlock) -> Item {
    let turn = |turn: &crate::races::Turn| Turn {
        thread: turn.thread.clone(),
        holds: turn.holds.clone(),
        wants: turn.wants.clone(),
        held: turn.held.clone(),
        position: turn.at.position,
        held_line: report.line(turn.held_at),
        line: report.line(turn.at),
    };
    let turns: Vec<Turn> = deadlock.turns.iter().map(turn).collect();
    let sentence = |(index, turn): (usize, &Turn)| {
        let holder = &turns[(index + 1) % turns.len()].thread;
        let others = turn.held.iter().filter(|lock| **lock != turn.holds);
        let others = match words::names(others) {
            none if none.is_empty() => none,
            some => format!(", with {some} held too"),
        };
        format!(
            "{} holds {} and wants {}, which {} may hold{others}",
            words::names([&turn.thread]),
            words::names([&turn.holds]),
            words::names([&turn.wants]),
            words::names([holder]),
        )
    };
    let mut remarks: Vec<String> = turns.iter().enumerate().map(sentence).collect();
    let mut places = Vec::new();
    for (turn, text) in turns.iter().zip(&remarks) {
        if turn.held_line != turn.line {
            let got = format!("{} gets {}", words::names([&turn.thread]), words::names([&turn.holds]));
            places.push(Place { line: turn.held_line.clone(), text: got });
        }
        places.push(Place { line: turn.line.clone(), text: text.clone() });
    }
    let first = turns.first().zip(remarks.first());
    let violations: Vec<Violation> =
        first.map(|(turn, text)| failure(turn.position, &turn.line, text.clone())).into_iter().collect();
    let both = if turns.len() == 2 { "both" } else { "two of them" };
    remarks.push(format!("no lock held by {both} keeps them apart"));
    let threads = words::names(turns.iter().map(|turn| &turn.thread));
    let locks: Vec<&str> = turns.iter().map(|turn| turn.holds.as_str()).collect();
    Item {
        about: About::Deadlock,
        name: format!("deadlock of {}", locks.join(", ")),
        title: Some(format!("threads {threads} can wait for each other for ever")),
        verdict: Some(Verdict::Violated),
        position: violations.first().and_then(|violation| violation.position),
        violation_count: violations.len(),
        violations,
        remarks,
        places,
        detail: Detail::Deadlock(turns),
        ..Item::default()
    }
}

fn race(report: &RacesReport, found: &crate::races::Race) -> Item {
    let access = |usage: &crate::races::Use| Access {
        thread: usage.thread.clone(),
        write: usage.write,
        locks: usage.locks.clone(),
        position: usage.at.position,
        line: report.line(usage.at),
    };
    let race = Race {
        variable: found.variable.clone(),
        access: access(&found.access),
        earlier: access(&found.earlier),
        write: found.write.as_ref().map(access),
        protected_by: found.protected_by.clone(),
    };
    let mut remarks: Vec<String> = race.accesses().map(Access::sentence).collect();
    remarks.push(match race.protected_by.as_slice() {
        [] => "several threads use it, at least one writes it, and no lock is held at every use".to_string(),
        held => format!("every use before, since threads share it, was under {}", words::names(held)),
    });
    Item {
        about: About::Race,
        name: format!("race on {}", race.variable),
        title: Some(format!("no lock protects variable `{}`", words::printable(&race.variable))),
        verdict: Some(Verdict::Violated),
        position: Some(race.access.position as Position),
        violations: vec![failure(race.access.position, &race.access.line, race.access.sentence())],
        violation_count: 1,
        remarks,
        places: race
            .accesses()
            .map(|access| Place { line: access.line.clone(), text: access.sentence() })
            .collect(),
        detail: Detail::Race(Box::new(race)),
        ..Item::default()
    }
}

fn warnings(report: &RacesReport) -> Vec<Diagnostic> {
    let found = &report.found;
    let mut warnings: Vec<Diagnostic> = report.warnings.clone();
    for oddity in found.oddities.iter().take(TOLD) {
        let (thread, lock) = (words::printable(&oddity.thread), words::printable(&oddity.lock));
        let line = report.line(oddity.at);
        let at = format!("{}:{}", line.file, line.line);
        let since = |other: &str, place: crate::races::Place| {
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
