//! Bounds of pending positions: the least and the greatest value that any continuation gives.

use super::Online;
use super::cell::{State, connect, flip};
use super::pending::Tail;
use crate::clock::Stamps;
use crate::lattice::{Way, max, min, negate};
use crate::plan::{Connective, Step};
use std::borrow::Cow;
use tw_core::Position;

/// The least and the greatest value of consecutive pending positions.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds<'b> {
    /// The first of them.
    pub first: Position,
    /// No continuation gives less.
    pub lower: Cow<'b, [f64]>,
    /// No continuation gives more.
    pub upper: Cow<'b, [f64]>,
}

pub(super) const ANYTHING: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

impl Online {
    /// The bounds of every pending position of formula `output` that has been seen.
    pub fn bounds(&self, output: usize) -> Bounds<'_> {
        let at = self.outputs[output];
        let cell = &self.cells[at];
        let first = cell.values.end();
        if let (State::Tracked(tracked), Step::Window { dual, .. } | Step::Until { dual, .. }) =
            (&cell.state, cell.step)
        {
            let (best, limit) = tracked.bounds();
            let (lower, upper) = if dual { (limit, best) } else { (best, limit) };
            return Bounds { first, lower: Cow::Borrowed(lower), upper: Cow::Borrowed(upper) };
        }
        let mut tails = self.tails(at, self.now(), &[], false);
        let Tail { lower, upper } = tails.swap_remove(at);
        Bounds { first, lower: Cow::Owned(lower), upper: Cow::Owned(upper) }
    }

    /// The bounds of the oldest pending position of formula `output`, if it has been seen. In O(1) for one future
    /// operator over settled operands, and for combinations of such.
    pub fn oldest(&mut self, output: usize) -> Option<(Position, f64, f64)> {
        let root = self.outputs[output];
        let p = self.cells[root].values.end();
        if p >= self.seen {
            return None;
        }
        if matches!(self.cells[root].step, Step::Window { .. } | Step::Until { .. })
            && let Some((lower, upper)) = self.front(root)
        {
            return Some((p, lower, upper));
        }
        let mut asked = vec![false; root + 1];
        asked[root] = true;
        for at in (0..=root).rev() {
            if asked[at]
                && self.cells[at].values.end() == p
                && matches!(self.cells[at].step, Step::Not(_) | Step::Connect(..))
            {
                self.cells[at].step.operands().for_each(|operand| asked[operand] = true);
            }
        }
        let mut known = vec![ANYTHING; root + 1];
        for at in (0..=root).filter(|&at| asked[at]) {
            known[at] = match self.cells[at].step {
                _ if self.cells[at].values.end() > p => {
                    let value = self.cells[at].values.get(p);
                    (value, value)
                }
                Step::Not(a) => (negate(known[a].1), negate(known[a].0)),
                Step::Connect(connective, a, b) => interval(connective, known[a], known[b]),
                _ => match self.front(at) {
                    Some(bounds) => bounds,
                    None => {
                        let bounds = self.bounds(output);
                        return Some((p, bounds.lower[0], bounds.upper[0]));
                    }
                },
            };
        }
        Some((p, known[root].0, known[root].1))
    }

    /// The bounds of a cell's oldest pending position, if its operands are settled up to now and its state tells.
    fn front(&mut self, at: usize) -> Option<(f64, f64)> {
        let (below, rest) = self.cells.split_at_mut(at);
        let cell = &mut rest[0];
        if cell.step.operands().any(|operand| below[operand].values.end() < self.seen) {
            return None;
        }
        let stamps = match self.index || self.times.values.is_empty() {
            true => Stamps::Index,
            false => Stamps::Times { base: self.times.base, times: &self.times.values },
        };
        let (i, seen) = (cell.values.end(), self.seen);
        let get = |id: usize, dual: bool, k: usize| flip(dual, below[id].values.get(k));
        let (dual, lower, upper) = match (cell.step, &mut cell.state) {
            (Step::Window { past: false, dual, .. } | Step::Until { dual, .. }, State::Tracked(tracked)) => {
                let (best, limit) = tracked.bounds();
                return Some(if dual { (limit[0], best[0]) } else { (best[0], limit[0]) });
            }
            (Step::Window { past: false, dual, ticks, body }, State::Window(reach, window)) => {
                let (from, to) = reach.at(stamps, seen, false, ticks, i);
                (dual, window.slide(from, to, |k| get(body, dual, k)), f64::INFINITY)
            }
            (Step::Until { dual, ticks, hold, goal, .. }, State::Until(reach, ways, held)) => {
                let (from, to) = reach.at(stamps, seen, false, ticks, i);
                let before =
                    if from > i { held.slide(i, from, |k| get(hold, dual, k)) } else { f64::INFINITY };
                let way = |k: usize| Way { hold: get(hold, dual, k), goal: get(goal, dual, k) };
                let inside = ways.slide(from, to, way);
                let lower = min(before, inside.goal);
                (dual, lower, max(lower, min(before, inside.hold)))
            }
            _ => return None,
        };
        Some(if dual { (negate(upper), negate(lower)) } else { (lower, upper) })
    }
}

/// Bounds of a connective, from those of its sides.
pub(super) fn interval(connective: Connective, a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    match connective {
        Connective::And | Connective::Or => (connect(connective, a.0, b.0), connect(connective, a.1, b.1)),
        Connective::Implies => (connect(connective, a.1, b.0), connect(connective, a.0, b.1)),
        // (a → b) ∧ (b → a), each side by itself.
        Connective::Iff => (
            min(max(negate(a.1), b.0), max(negate(b.1), a.0)),
            min(max(negate(a.0), b.1), max(negate(b.0), a.1)),
        ),
        Connective::Xor => {
            let (lower, upper) = interval(Connective::Iff, a, b);
            (negate(upper), negate(lower))
        }
    }
}
