//! Until with bounds: one step of the chain per transition, backwards from the last that counts.

use super::chain::Chain;
use super::number::Number;
use super::{Chance, Found, Method, chances_of, mean};
use tw_core::Bits;
use tw_ir::Ticks;
use tw_model::State;
use tw_monitor::Unsupported;

/// Transitions that may be looked at in all.
const LOOKED_AT: u64 = 5_000_000_000;
/// The same in fractions.
const FRACTIONS: u64 = 300_000;

/// The chances of `left U[low,high] right`.
pub(super) fn bounded(chain: &Chain, left: &Bits, right: &Bits, ticks: Ticks) -> Result<Found, Unsupported> {
    let (unbounded, exact, mut method) = if ticks.high == i64::MAX {
        super::until::until(chain, left, right)
    } else {
        (chances_of(right), Some(chances_of(right)), Method::Steps)
    };
    if method != Method::Iteration {
        method = Method::Steps;
    }
    let steps = Steps { chain, left, right, ticks };
    let chances = steps.run(unbounded, LOOKED_AT).ok_or_else(|| {
        Unsupported::budget("more than 5,000,000,000 steps along transitions").help("take smaller bounds")
    })?;
    Ok((chances, exact.and_then(|exact| steps.run(exact, FRACTIONS)), method))
}

struct Steps<'a> {
    chain: &'a Chain<'a>,
    left: &'a Bits,
    right: &'a Bits,
    ticks: Ticks,
}

impl Steps<'_> {
    /// From the chances at the upper bound to those at the beginning; `None` if that takes more than `budget`.
    fn run<N: Number>(&self, mut chances: Vec<Chance<N>>, mut budget: u64) -> Option<Vec<Chance<N>>> {
        // Between the bounds the goal counts; before them only the way to it.
        let within = if self.ticks.high == i64::MAX { 0 } else { self.ticks.high - self.ticks.low };
        let mut next = chances.clone();
        for (steps, goal) in [(within, true), (self.ticks.low, false)] {
            // What comes again comes for ever (Brent's search for a period, from steps that are powers of two). So a
            // chain that settles, or goes round, is followed no further.
            let mut mark = chances.clone();
            let (mut left, mut since, mut until_mark) = (steps, 0, 1);
            while left > 0 {
                budget = budget.checked_sub((self.chain.graph.edges() + self.chain.states()) as u64)?;
                self.step(&chances, &mut next, goal);
                std::mem::swap(&mut chances, &mut next);
                (left, since) = (left - 1, since + 1);
                if chances == mark {
                    left %= since;
                } else if since == until_mark {
                    mark.clone_from(&chances);
                    (since, until_mark) = (0, 2 * until_mark);
                }
            }
        }
        Some(chances)
    }

    fn step<N: Number>(&self, from: &[Chance<N>], to: &mut [Chance<N>], goal: bool) {
        for (state, to) in to.iter_mut().enumerate() {
            *to = if goal && self.right.get(state) {
                Chance::CERTAIN
            } else if !self.left.get(state) {
                Chance::IMPOSSIBLE
            } else {
                let row = self.chain.row(state as State);
                mean(row.map(|(to, weight)| (from[to as usize], weight)), self.chain.total(state as State))
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Checker;
    use tw_model::{Graph, Model, Record, Seen};

    #[test]
    fn too_many_steps_are_refused_and_a_period_is_found() {
        // A bare ring goes round for ever.
        let graph = Graph::from_edges(3, [(0, 1), (1, 2), (2, 0)].into_iter());
        let record = Record {
            edges: vec![Seen { count: 1, ..Seen::default() }; 3],
            starts: vec![1],
            ..Record::default()
        };
        let model = Model { graph, initial: vec![0], record: Some(record), ..Model::default() };
        let checker = Checker::new(&model);
        let chain = Chain::new(&checker).unwrap();
        let (left, right): (Bits, Bits) = (Bits::repeat(true, 3), [true, false, false].into_iter().collect());
        for far in [999_999_999_999i64, 1_000_000_000_000, 1_000_000_000_001] {
            let ticks = Ticks { low: far, high: far };
            let chances = bounded(&chain, &left, &right, ticks).unwrap().0;
            let expected: Vec<f64> =
                (0..3i64).map(|state| f64::from(u8::from((state + far) % 3 == 0))).collect();
            let yes: Vec<f64> = chances.iter().map(|chance| chance.yes).collect();
            assert_eq!(yes, expected, "{far}");
        }
        let steps = Steps { chain: &chain, left: &left, right: &right, ticks: Ticks { low: 5, high: 9 } };
        assert!(steps.run(chances_of::<f64>(&right), 5).is_none());
        assert!(steps.run(chances_of::<f64>(&right), 60).is_some());
    }
}
