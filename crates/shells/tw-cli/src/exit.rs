//! What the exit code says.

use std::process::ExitCode;
use tracewise::Verdict;

/// The outcome of a run, least weighty first: of several, the greatest is the run's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Exit {
    /// All properties hold; or the command did what was asked.
    #[default]
    Holds,
    /// Nothing is violated, but something is undecided.
    Undecided,
    /// Something is violated; or `fmt --check` found a file to format.
    Violated,
    /// Bad usage or input.
    Bad,
    /// What another program ended with, which was run.
    Program(u8),
}

impl Exit {
    /// The number the shell sees.
    pub fn code(self) -> u8 {
        match self {
            Exit::Holds => 0,
            Exit::Violated => 1,
            Exit::Bad => 2,
            Exit::Undecided => 3,
            Exit::Program(code) => code,
        }
    }

    /// The weightier of the two.
    #[must_use]
    pub fn and(self, other: Exit) -> Exit {
        self.max(other)
    }
}

impl From<Verdict> for Exit {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Satisfied => Exit::Holds,
            Verdict::Violated => Exit::Violated,
            Verdict::Unknown => Exit::Undecided,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weightiest_outcome_wins() {
        let all = [Exit::Holds, Exit::Undecided, Exit::Violated, Exit::Bad];
        for (i, a) in all.iter().enumerate() {
            for (j, b) in all.iter().enumerate() {
                assert_eq!(a.and(*b), all[i.max(j)]);
            }
        }
        assert_eq!(all.map(Exit::code), [0, 3, 1, 2]);
    }
}
