//! What cannot run in parallel: everything a thread does before it starts another comes before all that the other does,
//! and everything a thread does comes before what its joiner does afterwards.
//!
//! Vector clocks over `fork` and `join` alone. Locks order nothing here: their order in this run is chance, and the
//! runs in which it is another are the ones to warn of. A thread's life is cut into *epochs* at its forks and joins;
//! its clock says for each other thread up to which epoch that one is over.
//!
//! Cost: nothing per access; a copy of the clock per fork or join (threads it knows of). Memory: the clocks still
//! referred to, up to [`ROOM`] entries; beyond that, further forks and joins order nothing, which can add findings
//! but loses none.

use std::sync::Arc;

/// A thread.
pub(crate) type Thread = u32;
/// A stretch of a thread's life between forks and joins, from 1.
pub(crate) type Epoch = u32;

/// Entries of all clocks ever copied: 128 MB.
const ROOM: usize = 1 << 24;

/// What a thread knows: up to which epoch other threads are over, by thread. What it does not list is 0.
type Known = Arc<Vec<(Thread, Epoch)>>;

/// A stretch of a thread, and what came before it.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    pub thread: Thread,
    pub epoch: Epoch,
    known: Known,
}

impl Stretch {
    /// Whether the thread's epoch is over before this stretch (or is of the same thread, which runs one thing at a time).
    pub fn follows(&self, thread: Thread, epoch: Epoch) -> bool {
        self.thread == thread || epoch <= of(&self.known, thread)
    }

    /// Whether the two can run in parallel.
    pub fn parallel(&self, other: &Stretch) -> bool {
        !self.follows(other.thread, other.epoch) && !other.follows(self.thread, self.epoch)
    }
}

/// The clocks of all threads: the stretch each is in.
#[derive(Debug, Default)]
pub(crate) struct Clocks {
    now: Vec<Stretch>,
    changes: u64,
    spent: usize,
}

impl Clocks {
    /// The stretch a thread is in.
    pub fn now(&mut self, thread: Thread) -> &Stretch {
        while self.now.len() <= thread as usize {
            let thread = self.now.len() as Thread;
            self.now.push(Stretch { thread, epoch: 1, known: Known::default() });
        }
        &self.now[thread as usize]
    }

    /// How many forks and joins there were.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Whether the clocks took more room than they may and order is no longer followed.
    pub fn exhausted(&self) -> bool {
        self.spent > ROOM
    }

    pub fn fork(&mut self, parent: Thread, child: Thread) {
        self.learn(child, parent);
    }

    pub fn join(&mut self, parent: Thread, child: Thread) {
        self.learn(parent, child);
    }

    /// What `teacher` has done so far comes before what `pupil` does from now on.
    fn learn(&mut self, pupil: Thread, teacher: Thread) {
        if pupil == teacher || self.exhausted() {
            return;
        }
        self.changes += 1;
        self.now(pupil.max(teacher));
        let Stretch { epoch, known, .. } = self.now[teacher as usize].clone();
        let mut news = known.to_vec();
        raise(&mut news, teacher, epoch);
        let learner = &mut self.now[pupil as usize];
        self.spent += learner.known.len() + news.len();
        if learner.known.is_empty() {
            learner.known = Arc::new(news);
        } else {
            let known = Arc::make_mut(&mut learner.known);
            news.into_iter().for_each(|(thread, epoch)| raise(known, thread, epoch));
        }
        // Both begin a new stretch: the teacher's next doings are not known to the pupil.
        learner.epoch += 1;
        self.now[teacher as usize].epoch += 1;
    }
}

fn of(known: &[(Thread, Epoch)], thread: Thread) -> Epoch {
    known.binary_search_by_key(&thread, |(thread, _)| *thread).map_or(0, |at| known[at].1)
}

fn raise(known: &mut Vec<(Thread, Epoch)>, thread: Thread, epoch: Epoch) {
    match known.binary_search_by_key(&thread, |(thread, _)| *thread) {
        Ok(at) => known[at].1 = known[at].1.max(epoch),
        Err(at) => known.insert(at, (thread, epoch)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn before_a_fork_and_after_a_join() {
        let mut clocks = Clocks::default();
        let before = clocks.now(0).clone();
        clocks.fork(0, 1);
        let (beside, child) = (clocks.now(0).clone(), clocks.now(1).clone());
        clocks.fork(1, 2);
        let grandchild = clocks.now(2).clone();
        clocks.join(0, 1);
        let after = clocks.now(0).clone();

        assert!(child.follows(before.thread, before.epoch) && !child.parallel(&before));
        assert!(child.parallel(&beside) && beside.parallel(&child));
        assert!(
            !grandchild.parallel(&before) && !grandchild.parallel(&child) && grandchild.parallel(&beside)
        );
        assert!(!after.parallel(&child));
        assert!(after.parallel(&grandchild), "only its parent was waited for");
        assert!(!after.parallel(&before), "one thread does one thing at a time");
    }
}
