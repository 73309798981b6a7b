//! Which predicate, at which sample, decides a value: the way down along the choices of min and max.

use crate::clock::{Reach, Stamps};
use crate::lattice::{max, min, negate};
use crate::online::cell::{connect, flip};
use crate::plan::{Connective, Step};
use crate::{Robust, Samples};
use tw_core::Position;
use tw_ir::{Clock, NodeId, Semantics, Ticks};
use tw_monitor::Unsupported;

/// What decides a value: no value of another predicate or sample changes it unless this one changes, or is overtaken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weakest {
    /// A predicate; or the formula that is constant, or whose window is empty.
    pub node: NodeId,
    /// Where it is worth that.
    pub position: Position,
    /// What it is worth there: the value explained, but for the sign.
    pub value: f64,
}

/// A formula on the way from a value to what decides it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// How many formulas stand above it.
    pub depth: usize,
    /// The formula.
    pub node: NodeId,
    /// Where it counts.
    pub position: Position,
    /// What it is worth there.
    pub value: f64,
    /// Whether the value above comes from here; otherwise it is the other side of a connective.
    pub decides: bool,
}

impl Robust {
    /// What decides the value of `node` at `position`; of several, the first. Computes every column below `node`.
    pub fn weakest(
        &self,
        samples: &Samples,
        node: NodeId,
        position: Position,
    ) -> Result<Weakest, Unsupported> {
        let mut last = (0, position, 0.0);
        let root = self.step(node)?;
        self.walk(samples, root, position, |walk, step, at| {
            last = (step, walk.start + at, walk.columns[step][at]);
            true
        })?;
        let (step, position, value) = last;
        // A step that stands for no formula is the unbounded part of one above it.
        let above = || self.plan.of.iter().filter(|(_, of)| **of >= step).min_by_key(|(_, of)| **of);
        let node = self.formula_of(step, None).or_else(|| above().map(|(node, _)| *node)).unwrap_or(node);
        Ok(Weakest { node, position, value })
    }

    /// The formulas from `node` at `position` down to the predicate that decides its value, each where it counts, and
    /// what stood beside them in connectives; no more than `limit`.
    pub fn chain(
        &self,
        samples: &Samples,
        node: NodeId,
        position: Position,
        limit: usize,
    ) -> Result<Vec<Link>, Unsupported> {
        let root = self.step(node)?;
        let mut links: Vec<Link> = Vec::new();
        let (mut above, mut depth) = (None, 0);
        self.walk(samples, root, position, |walk, step, at| {
            let link = |step: usize, depth: usize, above: Option<NodeId>, decides: bool| {
                let node = self.formula_of(step, above)?;
                let (position, value) = (walk.start + at, walk.columns[step][at]);
                Some(Link { depth, node, position, value, decides })
            };
            // Steps that stand for no formula are parts of the one above.
            let own = if depth == 0 { Some(node) } else { self.formula_of(step, above) };
            let Some(own) = own else { return links.len() < limit };
            if let Some(found) = link(step, depth, above, true) {
                links.push(Link { node: own, ..found });
            }
            (above, depth) = (Some(own), depth + 1);
            if let Step::Connect(_, a, b) = self.plan.steps[step] {
                let next = walk.down(self.plan.steps[step], step, at);
                let other = if next.is_some_and(|(below, _)| below == a) { b } else { a };
                links.extend(link(other, depth, above, false).filter(|_| a != b));
            }
            links.len() < limit
        })?;
        links.truncate(limit);
        Ok(links)
    }

    /// A formula that the step stands for, below `above` if one is.
    fn formula_of(&self, step: usize, above: Option<NodeId>) -> Option<NodeId> {
        let of = |node: &NodeId| self.plan.of.get(node) == Some(&step);
        let child = above.and_then(|above| self.program.dag.node(above).children().find(of));
        child.or_else(|| self.plan.of.keys().copied().filter(|node| of(node)).min())
    }

    /// Goes down from a step at a position, calling `visit` with each step and its place in the segment until it says
    /// that this is enough.
    fn walk(
        &self,
        samples: &Samples,
        root: usize,
        position: Position,
        mut visit: impl FnMut(&Walk<'_>, usize, usize) -> bool,
    ) -> Result<(), Unsupported> {
        let needed = self.plan.needed([root]);
        let wanted: Vec<usize> = (0..needed.len()).filter(|&step| needed[step]).collect();
        let computed = self.compute(samples, &wanted)?;
        if position >= samples.len {
            return Err(Unsupported {
                node: None,
                what: format!("position {position} of a trace of {} positions", samples.len),
                help: None,
                exhausted: false,
            });
        }
        let (start, end) = samples.segment_of(position);
        let mut columns: Vec<&[f64]> = vec![&[]; needed.len()];
        wanted.iter().zip(&computed).for_each(|(&step, column)| columns[step] = &column[start..end]);
        let stamps = match (&samples.times, self.options.clock) {
            (Some(times), Clock::Stamps) => Stamps::Times { base: 0, times: &times[start..end] },
            _ => Stamps::Index,
        };
        let repeat = self.options.semantics == Semantics::RepeatLast;
        let walk = Walk { columns, stamps, start, len: end - start, repeat };
        let mut next = Some((root, position - start));
        // Each step down goes to a smaller step.
        while let Some((step, at)) = next.filter(|&(step, at)| visit(&walk, step, at)) {
            next = walk.down(self.plan.steps[step], step, at);
        }
        Ok(())
    }
}

struct Walk<'w> {
    /// By step, within the segment.
    columns: Vec<&'w [f64]>,
    stamps: Stamps<'w>,
    /// Of the segment.
    start: Position,
    len: usize,
    repeat: bool,
}

