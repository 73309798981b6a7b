//! One position at a time: handles every term, and says what went wrong where the fast paths only notice that
//! something did.

use super::leaf::ranges_over_lists;
use super::value::{compare, contains, order};
use tw_core::{Batch, Column, Position, Value};
use tw_ir::{ArithmeticOp, Node, NodeId, Program, What};

/// What a node is worth at one position.
#[derive(Clone, Debug)]
enum Cell {
    /// One value; a truth value for formulas.
    One(Value),
    /// A term over `[*]`: one value per choice of list elements.
    Many(Vec<Value>),
    /// No value, and the predicate has no truth: integer overflow, or arithmetic on what is no number.
    Error(String),
}

impl Cell {
    fn values(&self) -> Result<&[Value], &str> {
        match self {
            Cell::One(value) => Ok(std::slice::from_ref(value)),
            Cell::Many(values) => Ok(values),
            Cell::Error(message) => Err(message),
        }
    }

    fn truth(&self) -> Result<bool, String> {
        match self {
            Cell::One(value) => Ok(truth(value)),
            Cell::Many(values) => Ok(values.iter().any(truth)),
            Cell::Error(message) => Err(message.clone()),
        }
    }
}

/// A value where a truth value is expected. Readers deliver booleans; a number is true unless it is zero.
pub fn truth(value: &Value) -> bool {
    match value {
        Value::Bool(b) => *b,
        Value::Int(i) => *i != 0,
        Value::Real(r) => *r != 0.0,
        _ => false,
    }
}

/// Evaluates one predicate or term; `order` lists the nodes it is made of, ascending, itself last.
pub(crate) struct Scalar<'a> {
    program: &'a Program,
    slots: &'a [Column],
    order: &'a [NodeId],
    cells: Vec<Cell>,
    /// A variable and its value.
    binding: Option<(u32, &'a Value)>,
    /// Nodes whose values are known.
    given: &'a [(NodeId, Value)],
}

impl<'a> Scalar<'a> {
    pub(super) fn new(program: &'a Program, batch: &'a Batch, order: &'a [NodeId]) -> Self {
        let cells = Vec::with_capacity(order.len());
        Self { program, slots: &batch.slots, order, cells, binding: None, given: &[] }
    }

    /// A term without slots, in which `variable` has a value.
    pub(crate) fn bound(program: &'a Program, order: &'a [NodeId], variable: u32, value: &'a Value) -> Self {
        let cells = Vec::with_capacity(order.len());
        Self { program, slots: &[], order, cells, binding: Some((variable, value)), given: &[] }
    }

    /// A predicate or term without slots but those among the nodes that are given.
    fn given(program: &'a Program, order: &'a [NodeId], given: &'a [(NodeId, Value)]) -> Self {
        let cells = Vec::with_capacity(order.len());
        Self { program, slots: &[], order, cells, binding: None, given }
    }

    /// The truth of the predicate at a position of the batch.
    pub(super) fn at(&mut self, position: Position) -> Result<bool, String> {
        self.run(position);
        self.cells.last().map_or(Ok(false), Cell::truth)
    }

    /// The value of the term at a position of the batch; a list if it has several.
    pub(crate) fn value(&mut self, position: Position) -> Result<Value, String> {
        self.run(position);
        match self.cells.pop() {
            None => Ok(Value::Null),
            Some(Cell::One(value)) => Ok(value),
            Some(Cell::Many(values)) => Ok(Value::List(values)),
            Some(Cell::Error(message)) => Err(message),
        }
    }

    fn run(&mut self, position: Position) {
        self.cells.clear();
        for &id in self.order {
            let cell = self.cell(id, position);
            self.cells.push(cell);
        }
    }

    fn get(&self, id: NodeId) -> &Cell {
        // Children are in `order` with their parents, before them.
        let index = self.order.binary_search(&id).unwrap_or_default();
        &self.cells[index]
    }

