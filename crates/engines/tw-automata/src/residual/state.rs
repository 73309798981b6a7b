//! Combinations of propositions that are kept whole, as straight-line code.

use super::Event;
use crate::past::Past;
use rustc_hash::FxHashMap;
use tw_ir::{Node, NodeId, Program};

#[derive(Clone, Copy, Debug)]
enum Step {
    Constant(bool),
    Proposition(u32),
    Last,
    Not(u32),
    And(u32, u32),
    Or(u32, u32),
    Xor(u32, u32),
    Implies(u32, u32),
    Iff(u32, u32),
}

/// A combination of propositions; the result of a step is the register of its number.
#[derive(Clone, Debug)]
pub(super) struct Code {
    steps: Vec<Step>,
}

impl Code {
    /// The code of a formula that has propositions, constants and connectives alone.
    pub(super) fn new(program: &Program, atoms: &[NodeId], past: &Past, formula: NodeId) -> Self {
        let proposition = |id: NodeId| match atoms.binary_search(&id) {
            Ok(atom) => Some(atom as u32),
            Err(_) => past.atom(id),
        };
        let mut needed = vec![false; formula.index() + 1];
        needed[formula.index()] = true;
        for index in (0..=formula.index()).rev() {
            let id = NodeId(index as u32);
            if needed[index] && proposition(id).is_none() {
                program.dag.node(id).children().for_each(|child| needed[child.index()] = true);
            }
        }
        let mut steps = Vec::new();
        let mut registers: FxHashMap<NodeId, u32> = FxHashMap::default();
        for id in (0..=formula.0).map(NodeId).filter(|id| needed[id.index()]) {
            let step = match (proposition(id), program.dag.node(id)) {
                (Some(proposition), _) => Step::Proposition(proposition),
                (None, Node::Bool(value)) => Step::Constant(value),
                (None, Node::Not(a)) => Step::Not(registers[&a]),
                (None, Node::And(a, b)) => Step::And(registers[&a], registers[&b]),
                (None, Node::Or(a, b)) => Step::Or(registers[&a], registers[&b]),
                (None, Node::Xor(a, b)) => Step::Xor(registers[&a], registers[&b]),
                (None, Node::Implies(a, b)) => Step::Implies(registers[&a], registers[&b]),
                (None, Node::Iff(a, b)) => Step::Iff(registers[&a], registers[&b]),
                (None, _) => Step::Last,
            };
            registers.insert(id, steps.len() as u32);
            steps.push(step);
        }
        Self { steps }
    }

    /// The propositions that are read.
    pub(super) fn support(&self) -> impl Iterator<Item = u32> {
        self.steps.iter().filter_map(|step| match step {
            Step::Proposition(proposition) => Some(*proposition),
            _ => None,
        })
    }

    pub(super) fn holds(&self, event: &Event<'_>, last: bool) -> bool {
        let mut registers: Vec<bool> = Vec::with_capacity(self.steps.len());
        for &step in &self.steps {
            let get = |register: u32| registers[register as usize];
            registers.push(match step {
                Step::Constant(value) => value,
                Step::Proposition(proposition) => event.holds(proposition),
                Step::Last => last,
                Step::Not(a) => !get(a),
                Step::And(a, b) => get(a) && get(b),
                Step::Or(a, b) => get(a) || get(b),
                Step::Xor(a, b) => get(a) != get(b),
                Step::Implies(a, b) => !get(a) || get(b),
                Step::Iff(a, b) => get(a) == get(b),
            });
        }
        registers.last().copied().unwrap_or(false)
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.steps.capacity() * size_of::<Step>()
    }
}
