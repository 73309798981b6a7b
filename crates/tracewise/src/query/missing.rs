//! Why a query has no value: which part of it has none.

use super::QueryResult;
use super::compute::{Job, Ready};
use crate::plan::restrict;
use crate::{Error, Specification};
use rustc_hash::FxHashSet;
use tw_core::Value;
use tw_ir::{Aggregate, Node, NodeId, Program, RootKind};
use tw_monitor::Trace;

/// The experiments that a query asks at the first position, itself among them, ascending: below them stand aggregates
/// and what else is decided elsewhere.
pub(super) fn asked_first(program: &Program, query: NodeId) -> Vec<NodeId> {
    let (mut asked, mut todo) = (FxHashSet::from_iter([query]), vec![query]);
    while let Some(id) = todo.pop() {
        let below = match program.dag.node(id) {
            Node::Both(_, a, b) | Node::Either(_, a, b) => vec![a, b],
            Node::Default(a, _) | Node::Fails(a, _) | Node::Emit(a, _) | Node::CollectWhile(_, _, a) => {
                vec![a]
            }
            _ => Vec::new(),
        };
        todo.extend(below.into_iter().filter(|&id| asked.insert(id)));
    }
    let mut asked: Vec<NodeId> = asked.into_iter().collect();
    asked.sort_unstable();
    asked
}

/// Parts that are asked again to find a reason.
const MOST: usize = 1000;

/// Tells of every part without a value why it has none.
pub(super) fn explain(
    job: &Job<'_>,
    spec: &Specification,
    trace: &Trace,
    results: &mut [QueryResult],
) -> Result<(), Error> {
    let lacks = |result: &QueryResult| result.groups.iter().any(|group| group.value.is_null());
    let lacking = || spec.program.roots.iter().zip(results.iter()).filter(|(_, result)| lacks(result));
    let mut asked: Vec<NodeId> =
        lacking().flat_map(|(query, _)| asked_first(&spec.program, query.node)).take(MOST + 1).collect();
    asked.sort_unstable();
    asked.dedup();
    // The reason is a courtesy, not worth more than the value.
    if asked.is_empty() || asked.len() > MOST {
        return Ok(());
    }
    let parts = spec.with_roots(asked.iter().map(|&node| spec.unnamed(node, RootKind::Query)).collect());
    let shown = restrict(trace, &spec.program, &parts.program);
    let Ok(mut ready) = Ready::new(job.session, &parts, job.engine, job.options, &shown) else {
        return Ok(());
    };
    let Ok(values) = ready.values(&shown) else { return Ok(()) };
    for (query, result) in spec.program.roots.iter().zip(results) {
        for group in result.groups.iter_mut().filter(|group| group.value.is_null()) {
            let is_null = |id: NodeId| {
                let index = asked.binary_search(&id).unwrap_or_default();
                values[index].at(group.segment).ok() == Ok(&Value::Null)
            };
            group.missing = Some(reason(spec, query.node, is_null));
        }
    }
    Ok(())
}

/// Why a query that is an aggregate has no value; nothing else needs to be known.
pub(crate) fn of_aggregate(spec: &Specification, query: NodeId) -> Option<String> {
    let aggregate = matches!(spec.program.dag.node(query), Node::Collect(..));
    aggregate.then(|| reason(spec, query, |_| true))
}

fn reason(spec: &Specification, query: NodeId, is_null: impl Fn(NodeId) -> bool) -> String {
    let mut at = query;
    loop {
        let words = spec.words(at);
        return match spec.program.dag.node(at) {
            Node::Both(_, a, _) if is_null(a) => {
                at = a;
                continue;
            }
            Node::Both(_, _, b) if is_null(b) => {
                at = b;
                continue;
            }
            Node::Both(..) => format!("`{words}` divides by zero, or its result is no finite number"),
            Node::Either(_, a, _) | Node::Default(a, _) if is_null(a) => {
                at = a;
                continue;
            }
            Node::Collect(Aggregate::Count | Aggregate::Distinct, _) => {
                format!("`{words}` collected nothing; write `{words} ?? 0` to have 0 then")
            }
            Node::Collect(Aggregate::Sum, _) => {
                format!(
                    "`{words}` collected nothing, or its result is no finite number; `{words} ?? 0` is 0 then"
                )
            }
            Node::Collect(Aggregate::Corr, _) => {
                format!("`{words}` collected nothing, or one of its sides does not vary")
            }
            Node::Collect(
                Aggregate::Avg | Aggregate::Var | Aggregate::Stddev | Aggregate::Histogram(_),
                _,
            ) => {
                format!("`{words}` collected nothing, or its result is no finite number")
            }
            Node::Collect(..) => format!("`{words}` collected nothing"),
            Node::CollectWhile(_, _, during) if is_null(during) => {
                format!("`{}` does not hold at the first position", spec.words(during))
            }
            Node::CollectWhile(..) => format!("`{words}` collected nothing"),
            Node::Emit(formula, _) if is_null(formula) => {
                format!("`{}` does not hold at the first position", spec.words(formula))
            }
            Node::Emit(_, term) => format!("`{}` has no value at the first position", spec.words(term)),
            Node::NextMap { .. } => format!("`{words}` has no value at the second position"),
            Node::UntilMap { .. } => format!("what `{words}` waits for does not come"),
            Node::Fails(..) => format!("`{words}` has a value only where its part has none"),
            _ => format!("`{words}` does not hold at the first position"),
        };
    }
}
