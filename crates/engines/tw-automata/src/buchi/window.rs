//! Intervals written out: `f U[2,4] g` is `f & X (f & X (g | f & X (g | f & X g)))`.
//!
//! Every operator with an interval is an until or its dual, a release, forwards or backwards; after `low` steps an
//! interval without end is the operator without interval. The formula has as many operators as the interval reaches
//! far, each shared by those around it.

use tw_ir::{Dag, Node, NodeId, Ticks};

/// How far an interval has to be written out.
pub(super) fn reach(ticks: Ticks) -> i64 {
    if ticks.high == i64::MAX { ticks.low } else { ticks.high }
}

/// The formula of an operator, its operands in `dag` already, with the interval that it had.
pub(super) fn write_out(dag: &mut Dag, node: Node, ticks: Ticks) -> NodeId {
    use Node::*;
    let yes = dag.add(Bool(true));
    let no = dag.add(Bool(false));
    let past = node.is_past();
    match node {
        // The neighbouring position is at distance 1.
        Next(..) | Previous(..) if !ticks.contains(1) => no,
        WeakNext(..) | WeakPrevious(..) if !ticks.contains(1) => yes,
        Next(_, a) => dag.add(Next(None, a)),
        WeakNext(_, a) => dag.add(WeakNext(None, a)),
        Previous(_, a) => dag.add(Previous(None, a)),
        WeakPrevious(_, a) => dag.add(WeakPrevious(None, a)),
        Finally(_, a) | Once(_, a) => until(dag, yes, a, ticks, past),
        Globally(_, a) | Historically(_, a) => release(dag, no, a, ticks, past),
        Until(_, a, b) | Since(_, a, b) => until(dag, a, b, ticks, past),
        StrongRelease(_, a, b) => {
            let both = dag.add(And(a, b));
            until(dag, b, both, ticks, past)
        }
        WeakUntil(_, a, b) | BackTo(_, a, b) => {
            let either = dag.add(Or(a, b));
            release(dag, b, either, ticks, past)
        }
        Release(_, a, b) | Trigger(_, a, b) => release(dag, a, b, ticks, past),
        other => dag.add(other),
    }
}

/// The goal holds within the interval, and `hold` at every position before.
fn until(dag: &mut Dag, hold: NodeId, goal: NodeId, ticks: Ticks, past: bool) -> NodeId {
    let mut formula = match (ticks.high == i64::MAX, past) {
        (true, false) => dag.add(Node::Until(None, hold, goal)),
        (true, true) => dag.add(Node::Since(None, hold, goal)),
        (false, _) => goal,
    };
    for distance in (0..reach(ticks)).rev() {
        let step = if past { Node::Previous(None, formula) } else { Node::Next(None, formula) };
        let step = dag.add(step);
        formula = both(dag, hold, step);
        if distance >= ticks.low {
            formula = dag.add(Node::Or(goal, formula));
        }
    }
    formula
}

/// `hold` holds within the interval, up to and with the first position at which `free` does (which may lie before it).
fn release(dag: &mut Dag, free: NodeId, hold: NodeId, ticks: Ticks, past: bool) -> NodeId {
    let mut formula = match (ticks.high == i64::MAX, past) {
        (true, false) => dag.add(Node::Release(None, free, hold)),
        (true, true) => dag.add(Node::Trigger(None, free, hold)),
        (false, _) => hold,
    };
    for distance in (0..reach(ticks)).rev() {
        let step = if past { Node::WeakPrevious(None, formula) } else { Node::Next(None, formula) };
        let step = dag.add(step);
        formula = either(dag, free, step);
        if distance >= ticks.low {
            formula = dag.add(Node::And(hold, formula));
        }
    }
    formula
}

fn both(dag: &mut Dag, a: NodeId, b: NodeId) -> NodeId {
    if dag.node(a) == Node::Bool(true) { b } else { dag.add(Node::And(a, b)) }
}

fn either(dag: &mut Dag, a: NodeId, b: NodeId) -> NodeId {
    if dag.node(a) == Node::Bool(false) { b } else { dag.add(Node::Or(a, b)) }
}
