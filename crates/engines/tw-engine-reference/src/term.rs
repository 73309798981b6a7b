//! Predicates from the values of slots, at one position.
//!
//! The meaning is that of `tw_monitor::Predicates`, written a second time in the plainest way: a term is a list of
//! the values that it may take (one, unless a path with `[*]` offers several), and a predicate holds when some choice
//! of values satisfies it.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use tw_core::{Column, Position, Value};
use tw_ir::{ArithmeticOp, CompareOp, Node, NodeId, Program, SetItem, What};

/// The values that a node may take, or why it has none. A formula has one, a boolean.
pub(crate) type Cell = Result<Vec<Value>, String>;

/// Whether the node is a truth value about values.
pub(crate) fn is_predicate(node: Node) -> bool {
    matches!(node, Node::Truth(_) | Node::Compare(..) | Node::In(..) | Node::Matches(..) | Node::Has(_))
}

/// Whether the node is not for a term to compute: a formula that other positions have a say in, which terms reach through
/// `if`, or an aggregate over valuations.
pub(crate) fn is_given(node: Node) -> bool {
    node.is_temporal()
        || node.is_first_order() && !matches!(node, Node::Variable(_))
        || matches!(node, Node::First | Node::Last)
}

/// What a predicate is made of, ascending, itself last; what is given is not taken apart.
pub(crate) fn parts(program: &Program, predicate: NodeId) -> Vec<NodeId> {
    let mut parts = BTreeSet::from([predicate]);
    let mut todo = vec![predicate];
    while let Some(id) = todo.pop() {
        let node = program.dag.node(id);
        if !is_given(node) {
            todo.extend(node.children().filter(|child| parts.insert(*child)));
        }
    }
    parts.into_iter().collect()
}

/// What a term or predicate is worth at one position, from its parts. `given` tells what is not computed here, `variable` what
/// quantified variables are. These may be anything: with `lenient`, arithmetic on what is no number is null.
pub(crate) fn evaluate(
    program: &Program,
    slots: &[Column],
    parts: &[NodeId],
    at: Position,
    given: &dyn Fn(NodeId) -> Cell,
    variable: &dyn Fn(u32) -> Value,
    lenient: bool,
) -> Cell {
    let mut cells: BTreeMap<NodeId, Cell> = BTreeMap::new();
    for &id in parts {
        let node = program.dag.node(id);
        let arithmetic = matches!(node, Node::Arithmetic(..) | Node::Negate(_) | Node::Abs(_));
        let get = |part: NodeId| {
            let cell = cells[&part].clone();
            if lenient && arithmetic {
                cell.map(|values| values.into_iter().map(numeric).collect())
            } else {
                cell
            }
        };
        let cell = match node {
            _ if is_given(node) => given(id),
            Node::Variable(number) => Ok(vec![variable(number)]),
            _ => cell(program, slots, node, at, get),
        };
        cells.insert(id, cell);
    }
    cells.pop_last().map_or(Ok(Vec::new()), |(_, cell)| cell)
}

/// The number that a value is, or null.
fn numeric(value: Value) -> Value {
    if matches!(value, Value::Int(_) | Value::Real(_)) { value } else { Value::Null }
}

/// Where a truth value is expected, a number is true unless it is zero.
pub(crate) fn holds(values: &[Value]) -> bool {
    values.iter().any(|value| match value {
        Value::Bool(b) => *b,
        Value::Int(i) => *i != 0,
        Value::Real(r) => *r != 0.0,
        _ => false,
    })
}

