//! What gives variables their values: the variables that have finitely many where a formula is true, or false.

use std::collections::BTreeMap;
use tw_ir::{CompareOp, Node, NodeId, Program};

/// What gives a variable its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The event pattern, or the equality with a term; several where one of them does.
    pub nodes: Vec<NodeId>,
    /// Whether all are events.
    pub event: bool,
}

/// Variables with what guards them.
pub type Guards = BTreeMap<u32, Guard>;

/// The variables that have finitely many values where the formula has this truth value.
pub fn guards(program: &Program, root: NodeId, truth: bool) -> Guards {
    let dag = &program.dag;
    // What is said where it is false, and where it is true; children stand before their parents.
    let mut known: BTreeMap<NodeId, [Guards; 2]> = BTreeMap::new();
    for id in program.reachable(&[root]) {
        let of = |id: NodeId, truth: bool| {
            known.get(&id).map(|own| own[usize::from(truth)].clone()).unwrap_or_default()
        };
        // Of two guards, an event is the better one.
        let all = |mut a: Guards, b: Guards| {
            for (variable, guard) in b {
                let own = a.entry(variable).or_insert_with(|| guard.clone());
                if guard.event && !own.event {
                    *own = guard;
                }
            }
            a
        };
        let either = |mut a: Guards, b: Guards| {
            a.retain(|variable, guard| {
                let Some(other) = b.get(variable) else { return false };
                guard.event &= other.event;
                guard.nodes.extend(&other.nodes);
                true
            });
            a
        };
        let own = [false, true].map(|truth| match (dag.node(id), truth) {
            (Node::Pattern(pattern), true) => {
                let variables = dag.patterns[pattern as usize].variables();
                variables.map(|variable| (variable, Guard { nodes: vec![id], event: true })).collect()
            }
            (Node::Compare(CompareOp::Eq, a, b), true) => match (dag.node(a), dag.node(b)) {
                (Node::Variable(_), Node::Variable(_)) => Guards::new(),
                (Node::Variable(variable), other) | (other, Node::Variable(variable))
                    if matches!(other, Node::Slot(_) | Node::Constant(_)) =>
                {
                    Guards::from([(variable, Guard { nodes: vec![id], event: false })])
                }
                _ => Guards::new(),
            },
            (Node::Not(a), _) => of(a, !truth),
            (Node::And(a, b), true) | (Node::Or(a, b), false) => all(of(a, truth), of(b, truth)),
            (Node::And(a, b), false) | (Node::Or(a, b), true) => either(of(a, truth), of(b, truth)),
            (Node::Implies(a, b), false) => all(of(a, true), of(b, false)),
            (Node::Implies(a, b), true) => either(of(a, false), of(b, true)),
            (Node::Exists(_, a), true) | (Node::Forall(_, a), false) => of(a, truth),
            (node, _) => match node.temporal().map(|applied| (applied, applied.way())) {
                // What is awaited, or fails to hold on, has the values.
                Some((_, Some(way))) if way.dual != truth => of(way.goal.0, truth),
                Some((applied, None)) if applied.weak != truth => of(applied.right, truth),
                _ => Guards::new(),
            },
        });
        known.insert(id, own);
    }
    let own = known.remove(&root);
    own.and_then(|own| own.into_iter().nth(usize::from(truth))).unwrap_or_default()
}
