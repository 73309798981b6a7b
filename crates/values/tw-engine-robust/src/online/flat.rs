//! The common case by itself: one future operator over predicates.
//!
//! Where positions are counted, each sample settles one, from the first full window on. The queues and stacks are those
//! of the general case, which takes over whenever something else is asked for.

use super::Online;
use super::cell::{Now, State, flip};
use super::queue::Queue;
use super::settle::{finally, until};
use crate::clock::{Stamps, size};
use crate::lattice::{Way, min};
use crate::plan::Step;
use tw_ir::Ticks;

/// `F`, `G`, `U` or `R` over predicates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flat {
    cell: usize,
    /// The cells of the predicates; of `F` and `G` both are the same.
    hold: usize,
    goal: usize,
    low: usize,
    high: usize,
    ticks: Ticks,
    /// On timestamps.
    timed: bool,
    dual: bool,
}

impl Flat {
    /// If this is all that the stream computes.
    pub(super) fn of(online: &Online) -> Option<Flat> {
        let &[cell] = &online.busy[..] else { return None };
        let (ticks, dual, hold, goal) = match (online.cells[cell].step, &online.cells[cell].state) {
            (Step::Window { past: false, dual, ticks, body }, State::Window(..)) => (ticks, dual, body, body),
            (Step::Until { dual, ticks, hold, goal, .. }, State::Until(..)) => (ticks, dual, hold, goal),
            _ => return None,
        };
        let (low, high) = (size(ticks.low), size(ticks.high));
        Some(Flat { cell, hold, goal, low, high, ticks, timed: online.timed && !online.index, dual })
    }
}

impl Online {
    /// Settles the position that the newest sample completes.
    #[inline(always)]
    pub(super) fn advance_flat(&mut self, flat: Flat) {
        if flat.timed {
            return if flat.low == 0 { self.advance_near(flat) } else { self.advance_timed(flat) };
        }
        if self.seen <= flat.high {
            return;
        }
        let (below, rest) = self.cells.split_at_mut(flat.cell);
        let (cell, goal, dual) = (&mut rest[0], &below[flat.goal].values, flat.dual);
        let (i, to) = (self.seen - 1 - flat.high, self.seen);
        let from = i + flat.low;
        let worth = match &mut cell.state {
            State::Window(_, window) => window.slide(from, to, |k| flip(dual, goal.get(k))),
            State::Until(_, ways, held) => {
                let hold = &below[flat.hold].values;
                let way = |k: usize| Way { hold: flip(dual, hold.get(k)), goal: flip(dual, goal.get(k)) };
                let inside = ways.slide(from, to, way).goal;
                match flat.low > 0 {
                    true => min(inside, held.slide(i, from, |k| flip(dual, hold.get(k)))),
                    false => inside,
                }
            }
            _ => return,
        };
        debug_assert_eq!(cell.values.end(), i);
        cell.values.values.push(flip(dual, worth));
    }
    /// On timestamps, for an interval that begins at once. What is not settled yet reached all samples before the newest, which
    /// alone can be too late for it; so nobody has to look for the end of any reach.
    #[inline(always)]
    fn advance_near(&mut self, Flat { cell, hold, goal, ticks, dual, .. }: Flat) {
        let (newest, now) = (self.seen - 1, self.watermark);
        let (below, rest) = self.cells.split_at_mut(cell);
        let (hold, goal) = (&below[hold].values, &below[goal].values);
        let Queue { base, values } = &mut rest[0].values;
        let mut i = *base + values.len();
        let open = self.times.values.get(i - self.times.base..newest - self.times.base).unwrap_or_default();
        let mut over = open.iter().take_while(|&&time| now.saturating_sub(time) > ticks.high);
        match &mut rest[0].state {
            State::Window(_, window) => {
                while over.next().is_some() {
                    let worth = window.slide(i, newest, |k| flip(dual, goal.get(k)));
                    values.push(flip(dual, worth));
                    i += 1;
                }
            }
            State::Until(_, ways, _) => {
                let way = |k: usize| Way { hold: flip(dual, hold.get(k)), goal: flip(dual, goal.get(k)) };
                while over.next().is_some() {
                    let worth = ways.slide(i, newest, way).goal;
                    values.push(flip(dual, worth));
                    i += 1;
                }
            }
            _ => {}
        }
    }

    /// On timestamps a sample may settle several positions, or none. By itself, so that the other way stays short.
    #[inline(never)]
    fn advance_timed(&mut self, Flat { cell, hold, goal, ticks, dual, .. }: Flat) {
        let stamps = Stamps::Times { base: self.times.base, times: &self.times.values };
        let (watermark, seen, repeat) = (self.watermark, self.seen, self.repeat);
        let now = Now { stamps, watermark, seen, finished: false, repeat };
        let (below, rest) = self.cells.split_at_mut(cell);
        let (hold, goal) = (&below[hold].values, &below[goal].values);
        let values = &mut rest[0].values;
        match &mut rest[0].state {
            State::Window(reach, window) => finally(values, goal, dual, ticks, &now, reach, window),
            State::Until(reach, ways, held) => {
                until(values, (hold, goal), dual, ticks, &now, reach, (ways, held));
            }
            _ => {}
        }
    }
}
