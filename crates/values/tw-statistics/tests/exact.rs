//! Every way to collect values gives, bit for bit, what the definition gives.

mod common;

use common::naive::naive;
use common::{ANY, FLAVOURS, NUMERIC, any, number, same, same_result};
use tw_core::Value;
use tw_ir::Aggregate;
use tw_statistics::{Accumulator, Limits};
use tw_testkit::Rng;
use tw_testkit::conformance::cases;

fn new(aggregate: Aggregate) -> Accumulator {
    Accumulator::new(aggregate, Limits::default())
}

/// The values in one accumulator, pushed in a way of chance: from the front, the back, in slices, or in parts appended.
fn collect(rng: &mut Rng, aggregate: Aggregate, values: &[Value], depth: usize) -> Accumulator {
    let mut all = new(aggregate);
    let ints: Option<Vec<i64>> =
        values.iter().map(|v| if let Value::Int(i) = v { Some(*i) } else { None }).collect();
    let reals: Option<Vec<f64>> =
        values.iter().map(|v| if let Value::Real(r) = v { Some(*r) } else { None }).collect();
    match rng.below(if depth == 0 { 5 } else { 9 }) {
        0 => values.iter().for_each(|v| all.push(v).unwrap()),
        1 => values.iter().rev().for_each(|v| all.push_front(v).unwrap()),
        2 if aggregate != Aggregate::Corr => {
            // From the middle, to both sides.
            let at = rng.below(values.len() + 1);
            let (mut front, mut back) = (values[..at].iter().rev(), values[at..].iter());
            loop {
                let (front, back) = (front.next(), back.next());
                if let Some(v) = front {
                    all.push_front(v).unwrap();
                }
                if let Some(v) = back {
                    all.push(v).unwrap();
                }
                if front.is_none() && back.is_none() {
                    break;
                }
                if rng.one_in(4) {
                    _ = all.result(); // asking changes nothing
                }
            }
        }
        3 | 4 if ints.is_some() && aggregate != Aggregate::Corr => all.push_ints(&ints.unwrap()),
        3 | 4 if reals.is_some() && aggregate != Aggregate::Corr => all.push_reals(&reals.unwrap()),
        2..5 => values.iter().for_each(|v| all.push(v).unwrap()),
        _ => {
            let at = rng.below(values.len() + 1);
            all = collect(rng, aggregate, &values[..at], depth - 1);
            if rng.one_in(4) {
                _ = all.result();
            }
            let later = collect(rng, aggregate, &values[at..], depth - 1);
            all.append(&later);
            if rng.one_in(3) {
                let mut bytes = Vec::new();
                all.save(&mut bytes);
                bytes.push(77);
                let mut rest = bytes.as_slice();
                all = Accumulator::load(aggregate, Limits::default(), &mut rest).unwrap();
                assert_eq!(rest, [77]);
            }
        }
    }
    assert_eq!(all.count(), values.len() as u64);
    assert_eq!(all.is_empty(), values.is_empty());
    all
}

fn check(rng: &mut Rng, aggregate: Aggregate, values: &[Value], seed: u64) {
    let expected = naive(aggregate, values);
    for _ in 0..3 {
        let found = collect(rng, aggregate, values, 4);
        assert!(found.bound().is_none());
        let found = found.result();
        assert!(
            same_result(&found, &expected),
            "seed {seed}: {aggregate:?} of {values:?}: {found:?}, not {expected:?}"
        );
    }
}

#[test]
fn numbers() {
    for seed in 0..cases(400).min(4_000) {
        let mut rng = Rng::new(seed);
        let flavour = rng.below(FLAVOURS);
        let most = rng.pick(&[9, 9, 9, 80]);
        let len = rng.below(most);
        let values: Vec<Value> = (0..len).map(|_| number(&mut rng, flavour)).collect();
        for aggregate in NUMERIC.into_iter().chain(ANY) {
            check(&mut rng, aggregate, &values, seed);
        }
    }
}