impl Walk<'_> {
    /// The operand that a step's value comes from, and where; `None` if it comes from no operand.
    fn down(&self, step: Step, id: usize, i: usize) -> Option<(usize, usize)> {
        let value = self.columns[id][i];
        let at = |id: usize, k: usize| self.columns[id][k];
        match step {
            Step::Predicate(_) | Step::Bool(_) | Step::First | Step::Last => None,
            Step::Not(a) => Some((a, i)),
            Step::Connect(connective, a, b) => {
                let (left, right) = (at(a, i), at(b, i));
                debug_assert_eq!(connect(connective, left, right), value);
                let by_left = match connective {
                    Connective::And | Connective::Or => left == value,
                    Connective::Implies => negate(left) == value,
                    Connective::Iff | Connective::Xor => left.abs() == value.abs(),
                };
                Some((if by_left { a } else { b }, i))
            }
            Step::Neighbour { past, ticks, body, .. } => {
                let k = match past {
                    true => i.checked_sub(1),
                    false if i + 1 < self.len => Some(i + 1),
                    false => self.repeat.then_some(i),
                };
                let within = |k: &usize| {
                    ticks.is_none_or(|ticks| ticks.contains(self.stamps.distance(i.min(*k), i.max(*k))))
                };
                k.filter(within).map(|k| (body, k))
            }
            Step::Window { past, dual, ticks, body } => self.way(past, dual, ticks, None, body, i, value),
            Step::Until { past, dual, ticks, hold, goal } => {
                self.way(past, dual, ticks, Some(hold), goal, i, value)
            }
            Step::Scan { past, dual, hold, goal } => {
                self.way(past, dual, Ticks { low: 0, high: i64::MAX }, hold, goal, i, value)
            }
            Step::Shift { past, low, hold, inner, .. } => {
                // Only the nearest place counts: what is further is inside.
                let ticks = Ticks { low, high: i64::MAX };
                let (from, to) = Reach::default().at(self.stamps, self.len, past, ticks, i);
                let place = match past {
                    _ if from >= to => return None,
                    false => from,
                    true => to - 1,
                };
                if at(inner, place) == value {
                    return Some((inner, place));
                }
                let mut between = if past { place + 1..i + 1 } else { i..place };
                let hold = hold?;
                between.find(|&m| at(hold, m) == value).map(|m| (hold, m))
            }
        }
    }

    /// The place on the best way to the goal that is worth the value.
    #[allow(clippy::too_many_arguments)]
    fn way(
        &self,
        past: bool,
        dual: bool,
        ticks: Ticks,
        hold: Option<usize>,
        goal: usize,
        i: usize,
        value: f64,
    ) -> Option<(usize, usize)> {
        let get = |id: usize, k: usize| flip(dual, self.columns[id][k]);
        let value = flip(dual, value);
        let places: Box<dyn Iterator<Item = usize>> =
            if past { Box::new((0..=i).rev()) } else { Box::new(i..self.len) };
        // The place where least was held on the way so far.
        let mut least: Option<(usize, f64)> = None;
        let mut best: Option<(f64, (usize, usize))> = None;
        for k in places {
            let distance = self.stamps.distance(i.min(k), i.max(k));
            if distance > ticks.high {
                break;
            }
            if distance >= ticks.low {
                let reached = get(goal, k);
                let held = least.map_or(f64::INFINITY, |(_, held)| held);
                let worth = min(reached, held);
                let from = match (least, hold) {
                    (Some((m, held)), Some(hold)) if held < reached => (hold, m),
                    _ => (goal, k),
                };
                if best.is_none_or(|(best, _)| worth > best) {
                    best = Some((worth, from));
                }
                if worth == value {
                    break;
                }
            }
            if let Some(hold) = hold {
                let held = get(hold, k);
                if least.is_none_or(|(_, least)| held < least) {
                    least = Some((k, held));
                }
            }
        }
        debug_assert!(best.is_none_or(|(best, _)| max(best, value) == best));
        best.map(|(_, from)| from)
    }
}
