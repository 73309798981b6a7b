//! A goal taken apart at its outermost connective.

use std::sync::Arc;
use tw_ir::{Node, NodeId, Program, Temporal};

/// Formulas whose conjunction or disjunction is the goal.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The program with the formulas in it; its atoms are those of the program it was made from.
    pub program: Arc<Program>,
    /// The formulas.
    pub goals: Vec<NodeId>,
    /// Whether all of them have to hold, rather than one.
    pub conjunction: bool,
}

/// The conjuncts or disjuncts of a goal; `G` is spread over conjunctions and `F` over disjunctions. `None` if there
/// is but one.
pub fn parts(program: &Arc<Program>, goal: NodeId) -> Option<Parts> {
    [true, false].into_iter().find_map(|conjunction| {
        let (goals, program) = split(program, goal, conjunction);
        (goals.len() > 1).then(|| Parts { program: Arc::new(program), goals, conjunction })
    })
}

fn split(program: &Program, goal: NodeId, conjunction: bool) -> (Vec<NodeId>, Program) {
    let mut program = program.clone();
    let mut goals = Vec::new();
    let mut todo = vec![goal];
    while let Some(id) = todo.pop() {
        match (program.dag.node(id), conjunction) {
            (Node::And(a, b), true) | (Node::Or(a, b), false) => todo.extend([b, a]),
            (Node::Implies(a, b), false) => {
                let not = program.dag.add(Node::Not(a));
                todo.extend([b, not]);
            }
            (Node::Unary(Temporal::Globally, None, body), true)
                if matches!(program.dag.node(body), Node::And(..)) =>
            {
                let Node::And(a, b) = program.dag.node(body) else { continue };
                todo.extend([b, a].map(|part| program.dag.add(Node::Unary(Temporal::Globally, None, part))));
            }
            (Node::Unary(Temporal::Finally, None, body), false)
                if matches!(program.dag.node(body), Node::Or(..)) =>
            {
                let Node::Or(a, b) = program.dag.node(body) else { continue };
                todo.extend([b, a].map(|part| program.dag.add(Node::Unary(Temporal::Finally, None, part))));
            }
            _ if goals.contains(&id) => {}
            _ => goals.push(id),
        }
    }
    program.spans.resize(program.dag.len(), None);
    (goals, program)
}
