//! `check`: verdict, violations and explanation of every property on one trace.

mod listing;
pub(crate) mod ranges;
mod report;

use crate::findings::words;
use crate::imprecise::ClockError;
use crate::monitors::Stored;
use crate::narrate::Narrator;
use crate::plan::Who;
use crate::require::parts::Parts;
use crate::require::stored::Alongside;
use crate::run::columns::Taker;
use crate::run::vacuous::as_written;
use crate::run::{Asked, Run};
use crate::slicing::{self, Slicing};
pub use crate::statistics::{Elapsed, Part, Statistic, StatisticReport, Wait};
use crate::{Error, Session, Specification, chart, monitors, require, statistics};
pub use listing::Listing;
pub use report::{CheckReport, LogLine, PropertyReport, Step, Timeline, Violation, ViolationRange};
use tw_core::{Bits, Position, Verdict};
use tw_diag::Diagnostic;
use tw_ir::Root;
use tw_monitor::{Answer, Answers, Bindings, Explanation, Request, violation_request};
use tw_trace::{Located, Stamp};

/// What is told of each property beside its verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckOptions {
    /// How many violations to list; `usize::MAX` for all.
    pub violations: usize,
    /// Whether to explain violations, which takes a second look at the trace.
    pub explain: bool,
    /// Which violation of each property is explained, by its number.
    pub explained: usize,
    /// Explain satisfied properties too.
    pub witness: bool,
    /// Check every property once per value of this column.
    pub by: Option<String>,
    /// A statistic to compute beside each verdict.
    pub statistic: Option<Statistic>,
    /// How far timestamps may be off. The answer is then for every execution that they allow, in
    /// [`PropertyReport::guarantee`].
    pub clock_error: Option<ClockError>,
    /// Evaluate slices of the log one by one; the report is the same.
    pub slicing: Option<Slicing>,
    /// What a page shows beside a list: the lines around violations, and how many there are in each part of the log.
    pub overview: bool,
    /// Of properties `G φ`, only the first hundred violations are objects, and all of them are columns: [`PropertyReport::listing`].
    pub listing: bool,
}

impl Default for CheckOptions {
    /// Ten violations listed, explanations on.
    fn default() -> Self {
        Self {
            violations: 10,
            explain: true,
            explained: 0,
            witness: false,
            by: None,
            statistic: None,
            clock_error: None,
            slicing: None,
            overview: false,
            listing: false,
        }
    }
}

/// The place of a violation that has none: no log is as long.
const NOWHERE: Position = Position::MAX / 2;

/// How many violations get their log line looked up; the rest are positions and times alone.
pub(crate) const LOCATED: usize = 100;

/// Every property on the whole trace or, with `by`, once per value of a column: the engine runs once either way.
pub(crate) fn check(
    session: &Session,
    spec: &Specification,
    files: &[String],
    options: &CheckOptions,
) -> Result<CheckReport, Error> {
    let both = !spec.program.requirements.is_empty() && !spec.has_requirements_alone();
    if both && options.slicing.is_none() {
        let divided = spec.with_divided_requirements(options.by.as_deref());
        // An engine that reads forward judges them while the trace is read for the properties.
        if let Ok(Some(parts)) = Parts::open(session, &divided, false) {
            return check_properties(session, &divided, files, options, Some(parts));
        }
    }
    if both && files.iter().any(|file| file == "-") {
        return Err(Error::refused_instead(
            "these requirements and properties each read the trace, and standard input can be read once",
            "write it to a file, or name one of them",
        ));
    }
    let Some(required) = require::check(session, spec, files, options)? else {
        return check_properties(session, spec, files, options, None);
    };
    if !both {
        return Ok(required);
    }
    let mut report = check_properties(session, spec, files, options, None)?;
    report.properties.extend(required.properties);
    let new = |warning: &Diagnostic| !report.warnings.iter().any(|known| known.message == warning.message);
    let new: Vec<Diagnostic> = required.warnings.into_iter().filter(new).collect();
    report.warnings.extend(new);
    Ok(report)
}

