//! The events of a batch: one name, or none, per row; their arguments are the row's other columns.

use super::{argument_name, leaf, text};
use crate::cell::value;
use arrow::array::Array;
use std::sync::Arc;
use tw_core::{Bits, Column, Relation, Value};
use tw_ir::{ArgumentKey, Expect};
use tw_trace::{ColumnBuilder, equals};

/// The names, numbered.
pub(super) struct Events {
    ids: Vec<u32>,
    names: Vec<Arc<str>>,
    valid: Bits,
}

/// Finds a variable's array.
type Columns<'c, 'b> = &'c dyn Fn(&str) -> Option<&'b dyn Array>;

impl Events {
    /// Of the event column; `None` if a cell is no name.
    pub(super) fn new(array: &dyn Array) -> Option<Self> {
        let column = match text::is_text(array.data_type()) {
            true => text::column(array, leaf::valid(array, None))?,
            false => {
                let mut names = ColumnBuilder::new(Expect::Text);
                for at in 0..array.len() {
                    names.push_value(&value(array, at, 0).ok()?).ok()?;
                }
                names.finish()
            }
        };
        let Column::Text { ids, dictionary, valid } = column else { return None };
        let names = dictionary.entries;
        names.iter().all(|name| !name.is_empty()).then_some(Self { ids, names, valid })
    }

    /// The names that occur, in the order in which they first do.
    pub(super) fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    /// The event of a row.
    pub(super) fn at(&self, at: usize) -> Option<&Arc<str>> {
        if self.valid.get(at) { self.names.get(self.ids[at] as usize) } else { None }
    }

    /// Where an event of this name happens.
    pub(super) fn happens(&self, name: &str) -> Bits {
        match self.names.iter().position(|known| **known == *name) {
            None => Bits::repeat(false, self.ids.len()),
            Some(number) => {
                let here: Bits = self.ids.iter().map(|&id| id as usize == number).collect();
                leaf::both(here, &self.valid)
            }
        }
    }

    /// Where one happens whose arguments are the constants.
    pub(super) fn happens_with(
        &self,
        name: &str,
        constants: &[(ArgumentKey, Value)],
        column: Columns<'_, '_>,
    ) -> Option<Bits> {
        let mut happens = self.happens(name);
        if constants.is_empty() {
            return Some(happens);
        }
        let named: Vec<usize> = happens.iter_ones().collect();
        for at in named {
            if !matches(at, constants, column)? {
                happens.set(at, false);
            }
        }
        Some(happens)
    }

    /// The arguments of those events, of which none is null.
    pub(super) fn tuples(
        &self,
        name: &str,
        constants: &[(ArgumentKey, Value)],
        arguments: &[ArgumentKey],
        column: Columns<'_, '_>,
    ) -> Option<Relation> {
        let happens = self.happens(name);
        let mut starts = Vec::with_capacity(self.ids.len() + 1);
        starts.push(0);
        let mut columns: Vec<ColumnBuilder> =
            arguments.iter().map(|_| ColumnBuilder::new(Expect::Any)).collect();
        let mut count = 0;
        let mut tuple: Vec<Argument<'_>> = Vec::new();
        for at in 0..self.ids.len() {
            if happens.get(at) && matches(at, constants, column)? {
                tuple.clear();
                for key in arguments {
                    match argument(at, key, column)? {
                        Some(argument) => tuple.push(argument),
                        None => break,
                    }
                }
                if tuple.len() == arguments.len() {
                    for (column, argument) in columns.iter_mut().zip(&tuple) {
                        match argument {
                            Argument::Text(text) => column.push_text(text).ok()?,
                            Argument::Value(value) => column.push_value(value).ok()?,
                        }
                    }
                    count += 1;
                }
            }
            starts.push(count);
        }
        Some(Relation::new(starts, columns.into_iter().map(ColumnBuilder::finish).collect()))
    }
}

/// An argument that is not null.
enum Argument<'a> {
    Text(&'a str),
    Value(Value),
}

/// An argument of the event of a row, nothing within if it has none; `None` if that is an error.
fn argument<'b>(at: usize, key: &ArgumentKey, column: Columns<'_, 'b>) -> Option<Option<Argument<'b>>> {
    let Some(array) = column(argument_name(key)?) else { return Some(None) };
    if let Some(text) = text::at(array, at) {
        return Some(text.map(Argument::Text));
    }
    let value = value(array, at, 0).ok()?;
    Some((!value.is_null()).then_some(Argument::Value(value)))
}

/// Whether the arguments of a row's event are the constants; `None` if that is an error.
fn matches(at: usize, constants: &[(ArgumentKey, Value)], column: Columns<'_, '_>) -> Option<bool> {
    for (key, constant) in constants {
        let fits = match (argument(at, key, column)?, constant) {
            (None, _) => false,
            (Some(Argument::Text(text)), Value::Str(constant)) => *text == **constant,
            // Texts have a type here: none is a constant of another kind.
            (Some(Argument::Text(_)), _) => false,
            (Some(Argument::Value(value)), constant) => equals(&value, constant, true),
        };
        if !fits {
            return Some(false);
        }
    }
    Some(true)
}
