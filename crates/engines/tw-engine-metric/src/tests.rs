//! The engine against the reference, on timestamps of many kinds.

use crate::Metric;
use crate::stamps::{self, Stamps};
use crate::steps;
use crate::time::{Pace, in_steps};
use crate::words::{Words, cut, paste};
use tw_core::{Bits, TimeUnit};
use tw_ir::{Bound, Clock, Interval, Node, Program, Root, RootKind, Temporal, Ticks};
use tw_monitor::{Engine, EvaluateOptions, Trace};
use tw_testkit::conformance::{describe, difference};
use tw_testkit::{Case, Rng, Shape, cases, shrink};

/// Mostly operators with intervals, around word boundaries.
const WORDS: Shape = Shape {
    lengths: &[1, 2, 3, 5, 17, 63, 64, 65, 127, 128, 129, 200, 321],
    depth: 5,
    metric: 700,
    values: 0,
    online: false,
};

/// Many words.
const LONG: Shape = Shape { lengths: &[1000, 4095, 4096, 4097, 5000], depth: 3, metric: 700, ..WORDS };

/// The case of a seed, with timestamps of one of several kinds. Bounds are whole numbers below 12 of a unit.
fn case(seed: u64, shape: &Shape) -> Case {
    let mut case = Case::new(seed, shape);
    let mut rng = Rng::new(seed ^ 0x7195);
    let style = rng.below(8);
    if style < 2 {
        // As generated: small gaps, many of them 0.
        return case;
    }
    case.options.unit = TimeUnit::Microseconds;
    // At 1 µs to the unit, steps of some nanoseconds make windows of many positions.
    let step = rng.pick(&[1, 2, 7, 15, 16, 31, 47, 64, 100, 333, 999, 1000, 1001, 4000, 70_000]);
    let around: &[i64] = &[0, 0, 1, 998, 999, 1000, 1001, 1999, 2000, 2001, 3000, 1_000_000];
    let near: &[i64] = &[0, 0, 0, 1, 2, 3, 10, 50, 200, 1000];
    let rare = 2 + rng.below(60);
    let extreme = style == 7 && case.starts.len() == 1;
    let mut now = if extreme { i64::MIN } else { rng.pick(&[0, -5_000, 1 << 40]) };
    for at in 0..case.times.len() {
        if case.starts.binary_search(&at).is_ok() && at > 0 {
            now = rng.pick(&[0, -1_000_000, 1 << 50]);
        } else if at > 0 {
            let gap = match style {
                2 | 3 => step,
                4 if rng.one_in(rare) => rng.pick(around),
                4 => step,
                5 => rng.pick(around),
                6 => rng.pick(near),
                _ if extreme && rng.one_in(rare) => i64::MAX / 3 - now / 3,
                _ => rng.pick(near),
            };
            now = now.saturating_add(gap);
        }
        case.times[at] = now;
    }
    case
}

fn compare(shape: &Shape, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let case = case(seed, shape);
        let differs = |case: &Case| difference(&Metric, case).expect("the engine runs every formula");
        if differs(&case).is_some() {
            let small = shrink(case, |case| differs(case).is_some());
            let what = differs(&small).unwrap_or_default();
            panic!("seed {seed}\n{}  times {:?}\n{what}", describe(&small), small.times);
        }
    }
}

#[test]
fn agrees_with_the_reference() {
    compare(&Shape::METRIC, 0..cases(20_000));
}

#[test]
fn agrees_with_the_reference_around_word_boundaries() {
    compare(&WORDS, 1 << 32..(1 << 32) + cases(20_000));
}

#[test]
fn agrees_with_the_reference_on_long_traces() {
    compare(&LONG, 1 << 33..(1 << 33) + cases(300).min(3000));
}

#[test]
fn agrees_with_the_reference_without_intervals() {
    compare(&Shape::SMALL, 1 << 34..(1 << 34) + cases(20_000) / 4);
}