#[test]
fn values_of_any_kind() {
    for seed in 0..cases(400).min(4_000) {
        let mut rng = Rng::new(seed);
        let depth = rng.below(4);
        let most = rng.pick(&[7, 7, 7, 60]);
        let len = rng.below(most);
        let values: Vec<Value> = (0..len).map(|_| any(&mut rng, depth)).collect();
        for aggregate in ANY {
            check(&mut rng, aggregate, &values, seed);
        }
    }
}

#[test]
fn pairs() {
    for seed in 0..cases(400).min(4_000) {
        let mut rng = Rng::new(seed);
        let (x, y) = (rng.below(FLAVOURS), rng.below(FLAVOURS));
        let linear = rng.one_in(4);
        let len = rng.below(20);
        let values: Vec<Value> = (0..len)
            .map(|_| {
                let a = number(&mut rng, x);
                let b = if linear { a.clone() } else { number(&mut rng, y) };
                Value::List(vec![a, b])
            })
            .collect();
        check(&mut rng, Aggregate::Corr, &values, seed);
    }
}

/// Long slices go through blocks; their sums are those of one value after another, and of the definition.
#[test]
fn slices_of_all_lengths() {
    for seed in 0..cases(60).min(600) {
        let mut rng = Rng::new(seed);
        let flavour = rng.pick(&[3, 4, 5, 6, 7, 8, 10]);
        let rare = rng.pick(&[3, 5, 6, 7]);
        let len = rng.below(5000);
        let reals: Vec<f64> = (0..len)
            .map(|_| {
                let flavour = if rng.one_in(1000) { rare } else { flavour };
                loop {
                    if let Value::Real(real) = number(&mut rng, flavour) {
                        break real;
                    }
                }
            })
            .collect();
        for aggregate in [Aggregate::Sum, Aggregate::Avg, Aggregate::Var, Aggregate::Min, Aggregate::Max] {
            let (mut slice, mut single) = (new(aggregate), new(aggregate));
            slice.push_reals(&reals);
            reals.iter().for_each(|real| single.push_real_front(*real));
            assert!(same_result(&slice.result(), &single.result()), "seed {seed}: {aggregate:?}");
            if aggregate == Aggregate::Sum {
                let values: Vec<Value> = reals.iter().map(|real| Value::Real(*real)).collect();
                assert!(same_result(&slice.result(), &naive(aggregate, &values)), "seed {seed}");
            }
        }
        let ints: Vec<i64> = (0..len)
            .map(|_| if rng.one_in(9) { i64::MIN } else { rng.bits() as i64 >> rng.below(64) })
            .collect();
        for aggregate in [Aggregate::Sum, Aggregate::Avg, Aggregate::Var, Aggregate::Min, Aggregate::Max] {
            let (mut slice, mut single) = (new(aggregate), new(aggregate));
            slice.push_ints(&ints);
            ints.iter().for_each(|int| single.push_int(*int));
            assert!(same_result(&slice.result(), &single.result()), "seed {seed}: {aggregate:?}");
            if aggregate == Aggregate::Sum {
                let values: Vec<Value> = ints.iter().map(|int| Value::Int(*int)).collect();
                assert!(same_result(&slice.result(), &naive(aggregate, &values)), "seed {seed}");
            }
        }
    }
}

/// In a slice whose large values cancel, a small value is the sum, however far its digits are from theirs.
#[test]
fn small_digits_survive_cancellation() {
    for spread in 0..1000 {
        let (large, small) = (2f64.powi(spread), 3.0 * 2f64.powi(-20));
        let mut reals: Vec<f64> = (0..128).map(|i| if i % 3 == 0 { large * 2.0 } else { -large }).collect();
        reals.push(-large);
        reals.insert(spread as usize % reals.len(), small);
        let mut sum = new(Aggregate::Sum);
        sum.push_reals(&reals);
        let values: Vec<Value> = reals.iter().map(|real| Value::Real(*real)).collect();
        assert!(same_result(&sum.result(), &naive(Aggregate::Sum, &values)), "2^{spread}");
        assert_eq!(sum.result(), Ok(Value::Real(small)), "2^{spread}");
    }
}

