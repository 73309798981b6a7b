//! The definition: each formula at each position, by walking over the positions that its definition names.
//!
//! It is the definition of truth with min for `and`, max for `or` and minus for `not`. O(m·n²) for m formulas and n
//! positions.

use crate::lattice::{max, min, negate};
use crate::plan::{is_predicate, ticks};
use crate::signals::truth;
use crate::{Robust, Samples};
use tw_core::Position;
use tw_ir::{Applied, Clock, Node, NodeId, Semantics, Ticks, Way};
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

    fn temporal(&self, operator: Applied, repeat: bool, value: impl Fn(NodeId, Position) -> f64) -> f64 {
        let i = self.at;
        let Some(Way { dual, hold, goal: (goal, beside) }) = operator.way() else {
            let next = match operator.past {
                true => (i > self.start).then(|| i - 1),
                false if i + 1 < self.end => Some(i + 1),
                false => repeat.then_some(i),
            };
            return next
                .filter(|&k| self.within(k))
                .map_or(truth(operator.weak), |k| value(operator.right, k));
        };
        let turned = |x: f64| if dual { negate(x) } else { x };
        let at = |id: NodeId, k| turned(value(id, k));
        let hold = |k| hold.map_or(f64::INFINITY, |hold| at(hold, k));
        let goal = |k| beside.map_or(at(goal, k), |beside| min(at(goal, k), at(beside, k)));
        turned(match operator.past {
            true => self.until((self.start..=i).rev(), hold, goal),
            false => self.until(i..self.end, hold, goal),
        })
    }

    fn value(&self, node: Node, repeat: bool, value: impl Fn(NodeId, Position) -> f64) -> f64 {
        let i = self.at;
        if let Some(operator) = node.temporal() {
            return self.temporal(operator, repeat, value);
        }
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
