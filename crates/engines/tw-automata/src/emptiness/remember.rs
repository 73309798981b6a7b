//! What past operators remember after a position of which only some atoms are known.

use super::graph::memories;
use super::tables::Tables;
use crate::alternating::ExprId;
use crate::past::Algebra;

/// A truth value, or an atom that it hinges on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Known(bool),
    Hinges(u32),
}

use Value::{Hinges, Known};

/// Kleene's logic.
struct Partial;

impl Algebra for Partial {
    type Value = Value;
    fn constant(&mut self, value: bool) -> Value {
        Known(value)
    }
    fn not(&mut self, a: &Value) -> Value {
        match *a {
            Known(a) => Known(!a),
            hinges => hinges,
        }
    }
    fn and(&mut self, a: &Value, b: &Value) -> Value {
        match (*a, *b) {
            (Known(true), other) | (other, Known(true)) => other,
            (Known(false), _) | (_, Known(false)) => Known(false),
            (hinges, _) => hinges,
        }
    }
    fn or(&mut self, a: &Value, b: &Value) -> Value {
        match (*a, *b) {
            (Known(false), other) | (other, Known(false)) => other,
            (Known(true), _) | (_, Known(true)) => Known(true),
            (hinges, _) => hinges,
        }
    }
    fn xor(&mut self, a: &Value, b: &Value) -> Value {
        match (*a, *b) {
            (Known(a), Known(b)) => Known(a != b),
            (Known(_), hinges) | (hinges, _) => hinges,
        }
    }
}

/// What is remembered after a position, as far as `obligations` rest on it, or an atom that has to be known first.
pub(crate) fn remember(
    tables: &Tables,
    obligations: &[ExprId],
    memory: &[bool],
    atom: impl Fn(u32) -> Option<bool>,
) -> Result<Vec<bool>, u32> {
    let traits = memories(tables, obligations);
    if traits.memories == 0 {
        return Ok(Vec::new());
    }
    let before: Vec<Value> = memory.iter().map(|&bit| Known(bit)).collect();
    let read = |_: &mut Partial, index: u32| atom(index).map_or(Hinges(index), Known);
    let (_, after) = tables.past.evaluate(&mut Partial, read, &before);
    let mut next = vec![false; after.len()];
    for (at, value) in after.into_iter().enumerate().filter(|&(at, _)| traits.remembers(at)) {
        match value {
            Known(bit) => next[at] = bit,
            Hinges(atom) => return Err(atom),
        }
    }
    Ok(next)
}
