//! Streams against whole traces: values, bounds, predictions.

use super::{bits, cut, first_segment, ready, row, shape, streamed, text, time};
use tw_engine_robust::table::Table;
use tw_engine_robust::{Extent, Predictor, Samples};
use tw_ir::{Clock, Semantics};
use tw_testkit::{Rng, cases};

#[test]
fn streams_settle_what_columns_say() {
    let (mut compared, mut settled_early) = (0u64, 0u64);
    let all = cases(10_000);
    for seed in 0..all {
        let Some((case, robust, mut samples)) = ready(seed, shape(seed)) else { continue };
        samples.starts = Default::default();
        if samples.times.as_ref().is_some_and(|times| times.windows(2).any(|pair| pair[0] > pair[1])) {
            samples = cut(
                &samples,
                0,
                samples.times.as_ref().unwrap().windows(2).position(|p| p[0] > p[1]).unwrap() + 1,
            );
        }
        let nodes = streamed(&robust, &case.formulas());
        let expected = robust.columns(&samples, &nodes).unwrap();
        let mut rng = Rng::new(seed);
        let mut online = robust.online(&nodes).unwrap();
        if rng.one_in(2) {
            online.track();
        }
        let mut found: Vec<Vec<f64>> = vec![Vec::new(); nodes.len()];
        let mut at = 0;
        let longest = rng.pick(&[1, 1, 5]);
        while at < samples.len {
            let to = (at + 1 + rng.below(longest)).min(samples.len);
            match to == at + 1 && rng.one_in(2) {
                true => online.push_one(time(&samples, at), &row(&samples, at)).unwrap(),
                false => online.push(&cut(&samples, at, to)).unwrap(),
            }
            at = to;
            if rng.one_in(3) {
                continue;
            }
            for (output, found) in found.iter_mut().enumerate() {
                let (first, values) = online.drain(output);
                assert_eq!(first, found.len());
                found.extend_from_slice(values);
            }
        }
        settled_early += found.iter().map(|found| found.len() as u64).sum::<u64>();
        online.finish();
        for (output, found) in found.iter_mut().enumerate() {
            found.extend_from_slice(online.drain(output).1);
            assert_eq!(bits(&expected[output]), bits(found), "{}", text(&case, nodes[output]));
            compared += 1;
        }
    }
    assert!(
        compared > all && settled_early > compared * 5,
        "{compared} compared, {settled_early} settled early"
    );
}

/// The value that any continuation gives lies within the bounds, which only narrow; tracked or not, they are the same.
#[test]
fn bounds_hold_and_narrow() {
    let (mut checked, mut inside) = (0u64, 0u64);
    let all = cases(10_000) / 10 + 1;
    for seed in 0..all {
        let Some((case, robust, samples)) = ready(seed, shape(seed)) else { continue };
        let samples = first_segment(&samples);
        let nodes = streamed(&robust, &case.formulas());
        let whole = robust.columns(&samples, &nodes).unwrap();
        let mut online = robust.online(&nodes).unwrap();
        let mut tracked = online.clone();
        tracked.track();
        let mut before: Vec<Vec<(f64, f64)>> = vec![Vec::new(); nodes.len()];
        for n in 1..=samples.len {
            online.push_one(time(&samples, n - 1), &row(&samples, n - 1)).unwrap();
            tracked.push(&cut(&samples, n - 1, n)).unwrap();
            if n % 50 > 2 && samples.len > 100 {
                continue;
            }
            let ended = robust.columns(&cut(&samples, 0, n), &nodes).unwrap();
            for (output, &node) in nodes.iter().enumerate() {
                let what = || format!("{} after {n} samples", text(&case, node));
                let bounds = online.bounds(output);
                assert_eq!(bounds, tracked.bounds(output), "{}", what());
                assert_eq!((bounds.lower.len(), bounds.upper.len()), (n - bounds.first, n - bounds.first));
                let (first, pairs) = (bounds.first, bounds.lower.iter().zip(bounds.upper.iter()));
                let pairs: Vec<(f64, f64)> = pairs.map(|(a, b)| (*a, *b)).collect();
                for (i, &(lower, upper)) in (first..).zip(&pairs) {
                    for value in [whole[output][i], ended[output][i]] {
                        assert!(
                            lower <= value && value <= upper,
                            "{} at {i}: {lower} {value} {upper}",
                            what()
                        );
                    }
                    if let Some(&(low, high)) = before[output].get(i) {
                        assert!(
                            low <= lower && upper <= high,
                            "{} at {i}: {low} {lower} {upper} {high}",
                            what()
                        );
                    }
                    let known = before[output].len().max(i + 1);
                    before[output].resize(known, (f64::NEG_INFINITY, f64::INFINITY));
                    before[output][i] = (lower, upper);
                    inside += u64::from(lower < upper && (lower.is_finite() || upper.is_finite()));
                }
                let oldest = pairs.first().map(|&(lower, upper)| (first, lower, upper));
                assert_eq!(online.oldest(output), oldest, "{}", what());
                assert_eq!(tracked.oldest(output), oldest, "{}", what());
                checked += 1;
            }
        }
    }
    assert!(checked > all && inside > all, "{checked} checked, {inside} between");
}

