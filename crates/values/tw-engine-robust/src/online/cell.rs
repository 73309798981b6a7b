//! One operator on a stream: what it keeps, and how it settles positions.

use super::queue::Queue;
use super::settle::{finally, follow, until};
use super::tracked::Tracked;
use crate::clock::{Reach, Stamps, size};
use crate::columns::iff;
use crate::lattice::{Joined, Met, Sinces, Untils, Up, Way, max, min, negate};
use crate::plan::{Connective, Step};
use crate::signals::truth;
use crate::sliding::Sliding;
use tw_core::Time;
use tw_ir::Ticks;

/// An operator on a stream. Duals are computed upside down: with the signs of operands and result changed.
#[derive(Clone)]
pub(crate) struct Cell {
    pub step: Step,
    /// What is settled.
    pub values: Queue<f64>,
    pub state: State,
}

/// What an operator knows beside its queue.
#[derive(Clone)]
pub(crate) enum State {
    Nothing,
    Window(Reach, Sliding<Joined<Up>>),
    Until(Reach, Sliding<Untils<Up>>, Sliding<Met<Up>>),
    Since(Reach, Sliding<Sinces<Up>>, Sliding<Met<Up>>),
    Scan(f64),
    Shift(Reach, Sliding<Met<Up>>),
    Tracked(Tracked),
}

/// The operand's value, upside down for duals.
#[inline(always)]
pub(crate) fn flip(dual: bool, value: f64) -> f64 {
    if dual { negate(value) } else { value }
}

/// What is known of time.
#[derive(Clone, Copy)]
pub(crate) struct Now<'t> {
    pub stamps: Stamps<'t>,
    pub watermark: Time,
    pub seen: usize,
    /// No more samples will come.
    pub finished: bool,
    pub repeat: bool,
}

impl Now<'_> {
    /// Whether no later sample can lie within `high` of position i.
    #[inline]
    pub(crate) fn passed(&self, i: usize, high: i64) -> bool {
        self.finished
            || match self.stamps {
                Stamps::Index => self.seen > i.saturating_add(size(high)),
                Stamps::Times { base, times } => self.watermark.saturating_sub(times[i - base]) > high,
            }
    }
}

pub(super) fn state(step: Step) -> State {
    let reach = Reach::default();
    match step {
        Step::Window { .. } => State::Window(reach, Sliding::new(0)),
        Step::Until { past: false, .. } => State::Until(reach, Sliding::new(0), Sliding::new(0)),
        Step::Until { past: true, .. } => State::Since(reach, Sliding::new(0), Sliding::new(0)),
        Step::Scan { .. } => State::Scan(f64::NEG_INFINITY),
        Step::Shift { .. } => State::Shift(reach, Sliding::new(0)),
        _ => State::Nothing,
    }
}

impl Cell {
    /// The first position of operands (and timestamps) that will be read again.
    pub(super) fn keeps(&self, now: &Now<'_>) -> usize {
        let next = self.values.end();
        match (self.step, &self.state) {
            (Step::Neighbour { past: true, .. }, _) => next.saturating_sub(1),
            (Step::Window { past, ticks, .. }, State::Window(reach, _)) => {
                reach.keeps(now.stamps, past, ticks, next)
            }
            (Step::Until { past, ticks, .. }, State::Since(reach, ..)) => {
                reach.keeps(now.stamps, past, ticks, next)
            }
            (Step::Shift { past, low, .. }, State::Shift(reach, _)) => {
                reach.keeps(now.stamps, past, Ticks { low, high: i64::MAX }, next)
            }
            _ => next,
        }
    }

    /// Settles what can be settled.
    #[inline]
    pub(super) fn advance(&mut self, below: &[Cell], now: &Now<'_>) {
        let Cell { step, values, state } = self;
        match (*step, state) {
            (Step::Window { past: false, dual, ticks, body }, State::Window(reach, window)) => {
                finally(values, &below[body].values, dual, ticks, now, reach, window);
            }
            (Step::Until { dual, ticks, hold, goal, .. }, State::Until(reach, ways, held)) => {
                let (hold, goal) = (&below[hold].values, &below[goal].values);
                until(values, (hold, goal), dual, ticks, now, reach, (ways, held));
            }
            _ => self.advance_others(below, now),
        }
    }

