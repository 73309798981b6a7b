//! A map from keys that is copied in one step and changed in place while nobody shares it.
//!
//! A few entries are a list; more are a tree of 32-way branches by the bits of the hash, whose unchanged parts copies share.
//! It never grows all at once, so that no event pays for the entries of others. Finding, adding and removing cost O(log₃₂ n);
//! an entry takes its own size and, on average, about as much again for branches.

use crate::key::Key;
use std::sync::Arc;

/// Entries that are searched one by one.
const FEW: usize = 8;
/// Bits of the hash that a branch consumes.
const BITS: u32 = 5;

#[derive(Clone, Debug)]
pub(crate) enum Map<V> {
    Few(Vec<(Key, V)>),
    Many(Arc<Branch<V>>, usize),
}

#[derive(Clone, Debug)]
pub(crate) struct Branch<V> {
    /// Which of the 32 places are taken, in the order of `slots`.
    taken: u32,
    slots: Vec<Slot<V>>,
}

#[derive(Clone, Debug)]
enum Slot<V> {
    One(Key, V),
    Branch(Arc<Branch<V>>),
    /// Different keys with one hash.
    Same(Vec<(Key, V)>),
}

impl<V> Default for Map<V> {
    fn default() -> Self {
        Map::Few(Vec::new())
    }
}

fn place(hash: u64, depth: u32) -> u32 {
    1 << (hash >> (depth * BITS) & 31)
}

/// Beyond this depth the bits of the hash are used up.
const DEPTH: u32 = 64 / BITS;

impl<V: Clone> Map<V> {
    pub(crate) fn one(key: Key, value: V) -> Self {
        Map::Few(vec![(key, value)])
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Map::Few(entries) => entries.len(),
            Map::Many(_, len) => *len,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&V> {
        let find = |entries: &'_ [(Key, V)]| entries.iter().position(|(own, _)| own == key);
        match self {
            Map::Few(entries) => find(entries).map(|at| &entries[at].1),
            Map::Many(root, _) => {
                let (hash, mut branch) = (key.hash(), root);
                for depth in 0.. {
                    let bit = place(hash, depth);
                    if branch.taken & bit == 0 {
                        return None;
                    }
                    match &branch.slots[branch.index(bit)] {
                        Slot::One(own, value) => return (own == key).then_some(value),
                        Slot::Branch(next) => branch = next,
                        Slot::Same(entries) => return find(entries).map(|at| &entries[at].1),
                    }
                }
                None
            }
        }
    }

    /// The value of a key, put there if it is new.
    pub(crate) fn entry(&mut self, key: &Key, mut new: impl FnMut() -> V) -> &mut V {
        if let Map::Few(entries) = self {
            let known = entries.iter().position(|(own, _)| own == key);
            if known.is_none() && entries.len() >= FEW {
                let mut root = Branch { taken: 0, slots: Vec::new() };
                let len = entries.len();
                for (own, value) in entries.drain(..) {
                    let hash = own.hash();
                    root.entry(hash, 0, &own, &mut || value.clone());
                }
                *self = Map::Many(Arc::new(root), len);
            }
        }
        match self {
            Map::Few(entries) => {
                let at = entries.iter().position(|(own, _)| own == key).unwrap_or_else(|| {
                    entries.push((key.clone(), new()));
                    entries.len() - 1
                });
                &mut entries[at].1
            }
            Map::Many(root, len) => {
                let len: &mut usize = len;
                Arc::make_mut(root).entry(key.hash(), 0, key, &mut || {
                    *len += 1;
                    new()
                })
            }
        }
    }

    pub(crate) fn insert(&mut self, key: &Key, value: V) {
        let place = self.entry(key, || value.clone());
        *place = value;
    }

    pub(crate) fn remove(&mut self, key: &Key) {
        match self {
            Map::Few(entries) => entries.retain(|(own, _)| own != key),
            Map::Many(root, len) => {
                if Arc::make_mut(root).remove(key.hash(), 0, key) {
                    *len -= 1;
                }
                if *len == 0 {
                    *self = Map::default();
                }
            }
        }
    }

    /// Shows every entry until one is enough (`false`), and says whether none was.
    pub(crate) fn each<'m>(&'m self, see: &mut dyn FnMut(&'m Key, &'m V) -> bool) -> bool {
        match self {
            Map::Few(entries) => entries.iter().all(|(key, value)| see(key, value)),
            Map::Many(root, _) => root.each(see),
        }
    }

    /// Changes every value.
    pub(crate) fn each_mut(&mut self, change: &mut dyn FnMut(&Key, &mut V)) {
        match self {
            Map::Few(entries) => entries.iter_mut().for_each(|(key, value)| change(key, value)),
            Map::Many(root, _) => Arc::make_mut(root).each_mut(change),
        }
    }
}

