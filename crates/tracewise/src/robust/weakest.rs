//! The weakest link of a value in the user's own words: predicate, sample, log line.

use super::{Reason, Robustness, WeakestLink, parts};
use crate::diag::Diagnostic;
use crate::run::Run;
use crate::{Specification, Value, check};
use tw_core::Position;
use tw_engine_robust::{Robust, Samples, Weakest};
use tw_ir::{Node, NodeId, What};
use tw_trace::Located;

/// Parts of a trace whose values are explained.
const EXPLAINED: usize = 100;

/// Adds what decides each property's value. What takes too much memory is a warning: the values stand.
pub(super) fn add(
    run: &Run<'_>,
    robust: &Robust,
    properties: &mut [Robustness],
    warnings: &mut Vec<Diagnostic>,
) {
    let samples = Samples::of(&run.loaded.trace);
    let mut found: Vec<Option<Weakest>> = Vec::with_capacity(properties.len());
    for (root, at, _) in parts(run, properties).take(EXPLAINED.max(run.spec.program.roots.len())) {
        match robust.weakest(&samples, root.node, at) {
            Ok(weakest) => found.push(Some(weakest)),
            Err(refusal) => {
                let message = format!("what decides the value is not told: {}", refusal.what);
                warnings.push(Diagnostic::warning("not-explained", message));
                return;
            }
        }
    }
    let mut positions: Vec<Position> =
        found.iter().flatten().map(|weakest| run.order.original(weakest.position)).collect();
    positions.sort_unstable();
    positions.dedup();
    let lines = run.locate(&positions);
    for (property, weakest) in properties.iter_mut().zip(found) {
        // Between the samples a value may be decided where there is none.
        let Some(weakest) = weakest.filter(|weakest| weakest.value.abs() == property.value.abs()) else {
            continue;
        };
        let position = run.order.original(weakest.position);
        let located = lines.get(&position);
        let reason = reason(run.spec, weakest.node);
        property.weakest = Some(WeakestLink {
            formula: run.spec.words(weakest.node),
            reason,
            position,
            time: run.stamp(weakest.position).or(located.and_then(|located| located.time)),
            value: weakest.value,
            values: values(run, weakest.node, reason, located, position),
            line: located.and_then(check::log_line),
        });
    }
}

fn reason(spec: &Specification, node: NodeId) -> Reason {
    match spec.program.dag.node(node) {
        Node::Truth(_) | Node::Compare(..) | Node::In(..) | Node::Matches(..) | Node::Has(_) => {
            Reason::Predicate
        }
        Node::Bool(_) | Node::First | Node::Last => Reason::Constant,
        _ => Reason::Empty,
    }
}

/// The columns and streams that a predicate reads.
fn values(
    run: &Run<'_>,
    node: NodeId,
    reason: Reason,
    located: Option<&Located>,
    position: Position,
) -> Vec<(String, Value)> {
    let Some(row) = located.and_then(|located| located.row.as_ref()) else { return Vec::new() };
    if reason != Reason::Predicate {
        return Vec::new();
    }
    let program = &run.spec.program;
    let mut values: Vec<(String, Value)> = Vec::new();
    for part in program.reachable(&[node]) {
        let (Node::Slot(slot) | Node::Truth(slot)) = program.dag.node(part) else { continue };
        let path = match &program.slots[slot as usize].what {
            What::Proposition(path) | What::Variable(path, _) => path,
            What::Stream { .. } | What::Shift(_) | What::Window(_) => {
                let name = tw_ir::display(program, part);
                if let Some(value) = run.loaded.computed(slot, position)
                    && !values.iter().any(|(known, _)| *known == name)
                {
                    values.push((name, value));
                }
                continue;
            }
            What::Event { .. } | What::Tuples { .. } | What::Timing(_) => continue,
        };
        let (name, value) = (path.to_string(), tw_trace::value_at(row, path));
        // A proposition that the row does not have is an event that does not happen.
        let event = matches!(program.dag.node(part), Node::Truth(_)) && value.is_null();
        if !event && !values.iter().any(|(known, _)| *known == name) {
            values.push((name, value));
        }
    }
    values
}