/// A prediction is the value on the trace that goes on as predicted.
#[test]
fn predictions_are_values_of_continued_traces() {
    let mut checked = 0u64;
    let all = cases(10_000) / 10 + 1;
    for seed in 0..all {
        let Some((case, robust, samples)) = ready(seed, shape(seed)) else { continue };
        let samples = first_segment(&samples);
        let nodes = streamed(&robust, &case.formulas());
        let mut online = robust.online(&nodes).unwrap();
        let period = 1 + (seed % 3) as i64;
        let mut seen = samples.len.min(1 + (seed % 7) as usize);
        online.push(&cut(&samples, 0, seen)).unwrap();
        while seen < samples.len {
            online.push(&cut(&samples, seen, seen + 1)).unwrap();
            seen += 1;
            if seen % 50 > 2 && samples.len > 100 {
                continue;
            }
            for predictor in [Predictor::None, Predictor::Hold, Predictor::Linear] {
                let mut longer = cut(&samples, 0, seen);
                let ahead = if predictor == Predictor::None { 0 } else { 60 };
                for column in longer.predicates.to_mut() {
                    let (last, previous) = (column[seen - 1], column[seen - 2]);
                    let slope = if predictor == Predictor::Linear { last - previous } else { 0.0 };
                    let slope = if slope.is_finite() { slope } else { 0.0 };
                    column.extend((1..=ahead).map(|k| last + k as f64 * slope + 0.0));
                }
                if let Some(times) = &mut longer.times {
                    let last = times[seen - 1];
                    times.to_mut().extend((1..=ahead).map(|k| last + k as i64 * period));
                }
                longer.len += ahead as usize;
                let expected = robust.columns(&longer, &nodes).unwrap();
                for (output, &node) in nodes.iter().enumerate() {
                    let (ticks, positions) = online.horizon(output);
                    assert!(ticks + positions < 60);
                    let found = online.predict(output, predictor, period).unwrap();
                    assert_eq!(
                        found,
                        Some(expected[output][seen - 1]),
                        "{} {predictor:?} at {seen}",
                        text(&case, node)
                    );
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > all);
}

/// The table, fed with the same predictions, says the same: it is the published definition.
#[test]
fn predictions_are_those_of_the_table() {
    let (mut checked, mut ahead) = (0u64, 0u64);
    let all = cases(10_000) / 20 + 1;
    for seed in 0..all {
        let Some((case, robust, samples)) = ready(seed, &super::SHAPE) else { continue };
        if case.options.clock != Clock::Index || case.options.semantics != Semantics::Finite {
            continue;
        }
        let samples = first_segment(&samples);
        for node in streamed(&robust, &case.formulas()) {
            let Ok(table) = Table::new(&robust, node) else { continue };
            if samples.predicates.is_empty() || table.horizon() + table.history() > 60 {
                continue;
            }
            for predictor in [Predictor::None, Predictor::Hold, Predictor::Linear] {
                let (mut table, mut online) = (table.clone(), robust.online(&[node]).unwrap());
                for at in 0..samples.len {
                    online.push_one(time(&samples, at), &row(&samples, at)).unwrap();
                    let predicted: Vec<Vec<f64>> = samples
                        .predicates
                        .iter()
                        .map(|column| {
                            let slope = match predictor {
                                Predictor::Linear if at > 0 => column[at] - column[at - 1],
                                _ => 0.0,
                            };
                            let slope = if slope.is_finite() { slope } else { 0.0 };
                            let count = if predictor == Predictor::None { 0 } else { table.horizon() };
                            (0..=count).map(|k| column[at] + k as f64 * slope + 0.0).collect()
                        })
                        .collect();
                    let expected = table.step(&predicted);
                    let found = online.predict(0, predictor, 1).unwrap();
                    assert_eq!(found, Some(expected), "{} {predictor:?} at {at}", text(&case, node));
                    checked += 1;
                    ahead += u64::from(table.horizon() > 0);
                }
            }
        }
    }
    assert!(checked > all && ahead > all / 2, "{checked} checked, {ahead} with a future");
}

/// What a stream keeps does not grow with it, but with what its intervals reach over.
#[test]
fn memory_is_what_intervals_reach_over() {
    for (formula, reach) in [
        ("F[0,500] x > 0", 500),
        ("x > 0 U[100,500] y > 0", 500),
        ("O[0,500] x > 0", 500),
        ("x > 0 S[100,500] y > 0", 500),
        ("G[0,100] F[0,400] (x > 0 & Y y > 0)", 500),
        ("x > 0 S y > 0", 0),
        ("x > 0 S[50,inf) y > 0", 50),
    ] {
        for clock in [Clock::Index, Clock::Stamps] {
            for track in [false, true] {
                let (robust, _, node) = crate::ready(formula, clock);
                let mut online = robust.online(&[node]).unwrap();
                if track {
                    online.track();
                }
                let mut rng = Rng::new(7);
                let mut most = 0;
                for n in 0..4_000 {
                    let values = [rng.below(100) as f64, rng.below(100) as f64];
                    online.push_one(Some(n), &values[..robust.predicates().len()]).unwrap();
                    online.drain(0);
                    most = most.max(online.bytes());
                }
                // No more than four queues or stacks of an operator, twice as long as the reach and what is dropped
                // at once, with room for as much again.
                let operators = 6;
                let limit = operators * 4 * 24 * (reach + 64);
                assert!(most <= limit, "{formula}, {clock:?}, tracked {track}: {most} of {limit} bytes");
                let extent = robust.horizon(node).unwrap().unwrap();
                let history = robust.history(node).unwrap();
                let sum = |extent: Extent| extent.ticks + extent.positions;
                assert!(sum(extent) + sum(history) <= reach as i64 + 1, "{formula}: {extent:?} {history:?}");
            }
        }
    }
}

/// Continuations of every kind stay within the bounds: ramps that beat all before them, equal and distant times.
#[test]
fn bounds_under_adverse_signals() {
    let mut inside = 0u64;
    for (seed, formula) in
        ["F[0,9] x > 0", "G[2,9] x > 0", "x > 0 U[0,9] y > 0", "x > 0 U[3,9] y > 0", "x > 0 R[2,9] y > 0"]
            .into_iter()
            .enumerate()
    {
        for slopes in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            for clock in [Clock::Index, Clock::Stamps] {
                let (robust, _, node) = crate::ready(formula, clock);
                let mut rng = Rng::new(seed as u64);
                let mut now = 0;
                let times = (0..60).map(|_| {
                    now += rng.pick(&[0, 1, 1, 2, 12]);
                    now
                });
                let all = Samples {
                    len: 60,
                    times: Some(times.collect()),
                    predicates: [slopes.0, slopes.1][..robust.predicates().len()]
                        .iter()
                        .map(|slope| (0..60).map(|k| slope * f64::from(k - 30)).collect())
                        .collect(),
                    starts: Default::default(),
                };
                let whole = robust.columns(&all, &[node]).unwrap().remove(0);
                let mut online = robust.online(&[node]).unwrap();
                online.track();
                for n in 1..=60 {
                    online.push_one(time(&all, n - 1), &row(&all, n - 1)).unwrap();
                    let ended = robust.columns(&cut(&all, 0, n), &[node]).unwrap().remove(0);
                    let bounds = online.bounds(0);
                    for (k, (lower, upper)) in bounds.lower.iter().zip(bounds.upper.iter()).enumerate() {
                        for value in [whole[bounds.first + k], ended[bounds.first + k]] {
                            assert!(
                                *lower <= value && value <= *upper,
                                "{formula} at {} of {n}",
                                bounds.first + k
                            );
                        }
                        inside += u64::from(lower < upper);
                    }
                }
            }
        }
    }
    assert!(inside > 1000);
}
