//! Entries by hash: what the tables of rows find them by.
//!
//! Before there are many they are divided in 256 parts, each of which grows alone: no event pays for all of them.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

const SHARDS: usize = 256;
/// Entries before they are divided.
const WHOLE: usize = 1 << 12;

#[derive(Clone, Debug)]
pub(crate) struct Places<T> {
    parts: Vec<HashTable<(u32, T)>>,
    len: usize,
}

impl<T> Default for Places<T> {
    fn default() -> Self {
        Self { parts: vec![HashTable::new()], len: 0 }
    }
}

/// The part of a hash that an entry keeps, and from which the whole is made again.
fn short(hash: u64) -> u32 {
    (hash >> 32) as u32
}

fn long(short: u32) -> u64 {
    u64::from(short).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl<T> Places<T> {
    fn part(&self, short: u32) -> usize {
        if self.parts.len() == 1 { 0 } else { (short >> 24) as usize }
    }

    #[inline]
    pub(crate) fn get(&self, hash: u64, mut is: impl FnMut(&T) -> bool) -> Option<&T> {
        let short = short(hash);
        let found = self.parts[self.part(short)].find(long(short), |(own, it)| *own == short && is(it));
        found.map(|(_, it)| it)
    }

    /// The entry, made if there is none, and whether it was.
    pub(crate) fn find_or_insert(
        &mut self,
        hash: u64,
        mut is: impl FnMut(&T) -> bool,
        make: impl FnOnce() -> T,
    ) -> (&mut T, bool) {
        if self.parts.len() == 1 && self.len >= WHOLE {
            let mut parts: Vec<HashTable<(u32, T)>> = Vec::with_capacity(SHARDS);
            parts.resize_with(SHARDS, HashTable::new);
            for entry in self.parts.swap_remove(0) {
                parts[(entry.0 >> 24) as usize].insert_unique(long(entry.0), entry, |(own, _)| long(*own));
            }
            self.parts = parts;
        }
        let short = short(hash);
        let part = self.part(short);
        let own = |(own, it): &(u32, T)| *own == short && is(it);
        match self.parts[part].entry(long(short), own, |(own, _)| long(*own)) {
            Entry::Occupied(found) => (&mut found.into_mut().1, false),
            Entry::Vacant(place) => {
                self.len += 1;
                (&mut place.insert((short, make())).into_mut().1, true)
            }
        }
    }

    /// Changes an entry that is there; it goes where it should not stay.
    pub(crate) fn change(
        &mut self,
        hash: u64,
        mut is: impl FnMut(&T) -> bool,
        stays: impl FnOnce(&mut T) -> bool,
    ) {
        let short = short(hash);
        let part = self.part(short);
        let own = |(own, it): &(u32, T)| *own == short && is(it);
        if let Ok(mut found) = self.parts[part].find_entry(long(short), own)
            && !stays(&mut found.get_mut().1)
        {
            found.remove();
            self.len -= 1;
        }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        let entry = std::mem::size_of::<(u32, T)>() + 1;
        self.parts.iter().map(|part| part.capacity() * entry * 8 / 7 + 32).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Also with hashes that stand in each other's way: few, and around the end.
    #[test]
    fn entries_are_found_until_they_go() {
        let shapes: [fn(u32) -> u32; 4] =
            [|hash| hash, |hash| hash >> 27, |hash| !(hash >> 29), |hash| hash & 0xFF00_0000];
        for (number, shape) in shapes.into_iter().enumerate() {
            let mut random = 7u64;
            let (mut places, mut plain) = (Places::<u64>::default(), HashMap::new());
            for step in 0..60_000u64 {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let key = (random >> 40) % if number == 0 { 9_000 } else { 300 };
                let hash = shape((key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32);
                let hash = u64::from(hash) << 32;
                if random >> 33 & 3 > 0 {
                    let (_, new) = places.find_or_insert(hash, |own| *own == key, || key);
                    assert_eq!(new, plain.insert(key, step).is_none(), "shape {number}, step {step}");
                } else {
                    places.change(hash, |own| *own == key, |_| false);
                    plain.remove(&key);
                }
                assert_eq!(places.get(hash, |own| *own == key).is_some(), plain.contains_key(&key));
                assert_eq!(places.len, plain.len());
                if step % 1_000 == 0 {
                    assert_eq!(places.parts.iter().map(HashTable::len).sum::<usize>(), plain.len());
                    let all = |key: &u64| shape((key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32);
                    let held = |key: &u64| places.get(u64::from(all(key)) << 32, |own| own == key).is_some();
                    assert!(plain.keys().all(held));
                }
            }
            assert_eq!(places.parts.len(), if number == 0 { SHARDS } else { 1 });
        }
    }
}
