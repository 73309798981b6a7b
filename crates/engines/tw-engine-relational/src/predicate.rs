//! Predicates over variables: comparisons, memberships, regular expressions.
//!
//! What a position has to say (its columns, its tallies) is put in first; what is left is about variables alone and holds or
//! not whatever the position ([`Instance`]).

use crate::key::Key;
use tw_core::Value;
use tw_ir::{CompareOp, Node, NodeId, Program, SetItem};
use tw_monitor::Ground;

/// A variable by its place in the order of tries: outer quantifiers first.
pub(crate) type Level = u32;

/// Where an input of a predicate comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Variable(Level),
    /// A column, by its place in `Program::terms`.
    Term(usize),
    /// A tally, by its gate.
    Tally(u32),
}

#[derive(Clone, Debug)]
pub(crate) struct Predicate {
    pub(crate) node: NodeId,
    /// What it is made of, down to its inputs, ascending.
    order: Vec<NodeId>,
    pub(crate) inputs: Vec<(NodeId, Input)>,
}

impl Predicate {
    pub(crate) fn new(program: &Program, node: NodeId, input: impl Fn(NodeId) -> Option<Input>) -> Self {
        let order = program.reachable_until(&[node], |id| input(id).is_some());
        let inputs = order.iter().filter_map(|&id| Some((id, input(id)?))).collect();
        Self { node, order, inputs }
    }

    /// Its truth, with a value for every input.
    pub(crate) fn truth(&self, program: &Program, values: &[Value]) -> Result<bool, String> {
        // The commonest shapes need no tree.
        if let (Node::Compare(op, a, b), [(first, _), rest @ ..]) =
            (program.dag.node(self.node), &*self.inputs)
        {
            let value = |id: NodeId| match program.dag.node(id) {
                Node::Constant(constant) => Some(&program.dag.constants[constant as usize]),
                Node::Variable(_) if id == *first => values.first(),
                Node::Variable(_) if rest.len() == 1 && id == rest[0].0 => values.get(1),
                _ => None,
            };
            if let (Some(a), Some(b)) = (value(a), value(b)) {
                return Ok(tw_monitor::compare(op, a, b));
            }
        }
        let given: Vec<_> =
            self.inputs.iter().zip(values).map(|((id, _), value)| (*id, value.clone())).collect();
        Ground { program, order: &self.order, given: &given }.truth()
    }

    /// Its value, of a term.
    pub(crate) fn value(&self, program: &Program, values: &[Value]) -> Result<Value, String> {
        let given: Vec<_> =
            self.inputs.iter().zip(values).map(|((id, _), value)| (*id, value.clone())).collect();
        Ground { program, order: &self.order, given: &given }.value()
    }

    /// The values of a variable at which this may change its truth, given all other inputs, where it is a comparison of the
    /// variable itself: then its truth is one between neighbours of them. `None` where it is something else.
    pub(crate) fn turns(
        &self,
        program: &Program,
        level: Level,
        values: &[Option<Value>],
    ) -> Option<Vec<Value>> {
        let (place, _) =
            self.inputs.iter().enumerate().find(|(_, (_, own))| *own == Input::Variable(level))?;
        let variable = self.inputs[place].0;
        match program.dag.node(self.node) {
            Node::Compare(_, a, b) if a == variable || b == variable => {
                let other = if a == variable { b } else { a };
                // Against a variable that has no value either there is nothing to turn at, nor against itself.
                let place_of = |id: NodeId| self.inputs.iter().position(|(own, _)| *own == id);
                let open = |id: NodeId| {
                    matches!(program.dag.node(id), Node::Variable(_))
                        && place_of(id).is_some_and(|at| values[at].is_none())
                };
                if open(other) {
                    return Some(Vec::new());
                }
                let given: Option<Vec<(NodeId, Value)>> = (self.inputs.iter().zip(values).enumerate())
                    .filter(|(at, _)| *at != place)
                    .map(|(_, ((id, _), value))| Some((*id, value.clone()?)))
                    .collect();
                let given = given?;
                let order = program.reachable_until(&[other], |id| given.iter().any(|(node, _)| *node == id));
                if order.contains(&variable) {
                    return None;
                }
                let value = Ground { program, order: &order, given: &given }.value().ok()?;
                let several =
                    matches!(&value, Value::List(_)) && !matches!(program.dag.node(other), Node::Constant(_));
                Some(match value {
                    Value::List(items) if several => items,
                    one => vec![one],
                })
            }
            Node::In(a, set) if a == variable => Some(
                (program.dag.sets[set as usize].iter())
                    .flat_map(|item| match item {
                        SetItem::Value(value) => vec![value.clone()],
                        SetItem::Range(low, high) => vec![Value::Int(*low), Value::Int(*high)],
                    })
                    .collect(),
            ),
            _ => None,
        }
    }

    /// Whether it says at each position which values its only variable may have: `x == user`, `x in {1, 2}`.
    pub(crate) fn generates(&self, program: &Program) -> bool {
        let variables = self.inputs.iter().filter(|(_, input)| matches!(input, Input::Variable(_))).count();
        let tallies = self.inputs.iter().any(|(_, input)| matches!(input, Input::Tally(_)));
        let variable = |id: NodeId| matches!(program.dag.node(id), Node::Variable(_));
        variables == 1
            && !tallies
            && match program.dag.node(self.node) {
                Node::Compare(CompareOp::Eq, a, b) => variable(a) != variable(b),
                Node::In(a, set) => {
                    let single = |item: &SetItem| matches!(item, SetItem::Value(_));
                    variable(a) && program.dag.sets[set as usize].iter().all(single)
                }
                _ => false,
            }
    }

    /// The values of the only variable at which this holds, if it says just which they are: `x == user`, `x in {1, 2}`.
    pub(crate) fn names(
        &self,
        program: &Program,
        level: Level,
        values: &[Option<Value>],
    ) -> Option<Vec<Key>> {
        let listed = match program.dag.node(self.node) {
            Node::Compare(CompareOp::Eq, a, b) => a != b,
            Node::In(_, set) => {
                program.dag.sets[set as usize].iter().all(|item| matches!(item, SetItem::Value(_)))
            }
            _ => false,
        };
        let turns = listed.then(|| self.turns(program, level, values))??;
        let mut keys: Vec<Key> = Vec::new();
        for key in turns.into_iter().filter_map(Key::new) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        Some(keys)
    }
}