/// What a node is worth at a position, from what its children are worth.
pub(crate) fn cell(
    program: &Program,
    slots: &[Column],
    node: Node,
    at: Position,
    get: impl Fn(NodeId) -> Cell,
) -> Cell {
    let dag = &program.dag;
    let truth = |id: NodeId| get(id).map(|values| holds(&values));
    let boolean = |value: bool| Ok(vec![Value::Bool(value)]);
    match node {
        Node::Constant(constant) => Ok(vec![dag.constants[constant as usize].clone()]),
        Node::Slot(slot) => {
            let value = slots[slot as usize].value(at);
            let several =
                matches!(&program.slots[slot as usize].what, What::Variable(path, _) if path.has_each());
            match value {
                Value::List(items) if several => Ok(items),
                one => Ok(vec![one]),
            }
        }
        Node::Negate(a) => get(a)?.iter().map(|a| arithmetic(ArithmeticOp::Sub, &zero(a), a)).collect(),
        Node::Abs(a) => {
            let magnitude = |a: &Value| {
                if let Value::Real(real) = a {
                    // Of -0.0, too, which no order tells from 0.0.
                    return Ok(Value::Real(real.abs()));
                }
                let negated = arithmetic(ArithmeticOp::Sub, &zero(a), a);
                // The other side of the smallest integer overflows; of every other number it exists.
                if order(a, &Value::Int(0)) == Some(Ordering::Less) {
                    negated
                } else {
                    negated.map(|_| a.clone())
                }
            };
            get(a)?.iter().map(magnitude).collect()
        }
        Node::Arithmetic(op, a, b) => {
            choices(&get(a)?, &get(b)?).map(|(a, b)| arithmetic(op, a, b)).collect()
        }
        Node::Tuple(a, b) => {
            Ok(choices(&get(a)?, &get(b)?).map(|(a, b)| Value::List(vec![a.clone(), b.clone()])).collect())
        }
        Node::IfThenElse(condition, a, b) => get(if truth(condition)? { a } else { b }),

        Node::Truth(slot) => boolean(holds(&[slots[slot as usize].value(at)])),
        Node::Compare(op, a, b) => boolean(choices(&get(a)?, &get(b)?).any(|(a, b)| compare(op, a, b))),
        Node::In(a, set) => boolean(get(a)?.iter().any(|a| {
            dag.sets[set as usize].iter().any(|item| match item {
                SetItem::Value(member) => compare(CompareOp::Eq, a, member),
                SetItem::Range(low, high) => {
                    compare(CompareOp::Le, &Value::Int(*low), a)
                        && compare(CompareOp::Le, a, &Value::Int(*high))
                }
            })
        })),
        Node::Matches(a, regex) => boolean(
            get(a)?
                .iter()
                .any(|a| matches!(a, Value::Str(text) if dag.regexes[regex as usize].is_match(text))),
        ),

        Node::Has(a) => boolean(get(a)?.iter().any(|a| !a.is_null())),
        Node::Bool(value) => boolean(value),
        Node::Not(a) => boolean(!truth(a)?),
        Node::And(a, b) => boolean(truth(a)? & truth(b)?),
        Node::Or(a, b) => boolean(truth(a)? | truth(b)?),
        Node::Xor(a, b) => boolean(truth(a)? ^ truth(b)?),
        Node::Implies(a, b) => boolean(!truth(a)? | truth(b)?),
        Node::Iff(a, b) => boolean(truth(a)? == truth(b)?),
        other => Err(format!("`{}` cannot stand in a term", other.operator())),
    }
}

/// Every choice of one value from each side.
fn choices<'v>(a: &'v [Value], b: &'v [Value]) -> impl Iterator<Item = (&'v Value, &'v Value)> {
    a.iter().flat_map(move |a| b.iter().map(move |b| (a, b)))
}

/// The zero from which a number is subtracted to negate it: −0.0 keeps the sign of a real zero right.
fn zero(value: &Value) -> Value {
    if matches!(value, Value::Real(_)) { Value::Real(-0.0) } else { Value::Int(0) }
}

