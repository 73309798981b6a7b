//! When the verdict of a requirement cannot change any more, whatever comes.

use crate::Specification;
use tw_core::Value;
use tw_ir::{Aggregate, CompareOp, Node, NodeId, Program, Requirement};
use tw_monitor::order;

/// How a value goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Course {
    /// It never falls.
    Up,
    /// It never rises.
    Down,
    /// It stays what it is once it is there.
    Fixed,
}

/// How the value of a requirement goes on, if that is known.
pub(crate) fn monotone(spec: &Specification, requirement: &Requirement) -> Option<Course> {
    let dag = &spec.program.dag;
    let (node, instead) = match dag.node(requirement.root.node) {
        Node::Default(node, instead) => (dag.node(node), Some(instead)),
        node => (node, None),
    };
    let (Node::Collect(aggregate, _) | Node::CollectWhile(aggregate, ..)) = node else { return None };
    // What a position counts for is then the answer of later ones.
    if looks_ahead(&spec.program, node) {
        return None;
    }
    // What stands for no value is where a count begins; elsewhere the first value may lie on either side of it.
    if let Some(instead) = instead {
        let counts = matches!(aggregate, Aggregate::Count | Aggregate::Distinct);
        let begins = match dag.node(instead) {
            Node::Constant(at) => matches!(dag.constants[at as usize], Value::Int(..=1)),
            _ => false,
        };
        return (counts && begins).then_some(Course::Up);
    }
    match aggregate {
        Aggregate::Count | Aggregate::Max | Aggregate::Distinct => Some(Course::Up),
        Aggregate::Min => Some(Course::Down),
        Aggregate::First => Some(Course::Fixed),
        _ => None,
    }
}

/// Whether what is collected at a position, or the stretch over which it is, depends on positions after it.
fn looks_ahead(program: &Program, collected: Node) -> bool {
    use Node::{Collect, CollectWhile, Last, NextMap, UntilMap};
    let parts: Vec<NodeId> = collected.children().collect();
    let ahead = |&id: &NodeId| match program.dag.node(id) {
        Last | Collect(..) | CollectWhile(..) | NextMap { .. } | UntilMap { .. } => true,
        node => node.is_future(),
    };
    program.reachable(&parts).iter().any(ahead)
}

/// Whether no later value changes the verdict.
pub(crate) fn is_final(
    requirement: &Requirement,
    spec: &Specification,
    course: Course,
    value: &Value,
) -> bool {
    let Some(order) = order(value, requirement.limit(&spec.program)) else { return false };
    // What the value has passed, or reached, it does not come back to.
    let (passed, reached) = match course {
        Course::Fixed => return true,
        Course::Up => (order.is_gt(), order.is_ge()),
        Course::Down => (order.is_lt(), order.is_le()),
    };
    match (requirement.op, course) {
        (CompareOp::Le | CompareOp::Gt, Course::Up) | (CompareOp::Ge | CompareOp::Lt, Course::Down) => passed,
        (CompareOp::Eq | CompareOp::Ne, _) => passed,
        _ => reached,
    }
}