/// A result is asked for after every value: what is sorted and what waits agree with sorting everything.
#[test]
fn running_order_statistics() {
    for seed in 0..cases(12).min(100) {
        let mut rng = Rng::new(seed);
        let spread = rng.pick(&[3, 100, 1_000_000]);
        let ask = rng.pick(&[1, 1, 3, 700]);
        let mut sorted: Vec<f64> = Vec::new();
        let mut median = new(Aggregate::Median);
        let mut histogram = new(Aggregate::Histogram(5));
        for step in 0..5000 {
            let value = match seed % 4 {
                0 => step as f64,
                1 => -(step as f64),
                _ => rng.below(spread) as f64,
            };
            sorted.insert(sorted.partition_point(|x| *x < value), value);
            median.push_real(value);
            histogram.push_real_front(value);
            if !rng.one_in(ask) {
                continue;
            }
            let n = sorted.len();
            let expected = sorted[(n - 1) / 2] / 2.0 + sorted[n / 2] / 2.0;
            assert_eq!(median.result(), Ok(Value::Real(expected)), "seed {seed} step {step}");
            if step % 50 == 0 {
                let values: Vec<Value> = sorted.iter().map(|x| Value::Real(*x)).collect();
                let expected = naive(Aggregate::Histogram(5), &values);
                assert!(same_result(&histogram.result(), &expected), "seed {seed} step {step}");
            }
        }
    }
}

/// Many parts, each of which was asked, appended: rebuilding and inserting agree.
#[test]
fn appended_order_statistics() {
    for seed in 0..cases(12).min(100) {
        let mut rng = Rng::new(seed);
        let mut all = new(Aggregate::Quantile(900_000_000));
        let mut values: Vec<Value> = Vec::new();
        for _ in 0..30 {
            let mut part = new(Aggregate::Quantile(900_000_000));
            for _ in 0..rng.pick(&[0usize, 1, 50, 1000, 6000]) {
                let value = Value::Int(rng.below(20_000) as i64);
                part.push(&value).unwrap();
                values.push(value);
                if rng.one_in(500) {
                    _ = part.result();
                }
            }
            all.append(&part);
            if rng.one_in(5) {
                let mut swapped = part.clone();
                swapped.clear();
                assert!(swapped.is_empty() && swapped.result() == Ok(Value::Null));
                swapped.append(&all);
                all = swapped;
            }
        }
        assert!(same_result(&all.result(), &naive(Aggregate::Quantile(900_000_000), &values)), "seed {seed}");
    }
}

#[test]
fn true_in_a_row() {
    for aggregate in ANY {
        let (mut many, mut single) = (new(aggregate), new(aggregate));
        many.push_true(0);
        assert!(many.is_empty());
        many.push(&Value::Int(4)).unwrap();
        single.push(&Value::Int(4)).unwrap();
        many.push_true(3);
        (0..3).for_each(|_| single.push(&Value::Bool(true)).unwrap());
        assert_eq!(many.count(), 4);
        assert_eq!(many.result(), single.result(), "{aggregate:?}");
    }
}

