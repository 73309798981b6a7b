//! What a run answers, ready for a reporter. Everything a reporter prints stands here; it computes nothing.

use super::listing::Listing;
use crate::check::StatisticReport;
use crate::findings::Severity;
use crate::imprecise::Guarantee;
use crate::require::Required;
use std::sync::Arc;
use tw_core::{Position, Value, Verdict};
use tw_diag::Diagnostic;
use tw_trace::Stamp;

/// Verdicts of all properties on one trace.
#[derive(Clone, Debug)]
pub struct CheckReport {
    /// The trace as the user named it.
    pub trace: String,
    /// Number of positions.
    pub positions: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Lines that could not be read and were skipped.
    pub skipped: u64,
    /// Engine that ran.
    pub engine: &'static str,
    /// Name of the semantics.
    pub semantics: &'static str,
    /// The column of `by` and how many different values it had.
    pub by: Option<(String, usize)>,
    /// One per property, in the order written.
    pub properties: Vec<PropertyReport>,
    /// Findings that did not stop the run.
    pub warnings: Vec<Diagnostic>,
    /// What is to be said about slices: which properties have none, and why. It is about the run, not about what was found.
    pub slicing: Vec<Diagnostic>,
    /// With `overview`, a few positions of the log, first and last among them, with their timestamps.
    pub ticks: Vec<(Position, Option<Stamp>)>,
}

/// The verdict on one property.
#[derive(Clone, Debug)]
pub struct PropertyReport {
    /// Name; with `-e` the formula's text.
    pub name: String,
    /// The sentence in quotes after the name.
    pub title: Option<String>,
    /// The formula as the user wrote it.
    pub formula: String,
    /// File of the specification (`<formula>` with `-e`) and the line of the property in it, from 1.
    pub source: (String, u64),
    /// Verdict.
    pub verdict: Verdict,
    /// How much a violation weighs.
    pub severity: Severity,
    /// The engine that ran it, if not that of the report: a monitor's.
    pub engine: Option<&'static str>,
    /// First violation of a property `G φ`, else none.
    pub position: Option<Position>,
    /// Its timestamp.
    pub time: Option<Stamp>,
    /// The first violations.
    pub violations: Vec<Violation>,
    /// How many there are in all.
    pub violation_count: usize,
    /// All that are asked for by columns, where that was asked for.
    pub listing: Option<Arc<Listing>>,
    /// The first violations with neighbours taken together; nothing where that was not looked at.
    pub ranges: Vec<ViolationRange>,
    /// With `overview`, how many violations there are in each part of the log.
    pub timeline: Option<Timeline>,
    /// Why: for a violated property, and with `witness` for a satisfied one.
    pub explanation: Option<Step>,
    /// Of a violated chart: the chart as lines of text, with how far it got.
    pub drawing: Vec<String>,
    /// What `statistic` asked for.
    pub statistic: Option<StatisticReport>,
    /// With `clock_error`, what is known about the executions that the timestamps allow. The verdict is satisfied or
    /// violated if all of them have or lack the property, else unknown.
    pub guarantee: Option<Guarantee>,
    /// Of a requirement: its value, and what is required of it.
    pub required: Option<Required>,
}

impl Default for PropertyReport {
    /// Nothing is known of a property without a name.
    fn default() -> Self {
        Self {
            name: String::new(),
            title: None,
            formula: String::new(),
            source: (String::new(), 0),
            verdict: Verdict::Unknown,
            severity: Severity::default(),
            engine: None,
            position: None,
            time: None,
            violations: Vec::new(),
            violation_count: 0,
            listing: None,
            ranges: Vec::new(),
            timeline: None,
            explanation: None,
            drawing: Vec::new(),
            statistic: None,
            guarantee: None,
            required: None,
        }
    }
}

/// One place where a property fails.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Violation {
    /// Position, for a property `G φ`.
    pub position: Option<Position>,
    /// Its timestamp.
    pub time: Option<Stamp>,
    /// What quantified variables and the `by` column are there.
    pub bindings: Vec<(String, Value)>,
    /// Whether infinitely many valuations fail here, of which `bindings` has what is the same in all.
    pub infinite: bool,
    /// Of a monitor: what the trace of the bindings has come to.
    pub category: Option<String>,
    /// Of a monitor: what it says about that.
    pub text: Option<String>,
    /// The log line.
    pub line: Option<LogLine>,
    /// With `overview`, the lines around it, itself included.
    pub around: Vec<LogLine>,
}

/// Violations at positions that follow one another, for the same values.
#[derive(Clone, Debug)]
pub struct ViolationRange {
    /// The first of them.
    pub first: Violation,
    /// Position of the last.
    pub last: Position,
    /// Its timestamp.
    pub last_time: Option<Stamp>,
    /// File and line of the last.
    pub last_line: Option<(String, u64)>,
    /// How many there are.
    pub count: usize,
}

/// Violations over the length of a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// How many there are in each of as many equal parts of the log.
    pub parts: Vec<u64>,
    /// Whether there are more, later in the log, which were not looked at.
    pub cut: bool,
}

/// A line of the trace.
#[derive(Clone, Debug, PartialEq)]
pub struct LogLine {
    /// File.
    pub file: String,
    /// Line, from 1.
    pub line: u64,
    /// Its text, perhaps shortened; shared by all that is said of the line.
    pub text: Arc<str>,
}

/// One step of an explanation: a subformula, where, whether it holds, and why.
#[derive(Clone, Debug)]
pub struct Step {
    /// The subformula in the user's own words.
    pub formula: String,
    /// Whether it holds there.
    pub holds: bool,
    /// First position the step speaks of.
    pub from: Position,
    /// Last position the step speaks of (the same one, but for "never from here to there").
    pub to: Position,
    /// Timestamp of `from`.
    pub time: Option<Stamp>,
    /// A sentence: "no position from 7 to the end (12) has `ack`; it has been pending since position 7".
    pub reason: String,
    /// Values of the variables that decide it (at leaves).
    pub values: Vec<(String, Value)>,
    /// The log line at `from`.
    pub line: Option<LogLine>,
    /// For an unmet obligation: since which position it was pending when the trace ended.
    pub pending_since: Option<Position>,
    /// The steps it rests on.
    pub because: Vec<Step>,
}
