//! Future operators over bounded intervals: which positions are settled, and what they are worth.

use super::cell::{Now, flip};
use super::queue::Queue;
use super::tracked::Tracked;
use crate::clock::{Reach, Stamps, size};
use crate::lattice::{Down, Joined, Met, Untils, Up, Way, min};
use crate::sliding::Sliding;
use tw_ir::Ticks;

/// The interval in positions, if positions are counted and more of them may follow: all that it reaches has then been
/// seen when it is settled.
#[inline(always)]
fn counted(now: &Now<'_>, ticks: Ticks) -> Option<(usize, usize)> {
    let counted = matches!(now.stamps, Stamps::Index) && !now.finished;
    counted.then_some((size(ticks.low), size(ticks.high)))
}

/// What the interval of position i reaches, if nothing more can come into its reach; `known` is how far the operands are
/// settled.
#[inline(always)]
fn settled(i: usize, now: &Now<'_>, ticks: Ticks, known: usize, reach: &mut Reach) -> Option<(usize, usize)> {
    if i >= now.seen || !now.passed(i, ticks.high) {
        return None;
    }
    let (from, to) = reach.at(now.stamps, now.seen, false, ticks, i);
    // Where nothing is in reach, operands need not be there yet.
    (from >= to || to <= known).then_some((from, to))
}

/// `F`, or `G` upside down.
pub(super) fn finally(
    values: &mut Queue<f64>,
    body: &Queue<f64>,
    dual: bool,
    ticks: Ticks,
    now: &Now<'_>,
    reach: &mut Reach,
    window: &mut Sliding<Joined<Up>>,
) {
    let mut i = values.end();
    if let Some((low, high)) = counted(now, ticks) {
        while high < body.end() && i < body.end() - high {
            let worth = window.slide(i + low, i + high + 1, |k| flip(dual, body.get(k)));
            values.values.push(flip(dual, worth));
            i += 1;
        }
        return;
    }
    while let Some((from, to)) = settled(i, now, ticks, body.end(), reach) {
        let worth = match from < to {
            true => window.slide(from, to, |k| flip(dual, body.get(k))),
            false => f64::NEG_INFINITY,
        };
        values.values.push(flip(dual, worth));
        i += 1;
    }
}

/// `U`, or `R` upside down: what is reached, and what has to hold nearer than that.
pub(super) fn until(
    values: &mut Queue<f64>,
    (hold, goal): (&Queue<f64>, &Queue<f64>),
    dual: bool,
    ticks: Ticks,
    now: &Now<'_>,
    reach: &mut Reach,
    (ways, held): (&mut Sliding<Untils<Up>>, &mut Sliding<Met<Up>>),
) {
    let known = hold.end().min(goal.end());
    let mut i = values.end();
    let mut one = |i: usize, from: usize, to: usize| {
        let way = |k: usize| Way { hold: flip(dual, hold.get(k)), goal: flip(dual, goal.get(k)) };
        let worth = match from < to {
            false => f64::NEG_INFINITY,
            true if from > i => {
                let before = held.slide(i, from, |k| flip(dual, hold.get(k)));
                min(before, ways.slide(from, to, way).goal)
            }
            true => ways.slide(from, to, way).goal,
        };
        values.values.push(flip(dual, worth));
    };
    if let Some((low, high)) = counted(now, ticks) {
        while high < known && i < known - high {
            one(i, i + low, i + high + 1);
            i += 1;
        }
        return;
    }
    while let Some((from, to)) = settled(i, now, ticks, known, reach) {
        one(i, from, to);
        i += 1;
    }
}

/// Brings the bounds up to date, settling what is out of reach.
pub(super) fn follow(
    values: &mut Queue<f64>,
    tracked: &mut Tracked,
    dual: bool,
    ticks: Ticks,
    now: &Now<'_>,
    sample: impl Fn(usize) -> (f64, f64),
) {
    for n in values.end() + tracked.len()..now.seen {
        while tracked.len() > 0 && now.stamps.distance(values.end(), n) > ticks.high {
            values.values.push(tracked.settle());
        }
        let (hold, goal) = sample(n);
        match dual {
            false => tracked.push::<Up>(n, hold, goal, now.stamps),
            true => tracked.push::<Down>(n, hold, goal, now.stamps),
        }
    }
    while tracked.len() > 0 && now.passed(values.end(), ticks.high) {
        values.values.push(tracked.settle());
    }
}
