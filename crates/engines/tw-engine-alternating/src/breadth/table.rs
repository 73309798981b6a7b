//! What each row of atoms leads to, as far as it was asked.

use rustc_hash::FxHashMap;
use tw_monitor::State;

/// Up to as many rows are compared one by one, which is faster than hashing.
const FEW: usize = 8;

/// The transitions of one state that were taken before. Only atoms under the mask matter.
pub(super) struct Table {
    mask: Box<[u64]>,
    rows: Vec<u64>,
    next: Vec<State>,
    index: FxHashMap<Box<[u64]>, State>,
}

impl Table {
    pub(super) fn new(mask: Box<[u64]>) -> Self {
        Self { mask, rows: Vec::new(), next: Vec::new(), index: FxHashMap::default() }
    }

    #[inline]
    pub(super) fn get(&self, row: &[u64]) -> Option<State> {
        let width = self.mask.len();
        if let (&[mask], &[row]) = (&*self.mask, row) {
            let place = self.rows.iter().position(|&known| known == row & mask);
            if let Some(place) = place {
                return Some(self.next[place]);
            }
        } else {
            let same = |known: &[u64]| known.iter().zip(row).zip(&self.mask).all(|((k, r), m)| *k == r & m);
            if let Some(place) = self.rows.chunks_exact(width).position(same) {
                return Some(self.next[place]);
            }
        }
        if self.index.is_empty() { None } else { self.index.get(&self.masked(row)).copied() }
    }

    fn masked(&self, row: &[u64]) -> Box<[u64]> {
        row.iter().zip(&self.mask).map(|(row, mask)| row & mask).collect()
    }

    pub(super) fn put(&mut self, row: &[u64], next: State) {
        let masked = self.masked(row);
        if self.next.len() < FEW {
            self.rows.extend_from_slice(&masked);
            self.next.push(next);
        } else {
            self.index.insert(masked, next);
        }
    }

    pub(super) fn clear(&mut self) {
        (self.rows, self.next, self.index) = Default::default();
    }
}