/// Null wherever a side is null; whole numbers stay whole, except under `/`.
pub(crate) fn arithmetic(op: ArithmeticOp, a: &Value, b: &Value) -> Result<Value, String> {
    use ArithmeticOp::*;
    let number = |value: &Value| match value {
        Value::Null => Ok(None),
        Value::Int(i) => Ok(Some(*i as f64)),
        Value::Real(r) => Ok(Some(*r)),
        other => Err(format!("arithmetic on {}", other.kind())),
    };
    let (Some(x), Some(y)) = (number(a)?, number(b)?) else { return Ok(Value::Null) };
    match op {
        Min => return Ok(if compare(CompareOp::Lt, b, a) { b } else { a }.clone()),
        Max => return Ok(if compare(CompareOp::Gt, b, a) { b } else { a }.clone()),
        _ => {}
    }
    if let (Value::Int(a), Value::Int(b)) = (a, b) {
        // 128 bits hold every result, so that overflow is a question about the result alone.
        let (a, b) = (i128::from(*a), i128::from(*b));
        let exact = match op {
            Add => Some(a + b),
            Sub => Some(a - b),
            Mul => Some(a * b),
            Rem if b == 0 => return Ok(Value::Null),
            Rem => Some(a % b),
            _ => None,
        };
        if let Some(exact) = exact {
            return i64::try_from(exact)
                .map(Value::Int)
                .map_err(|_| format!("{exact} overflows a 64-bit integer"));
        }
    }
    let result = match op {
        Add => x + y,
        Sub => x - y,
        Mul => x * y,
        Div => x / y,
        _ => x % y,
    };
    Ok(if result.is_finite() { Value::Real(result) } else { Value::Null })
}

/// `a op b`; false when a null decides it.
fn compare(op: CompareOp, a: &Value, b: &Value) -> bool {
    let is = |wanted: &[Ordering]| order(a, b).is_some_and(|found| wanted.contains(&found));
    match op {
        CompareOp::Eq => equal(a, b),
        CompareOp::Ne => different(a, b),
        CompareOp::Lt => is(&[Ordering::Less]),
        CompareOp::Le => is(&[Ordering::Less, Ordering::Equal]),
        CompareOp::Gt => is(&[Ordering::Greater]),
        CompareOp::Ge => is(&[Ordering::Greater, Ordering::Equal]),
    }
}

/// Numbers by value, text by code points; nothing else is ordered.
pub(crate) fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Str(a), Value::Str(b)) => Some(a.chars().cmp(b.chars())),
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Real(a), Value::Real(b)) => a.partial_cmp(b),
        (Value::Int(a), Value::Real(b)) => {
            // Beyond 2⁶⁴ the size decides; below, 128 bits hold the whole part and the fraction decides ties.
            let whole = i128::from(*a).cmp(&(b.trunc().clamp(-1.9e19, 1.9e19) as i128));
            Some(whole.then(0.0f64.partial_cmp(&b.fract())?))
        }
        (Value::Real(_), Value::Int(_)) => order(b, a).map(Ordering::reverse),
        _ => None,
    }
}

/// Every part is equal, and none is null. Values nest as deeply as the input, hence no recursion.
pub(crate) fn equal(a: &Value, b: &Value) -> bool {
    let mut todo = vec![(a, b)];
    while let Some((a, b)) = todo.pop() {
        match same_shape(a, b) {
            Some(pairs) => todo.extend(pairs),
            None if matches!((a, b), (Value::Bool(a), Value::Bool(b)) if a == b) => {}
            None if order(a, b) == Some(Ordering::Equal) => {}
            None => return false,
        }
    }
    true
}

/// Some part is different, and not because of a null.
fn different(a: &Value, b: &Value) -> bool {
    let mut todo = vec![(a, b)];
    while let Some((a, b)) = todo.pop() {
        match same_shape(a, b) {
            Some(pairs) => todo.extend(pairs),
            None if a.is_null() || b.is_null() || equal(a, b) => {}
            None => return true,
        }
    }
    false
}

/// The parts to compare, of lists of one length and of objects with the same keys.
fn same_shape<'v>(a: &'v Value, b: &'v Value) -> Option<Vec<(&'v Value, &'v Value)>> {
    match (a, b) {
        (Value::List(a), Value::List(b)) if a.len() == b.len() => Some(a.iter().zip(b).collect()),
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
            a.iter().map(|(key, value)| Some((value, &b.iter().find(|(k, _)| k == key)?.1))).collect()
        }
        _ => None,
    }
}