fn check_properties(
    session: &Session,
    spec: &Specification,
    files: &[String],
    options: &CheckOptions,
    required: Option<Parts>,
) -> Result<CheckReport, Error> {
    let spec = &*spec.properties()?;
    let session = &*monitors::beside(session, spec)?;
    let monitors = monitors::plan(spec)?;
    let mut kept = monitors::slots(monitors.as_ref());
    let own = kept.len();
    kept.extend(required.iter().flat_map(Parts::slots));
    let waits = options.statistic == Some(Statistic::Waiting);
    let times = waits || options.violations > LOCATED || required.as_ref().is_some_and(Parts::asks_times);
    let asked = Asked { times, by: options.by.as_deref(), kept: &kept, ..Asked::default() };
    // Keys are evaluated one after the other: which violations come first in the log is known when all are.
    let least = match options.violations {
        0 => 1,
        _ if options.overview => ranges::COUNTED,
        _ => ranges::MERGED,
    };
    let most = if options.overview { options.violations.max(ranges::COUNTED) } else { options.violations };
    let by_key = options.by.is_some();
    let mut fed = monitors.as_ref().map(|plan| Stored::new(session, spec, plan, by_key, most));
    let mut passing = required.map(|parts| Alongside::new(session, spec, parts, own));
    let taker = match (&mut passing, &mut fed) {
        (Some(passing), fed) => {
            passing.also = fed.as_mut().map(|fed| fed as &mut dyn Taker);
            Some(passing as &mut dyn Taker)
        }
        (None, fed) => fed.as_mut().map(|fed| fed as &mut dyn Taker),
    };
    // What does not fit into memory is not held.
    let again = files.iter().all(|file| file != "-");
    let flows = options
        .slicing
        .as_ref()
        .filter(|_| again && monitors.is_none() && !by_key && options.statistic.is_none());
    if let Some(slicing) = flows.filter(|_| slicing::flow::is_large(session, files)) {
        return slicing::flow::check(session, spec, files, options, slicing);
    }
    let mut run = match Run::fed(session, spec, files, Who::Any(Answers::Verdicts), asked, taker) {
        Err(Error::Budget(budget)) => match flows {
            Some(slicing) => return slicing::flow::check(session, spec, files, options, slicing),
            None => return Err(Error::Budget(budget)),
        },
        opened => opened?,
    };
    let required = passing.map(|passing| passing.finish(&run.loaded)).transpose()?;
    let limit = if run.order.by_key() { usize::MAX } else { options.violations.max(least) };
    let (answers, about_slices) = match &options.slicing {
        Some(slicing) => slicing::answers(&mut run, slicing, limit)?,
        None => (run.answers(limit)?, Vec::new()),
    };

    let newlines = newlines(spec);
    let mut findings = Vec::with_capacity(answers.len());
    for (root, answer) in spec.program.roots.iter().zip(answers) {
        let mut finding = Finding::new(property(spec, &newlines, root, verdict(&answer)));
        let chosen = violations(&run, options, &mut finding, root, &answer);
        let chart = spec.program.chart(root.node).is_some();
        finding.chart = chosen.filter(|_| chart && options.explain).map(|chosen| (chosen.segment, chosen.at));
        // The violation's own part is the one to explain; a satisfied property is explained on the first.
        let segment = chosen.map(|chosen| chosen.segment);
        let segment = segment.or(options.witness.then_some(0)).filter(|_| !chart);
        if let Some(segment) = segment.filter(|_| options.explain) {
            let start = run.loaded.trace.starts()[segment];
            // What fails for some values is explained for the values of the first violation, in its own part.
            let later = chosen.and_then(|chosen| chosen.later);
            let own = later.unwrap_or_else(|| answer.violations.partition_point(|&at| at < start));
            let bound = answer.violations.get(own).zip(answer.bindings.get(own));
            finding.explain = Some(match (bound, later, spec.program.invariant(root.node)) {
                (Some((&at, bindings)), ..) => {
                    violation_request(&spec.program, root.node, start, at, bindings)
                }
                // The property is explained by its first violation; a later one by what fails there.
                (None, Some(nth), Some((variables, body))) if variables.is_empty() => {
                    (body, answer.violations[nth], Bindings::default())
                }
                _ => {
                    let end = start..run.loaded.trace.segment_of(start).1;
                    // A later one is not where it fails first.
                    let first = later.is_none().then(|| answer.violations.get(own).copied()).flatten();
                    finding.fails = first.filter(|at| end.contains(at));
                    (root.node, start, Bindings::default())
                }
            });
        }
        if let Some(statistic) = options.statistic {
            let verdict = finding.report.verdict;
            finding.report.statistic =
                Some(statistics::statistic(session, spec, root, statistic, &run.loaded, verdict)?);
        }
        findings.push(finding);
    }
    let mut warnings = as_written(spec);
    let said = run.loaded.warnings.clone();
    let atoms = spec.program.atoms();
    for (root, finding) in spec.program.roots.iter().zip(&findings) {
        if finding.report.verdict == Verdict::Satisfied {
            warnings.extend(run.unasked(root, &said, &atoms).or_else(|| chart::silent(&run, root)));
        }
    }
    warnings.extend(spec.program.roots.iter().filter_map(|root| chart::incomplete(&run, root)));
    let narrator = Narrator::new(session, spec, &run.loaded, &run.order);
    let unexplained = narrator.explain(run.chosen.evaluator.as_mut(), &mut findings);
    let charts: Vec<_> = findings.iter().map(|finding| finding.chart).collect();
    let mut properties = narrator.tell(findings, options);
    for ((property, root), found) in properties.iter_mut().zip(&spec.program.roots).zip(charts) {
        let told = found.and_then(|(segment, at)| chart::explain(&run, root, segment, at));
        let Some(chart::Told { step, drawing }) = told else { continue };
        if let Some(first) = property.violations.first_mut() {
            first.text = Some(step.reason.clone());
        }
        if let Some(first) = property.ranges.first_mut() {
            first.first.text = Some(step.reason.clone());
        }
        (property.explanation, property.drawing) = (Some(step), drawing);
    }
    if let Some(fed) = fed {
        properties.extend(fed.verdicts(&mut run, options)?);
    }
    properties.extend(required.into_iter().flatten());
    let mut report = report(&mut run, options, properties);
    report.warnings.extend(warnings);
    report.warnings.extend(unexplained);
    report.slicing = about_slices;
    Ok(report)
}

