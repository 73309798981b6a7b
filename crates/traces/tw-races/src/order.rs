//! The order in which locks are taken: which lock is got by whom while holding which others.
//!
//! One *dependency* per (thread, stretch, locks held, lock got), after the lock graph of Bensalem and Havelund, "Dynamic
//! deadlock analysis of multi-threaded programs": an edge from each lock held to the lock got, labelled with the thread and
//! all the locks held, which are the possible *gates*.
//!
//! Cost per `lock` event: nothing if no other lock is held, else one look-up. Memory: the different dependencies.

use crate::Place;
use crate::clock::{Epoch, Stretch, Thread};
use crate::lockset::{EMPTY, Lock, LockSet};
use rustc_hash::FxHashSet;

/// Places kept with dependencies: 64 MB.
const ROOM: usize = 1 << 22;

/// A lock that was got while others were held.
#[derive(Debug)]
pub(crate) struct Dependency {
    /// By whom, when.
    pub stretch: Stretch,
    /// The locks held.
    pub set: LockSet,
    /// Where each was got, with the lock.
    pub held: Box<[(Lock, Place)]>,
    /// The lock got.
    pub lock: Lock,
    /// Where.
    pub place: Place,
}

/// All dependencies.
#[derive(Debug, Default)]
pub(crate) struct Order {
    seen: FxHashSet<(LockSet, Lock, Thread, Epoch)>,
    pub dependencies: Vec<Dependency>,
    places: usize,
    /// Some were not kept.
    pub full: bool,
}

impl Order {
    /// Notes that a thread got a lock while holding others.
    pub fn got(
        &mut self,
        lock: Lock,
        set: LockSet,
        now: &Stretch,
        place: Place,
        held: impl ExactSizeIterator<Item = (Lock, Place)>,
    ) {
        if set == EMPTY || self.full || !self.seen.insert((set, lock, now.thread, now.epoch)) {
            return;
        }
        self.places += held.len();
        self.full = self.places > ROOM;
        if !self.full {
            let held = held.collect();
            self.dependencies.push(Dependency { stretch: now.clone(), set, held, lock, place });
        }
    }

    /// What to say if some were not kept.
    pub fn limit(&self) -> Option<String> {
        self.full.then(|| {
            format!(
                "locks are nested in more than {ROOM} different ways, the limit; later ones were not followed"
            )
        })
    }
}