    fn cell(&self, id: NodeId, position: Position) -> Cell {
        let dag = &self.program.dag;
        if let Some((_, value)) = self.given.iter().find(|(node, _)| *node == id) {
            return match (dag.node(id), value) {
                (Node::Slot(slot), Value::List(items)) if ranges_over_lists(self.program, slot) => {
                    Cell::Many(items.clone())
                }
                _ => Cell::One(value.clone()),
            };
        }
        match dag.node(id) {
            Node::Constant(constant) => Cell::One(dag.constants[constant as usize].clone()),
            Node::Slot(slot) => {
                let column = &self.slots[slot as usize];
                match (&self.program.slots[slot as usize].what, column) {
                    (What::Variable(path, _), Column::Any(values)) if path.has_each() => {
                        match &values[position] {
                            Value::List(items) => Cell::Many(items.clone()),
                            other => Cell::One(other.clone()),
                        }
                    }
                    _ => Cell::One(column.value(position)),
                }
            }
            Node::Truth(slot) => Cell::One(Value::Bool(truth(&self.slots[slot as usize].value(position)))),
            Node::Bool(value) => Cell::One(Value::Bool(value)),
            // Variables may be anything, and only some of it is a number.
            Node::Negate(a) => self.map(a, |a| if self.strange(a) { Ok(Value::Null) } else { negate(a) }),
            Node::Abs(a) => self.map(a, |a| if self.strange(a) { Ok(Value::Null) } else { absolute(a) }),
            Node::Arithmetic(op, a, b) => self.zip(a, b, |a, b| match self.strange(a) || self.strange(b) {
                true => Ok(Value::Null),
                false => arithmetic(op, a, b),
            }),
            Node::Tuple(a, b) => self.zip(a, b, |a, b| Ok(Value::List(vec![a.clone(), b.clone()]))),
            Node::IfThenElse(condition, a, b) => match self.get(condition).truth() {
                Ok(holds) => self.get(if holds { a } else { b }).clone(),
                Err(message) => Cell::Error(message),
            },
            Node::Compare(op, a, b) => {
                self.some(a, |left| Ok(self.get(b).values()?.iter().any(|right| compare(op, left, right))))
            }
            Node::In(a, set) => self.some(a, |value| Ok(contains(&dag.sets[set as usize], value))),
            Node::Matches(a, regex) => self.some(a, |value| match value {
                Value::Str(text) => Ok(dag.regexes[regex as usize].is_match(text)),
                _ => Ok(false),
            }),
            Node::Has(a) => self.some(a, |value| Ok(!value.is_null())),
            Node::Not(a) => self.connect(a, a, |a, _| !a),
            Node::And(a, b) => self.connect(a, b, |a, b| a & b),
            Node::Or(a, b) => self.connect(a, b, |a, b| a | b),
            Node::Xor(a, b) => self.connect(a, b, |a, b| a ^ b),
            Node::Implies(a, b) => self.connect(a, b, |a, b| !a | b),
            Node::Iff(a, b) => self.connect(a, b, |a, b| a == b),
            Node::Variable(variable) if self.binding.is_some_and(|(bound, _)| bound == variable) => {
                Cell::One(self.binding.map_or(Value::Null, |(_, value)| value.clone()))
            }
            // Never inside an atom (`Program::atoms`) or a term (`Program::terms`).
            other => Cell::Error(format!("`{}` cannot stand in a term", other.operator())),
        }
    }

    /// Whether a value of a variable is no number, so that nothing can be computed with it.
    fn strange(&self, value: &Value) -> bool {
        !self.given.is_empty() && !matches!(value, Value::Null | Value::Int(_) | Value::Real(_))
    }

    fn map(&self, a: NodeId, f: impl Fn(&Value) -> Result<Value, String>) -> Cell {
        match self.get(a) {
            Cell::One(value) => f(value).map_or_else(Cell::Error, Cell::One),
            Cell::Many(values) => {
                values.iter().map(f).collect::<Result<_, _>>().map_or_else(Cell::Error, Cell::Many)
            }
            Cell::Error(message) => Cell::Error(message.clone()),
        }
    }

    fn zip(&self, a: NodeId, b: NodeId, f: impl Fn(&Value, &Value) -> Result<Value, String>) -> Cell {
        match (self.get(a), self.get(b)) {
            (Cell::Error(message), _) | (_, Cell::Error(message)) => Cell::Error(message.clone()),
            (Cell::One(a), Cell::One(b)) => f(a, b).map_or_else(Cell::Error, Cell::One),
            (a, b) => {
                let (a, b) = (a.values().unwrap_or_default(), b.values().unwrap_or_default());
                let choices = a.iter().flat_map(|a| b.iter().map(move |b| (a, b)));
                choices.map(|(a, b)| f(a, b)).collect::<Result<_, _>>().map_or_else(Cell::Error, Cell::Many)
            }
        }
    }

