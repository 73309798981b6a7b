//! Wrong tokens that came lately. A program that shows the same one again and again is set up wrong; it does not guess.

use super::hash;
use blake3::Hash;
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long one is remembered.
const WINDOW: Duration = Duration::from_secs(60);
/// How many are remembered; who sends more guesses.
const LATEST: usize = 1000;

/// The latest wrong tokens, the oldest first. Their hashes are kept: a wrong one is often a good one with a slip.
#[derive(Debug, Default)]
pub struct Wrong(Mutex<VecDeque<(Instant, IpAddr, Hash)>>);

impl Wrong {
    /// Whether a wrong token is another than those that came lately from its address, which it joins.
    pub fn is_new(&self, address: IpAddr, token: &str) -> bool {
        self.is_new_at(address, token, Instant::now())
    }

    fn is_new_at(&self, address: IpAddr, token: &str, now: Instant) -> bool {
        let hash = hash(token);
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while latest.front().is_some_and(|(at, ..)| now.saturating_duration_since(*at) >= WINDOW) {
            latest.pop_front();
        }
        if latest.iter().any(|(_, from, own)| *from == address && *own == hash) {
            return false;
        }
        if latest.len() == LATEST {
            latest.pop_front();
        }
        latest.push_back((now, address, hash));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{LATEST, WINDOW, Wrong};
    use std::net::IpAddr;
    use std::time::{Duration, Instant};

    #[test]
    fn the_same_wrong_token_is_counted_once_in_a_while() {
        let wrong = Wrong::default();
        let [here, there] = ["10.0.0.1", "10.0.0.2"].map(|text| text.parse::<IpAddr>().expect("an address"));
        let now = Instant::now();
        assert!(wrong.is_new_at(here, "tw_a", now));
        assert!((0..50).all(|_| !wrong.is_new_at(here, "tw_a", now)));
        assert!(wrong.is_new_at(here, "tw_b", now) && wrong.is_new_at(there, "tw_a", now));
        // It does not stay for coming again.
        assert!(!wrong.is_new_at(here, "tw_a", now + WINDOW - Duration::from_secs(1)));
        assert!(wrong.is_new_at(here, "tw_a", now + WINDOW));
    }

    #[test]
    fn no_more_are_remembered_than_there_is_room_for() {
        let wrong = Wrong::default();
        let here: IpAddr = "10.0.0.1".parse().expect("an address");
        let now = Instant::now();
        assert!((0..3 * LATEST).all(|number| wrong.is_new_at(here, &format!("tw_{number}"), now)));
        assert_eq!(wrong.0.lock().expect("nobody panicked").len(), LATEST);
        assert!(!wrong.is_new_at(here, &format!("tw_{}", 3 * LATEST - 1), now), "the latest are remembered");
        assert!(wrong.is_new_at(here, "tw_0", now), "and no more");
    }
}
