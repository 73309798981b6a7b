//! What an analysis finds.

use crate::Place;
use std::fmt;

/// Everything found in a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Cycles of locks, the shortest first.
    pub deadlocks: Vec<Deadlock>,
    /// Variables without a lock of their own, in the order of the accesses that show it.
    pub races: Vec<Race>,
    /// What does not fit together in the trace itself.
    pub oddities: Vec<Oddity>,
    /// How many oddities there are; the first 100 are listed.
    pub oddity_count: u64,
    /// How far the search for cycles went.
    pub search: Search,
    /// Accesses, threads, locks and variables seen.
    pub seen: Seen,
}

/// Threads that, scheduled otherwise, can wait for each other for ever: each holds the lock that the one before it
/// wants.
#[derive(Clone, Debug, PartialEq)]
pub struct Deadlock {
    /// The threads in turn: the lock that one wants is held by the next, and the last one's by the first.
    pub turns: Vec<Turn>,
}

/// One thread's part in a deadlock.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// The thread.
    pub thread: String,
    /// The lock it holds and the one before it wants.
    pub holds: String,
    /// Where it got that.
    pub held_at: Place,
    /// The lock it wants.
    pub wants: String,
    /// Where it got that in this run.
    pub at: Place,
    /// All locks it held then, `holds` among them.
    pub held: Vec<String>,
}

/// A variable that threads share, that is written, and that no lock protects.
#[derive(Clone, Debug, PartialEq)]
pub struct Race {
    /// The variable.
    pub variable: String,
    /// The access after which no lock is left that every access had.
    pub access: Use,
    /// An earlier access by another thread; one that has no lock in common with `access`, if there is one.
    pub earlier: Use,
    /// A write, if neither of the two is one.
    pub write: Option<Use>,
    /// The locks that all accesses since the variable became shared had, until `access`.
    pub protected_by: Vec<String>,
}

/// One access to a variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Use {
    /// Thread.
    pub thread: String,
    /// Whether it wrote.
    pub write: bool,
    /// Locks it held.
    pub locks: Vec<String>,
    /// Where.
    pub at: Place,
}

/// Something that locks do not do: the trace is not as the program ran, or the program is wrong about its locks.
#[derive(Clone, Debug, PartialEq)]
pub struct Oddity {
    /// What.
    pub kind: OddityKind,
    /// The thread.
    pub thread: String,
    /// The lock.
    pub lock: String,
    /// Where.
    pub at: Place,
}

/// Kinds of oddities.
#[derive(Clone, Debug, PartialEq)]
pub enum OddityKind {
    /// A lock is given back that nobody holds.
    NotHeld,
    /// A lock is given back that another thread holds (since the place given).
    HeldByOther(String, Place),
    /// A lock is got while another thread holds it (since the place given).
    GotWhileHeld(String, Place),
}

/// How far the search for cycles went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Search {
    /// Why it is not complete, in words; `None` if all cycles are listed.
    pub incomplete: Option<String>,
    /// Forks and joins became too many to follow: findings may speak of code that cannot run in parallel.
    pub unordered: bool,
}

/// What a trace consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Accesses of all kinds.
    pub accesses: u64,
    /// Threads.
    pub threads: u64,
    /// Locks.
    pub locks: u64,
    /// Variables.
    pub variables: u64,
}

/// A limit was reached, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exceeded(String);

impl Exceeded {
    pub(crate) fn new(message: String) -> Self {
        Self(message)
    }
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Exceeded {}
