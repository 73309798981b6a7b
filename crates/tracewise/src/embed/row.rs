//! A position as a program gives it: what holds and what the variables are, each in a place that is looked up once.

use tw_core::Value;

/// Where a value goes in a [`Row`]: looked up once, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotHandle {
    pub(super) index: u32,
    /// The bit of the atom that is this slot, if there is one.
    pub(super) bit: Option<u32>,
}

/// One position: what holds and what the variables are. Keeps its content from push to push.
#[derive(Clone, Debug)]
pub struct Row {
    pub(super) atoms: Vec<u64>,
    pub(super) values: Vec<Value>,
}

impl Row {
    /// Says whether a proposition holds, or an event happens.
    #[inline]
    pub fn set(&mut self, slot: SlotHandle, holds: bool) {
        match slot.bit {
            Some(bit) => set_bit(&mut self.atoms, bit, holds),
            None => self.values[slot.index as usize] = Value::Bool(holds),
        }
    }

    /// Gives a variable its value.
    pub fn put(&mut self, slot: SlotHandle, value: Value) {
        match value {
            Value::Bool(holds) => self.set(slot, holds),
            value => self.values[slot.index as usize] = value,
        }
    }

    /// Nothing holds, every variable is null.
    pub fn clear(&mut self) {
        self.atoms.fill(0);
        self.values.fill(Value::Null);
    }
}

/// Sets one of the bits that are packed 64 to a word.
#[inline]
pub(crate) fn set_bit(words: &mut [u64], bit: u32, value: bool) {
    let word = &mut words[bit as usize / 64];
    *word = *word & !(1 << (bit % 64)) | u64::from(value) << (bit % 64);
}
