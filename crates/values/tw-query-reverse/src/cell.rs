//! Values in registers: sixteen bytes, numbers in place.

use std::rc::Rc;
use tw_core::{Position, Value};
use tw_ir::{ArithmeticOp, Function};
use tw_monitor::Term;

/// A value that is there.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    True,
    Int(i64),
    Real(f64),
    /// The value of a term at a position, left in its column until somebody looks at it.
    Term(u32, Position),
    Other(Rc<Value>),
}

/// A value, none (⊥), or why it cannot be computed.
#[derive(Clone, Debug, Default)]
pub(crate) enum Maybe {
    #[default]
    None,
    Some(Cell),
    Error(Rc<str>),
}

impl Cell {
    /// Nothing for null.
    pub(crate) fn new(value: Value) -> Option<Cell> {
        Some(match value {
            Value::Null => return None,
            Value::Bool(true) => Cell::True,
            Value::Int(int) => Cell::Int(int),
            Value::Real(real) => Cell::Real(real),
            other => Cell::Other(Rc::new(other)),
        })
    }

    pub(crate) fn value(&self, terms: &[Term]) -> Value {
        match self {
            Cell::True => Value::Bool(true),
            Cell::Int(int) => Value::Int(*int),
            Cell::Real(real) => Value::Real(*real),
            Cell::Term(term, at) => terms[*term as usize].column.value(*at),
            Cell::Other(value) => Value::clone(value),
        }
    }
}

impl From<Result<Value, String>> for Maybe {
    fn from(result: Result<Value, String>) -> Self {
        match result {
            Ok(value) => Cell::new(value).map_or(Maybe::None, Maybe::Some),
            Err(message) => Maybe::Error(message.into()),
        }
    }
}

/// g of two values.
#[inline]
pub(crate) fn combine(function: Function, a: &Cell, b: &Cell, terms: &[Term]) -> Maybe {
    match function {
        Function::True => Maybe::Some(Cell::True),
        Function::First => Maybe::Some(a.clone()),
        Function::Second => Maybe::Some(b.clone()),
        Function::Pair => pair(a.value(terms), b.value(terms)),
        Function::Arithmetic(op) => arithmetic(op, a, b, terms),
    }
}

/// Two values as one, either of which may be null.
pub(crate) fn pair(a: Value, b: Value) -> Maybe {
    Maybe::Some(Cell::Other(Rc::new(Value::List(vec![a, b]))))
}

#[inline]
fn arithmetic(op: ArithmeticOp, a: &Cell, b: &Cell, terms: &[Term]) -> Maybe {
    use ArithmeticOp::*;
    let done = match (op, a, b) {
        (Add, Cell::Int(a), Cell::Int(b)) => a.checked_add(*b).map(Cell::Int),
        (Sub, Cell::Int(a), Cell::Int(b)) => a.checked_sub(*b).map(Cell::Int),
        (Mul, Cell::Int(a), Cell::Int(b)) => a.checked_mul(*b).map(Cell::Int),
        (Div, Cell::Int(a), Cell::Int(b)) => finite(*a as f64 / *b as f64),
        (Add, Cell::Real(a), Cell::Real(b)) => finite(a + b),
        (Sub, Cell::Real(a), Cell::Real(b)) => finite(a - b),
        (Mul, Cell::Real(a), Cell::Real(b)) => finite(a * b),
        (Div, Cell::Real(a), Cell::Real(b)) => finite(a / b),
        _ => None,
    };
    match done {
        Some(cell) => Maybe::Some(cell),
        // Everything else, what overflows and what is not finite among it.
        None => tw_monitor::arithmetic(op, &a.value(terms), &b.value(terms)).into(),
    }
}

fn finite(real: f64) -> Option<Cell> {
    real.is_finite().then_some(Cell::Real(real))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small() {
        assert_eq!(size_of::<Cell>(), 16);
    }

    #[test]
    fn arithmetic_is_that_of_terms() {
        use ArithmeticOp::*;
        let values = [
            Value::Int(0),
            Value::Int(-7),
            Value::Int(i64::MAX),
            Value::Int(i64::MIN),
            Value::Real(0.5),
            Value::Real(-0.0),
            Value::Real(f64::MAX),
            Value::Bool(true),
            Value::text("a"),
        ];
        for op in [Add, Sub, Mul, Div, Rem, Min, Max] {
            for (a, b) in values.iter().flat_map(|a| values.iter().map(move |b| (a, b))) {
                let cells = (Cell::new(a.clone()).unwrap(), Cell::new(b.clone()).unwrap());
                let found = match combine(Function::Arithmetic(op), &cells.0, &cells.1, &[]) {
                    Maybe::None => Ok(Value::Null),
                    Maybe::Some(cell) => Ok(cell.value(&[])),
                    Maybe::Error(message) => Err(message.to_string()),
                };
                let expected = tw_monitor::arithmetic(op, a, b);
                assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{op:?} {a} {b}");
            }
        }
    }
}
