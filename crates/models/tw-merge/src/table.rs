//! A hash table for keys of a few bytes whose smallest size is one slot: a time-preserving merger has one for each
//! instant, of which a single trace fills one slot each. Where pairs of few names fill a good part of the square of all
//! pairs, the slots are that square: no probing, nothing for the processor to guess.

/// What is looked up.
pub(crate) trait Key: Copy + Eq + Default {
    /// Well mixed bits.
    fn hash(self) -> usize;

    /// How wide the square must be in which it has a place; `None` if keys of this kind have none.
    fn width(self) -> Option<u32> {
        None
    }

    /// Its place in a square of that width, if it has one.
    fn place(self, _width: u32) -> Option<usize> {
        None
    }
}

/// What is found; empty slots hold the default.
pub(crate) trait Tally: Copy + Default {
    /// Whether nothing has been counted.
    fn is_empty(&self) -> bool;
}

const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

impl Key for [u32; 2] {
    #[inline]
    fn hash(self) -> usize {
        let word = u64::from(self[0]) << 32 | u64::from(self[1]);
        // The upper bits of a product are the mixed ones.
        word.wrapping_mul(MIX).rotate_left(26) as usize
    }

    fn width(self) -> Option<u32> {
        self[0].max(self[1]).checked_add(1)
    }

    #[inline]
    fn place(self, width: u32) -> Option<usize> {
        (self[0].max(self[1]) < width).then(|| self[0] as usize * width as usize + self[1] as usize)
    }
}

impl Key for [u32; 3] {
    #[inline]
    fn hash(self) -> usize {
        let word = u64::from(self[1]) << 32 | u64::from(self[2]);
        (word.wrapping_mul(MIX) ^ u64::from(self[0])).wrapping_mul(MIX).rotate_left(26) as usize
    }
}

#[derive(Clone, Copy, Default)]
struct Slot<K, V> {
    key: K,
    value: V,
}

/// Open addressing, linear probing, a power of two of slots; or a square.
pub(crate) struct Table<K, V> {
    slots: Box<[Slot<K, V>]>,
    used: u32,
    /// Width of the square; 0 if slots are found by hashing.
    width: u32,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Self { slots: Box::default(), used: 0, width: 0 }
    }
}

impl<K: Key, V: Tally> Table<K, V> {
    /// Number of keys.
    pub fn len(&self) -> usize {
        self.used as usize
    }

    /// What is counted of a key. If that is nothing yet, the caller must count something before the next call.
    #[inline]
    pub fn entry(&mut self, key: K) -> &mut V {
        if self.width > 0 {
            if let Some(at) = key.place(self.width) {
                let slot = &mut self.slots[at];
                slot.key = key;
                self.used += u32::from(slot.value.is_empty());
                return &mut slot.value;
            }
            return self.insert(key);
        }
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = key.hash() & mask;
        // Tables of one or two slots may be full, so the number of probes has a bound.
        for _ in 0..self.slots.len() {
            let slot = &self.slots[at];
            if slot.value.is_empty() {
                break;
            }
            if slot.key == key {
                return &mut self.slots[at].value;
            }
            at = (at + 1) & mask;
        }
        self.insert(key)
    }

    /// Makes room for one more key, which has none.
    #[cold]
    fn grow(&mut self, key: K) {
        let mut slots = (self.slots.len() * 2).max(1);
        if self.width > 0 {
            slots = (self.used as usize * 2).next_power_of_two();
        }
        let old = std::mem::take(&mut self.slots);
        let kept = || old.iter().filter(|slot| !slot.value.is_empty());
        let width =
            kept().try_fold(key.width().unwrap_or(0), |width, slot| Some(width.max(slot.key.width()?)));
        let square = width.map_or(usize::MAX, |width| (width as usize).saturating_mul(width as usize));
        self.width = 0;
        if (16..=2 * slots).contains(&square) {
            slots = square;
            self.width = width.unwrap_or(0);
        }
        let mut new = vec![Slot::default(); slots].into_boxed_slice();
        std::mem::swap(&mut self.slots, &mut new);
        for slot in kept() {
            let at = self.free(slot.key);
            self.slots[at] = *slot;
        }
    }

    fn free(&self, key: K) -> usize {
        if self.width > 0 {
            return key.place(self.width).unwrap_or(0);
        }
        let mask = self.slots.len() - 1;
        let mut at = key.hash() & mask;
        while !self.slots[at].value.is_empty() {
            at = (at + 1) & mask;
        }
        at
    }

    fn insert(&mut self, key: K) -> &mut V {
        let (used, slots) = (self.used as usize, self.slots.len());
        if self.width > 0 || used >= if slots <= 2 { slots } else { slots / 4 * 3 } {
            self.grow(key);
        }
        let at = self.free(key);
        self.used += 1;
        self.slots[at].key = key;
        &mut self.slots[at].value
    }

    /// All keys in an order that is not that of slots: to fill one table in the order of another's slots makes long runs
    /// of full slots, each of which the next key has to pass.
    pub fn scattered(&self) -> impl Iterator<Item = (K, V)> + '_ {
        // In a square, places are as good as any order.
        let (factor, mask) = match self.width {
            0 => (MIX as usize, self.slots.len().wrapping_sub(1)),
            _ => (1, usize::MAX),
        };
        (0..self.slots.len())
            .map(move |at| self.slots[at.wrapping_mul(factor) & mask])
            .filter(|slot| !slot.value.is_empty())
            .map(|slot| (slot.key, slot.value))
    }

    /// All keys, in the order of slots.
    pub fn iter(&self) -> impl Iterator<Item = (K, V)> + '_ {
        self.slots.iter().filter(|slot| !slot.value.is_empty()).map(|slot| (slot.key, slot.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use tw_testkit::Rng;

    impl Tally for u64 {
        fn is_empty(&self) -> bool {
            *self == 0
        }
    }

    #[test]
    fn tables_count_as_maps_do() {
        let (mut squares, mut hashed) = (0, 0);
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let (mut table, mut map) = (Table::<[u32; 2], u64>::default(), BTreeMap::new());
            // More and more names, so that squares become too small.
            let mut names = 1 + rng.below(30);
            for _ in 0..rng.below(2000) {
                names += usize::from(rng.one_in(100));
                let key = [rng.below(names) as u32, rng.below(names) as u32];
                *table.entry(key) += 1;
                squares += u64::from(table.width > 0);
                hashed += u64::from(table.width == 0);
                *map.entry(key).or_insert(0u64) += 1;
            }
            assert_eq!(table.len(), map.len());
            assert_eq!(table.iter().collect::<BTreeMap<_, _>>(), map);
            assert_eq!(table.scattered().collect::<BTreeMap<_, _>>(), map);
        }
        assert!(squares > 10_000 && hashed > 10_000);
    }

    /// Filling a table in the order of another's slots would take minutes here.
    #[test]
    fn a_table_moves_into_an_empty_one_in_linear_time() {
        let (mut one, mut two) = (Table::<[u32; 3], u64>::default(), Table::<[u32; 3], u64>::default());
        for at in 0..400_000u32 {
            *one.entry([at, at / 3, 7]) += 1;
        }
        for (key, count) in one.scattered() {
            *two.entry(key) += count;
        }
        assert_eq!(two.len(), 400_000);
    }
}