    fn advance_others(&mut self, below: &[Cell], now: &Now<'_>) {
        let Cell { step, values, state } = self;
        let ends = |id: usize| below[id].values.end();
        let get = |id: usize, k: usize| below[id].values.get(k);
        let next = values.end();
        match (*step, state) {
            (Step::Predicate(_), _) => {}
            (Step::Bool(holds), _) => values.values.extend((next..now.seen).map(|_| truth(holds))),
            (Step::First, _) => values.values.extend((next..now.seen).map(|i| truth(i == 0))),
            (Step::Last, _) => {
                let to = if now.finished { now.seen } else { now.seen.saturating_sub(1) };
                values.values.extend((next..to).map(|i| truth(i + 1 == now.seen)));
            }
            (Step::Not(a), _) => values.values.extend((next..ends(a)).map(|i| negate(get(a, i)))),
            (Step::Connect(connective, a, b), _) => {
                let to = ends(a).min(ends(b));
                values.values.extend((next..to).map(|i| connect(connective, get(a, i), get(b, i))));
            }
            (Step::Neighbour { past, dual, ticks, body }, _) => {
                let nothing = flip(dual, f64::NEG_INFINITY);
                let within = |distance: i64| ticks.is_none_or(|ticks| ticks.contains(distance));
                for i in next..now.seen {
                    let k = match past {
                        true if i > 0 => Some(i - 1),
                        true => None,
                        false if i + 1 < now.seen => Some(i + 1),
                        false if !now.finished => break,
                        false => now.repeat.then_some(i),
                    };
                    if k.is_some_and(|k| k >= ends(body)) {
                        break;
                    }
                    let k = k.filter(|&k| within(now.stamps.distance(i.min(k), i.max(k))));
                    values.values.push(k.map_or(nothing, |k| get(body, k)));
                }
            }
            (Step::Window { past: true, dual, ticks, body }, State::Window(reach, window)) => {
                let body = &below[body].values;
                for i in next..now.seen {
                    let (from, to) = reach.at(now.stamps, now.seen, true, ticks, i);
                    // Where nothing is in reach, operands need not be there yet.
                    if from < to && to > body.end() {
                        break;
                    }
                    let worth = match from < to {
                        true => window.slide(from, to, |k| flip(dual, body.get(k))),
                        false => f64::NEG_INFINITY,
                    };
                    values.values.push(flip(dual, worth));
                }
            }
            (Step::Until { dual, ticks, hold, goal, .. }, State::Since(reach, ways, held)) => {
                for i in next..now.seen.min(ends(hold)).min(ends(goal)) {
                    let (from, to) = reach.at(now.stamps, now.seen, true, ticks, i);
                    let way =
                        |k: usize| Way { hold: flip(dual, get(hold, k)), goal: flip(dual, get(goal, k)) };
                    let inside = ways.slide(from, to, way).goal;
                    let worth = match to <= i {
                        true => min(held.slide(to, i + 1, |k| flip(dual, get(hold, k))), inside),
                        false => inside,
                    };
                    values.values.push(flip(dual, worth));
                }
            }
            (Step::Scan { dual, hold, goal, .. }, State::Scan(worth)) => {
                for i in next..ends(goal).min(hold.map_or(usize::MAX, ends)) {
                    let held = hold.map_or(f64::INFINITY, |hold| flip(dual, get(hold, i)));
                    *worth = max(flip(dual, get(goal, i)), min(held, *worth));
                    values.values.push(flip(dual, *worth));
                }
            }
            (Step::Shift { dual, low, hold, inner, .. }, State::Shift(reach, held)) => {
                let ticks = Ticks { low, high: i64::MAX };
                for i in next..now.seen.min(hold.map_or(usize::MAX, ends)) {
                    let (_, to) = reach.at(now.stamps, now.seen, true, ticks, i);
                    if to > ends(inner) {
                        break;
                    }
                    let there = if to > 0 { flip(dual, get(inner, to - 1)) } else { f64::NEG_INFINITY };
                    let after = hold
                        .map_or(f64::INFINITY, |hold| held.slide(to, i + 1, |k| flip(dual, get(hold, k))));
                    values.values.push(flip(dual, min(there, after)));
                }
            }
            (Step::Window { dual, body, ticks, .. }, State::Tracked(tracked)) => {
                let top = flip(dual, f64::INFINITY);
                follow(values, tracked, dual, ticks, now, |k| (top, get(body, k)));
            }
            (Step::Until { dual, hold, goal, ticks, .. }, State::Tracked(tracked)) => {
                follow(values, tracked, dual, ticks, now, |k| (get(hold, k), get(goal, k)));
            }
            _ => {}
        }
    }

    /// Heap bytes.
    pub(super) fn bytes(&self) -> usize {
        let state = match &self.state {
            State::Window(_, window) => window.bytes(),
            State::Until(_, ways, held) => ways.bytes() + held.bytes(),
            State::Since(_, ways, held) => ways.bytes() + held.bytes(),
            State::Shift(_, held) => held.bytes(),
            State::Tracked(tracked) => tracked.bytes(),
            State::Nothing | State::Scan(_) => 0,
        };
        state + self.values.values.capacity() * size_of::<f64>()
    }
}

#[inline(always)]
pub(crate) fn connect(connective: Connective, a: f64, b: f64) -> f64 {
    match connective {
        Connective::And => min(a, b),
        Connective::Or => max(a, b),
        Connective::Implies => max(negate(a), b),
        Connective::Iff => iff(a, b),
        Connective::Xor => negate(iff(a, b)),
    }
}
