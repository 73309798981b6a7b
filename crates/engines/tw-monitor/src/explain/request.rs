//! What is to be explained.

use crate::Bindings;
use tw_core::{Position, Value};
use tw_ir::{Node, NodeId, Program, Temporal};

/// A formula, a position, and what the formula's free variables are.
pub type Request = (NodeId, Position, Bindings);

/// What explains a violation of a root at a position: the part below the quantifiers whose variables have values there. Where
/// none has one, or infinitely many values of a variable around the `G` violate, that is the root itself, at `start`.
pub fn violation_request(
    program: &Program,
    root: NodeId,
    start: Position,
    at: Position,
    bindings: &Bindings,
) -> Request {
    let value = |variable: u32| bindings.pairs().iter().find(|(own, _)| *own == variable);
    let (mut part, mut always) = (root, false);
    let mut bound: Vec<(u32, Value)> = Vec::new();
    loop {
        let own = match program.dag.node(part) {
            Node::Forall(variable, body) => value(variable).map(|pair| (body, Some(pair))),
            Node::Unary(Temporal::Globally, None, body) if !always => Some((body, None)),
            _ => None,
        };
        match own {
            Some((body, pair)) => {
                always |= pair.is_none();
                bound.extend(pair.cloned());
                part = body;
            }
            None if always && !bound.is_empty() => return (part, at, Bindings::new(bound)),
            None => return (root, start, Bindings::default()),
        }
    }
}
