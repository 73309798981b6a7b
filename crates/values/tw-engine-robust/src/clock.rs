//! Which positions an interval reaches from each position: always consecutive ones, and as the position moves forward
//! neither end of them moves back, since time does not.

use tw_core::Time;
use tw_ir::Ticks;

/// |τk − τi| is the difference of two of these.
#[derive(Clone, Copy)]
pub(crate) enum Stamps<'t> {
    /// Positions are counted.
    Index,
    /// Timestamps, never decreasing, the first that of position `base`.
    Times { base: usize, times: &'t [Time] },
}

impl Stamps<'_> {
    #[inline(always)]
    pub(crate) fn distance(self, early: usize, late: usize) -> i64 {
        match self {
            Stamps::Index => (late - early) as i64,
            Stamps::Times { base, times } => times[late - base].saturating_sub(times[early - base]),
        }
    }
}

/// The reach of an interval from positions that are asked for in ascending order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reach {
    from: usize,
    to: usize,
}

impl Reach {
    /// Of intervals that reach nothing before `position`.
    pub(crate) fn starting(position: usize) -> Self {
        Self { from: position, to: position }
    }

    /// The positions k (not before `i`, or not after it) with |τk − τi| ∈ I, as `from..to`; perhaps none. Where there
    /// are none in the future, both are the end of the trace or the first place beyond. The trace has `len` positions
    /// so far; there may be more when the next one is asked for.
    #[inline]
    pub(crate) fn at(
        &mut self,
        stamps: Stamps<'_>,
        len: usize,
        past: bool,
        ticks: Ticks,
        i: usize,
    ) -> (usize, usize) {
        let Ticks { low, high } = ticks;
        match (stamps, past) {
            (Stamps::Index, false) => (
                i.saturating_add(size(low)).min(len),
                i.saturating_add(size(high)).saturating_add(1).min(len),
            ),
            (Stamps::Index, true) => (i.saturating_sub(size(high)), (i + 1).saturating_sub(size(low))),
            (Stamps::Times { .. }, false) => {
                self.from = self.from.max(i);
                while self.from < len && stamps.distance(i, self.from) < low {
                    self.from += 1;
                }
                self.to = self.to.max(self.from);
                while self.to < len && stamps.distance(i, self.to) <= high {
                    self.to += 1;
                }
                (self.from, self.to)
            }
            (Stamps::Times { .. }, true) => {
                while self.to <= i && stamps.distance(self.to, i) >= low {
                    self.to += 1;
                }
                // Without an upper bound the first position stays in reach, and is not looked at: it may be gone.
                while high < i64::MAX && self.from < self.to && stamps.distance(self.from, i) > high {
                    self.from += 1;
                }
                (self.from, self.to)
            }
        }
    }

    /// The first position that [`Reach::at`] may name or compare again, from `next` on.
    pub(crate) fn keeps(&self, stamps: Stamps<'_>, past: bool, ticks: Ticks, next: usize) -> usize {
        match (stamps, past) {
            (_, false) => next,
            // One more, for what is kept at the last position of the reach.
            (Stamps::Index, true) => next.saturating_sub(
                size(if ticks.high < i64::MAX { ticks.high } else { ticks.low }).saturating_add(1),
            ),
            (_, true) if ticks.high < i64::MAX => self.from,
            (_, true) => self.to.saturating_sub(1),
        }
    }
}

/// A distance in positions.
pub(crate) fn size(ticks: i64) -> usize {
    usize::try_from(ticks).unwrap_or(usize::MAX)
}

/// The time between neighbours, if it is the same everywhere and not zero.
pub(crate) fn period(times: &[Time]) -> Option<i64> {
    let period = times.get(1)?.checked_sub(times[0])?;
    (period > 0 && times.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == period)).then_some(period)
}

/// The interval in positions, where neighbours are `period` ticks apart; `None` if no multiple lies inside.
pub(crate) fn in_positions(ticks: Ticks, period: i64) -> Option<Ticks> {
    let low = ticks.low / period + i64::from(ticks.low % period != 0);
    let high = if ticks.high == i64::MAX { i64::MAX } else { ticks.high / period };
    (low <= high).then_some(Ticks { low, high })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::irregular::Reaches;
    use tw_testkit::Rng;

    #[test]
    fn reaches_what_the_interval_contains() {
        for seed in 0..2000 {
            let mut rng = Rng::new(seed);
            let len = 1 + rng.below(40);
            // Small steps, or jumps beyond everything.
            let jump = if rng.one_in(3) { 30 } else { 3 };
            let mut now = 0;
            let times: Vec<Time> = (0..len)
                .map(|_| {
                    now += rng.below(jump) as i64;
                    now
                })
                .collect();
            let low = rng.below(4) as i64;
            let high = if rng.one_in(4) { i64::MAX } else { low + rng.below(4) as i64 };
            let ticks = Ticks { low, high };
            for stamps in [Stamps::Index, Stamps::Times { base: 0, times: &times }] {
                for past in [false, true] {
                    let mut reach = Reach::default();
                    let all = matches!(stamps, Stamps::Times { .. }) && high < i64::MAX;
                    let all = all.then(|| Reaches::new(&times, past, ticks));
                    for i in 0..len {
                        let (from, to) = reach.at(stamps, len, past, ticks, i);
                        if let Some(all) = &all {
                            assert_eq!(all.at(i), (from, to), "seed {seed}, {ticks:?} at {i}");
                        }
                        let expected: Vec<usize> = (0..len)
                            .filter(|&k| if past { k <= i } else { k >= i })
                            .filter(|&k| ticks.contains(stamps.distance(i.min(k), i.max(k))))
                            .collect();
                        assert_eq!((from..to).collect::<Vec<_>>(), expected, "seed {seed}, {ticks:?} at {i}");
                    }
                }
            }
        }
    }

    #[test]
    fn intervals_in_periods() {
        assert_eq!(period(&[0, 5, 10]), Some(5));
        assert_eq!((period(&[0, 5, 11]), period(&[3, 3]), period(&[3])), (None, None, None));
        assert_eq!(in_positions(Ticks { low: 6, high: 14 }, 5), Some(Ticks { low: 2, high: 2 }));
        assert_eq!(in_positions(Ticks { low: 6, high: 9 }, 5), None);
        assert_eq!(in_positions(Ticks { low: 0, high: i64::MAX }, 5), Some(Ticks { low: 0, high: i64::MAX }));
    }
}
