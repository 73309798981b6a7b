//! Transitions as a conjunction of parts ("Symbolic Model Checking with Partitioned Transition Relations", Burch, Clarke, Long).

use crate::{Bdd, Exhausted, Store, cube};

/// Parts are multiplied out while that is no larger.
const CLUSTER: usize = 1_000;

/// What the bits of a relation are, by their levels.
#[derive(Clone, Debug, Default)]
pub struct Levels {
    /// Of the state: even levels.
    pub now: Vec<u32>,
    /// Of the next one: each the level beside.
    pub later: Vec<u32>,
    /// Of what is chosen on the way and belongs to neither.
    pub beside: Vec<u32>,
}

impl Levels {
    /// So many bits, the state's and the next one's side by side.
    pub fn pairs(bits: u32) -> Self {
        let side = |side: u32| (0..bits).map(|bit| 2 * bit + side).collect();
        Self { now: side(0), later: side(1), beside: Vec::new() }
    }
}

/// A relation between the bits of states and of those that follow them.
#[derive(Clone, Debug)]
pub struct Relation {
    parts: Vec<Bdd>,
    /// Which bits are forgotten when, from the state to the next one, and back: first those that no part speaks of, then with
    /// each part those that no later one speaks of.
    forget: [Vec<Bdd>; 2],
}

impl Relation {
    /// Of these parts.
    pub fn new(store: &mut Store, parts: Vec<Bdd>, levels: &Levels) -> Result<Self, Exhausted> {
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
        let support: Vec<Vec<u32>> = clusters.iter().map(|part| store.support(*part)).collect();
        let mut forget = |own: &[u32]| -> Result<Vec<Bdd>, Exhausted> {
            let mut when: Vec<Vec<u32>> = vec![Vec::new(); clusters.len() + 1];
            for &level in own.iter().chain(&levels.beside) {
                let last = support.iter().rposition(|levels| levels.binary_search(&level).is_ok());
                when[last.map_or(0, |last| last + 1)].push(level);
            }
            let cubes = when.into_iter().map(|mut levels| {
                levels.sort_unstable();
                cube(store, levels.into_iter().map(|level| (level, true)))
            });
            cubes.collect()
        };
        let forget = [forget(&levels.now)?, forget(&levels.later)?];
        Ok(Self { parts: clusters, forget })
    }

    /// The conjunction, part by part.
    pub fn parts(&self) -> Vec<Bdd> {
        self.parts.clone()
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
        let (first, rest) = self.forget[side].split_at(1);
        let start = first.iter().try_fold(set, |set, cube| store.exists(set, *cube))?;
        let mut steps = self.parts.iter().zip(rest);
        steps.try_fold(start, |set, (part, forget)| store.product(set, *part, *forget))
    }
}
