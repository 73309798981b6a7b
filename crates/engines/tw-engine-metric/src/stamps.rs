//! Operators whose bounds are measured by timestamps that come at any pace.
//!
//! A goal at position k is seen by `O[low,high]` from the first position at distance `low` to the last at distance
//! `high`. Goals that follow each other within `high - low` are seen from one uninterrupted stretch together, so only the
//! two ends of such a cluster are looked up, by a search that starts where the last one ended and doubles its step: a
//! cluster's goals are passed over some positions at a time, and what lies between clusters by words. The searches
//! of one operator only go forward, so all of them together take time linear in the trace at worst.
//!
//! `p S[a,b] q` = `p S q & !O[0,a) first & O[a,b] q`, where `first` are the `q` that no earlier one reaches: the last of
//! them is the farthest witness. (A witness that is too far serves to show that `p` holds since a nearer one.)

use crate::words::{Words, chain_up, clear, fill};
use tw_core::Time;
use tw_ir::Ticks;

/// The timestamps of one segment, from the first on or (`BACK`) from the last back.
#[derive(Clone, Copy)]
pub(crate) struct Stamps<'t, const BACK: bool>(pub(crate) &'t [Time]);

impl<const BACK: bool> Stamps<'_, BACK> {
    /// |τ late − τ early|.
    #[inline(always)]
    fn apart(&self, early: usize, late: usize) -> i64 {
        if BACK {
            let last = self.0.len() - 1;
            self.0[last - early].saturating_sub(self.0[last - late])
        } else {
            self.0[late].saturating_sub(self.0[early])
        }
    }

    /// The first position of `from..to` at least `distance` after `early`, or `to`.
    #[inline]
    fn reach(&self, early: usize, from: usize, to: usize, distance: i64) -> usize {
        let (mut from, mut step) = (from, 1);
        // All before `from` are too near.
        while from + step <= to {
            let probe = from + step - 1;
            if self.apart(early, probe) >= distance {
                return self.halve(early, from, probe, distance);
            }
            from = probe + 1;
            step *= 2;
        }
        self.halve(early, from, to, distance)
    }

    /// The same by halving, if the answer is known to be in `from..=to`.
    fn halve(&self, early: usize, from: usize, to: usize, distance: i64) -> usize {
        let (mut from, mut to) = (from, to);
        while from < to {
            let middle = from + (to - from) / 2;
            if self.apart(early, middle) >= distance { to = middle } else { from = middle + 1 }
        }
        from
    }
}

/// `hold S[ticks] goal` measured by timestamps; without `hold` it is `O`. `scratch` is overwritten.
pub(crate) fn since<const BACK: bool>(
    out: &mut [u64],
    hold: Option<Words<'_>>,
    goal: Words<'_>,
    ticks: Ticks,
    stamps: Stamps<'_, BACK>,
    scratch: &mut Vec<u64>,
) {
    let Some(hold) = hold else {
        out.fill(0);
        once(goal, ticks, stamps, |from, to| fill(out, from, to));
        return;
    };
    chain_up(out, hold, goal);
    if ticks.low > 0 {
        let chained = Words { words: out, flip: 0, len: goal.len };
        let reached = |index: usize| hold.get(index) & chained.delayed(index, 1);
        scratch.clear();
        scratch.extend((0..out.len()).map(|index| goal.get(index) & !reached(index)));
        let first = Words { words: scratch, flip: 0, len: goal.len };
        let near = Ticks { low: 0, high: ticks.low - 1 };
        once(first, near, stamps, |from, to| clear(out, from, to));
    }
    if ticks.high < i64::MAX {
        let mut done = 0;
        once(goal, ticks, stamps, |from, to| {
            clear(out, done, from);
            done = done.max(to);
        });
        clear(out, done, goal.len);
    }
}

/// The stretches of positions from which a goal is seen at a distance within `ticks`, ascending; they may overlap.
fn once<const BACK: bool>(
    goal: Words<'_>,
    Ticks { low, high }: Ticks,
    stamps: Stamps<'_, BACK>,
    mut seen: impl FnMut(usize, usize),
) {
    let len = goal.len;
    let mut span = Span(64, 0);
    // Where the searches for the begins and the ends of stretches have come.
    let (mut begins, mut ends) = (0, 0);
    let mut next = goal.find(0);
    while next < len {
        let (from, last);
        (from, last, next) = match high {
            i64::MAX => (next, next, len),
            _ => cluster(goal, next, high - low, stamps, &mut span),
        };
        begins = match low {
            0 => from,
            _ => stamps.reach(from, begins.max(from), len, low),
        };
        if begins == len {
            return;
        }
        ends = match high {
            i64::MAX => len,
            _ => stamps.reach(last, ends.max(last), len, high + 1),
        };
        seen(begins, ends);
    }
}

/// Goals from `first` on, each within `gap` of the one before: the first, the last, and the goal after.
/// `span` positions are tried at once; it is adapted to what succeeds.
#[inline]
fn cluster<const BACK: bool>(
    goal: Words<'_>,
    first: usize,
    gap: i64,
    stamps: Stamps<'_, BACK>,
    span: &mut Span,
) -> (usize, usize, usize) {
    let end = goal.len;
    let mut last = first;
    while last + 1 < end {
        // The goals of the next positions at once, if they span no more than a gap.
        let tried = (end - last - 1).min(span.0 as usize);
        let ahead = goal.ahead(last + 1) & (u64::MAX >> (64 - tried));
        if ahead == 0 {
            let next = goal.find(last + 1 + tried);
            if next >= end || stamps.apart(last, next) > gap {
                return (first, last, next);
            }
            last = next;
            continue;
        }
        let highest = last + 64 - ahead.leading_zeros() as usize;
        if stamps.apart(last, highest) <= gap {
            last = highest;
            span.widen();
            continue;
        }
        span.narrow();
        let next = last + 1 + ahead.trailing_zeros() as usize;
        if stamps.apart(last, next) > gap {
            return (first, last, next);
        }
        last = next;
    }
    (first, last, end)
}

/// How many positions to try at once, and how often that went well.
pub(crate) struct Span(u32, u32);

impl Span {
    fn widen(&mut self) {
        self.1 += 1;
        if self.1 == 64 && self.0 < 64 {
            *self = Span(self.0 * 2, 0);
        }
    }

    fn narrow(&mut self) {
        *self = Span((self.0 / 2).max(1), 0);
    }
}
