//! Findings as data: what every command reports, in one shape.
//!
//! A [`Report`] is about one trace or one model: what was examined, how, and a list of [`Item`]s, each about one
//! property, query, formula, race or deadlock. Whatever a reporter prints stands here; it computes nothing. What all items
//! have in common (name, verdict, violations, places, remarks) stands in fields of [`Item`], so that forms such as JUnit
//! or SARIF need not know the command; what one kind alone has stands in its [`Detail`]. A new kind of finding is a
//! variant of [`About`] and, if it has data of its own, of [`Detail`], with its object in [`json`].
//!
//! ```
//! use tracewise::check::CheckOptions;
//! use tracewise::findings::{Report, json};
//! use tracewise::{Session, Specification};
//! # let directory = std::env::temp_dir().join("tracewise-findings");
//! # std::fs::create_dir_all(&directory)?;
//! # let trace = directory.join("t.csv").to_str().unwrap().to_string();
//! # std::fs::write(&trace, "a,b\n1,0\n")?;
//! let spec = Specification::from_formula("G (a -> b)")?;
//! let report = Session::new().check(&spec, &[trace], &CheckOptions::default())?;
//! let report = Report::of_check(report, &spec, std::time::Duration::ZERO);
//! assert_eq!(report.violated().count(), 1);
//! assert!(json::objects(&report)[0].starts_with("{\"property\":\"G (a -> b)\""));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod classify;
mod evidence;
mod fingerprint;
pub mod json;
mod model;
mod query;
mod races;
mod robust;
mod test;
mod warning;
mod watch;
pub mod words;

pub use evidence::{Evidence, EvidencePath, EvidenceStep};
pub use fingerprint::fingerprints;
pub use model::{lost_ends, merge_notes};
pub use races::{Access, Race, Turn};
pub use warning::Warning;
pub use watch::Gathered;

use crate::check::{Listing, LogLine, StatisticReport, Step, Timeline};
use crate::classify::ClassReport;
use crate::imprecise::Guarantee;
use crate::query::{Approximation, QueryResult};
use crate::require::Required;
use crate::robust::Robustness;
use crate::test::TestResult;
use crate::watch::Deadline;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use tw_core::{Position, Time, Value, Verdict};
use tw_trace::{Stamp, TimeStyle};

/// What was found about one trace or model.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The command that found it.
    pub command: &'static str,
    /// The trace or model, as the user named it.
    pub subject: String,
    /// Whether the run has several of them, so that lines which leave out what goes without saying name theirs.
    pub several: bool,
    /// How it was examined.
    pub statistics: Statistics,
    /// One per property, query, formula or finding.
    pub items: Vec<Item>,
    /// Of a search: what to tell if it has no items.
    pub nothing: Option<Box<Item>>,
    /// Timestamps of the positions and how they are written, where a value is told at each of them.
    pub times: Option<(Vec<Time>, TimeStyle)>,
    /// Findings about the run, not about one item.
    pub warnings: Vec<Warning>,
    /// Bad lines left out.
    pub skipped: u64,
    /// A few positions of the trace with their timestamps, first and last among them, for [`Item::timeline`].
    pub ticks: Vec<(Position, Option<Stamp>)>,
    /// Pictures of the values as SVG, for forms that show some.
    pub pictures: Vec<String>,
}

impl Report {
    /// The items or, if a search has none, that it has none: forms that list what was examined list this.
    pub fn told(&self) -> impl Iterator<Item = &Item> {
        let nothing = self.nothing.as_deref().filter(|_| self.items.is_empty());
        self.items.iter().chain(nothing)
    }

    /// The items that are violated.
    pub fn violated(&self) -> impl Iterator<Item = &Item> {
        self.with(Verdict::Violated)
    }

    /// The items of a verdict.
    pub fn with(&self, verdict: Verdict) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(move |item| item.verdict == Some(verdict))
    }

    /// The timestamp of a position, where they were kept.
    pub fn stamp(&self, position: Position) -> Option<Stamp> {
        let (times, style) = self.times.as_ref()?;
        times.get(position).map(|&time| Stamp { time, style: *style })
    }
}

/// How something was examined.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Positions read.
    pub positions: Option<u64>,
    /// Bytes read.
    pub bytes: Option<u64>,
    /// Engine that ran.
    pub engine: Option<&'static str>,
    /// Name of the semantics.
    pub semantics: Option<&'static str>,
    /// The column of `by` and how many different values it had.
    pub by: Option<(String, usize)>,
    /// What else was counted, by name: `states`, `threads`.
    pub counts: Vec<(&'static str, u64)>,
    /// How long it took.
    pub elapsed: Duration,
}

impl Statistics {
    /// What was counted under that name.
    pub fn count(&self, name: &str) -> Option<u64> {
        self.counts.iter().find(|(known, _)| *known == name).map(|(_, count)| *count)
    }
}

/// What an item is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum About {
    /// A property of a trace.
    #[default]
    Property,
    /// A query, which has a value.
    Query,
    /// A formula asked of a model.
    Formula,
    /// Threads that can wait for each other for ever.
    Deadlock,
    /// A variable that no lock protects.
    Race,
    /// Something that a test expects.
    Test,
    /// A way to fail, or to hold.
    Class,
}

impl About {
    /// Its name in outputs.
    pub fn name(self) -> &'static str {
        match self {
            About::Property => "property",
            About::Query => "query",
            About::Formula => "formula",
            About::Deadlock => "deadlock",
            About::Race => "race",
            About::Test => "test",
            About::Class => "class",
        }
    }
}

