//! One equation at one position, on values.

use tw_core::Value;
use tw_ir::{Node, NodeId, Program, SlotId, Stream, StreamType};
use tw_monitor::{Ground, truth};

/// What an equation reads at a position beside slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub first: bool,
    pub last: bool,
}

/// An equation, ready to be evaluated.
#[derive(Clone, Debug)]
pub(crate) struct Equation {
    ty: StreamType,
    node: NodeId,
    order: Vec<NodeId>,
    /// What is given at each position.
    given: Vec<(NodeId, Given)>,
}

#[derive(Clone, Copy, Debug)]
enum Given {
    Slot(SlotId, bool),
    First,
    Last,
}

impl Equation {
    pub fn new(program: &Program, stream: &Stream) -> Self {
        let order = program.reachable(&[stream.node]);
        let given = order.iter().filter_map(|&id| match program.dag.node(id) {
            Node::Slot(slot) => Some((id, Given::Slot(slot, false))),
            Node::Truth(slot) => Some((id, Given::Slot(slot, true))),
            Node::First => Some((id, Given::First)),
            Node::Last => Some((id, Given::Last)),
            _ => None,
        });
        Self { ty: stream.ty, node: stream.node, given: given.collect(), order }
    }

    /// A formula as an equation.
    pub fn of(program: &Program, node: NodeId) -> Self {
        let stream = Stream {
            name: String::new(),
            ty: StreamType::Bool,
            node,
            slot: 0,
            by: None,
            observed: true,
            span: Default::default(),
        };
        Self::new(program, &stream)
    }

    /// The node that messages are about.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// The stream's value, given what slots hold here.
    pub fn value(
        &self,
        program: &Program,
        ends: Ends,
        mut slot: impl FnMut(SlotId) -> Value,
    ) -> Result<Value, String> {
        let given: Vec<(NodeId, Value)> = self
            .given
            .iter()
            .map(|&(id, what)| {
                let value = match what {
                    Given::Slot(of, false) => slot(of),
                    Given::Slot(of, true) => Value::Bool(truth(&slot(of))),
                    Given::First => Value::Bool(ends.first),
                    Given::Last => Value::Bool(ends.last),
                };
                (id, value)
            })
            .collect();
        let ground = Ground { program, order: &self.order, given: &given };
        match self.ty {
            StreamType::Bool => ground.truth().map(Value::Bool),
            _ => typed(self.ty, ground.value()?),
        }
    }
}

/// A value as one of the stream's type.
pub(crate) fn typed(ty: StreamType, value: Value) -> Result<Value, String> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    Ok(match (ty, value) {
        (_, Value::Null) => Value::Null,
        (StreamType::Int, Value::Real(number)) if number.fract() == 0.0 && number.abs() < LIMIT => {
            Value::Int(number as i64)
        }
        (StreamType::Int, Value::Real(number)) => {
            return Err(format!("{number} is no whole number, and the stream is declared `int`"));
        }
        (StreamType::Real, Value::Int(number)) => Value::Real(number as f64),
        (StreamType::Int | StreamType::Real, value @ (Value::Int(_) | Value::Real(_))) => value,
        (StreamType::Text, value @ Value::Str(_)) => value,
        (ty, value) => {
            return Err(format!("found {}, and the stream is declared `{}`", value.kind(), ty.name()));
        }
    })
}