/// One operator on a stretch of random columns, against its definition.
#[test]
fn kernels_compute_the_definition() {
    let mut rng = Rng::new(7);
    for round in 0..cases(20_000) {
        let len = rng.pick(&[1, 2, 7, 63, 64, 65, 200, 321, 640]);
        let (start, end) = {
            let start = rng.below(len);
            (start, start + 1 + rng.below(len - start))
        };
        let gaps: &[i64] = rng.pick(&[&[0, 1, 2], &[0, 0, 1, 5, 9, 10, 11, 100], &[0, 0, 0, 0, 700], &[3]]);
        let mut now = -5;
        let times: Vec<i64> = std::iter::repeat_with(|| {
            now += rng.pick(gaps);
            now
        })
        .take(len)
        .collect();
        let mut column = || {
            let (on, off) = (rng.pick(&[10, 100, 500, 990]), rng.pick(&[10, 100, 500, 990]));
            let mut value = false;
            let bit = |_| {
                value ^= rng.chance(if value { off } else { on });
                value
            };
            (0..len).map(bit).collect::<Bits>()
        };
        let (hold, goal) = (column(), column());
        let (flip_hold, flip_goal, once) = (rng.one_in(2), rng.one_in(2), rng.one_in(3));
        let (back, index) = (rng.one_in(2), rng.one_in(2));
        let low = rng.pick(&[0, 0, 1, 3, 12, 64, 65, 130]) + rng.below(3) as i64;
        let high = rng.pick(&[low, low + 1, low + 7, low + 63, low + 64, low + 200, i64::MAX]);

        let (mut a, mut b, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
        cut(&mut a, hold.words(), start, end, back);
        cut(&mut b, goal.words(), start, end, back);
        let mut piece = vec![0xAAAA; a.len()];
        let holds = (!once).then(|| Words::new(&a, flip_hold, end - start));
        let goals = Words::new(&b, flip_goal, end - start);
        let (ticks, stamps) = (Ticks { low, high }, &times[start..end]);
        match (index, back) {
            (true, _) => steps::since(&mut piece, holds, goals, in_steps(ticks, 1), &mut scratch),
            (_, true) => stamps::since(&mut piece, holds, goals, ticks, Stamps::<true>(stamps), &mut scratch),
            _ => stamps::since(&mut piece, holds, goals, ticks, Stamps::<false>(stamps), &mut scratch),
        }
        let mut found = vec![0; len.div_ceil(64)];
        paste(&mut found, &piece, start, end, back);

        let witness = |i: usize, k: usize| {
            let between = if back { i..k } else { k + 1..i + 1 };
            let distance = times[i.max(k)] - times[i.min(k)];
            let distance = if index { i.abs_diff(k) as i64 } else { distance };
            let lasts = once || between.into_iter().all(|m| hold.get(m) != flip_hold);
            ticks.contains(distance) && goal.get(k) != flip_goal && lasts
        };
        let holds_at = |i: usize| {
            let places = if back { i..end } else { start..i + 1 };
            (start..end).contains(&i) && places.into_iter().any(|k| witness(i, k))
        };
        let expected: Bits = (0..len).map(holds_at).collect();
        let found = Bits::from_words(found, len);
        assert_eq!(found, expected, "round {round}, {start}..{end}, {ticks:?}, back {back}, index {index}");
    }
}

/// `G F[0,5] a` over one atom.
fn soon() -> Program {
    let mut program = Program::default();
    let a = program.dag.add(Node::Truth(0));
    let bound = |n: i128| Bound { billionths: n * 1_000_000_000, unit: None, open: false };
    let node = program.dag.add(Node::Unary(
        Temporal::Finally,
        Some(Interval { low: bound(0), high: Some(bound(5)) }),
        a,
    ));
    let node = program.dag.add(Node::Unary(Temporal::Globally, None, node));
    let (name, division) = ("soon".into(), Default::default());
    let kind = RootKind::Property;
    program.roots.push(Root { name, title: None, division, kind, node, span: Default::default() });
    program
}

#[test]
fn refuses_with_a_reason() {
    let program = soon();
    let trace = Trace { len: 200, atoms: vec![Bits::repeat(true, 200)], ..Trace::default() };
    let refusal = |options: EvaluateOptions, trace: &Trace| {
        let planned = Metric.plan(&program, &options);
        planned.and_then(|mut planned| planned.evaluate(trace, 1)).expect_err("a refusal")
    };
    let index = EvaluateOptions { clock: Clock::Index, ..EvaluateOptions::default() };

    let without_time = refusal(EvaluateOptions::default(), &trace);
    assert_eq!(without_time.what, "an interval on a trace without timestamps");
    let dense = refusal(EvaluateOptions { clock: Clock::Dense, ..EvaluateOptions::default() }, &trace);
    assert!(dense.what.contains("continuous time"), "{dense:?}");
    let small = refusal(EvaluateOptions { memory_budget: 100, ..index.clone() }, &trace);
    assert!(small.exhausted && small.what.contains("memory budget"), "{small:?}");
    let empty = Trace { len: 0, atoms: vec![Bits::new()], ..Trace::default() };
    assert_eq!(refusal(index.clone(), &empty).what, "a trace without positions");
    let wrong = Trace { atoms: Vec::new(), ..trace.clone() };
    assert_eq!(refusal(index, &wrong).what, "a trace with 0 atoms for a program with 1");
}

/// Timestamps at an even pace are counted, others measured; both say the same where they mean the same.
#[test]
fn pace_of_timestamps() {
    let pace = |times: &[i64]| {
        let trace = Trace { len: times.len(), times: Some(times.to_vec()), ..Trace::default() };
        Pace::of(&trace, Clock::Stamps)[0]
    };
    assert_eq!(pace(&[7]), Pace::Even(1));
    assert_eq!(pace(&[7, 10, 13]), Pace::Even(3));
    assert_eq!(pace(&[7, 7, 7]), Pace::Uneven);
    assert_eq!(pace(&[7, 10, 14]), Pace::Uneven);
    assert_eq!(pace(&[i64::MIN, 0, i64::MAX]), Pace::Uneven);
    let long: Vec<i64> = (0..1000).map(|i| if i < 999 { 2 * i } else { 5000 }).collect();
    assert_eq!(pace(&long), Pace::Uneven);
    assert_eq!(in_steps(Ticks { low: 5, high: 9 }, 3), (2, 3));
    assert_eq!(in_steps(Ticks { low: 4, high: 5 }, 3), (2, 1));
}
