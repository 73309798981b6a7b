//! What a picture shows beside robustness: the numeric columns that predicates read, and the constants that they are
//! compared with.

use crate::Specification;
use tw_core::{Column, Value};
use tw_ir::{ArithmeticOp, Node, NodeId, SlotId, What};

/// A numeric column of the trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// Its name.
    pub name: String,
    /// Signals of one group are compared with each other, or computed with: they share a scale.
    pub group: usize,
    /// Its values; NaN where it has none. Empty where only the name was asked for.
    pub values: Vec<f64>,
    /// What it is compared with.
    pub levels: Vec<Level>,
}

/// A constant that a signal is compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// The constant.
    pub value: f64,
    /// The predicate in the user's own words.
    pub formula: String,
}

/// The slots of numbers that predicates compare, in the order of the program.
pub(super) fn shown(spec: &Specification) -> Vec<SlotId> {
    let mut slots = Vec::new();
    for (_, compared) in comparisons(spec) {
        for slot in compared {
            if !slots.contains(&slot) {
                slots.push(slot);
            }
        }
    }
    slots
}

/// The signals of these slots and their values; those without a single number are left out.
pub(super) fn with_values(spec: &Specification, slots: Vec<SlotId>, kept: Vec<Vec<f64>>) -> Vec<Signal> {
    let mut signals = named(spec, &slots);
    for (signal, values) in signals.iter_mut().zip(kept) {
        signal.values = values;
    }
    signals.retain(|signal| signal.values.iter().any(|value| value.is_finite()));
    signals
}

/// The signals of these slots, without values.
pub(super) fn named(spec: &Specification, slots: &[SlotId]) -> Vec<Signal> {
    let comparisons = comparisons(spec);
    let mut groups: Vec<usize> = (0..slots.len()).collect();
    for (_, compared) in &comparisons {
        let places: Vec<usize> = compared.iter().filter_map(|slot| place(slots, *slot)).collect();
        let Some(&first) = places.first() else { continue };
        for &other in &places[1..] {
            let (from, to) = (groups[other], groups[first]);
            groups.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
        }
    }
    let mut signals: Vec<Signal> = slots
        .iter()
        .zip(groups)
        .map(|(&slot, group)| Signal {
            name: name(spec, slot),
            group,
            values: Vec::new(),
            levels: Vec::new(),
        })
        .collect();
    for (predicate, _) in comparisons {
        for (slot, value) in levels(spec, predicate) {
            let Some(at) = place(slots, slot) else { continue };
            if !signals[at].levels.iter().any(|level| level.value == value) {
                signals[at].levels.push(Level { value, formula: spec.words(predicate) });
            }
        }
    }
    signals
}

fn place(slots: &[SlotId], slot: SlotId) -> Option<usize> {
    slots.iter().position(|&other| other == slot)
}

fn name(spec: &Specification, slot: SlotId) -> String {
    match &spec.program.slots[slot as usize].what {
        What::Proposition(path) | What::Variable(path, _) => path.to_string(),
        What::Timing(timing) => timing.measure.name().to_string(),
        What::Shift(shift) => format!("{}[{:+}]", shift.path, shift.by),
        What::Window(window) => window.text.clone(),
        What::Stream { name, .. } | What::Event { name, .. } | What::Tuples { name, .. } => name.clone(),
    }
}

/// The comparisons below the properties, and the slots that each reads.
fn comparisons(spec: &Specification) -> Vec<(NodeId, Vec<SlotId>)> {
    let program = &spec.program;
    let roots: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
    let is_comparison = |id: &NodeId| matches!(program.dag.node(*id), Node::Compare(..));
    let read = |id: NodeId| {
        let parts = program.reachable(&[id]);
        let slot = |part: &NodeId| match program.dag.node(*part) {
            Node::Slot(slot) => Some(slot),
            _ => None,
        };
        (id, parts.iter().filter_map(slot).collect())
    };
    program.reachable(&roots).into_iter().filter(is_comparison).map(read).collect()
}

/// The constants that a slot meets in a comparison: `x < c`, `abs(x) < c`, `abs(x - m) < c`, either way round.
fn levels(spec: &Specification, predicate: NodeId) -> Vec<(SlotId, f64)> {
    let dag = &spec.program.dag;
    let Node::Compare(_, a, b) = dag.node(predicate) else { return Vec::new() };
    let constant = |id: NodeId| match dag.node(id) {
        Node::Constant(constant) => number(&dag.constants[constant as usize]),
        _ => None,
    };
    let (side, bound) = match (constant(a), constant(b)) {
        (None, Some(bound)) => (a, bound),
        (Some(bound), None) => (b, bound),
        _ => return Vec::new(),
    };
    let slot = |id: NodeId| match dag.node(id) {
        Node::Slot(slot) => Some(slot),
        _ => None,
    };
    if let Some(slot) = slot(side) {
        return vec![(slot, bound)];
    }
    let Node::Abs(inside) = dag.node(side) else { return Vec::new() };
    let (slot, middle) = match dag.node(inside) {
        Node::Slot(slot) => (Some(slot), Some(0.0)),
        Node::Arithmetic(ArithmeticOp::Sub, x, m) if slot(x).is_some() => (slot(x), constant(m)),
        Node::Arithmetic(ArithmeticOp::Sub, m, x) => (slot(x), constant(m)),
        _ => (None, None),
    };
    match (slot, middle) {
        (Some(slot), Some(middle)) => vec![(slot, middle - bound), (slot, middle + bound)],
        _ => Vec::new(),
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(int) => Some(*int as f64),
        Value::Real(real) => Some(*real),
        _ => None,
    }
}

/// A column as numbers; what is none is NaN.
pub(super) fn numbers(column: &Column) -> Vec<f64> {
    let masked = |values: &mut dyn Iterator<Item = f64>, valid: &tw_core::Bits| -> Vec<f64> {
        values.enumerate().map(|(at, value)| if valid.get(at) { value } else { f64::NAN }).collect()
    };
    match column {
        Column::Real { values, valid } => masked(&mut values.iter().copied(), valid),
        Column::Int { values, valid } => masked(&mut values.iter().map(|&value| value as f64), valid),
        Column::Any(values) => values.iter().map(|value| number(value).unwrap_or(f64::NAN)).collect(),
        Column::Truth(_) | Column::Text { .. } | Column::Words(_) | Column::Tuples(_) => {
            vec![f64::NAN; column.len()]
        }
    }
}
