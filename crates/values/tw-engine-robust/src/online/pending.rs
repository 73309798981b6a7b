//! What is not settled yet, computed from the settled part of the operands and from what their pending part is worth:
//! at least and at most.
//!
//! Of a future operator whose interval is still open, the best that unseen samples can do is bounded by what has to
//! hold on the way; the worst is that they do nothing.

use super::Online;
use super::bounds::{ANYTHING, interval};
use super::cell::{Cell, Now, State, connect, flip};
use crate::clock::{Reach, Stamps, period};
use crate::columns::Segment;
use crate::lattice::{Joined, Met, Monoid, Sinces, Untils, Up, Way, max, min, negate};
use crate::plan::Step;
use crate::signals::truth;
use crate::sliding::Sliding;
use tw_ir::Ticks;

/// The pending values of a cell: from the end of its queue on.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail {
    pub lower: Vec<f64>,
    /// Empty if nothing is uncertain: then the lower bounds are the values.
    pub upper: Vec<f64>,
}

impl Online {
    /// The pending values of every cell that `root` rests on, up to `now.seen`.
    pub(super) fn tails(&self, root: usize, now: Now<'_>, predicted: &[Vec<f64>], exact: bool) -> Vec<Tail> {
        let mut tails = vec![Tail::default(); self.cells.len()];
        let mut needed = vec![false; root + 1];
        needed[root] = true;
        for at in (0..=root).rev() {
            if needed[at] {
                self.cells[at].step.operands().for_each(|operand| needed[operand] = true);
            }
        }
        for at in (0..=root).filter(|&at| needed[at]) {
            let work = Work { cells: &self.cells, tails: &tails, now };
            tails[at] = match self.predicates.iter().position(|&(_, cell)| cell == at) {
                Some(predicate) => {
                    let lower = predicted.get(predicate).cloned().unwrap_or_default();
                    Tail { upper: if exact { Vec::new() } else { lower.clone() }, lower }
                }
                None => work.tail(&self.cells[at], exact),
            };
        }
        tails
    }
}

/// The pending part of one cell, computed from those below it.
struct Work<'w> {
    cells: &'w [Cell],
    tails: &'w [Tail],
    now: Now<'w>,
}

