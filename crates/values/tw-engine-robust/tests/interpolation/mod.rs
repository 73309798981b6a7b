//! Signals between samples, against the same signals sampled in every tick.

mod bends;
mod cells;

use crate::ready;
use cells::Definition;
use tw_core::Time;
use tw_engine_robust::{Interpolation, Samples};
use tw_ir::Clock;
use tw_testkit::{Rng, cases};

/// A formula without neighbours; interval ends are multiples of `unit`. A signal that ends where a window leaves the
/// trace is closed there, which samples in every tick cannot tell from one that ends a tick later. If `strict`, no window
/// below `U` is cut at the end, and none below `S` at the beginning.
fn formula(rng: &mut Rng, depth: usize, unit: i64, (future, past): (bool, bool), strict: bool) -> String {
    if depth == 0 || rng.one_in(8) {
        let atom = rng.pick(&["x > 0", "y > 0", "z > 0", "!(x > 0)", "first", "last", "true"]);
        let blurred = (atom == "first" && !future) || (atom == "last" && !past);
        return if strict && blurred { "x > 0".to_owned() } else { atom.to_owned() };
    }
    let interval = |rng: &mut Rng| {
        let low = rng.below(3) as i64;
        let high = low + rng.below(4) as i64;
        match rng.below(8) {
            0 => String::new(),
            1 => format!("[{},inf)", low * unit),
            2 if !strict && unit > 0 => format!("({},{}]", low * unit, (high + 1) * unit),
            3 if !strict => format!("[{},{})", low * unit, (high + 1) * unit),
            4 if !strict => format!("({},{})", low * unit, (high + 2) * unit),
            _ => format!("[{},{}]", low * unit, high * unit),
        }
    };
    let free = (future, past);
    let (ahead, behind) = if strict { ((false, past), (future, false)) } else { (free, free) };
    loop {
        let interval = interval(rng);
        let part = |rng: &mut Rng, allowed| formula(rng, depth - 1, unit, allowed, strict);
        return match rng.below(8) {
            0 => format!("!({})", part(rng, free)),
            1 | 2 => {
                let connective = rng.pick(&["&", "|", "->", "<->", "^"]);
                format!("(({}) {connective} ({}))", part(rng, free), part(rng, free))
            }
            3 if future => format!("{}{interval} ({})", rng.pick(&["F", "G"]), part(rng, free)),
            4 if past => format!("{}{interval} ({})", rng.pick(&["O", "H"]), part(rng, free)),
            5 | 6 if future => {
                let operator = rng.pick(&["U", "U", "R", "W", "M"]);
                format!("(({}) {operator}{interval} ({}))", part(rng, ahead), part(rng, ahead))
            }
            7 if past => {
                let operator = rng.pick(&["S", "S", "T", "B"]);
                format!("(({}) {operator}{interval} ({}))", part(rng, behind), part(rng, behind))
            }
            _ => continue,
        };
    }
}

/// Few samples at multiples of `unit`, some at the same time; with jumps, some predicates are only true or false.
fn signals(rng: &mut Rng, predicates: usize, unit: i64, jumps: bool) -> Samples<'static> {
    let len = 1 + rng.below(8);
    let mut now = 0;
    let times: Vec<Time> = (0..len)
        .map(|_| {
            now += unit * rng.below(4) as i64;
            now
        })
        .collect();
    let column = |rng: &mut Rng| {
        let truth = jumps && rng.one_in(4);
        let value = |rng: &mut Rng| match () {
            () if truth => rng.pick(&[f64::INFINITY, f64::NEG_INFINITY]),
            () if jumps && rng.one_in(12) => f64::NEG_INFINITY,
            () => rng.below(21) as f64 - 10.0,
        };
        (0..len).map(|_| value(rng)).collect()
    };
    let predicates = (0..predicates).map(|_| column(rng)).collect();
    Samples { len, predicates, times: Some(times.into()), starts: Default::default() }
}