/// The violation that is to be explained.
#[derive(Clone, Copy)]
struct Chosen {
    segment: usize,
    /// Its position in the trace, of one that has a position.
    at: Option<Position>,
    /// Its number in the answer, of a later one than the first of `G φ`.
    later: Option<usize>,
}

/// Lists violations in the order of the log, and chooses the one that is to be explained. For `G φ` they are the positions where φ
/// fails, else the parts that fail, if the trace is divided.
fn violations(
    run: &Run<'_>,
    options: &CheckOptions,
    finding: &mut Finding,
    root: &Root,
    answer: &Answer,
) -> Option<Chosen> {
    let trace = &run.loaded.trace;
    let invariant = is_invariant(run.spec, root);
    let fails = |segment: &usize| {
        !answer.holds.get(*segment) && !answer.open.as_ref().is_some_and(|open| open.get(*segment))
    };
    // Position in the log, position in the trace, number of the violation.
    let mut failing: Vec<(Position, Position, usize)> = match invariant {
        true => {
            answer.violations.iter().enumerate().map(|(nth, &at)| (run.order.original(at), at, nth)).collect()
        }
        false if !run.order.by_key() => Vec::new(),
        false => {
            let starts = (0..trace.starts().len()).filter(fails).map(|segment| trace.starts()[segment]);
            starts.map(|at| (run.order.original(at), at, 0)).collect()
        }
    };
    finding.report.violation_count = if invariant { answer.violation_count } else { failing.len() };
    if run.order.by_key() {
        failing.sort_unstable();
    }
    let segment = |at: Position| trace.starts().partition_point(|&start| start <= at) - 1;
    let violation = |&(position, at, nth): &(Position, Position, usize)| {
        let bound = answer.bindings.get(nth).map_or(&[][..], Bindings::pairs);
        let infinite = answer.bindings.get(nth).is_some_and(Bindings::infinite);
        let names = &run.spec.program.dag.variables;
        let mut bindings: Vec<_> = bound
            .iter()
            .map(|(variable, value)| (names[*variable as usize].clone(), value.clone()))
            .collect();
        let key = run.labels.get(segment(at)).key;
        bindings.extend(options.by.clone().zip(key));
        // Without a position of its own, a violation has no time either.
        let (own, time) = if invariant { (Some(position), run.stamp(at)) } else { (None, None) };
        Violation { position: own, time, bindings, infinite, ..Violation::default() }
    };
    let columns = options.listing && invariant && run.spec.program.chart(root.node).is_none();
    let most = if columns { options.violations.min(LOCATED) } else { options.violations };
    for each in failing.iter().take(most.max(1)) {
        finding.add(each.0, violation(each));
    }
    if invariant && options.violations > 0 {
        let alike = |a: usize, b: usize| {
            let ((_, at, nth), (_, other, next)) = (failing[a], failing[b]);
            segment(at) == segment(other) && answer.bindings.get(nth) == answer.bindings.get(next)
        };
        let found = ranges::ranges(&failing, most, alike);
        finding.report.ranges = found
            .iter()
            .map(|&(first, last)| ViolationRange {
                first: violation(&failing[first]),
                last: failing[last].0,
                last_time: run.stamp(failing[last].1),
                last_line: None,
                count: last - first + 1,
            })
            .collect();
    }
    if columns {
        let listed = &failing[..failing.len().min(options.violations)];
        finding.report.listing =
            Some(listing::Shared::new(Listing::new(run, options.by.as_deref(), answer, listed)));
    }
    if options.overview && !failing.is_empty() {
        let cut = finding.report.violation_count > failing.len();
        let positions = failing.iter().map(|&(position, ..)| position);
        finding.report.timeline = Some(ranges::timeline(positions, run.loaded.summary.positions, cut));
    }
    // Parts of the trace whose end leaves a chart incomplete.
    if run.spec.program.chart(root.node).is_some() {
        let mut broken: Vec<usize> = failing.iter().map(|&(_, at, _)| segment(at)).collect();
        broken.sort_unstable();
        let ended = (0..trace.starts().len()).filter(fails).filter(|own| broken.binary_search(own).is_err());
        // Of a trace that is not divided, a violation that is not listed is counted.
        for segment in ended.filter(|_| run.order.by_key() || answer.violation_count == 0) {
            finding.report.violation_count += 1;
            if finding.report.violations.len() < options.violations.max(1) {
                let key = run.labels.get(segment).key;
                let bindings = options.by.clone().zip(key).into_iter().collect();
                finding.add(NOWHERE, Violation { bindings, ..Violation::default() });
            }
        }
    }
    let later = failing.get(options.explained).filter(|_| options.explained > 0);
    let chosen = later.or(failing.first()).map(|&(_, at, nth)| Chosen {
        segment: segment(at),
        at: Some(at),
        later: later.filter(|_| invariant).map(|_| nth),
    });
    let whole = |segment| Chosen { segment, at: None, later: None };
    chosen.or_else(|| (0..trace.starts().len()).find(fails).map(whole))
}

