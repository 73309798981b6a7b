//! Lock sets of variables: Savage, Burrows, Nelson, Sobalvarro and Anderson, "Eraser: a dynamic data race detector for
//! multithreaded programs".
//!
//! A variable is *virgin*, then *exclusive* to the thread that first touches it (it may initialise it without locks),
//! then *shared* once a second thread reads it, and *shared-modified* once it is written by or after a second thread.
//! From the second thread on, its *candidate set* is what all accesses held in common. An empty candidate set of a
//! shared-modified variable is a finding; each variable is reported once. An access that comes after all earlier ones
//! because of forks and joins makes the variable exclusive again, to its thread.
//!
//! State: per variable one or two accesses while it is exclusive; later a word per thread that uses it and two accesses
//! per set of locks it is used under. Cost per access: a constant while exclusive; later a search among the
//! variable's threads (binary) and lock sets (linear; they are few).

use crate::Exceeded;
use crate::Place;
use crate::clock::{Epoch, Stretch, Thread};
use crate::lockset::{EMPTY, LockSet, LockSets};

/// One access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub thread: Thread,
    pub epoch: Epoch,
    pub set: LockSet,
    pub write: bool,
    pub place: Place,
}

/// A finding.
#[derive(Debug)]
pub(crate) struct Unprotected {
    pub access: Point,
    pub earlier: Point,
    /// A write, if neither of the two is one.
    pub write: Option<Point>,
    /// The candidate set before the access.
    pub candidates: LockSet,
}

/// A variable's state.
#[derive(Debug, Default)]
pub(crate) enum Variable {
    /// Untouched.
    #[default]
    Virgin,
    /// Used by one thread: its last read and its last write, at least one of them.
    Exclusive { read: Option<Point>, write: Option<Point> },
    /// Used by several.
    Shared(Box<Shared>),
    /// Found unprotected; not followed any more.
    Reported,
}

#[derive(Debug)]
pub(crate) struct Shared {
    /// First write since a second thread came: shared-modified.
    modified: Option<Point>,
    candidates: LockSet,
    /// The threads that used it and the last epoch in which each did, by thread.
    users: Vec<(Thread, Epoch)>,
    /// Of the first 64 threads, those that used it since the number of forks and joins was `asked_at`.
    asked: u64,
    asked_at: u64,
    /// What tells the groups apart; beside them, so that the search among them stays within a cache line.
    keys: Vec<(LockSet, bool)>,
    groups: Vec<Group>,
}

/// Accesses of one kind under one set of locks: the last, and the last one by another thread than that.
#[derive(Debug)]
struct Group {
    last: Point,
    other: Option<Point>,
}

impl Variable {
    /// Follows one access by a thread in the stretch `now`, after so many forks and joins.
    pub fn access(
        &mut self,
        point: Point,
        now: &Stretch,
        changes: u64,
        sets: &mut LockSets,
    ) -> Result<Option<Unprotected>, Exceeded> {
        match self {
            Variable::Reported => Ok(None),
            Variable::Virgin => {
                *self = Variable::exclusive(point);
                Ok(None)
            }
            Variable::Exclusive { read, write } => {
                let (owner, epoch) = [*read, *write]
                    .into_iter()
                    .flatten()
                    .fold((point.thread, 0), |(_, epoch), point| (point.thread, epoch.max(point.epoch)));
                if owner == point.thread {
                    *(if point.write { write } else { read }) = Some(point);
                    return Ok(None);
                }
                if now.follows(owner, epoch) {
                    *self = Variable::exclusive(point);
                    return Ok(None);
                }
                let mut shared = Shared {
                    modified: None,
                    // The first access by a second thread is where refinement begins.
                    candidates: point.set,
                    users: vec![(owner, epoch)],
                    asked: 0,
                    asked_at: 0,
                    keys: Vec::new(),
                    groups: Vec::new(),
                };
                [*read, *write].into_iter().flatten().for_each(|earlier| shared.note(earlier));
                shared.used(point);
                let finding = shared.refine(point, now, sets)?;
                *self =
                    if finding.is_some() { Variable::Reported } else { Variable::Shared(Box::new(shared)) };
                Ok(finding)
            }
            Variable::Shared(shared) => {
                if shared.is_over(point, now, changes) {
                    *self = Variable::exclusive(point);
                    return Ok(None);
                }
                let finding = shared.refine(point, now, sets)?;
                if finding.is_some() {
                    *self = Variable::Reported;
                }
                Ok(finding)
            }
        }
    }

    fn exclusive(point: Point) -> Self {
        let (read, write) = if point.write { (None, Some(point)) } else { (Some(point), None) };
        Variable::Exclusive { read, write }
    }
}

impl Shared {
    /// Whether everything that was done to the variable comes before this access; if not, its thread is a user.
    /// `changes` counts forks and joins: while it stays the same, so does the answer for a thread.
    fn is_over(&mut self, point: Point, now: &Stretch, changes: u64) -> bool {
        if self.asked_at != changes {
            (self.asked, self.asked_at) = (0, changes);
        }
        let bit = 1u64.checked_shl(point.thread).unwrap_or(0);
        if self.asked & bit != 0 {
            return false;
        }
        self.asked |= bit;
        let at = self.users.binary_search_by_key(&point.thread, |(thread, _)| *thread);
        // What was not over when this stretch first used the variable cannot be over later in the same stretch.
        if at.is_ok_and(|at| self.users[at].1 == point.epoch) {
            return false;
        }
        if self.users.iter().all(|&(thread, epoch)| now.follows(thread, epoch)) {
            return true;
        }
        self.used(point);
        false
    }

    fn used(&mut self, point: Point) {
        match self.users.binary_search_by_key(&point.thread, |(thread, _)| *thread) {
            Ok(at) => self.users[at].1 = point.epoch,
            Err(at) => self.users.insert(at, (point.thread, point.epoch)),
        }
    }

    /// Takes the access's locks into account; a finding if none is left.
    fn refine(
        &mut self,
        point: Point,
        now: &Stretch,
        sets: &mut LockSets,
    ) -> Result<Option<Unprotected>, Exceeded> {
        let before = self.candidates;
        self.candidates = sets.meet(before, point.set)?;
        if point.write {
            self.modified.get_or_insert(point);
        }
        if self.candidates == EMPTY
            && let Some(write) = self.modified
            && let Some(earlier) = self.conflict(point, now, sets)
        {
            let write = (!point.write && !earlier.write).then_some(write);
            return Ok(Some(Unprotected { access: point, earlier, write, candidates: before }));
        }
        self.note(point);
        Ok(None)
    }

    fn note(&mut self, point: Point) {
        let key = (point.set, point.write);
        match self.keys.iter().position(|known| *known == key) {
            Some(at) => {
                let group = &mut self.groups[at];
                if group.last.thread != point.thread {
                    group.other = Some(group.last);
                }
                group.last = point;
            }
            None => {
                self.keys.push(key);
                self.groups.push(Group { last: point, other: None });
            }
        }
    }

    /// The earlier access by another thread that tells most: best one with which this access can collide.
    fn conflict(&self, point: Point, now: &Stretch, sets: &LockSets) -> Option<Point> {
        let all = self.groups.iter().flat_map(|group| [Some(group.last), group.other]).flatten();
        all.filter(|earlier| earlier.thread != point.thread).max_by_key(|earlier| {
            let writes = earlier.write || point.write;
            let parallel = !now.follows(earlier.thread, earlier.epoch);
            let bare = sets.disjoint(earlier.set, point.set);
            (writes && parallel && bare, writes && parallel, writes, earlier.place)
        })
    }
}
