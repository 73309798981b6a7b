//! From the cells of a row to atoms: a bit where the atom is a proposition, one comparison where it compares a variable
//! with a constant, and the general way, through columns of one position, for all else.

use super::not_computable;
use super::row::set_bit;
use tw_core::{Batch, Value};
use tw_ir::{CompareOp, Node, Program};
use tw_monitor::{AtomParts, Predicates, compare};
use tw_trace::{ColumnBuilder, TraceError, describe, expect_of};

pub(crate) struct Cells {
    /// For each slot, the atom that it is.
    bits: Vec<Option<u32>>,
    /// Atoms that compare a slot with a number: atom, slot, operator, number.
    comparisons: Vec<(u32, u32, CompareOp, Value)>,
    /// Atoms that need columns.
    general: Vec<u32>,
    parts: AtomParts,
}

impl Cells {
    pub(crate) fn new(program: &Program) -> Self {
        let mut bits = vec![None; program.slots.len()];
        let (mut comparisons, mut general) = (Vec::new(), Vec::new());
        for (atom, node) in program.atoms().into_iter().enumerate() {
            let atom = atom as u32;
            match program.dag.node(node) {
                Node::Truth(slot) => bits[slot as usize] = Some(atom),
                Node::Compare(op, left, right) => match (program.dag.node(left), program.dag.node(right)) {
                    (Node::Slot(slot), Node::Constant(constant))
                        if is_number(&program.dag.constants[constant as usize]) =>
                    {
                        let value = program.dag.constants[constant as usize].clone();
                        comparisons.push((atom, slot, op, value));
                    }
                    _ => general.push(atom),
                },
                _ => general.push(atom),
            }
        }
        // Equations read values.
        if program.derives() {
            for (slot, bit) in bits.iter_mut().enumerate() {
                let bit = bit.take().map(|bit| (bit, slot as u32, CompareOp::Eq, Value::Bool(true)));
                comparisons.extend(bit);
            }
        }
        // Where values are read in general, a truth slot may be one of them: then its bit is set from its value.
        if !general.is_empty() {
            for &atom in &general {
                let mut todo = vec![program.atoms()[atom as usize]];
                while let Some(id) = todo.pop() {
                    if let Node::Truth(slot) | Node::Slot(slot) = program.dag.node(id)
                        && let Some(bit) = bits[slot as usize].take()
                    {
                        comparisons.push((bit, slot, CompareOp::Eq, Value::Bool(true)));
                    }
                    todo.extend(program.dag.node(id).children());
                }
            }
        }
        Self { bits, comparisons, general, parts: Predicates::new(program).parts() }
    }

    pub(crate) fn parts(&self) -> AtomParts {
        self.parts.clone()
    }

    /// The atom that the slot is, if it is nothing else.
    pub(crate) fn bit(&self, slot: usize) -> Option<u32> {
        self.bits[slot]
    }

    /// Whether every atom is a bit of the row.
    #[inline]
    pub(crate) fn are_bits(&self) -> bool {
        self.comparisons.is_empty() && self.general.is_empty()
    }

    /// Sets the atoms that are not bits of the row.
    pub(crate) fn fill(
        &self,
        program: &Program,
        values: &[Value],
        atoms: &mut [u64],
    ) -> Result<(), TraceError> {
        let mut fits = self.general.is_empty();
        for (atom, slot, op, constant) in &self.comparisons {
            let value = &values[*slot as usize];
            // Anything but a finite number is left to the columns, which say what was expected.
            fits &= matches!(value, Value::Null | Value::Int(_) | Value::Bool(_))
                || matches!(value, Value::Real(real) if real.is_finite());
            fits &= is_number(constant) || matches!(value, Value::Null | Value::Bool(_));
            set_bit(atoms, *atom, compare(*op, value, constant));
        }
        if fits {
            return Ok(());
        }
        let batch = batch(program, values)?;
        let columns =
            Predicates::with_parts(program, self.parts()).evaluate(&batch).map_err(not_computable)?;
        for &atom in &self.general {
            set_bit(atoms, atom, columns[atom as usize].get(0));
        }
        Ok(())
    }
}

/// The cells as columns of one position. Bits of the row have no value here; nothing that reads columns reads them.
pub(crate) fn batch(program: &Program, values: &[Value]) -> Result<Batch, TraceError> {
    let mut slots = Vec::with_capacity(values.len());
    for (index, (slot, value)) in program.slots.iter().zip(values).enumerate() {
        let mut column = ColumnBuilder::new(expect_of(&slot.what));
        column
            .push_value(value)
            .map_err(|error| error.into_trace_error(&describe(&slot.what), Some(index as u32)))?;
        slots.push(column.finish());
    }
    Ok(Batch { len: 1, slots, times: None })
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::Real(_))
}