/// The verdict over all segments: violated if one is, else open if one is.
pub(crate) fn verdict(answer: &Answer) -> Verdict {
    let open = answer.open.as_ref().map_or(0, Bits::count_ones);
    match answer.holds.len() - answer.holds.count_ones() - open {
        0 if open == 0 => Verdict::Satisfied,
        0 => Verdict::Unknown,
        _ => Verdict::Violated,
    }
}

/// What was found about a property, before its positions are looked up in the log: that is done for all properties at
/// once, since many of them point at the same lines.
pub(crate) struct Finding {
    pub report: PropertyReport,
    /// Position in the log of each violation.
    pub positions: Vec<Position>,
    /// The formula to explain, where in the trace as evaluated, and for which values.
    pub explain: Option<Request>,
    /// Where `φ` fails first, if that is of a `G φ` from its start.
    pub fails: Option<Position>,
    pub explanation: Option<Explanation>,
    /// Of a violated chart, the part of the trace to explain, and where in it, if not at its end.
    pub chart: Option<(usize, Option<Position>)>,
}

impl Finding {
    pub(crate) fn new(report: PropertyReport) -> Self {
        Self { report, positions: Vec::new(), explain: None, fails: None, explanation: None, chart: None }
    }

    pub(crate) fn add(&mut self, position: Position, violation: Violation) {
        self.positions.push(position);
        self.report.violations.push(violation);
    }
}

