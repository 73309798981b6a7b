//! Saved bytes that were damaged are an error or some other state, never a panic or a huge allocation.

mod common;

use common::{ANY, FLAVOURS, NUMERIC, any, number};
use tw_core::Value;
use tw_ir::Aggregate;
use tw_statistics::{Accumulator, Limits};
use tw_testkit::Rng;
use tw_testkit::conformance::cases;

/// Loads, and uses what was loaded in every way.
fn exercise(aggregate: Aggregate, bytes: &[u8]) -> bool {
    let limits = Limits { exact_bytes: 1 << 14 };
    let Ok(mut loaded) = Accumulator::load(aggregate, limits, &mut &bytes[..]) else { return false };
    assert!(
        loaded.heap_bytes() < (1 << 20) + 200 * bytes.len(),
        "{} of {}",
        loaded.heap_bytes(),
        bytes.len()
    );
    _ = (loaded.result(), loaded.bound());
    loaded.push_reals(&[1.5, 1e-300, 1e300]);
    loaded.push_ints(&[1, i64::MIN]);
    loaded.push_true(1);
    _ = loaded.push(&Value::List(vec![Value::Int(1), Value::Real(2.0)]));
    let copy = loaded.clone();
    loaded.append(&copy);
    _ = (loaded.result(), loaded.bound());
    let mut again = Vec::new();
    loaded.save(&mut again);
    assert!(Accumulator::load(aggregate, limits, &mut &again[..]).is_ok());
    true
}

#[test]
fn damaged_bytes() {
    let mut accepted = 0;
    for seed in 0..cases(60).min(300) {
        let mut rng = Rng::new(seed);
        for aggregate in NUMERIC.into_iter().chain(ANY).chain([Aggregate::Corr]) {
            let limits = Limits { exact_bytes: rng.pick(&[0, 1 << 13, 1 << 28]) };
            let mut all = Accumulator::new(aggregate, limits);
            let flavour = rng.below(FLAVOURS);
            for _ in 0..rng.pick(&[0usize, 1, 5, 100, 4000]) {
                let value = if aggregate == Aggregate::Corr {
                    Value::List(vec![number(&mut rng, flavour), number(&mut rng, flavour)])
                } else if ANY.contains(&aggregate) {
                    any(&mut rng, 2)
                } else {
                    number(&mut rng, flavour)
                };
                all.push(&value).unwrap();
            }
            let mut bytes = Vec::new();
            all.save(&mut bytes);
            for _ in 0..12 {
                let mut damaged = bytes.clone();
                match rng.below(4) {
                    0 => damaged.truncate(rng.below(bytes.len() + 1)),
                    1 => (0..=rng.below(3)).for_each(|_| {
                        let at = rng.below(bytes.len());
                        damaged[at] ^= 1 << rng.below(8);
                    }),
                    2 => {
                        let at = rng.below(bytes.len().min(40));
                        damaged[at] = rng.pick(&[0, 1, 0x7f, 0x80, 0xff]);
                    }
                    _ => {
                        let at = rng.below(bytes.len());
                        (0..10).for_each(|_| damaged.insert(at, rng.pick(&[0xff, 0x80, 0x01, 6])));
                    }
                }
                accepted += usize::from(exercise(aggregate, &damaged));
            }
            assert!(exercise(aggregate, &bytes), "seed {seed}: {aggregate:?}");
        }
    }
    assert!(accepted > 0, "no damage is ever harmless: the test tests nothing");
}

#[test]
fn random_bytes() {
    let mut accepted = 0;
    for seed in 0..cases(2000).min(5_000) {
        let mut rng = Rng::new(seed);
        for aggregate in NUMERIC.into_iter().chain(ANY).chain([Aggregate::Corr]) {
            let len = rng.below(60);
            // Small bytes are more often what is expected.
            let bytes: Vec<u8> =
                (0..len).map(|_| if rng.one_in(3) { rng.bits() as u8 } else { rng.below(9) as u8 }).collect();
            accepted += usize::from(exercise(aggregate, &bytes));
        }
    }
    assert!(accepted > 0, "no bytes are ever accepted: the test tests nothing");
}

/// Counts so large that the next value would overflow them are refused.
#[test]
fn counts_are_bounded() {
    for (count, fits) in [(1 << 62, true), ((1 << 62) + 1, false), (u64::MAX, false)] {
        let mut bytes = Vec::new();
        tw_core::codec::put(count, &mut bytes);
        bytes.push(0);
        let loaded = Accumulator::load(Aggregate::Count, Limits::default(), &mut &bytes[..]);
        assert_eq!(loaded.is_ok(), fits, "{count}");
    }
}

/// A value nested deeper than any trace's is refused before it can exhaust the stack.
#[test]
fn depth_is_bounded() {
    let mut bytes = vec![1, 0];
    bytes.extend([6, 1].repeat(1_000_000));
    bytes.push(0);
    let error = Accumulator::load(Aggregate::First, Limits::default(), &mut &bytes[..]).unwrap_err();
    assert_eq!(error.to_string(), "the saved state holds a value that nests too deep");
}
