//! Intervals written out: `f U[2,4] g` is `f & X (f & X (g | f & X (g | f & X g)))`.
//!
//! Every operator with an interval is an until or its dual, a release, forwards or backwards; after `low` steps an
//! interval without end is the operator without interval. The formula has as many operators as the interval reaches
//! far, each shared by those around it.

use tw_ir::{Dag, Node, NodeId, Temporal, Ticks, Way};

/// How far an interval has to be written out.
pub(super) fn reach(ticks: Ticks) -> i64 {
    if ticks.high == i64::MAX { ticks.low } else { ticks.high }
}

/// The formula of an operator, its operands in `dag` already, with the interval that it had.
pub(super) fn write_out(dag: &mut Dag, node: Node, ticks: Ticks) -> NodeId {
    let Some(operator) = node.temporal() else { return dag.add(node) };
    let Some(Way { dual, hold, goal: (goal, beside) }) = operator.way() else {
        // The neighbouring position is at distance 1.
        return match ticks.contains(1) {
            true => dag.add(Node::Unary(operator.operator, None, operator.right)),
            false => dag.add(Node::Bool(operator.weak)),
        };
    };
    let hold = hold.unwrap_or_else(|| dag.add(Node::Bool(!dual)));
    let goal = match beside {
        Some(beside) => dag.add(if dual { Node::Or(goal, beside) } else { Node::And(goal, beside) }),
        None => goal,
    };
    write(dag, (dual, operator.past), hold, goal, ticks)
}

/// Until: the goal holds within the interval, and `hold` at every position before. In the dual, release: the goal holds
/// within the interval, up to and with the first position at which `hold` does (which may lie before it).
fn write(dag: &mut Dag, (dual, past): (bool, bool), hold: NodeId, goal: NodeId, ticks: Ticks) -> NodeId {
    use Temporal::{Next, Previous, Release, Since, Trigger, Until, WeakPrevious};
    let (step, unbounded) = match (dual, past) {
        (false, false) => (Next, Until),
        (false, true) => (Previous, Since),
        // Infinite words have no end, and a beginning.
        (true, false) => (Next, Release),
        (true, true) => (WeakPrevious, Trigger),
    };
    let mut formula = match ticks.high == i64::MAX {
        true => dag.add(Node::Binary(unbounded, None, hold, goal)),
        false => goal,
    };
    for distance in (0..reach(ticks)).rev() {
        let step = dag.add(Node::Unary(step, None, formula));
        formula = if dual { either(dag, hold, step) } else { both(dag, hold, step) };
        if distance >= ticks.low {
            formula = dag.add(if dual { Node::And(goal, formula) } else { Node::Or(goal, formula) });
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
