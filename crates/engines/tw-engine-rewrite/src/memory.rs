//! What past operators remember, each combination stored once.

use rustc_hash::FxHashMap;

/// Combinations of remembered bits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memories {
    items: Vec<Box<[bool]>>,
    index: FxHashMap<Box<[bool]>, u32>,
}

impl Memories {
    pub(crate) fn add(&mut self, memory: &[bool]) -> u32 {
        if let Some(&id) = self.index.get(memory) {
            return id;
        }
        let id = self.items.len() as u32;
        self.items.push(memory.into());
        self.index.insert(memory.into(), id);
        id
    }

    pub(crate) fn get(&self, id: u32) -> &[bool] {
        &self.items[id as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.items.iter().map(|item| 2 * item.len() + 56).sum()
    }
}
