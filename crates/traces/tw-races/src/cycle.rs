//! Cycles in the order of locks: threads that could wait for each other.
//!
//! A cycle is a sequence of dependencies in which each lock wanted is among the locks that the next thread holds, by
//! different threads that can run in parallel, and without a lock that two of them hold: such a *gate* lets only one of
//! them in at a time. (The lock that the next one wants is among those it holds, so that all locks of a cycle are
//! different.) Two cycles through the same locks in the same order are one finding.
//!
//! Only locks in strongly connected components of the lock graph can be on a cycle. Among those the search goes
//! depth-first from each dependency, for cycles of two threads, of three, and so on, so that what a limit cuts off is
//! the long ones. A cycle is met once, from its least thread. The number of cycles can be exponential; [`Limits`] end
//! the search with a word on what was not searched.

use crate::lockset::{Lock, LockSets};
use crate::order::Dependency;
use rustc_hash::{FxHashMap, FxHashSet};
use tw_core::Components;

/// Where the search for cycles ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most cycles listed.
    pub cycles: usize,
    /// Most threads in a cycle.
    pub threads: usize,
    /// Most dependencies tried.
    pub steps: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { cycles: 100, threads: 64, steps: 10_000_000 }
    }
}

/// Cycles, each a sequence of dependencies, and why there may be more.
pub(crate) fn cycles(
    dependencies: &[Dependency],
    sets: &LockSets,
    limits: Limits,
) -> (Vec<Vec<usize>>, Option<String>) {
    let mut search = Search {
        dependencies,
        sets,
        limits,
        holding: FxHashMap::default(),
        steps: 0,
        known: FxHashSet::default(),
        found: Vec::new(),
    };
    let components = components(dependencies, sets);
    let inside = |lock: &Lock, other: &Lock| {
        let component = components.get(lock);
        component.is_some() && component == components.get(other)
    };
    let useful: Vec<usize> = (0..dependencies.len())
        .filter(|&at| {
            sets.locks(dependencies[at].set).iter().any(|held| inside(held, &dependencies[at].lock))
        })
        .collect();
    for &at in &useful {
        for &lock in sets.locks(dependencies[at].set) {
            search.holding.entry(lock).or_default().push(at);
        }
    }
    let incomplete = search.deepen(&useful).err();
    (search.found, incomplete)
}

struct Search<'a> {
    dependencies: &'a [Dependency],
    sets: &'a LockSets,
    limits: Limits,
    /// Dependencies by the locks held.
    holding: FxHashMap<Lock, Vec<usize>>,
    steps: u64,
    /// Locks of the cycles found, from the least on.
    known: FxHashSet<Vec<Lock>>,
    found: Vec<Vec<usize>>,
}

impl Search<'_> {
    /// Cycles of two, of three, and so on until there can be no longer ones; what was not searched is the error.
    fn deepen(&mut self, roots: &[usize]) -> Result<(), String> {
        for length in 2..=self.limits.threads {
            let mut longer = false;
            for &root in roots {
                longer |= self.from(root, length)?;
            }
            if !longer {
                return Ok(());
            }
        }
        match roots {
            [] => Ok(()),
            _ => Err(format!("cycles of more than {} threads were not looked for", self.limits.threads)),
        }
    }

    /// Cycles of one length whose least thread is that of `root`; whether there may be longer ones.
    fn from(&mut self, root: usize, length: usize) -> Result<bool, String> {
        let mut longer = false;
        // The path, and for each of its ends how many continuations were tried.
        let mut path: Vec<(usize, usize)> = vec![(root, 0)];
        while let Some(&(end, tried)) = path.last() {
            let next = self.holding.get(&self.dependencies[end].lock).and_then(|all| all.get(tried));
            let Some(&next) = next else {
                path.pop();
                continue;
            };
            if let Some(last) = path.last_mut() {
                last.1 += 1;
            }
            if path.len() < length {
                self.steps += 1;
                if self.steps > self.limits.steps {
                    return Err(format!(
                        "the search ended after {} steps among cycles of {length} threads",
                        self.limits.steps
                    ));
                }
                if self.fits(&path, next) {
                    path.push((next, 0));
                }
            } else if next == root {
                self.close(&path)?;
            } else if !longer {
                longer = self.fits(&path, next);
            }
        }
        Ok(longer)
    }

    /// Whether the dependency may stand on a cycle with those of the path.
    fn fits(&self, path: &[(usize, usize)], next: usize) -> bool {
        let next = &self.dependencies[next];
        next.stretch.thread > self.dependencies[path[0].0].stretch.thread
            && path.iter().all(|&(at, _)| {
                let other = &self.dependencies[at];
                other.stretch.parallel(&next.stretch) && self.sets.disjoint(other.set, next.set)
            })
    }

    /// Lists a cycle, if its locks are not those of another.
    fn close(&mut self, path: &[(usize, usize)]) -> Result<(), String> {
        let mut locks: Vec<Lock> = path.iter().map(|&(at, _)| self.dependencies[at].lock).collect();
        let least = (0..locks.len()).min_by_key(|&at| locks[at]).unwrap_or(0);
        locks.rotate_left(least);
        if self.known.contains(&locks) {
            return Ok(());
        }
        if self.found.len() >= self.limits.cycles {
            return Err(format!("there are more than {} cycles, the limit", self.limits.cycles));
        }
        self.known.insert(locks);
        self.found.push(path.iter().map(|&(at, _)| at).collect());
        Ok(())
    }
}

/// The strongly connected component of each lock in the lock graph.
fn components(dependencies: &[Dependency], sets: &LockSets) -> FxHashMap<Lock, u32> {
    let mut number: FxHashMap<Lock, u32> = FxHashMap::default();
    let mut after: Vec<Vec<u32>> = Vec::new();
    let mut node = |lock: Lock, after: &mut Vec<Vec<u32>>| {
        *number.entry(lock).or_insert_with(|| {
            after.push(Vec::new());
            after.len() as u32 - 1
        })
    };
    for dependency in dependencies {
        let wanted = node(dependency.lock, &mut after);
        for &held in sets.locks(dependency.set) {
            let held = node(held, &mut after) as usize;
            if after[held].last() != Some(&wanted) {
                after[held].push(wanted);
            }
        }
    }
    let target = |lock: u32, nth: usize| after[lock as usize].get(nth).copied();
    let found = Components::new(after.len(), None, target);
    number.into_iter().map(|(lock, node)| (lock, found.of[node as usize])).collect()
}