/// A sample in every tick, and where the samples are among them.
fn dense(samples: &Samples, linear: bool) -> (Samples<'static>, Vec<usize>) {
    let times = samples.times.as_ref().unwrap();
    let (first, last) = (times[0], times[samples.len - 1]);
    let column = |values: &Vec<f64>| {
        let mut k = 0;
        let at = |time: Time| {
            while k + 1 < samples.len && times[k + 1] <= time {
                k += 1;
            }
            let (a, b) = (values[k], values.get(k + 1).copied().unwrap_or(values[k]));
            // The one that counts of several at one time is the last.
            if !linear || !a.is_finite() || k + 1 == samples.len {
                return a;
            }
            let next = times[k + 1..].partition_point(|&time| time <= times[k + 1]) + k;
            let b = if next > k + 1 { values[next] } else { b };
            if !b.is_finite() {
                return a;
            }
            a + (b - a) * (time - times[k]) as f64 / (times[k + 1] - times[k]) as f64 + 0.0
        };
        (first..=last).map(at).collect::<Vec<f64>>()
    };
    let dense = Samples {
        len: (last - first) as usize + 1,
        predicates: samples.predicates.iter().map(column).collect(),
        times: Some((first..=last).collect()),
        starts: Default::default(),
    };
    (dense, times.iter().map(|time| (time - first) as usize).collect())
}

#[test]
fn step_is_its_definition_in_continuous_time() {
    let all = cases(3_000).min(200_000);
    let mut finite = 0u64;
    for seed in 0..all {
        let mut rng = Rng::new(seed);
        let unit = 1 + rng.below(3) as i64;
        let text = formula(&mut rng, 4, unit, (true, true), false);
        let (robust, program, node) = ready(&text, Clock::Stamps);
        let samples = signals(&mut rng, robust.predicates().len(), unit, true);
        let found = robust.interpolated(&samples, &[node], Interpolation::Step).unwrap().remove(0);
        let cells = Definition { robust: &robust, program: &program, samples: &samples }.of(node);
        let times = samples.times.as_ref().unwrap();
        let expected: Vec<f64> = times.iter().map(|time| cells[2 * (time - times[0]) as usize]).collect();
        assert_eq!(found, expected, "seed {seed}: {text}\n{samples:?}");
        finite += found.iter().filter(|value| value.is_finite()).count() as u64;
    }
    assert!(finite > all, "{finite} finite values");
}

/// Sampled so densely the values differ by what signals change in a tick, for each operator around them.
#[test]
fn linear_is_what_dense_samples_approach() {
    const UNIT: i64 = 512;
    const DEPTH: usize = 4;
    let steepest = 20.0 / UNIT as f64;
    let all = cases(1_500).min(100_000);
    let (mut finite, mut between) = (0u64, 0u64);
    for seed in 0..all {
        let mut rng = Rng::new(seed);
        let text = formula(&mut rng, DEPTH, UNIT, (true, true), true);
        let (robust, _, node) = ready(&text, Clock::Stamps);
        // `S` sees jumps from the side on which they are open.
        let jumps = ![" S", " T", " B"].iter().any(|since| text.contains(since));
        let samples = signals(&mut rng, robust.predicates().len(), UNIT, jumps);
        let found = robust.interpolated(&samples, &[node], Interpolation::Linear).unwrap().remove(0);
        let (dense, places) = dense(&samples, true);
        let expected = robust.columns(&dense, &[node]).unwrap().remove(0);
        for (&found, &at) in found.iter().zip(&places) {
            let expected = expected[at];
            let near = (found - expected).abs() <= steepest * (DEPTH + 1) as f64;
            assert!(
                found == expected || near,
                "seed {seed}: {text} at {at}: {found}, {expected}\n{samples:?}"
            );
            finite += u64::from(found.is_finite());
            between += u64::from(found.is_finite() && found.fract() != 0.0);
        }
    }
    assert!(finite > all && between > all / 10, "{finite} finite values, {between} between samples");
}

fn values(formula: &str, times: &[Time], columns: &[&[f64]], reading: Interpolation) -> Vec<f64> {
    let (robust, _, node) = ready(formula, Clock::Stamps);
    let predicates = columns.iter().map(|column| column.to_vec()).collect();
    let samples = Samples {
        len: times.len(),
        predicates,
        times: Some(times.to_vec().into()),
        starts: Default::default(),
    };
    robust.interpolated(&samples, &[node], reading).unwrap().remove(0)
}

