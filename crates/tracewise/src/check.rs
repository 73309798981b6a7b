//! `check`: verdict, violations and explanation of every property on one trace.

use crate::load::{Loaded, load};
use crate::narrate::Narrator;
use crate::{CheckReport, Error, LogLine, PropertyReport, Session, Specification, Violation, plan};
use tw_core::{Position, Verdict};
use tw_ir::{Clock, Node, NodeId, Root, RootKind};
use tw_monitor::{Engine, Evaluator, Explanation};
use tw_trace::{Located, Stamp};

/// How many violations get their log line looked up; the rest are positions and times alone.
pub(crate) const LOCATED: usize = 100;

pub(crate) fn check(session: &Session, spec: &Specification, files: &[String]) -> Result<CheckReport, Error> {
    refuse_queries(spec)?;
    let (engine, evaluator) = plan::choose(session, spec, &session.evaluate_options())?;
    let all_times = session.violations > LOCATED;
    let mut loaded = load(session, spec, files, evaluator.wanted(), all_times, None)?;
    refuse_empty(&loaded)?;
    let (engine, mut evaluator) = replan(session, spec, &loaded, engine, evaluator)?;
    let answers = evaluator
        .evaluate(&loaded.trace, session.violations.max(1))
        .map_err(|refusal| plan::refused(spec, engine.name(), refusal))?;

    let narrator = Narrator::new(session, spec, &loaded, None);
    let newlines = newlines(spec);
    let mut findings = Vec::with_capacity(answers.len());
    for (root, answer) in spec.program.roots.iter().zip(answers) {
        let holds = answer.holds.get(0);
        let verdict = if holds { Verdict::Satisfied } else { Verdict::Violated };
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
        if session.explain && (!holds || session.witness) {
            finding.explain = Some((root.node, 0));
        }
        findings.push(finding);
    }
    let unexplained = narrator.explain(evaluator.as_mut(), &mut findings);
    let properties = narrator.tell(findings);
    loaded.warnings.extend(unexplained);
    Ok(report(session, spec, loaded, engine, properties, None))
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

/// Queries have values, not verdicts.
pub(crate) fn refuse_queries(spec: &Specification) -> Result<(), Error> {
    match spec.program.roots.iter().find(|root| root.kind == RootKind::Query) {
        None => Ok(()),
        Some(root) => Err(Error::Unsupported {
            diagnostic: tw_diag::Diagnostic::error(
                "query-in-check",
                format!(
                    "`{}` is a query: it has a value, not a verdict, and no engine of this build computes it",
                    root.name
                ),
            )
            .at(root.span, "this query")
            .help("keep queries in a file of their own, apart from the properties to check"),
            sources: Box::new(spec.sources.clone()),
        }),
    }
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

/// The same engine again, if the trace turned out to have no timestamps: then bounds count positions.
pub(crate) fn replan<'p>(
    session: &Session,
    spec: &'p Specification,
    loaded: &Loaded,
    engine: &'static dyn Engine,
    evaluator: Box<dyn Evaluator + 'p>,
) -> Result<(&'static dyn Engine, Box<dyn Evaluator + 'p>), Error> {
    if loaded.summary.timed || !crate::load::needs_times(session, spec) {
        return Ok((engine, evaluator));
    }
    let session = session.clone().clock(Clock::Index).engine(engine.name());
    let options = session.evaluate_options();
    plan::refuse_units(spec, &options, &format!("{} has no timestamps", loaded.name))?;
    plan::choose(&session, spec, &options)
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
