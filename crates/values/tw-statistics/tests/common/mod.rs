//! What the tests share: the definition of every statistic, values of all kinds, equality by bits.

#![allow(dead_code)]

pub mod naive;

use tw_core::Value;
use tw_ir::Aggregate;
use tw_testkit::Rng;

/// Statistics of numbers.
pub const NUMERIC: [Aggregate; 15] = [
    Aggregate::Count,
    Aggregate::Sum,
    Aggregate::Min,
    Aggregate::Max,
    Aggregate::Avg,
    Aggregate::First,
    Aggregate::Last,
    Aggregate::Var,
    Aggregate::Stddev,
    Aggregate::Median,
    Aggregate::Quantile(0),
    Aggregate::Quantile(1_000_000_000),
    Aggregate::Quantile(333_333_333),
    Aggregate::Histogram(1),
    Aggregate::Histogram(7),
];

/// Statistics of values of any kind.
pub const ANY: [Aggregate; 5] =
    [Aggregate::Count, Aggregate::First, Aggregate::Last, Aggregate::Mode, Aggregate::Distinct];

/// Equal, and of the same kind and bits.
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Real(a), Value::Real(b)) => a.to_bits() == b.to_bits(),
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && same(&a.1, &b.1))
        }
        _ => a == b,
    }
}

pub fn same_result(a: &Result<Value, String>, b: &Result<Value, String>) -> bool {
    match (a, b) {
        (Ok(a), Ok(b)) => same(a, b),
        (a, b) => a == b,
    }
}

/// A family of numbers that are hard in one way, `flavour` of [`FLAVOURS`].
pub const FLAVOURS: usize = 14;

pub fn number(rng: &mut Rng, flavour: usize) -> Value {
    let unit = |rng: &mut Rng| (rng.bits() >> 11) as f64 / (1u64 << 53) as f64;
    match flavour {
        0 => Value::Int(rng.below(7) as i64 - 3),
        1 => Value::Int(rng.bits() as i64),
        2 => Value::Int(rng.pick(&[i64::MIN, i64::MAX, i64::MIN + 1, i64::MAX - 1, 0, -1])),
        3 => Value::Real(unit(rng)),
        4 => Value::Real((rng.below(2001) as f64 - 1000.0) / 100.0),
        5 => Value::Real(rng.pick(&[1e308, -1e308, f64::MAX, f64::MIN, 1.0, -1.0, 1e292, -1e292, 9.9e291])),
        6 => Value::Real(f64::from_bits(rng.bits() & !(0x7fe << 52))), // subnormals and the least normals
        7 => loop {
            let real = f64::from_bits(rng.bits());
            if real.is_finite() {
                break Value::Real(real);
            }
        },
        8 => [Value::Real(0.0), Value::Int(0), Value::Real(-0.0)][rng.below(3)].clone(),
        9 => {
            // Around 2⁵³ and 2⁶³, where whole numbers and reals part.
            let base = rng.pick(&[1i64 << 53, i64::MAX, i64::MIN, -(1 << 53), 1 << 62]);
            let int = base.wrapping_add(rng.below(9) as i64 - 4);
            if rng.one_in(2) { Value::Int(int) } else { Value::Real(int as f64) }
        }
        10 => Value::Real(1e6 + unit(rng) * 1e-6), // all digits of the mean, hardly any of the spread
        // Exponents that just fit a common window, and that just do not.
        11 | 12 => {
            let spread = if flavour == 11 { 150 } else { 350 };
            let sign = rng.pick(&[1.0, -1.0]);
            Value::Real(sign * (0.5 + unit(rng)) * 2f64.powi(rng.below(spread) as i32 - 100))
        }
        _ => {
            let other = rng.below(FLAVOURS - 1);
            number(rng, other)
        }
    }
}

/// A value of any kind, nested `depth` deep at most.
pub fn any(rng: &mut Rng, depth: usize) -> Value {
    match rng.below(if depth == 0 { 6 } else { 8 }) {
        0 => Value::Bool(rng.one_in(2)),
        1 => Value::Int(rng.below(3) as i64),
        2 => Value::Real(rng.pick(&[0.0, -0.0, 1.0, 0.5, 2.0, 1e300, -0.5])),
        3 | 4 => Value::text(rng.pick(&["a", "b", "", "a\0", "a\0b", "\u{10000}", "\u{ffff}", "ab"])),
        5 => {
            let flavour = rng.pick(&[0, 8, 9]);
            number(rng, flavour)
        }
        6 => {
            let len = rng.below(3);
            Value::List((0..len).map(|_| part(rng, depth - 1)).collect())
        }
        _ => {
            let mut fields = vec![("k".into(), part(rng, depth - 1)), ("a".into(), part(rng, depth - 1))];
            if rng.one_in(2) {
                fields.reverse();
            }
            fields.truncate(rng.below(3));
            Value::Object(fields)
        }
    }
}

fn part(rng: &mut Rng, depth: usize) -> Value {
    if rng.one_in(5) { Value::Null } else { any(rng, depth) }
}
