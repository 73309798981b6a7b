//! Queries in one pass over a trace that is not kept: memory is what the queries hold back.

use super::compute::approximations;
use super::{Group, QueryOptions, QueryReport, QueryResult, failed, missing};
use crate::engines;
use crate::run::faults::{Fault, never_occurs, nothing_to};
use crate::run::open::Opened;
use crate::run::order::{Aside, StepsBack};
use crate::run::timing::reads_times;
use crate::{Error, Session, Specification, plan};
use std::ops::ControlFlow;
use tw_core::{Batch, Bits, Value};
use tw_monitor::{
    Answers, Computed, Known, Positions, PredicateError, Predicates, Sink, Telling, Term, Terms,
};
use tw_trace::Projection;

/// Whether the trace need not be kept: the engine reads forward, and nothing is asked that looks back.
pub(super) fn fits(session: &Session, options: &QueryOptions, spec: &Specification, name: &str) -> bool {
    let whole = spec.program.roots.iter().all(|root| root.division.is_whole());
    let forward = engines::named(Answers::Values, name).is_some_and(|engine| engine.reads_forward());
    forward && whole && !options.everywhere && !options.witness && !reads_times(session, spec)
}

struct Part {
    len: usize,
    back: StepsBack,
    atoms: Result<Vec<Bits>, PredicateError>,
    terms: Vec<Term>,
}

pub(super) fn run(
    session: &Session,
    spec: &Specification,
    files: &[String],
    name: &'static str,
) -> Result<QueryReport, Error> {
    let refused = |refusal| plan::refused(spec, name, refusal);
    let Some(engine) = engines::named(Answers::Values, name) else {
        return Err(Error::refused(format!("this build has no engine `{name}` for queries")));
    };
    let monitor = engine.monitor(&spec.program, &session.evaluate_options(), Telling::Verdicts);
    let mut monitor = monitor.map_err(refused)?;
    let mut opened = Opened::new(session, files)?;
    let lenient = opened.let_time_go_back(session, spec);
    let (predicates, terms) = (Predicates::new(&spec.program), Terms::new(&spec.program));
    let projection = Projection::of(&spec.program, None, lenient);
    let map = |batch: Batch| {
        let (len, terms) = (batch.len, terms.evaluate(&batch));
        let back = batch.times.as_deref().map(StepsBack::of).unwrap_or_default();
        Ok(Part { len, back, atoms: predicates.evaluate_owned(batch), terms })
    };
    let (mut fault, mut refusal) = (Fault::default(), None);
    let mut sink = Sink::default();
    let mut back = StepsBack::default();
    let mut fold = |part: Part| {
        back.then(part.back);
        let atoms = part.atoms.map_err(|error| fault.note(error, monitor.positions()))?;
        let positions =
            Positions { len: part.len, atoms: &atoms, terms: &part.terms, ..Positions::default() };
        Ok(match monitor.feed(&positions, &mut sink) {
            Ok(()) => ControlFlow::Continue(()),
            Err(found) => {
                refusal = Some(found);
                ControlFlow::Break(())
            }
        })
    };
    let scanned = opened.scan(session, &projection, &map, &mut fold);
    if let Some(refusal) = refusal {
        return Err(refused(refusal));
    }
    let summary = scanned.map_err(|error| fault.word(session, spec, &opened, error))?;
    let Some(values) = monitor.finish(&mut sink).map_err(refused)? else {
        return Err(nothing_to(&opened.name, "ask"));
    };
    let notes = monitor.notes();
    let (mut queries, mut failures) = (Vec::with_capacity(values.len()), Vec::new());
    for (root, known) in spec.program.roots.iter().zip(values) {
        let group = |value: Value| {
            let missing = value.is_null().then(|| missing::of_aggregate(spec, root.node)).flatten();
            Group { segment: 0, key: None, window: None, value, missing, witness: None }
        };
        let groups = match known {
            Known::Value(Computed::Value(value)) => vec![group(value)],
            Known::Value(Computed::Error(message)) => {
                failures.push(failed(spec, root, "", &message));
                Vec::new()
            }
            // An engine for queries answers with values.
            Known::Truth(_) | Known::Robustness(..) => Vec::new(),
        };
        queries.push(QueryResult {
            name: root.name.clone(),
            title: root.title.clone(),
            expression: spec.words(root.node),
            by: None,
            every: None,
            groups,
            everywhere: None,
            times: None,
            approximate: approximations(spec, root, &notes),
            counts: super::counts(spec, root),
        });
    }
    let mut warnings = spec.warnings.clone();
    warnings.extend(opened.notes());
    warnings.extend(never_occurs(spec, &summary));
    warnings.extend(Aside::of(back, &summary).warnings(&opened.name));
    Ok(QueryReport {
        trace: opened.name,
        positions: summary.positions,
        bytes: summary.bytes,
        engine: name,
        queries,
        requirements: Vec::new(),
        failures,
        warnings,
    })
}