/// Where lines of the specification end.
pub(crate) fn newlines(spec: &Specification) -> Vec<u32> {
    let Some(root) = spec.program.roots.first() else { return Vec::new() };
    let text = &spec.sources.get(root.span.source).text;
    text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at as u32).collect()
}

pub(crate) fn property(
    spec: &Specification,
    newlines: &[u32],
    root: &Root,
    verdict: Verdict,
) -> PropertyReport {
    let source = spec.sources.get(root.span.source);
    // Of the text that the first property stands in, where most often all do.
    let known = spec.program.roots.first().is_some_and(|first| first.span.source == root.span.source);
    let line = match known {
        true => newlines.partition_point(|&newline| newline < root.span.start) as u64 + 1,
        false => words::source(root.span, &spec.sources).1,
    };
    PropertyReport {
        name: root.name.clone(),
        title: root.title.clone(),
        formula: spec.words(root.node),
        source: (source.name.clone(), line),
        verdict,
        ..PropertyReport::default()
    }
}

/// Whether the root is `G φ`, perhaps under outer `forall`s: then positions violate it.
pub(crate) fn is_invariant(spec: &Specification, root: &Root) -> bool {
    spec.program.invariant(root.node).is_some()
}

pub(crate) fn log_line(located: &Located) -> Option<LogLine> {
    let text = located.text.clone().unwrap_or_default();
    Some(LogLine { file: located.file.clone(), line: located.line?, text })
}

/// The report of a run.
pub(crate) fn report(
    run: &mut Run<'_>,
    options: &CheckOptions,
    properties: Vec<PropertyReport>,
) -> CheckReport {
    let warnings = run.warnings();
    let ticks = if options.overview { ticks(run) } else { Vec::new() };
    CheckReport {
        trace: run.loaded.name().to_string(),
        positions: run.loaded.summary.positions,
        bytes: run.loaded.summary.bytes,
        skipped: run.loaded.summary.skipped,
        engine: if run.spec.program.roots.is_empty() { monitors::ENGINE } else { run.chosen.engine },
        semantics: run.session.evaluate.semantics.name(),
        by: options.by.clone().map(|column| (column, run.labels.len())),
        properties,
        warnings,
        slicing: Vec::new(),
        ticks,
    }
}

/// How many reports of a monitor there are in each part of the log; none of those about its end.
pub(crate) fn monitor_timeline(
    positions: impl Iterator<Item = Position>,
    all: u64,
    cut: bool,
) -> Option<Timeline> {
    let mut positions = positions.peekable();
    positions.peek()?;
    Some(ranges::timeline(positions, all, cut))
}

/// A few positions of the log with their timestamps.
fn ticks(run: &Run<'_>) -> Vec<(Position, Option<Stamp>)> {
    let positions = ranges::ticks(run.loaded.summary.positions);
    let located = run.loaded.locate(&positions);
    let time = |position: &Position| located.get(position).and_then(|located| located.time);
    positions.iter().map(|position| (*position, time(position))).collect()
}
