//! Windows of changing width: what they are worth, by groups.
//!
//! A group is a run of positions whose windows share a place, the end of the first one's: each is a suffix of what
//! stands before that place and a prefix of what follows. Both are computed once per group, in loops without
//! unpredictable branches, and every position is in the windows of two groups at most.

use crate::lattice::Monoid;
use tw_core::Time;
use tw_ir::Ticks;

/// For each i below `len`, calls `emit` with what the positions `reach(i)` are worth. As i grows neither end of the
/// reach moves back.
pub(crate) fn windows<M: Monoid>(
    len: usize,
    reach: impl Fn(usize) -> (usize, usize),
    item: impl Fn(usize) -> M::Item,
    mut emit: impl FnMut(usize, M::Item),
) {
    let (mut suffixes, mut prefixes) = (Vec::new(), Vec::new());
    let mut first = 0;
    while first < len {
        let (from, middle) = reach(first);
        if from >= middle {
            emit(first, M::EMPTY);
            first += 1;
            continue;
        }
        // The positions of the group: those whose windows begin before the middle.
        let (mut low, mut high) = (first + 1, len);
        while low < high {
            let probe = low + (high - low) / 2;
            if reach(probe).0 < middle { low = probe + 1 } else { high = probe }
        }
        let after = low;
        let end = reach(after - 1).1;
        suffixes.clear();
        suffixes.resize(middle - from, M::EMPTY);
        let mut all = M::EMPTY;
        for k in (from..middle).rev() {
            all = M::cat(item(k), all);
            suffixes[k - from] = all;
        }
        prefixes.clear();
        let mut all = M::EMPTY;
        prefixes.push(all);
        prefixes.extend((middle..end).map(|k| {
            all = M::cat(all, item(k));
            all
        }));
        for i in first..after {
            let (left, right) = reach(i);
            emit(i, M::cat(suffixes[left - from], prefixes[right - middle]));
        }
        first = after;
    }
}

/// The positions that a bounded interval reaches from every position.
pub(crate) struct Reaches {
    /// Empty where it is the position itself.
    from: Vec<u32>,
    /// Empty where it is the one after.
    to: Vec<u32>,
}

impl Reaches {
    /// Of `ticks`, on timestamps that never decrease; there are no more than 2³² of them.
    pub(crate) fn new(times: &[Time], past: bool, ticks: Ticks) -> Self {
        let Ticks { low, high } = ticks;
        // Saturating: where a limit is beyond all times, everything or nothing lies before it, as it should.
        let (from, to) = match past {
            false => {
                let from = || merge(times, |now| now.saturating_add(low - 1), |time, limit| time <= limit);
                let to = merge(times, |now| now.saturating_add(high), |time, limit| time <= limit);
                (if low > 0 { from() } else { Vec::new() }, to)
            }
            true => {
                let to = || merge(times, |now| now.saturating_sub(low - 1), |time, limit| time < limit);
                let from = merge(times, |now| now.saturating_sub(high), |time, limit| time < limit);
                (from, if low > 0 { to() } else { Vec::new() })
            }
        };
        Self { from, to }
    }

    /// What is nearer than the interval, whose lower end is not 0.
    pub(crate) fn nearer(self, past: bool) -> Self {
        match past {
            false => Self { from: Vec::new(), to: self.from },
            true => Self { from: self.to, to: Vec::new() },
        }
    }

    /// As [`crate::clock::Reach::at`].
    #[inline(always)]
    pub(crate) fn at(&self, i: usize) -> (usize, usize) {
        match (self.from.is_empty(), self.to.is_empty()) {
            (true, _) => (i, self.to[i] as usize),
            (_, true) => (self.from[i] as usize, i + 1),
            _ => (self.from[i] as usize, self.to[i] as usize),
        }
    }
}

/// How many stretches are merged at once: their chains of dependent loads do not wait for each other.
const LANES: usize = 4;

/// For each i, the first k whose time does not pass `before` the limit of i's. Found by merging the sequence of times
/// with itself, mostly without branches, since none could be predicted.
fn merge(times: &[Time], limit: impl Fn(Time) -> Time, before: impl Fn(Time, Time) -> bool) -> Vec<u32> {
    let len = times.len();
    let mut firsts = vec![0u32; len];
    let stretch = len.div_ceil(LANES).max(1);
    let mut next = [0usize; LANES];
    for (lane, next) in next.iter_mut().enumerate() {
        let first = lane * stretch;
        if first < len {
            let limit = limit(times[first]);
            *next = times.partition_point(|&time| before(time, limit));
        }
    }
    for j in 0..stretch {
        for (lane, next) in next.iter_mut().enumerate() {
            let i = lane * stretch + j;
            if i >= len {
                break;
            }
            let limit = limit(times[i]);
            // Few steps at most times, of which none waits for the one before.
            if let Some(&[a, b, c]) = times.get(*next..*next + 3).and_then(|three| three.first_chunk()) {
                let more = before(c, limit);
                *next += usize::from(before(a, limit)) + usize::from(before(b, limit)) + usize::from(more);
                if !more {
                    firsts[i] = *next as u32;
                    continue;
                }
            }
            while *next < len && before(times[*next], limit) {
                *next += 1;
            }
            firsts[i] = *next as u32;
        }
    }
    firsts
}
