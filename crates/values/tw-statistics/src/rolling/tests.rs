//! Columns at once are values one by one, and both are what an accumulator makes of what is inside.

use super::*;
use crate::{Accumulator, Limits};
use tw_testkit::Rng;

fn reals(random: &mut Rng, len: usize) -> Vec<f64> {
    let kind = random.below(4);
    let one = |random: &mut Rng| {
        let unit = (random.bits() >> 11) as f64 / (1u64 << 53) as f64;
        match kind {
            0 => unit,
            1 => (unit - 0.5) * 1e6,
            2 if random.one_in(40) => random.pick(&[1e17, -1e17, 0.0, -0.0, 1e-9, 1e300]),
            2 => (random.below(2000) as f64 - 1000.0) / 8.0,
            _ if random.one_in(3) => 0.0,
            _ => unit * 1e-3,
        }
    };
    (0..len).map(|_| one(random)).collect()
}

#[test]
fn averages_of_columns_are_those_of_what_is_inside() {
    for seed in 0..tw_testkit::cases(300) {
        let random = &mut Rng::new(seed);
        let (size, len) = (1 + random.below(40), 1 + random.below(600));
        let values = reals(random, len);
        let present: Bits = (0..len).map(|_| seed % 3 > 0 || !random.one_in(9)).collect();
        let mut window = Rolling::new(Aggregate::Avg, size as i64 - 1).expect("it has windows");
        let (mut out, mut valid, mut from) = (Vec::new(), Bits::new(), 0);
        while from < len {
            let to = from + 1 + random.below(len - from);
            let part: Bits = (from..to).map(|at| present.get(at)).collect();
            assert!(window.averages(
                (true, |at: usize| (from + at) as i64),
                (&values[from..to], &part),
                &mut out,
                &mut valid
            ));
            from = to;
        }
        assert_eq!(out.len(), len);
        for (at, &found) in out.iter().enumerate() {
            let mut inside = Accumulator::new(Aggregate::Avg, Limits::default());
            let from = (at + 1).saturating_sub(size);
            for (near, &value) in values[from..=at].iter().enumerate() {
                if present.get(from + near) {
                    inside.push_real(value);
                }
            }
            let found = if valid.get(at) { Value::Real(found) } else { Value::Null };
            let expected = inside.result().expect("a real");
            let bits =
                |value: &Value| if let Value::Real(real) = value { Some(real.to_bits()) } else { None };
            assert_eq!(bits(&found), bits(&expected), "seed {seed}, {at}: {found:?}, not {expected:?}");
        }
    }
}

#[test]
fn whole_numbers_round_once() {
    let random = &mut Rng::new(5);
    for _ in 0..200_000 {
        let bits = 3 + random.below(114);
        let number = (i128::from(random.bits()) << 64 | i128::from(random.bits())) >> (127 - bits);
        let ties = number & !((1 << random.below(70)) - 1) | 1 << random.below(66);
        for number in [number, -number, ties, -ties] {
            assert_eq!(sum::nearest(number), number as f64, "{number}");
        }
    }
}
