//! Mergers and ends in words, as the command line and model files have them.

use crate::{Ends, Keep};
use std::fmt;

/// Most states before the present one that [`Keep::History`] can be told to keep.
pub const MAX_HISTORY: u32 = 64;

impl Keep {
    /// Reads `state`, `time`, `change`, `history 2` or `tree`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let keep = match words.next()? {
            "state" => Keep::State,
            "time" => Keep::Time,
            "change" => Keep::Change,
            "tree" => Keep::Tree,
            "history" => {
                let digits = words.next().filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()))?;
                Keep::History(digits.parse().ok().filter(|length| (1..=MAX_HISTORY).contains(length))?)
            }
            _ => return None,
        };
        words.next().is_none().then_some(keep)
    }

    /// Whether states carry the instant at which they are.
    pub fn instants(self) -> bool {
        matches!(self, Keep::Time | Keep::Change)
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Keep::State => f.write_str("state"),
            Keep::Time => f.write_str("time"),
            Keep::Change => f.write_str("change"),
            Keep::History(length) => write!(f, "history {length}"),
            Keep::Tree => f.write_str("tree"),
        }
    }
}

impl Ends {
    /// Reads `dead`, `all`, `none` or `state`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "dead" => Ends::Dead,
            "all" => Ends::All,
            "none" => Ends::Nothing,
            "state" => Ends::State,
            _ => return None,
        })
    }
}

impl fmt::Display for Ends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ends::Dead => "dead",
            Ends::All => "all",
            Ends::Nothing => "none",
            Ends::State => "state",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_back() {
        for keep in [Keep::State, Keep::Time, Keep::Change, Keep::Tree, Keep::History(1), Keep::History(64)] {
            assert_eq!(Keep::parse(&keep.to_string()), Some(keep));
        }
        for ends in [Ends::Dead, Ends::All, Ends::Nothing, Ends::State] {
            assert_eq!(Ends::parse(&ends.to_string()), Some(ends));
        }
        assert_eq!(Keep::parse("history  3"), Some(Keep::History(3)));
        for wrong in ["", "history", "history 0", "history 65", "history +1", "history 1 2", "time 1", "Time"]
        {
            assert_eq!(Keep::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Ends::parse("nothing"), None);
    }
}
