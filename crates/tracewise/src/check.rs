//! `check`: verdict, violations and explanation of every property on one trace.

use crate::load::{Loaded, Need, load};
use crate::narrate::Narrator;
use crate::plan::{self, Chosen};
use crate::{CheckReport, Error, LogLine, PropertyReport, Session, Specification, Violation, statistics};
use std::borrow::Cow;
use tw_core::{Bits, Position, Verdict};
use tw_ir::{Clock, Node, NodeId, Root, RootKind};
use tw_monitor::{Answer, Engine, EvaluateOptions, Explanation};
use tw_trace::{Located, Stamp};

/// How many violations get their log line looked up; the rest are positions and times alone.
pub(crate) const LOCATED: usize = 100;

pub(crate) fn check(session: &Session, spec: &Specification, files: &[String]) -> Result<CheckReport, Error> {
    let spec = &*properties_of(spec)?;
    let chosen = plan::choose(session, spec, &session.evaluate_options())?;
    let need = Need { times: session.violations > LOCATED, ..Need::of(chosen.evaluator.wanted()) };
    let mut loaded = load(session, spec, files, need)?;
    refuse_empty(&loaded)?;
    let (mut chosen, options) = replan(session, spec, &loaded, chosen)?;
    let answers = chosen.evaluate(spec, &options, &loaded.trace, session.violations.max(1))?;

    let narrator = Narrator::new(session, spec, &loaded, None);
    let newlines = newlines(spec);
    let mut findings = Vec::with_capacity(answers.len());
    for (root, answer) in spec.program.roots.iter().zip(answers) {
        let verdict = verdict(&answer);
        let mut finding = Finding::new(property(spec, &newlines, root, verdict));
        finding.report.violation_count = answer.violation_count;
        let times = loaded.trace.times.as_ref().zip(loaded.summary.style);
        for position in answer.violations {
            let time = times.map(|(times, style)| Stamp { time: times[position], style });
            finding.add(
                position,
                Violation { position: Some(position), time, bindings: Vec::new(), line: None },
            );
        }
        if session.explain && (verdict == Verdict::Violated || session.witness) {
            finding.explain = Some((root.node, 0));
        }
        if let Some(statistic) = session.statistic {
            finding.report.statistic =
                Some(statistics::statistic(session, spec, root, statistic, &loaded, verdict)?);
        }
        findings.push(finding);
    }
    let unexplained = narrator.explain(chosen.evaluator.as_mut(), &mut findings);
    let properties = narrator.tell(findings);
    loaded.warnings.extend(chosen.notes);
    loaded.warnings.extend(unexplained);
    Ok(report(session, spec, loaded, chosen.engine, properties, None))
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
    /// The formula to explain and where, in the trace as evaluated.
    pub explain: Option<(NodeId, Position)>,
    pub explanation: Option<Explanation>,
}

impl Finding {
    pub(crate) fn new(report: PropertyReport) -> Self {
        Self { report, positions: Vec::new(), explain: None, explanation: None }
    }

    pub(crate) fn add(&mut self, position: Position, violation: Violation) {
        self.positions.push(position);
        self.report.violations.push(violation);
    }
}

/// The specification without its queries, which have values, not verdicts.
pub(crate) fn properties_of(spec: &Specification) -> Result<Cow<'_, Specification>, Error> {
    let is_query = |root: &Root| root.kind == RootKind::Query;
    let Some(query) = spec.program.roots.iter().find(|root| is_query(root)) else {
        return Ok(Cow::Borrowed(spec));
    };
    if spec.program.roots.iter().all(is_query) {
        return Err(Error::Unsupported {
            diagnostic: tw_diag::Diagnostic::error(
                "query-in-check",
                format!("`{}` is a query: it has a value, not a verdict", query.name),
            )
            .at(query.span, "this query")
            .help("`tracewise query` computes it; a property is written `property name : …;`"),
            sources: Box::new(spec.sources.clone()),
        });
    }
    let mut spec = spec.clone();
    spec.program.roots.retain(|root| !is_query(root));
    Ok(Cow::Owned(spec))
}

/// An empty trace has no position 0 for a property to hold at.
pub(crate) fn refuse_empty(loaded: &Loaded) -> Result<(), Error> {
    if loaded.trace.len > 0 {
        return Ok(());
    }
    let error = tw_trace::TraceError::new(
        tw_trace::TraceErrorKind::Usage,
        "the trace has no positions, so there is nothing to check",
    )
    .in_file(&loaded.name);
    Err(error.into())
}

/// A trace without timestamps, where they are needed.
pub(crate) fn without_timestamps(trace: &str, why: &str) -> Error {
    let message = format!("{why}, and this trace has none (`--time COL` names their column)");
    tw_trace::TraceError::new(tw_trace::TraceErrorKind::Usage, message).in_file(trace).into()
}

/// The same engine again, if the trace turned out to have no timestamps: then bounds count positions.
pub(crate) fn replan<'p>(
    session: &Session,
    spec: &'p Specification,
    loaded: &Loaded,
    chosen: Chosen<'p>,
) -> Result<(Chosen<'p>, EvaluateOptions), Error> {
    if loaded.summary.timed || !crate::load::needs_times(session, spec) {
        return Ok((chosen, session.evaluate_options()));
    }
    if session.clock == Clock::Dense {
        return Err(without_timestamps(&loaded.name, "`--clock dense` is about the time between timestamps"));
    }
    let engine = if chosen.divided { "auto" } else { chosen.engine.name() };
    let session = session.clone().clock(Clock::Index).engine(engine);
    let options = session.evaluate_options();
    plan::refuse_units(spec, &options, &format!("{} has no timestamps", loaded.name))?;
    Ok((plan::choose(&session, spec, &options)?, options))
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
    let line = newlines.partition_point(|&newline| newline < root.span.start) as u64 + 1;
    PropertyReport {
        name: root.name.clone(),
        title: root.title.clone(),
        formula: spec.words(root.node),
        source: (source.name.clone(), line),
        verdict,
        position: None,
        time: None,
        violations: Vec::new(),
        violation_count: 0,
        explanation: None,
        statistic: None,
        guarantee: None,
    }
}

pub(crate) fn is_invariant(spec: &Specification, root: &Root) -> bool {
    matches!(spec.program.dag.node(root.node), Node::Globally(None, _))
}

pub(crate) fn log_line(located: &Located) -> Option<LogLine> {
    let text = located.text.clone().unwrap_or_default();
    Some(LogLine { file: located.file.clone(), line: located.line?, text })
}

pub(crate) fn report(
    session: &Session,
    spec: &Specification,
    loaded: Loaded,
    engine: &'static dyn Engine,
    properties: Vec<PropertyReport>,
    by: Option<(String, usize)>,
) -> CheckReport {
    let mut warnings = spec.warnings.clone();
    warnings.extend(loaded.warnings);
    CheckReport {
        trace: loaded.name,
        positions: loaded.summary.positions,
        bytes: loaded.summary.bytes,
        engine: engine.name(),
        semantics: session.semantics.name(),
        by,
        properties,
        warnings,
    }
}
