//! Columns of results, filled from the last position to the first.

use crate::block::{Chunk, View, descending};
use crate::cell::Cell;
use tw_core::{Bits, Column, Position, Value};
use tw_monitor::{Term, Unsupported, Values};

/// A column in the making.
pub(crate) struct Builder {
    len: usize,
    kind: Kind,
    /// Descending.
    errors: Vec<(Position, String)>,
}

enum Kind {
    /// No value so far.
    Empty,
    Truth(Bits),
    Int(Vec<i64>, Bits),
    Real(Vec<f64>, Bits),
    Any(Vec<Value>),
}

/// What is left of the memory budget.
pub(crate) struct Budget(pub usize);

impl Budget {
    fn take(&mut self, bytes: usize) -> Result<(), Unsupported> {
        let short = || Unsupported::budget("the values of all positions asked for within the memory budget");
        self.0 = self.0.checked_sub(bytes).ok_or_else(short)?;
        Ok(())
    }
}

impl Builder {
    /// Of a formula, or of an experiment.
    pub(crate) fn new(len: usize, truth: bool, budget: &mut Budget) -> Result<Self, Unsupported> {
        let kind = match truth {
            true => {
                budget.take(len / 8)?;
                Kind::Truth(Bits::repeat(false, len))
            }
            false => Kind::Empty,
        };
        Ok(Self { len, kind, errors: Vec::new() })
    }

    /// The values of a chunk.
    pub(crate) fn add(
        &mut self,
        chunk: Chunk,
        view: &View<'_>,
        terms: &[Term],
        budget: &mut Budget,
    ) -> Result<(), Unsupported> {
        if let Kind::Truth(bits) = &mut self.kind {
            bits.words_mut()[chunk.word] |= view.some;
            return Ok(());
        }
        for bit in descending(view.some) {
            self.put(chunk.base() + bit as usize, view.cell(bit), terms, budget)?;
        }
        for bit in descending(view.errors) {
            let message = view.message(bit).to_string();
            budget.take(message.len() + size_of::<(Position, String)>())?;
            self.errors.push((chunk.base() + bit as usize, message));
        }
        Ok(())
    }

    fn put(
        &mut self,
        at: Position,
        cell: &Cell,
        terms: &[Term],
        budget: &mut Budget,
    ) -> Result<(), Unsupported> {
        if matches!(self.kind, Kind::Empty) {
            budget.take(self.len.saturating_mul(9))?;
            self.kind = match cell {
                Cell::Int(_) => Kind::Int(vec![0; self.len], Bits::repeat(false, self.len)),
                Cell::Real(_) => Kind::Real(vec![0.0; self.len], Bits::repeat(false, self.len)),
                _ => Kind::Any(vec![Value::Null; self.len]),
            };
        }
        match (&mut self.kind, cell) {
            (Kind::Int(values, valid), Cell::Int(int)) => {
                values[at] = *int;
                valid.set(at, true);
            }
            (Kind::Real(values, valid), Cell::Real(real)) => {
                values[at] = *real;
                valid.set(at, true);
            }
            (Kind::Any(values), cell) => {
                values[at] = cell.value(terms);
                budget.take(heap_bytes(&values[at]))?;
            }
            _ => {
                budget.take(self.len.saturating_mul(size_of::<Value>()))?;
                let column = std::mem::replace(&mut self.kind, Kind::Empty).column(self.len);
                let mut values: Vec<Value> = (0..self.len).map(|at| column.value(at)).collect();
                values[at] = cell.value(terms);
                self.kind = Kind::Any(values);
            }
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Values {
        self.errors.reverse();
        Values { column: self.kind.column(self.len), errors: self.errors }
    }
}

impl Kind {
    fn column(self, len: usize) -> Column {
        match self {
            Kind::Empty => Column::Int { values: vec![0; len], valid: Bits::repeat(false, len) },
            Kind::Truth(bits) => Column::Truth(bits),
            Kind::Int(values, valid) => Column::Int { values, valid },
            Kind::Real(values, valid) => Column::Real { values, valid },
            Kind::Any(values) => Column::Any(values),
        }
    }
}

/// What a value holds beside itself, roughly.
fn heap_bytes(value: &Value) -> usize {
    let (mut bytes, mut todo) = (0, vec![value]);
    while let Some(value) = todo.pop() {
        match value {
            Value::List(items) => {
                bytes += items.len() * size_of::<Value>();
                todo.extend(items);
            }
            Value::Object(fields) => {
                bytes += fields.len() * (size_of::<Value>() + 16);
                todo.extend(fields.iter().map(|(_, value)| value));
            }
            _ => {}
        }
    }
    bytes
}
