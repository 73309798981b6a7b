//! Whose positions are counted: the values of a column, numbered.

use rustc_hash::FxHashMap;
use std::sync::Arc;
use tw_core::{Batch, Column, Value};
use tw_ir::SlotId;

/// The key of a position that has none.
pub(crate) const NONE: u32 = u32::MAX;

/// The column of keys of a trace that is divided, which is the last.
pub(crate) const KEY: SlotId = SlotId::MAX;

/// A column of a batch.
pub(crate) fn column_of(batch: &Batch, slot: SlotId) -> &Column {
    match batch.slots.last() {
        Some(last) if slot == KEY => last,
        _ => &batch.slots[slot as usize],
    }
}

/// Values of a column in the order of their appearance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    index: FxHashMap<Arc<str>, u32>,
    pub names: Vec<Arc<str>>,
}

impl Keys {
    /// The number of a value, [`NONE`] of null.
    pub fn number(&mut self, value: &Value) -> u32 {
        let text: Arc<str> = match value {
            Value::Null => return NONE,
            Value::Str(text) => text.clone(),
            other => other.to_string().into(),
        };
        let next = self.names.len() as u32;
        *self.index.entry(text).or_insert_with_key(|text| {
            self.names.push(text.clone());
            next
        })
    }

    /// The numbers of a column.
    pub fn column(&mut self, column: &Column) -> Vec<u32> {
        (0..column.len()).map(|at| self.number(&column.value(at))).collect()
    }
}