    /// True if some value of `a` satisfies `f`.
    fn some<'s>(&'s self, a: NodeId, f: impl Fn(&Value) -> Result<bool, &'s str>) -> Cell {
        let holds = self.get(a).values().and_then(|values| {
            // An error on the other side counts even where this side has no value to compare.
            f(&Value::Null)?;
            Ok(values.iter().any(|value| f(value) == Ok(true)))
        });
        match holds {
            Ok(holds) => Cell::One(Value::Bool(holds)),
            Err(message) => Cell::Error(message.to_owned()),
        }
    }

    fn connect(&self, a: NodeId, b: NodeId, f: impl Fn(bool, bool) -> bool) -> Cell {
        match (self.get(a).truth(), self.get(b).truth()) {
            (Ok(a), Ok(b)) => Cell::One(Value::Bool(f(a, b))),
            (Err(message), _) | (_, Err(message)) => Cell::Error(message),
        }
    }
}

/// A predicate or term whose variables, slots and other parts from elsewhere have these values; `order` lists the nodes it is
/// made of, ascending, itself last, down to those that are given.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'a> {
    /// Of what.
    pub program: &'a Program,
    /// Its nodes.
    pub order: &'a [NodeId],
    /// The values of some of them.
    pub given: &'a [(NodeId, Value)],
}

impl Ground<'_> {
    /// The truth of a predicate, or why it has none.
    pub fn truth(self) -> Result<bool, String> {
        Scalar::given(self.program, self.order, self.given).at(0)
    }

    /// The value of a term (a list if it has several), or why it has none.
    pub fn value(self) -> Result<Value, String> {
        Scalar::given(self.program, self.order, self.given).value(0)
    }
}

fn negate(value: &Value) -> Result<Value, String> {
    match value {
        Value::Null => Ok(Value::Null),
        Value::Int(i) => {
            i.checked_neg().map(Value::Int).ok_or_else(|| format!("-({i}) overflows a 64-bit integer"))
        }
        Value::Real(r) => Ok(Value::Real(-r)),
        other => Err(format!("`-` needs a number, found {}", other.kind())),
    }
}

fn absolute(value: &Value) -> Result<Value, String> {
    match value {
        Value::Null => Ok(Value::Null),
        Value::Int(i) => {
            i.checked_abs().map(Value::Int).ok_or_else(|| format!("abs({i}) overflows a 64-bit integer"))
        }
        Value::Real(r) => Ok(Value::Real(r.abs())),
        other => Err(format!("`abs` needs a number, found {}", other.kind())),
    }
}

/// `a op b`: null if a side is null or the result is no finite number; an error if an integer overflows or a side is
/// no number.
pub fn arithmetic(op: ArithmeticOp, a: &Value, b: &Value) -> Result<Value, String> {
    use ArithmeticOp::*;
    let symbol = match op {
        Add => "+",
        Sub => "-",
        Mul => "*",
        Div => "/",
        Rem => "%",
        Min => "min",
        Max => "max",
    };
    for side in [a, b] {
        if !matches!(side, Value::Null | Value::Int(_) | Value::Real(_)) {
            return Err(format!("`{symbol}` needs numbers, found {}", side.kind()));
        }
    }
    if a.is_null() || b.is_null() {
        return Ok(Value::Null);
    }
    if matches!(op, Min | Max) {
        let second = order(b, a).is_some_and(|o| if op == Min { o.is_lt() } else { o.is_gt() });
        return Ok(if second { b.clone() } else { a.clone() });
    }
    if let (Value::Int(a), Value::Int(b), Add | Sub | Mul | Rem) = (a, b, op) {
        if op == Rem {
            // The one overflow, i64::MIN % -1, has the remainder 0.
            return Ok(if *b == 0 { Value::Null } else { Value::Int(a.wrapping_rem(*b)) });
        }
        let result = match op {
            Add => a.checked_add(*b),
            Sub => a.checked_sub(*b),
            _ => a.checked_mul(*b),
        };
        return result.map(Value::Int).ok_or_else(|| format!("{a} {symbol} {b} overflows a 64-bit integer"));
    }
    let real = |value: &Value| match value {
        Value::Int(i) => *i as f64,
        Value::Real(r) => *r,
        _ => f64::NAN,
    };
    let (a, b) = (real(a), real(b));
    let result = match op {
        Add => a + b,
        Sub => a - b,
        Mul => a * b,
        Div => a / b,
        _ => a % b,
    };
    Ok(if result.is_finite() { Value::Real(result) } else { Value::Null })
}
