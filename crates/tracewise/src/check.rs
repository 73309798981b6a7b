//! `check`: verdict, violations and explanation of every property on one trace.

use crate::load::{Loaded, load};
use crate::narrate::Narrator;
use crate::{CheckReport, Error, LogLine, PropertyReport, Session, Specification, Violation, plan};
use tw_core::{Position, Verdict};
use tw_ir::{Clock, Node, Root, RootKind};
use tw_monitor::{Answer, Engine, Evaluator};
use tw_trace::{Located, Stamp};

/// How many violations get their log line looked up; the rest are positions and times alone.
pub(crate) const LOCATED: usize = 100;

pub(crate) fn check(session: &Session, spec: &Specification, files: &[String]) -> Result<CheckReport, Error> {
    refuse_queries(spec)?;
    let (engine, evaluator) = plan::choose(session, spec, &session.evaluate_options())?;
    let all_times = session.violations > LOCATED;
    let loaded = load(session, spec, files, evaluator.wanted(), all_times, None)?;
    refuse_empty(&loaded)?;
    let (engine, mut evaluator) = replan(session, spec, &loaded, engine, evaluator)?;
    let answers = evaluator
        .evaluate(&loaded.trace, session.violations.max(1))
        .map_err(|refusal| plan::refused(spec, engine.name(), refusal))?;

    let mut properties = Vec::with_capacity(answers.len());
    let narrator = Narrator::new(session, spec, &loaded, None);
    for (root, answer) in spec.program.roots.iter().zip(answers) {
        let holds = answer.holds.get(0);
        let mut report = property(spec, root, if holds { Verdict::Satisfied } else { Verdict::Violated });
        list_violations(session, &mut report, &loaded, &answer);
        if session.explain && (!holds || session.witness) {
            report.explanation = narrator.explain(evaluator.as_mut(), root.node, 0)?;
        }
        properties.push(report);
    }
    Ok(report(session, spec, loaded, engine, properties, None))
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
    Err(Error::Trace { error: Box::new(error), asked: None, sources: Box::default() })
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

pub(crate) fn property(spec: &Specification, root: &Root, verdict: Verdict) -> PropertyReport {
    let source = spec.sources.get(root.span.source);
    let before = source.text.get(..root.span.start as usize).unwrap_or("");
    PropertyReport {
        name: root.name.clone(),
        title: root.title.clone(),
        formula: spec.words(root.node),
        source: (source.name.clone(), before.matches('\n').count() as u64 + 1),
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

/// Timestamps and lines of the first [`LOCATED`] of `positions`.
pub(crate) fn places(
    session: &Session,
    loaded: &Loaded,
    positions: &[Position],
) -> Vec<(Option<Stamp>, Option<LogLine>)> {
    let located = loaded.locate(session, &positions[..positions.len().min(LOCATED)]);
    let place = |at| located.get(at).map_or((None, None), |located| (located.time, log_line(located)));
    positions.iter().map(place).collect()
}

pub(crate) fn log_line(located: &Located) -> Option<LogLine> {
    let text = located.text.clone().unwrap_or_default();
    Some(LogLine { file: located.file.clone(), line: located.line?, text })
}

fn list_violations(session: &Session, report: &mut PropertyReport, loaded: &Loaded, answer: &Answer) {
    report.violation_count = answer.violation_count;
    let places = places(session, loaded, &answer.violations);
    report.violations = answer
        .violations
        .iter()
        .zip(places)
        .map(|(&position, (time, line))| {
            // Past the lines that are looked up, times come from the column that was read for that purpose.
            let stored = loaded.trace.times.as_ref().zip(loaded.summary.style);
            let time = time.or(stored.map(|(times, style)| Stamp { time: times[position], style }));
            Violation { position: Some(position), time, bindings: Vec::new(), line }
        })
        .collect();
    if let Some(first) = report.violations.first() {
        report.position = first.position;
        report.time = first.time;
    }
    report.violations.truncate(session.violations);
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
