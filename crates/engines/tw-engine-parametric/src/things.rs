//! Things: what the value of a parameter is until it ends. The same value later is another thing.

use crate::dense::Dense;
use crate::values::{Handle, NONE};

/// The things of a parameter whose values end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Things {
    /// Of each value the thing that it is now.
    pub current: Dense<NONE>,
    /// Of each thing its value; `NONE` is free.
    pub value: Vec<Handle>,
    pub free: Vec<u32>,
}

impl Things {
    /// The thing that a value is, made if it is none yet.
    #[inline]
    pub fn of(&mut self, value: Handle) -> u32 {
        let known = self.current.get(value);
        if known != NONE {
            return known;
        }
        let thing = self.free.pop().unwrap_or_else(|| {
            self.value.push(NONE);
            (self.value.len() - 1) as u32
        });
        self.value[thing as usize] = value;
        self.current.set(value, thing);
        thing
    }

    pub fn is_dead(&self, thing: u32) -> bool {
        let value = self.value[thing as usize];
        value == NONE || self.current.get(value) != thing
    }

    pub fn heap_bytes(&self) -> usize {
        (self.value.capacity() + self.free.capacity()) * 4 + self.current.heap_bytes()
    }
}
