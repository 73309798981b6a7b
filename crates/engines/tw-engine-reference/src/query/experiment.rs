//! The operators of queries, at one position.

use super::Cell;
use super::statistic::statistic;
use super::terms::Term;
use crate::term::arithmetic;
use std::collections::BTreeMap;
use tw_core::{Position, Value};
use tw_ir::{Aggregate, Function, Node, NodeId, Program};

/// A position `at` in its segment, which ends before `end`, and the cells of the parts of the node asked about.
pub(super) struct Places<'c> {
    pub(super) program: &'c Program,
    pub(super) cells: &'c BTreeMap<NodeId, Vec<Cell>>,
    /// The term that the node itself reads, if it reads one.
    pub(super) term: &'c Option<Term<'c>>,
    pub(super) at: Position,
    pub(super) end: Position,
}

impl Places<'_> {
    /// The value of `node` here: null is ⊥.
    pub(super) fn cell(&self, node: Node) -> Cell {
        let j = self.at;
        match node {
            // φ : e is e where φ holds.
            Node::Emit(formula, _) => match self.value(formula, j)? {
                Value::Null => Ok(Value::Null),
                _ => self.term_here(),
            },
            Node::Both(g, a, b) => both(g, self.value(a, j)?, self.value(b, j)?),
            Node::Either(g, a, b) => either(g, self.value(a, j)?, self.value(b, j)?),
            // !{c} ψ is c where ψ has no value, and has none where ψ has one.
            Node::Fails(a, _) => match self.value(a, j)? {
                Value::Null => self.term_here(),
                _ => Ok(Value::Null),
            },
            // ψ ?? c is c where ψ has no value.
            Node::Default(a, _) => match self.value(a, j)? {
                Value::Null => self.term_here(),
                value => Ok(value.clone()),
            },
            // X{f} ψ: there is a next position and ψ has a value there, of which f is taken.
            Node::NextMap { body, parameter, .. } => {
                if j + 1 == self.end {
                    return Ok(Value::Null);
                }
                self.apply(parameter, self.value(body, j + 1)?)
            }
            Node::UntilMap { pair, parameter, .. } => match self.program.dag.node(pair) {
                Node::Tuple(a, b) => self.until(a, b, parameter),
                _ => Err("`U{…}` without its two sides".into()),
            },
            Node::Collect(aggregate, a) => self.collect(aggregate, a, self.end),
            Node::CollectWhile(aggregate, a, during) => {
                // The stretch ends before the first position where φ has no value. If there is an error before that,
                // nobody knows where it ends.
                let mut to = j;
                while to < self.end && !self.value(during, to)?.is_null() {
                    to += 1;
                }
                self.collect(aggregate, a, to)
            }
            other => Err(format!("`{}` is no experiment", other.operator())),
        }
    }

    /// ψ1 U{f} ψ2: f of the value of ψ2 at the first position that has one, if ψ1 has a value at all before it.
    fn until(&self, a: NodeId, b: NodeId, parameter: u32) -> Cell {
        for k in self.at..self.end {
            let found = self.value(b, k)?;
            if !found.is_null() {
                return self.apply(parameter, found);
            }
            if self.value(a, k)?.is_null() {
                return Ok(Value::Null);
            }
        }
        Ok(Value::Null)
    }

    /// The statistic of the values at `self.at..to`.
    fn collect(&self, aggregate: Aggregate, a: NodeId, to: Position) -> Cell {
        let mut values = Vec::new();
        for k in self.at..to {
            let value = self.value(a, k)?;
            if !value.is_null() {
                values.push(value);
            }
        }
        statistic(aggregate, &values)
    }

    fn value(&self, id: NodeId, at: Position) -> Result<&Value, String> {
        self.cells[&id][at].as_ref().map_err(Clone::clone)
    }

    fn term_here(&self) -> Cell {
        self.term.as_ref().map_or(Ok(Value::Null), |term| term.at(self.at))
    }

    fn apply(&self, parameter: u32, value: &Value) -> Cell {
        match (value, self.term) {
            (Value::Null, _) | (_, None) => Ok(Value::Null),
            (value, Some(term)) => term.apply(parameter, value),
        }
    }
}

/// ψ1 &{g} ψ2: g of both values, if both are there.
fn both(g: Function, a: &Value, b: &Value) -> Cell {
    match (g, a, b) {
        (_, Value::Null, _) | (_, _, Value::Null) => Ok(Value::Null),
        (Function::True, ..) => Ok(Value::Bool(true)),
        (Function::Pair, a, b) => Ok(Value::List(vec![a.clone(), b.clone()])),
        (Function::First, a, _) => Ok(a.clone()),
        (Function::Second, _, b) => Ok(b.clone()),
        (Function::Arithmetic(op), a, b) => arithmetic(op, a, b),
    }
}

/// ψ1 |{g} ψ2: g of both values, or the one that is there; g decides what `true` and a pair make of it.
fn either(g: Function, a: &Value, b: &Value) -> Cell {
    match (g, a, b) {
        (_, Value::Null, Value::Null) => Ok(Value::Null),
        (Function::True, ..) => Ok(Value::Bool(true)),
        (Function::Pair, a, b) => Ok(Value::List(vec![a.clone(), b.clone()])),
        (_, Value::Null, one) | (_, one, Value::Null) => Ok(one.clone()),
        (g, a, b) => both(g, a, b),
    }
}
