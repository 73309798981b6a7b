//! Values as columns of the kind that readers would deliver.

use tw_core::{Bits, Column, Value};
use tw_ir::{Expect, Program, SlotId, StreamType, What};

/// The column of a derived slot.
pub(crate) fn column(program: &Program, slot: SlotId, values: Vec<Value>) -> Column {
    if is_truth(program, slot) {
        return Column::Truth(values.iter().map(|value| *value == Value::Bool(true)).collect());
    }
    let (mut ints, mut reals) = (false, false);
    for value in &values {
        match value {
            Value::Null => {}
            Value::Int(_) => ints = true,
            Value::Real(_) => reals = true,
            _ => return Column::of_values(values),
        }
    }
    let valid: Bits = values.iter().map(|value| !value.is_null()).collect();
    match (ints, reals) {
        (true, true) => Column::Any(values),
        (_, false) => {
            let whole = |value: Value| if let Value::Int(number) = value { number } else { 0 };
            Column::Int { values: values.into_iter().map(whole).collect(), valid }
        }
        (false, true) => {
            let real = |value: Value| if let Value::Real(number) = value { number } else { 0.0 };
            Column::Real { values: values.into_iter().map(real).collect(), valid }
        }
    }
}

/// Whether a slot holds truth values, in which null is false.
pub(crate) fn is_truth(program: &Program, mut slot: SlotId) -> bool {
    loop {
        slot = match &program.slots[slot as usize].what {
            What::Shift(shift) => shift.slot,
            What::Stream { stream, .. } => return program.streams[*stream as usize].ty == StreamType::Bool,
            What::Proposition(_) | What::Event { .. } | What::Variable(_, Expect::Bool) => return true,
            What::Variable(..) | What::Timing(_) | What::Tuples { .. } | What::Window(_) => return false,
        }
    }
}
