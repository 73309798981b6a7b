//! The functions on experiments: `g` of `&{g}` and `|{g}`, `f` of `X{f}` and `U{f}`.
//!
//! Values here are those of experiments: null is "no value" (⊥), an error is a result that cannot be computed.

use crate::predicates::{Scalar, arithmetic, parts};
use tw_core::Value;
use tw_ir::{Function, Node, NodeId, Program};

/// `a &{g} b` of two values: nothing unless both are there.
pub fn both(function: Function, a: &Value, b: &Value) -> Result<Value, String> {
    if a.is_null() || b.is_null() {
        return Ok(Value::Null);
    }
    Ok(match function {
        Function::True => Value::Bool(true),
        Function::Pair => Value::List(vec![a.clone(), b.clone()]),
        Function::First => a.clone(),
        Function::Second => b.clone(),
        Function::Arithmetic(op) => arithmetic(op, a, b)?,
    })
}

/// `a |{g} b` of two values: with one side missing it is the other side's value, of a pair `(a, null)`.
pub fn either(function: Function, a: &Value, b: &Value) -> Result<Value, String> {
    let (some, other) = match (a.is_null(), b.is_null()) {
        (false, false) => return both(function, a, b),
        (true, true) => return Ok(Value::Null),
        (false, true) => (a, b),
        (true, false) => (b, a),
    };
    debug_assert!(other.is_null());
    Ok(match function {
        Function::True => Value::Bool(true),
        Function::Pair => Value::List(vec![a.clone(), b.clone()]),
        _ => some.clone(),
    })
}

/// The function `f` of `X{f}` or `U{f}`, ready to be applied.
#[derive(Clone, Debug)]
pub struct Map {
    parameter: u32,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// `v => v`
    Identity,
    /// `v => 3`, or `3` alone
    Constant(Value),
    /// The nodes of the result, ascending, itself last.
    Term(Vec<NodeId>),
}

impl Map {
    /// The function whose result is the term `result`, with `parameter` standing for the argument.
    pub fn new(program: &Program, result: NodeId, parameter: u32) -> Self {
        let kind = match program.dag.node(result) {
            Node::Variable(variable) if variable == parameter => Kind::Identity,
            Node::Constant(constant) => Kind::Constant(program.dag.constants[constant as usize].clone()),
            _ => Kind::Term(parts(program, result)),
        };
        Self { parameter, kind }
    }

    /// Whether it gives back its argument.
    pub fn is_identity(&self) -> bool {
        matches!(self.kind, Kind::Identity)
    }

    /// Its only value, if the argument does not matter.
    pub fn constant(&self) -> Option<&Value> {
        match &self.kind {
            Kind::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// f(value), for a value that is not null. Null where f has no value.
    pub fn apply(&self, program: &Program, value: &Value) -> Result<Value, String> {
        match &self.kind {
            Kind::Identity => Ok(value.clone()),
            Kind::Constant(constant) => Ok(constant.clone()),
            Kind::Term(order) => Scalar::bound(program, order, self.parameter, value).value(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tw_ir::ArithmeticOp;

    #[test]
    fn one_missing_side() {
        let (one, null) = (Value::Int(1), Value::Null);
        let add = Function::Arithmetic(ArithmeticOp::Add);
        assert_eq!(both(add, &one, &null), Ok(Value::Null));
        assert_eq!(either(add, &one, &null), Ok(Value::Int(1)));
        assert_eq!(either(add, &null, &one), Ok(Value::Int(1)));
        assert_eq!(either(add, &one, &one), Ok(Value::Int(2)));
        assert_eq!(either(Function::Pair, &null, &one), Ok(Value::List(vec![Value::Null, Value::Int(1)])));
        assert_eq!(either(Function::First, &null, &one), Ok(Value::Int(1)));
        assert_eq!(either(Function::True, &null, &one), Ok(Value::Bool(true)));
        assert_eq!(either(Function::Pair, &null, &null), Ok(Value::Null));
        assert!(both(add, &Value::Int(i64::MAX), &one).is_err());
    }

    #[test]
    fn maps() {
        let mut program = Program::default();
        program.dag.variables = vec!["v".into()];
        let v = program.dag.add(Node::Variable(0));
        let (one, zero) = (program.dag.constant(Value::Int(1)), program.dag.constant(Value::Int(0)));
        let next = program.dag.add(Node::Arithmetic(ArithmeticOp::Add, v, one));
        let halves = program.dag.add(Node::Arithmetic(ArithmeticOp::Div, v, zero));
        let apply = |result, value| Map::new(&program, result, 0).apply(&program, &value);
        assert_eq!(apply(v, Value::text("a")), Ok(Value::text("a")));
        assert_eq!(apply(one, Value::text("a")), Ok(Value::Int(1)));
        assert_eq!(apply(next, Value::Int(41)), Ok(Value::Int(42)));
        assert_eq!(apply(halves, Value::Int(41)), Ok(Value::Null));
        assert!(apply(next, Value::Int(i64::MAX)).is_err());
        assert!(apply(next, Value::text("a")).is_err());
    }
}
