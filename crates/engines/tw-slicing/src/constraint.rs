//! Constraints on the values of variables.
//!
//! A conjunction of comparisons between variables and constants is decided by the order solver, also where some variables have no
//! value yet: a graph of "at most", unsatisfiable when two things that differ are each at most the other. Values are nodes of
//! the graph, ordered as they are. The domain is open, so that between and beyond values there is always room for others. Other
//! conditions are evaluated once all of their variables are bound.

use crate::{Binding, Object, Objects};
use std::cmp::Ordering;
use tw_ir::monitor::Condition;
use tw_ir::{CompareOp, Node, NodeId, Program};
use tw_monitor::{Ground, order};

/// A variable or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// A variable, by number.
    Variable(u32),
    /// A value.
    Object(Object),
}

/// A primitive constraint of the order solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primitive {
    /// The first is at most the second.
    AtMost(Term, Term),
    /// They are two things.
    Differ(Term, Term),
}

/// The order solver: a conjunction of primitive constraints.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// All of them hold.
    pub primitives: Vec<Primitive>,
}

impl Order {
    /// Adds `a op b`.
    pub fn compare(&mut self, op: CompareOp, a: Term, b: Term) {
        use Primitive::{AtMost, Differ};
        self.primitives.extend(match op {
            CompareOp::Eq => vec![AtMost(a, b), AtMost(b, a)],
            CompareOp::Ne => vec![Differ(a, b)],
            CompareOp::Le => vec![AtMost(a, b)],
            CompareOp::Ge => vec![AtMost(b, a)],
            CompareOp::Lt => vec![AtMost(a, b), Differ(a, b)],
            CompareOp::Gt => vec![AtMost(b, a), Differ(a, b)],
        });
    }

    /// Whether some values of the variables that `binding` leaves open satisfy it.
    pub fn satisfiable(&self, binding: &Binding, objects: &Objects) -> bool {
        // A variable that is bound is its value.
        let solved = |term: Term| match term {
            Term::Variable(variable) => binding.0[variable as usize].map_or(term, Term::Object),
            other => other,
        };
        let mut nodes: Vec<Term> = Vec::new();
        let mut place = |term: Term| {
            let term = solved(term);
            nodes.iter().position(|node| *node == term).unwrap_or_else(|| {
                nodes.push(term);
                nodes.len() - 1
            })
        };
        let (mut edges, mut differ) = (Vec::new(), Vec::new());
        for primitive in &self.primitives {
            match *primitive {
                Primitive::AtMost(a, b) => edges.push((place(a), place(b))),
                Primitive::Differ(a, b) => differ.push((place(a), place(b))),
            }
        }
        let known = |a: usize, b: usize| match (nodes[a], nodes[b]) {
            (Term::Object(a), Term::Object(b)) => Some(order(objects.value(a), objects.value(b))),
            _ => None,
        };
        let count = nodes.len();
        let mut at_most = vec![vec![false; count]; count];
        edges.into_iter().for_each(|(a, b)| at_most[a][b] = true);
        for (a, row) in at_most.iter_mut().enumerate() {
            for (b, cell) in row.iter_mut().enumerate() {
                *cell |= a == b || known(a, b) == Some(Some(Ordering::Less));
            }
        }
        for middle in 0..count {
            for a in 0..count {
                for b in 0..count {
                    at_most[a][b] |= at_most[a][middle] && at_most[middle][b];
                }
            }
        }
        // Values are ordered as they are, numbers and texts not at all.
        let contradicts = |a: usize, b: usize| {
            a != b && at_most[a][b] && known(a, b).is_some_and(|order| order != Some(Ordering::Less))
        };
        let values = (0..count).all(|a| (0..count).all(|b| !contradicts(a, b)));
        values && differ.into_iter().all(|(a, b)| a != b && !(at_most[a][b] && at_most[b][a]))
    }
}

/// A condition on bindings.
#[derive(Clone, Debug)]
pub struct Constraint<'p> {
    program: &'p Program,
    /// The comparisons of variables and constants among its conjuncts.
    order: Order,
    /// Its conjuncts, each with the variables in it.
    conjuncts: Vec<(NodeId, Vec<(NodeId, u32)>)>,
}

impl<'p> Constraint<'p> {
    /// Of a condition of the program.
    pub fn new(program: &'p Program, condition: &Condition, objects: &mut Objects) -> Self {
        let dag = &program.dag;
        let number = |variable: u32| {
            condition.variables.iter().find(|(own, _)| *own == variable).map_or(0, |(_, number)| *number)
        };
        let mut constraint = Self { program, order: Order::default(), conjuncts: Vec::new() };
        let mut todo = vec![condition.node];
        while let Some(node) = todo.pop() {
            if let Node::And(a, b) = dag.node(node) {
                todo.extend([b, a]);
                continue;
            }
            let mut term = |id: NodeId| match dag.node(id) {
                Node::Variable(variable) => Some(Term::Variable(number(variable))),
                Node::Constant(constant) => {
                    let value = &dag.constants[constant as usize];
                    order(value, value).map(|_| Term::Object(objects.of(value)))
                }
                _ => None,
            };
            if let Node::Compare(op, a, b) = dag.node(node)
                && let (Some(a), Some(b)) = (term(a), term(b))
            {
                constraint.order.compare(op, a, b);
            }
            let variable = |id: &NodeId| match dag.node(*id) {
                Node::Variable(variable) => Some((*id, number(variable))),
                _ => None,
            };
            let inside = program.reachable(&[node]).iter().filter_map(variable).collect();
            constraint.conjuncts.push((node, inside));
        }
        constraint
    }

    /// Whether a binding can still satisfy it.
    pub fn satisfiable(&self, binding: &Binding, objects: &Objects) -> bool {
        self.order.satisfiable(binding, objects)
            && self.conjuncts.iter().all(|(node, variables)| {
                let given: Option<Vec<_>> = variables
                    .iter()
                    .map(|&(id, variable)| Some((id, objects.value(binding.0[variable as usize]?).clone())))
                    .collect();
                // A value that cannot be computed satisfies nothing.
                given.is_none_or(|given| {
                    let order = self.program.reachable(&[*node]);
                    Ground { program: self.program, order: &order, given: &given }.truth() == Ok(true)
                })
            })
    }
}
