//! Every code that a diagnostic may have: what it means and how to repair it.
//!
//! Codes are stable: scripts look for them. The page `docs/codes.md` is made from this table by the tests of the command,
//! and a test of this crate compares it with the sources of the workspace.

mod table;

use crate::Severity;

pub use table::CODES;

/// What a code is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// The text of a specification.
    Specification,
    /// A trace, and what a specification asks of it.
    Trace,
    /// Options, engines and limits.
    Run,
    /// Models and formulas about them.
    Model,
    /// Locks and accesses.
    Races,
    /// Specifications of other monitors.
    Import,
    /// Programs of the Simple Programming Language.
    Program,
}

impl Area {
    /// Every area, with its heading on the page.
    pub const ALL: [(Area, &'static str); 7] = [
        (Area::Specification, "Specifications"),
        (Area::Trace, "Traces"),
        (Area::Run, "Runs"),
        (Area::Model, "Models"),
        (Area::Races, "Deadlocks and races"),
        (Area::Import, "Specifications of other monitors"),
        (Area::Program, "SPL programs"),
    ];
}

/// A stable code.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// As diagnostics have it.
    pub code: &'static str,
    /// How bad it is; both, if that depends on where it is found.
    pub severity: &'static [Severity],
    /// What it is about.
    pub area: Area,
    /// What it means, in a sentence.
    pub meaning: &'static str,
    /// How to repair it.
    pub repair: &'static str,
}

/// What is known about a code.
pub fn code(name: &str) -> Option<&'static Code> {
    CODES.iter().find(|known| known.code == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_stand_once_each_and_in_order() {
        for (area, heading) in Area::ALL {
            let codes: Vec<&str> = CODES.iter().filter(|known| known.area == area).map(|c| c.code).collect();
            let mut sorted = codes.clone();
            sorted.sort_unstable();
            assert_eq!(codes, sorted, "{heading}");
        }
        let mut all: Vec<&str> = CODES.iter().map(|known| known.code).collect();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "a code stands twice");
        for known in CODES {
            assert!(
                !known.severity.is_empty() && known.meaning.len() > 10 && known.repair.len() > 5,
                "{}",
                known.code
            );
        }
        assert!(code("unknown-name").is_some() && code("no-such-code").is_none());
    }
}
