//! Which queries can be answered position by position.
//!
//! An `agg[ψ]` that is asked at the first position only is a running statistic. Asked anywhere else it has as many
//! values as there are positions, and all of them change until the end. So such aggregates may stand under
//! arithmetic, `&{g}`, `|{g}`, `!{c}` and `??` that are themselves asked at the first position, and nowhere else.
//! Inside ψ stands what some later position decides.

use std::collections::BTreeSet;
use tw_ir::{Node, NodeId, Program, display};
use tw_monitor::Unsupported;

/// Why the query at `node` cannot be answered by reading forward; nothing if it can.
pub fn why_not(program: &Program, node: NodeId) -> Option<Unsupported> {
    let dag = &program.dag;
    let mut seen = [vec![false; dag.len()], vec![false; dag.len()]];
    // Asked at the first position, or of every position by the node beside it.
    let mut todo: Vec<(NodeId, Option<NodeId>)> = vec![(node, None)];
    while let Some((id, asker)) = todo.pop() {
        if std::mem::replace(&mut seen[usize::from(asker.is_some())][id.index()], true) {
            continue;
        }
        let node = dag.node(id);
        match (node, asker) {
            (Node::Collect(..), Some(asker)) => return Some(rest_of_trace(program, id, asker)),
            (Node::Collect(_, a), None) => todo.push((a, Some(id))),
            (Node::Both(_, a, b) | Node::Either(_, a, b), _) => todo.extend([(a, asker), (b, asker)]),
            (Node::Fails(a, term) | Node::Default(a, term), _) => {
                todo.push((a, asker));
                if let Some(refusal) = not_local(program, term, "a term") {
                    return Some(refusal);
                }
            }
            (Node::Emit(formula, term), _) => {
                todo.push((formula, Some(id)));
                if let Some(refusal) = not_local(program, term, "a term") {
                    return Some(refusal);
                }
            }
            (Node::CollectWhile(_, a, b), _) => todo.extend([(a, Some(id)), (b, Some(id))]),
            (Node::NextMap { body, result, parameter }, _) => {
                todo.push((body, Some(id)));
                if let Some(refusal) = not_pure(program, result, parameter) {
                    return Some(refusal);
                }
            }
            (Node::UntilMap { pair, result, parameter }, _) => {
                todo.extend(dag.node(pair).children().map(|part| (part, Some(id))));
                if let Some(refusal) = not_pure(program, result, parameter) {
                    return Some(refusal);
                }
            }
            _ => {
                if let Some(refusal) = formula(program, id) {
                    return Some(refusal);
                }
                if !is_predicate(node) {
                    todo.extend(node.children().map(|part| (part, Some(id))));
                }
            }
        }
    }
    None
}

/// Whether the values of the experiment or formula at every position arrive as the trace is read.
pub(crate) fn streams(program: &Program, node: NodeId) -> bool {
    let mut todo = vec![node];
    let mut seen = vec![false; program.dag.len()];
    while let Some(id) = todo.pop() {
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        match program.dag.node(id) {
            Node::Collect(..) => return false,
            node => todo.extend(node.children()),
        }
    }
    true
}

/// Predicates, which are given as columns.
pub(crate) fn is_predicate(node: Node) -> bool {
    matches!(node, Node::Truth(_) | Node::Compare(..) | Node::In(..) | Node::Matches(..) | Node::Has(_))
}

/// `max[…]`, `X{…}`, `U`.
fn words(program: &Program, id: NodeId) -> String {
    match program.dag.node(id) {
        Node::Collect(..) => format!("`{}[…]`", name(program, id)),
        Node::CollectWhile(..) => format!("`{}[… while …]`", name(program, id)),
        node => format!("`{}`", node.operator()),
    }
}

/// `quantile(0.9)`
fn name(program: &Program, id: NodeId) -> String {
    let text = display(program, id);
    text.split('[').next().unwrap_or_default().to_owned()
}

fn rest_of_trace(program: &Program, id: NodeId, asker: NodeId) -> Unsupported {
    let (inner, outer, name) = (words(program, id), words(program, asker), name(program, id));
    let within = match program.dag.node(asker) {
        Node::Collect(..) | Node::CollectWhile(..) => "inside",
        _ => "below",
    };
    let what = format!(
        "{inner} {within} {outer}: it looks at the whole rest of the trace from every position, so its values are known at the end only"
    );
    let help = format!(
        "write where it is to stop looking: `{name}[… while φ]` is known when φ ends; or use another engine on a stored trace"
    );
    Unsupported::construct(id, what).help(help)
}

/// Why a formula's own operator is outside what is read forward.
fn formula(program: &Program, id: NodeId) -> Option<Unsupported> {
    let node = program.dag.node(id);
    if let Some(interval) = node.interval() {
        let what = format!("the interval of `{}{interval}` in a query", node.operator());
        return Some(Unsupported::construct(id, what).help("leave the interval out"));
    }
    match node {
        _ if node.is_first_order() => {
            let what = format!("`{}`, since it has no place for the values of variables", node.operator());
            Some(Unsupported::construct(id, what).help("`by COL` asks a query once per value of a column"))
        }
        _ if is_predicate(node) => not_local(program, id, "a predicate"),
        Node::Constant(_)
        | Node::Slot(_)
        | Node::Negate(_)
        | Node::Abs(_)
        | Node::Arithmetic(..)
        | Node::IfThenElse(..)
        | Node::Tuple(..) => Some(
            Unsupported::construct(id, "a term where an experiment is expected").help("write `true : e`"),
        ),
        _ => None,
    }
}

/// Some node at or below `root` that is wanted. Costs what the term is large, not what the program is.
fn find(program: &Program, root: NodeId, wanted: impl Fn(Node) -> bool) -> Option<NodeId> {
    let mut seen = BTreeSet::from([root]);
    let mut todo = vec![root];
    while let Some(id) = todo.pop() {
        let node = program.dag.node(id);
        if wanted(node) {
            return Some(id);
        }
        todo.extend(node.children().filter(|child| seen.insert(*child)));
    }
    None
}

/// Refuses terms and predicates that more than one position decides.
fn not_local(program: &Program, id: NodeId, what: &str) -> Option<Unsupported> {
    let part = find(program, id, |node| {
        node.is_future()
            || node.is_past()
            || node.is_experiment()
            || node.is_first_order()
            || matches!(node, Node::First | Node::Last)
    })?;
    let what = format!("`{}` inside {what}", program.dag.node(part).operator());
    Some(Unsupported::construct(part, what).help("write it as an experiment of its own: `φ : e`"))
}

fn not_pure(program: &Program, result: NodeId, parameter: u32) -> Option<Unsupported> {
    let part = find(program, result, |node| match node {
        Node::Variable(variable) => variable != parameter,
        node => matches!(node, Node::Slot(_) | Node::Truth(_)),
    })?;
    let what = "a name other than the parameter in the function of `X{…}` or `U{…}`";
    Some(Unsupported::construct(part, what).help("move what has to be read into the experiment: `φ : e`"))
}
