//! The function f of `X{f}` and `U{f}`, applied to all values of a block.

use crate::lane::{Data, Lane, either_error, typed};
use crate::local;
use crate::words;
use tw_core::Value;
use tw_ir::{ArithmeticOp, Function, Node, NodeId, Program};
use tw_monitor::Map;

/// Functions with more parts than this are applied to one value after another.
const PARTS: usize = 64;

/// A function of one value.
#[derive(Clone, Debug)]
pub(crate) struct Applied {
    map: Map,
    /// If it is arithmetic: its parts, operands before their operators, itself last.
    parts: Option<Vec<Part>>,
}

#[derive(Clone, Debug)]
enum Part {
    Argument,
    Number(Value),
    Arithmetic(ArithmeticOp, usize, usize),
}

impl Applied {
    pub(crate) fn new(program: &Program, result: NodeId, parameter: u32) -> Self {
        // The nodes below the result, ascending; few, so that a program of many functions stays linear.
        let mut order = vec![result];
        let mut next = 0;
        while let Some(id) = order.get(next).copied() {
            order.extend(program.dag.node(id).children());
            next += 1;
            if order.len() > PARTS {
                let map = Map::new(program, result, parameter);
                return Applied { map, parts: None };
            }
        }
        order.sort_unstable();
        order.dedup();
        let place = |id: NodeId| order.binary_search(&id).ok();
        let part = |id: &NodeId| match program.dag.node(*id) {
            Node::Variable(variable) if variable == parameter => Some(Part::Argument),
            Node::Constant(constant) => match &program.dag.constants[constant as usize] {
                number @ (Value::Int(_) | Value::Real(_)) => Some(Part::Number(number.clone())),
                _ => None,
            },
            Node::Arithmetic(op, a, b) => Some(Part::Arithmetic(op, place(a)?, place(b)?)),
            _ => None,
        };
        Applied { map: Map::new(program, result, parameter), parts: order.iter().map(part).collect() }
    }

    /// f applied to each value.
    pub(crate) fn apply<'t>(&self, mut lane: Lane<'t>, program: &Program) -> Lane<'t> {
        if self.map.is_identity() {
            return lane;
        }
        if let Some(value) = self.map.constant() {
            if value.is_null() {
                lane.valid = vec![0; lane.valid.len()].into();
            }
            return Lane { data: Data::Constant(value.clone()), ..lane };
        }
        let errors = std::mem::take(&mut lane.errors);
        let mut result = match (&self.parts, &lane.data) {
            (Some(parts), Data::Ints(_) | Data::Reals(_)) => arithmetic(parts, &lane),
            _ => self.one_by_one(lane, program),
        };
        result.errors = either_error(&errors, &result.errors);
        result
    }

    fn one_by_one<'t>(&self, lane: Lane<'t>, program: &Program) -> Lane<'t> {
        let len = lane.len;
        let (mut valid, mut values, mut errors) = (lane.valid.to_vec(), vec![Value::Null; len], Vec::new());
        words::each_down(&lane.valid, 0, len, |at| match self.map.apply(program, &lane.value(at)) {
            Ok(Value::Null) => words::clear(&mut valid, at),
            Ok(value) => values[at] = value,
            Err(message) => {
                words::clear(&mut valid, at);
                errors.push((at as u32, message.into()));
            }
        });
        errors.reverse();
        Lane { len, valid: valid.into(), data: typed(values), errors }
    }
}

fn arithmetic<'t>(parts: &[Part], argument: &Lane<'t>) -> Lane<'t> {
    let mut lanes: Vec<Lane<'t>> = Vec::with_capacity(parts.len());
    for part in parts {
        let lane = match part {
            Part::Argument => argument.clone(),
            Part::Number(number) => Lane::constant(number, argument.len),
            Part::Arithmetic(op, a, b) => local::both(Function::Arithmetic(*op), &lanes[*a], &lanes[*b]),
        };
        lanes.push(lane);
    }
    let result = lanes.pop().unwrap_or_else(|| argument.clone());
    // Parts without the argument have a value, or an error, everywhere.
    local::emit(&argument.valid, result)
}