#[test]
fn what_is_no_number_is_refused() {
    let text = Value::text("x");
    for (aggregate, name) in [
        (Aggregate::Sum, "sum"),
        (Aggregate::Avg, "avg"),
        (Aggregate::Min, "min"),
        (Aggregate::Max, "max"),
        (Aggregate::Var, "var"),
        (Aggregate::Stddev, "stddev"),
        (Aggregate::Median, "median"),
        (Aggregate::Quantile(1), "quantile"),
        (Aggregate::Histogram(3), "histogram"),
    ] {
        let mut all = new(aggregate);
        all.push_int(7);
        let before = all.result();
        let error = format!("`{name}` needs numbers, found text");
        assert_eq!(all.push(&text), Err(error.clone()));
        assert_eq!(all.push_front(&text), Err(error));
        assert_eq!((all.count(), all.result()), (1, before));
        all.push_true(2);
        assert_eq!(all.result(), Err(format!("`{name}` needs numbers, found a boolean")));
        let mut earlier = new(aggregate);
        earlier.push_int(1);
        earlier.append(&all);
        assert_eq!(earlier.result(), all.result());
    }
    let mut corr = new(Aggregate::Corr);
    assert_eq!(corr.push(&Value::Int(1)), Err("`corr` needs pairs of numbers, found an integer".into()));
    assert_eq!(
        corr.push(&Value::List(vec![Value::Int(1)])),
        Err("`corr` needs pairs of numbers, found a list".into())
    );
    assert_eq!(corr.result(), Ok(Value::Null));
    corr.push_ints(&[1, 2]);
    assert_eq!(corr.result(), Err("`corr` needs pairs of numbers, found an integer".into()));
}

#[test]
fn sums_that_overflow_say_so() {
    let mut sum = new(Aggregate::Sum);
    sum.push_int(i64::MAX);
    sum.push_int(1);
    assert_eq!(sum.result(), Err("the sum 9223372036854775808 overflows a 64-bit integer".into()));
    sum.push_int(-1);
    assert_eq!(sum.result(), Ok(Value::Int(i64::MAX)));
    sum.push_real(0.0);
    assert_eq!(sum.result(), Ok(Value::Real(9223372036854775807.0)));
    let mut huge = new(Aggregate::Sum);
    huge.push_reals(&[1e308, 1e308]);
    assert_eq!(huge.result(), Ok(Value::Null));
    huge.push_real(-1e308);
    assert_eq!(huge.result(), Ok(Value::Real(1e308)));
    let mut average = new(Aggregate::Avg);
    average.push_ints(&[i64::MAX; 4]);
    assert_eq!(average.result(), Ok(Value::Real(i64::MAX as f64)));
}

/// Numbers that no trace holds do no harm.
#[test]
fn what_is_not_finite_has_no_statistic() {
    for aggregate in [Aggregate::Sum, Aggregate::Avg, Aggregate::Var, Aggregate::Stddev] {
        for wrong in [f64::NAN, f64::INFINITY] {
            let mut all = new(aggregate);
            all.push_reals(&[1.0; 100]);
            all.push_real(wrong);
            all.push_reals(&[2.0; 100]);
            let mut slice = new(aggregate);
            slice.push_reals(&[[1.0; 40], [wrong; 40]].concat());
            assert_eq!((all.result(), slice.result()), (Ok(Value::Null), Ok(Value::Null)), "{aggregate:?}");
        }
    }
}

#[test]
fn bins_are_bounded() {
    let mut histogram = new(Aggregate::Histogram(u32::MAX));
    assert_eq!(histogram.result(), Ok(Value::Null));
    histogram.push_ints(&[1, 2]);
    let error = "a histogram of 4294967295 bins exceeds the memory of a statistic";
    assert_eq!(histogram.result(), Err(error.into()));
}

/// Engines keep accumulators in threads.
#[test]
fn accumulators_cross_threads() {
    fn crosses<T: Send + Sync>() {}
    crosses::<Accumulator>();
}

#[test]
fn representatives() {
    let mut zero = new(Aggregate::Mode);
    zero.push_real(-0.0);
    zero.push_real(0.0);
    assert!(same(&zero.result().unwrap(), &Value::Real(-0.0)));
    zero.push_int_front(0);
    assert!(same(&zero.result().unwrap(), &Value::Int(0)));
}
