//! Coverage against hand-computed numbers and brute force.

use super::{KEEPS, merge, random};
use crate::{Coverage, Ends};
use std::collections::BTreeSet;
use tw_model::Model;
use tw_testkit::{Rng, cases};

/// Traces a b a, a b, a c, a b of the state-preserving merger: a is seen 5 times, b 3, c once; a → b thrice, b → a and
/// a → c once.
#[test]
fn by_hand() {
    let model = merge(crate::Keep::State, Ends::All, &[vec![0, 1, 0], vec![0, 1], vec![0, 2], vec![0, 1]]);
    let coverage = Coverage::of(&model).expect("merged");
    let states = coverage.states;
    assert_eq!((states.distinct, states.observations, states.once, states.twice), (3, 9, 1, 0));
    assert_eq!((states.one_trace, states.two_traces), (1, 0));
    assert!((states.unseen_mass - 1.0 / 9.0).abs() < 1e-15);
    let transitions = coverage.transitions;
    assert_eq!((transitions.distinct, transitions.observations, transitions.once), (3, 5, 2));
    assert_eq!((transitions.one_trace, transitions.two_traces), (2, 0));
    // Without doubletons: 3 + (4/5) · 2 · 1 / 2, and 3 + (3/4) · 2 · 1 / 2.
    let (chao1, chao2) = (transitions.chao1.unwrap(), transitions.chao2.unwrap());
    assert!((chao1.value - 3.8).abs() < 1e-12 && (chao2.value - 3.75).abs() < 1e-12);
    assert!(chao1.low > 3.0 && chao1.high > 3.8);
    assert_eq!((coverage.traces, coverage.adding_nothing), (4, vec![1, 3]));
    assert_eq!(coverage.nothing_of_their_own, [1, 3]);
    let curve: Vec<_> =
        coverage.curve.iter().map(|point| (point.traces, point.states, point.transitions)).collect();
    assert_eq!(curve, [(0, 0, 0), (1, 2, 2), (2, 2, 2), (3, 3, 3), (4, 3, 3)]);
    // After one random trace: a always, b in 3 of 4, c in 1 of 4; a → b in 3, the others in 1 of 4.
    let one = coverage.curve[1];
    assert!((one.expected_states - 2.0).abs() < 1e-12 && (one.expected_transitions - 1.25).abs() < 1e-12);
}

#[test]
fn models_without_traces_have_no_coverage() {
    assert_eq!(Coverage::of(&Model::default()), None);
    let coverage = Coverage::of(&merge(crate::Keep::Time, Ends::Dead, &[])).expect("merged");
    assert_eq!((coverage.states.distinct, coverage.curve.len()), (0, 1));
    assert_eq!(coverage.states.unseen_mass, 1.0);
}

/// All orders of n things.
fn orders(n: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![vec![]];
    for _ in 0..n {
        orders = orders
            .iter()
            .flat_map(|order: &Vec<usize>| {
                (0..n)
                    .filter(|at| !order.contains(at))
                    .map(|at| [&order[..], &[at]].concat())
                    .collect::<Vec<_>>()
            })
            .collect();
    }
    orders
}

#[test]
fn curves_equal_brute_force() {
    for seed in 0..cases(150).min(300) {
        let mut rng = Rng::new(seed);
        let (_, mut traces) = random::traces(&mut rng);
        traces.retain(|trace| !trace.is_empty());
        traces.truncate(5);
        for keep in KEEPS {
            let coverage = Coverage::of(&merge(keep, Ends::Dead, &traces)).expect("merged");
            let sizes = |chosen: &[usize]| {
                let chosen: Vec<Vec<u32>> = chosen.iter().map(|&at| traces[at].clone()).collect();
                let model = merge(keep, Ends::Nothing, &chosen);
                (model.states(), model.graph.edges())
            };
            let orders = orders(traces.len());
            for point in &coverage.curve {
                let given: Vec<usize> = (0..point.traces).collect();
                assert_eq!(
                    (point.states as usize, point.transitions as usize),
                    sizes(&given),
                    "seed {seed}: {keep}"
                );
                let sums = orders.iter().map(|order| sizes(&order[..point.traces]));
                let (states, edges) = sums.fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1));
                let mean = |sum: usize| sum as f64 / orders.len() as f64;
                assert!((mean(states) - point.expected_states).abs() < 1e-9, "seed {seed}: {keep}");
                assert!((mean(edges) - point.expected_transitions).abs() < 1e-9, "seed {seed}: {keep}");
            }
            let without = |skip: usize| {
                let others: Vec<usize> = (0..traces.len()).filter(|&at| at != skip).collect();
                sizes(&others) == sizes(&(0..traces.len()).collect::<Vec<_>>())
            };
            let idle: BTreeSet<u32> =
                (0..traces.len()).filter(|&at| without(at)).map(|at| at as u32).collect();
            assert_eq!(coverage.nothing_of_their_own.iter().copied().collect::<BTreeSet<_>>(), idle);
            let adds = |at: usize| {
                let upto: Vec<usize> = (0..=at).collect();
                sizes(&upto) != sizes(&upto[..at])
            };
            let nothing: Vec<u32> = (0..traces.len()).filter(|&at| !adds(at)).map(|at| at as u32).collect();
            assert_eq!(coverage.adding_nothing, nothing, "seed {seed}: {keep}");
        }
    }
}

/// A long curve is thinned, and ends where it must.
#[test]
fn long_curves_are_thinned() {
    let mut rng = Rng::new(3);
    let traces: Vec<Vec<u32>> =
        (0..2_500).map(|_| (0..3).map(|_| rng.below(9) as u32 * rng.below(9) as u32).collect()).collect();
    let model = merge(crate::Keep::Time, Ends::Dead, &traces);
    let coverage = Coverage::of(&model).expect("merged");
    assert_eq!(coverage.curve.len(), 1_000);
    let last = coverage.curve[999];
    assert_eq!((last.traces, last.states as usize), (2_500, model.states()));
    assert!((last.expected_states - model.states() as f64).abs() < 1e-9);
    assert!(coverage.curve.windows(2).all(|pair| {
        pair[0].traces < pair[1].traces && pair[0].expected_transitions < pair[1].expected_transitions
    }));
}
