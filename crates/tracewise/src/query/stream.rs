//! Queries in one pass over a trace that is not kept: memory is what the queries hold back.

use super::compute::approximations;
use super::{Group, QueryReport, QueryResult, failed, missing};
use crate::load::{display_name, needs_times, never_occurs, not_computable, open, trace_error};
use crate::{Error, Session, Specification, plan};
use std::ops::ControlFlow;
use tw_core::{Batch, Bits, Position, Value};
use tw_ir::NodeId;
use tw_monitor::{Computed, Positions, PredicateError, Predicates, QueryEngine, Term, Terms, Unsupported};
use tw_trace::{Projection, TraceError, TraceErrorKind};

/// Whether the trace need not be kept: the engine reads forward, and nothing is asked that looks back.
pub(super) fn fits(session: &Session, spec: &Specification, engine: &dyn QueryEngine) -> bool {
    let whole = spec.program.roots.iter().all(|root| root.division.is_whole());
    engine.reads_forward() && whole && !session.everywhere && !session.witness && !needs_times(session, spec)
}

struct Part {
    len: usize,
    atoms: Result<Vec<Bits>, PredicateError>,
    terms: Vec<Term>,
}

pub(super) fn run(
    session: &Session,
    spec: &Specification,
    files: &[String],
    engine: &dyn QueryEngine,
) -> Result<QueryReport, Error> {
    let refused = |refusal| plan::refused(spec, engine.name(), refusal);
    let mut monitor = engine.monitor(&spec.program, &session.evaluate_options()).map_err(refused)?;
    let (input, format) = open(session, files)?;
    let (predicates, terms) = (Predicates::new(&spec.program), Terms::new(&spec.program));
    let projection = Projection::new(&spec.program.slots, None, false);
    let map = |batch: Batch| -> Result<Part, TraceError> {
        let (len, terms) = (batch.len, terms.evaluate(&batch));
        Ok(Part { len, atoms: predicates.evaluate_owned(batch), terms })
    };
    let mut wrong: Option<(NodeId, Position)> = None;
    let mut refusal: Option<Unsupported> = None;
    let mut fold = |part: Part| -> Result<ControlFlow<()>, TraceError> {
        let atoms = part.atoms.map_err(|error| {
            wrong = Some((error.node, monitor.position() + error.position));
            TraceError::new(TraceErrorKind::Type, error.message)
        })?;
        if let Some(progress) = &session.progress {
            progress.set(input.bytes_read(), input.size());
        }
        let live = Positions { len: part.len, atoms: &atoms, terms: &part.terms, ..Positions::default() };
        match monitor.push(&live) {
            Ok(()) => Ok(ControlFlow::Continue(())),
            Err(found) => {
                refusal = Some(found);
                Ok(ControlFlow::Break(()))
            }
        }
    };
    let scanned = tw_trace::scan(&input, format, &projection, &session.read, &map, &mut fold);
    if let Some(refusal) = refusal {
        return Err(refused(refusal));
    }
    let name = display_name(files);
    let summary = scanned.map_err(|error| match wrong {
        Some((node, position)) => not_computable(session, spec, &input, format, error, node, position),
        None => trace_error(spec, error.in_file(&name)),
    })?;
    if summary.positions == 0 {
        return Err(TraceError::new(
            TraceErrorKind::Usage,
            "the trace has no positions, so there is nothing to ask",
        )
        .in_file(&name)
        .into());
    }
    let values = monitor.values().map_err(refused)?;
    let notes = monitor.notes();
    let (mut queries, mut failures) = (Vec::with_capacity(values.len()), Vec::new());
    for (root, computed) in spec.program.roots.iter().zip(values) {
        let group = |value: Value| {
            let missing = value.is_null().then(|| missing::of_aggregate(spec, root.node)).flatten();
            Group { segment: 0, key: None, window: None, value, missing, witness: None }
        };
        let groups = match computed {
            Computed::Value(value) => vec![group(value)],
            Computed::Error(message) => {
                failures.push(failed(spec, root, "", &message));
                Vec::new()
            }
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
        });
    }
    let mut warnings = spec.warnings.clone();
    warnings.extend(never_occurs(spec, &summary));
    Ok(QueryReport {
        trace: name,
        positions: summary.positions,
        bytes: summary.bytes,
        engine: engine.name(),
        queries,
        failures,
        warnings,
    })
}
