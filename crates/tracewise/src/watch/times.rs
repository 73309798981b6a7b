//! Times of positions about which something is still to be told.

use super::state::{number, number_out, signed, signed_out};
use std::collections::VecDeque;
use tw_core::{Position, Time};

/// Latest positions whose times are kept in any case, where violations alone are told.
const KEPT: usize = 4096;

/// What is kept, by what is told.
pub(super) enum Times {
    /// Of each position until every property has told about it.
    Open(OpenTimes),
    /// Of the latest: a violation may be about any of them.
    Latest(LatestTimes),
}

impl Times {
    pub fn extend(&mut self, times: &[Time]) {
        match self {
            Times::Open(open) => times.iter().for_each(|&time| open.push(time)),
            Times::Latest(latest) => latest.extend(times),
        }
    }

    /// The first position is this one.
    pub fn begin_at(&mut self, position: Position) {
        match self {
            Times::Open(open) => open.base = position,
            Times::Latest(latest) => latest.base = position,
        }
    }

    pub fn save(&self, out: &mut Vec<u8>) {
        match self {
            Times::Open(open) => open.save(out),
            Times::Latest(latest) => latest.save(out),
        }
    }

    pub fn load(&mut self, from: &mut &[u8]) -> Result<(), String> {
        match self {
            Times::Open(open) => open.load(from),
            Times::Latest(latest) => latest.load(from),
        }
    }

    /// Bytes held.
    pub fn heap_bytes(&self) -> usize {
        match self {
            Times::Open(open) => open.open.capacity() * size_of::<(Time, u32)>(),
            Times::Latest(latest) => latest.times.capacity() * size_of::<Time>(),
        }
    }
}

/// The times of the latest positions: of some thousands, and of all for which a verdict can still come by their time.
/// How many that are follows from the stream's rate, not from its length.
pub(super) struct LatestTimes {
    base: Position,
    times: VecDeque<Time>,
    /// How much later than a position its verdict may come, if that is bounded.
    horizon: Option<Time>,
}

impl LatestTimes {
    pub fn new(horizon: Option<Time>) -> Self {
        Self { base: 0, times: VecDeque::new(), horizon }
    }

    pub(super) fn push(&mut self, time: Time) {
        self.times.push_back(time);
        let past = |first: Time| self.horizon.is_none_or(|horizon| first < time.saturating_sub(horizon));
        while self.times.len() > KEPT && self.times.front().is_some_and(|&first| past(first)) {
            self.times.pop_front();
            self.base += 1;
        }
    }

    pub fn extend(&mut self, times: &[Time]) {
        if self.horizon.is_some() {
            times.iter().for_each(|&time| self.push(time));
            return;
        }
        let kept = &times[times.len().saturating_sub(KEPT)..];
        let gone = (self.times.len() + kept.len()).saturating_sub(KEPT);
        self.times.drain(..gone);
        self.times.extend(kept);
        self.base += gone + times.len() - kept.len();
    }

    /// The time of a position, if it is known.
    pub fn of(&self, position: Position) -> Option<Time> {
        self.times.get(position.checked_sub(self.base)?).copied()
    }

    pub fn save(&self, out: &mut Vec<u8>) {
        number_out(self.base as u64, out);
        number_out(self.times.len() as u64, out);
        // Neighbours are near each other, and small numbers are short.
        let mut before: Time = 0;
        for &time in &self.times {
            signed_out(time.wrapping_sub(before), out);
            before = time;
        }
    }

    pub fn load(&mut self, from: &mut &[u8]) -> Result<(), String> {
        self.base = number(from)? as Position;
        let mut before: Time = 0;
        for _ in 0..number(from)? {
            before = before.wrapping_add(signed(from)?);
            self.times.push_back(before);
        }
        Ok(())
    }
}

/// The times of positions about which something is still to be told.
#[derive(Default)]
pub(super) struct OpenTimes {
    base: Position,
    /// Time, and how many properties have not told.
    open: VecDeque<(Time, u32)>,
    roots: u32,
}

impl OpenTimes {
    pub fn new(roots: usize) -> Self {
        Self { roots: roots as u32, ..Self::default() }
    }

    pub(super) fn push(&mut self, time: Time) {
        self.open.push_back((time, self.roots));
    }

    /// One property has told about a position: its time.
    pub fn tell(&mut self, about: Position) -> Option<Time> {
        let (time, left) = self.open.get_mut(about.checked_sub(self.base)?)?;
        let time = *time;
        *left = left.saturating_sub(1);
        while self.open.front().is_some_and(|(_, left)| *left == 0) {
            self.open.pop_front();
            self.base += 1;
        }
        Some(time)
    }

    fn save(&self, out: &mut Vec<u8>) {
        number_out(self.base as u64, out);
        number_out(self.open.len() as u64, out);
        for &(time, left) in &self.open {
            signed_out(time, out);
            number_out(u64::from(left), out);
        }
    }

    fn load(&mut self, from: &mut &[u8]) -> Result<(), String> {
        self.base = number(from)? as Position;
        for _ in 0..number(from)? {
            let (time, left) = (signed(from)?, number(from)?);
            self.open.push_back((time, left as u32));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_times_are_kept_and_those_within_the_horizon() {
        let (mut untimed, mut timed) = (LatestTimes::new(None), LatestTimes::new(Some(10_000)));
        for time in 0..100_000 {
            untimed.push(time);
            timed.push(time);
        }
        assert_eq!((untimed.times.len(), timed.times.len()), (KEPT, 10_001));
        let known = |times: &LatestTimes, position| times.of(position);
        assert_eq!((known(&untimed, 99_999), known(&untimed, 95_000)), (Some(99_999), None));
        assert_eq!(
            (known(&timed, 95_000), known(&timed, 89_998), known(&timed, 100_000)),
            (Some(95_000), None, None)
        );
        let mut saved = Vec::new();
        timed.save(&mut saved);
        let mut again = LatestTimes::new(Some(10_000));
        again.load(&mut saved.as_slice()).unwrap();
        assert_eq!((again.base, again.times), (timed.base, timed.times));
        // Many at a time, in pieces of all sizes.
        let (mut pieces, mut from) = (LatestTimes::new(None), 0);
        for size in [1, 5000, 0, 4095, 4096, 4097, 12, 90_000].into_iter().cycle() {
            let piece: Vec<Time> = (from..100_000.min(from + size)).collect();
            from += size;
            pieces.extend(&piece);
            if from >= 100_000 {
                break;
            }
        }
        assert_eq!((pieces.base, pieces.times), (untimed.base, untimed.times));
    }

    #[test]
    fn times_are_kept_until_all_have_told() {
        let mut times = OpenTimes::new(2);
        (10..13).for_each(|time| times.push(time));
        assert_eq!(times.tell(1), Some(11));
        assert_eq!(times.tell(0), Some(10));
        let mut saved = Vec::new();
        times.save(&mut saved);
        let mut again = OpenTimes::new(2);
        again.load(&mut saved.as_slice()).unwrap();
        assert_eq!(again.tell(0), Some(10));
        assert_eq!((again.tell(0), again.base), (None, 1));
        assert_eq!((again.tell(1), again.tell(2), again.base), (Some(11), Some(12), 2));
    }
}