/// Computed by hand.
#[test]
fn edges_and_crossings() {
    use Interpolation::{Linear, Step};
    let inf = f64::INFINITY;
    let x: &[&[f64]] = &[&[0.0, 10.0, 4.0]];
    // At 0 the window [3,5] lies between the samples at 0 and 10.
    assert_eq!(values("F[3,5] x > 0", &[0, 10, 20], x, Linear), [5.0, 8.2, -inf]);
    assert_eq!(values("G[3,5] x > 0", &[0, 10, 20], x, Linear), [3.0, 7.0, inf]);
    assert_eq!(values("F[3,5] x > 0", &[0, 10, 20], x, Step), [0.0, 10.0, -inf]);
    assert_eq!(values("O[5,15] x > 0", &[0, 10, 20], x, Linear), [-inf, 5.0, 10.0]);
    assert_eq!(values("O[5,15] x > 0", &[0, 10, 20], x, Step), [-inf, 0.0, 10.0]);
    // An open end: what comes before it is seen, it is not.
    assert_eq!(values("F[0,10) x > 0", &[0, 10, 20], x, Linear), [10.0, 10.0, 4.0]);
    assert_eq!(values("F[0,10) x > 0", &[0, 10, 20], x, Step), [0.0, 10.0, 4.0]);
    assert_eq!(values("F(0,10] x > 0", &[0, 10, 20], x, Linear), [10.0, 10.0, -inf]);
    assert_eq!(values("F[0,10] x > 0", &[0, 10, 20], x, Step), [10.0, 10.0, 4.0]);
    // What only comes near the left of a sample is not there: no past window from 1 on is without the first sample.
    assert_eq!(values("F (H[0,3) (x > 0))", &[0, 1, 4], &[&[-1.0, 5.0, -2.0]], Step)[0], -1.0);
    let late: &[&[f64]] = &[&[-2.0, 1.0], &[4.0, -2.0]];
    assert_eq!(values("F ((x > 0) S (y > 0) & x > 0)", &[0, 5], late, Step), [-2.0, -2.0]);
    // One rises, the other falls: they meet at 5, halfway between the samples.
    let crossing: &[&[f64]] = &[&[0.0, 10.0], &[10.0, 0.0]];
    assert_eq!(values("F (x > 0 & y > 0)", &[0, 10], crossing, Linear), [5.0, 0.0]);
    assert_eq!(values("F (x > 0 & y > 0)", &[0, 10], crossing, Step), [0.0, 0.0]);
    assert_eq!(values("y > 0 U x > 0", &[0, 10], &[&[10.0, 0.0], &[0.0, 10.0]], Linear), [5.0, 10.0]);
    // Of samples at one time the last counts.
    assert_eq!(values("x > 0", &[0, 5, 5], &[&[1.0, 2.0, 3.0]], Linear), [1.0, 3.0, 3.0]);
    assert_eq!(values("F[2,3] x > 0", &[0, 4, 4], &[&[0.0, 9.0, 4.0]], Linear), [3.0, -inf, -inf]);
    // Far from zero, and far apart.
    let far = i64::MAX / 4;
    assert_eq!(values("F[0,1] x > 0", &[far, far + 3], &[&[0.0, 3.0]], Linear), [1.0, 3.0]);
    let years = 1_000_000_000_000_000_000;
    assert_eq!(values("F[0,1] x > 0", &[0, years], &[&[2.0, 0.0]], Step), [2.0, 0.0]);
}

#[test]
fn refused_between_samples() {
    for formula in ["X x > 0", "N x > 0", "Y x > 0", "F[0,3] Z x > 0"] {
        let (robust, _, node) = ready(formula, Clock::Stamps);
        let samples = Samples {
            len: 1,
            predicates: vec![vec![1.0]].into(),
            times: Some(vec![0].into()),
            ..Default::default()
        };
        for (_, reading) in Interpolation::ALL {
            let error = robust.interpolated(&samples, &[node], reading).unwrap_err();
            assert!(error.what.contains("between samples") && error.node.is_some(), "{error:?}");
        }
    }
    // A nanosecond's detail over decades is beyond floating point.
    let (robust, _, node) = ready("F[0,1] x > 0", Clock::Stamps);
    let samples = Samples {
        len: 2,
        predicates: vec![vec![1.0, 2.0]].into(),
        times: Some(vec![0, 1_000_000_000_000_000_001].into()),
        starts: Default::default(),
    };
    assert!(robust.interpolated(&samples, &[node], Interpolation::Linear).unwrap_err().exhausted);
    let small = tw_monitor::EvaluateOptions {
        memory_budget: 1000,
        unit: tw_core::TimeUnit::Nanoseconds,
        ..Default::default()
    };
    let program = tw_testkit::texts::formula("F[0,3] x > 0");
    let robust = tw_engine_robust::Robust::new(&program, &small).unwrap();
    let (values, times) = ((0..500).map(f64::from).collect(), (0..500).collect());
    let long =
        Samples { len: 500, predicates: vec![values].into(), times: Some(times), ..Default::default() };
    for (_, reading) in Interpolation::ALL {
        assert!(robust.interpolated(&long, &[program.roots[0].node], reading).unwrap_err().exhausted);
    }
}