impl Work<'_> {
    /// One side of an operand, as a dual sees it.
    #[inline(always)]
    fn side(&self, id: usize, k: usize, dual: bool, upper: bool) -> f64 {
        let values = &self.cells[id].values;
        let end = values.end();
        if k < end {
            return flip(dual, values.get(k));
        }
        let tail = &self.tails[id];
        let column = if upper != dual && !tail.upper.is_empty() { &tail.upper } else { &tail.lower };
        flip(dual, column[k - end])
    }

    fn tail(&self, cell: &Cell, exact: bool) -> Tail {
        let now = self.now;
        let next = cell.values.end();
        let dual = match cell.step {
            Step::Neighbour { dual, .. }
            | Step::Window { dual, .. }
            | Step::Until { dual, .. }
            | Step::Scan { dual, .. }
            | Step::Shift { dual, .. } => dual,
            _ => false,
        };
        let both = |id: usize, k: usize| match exact {
            // Nothing is uncertain: one side is both.
            true => (self.side(id, k, false, false), 0.0),
            false => (self.side(id, k, false, false), self.side(id, k, false, true)),
        };
        let certain = |value: f64| (value, value);
        let one: Box<dyn Fn(usize) -> (f64, f64)> = match cell.step {
            Step::Predicate(_) => return Tail::default(),
            Step::Bool(holds) => Box::new(move |_| certain(truth(holds))),
            Step::First => Box::new(|i| certain(truth(i == 0))),
            Step::Last if now.finished => Box::new(|i| certain(truth(i + 1 == now.seen))),
            Step::Last => Box::new(|_| ANYTHING),
            Step::Not(a) if exact => Box::new(move |i| certain(negate(both(a, i).0))),
            Step::Not(a) => Box::new(move |i| {
                let (lower, upper) = both(a, i);
                (negate(upper), negate(lower))
            }),
            Step::Connect(connective, a, b) if exact => {
                let (left, right) =
                    (self.operand(a, next, false, false), self.operand(b, next, false, false));
                let sides = left.iter().zip(&right);
                let lower = sides.map(|(&left, &right)| connect(connective, left, right)).collect();
                return Tail { lower, upper: Vec::new() };
            }
            Step::Connect(connective, a, b) => {
                Box::new(move |i| interval(connective, both(a, i), both(b, i)))
            }
            Step::Neighbour { past, ticks, body, .. } => Box::new(move |i: usize| {
                let k = match past {
                    true => i.checked_sub(1),
                    false if i + 1 < now.seen => Some(i + 1),
                    false if !now.finished => return ANYTHING,
                    false => now.repeat.then_some(i),
                };
                let within =
                    |k: &usize| ticks.is_none_or(|t| t.contains(now.stamps.distance(i.min(*k), i.max(*k))));
                k.filter(within).map_or(certain(flip(dual, f64::NEG_INFINITY)), |k| both(body, k))
            }),
            _ => return self.temporal(cell, dual, exact),
        };
        let pairs = (next..now.seen).map(one);
        match exact {
            true => Tail { lower: pairs.map(|pair| pair.0).collect(), upper: Vec::new() },
            false => {
                let (lower, upper) = pairs.unzip();
                Tail { lower, upper }
            }
        }
    }

    fn temporal(&self, cell: &Cell, dual: bool, exact: bool) -> Tail {
        let worst = self.column(cell, dual, false);
        let best = if exact { Vec::new() } else { self.column(cell, dual, true) };
        let (lower, upper) = if dual && !exact { (best, worst) } else { (worst, best) };
        let turned = |mut column: Vec<f64>| {
            column.iter_mut().for_each(|value| *value = flip(dual, *value));
            column
        };
        Tail { lower: turned(lower), upper: turned(upper) }
    }

    /// One side of an operand from `next` on, as a dual sees it.
    fn operand(&self, id: usize, next: usize, dual: bool, upper: bool) -> Vec<f64> {
        (next..self.now.seen).map(|k| self.side(id, k, dual, upper)).collect()
    }

    /// The positions from `next` on, as a trace by themselves: a future operator looks at no other.
    fn ahead(&self, next: usize) -> Segment<'_> {
        let (stamps, period) = match self.now.stamps {
            Stamps::Index => (Stamps::Index, None),
            Stamps::Times { base, times } => {
                let times = &times[next - base..];
                (Stamps::Times { base: 0, times }, period(times))
            }
        };
        Segment { stamps, period, repeat: self.now.repeat }
    }

    /// One side of a temporal operator's pending values, as a dual sees them.
    fn column(&self, cell: &Cell, dual: bool, upper: bool) -> Vec<f64> {
        let now = self.now;
        let next = cell.values.end();
        let get = |id: usize, k: usize| self.side(id, k, dual, upper);
        let range = next..now.seen;
        match (cell.step, &cell.state) {
            (Step::Window { past: true, ticks, body, .. }, state) => {
                self.sweep::<Joined<Up>>(ticks, reach(state), next, |k| get(body, k))
            }
            (Step::Window { past: false, ticks, body, .. }, _) => {
                let body = self.operand(body, next, dual, upper);
                let mut column = vec![f64::NEG_INFINITY; body.len()];
                let emit = |i: usize, worth: f64| column[i] = worth;
                self.ahead(next).sweep::<Joined<Up>>(false, ticks, |k| body[k], emit, body.len());
                for (i, value) in range.zip(&mut column) {
                    if upper && !now.passed(i, ticks.high) {
                        *value = f64::INFINITY;
                    }
                }
                column
            }
            (Step::Until { past: true, ticks, hold, goal, .. }, state) => {
                let way = |k: usize| Way { hold: get(hold, k), goal: get(goal, k) };
                let ways = self.sweep::<Sinces<Up>>(ticks, reach(state), next, way);
                let mut column: Vec<f64> = ways.into_iter().map(|way| way.goal).collect();
                if ticks.low > 0 {
                    let held = self.on_the_way(ticks.low, next, |k| get(hold, k));
                    column.iter_mut().zip(held).for_each(|(value, held)| *value = min(*value, held));
                }
                column
            }
            (Step::Until { past: false, ticks, hold, goal, .. }, _) => {
                let hold = self.operand(hold, next, dual, upper);
                let goal = self.operand(goal, next, dual, upper);
                let mut column = vec![f64::NEG_INFINITY; hold.len()];
                self.ahead(next).until::<Up, Untils<Up>>(false, ticks, &hold, &goal, &mut column);
                if upper {
                    let mut held = f64::INFINITY;
                    for ((i, value), hold) in range.zip(&mut column).zip(hold).rev() {
                        held = min(held, hold);
                        if !now.passed(i, ticks.high) {
                            *value = max(*value, held);
                        }
                    }
                }
                column
            }
            (Step::Scan { hold, goal, .. }, State::Scan(worth)) => {
                let mut worth = *worth;
                let one = |i: usize| {
                    let held = hold.map_or(f64::INFINITY, |hold| get(hold, i));
                    worth = max(get(goal, i), min(held, worth));
                    worth
                };
                range.map(one).collect()
            }
            (Step::Shift { low, hold, inner, .. }, state) => {
                let far = Ticks { low, high: i64::MAX };
                let mut reach = reach(state);
                let mut column: Vec<f64> = range
                    .map(|i| match reach.at(now.stamps, now.seen, true, far, i).1 {
                        0 => f64::NEG_INFINITY,
                        to => get(inner, to - 1),
                    })
                    .collect();
                if let Some(hold) = hold {
                    let held = self.on_the_way(low, next, |k| get(hold, k));
                    column.iter_mut().zip(held).for_each(|(value, held)| *value = min(*value, held));
                }
                column
            }
            _ => Vec::new(),
        }
    }

    /// What the interval reaches in the past is worth, from each pending position.
    fn sweep<M: Monoid>(
        &self,
        ticks: Ticks,
        mut reach: Reach,
        next: usize,
        item: impl Fn(usize) -> M::Item,
    ) -> Vec<M::Item> {
        let now = self.now;
        let mut sliding: Option<Sliding<M>> = None;
        let one = |i: usize| {
            let (from, to) = reach.at(now.stamps, now.seen, true, ticks, i);
            sliding.get_or_insert_with(|| Sliding::new(from)).slide(from, to, &item)
        };
        (next..now.seen).map(one).collect()
    }

    /// The meet of what has to hold nearer than `low` in the past.
    fn on_the_way(&self, low: i64, next: usize, hold: impl Fn(usize) -> f64) -> Vec<f64> {
        let start = match self.now.stamps {
            // The first position kept is far enough back.
            Stamps::Times { base, .. } => Reach::starting(base),
            Stamps::Index => Reach::default(),
        };
        self.sweep::<Met<Up>>(Ticks { low: 0, high: low - 1 }, start, next, hold)
    }
}

/// Where a cell's interval reaches from its next position.
fn reach(state: &State) -> Reach {
    match state {
        State::Window(reach, _)
        | State::Until(reach, ..)
        | State::Since(reach, ..)
        | State::Shift(reach, _) => *reach,
        _ => Reach::default(),
    }
}
