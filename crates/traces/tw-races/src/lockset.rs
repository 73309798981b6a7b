//! Sets of locks, each kept once and known by a number, so that the set a thread holds is one word and the common part
//! of two sets is computed once.

use crate::Exceeded;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// A lock.
pub(crate) type Lock = u32;
/// A set of locks; [`EMPTY`] is the empty one.
pub(crate) type LockSet = u32;
/// The set without locks.
pub(crate) const EMPTY: LockSet = 0;

/// Locks in all sets together: 128 MB. A log without `unlock` events holds ever more, and would take quadratic space.
const ROOM: usize = 1 << 25;

/// All sets so far.
#[derive(Debug)]
pub(crate) struct LockSets {
    sets: Vec<Arc<[Lock]>>,
    known: FxHashMap<Arc<[Lock]>, LockSet>,
    larger: FxHashMap<(LockSet, Lock), LockSet>,
    meets: FxHashMap<(LockSet, LockSet), LockSet>,
    entries: usize,
}

impl Default for LockSets {
    fn default() -> Self {
        let empty: Arc<[Lock]> = Arc::from([]);
        Self {
            known: FxHashMap::from_iter([(Arc::clone(&empty), EMPTY)]),
            sets: vec![empty],
            larger: FxHashMap::default(),
            meets: FxHashMap::default(),
            entries: 0,
        }
    }
}

impl LockSets {
    /// The locks of a set, in ascending order.
    pub fn locks(&self, set: LockSet) -> &[Lock] {
        &self.sets[set as usize]
    }

    /// The set and one lock more.
    pub fn with(&mut self, set: LockSet, lock: Lock) -> Result<LockSet, Exceeded> {
        if let Some(&larger) = self.larger.get(&(set, lock)) {
            return Ok(larger);
        }
        let mut locks = self.locks(set).to_vec();
        if let Err(at) = locks.binary_search(&lock) {
            locks.insert(at, lock);
        }
        let larger = self.intern(locks)?;
        self.larger.insert((set, lock), larger);
        Ok(larger)
    }

    /// The locks that both sets have.
    pub fn meet(&mut self, one: LockSet, other: LockSet) -> Result<LockSet, Exceeded> {
        if one == other || one == EMPTY || other == EMPTY {
            return Ok(one.min(other));
        }
        let key = (one.min(other), one.max(other));
        if let Some(&meet) = self.meets.get(&key) {
            return Ok(meet);
        }
        let other = Arc::clone(&self.sets[other as usize]);
        let common = self.locks(one).iter().filter(|lock| other.binary_search(lock).is_ok());
        let common: Vec<Lock> = common.copied().collect();
        let meet = self.intern(common)?;
        self.meets.insert(key, meet);
        Ok(meet)
    }

    /// Whether the sets have no lock in common.
    pub fn disjoint(&self, one: LockSet, other: LockSet) -> bool {
        let (mut left, mut right) = (self.locks(one), self.locks(other));
        while let ([a, rest_a @ ..], [b, rest_b @ ..]) = (left, right) {
            match a.cmp(b) {
                std::cmp::Ordering::Less => left = rest_a,
                std::cmp::Ordering::Greater => right = rest_b,
                std::cmp::Ordering::Equal => return false,
            }
        }
        true
    }

    fn intern(&mut self, locks: Vec<Lock>) -> Result<LockSet, Exceeded> {
        let length = locks.len();
        match self.known.entry(Arc::from(locks)) {
            Entry::Occupied(known) => Ok(*known.get()),
            Entry::Vacant(new) => {
                if self.entries + length > ROOM {
                    return Err(Exceeded::new(format!(
                        "the different sets of locks held together have over {ROOM} locks, the limit; are `unlock` events missing?"
                    )));
                }
                self.entries += length;
                self.sets.push(Arc::clone(new.key()));
                Ok(*new.insert((self.sets.len() - 1) as LockSet))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(sets: &mut LockSets, locks: &[Lock]) -> LockSet {
        locks.iter().fold(EMPTY, |set, &lock| sets.with(set, lock).unwrap())
    }

    #[test]
    fn equal_sets_have_equal_numbers() {
        let mut sets = LockSets::default();
        let (one, other) = (set(&mut sets, &[3, 1, 2]), set(&mut sets, &[1, 2, 3, 2]));
        assert_eq!(one, other);
        assert_eq!(sets.locks(one), [1, 2, 3]);
    }

    #[test]
    fn meets() {
        let mut sets = LockSets::default();
        for (one, other, common) in [
            (&[1, 2][..], &[2, 3][..], &[2][..]),
            (&[1], &[2], &[]),
            (&[], &[2], &[]),
            (&[1, 5, 9], &[1, 5, 9], &[1, 5, 9]),
            (&[1, 5, 9], &[0, 2, 5, 7, 9], &[5, 9]),
        ] {
            let (a, b) = (set(&mut sets, one), set(&mut sets, other));
            for (a, b) in [(a, b), (b, a)] {
                let meet = sets.meet(a, b).unwrap();
                assert_eq!(sets.locks(meet), common, "{one:?} {other:?}");
                assert_eq!(sets.disjoint(a, b), common.is_empty(), "{one:?} {other:?}");
            }
        }
    }
}
