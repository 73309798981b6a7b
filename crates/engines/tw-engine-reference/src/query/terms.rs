//! The value of a term at one position, by the definitions of [`crate::term`].

use super::Cell;
use crate::term;
use std::collections::BTreeMap;
use tw_core::{Column, Position, Value};
use tw_ir::{Node, NodeId, Program, What};

/// A term, over the values of slots.
pub(super) struct Term<'t> {
    program: &'t Program,
    slots: &'t [Column],
    /// What it is made of, ascending, itself last.
    parts: Vec<NodeId>,
}

/// What a part is worth: the values that it may take, and whether a path with `[*]` offers them.
type Part = (Result<Vec<Value>, String>, bool);

impl<'t> Term<'t> {
    pub(super) fn new(program: &'t Program, slots: &'t [Column], id: NodeId) -> Self {
        Self { program, slots, parts: term::parts(program, id) }
    }

    pub(super) fn reads_slots(&self) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|&part| matches!(self.program.dag.node(part), Node::Slot(_) | Node::Truth(_)))
    }

    /// The value at a position. A term over `[*]` is the list of the values that it may take.
    pub(super) fn at(&self, at: Position) -> Cell {
        self.value(at, None)
    }

    /// The value where a variable has one: f(v) of `{v => …}`, which reads no position.
    pub(super) fn apply(&self, parameter: u32, value: &Value) -> Cell {
        self.value(0, Some((parameter, value)))
    }

    fn value(&self, at: Position, bound: Option<(u32, &Value)>) -> Cell {
        let mut made: BTreeMap<NodeId, Part> = BTreeMap::new();
        for &id in &self.parts {
            let node = self.program.dag.node(id);
            let values = match (node, bound) {
                (Node::Variable(variable), Some((parameter, value))) if variable == parameter => {
                    Ok(vec![value.clone()])
                }
                _ => term::cell(self.program, self.slots, node, at, |part| made[&part].0.clone()),
            };
            let several = self.several(node, at, &made);
            made.insert(id, (values, several));
        }
        match made.pop_last() {
            Some((_, (values, true))) => values.map(Value::List),
            Some((_, (values, false))) => {
                values.map(|values| values.into_iter().next().unwrap_or(Value::Null))
            }
            None => Ok(Value::Null),
        }
    }

    /// Whether the node has as many values here as a list has elements.
    fn several(&self, node: Node, at: Position, made: &BTreeMap<NodeId, Part>) -> bool {
        match node {
            Node::Slot(slot) => {
                let what = &self.program.slots[slot as usize].what;
                matches!(what, What::Variable(path, _) if path.has_each())
                    && matches!(self.slots[slot as usize].value(at), Value::List(_))
            }
            Node::Negate(a) | Node::Abs(a) => made[&a].1,
            Node::Arithmetic(_, a, b) | Node::Tuple(a, b) => made[&a].1 || made[&b].1,
            Node::IfThenElse(condition, a, b) => match &made[&condition].0 {
                Ok(values) => made[if term::holds(values) { &a } else { &b }].1,
                Err(_) => false,
            },
            _ => false,
        }
    }
}
