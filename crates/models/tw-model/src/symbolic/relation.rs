//! Transitions as a conjunction of parts.

use super::bdd::{Bdd, Exhausted, Store};
use super::cube;

/// Parts are multiplied out while that is no larger.
const CLUSTER: usize = 1_000;

/// A relation between the bits of states and of those that follow them.
#[derive(Clone, Debug)]
pub(crate) struct Relation {
    /// Each with the bits that no later part speaks of: of the state, and of the next one.
    parts: Vec<(Bdd, [Bdd; 2])>,
    /// The bits that no part speaks of.
    free: [Bdd; 2],
}

impl Relation {
    /// Of so many bits.
    pub fn new(store: &mut Store, parts: Vec<Bdd>, bits: u32) -> Result<Self, Exhausted> {
        let mut clusters: Vec<Bdd> = Vec::new();
        for part in parts {
            if let Some(last) = clusters.last_mut()
                && let Ok(both) = store.within(4 * CLUSTER, |store| store.and(*last, part))
                && store.size(both) <= CLUSTER
            {
                *last = both;
                continue;
            }
            clusters.push(part);
        }
        let mut left: Vec<bool> = vec![true; 2 * bits as usize];
        let mut forget = |store: &mut Store, levels: Vec<u32>| -> Result<[Bdd; 2], Exhausted> {
            let mut cubes = [Bdd::TRUE; 2];
            for (cube_of, side) in cubes.iter_mut().zip(0..2) {
                let own: Vec<(u32, bool)> = levels
                    .iter()
                    .filter(|&&level| level % 2 == side && left[level as usize])
                    .map(|&level| (level, true))
                    .collect();
                own.iter().for_each(|&(level, _)| left[level as usize] = false);
                *cube_of = cube(store, own.into_iter())?;
            }
            Ok(cubes)
        };
        // From the last part to the first, so that a bit belongs to the last that speaks of it.
        let mut parts = Vec::with_capacity(clusters.len());
        for part in clusters.into_iter().rev() {
            let levels = store.support(part);
            parts.push((part, forget(store, levels)?));
        }
        parts.reverse();
        let free = forget(store, (0..2 * bits).collect())?;
        Ok(Self { parts, free })
    }

    /// The conjunction, part by part.
    pub fn parts(&self) -> Vec<Bdd> {
        self.parts.iter().map(|(part, _)| *part).collect()
    }

    /// The states that lead to one in the set.
    pub fn before(&self, store: &mut Store, set: Bdd) -> Result<Bdd, Exhausted> {
        let set = store.shift(set, true)?;
        self.through(store, set, 1)
    }

    /// The states that one in the set leads to.
    pub fn after(&self, store: &mut Store, set: Bdd) -> Result<Bdd, Exhausted> {
        let found = self.through(store, set, 0)?;
        store.shift(found, false)
    }

    fn through(&self, store: &mut Store, set: Bdd, side: usize) -> Result<Bdd, Exhausted> {
        let start = store.exists(set, self.free[side])?;
        self.parts.iter().try_fold(start, |set, (part, forget)| store.product(set, *part, forget[side]))
    }
}
