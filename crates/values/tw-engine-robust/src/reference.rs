//! The definition: each formula at each position, by walking over the positions that its definition names.
//!
//! It is the definition of truth with min for `and`, max for `or` and minus for `not`. O(m·n²) for m formulas and n
//! positions.

use crate::lattice::{max, min, negate};
use crate::plan::{is_predicate, ticks};
use crate::signals::truth;
use crate::{Robust, Samples};
use tw_core::Position;
use tw_ir::{Clock, Node, NodeId, Semantics, Ticks};
use tw_monitor::Unsupported;

/// A position in its segment `start..end`, and the interval of the operator there.
struct Places<'s> {
    samples: &'s Samples<'s>,
    ticks: Option<Ticks>,
    index: bool,
    start: Position,
    end: Position,
    at: Position,
}

impl Places<'_> {
    fn distance(&self, k: Position) -> i64 {
        let (early, late) = (self.at.min(k), self.at.max(k));
        match &self.samples.times {
            Some(times) if !self.index => times[late].saturating_sub(times[early]),
            _ => (late - early) as i64,
        }
    }

    fn within(&self, k: Position) -> bool {
        self.ticks.is_none_or(|ticks| ticks.contains(self.distance(k)))
    }

    /// The greatest, over the places k in the interval, of the goal at k and `hold` at every place before it.
    fn until(
        &self,
        places: impl Iterator<Item = Position>,
        hold: impl Fn(Position) -> f64,
        goal: impl Fn(Position) -> f64,
    ) -> f64 {
        let (mut best, mut held) = (f64::NEG_INFINITY, f64::INFINITY);
        for k in places {
            if self.within(k) {
                best = max(best, min(goal(k), held));
            } else if self.ticks.is_some_and(|ticks| self.distance(k) > ticks.high) {
                break;
            }
            held = min(held, hold(k));
        }
        best
    }

    fn release(
        &self,
        places: impl Iterator<Item = Position>,
        release: impl Fn(Position) -> f64,
        hold: impl Fn(Position) -> f64,
    ) -> f64 {
        negate(self.until(places, |k| negate(release(k)), |k| negate(hold(k))))
    }

    fn value(&self, node: Node, repeat: bool, value: impl Fn(NodeId, Position) -> f64) -> f64 {
        let i = self.at;
        let future = || i..self.end;
        let past = || (self.start..=i).rev();
        let next = if i + 1 < self.end { Some(i + 1) } else { repeat.then_some(i) };
        let previous = if i > self.start { Some(i - 1) } else { None };
        let reached = |k: Option<Position>| k.filter(|&k| self.within(k));
        let (always, never) = (f64::INFINITY, f64::NEG_INFINITY);
        match node {
            Node::Bool(holds) => truth(holds),
            Node::First => truth(i == self.start),
            Node::Last => truth(i + 1 == self.end),
            Node::Not(a) => negate(value(a, i)),
            Node::And(a, b) => min(value(a, i), value(b, i)),
            Node::Or(a, b) => max(value(a, i), value(b, i)),
            Node::Implies(a, b) => max(negate(value(a, i)), value(b, i)),
            // (a → b) ∧ (b → a), and its negation.
            Node::Iff(a, b) => {
                min(max(negate(value(a, i)), value(b, i)), max(negate(value(b, i)), value(a, i)))
            }
            Node::Xor(a, b) => {
                max(min(value(a, i), negate(value(b, i))), min(value(b, i), negate(value(a, i))))
            }

            Node::Next(_, a) => reached(next).map_or(never, |k| value(a, k)),
            Node::WeakNext(_, a) => reached(next).map_or(always, |k| value(a, k)),
            Node::Finally(_, a) => self.until(future(), |_| always, |k| value(a, k)),
            Node::Globally(_, a) => self.release(future(), |_| never, |k| value(a, k)),
            Node::Until(_, a, b) => self.until(future(), |k| value(a, k), |k| value(b, k)),
            Node::Release(_, a, b) => self.release(future(), |k| value(a, k), |k| value(b, k)),
            Node::WeakUntil(_, a, b) => {
                self.release(future(), |k| value(b, k), |k| max(value(a, k), value(b, k)))
            }
            Node::StrongRelease(_, a, b) => {
                self.until(future(), |k| value(b, k), |k| min(value(a, k), value(b, k)))
            }

            Node::Previous(_, a) => reached(previous).map_or(never, |k| value(a, k)),
            Node::WeakPrevious(_, a) => reached(previous).map_or(always, |k| value(a, k)),
            Node::Once(_, a) => self.until(past(), |_| always, |k| value(a, k)),
            Node::Historically(_, a) => self.release(past(), |_| never, |k| value(a, k)),
            Node::Since(_, a, b) => self.until(past(), |k| value(a, k), |k| value(b, k)),
            Node::Trigger(_, a, b) => self.release(past(), |k| value(a, k), |k| value(b, k)),
            Node::BackTo(_, a, b) => self.release(past(), |k| value(b, k), |k| max(value(a, k), value(b, k))),
            // Predicates are computed elsewhere, the rest was refused.
            _ => f64::NEG_INFINITY,
        }
    }
}

impl Robust {
    /// The robustness of the given formulas at every position, by the definition: quadratic, for tests.
    pub fn reference(&self, samples: &Samples, nodes: &[NodeId]) -> Result<Vec<Vec<f64>>, Unsupported> {
        self.check(samples)?;
        let dag = &self.program.dag;
        let mut values: Vec<Vec<f64>> = vec![Vec::new(); dag.len()];
        let mut formulas: Vec<NodeId> = self.plan.of.keys().copied().collect();
        formulas.sort_unstable();
        let repeat = self.options.semantics == Semantics::RepeatLast;
        for id in formulas {
            let node = dag.node(id);
            values[id.index()] = if is_predicate(node) {
                let place = self.plan.predicates.binary_search(&id).unwrap_or_default();
                samples.predicates[place].clone()
            } else {
                let ticks = node.interval().map(|_| ticks(id, node, &self.options)).transpose()?;
                let index = self.options.clock == Clock::Index;
                let mut column = Vec::with_capacity(samples.len);
                for (start, end) in samples.segments() {
                    for at in start..end {
                        let places = Places { samples, ticks, index, start, end, at };
                        column.push(places.value(node, repeat, |part, k| values[part.index()][k]));
                    }
                }
                column
            };
        }
        nodes.iter().map(|&node| self.step(node).map(|_| values[node.index()].clone())).collect()
    }
}
