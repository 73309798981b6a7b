//! Sets of numbers, each stored once: slices, sets of slices, what is remembered of the past.

use rustc_hash::FxHashMap;
use std::sync::Arc;

#[derive(Default)]
pub(super) struct Interned {
    items: Vec<Arc<[u32]>>,
    index: FxHashMap<Arc<[u32]>, u32>,
    bytes: usize,
}

impl Interned {
    /// The number of a set; equal sets are given in the same order.
    pub(super) fn add(&mut self, item: &[u32]) -> u32 {
        if let Some(&id) = self.index.get(item) {
            return id;
        }
        let item: Arc<[u32]> = item.into();
        let id = self.items.len() as u32;
        self.bytes += size_of_val(&*item) + 2 * size_of::<Arc<[u32]>>() + 24;
        self.items.push(item.clone());
        self.index.insert(item, id);
        id
    }

    pub(super) fn get(&self, id: u32) -> &[u32] {
        &self.items[id as usize]
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}