impl<V: Clone> Branch<V> {
    fn index(&self, bit: u32) -> usize {
        (self.taken & (bit - 1)).count_ones() as usize
    }

    fn entry(&mut self, hash: u64, depth: u32, key: &Key, new: &mut dyn FnMut() -> V) -> &mut V {
        let bit = place(hash, depth);
        let at = self.index(bit);
        if self.taken & bit == 0 {
            self.taken |= bit;
            self.slots.insert(at, Slot::One(key.clone(), new()));
        } else if matches!(&self.slots[at], Slot::One(own, _) if own != key) {
            // Two keys in one place: a branch of their own, or a list where the hash ends.
            let empty = Slot::Same(Vec::new());
            let Slot::One(own, value) = std::mem::replace(&mut self.slots[at], empty) else { unreachable!() };
            self.slots[at] = if depth + 1 < DEPTH {
                let mut branch = Branch { taken: 0, slots: Vec::new() };
                let hash = own.hash();
                branch.entry(hash, depth + 1, &own, &mut || value.clone());
                Slot::Branch(Arc::new(branch))
            } else {
                Slot::Same(vec![(own, value)])
            };
        }
        match &mut self.slots[at] {
            Slot::One(_, value) => value,
            Slot::Branch(branch) => Arc::make_mut(branch).entry(hash, depth + 1, key, new),
            Slot::Same(entries) => {
                let at = entries.iter().position(|(own, _)| own == key).unwrap_or_else(|| {
                    entries.push((key.clone(), new()));
                    entries.len() - 1
                });
                &mut entries[at].1
            }
        }
    }

    /// Whether the key was there.
    fn remove(&mut self, hash: u64, depth: u32, key: &Key) -> bool {
        let bit = place(hash, depth);
        if self.taken & bit == 0 {
            return false;
        }
        let at = self.index(bit);
        let (removed, empty) = match &mut self.slots[at] {
            Slot::One(own, _) => (own == key, own == key),
            Slot::Branch(branch) => {
                let branch = Arc::make_mut(branch);
                (branch.remove(hash, depth + 1, key), branch.slots.is_empty())
            }
            Slot::Same(entries) => {
                let before = entries.len();
                entries.retain(|(own, _)| own != key);
                (entries.len() < before, entries.is_empty())
            }
        };
        if empty {
            self.slots.remove(at);
            self.taken &= !bit;
        }
        removed
    }

    fn each<'m>(&'m self, see: &mut dyn FnMut(&'m Key, &'m V) -> bool) -> bool {
        self.slots.iter().all(|slot| match slot {
            Slot::One(key, value) => see(key, value),
            Slot::Branch(branch) => branch.each(see),
            Slot::Same(entries) => entries.iter().all(|(key, value)| see(key, value)),
        })
    }

    fn each_mut(&mut self, change: &mut dyn FnMut(&Key, &mut V)) {
        for slot in &mut self.slots {
            match slot {
                Slot::One(key, value) => change(key, value),
                Slot::Branch(branch) => Arc::make_mut(branch).each_mut(change),
                Slot::Same(entries) => entries.iter_mut().for_each(|(key, value)| change(key, value)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn it_is_a_map_and_copies_stay_as_they_were() {
        let mut random = 1u64;
        let (mut map, mut plain) = (Map::default(), HashMap::new());
        let mut old = Vec::new();
        for step in 0..20_000u64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let number = (random >> 40) as i64 % 700;
            let key = Key::Int(number);
            if random >> 33 & 1 == 0 {
                map.insert(&key, step);
                plain.insert(number, step);
            } else {
                map.remove(&key);
                plain.remove(&number);
            }
            assert_eq!(map.len(), plain.len());
            if step % 4_000 == 0 {
                old.push((map.clone(), plain.clone()));
            }
        }
        old.push((map, plain));
        for (map, plain) in &old {
            let mut seen = 0;
            map.each(&mut |key, value| {
                let Key::Int(number) = key else { return false };
                assert_eq!(plain.get(number), Some(value));
                assert_eq!(map.get(key), Some(value));
                seen += 1;
                true
            });
            assert_eq!(seen, plain.len());
        }
    }

    #[test]
    fn one_and_one_point_zero_are_one_key() {
        let mut map = Map::default();
        for number in 0..40 {
            map.insert(&Key::Int(number), number);
        }
        let whole = Key::new(tw_core::Value::Real(7.0)).unwrap();
        assert_eq!(map.get(&whole), Some(&7));
        assert_eq!(map.get(&Key::new(tw_core::Value::text("7")).unwrap()), None);
    }
}
