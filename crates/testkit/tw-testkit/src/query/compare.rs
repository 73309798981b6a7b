//! An engine for queries against the reference.

use super::{QueryCase, QueryShape, shrink};
use crate::Rng;
use crate::conformance::{Summary, each};
use std::fmt::Write;
use std::ops::Range;
use tw_core::Value;
use tw_engine_reference::ReferenceQueries;
use tw_ir::{NodeId, display};
use tw_monitor::{Computed, QueryEngine, Trace, Unsupported, Values};

/// Compares `engine` with the reference on the case of every seed: the values of the queries at the first position of
/// every segment, and of every experiment and guard at every position, bit by bit. Panics on the first difference, with
/// the case made small.
pub fn compare(engine: &dyn QueryEngine, shape: &QueryShape, seeds: Range<u64>) -> Summary {
    each(seeds, |seed| {
        let case = QueryCase::new(seed, shape);
        let differs = |case: &QueryCase| matches!(difference(engine, case), Ok(Some(_)));
        let told = |small: QueryCase| (describe(&small), difference(engine, &small).ok().flatten());
        difference(engine, &case).map(|found| found.map(|_| (engine.name(), told(shrink(case, differs)))))
    })
}

/// What the engine computes differently, or its refusal. A panic inside the engine is left to the caller.
pub fn difference(engine: &dyn QueryEngine, case: &QueryCase) -> Result<Option<String>, Unsupported> {
    let program = &case.program;
    let mut evaluator = engine.plan(program, &case.options)?;
    let mut reference = ReferenceQueries.plan(program, &case.options)?;
    let defined = case.trace().map_err(|error| Unsupported::budget(error.to_string()))?;
    let mut trace = defined.clone();
    let wanted = evaluator.wanted();
    if !wanted.terms {
        trace.terms.clear();
    }
    if !wanted.slots {
        trace.slots = None;
    }
    let guards = case.guards(&defined, reference.guards())?;
    let given = case.guards(&defined, evaluator.guards())?;

    let expected = reference.values(&defined, &guards)?;
    if let Some(wrong) = wrong_values(case, &expected, &evaluator.values(&trace, &given)?) {
        return Ok(Some(wrong));
    }
    let mut nodes = case.experiments();
    nodes.extend(program.guards());
    // Not always all of them, nor in their own order.
    let mut rng = Rng::new(case.seed);
    if rng.one_in(4) {
        (0..nodes.len()).for_each(|i| nodes.swap(i, rng.below(i + 1)));
        nodes.truncate(1 + rng.below(nodes.len()));
    }
    let columns = evaluator.columns(&trace, &given, &nodes)?;
    if let Some(wrong) = wrong_columns(case, &nodes, &reference.columns(&defined, &guards, &nodes)?, &columns)
    {
        return Ok(Some(wrong));
    }
    // What was asked before must not matter.
    if rng.one_in(8)
        && let Some(wrong) = wrong_values(case, &expected, &evaluator.values(&trace, &given)?)
    {
        return Ok(Some(format!("asked again, {wrong}")));
    }
    let notes = evaluator.notes();
    Ok((!notes.is_empty()).then(|| format!("not exact: {notes:?}\n")))
}

fn wrong_values(case: &QueryCase, expected: &[Vec<Computed>], found: &[Vec<Computed>]) -> Option<String> {
    if found.len() != expected.len() {
        return Some(format!("{} values for {} queries\n", found.len(), expected.len()));
    }
    for (root, (expected, found)) in case.program.roots.iter().zip(expected.iter().zip(found)) {
        let alike = expected.len() == found.len() && expected.iter().zip(found).all(|(a, b)| same(a, b));
        if !alike {
            let query = display(&case.program, root.node);
            return Some(format!("value of {query}\n  reference {expected:?}\n  engine    {found:?}\n"));
        }
    }
    None
}

fn wrong_columns(
    case: &QueryCase,
    nodes: &[NodeId],
    expected: &[Values],
    found: &[Values],
) -> Option<String> {
    if found.len() != nodes.len() {
        return Some(format!("{} columns for {} nodes\n", found.len(), nodes.len()));
    }
    for (node, (expected, found)) in nodes.iter().zip(expected.iter().zip(found)) {
        if found.len() != case.len() {
            return Some(format!("a column of {} positions\n", found.len()));
        }
        let (expected, found): (Vec<_>, Vec<_>) =
            (0..case.len()).map(|at| (expected.at(at), found.at(at))).unzip();
        if let Some(at) = (0..case.len()).find(|&at| !same(&expected[at], &found[at])) {
            return Some(format!(
                "values of {} at {at}: {:?}, not {:?}\n  reference {}\n  engine    {}\n",
                display(&case.program, *node),
                found[at],
                expected[at],
                list(&expected),
                list(&found)
            ));
        }
    }
    None
}

fn list(values: &[Computed]) -> String {
    let shown = values.iter().map(|value| match value {
        Computed::Value(Value::Null) => "·".to_owned(),
        Computed::Value(value) => value.to_string(),
        Computed::Error(_) => "error".to_owned(),
    });
    shown.collect::<Vec<_>>().join(" ")
}

/// Whether two results are alike: values bit by bit, errors whatever they say.
pub fn same(a: &Computed, b: &Computed) -> bool {
    match (a, b) {
        (Computed::Value(a), Computed::Value(b)) => same_value(a, b),
        (Computed::Error(_), Computed::Error(_)) => true,
        _ => false,
    }
}

fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Real(a), Value::Real(b)) => a.to_bits() == b.to_bits(),
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b))
        }
        _ => a == b,
    }
}

/// The value of each query at the first position of each segment, by the reference.
pub fn reference_values(case: &QueryCase, trace: &Trace) -> Result<Vec<Vec<Computed>>, Unsupported> {
    let mut reference = ReferenceQueries.plan(&case.program, &case.options)?;
    let guards = case.guards(trace, reference.guards())?;
    reference.values(trace, &guards)
}

/// The values of experiments and guards at every position, by the reference.
pub fn reference_columns(case: &QueryCase, nodes: &[NodeId]) -> Result<Vec<Values>, Unsupported> {
    let trace = case.trace().map_err(|error| Unsupported::budget(error.to_string()))?;
    let mut reference = ReferenceQueries.plan(&case.program, &case.options)?;
    let guards = case.guards(&trace, reference.guards())?;
    reference.columns(&trace, &guards, nodes)
}

/// The case as text: queries, what the trace holds, options.
pub fn describe(case: &QueryCase) -> String {
    let mut out = String::new();
    let program = &case.program;
    for root in &program.roots {
        let _ = writeln!(out, "  {}: {}", root.name, display(program, root.node));
    }
    let roots: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
    for id in program.reachable(&roots) {
        if let tw_ir::Node::Slot(slot) | tw_ir::Node::Truth(slot) = program.dag.node(id) {
            let column = &case.slots[slot as usize];
            let values: Vec<String> = (0..case.len()).map(|at| column.value(at).to_string()).collect();
            let _ = writeln!(out, "  {} = {}", display(program, id), values.join(" "));
        }
    }
    let o = &case.options;
    let _ = writeln!(
        out,
        "  {} positions, segments at {:?}, {} threads, block {:?}",
        case.len(),
        case.starts,
        o.threads,
        o.block
    );
    out
}
