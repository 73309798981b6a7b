//! What a concurrent program does, as far as locks and shared variables are concerned.

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// The thread has got a lock.
    Lock,
    /// It gives a lock back.
    Unlock,
    /// It reads a variable.
    Read,
    /// It writes a variable.
    Write,
    /// It starts another thread, which has done nothing before.
    Fork,
    /// It has waited for the end of another thread, which does nothing after.
    Join,
}

impl Action {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Action::Lock => "lock",
            Action::Unlock => "unlock",
            Action::Read => "read",
            Action::Write => "write",
            Action::Fork => "fork",
            Action::Join => "join",
        }
    }
}

/// One event: a thread does something to a lock, a variable or another thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access<'a> {
    /// Who.
    pub thread: &'a str,
    /// What.
    pub action: Action,
    /// To which lock, variable or thread.
    pub object: &'a str,
}

impl<'a> Access<'a> {
    /// `thread` gets `lock`.
    pub fn lock(thread: &'a str, lock: &'a str) -> Self {
        Self { thread, action: Action::Lock, object: lock }
    }

    /// `thread` gives `lock` back.
    pub fn unlock(thread: &'a str, lock: &'a str) -> Self {
        Self { thread, action: Action::Unlock, object: lock }
    }

    /// `thread` reads `variable`.
    pub fn read(thread: &'a str, variable: &'a str) -> Self {
        Self { thread, action: Action::Read, object: variable }
    }

    /// `thread` writes `variable`.
    pub fn write(thread: &'a str, variable: &'a str) -> Self {
        Self { thread, action: Action::Write, object: variable }
    }

    /// `parent` starts `child`.
    pub fn fork(parent: &'a str, child: &'a str) -> Self {
        Self { thread: parent, action: Action::Fork, object: child }
    }

    /// `parent` has waited for the end of `child`.
    pub fn join(parent: &'a str, child: &'a str) -> Self {
        Self { thread: parent, action: Action::Join, object: child }
    }
}

/// Where an event stands in its trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Position, from 0.
    pub position: u64,
    /// Line of the log, from 1; 0 where there is no log.
    pub line: u64,
}