/// How much a violation weighs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Severity {
    /// It fails a run.
    #[default]
    Error,
    /// It fails a run that asks for it.
    Warning,
    /// It never does.
    Suggestion,
}

impl Severity {
    /// Its name in outputs.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Suggestion => "suggestion",
        }
    }
}

/// What was found about one thing.
#[derive(Clone, Debug, Default)]
pub struct Item {
    /// What kind of thing it is.
    pub about: About,
    /// Its name; with `-e` the text of the formula or query.
    pub name: String,
    /// The sentence in quotes after the name; of a race or deadlock, what is wrong.
    pub title: Option<String>,
    /// As the user wrote it; empty where nobody wrote anything.
    pub formula: String,
    /// File of the specification (`<formula>` with `-e`) and the line in it, from 1.
    pub source: Option<(String, u64)>,
    /// The verdict; none of what has a value.
    pub verdict: Option<Verdict>,
    /// How much a violation weighs.
    pub severity: Severity,
    /// The engine that ran it, if not that of the report.
    pub engine: Option<&'static str>,
    /// First violation of a property `G φ`.
    pub position: Option<Position>,
    /// Its timestamp.
    pub time: Option<Stamp>,
    /// The first violations.
    pub violations: Vec<Violation>,
    /// How many there are in all.
    pub violation_count: usize,
    /// All that are asked for by columns, where that was asked for.
    pub listing: Option<Arc<Listing>>,
    /// The first violations with neighbours taken together; see [`Item::ranges`].
    pub merged: Vec<ViolationRange>,
    /// How many violations there are in each part of the log, where that was asked for.
    pub timeline: Option<Timeline>,
    /// Why the verdict is what it is.
    pub explanation: Option<Step>,
    /// Of a violated chart: the chart as lines of text, with how far it got.
    pub drawing: Vec<String>,
    /// What `statistic` asked for.
    pub statistic: Option<StatisticReport>,
    /// With `clock_error`, what is known about the executions that the timestamps allow.
    pub guarantee: Option<Guarantee>,
    /// What was still owed when a stream ended.
    pub pending: Option<Owed>,
    /// What is worth saying beside the verdict, one line each: a value, a path, what threads do.
    pub remarks: Vec<String>,
    /// Further places it rests on, with what is there.
    pub places: Vec<Place>,
    /// What this kind alone has.
    pub detail: Detail,
    /// Findings about its text.
    pub warnings: Vec<Warning>,
}

/// What one kind of item alone has.
#[derive(Clone, Debug, Default)]
pub enum Detail {
    /// Nothing.
    #[default]
    Plain,
    /// The value of a query, whole or divided.
    Value(Box<QueryResult>),
    /// The value of a query over so many traces, and what is approximate in it; none if it has no total.
    Total(usize, Option<(Value, Vec<Approximation>)>),
    /// The value of a requirement, and what is required of it.
    Required(Box<Required>),
    /// By how much a property holds.
    Robustness(Box<Robustness>),
    /// What a model says about a formula.
    Evidence(Box<Evidence>),
    /// Threads, each holding the lock that the one before it wants.
    Deadlock(Vec<Turn>),
    /// Accesses without a common lock.
    Race(Box<Race>),
    /// What was expected, and what came out.
    Test(Box<TestResult>),
    /// A class of traces; and whether it is one of several levels.
    Class(Box<ClassReport>, bool),
}

/// One place where an item fails.
#[derive(Clone, Debug, Default)]
pub struct Violation {
    /// Position in the trace.
    pub position: Option<Position>,
    /// Its timestamp.
    pub time: Option<Stamp>,
    /// What quantified variables and the `by` column are there, in the order of the quantifiers.
    pub bindings: Vec<(String, Value)>,
    /// Whether infinitely many valuations fail here, of which `bindings` has what is the same in all.
    pub infinite: bool,
    /// The class of failure, where the specification names one.
    pub category: Option<String>,
    /// What the specification says about this violation, or what the event there does.
    pub text: Option<String>,
    /// The log line.
    pub line: Option<LogLine>,
    /// The lines around it, itself included, where they were asked for.
    pub around: Vec<LogLine>,
}

/// Position, timestamp, file and line.
pub type Whereabouts = (Position, Option<Stamp>, Option<(String, u64)>);

/// Violations at positions that follow one another, for the same values.
#[derive(Clone, Debug)]
pub struct ViolationRange {
    /// The first of them.
    pub first: Violation,
    /// Where the last of them is, if it is another one.
    pub last: Option<Whereabouts>,
    /// How many there are.
    pub count: usize,
}

impl Item {
    /// The violations to tell, neighbours taken together.
    pub fn ranges(&self) -> Cow<'_, [ViolationRange]> {
        if !self.merged.is_empty() {
            return Cow::Borrowed(&self.merged);
        }
        let alone = |first: &Violation| ViolationRange { first: first.clone(), last: None, count: 1 };
        Cow::Owned(self.violations.iter().map(alone).collect())
    }
}

/// What was owed when a stream ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Owed {
    /// As a formula.
    pub owed: String,
    /// The position after which it has been waiting for just this.
    pub since: Position,
    /// By when it would have been settled.
    pub deadline: Option<Deadline>,
    /// How many more obligations there were.
    pub more: usize,
}

/// A log line and what happens there.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The line.
    pub line: LogLine,
    /// What happens there.
    pub text: String,
}
