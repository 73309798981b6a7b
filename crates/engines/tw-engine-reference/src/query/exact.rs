//! Numbers without rounding, and the one rounding at the end.
//!
//! Whole numbers and finite reals are whole multiples of powers of two, so sums and products of them are too.

use num_bigint::{BigInt, Sign};
use std::cmp::Ordering;
use tw_core::Value;

/// Numbers as multiples of 2^`unit`.
pub(super) struct Multiples {
    pub(super) of: Vec<BigInt>,
    pub(super) unit: i64,
}

/// The numbers exactly; `None` if some value is no number.
pub(super) fn multiples<'v>(values: impl Iterator<Item = &'v Value>) -> Option<Multiples> {
    let parts: Vec<(i64, i64)> = values.map(mantissa_and_exponent).collect::<Option<_>>()?;
    let unit = parts.iter().map(|(_, exponent)| *exponent).min().unwrap_or(0);
    let of = parts.into_iter().map(|(mantissa, exponent)| BigInt::from(mantissa) << (exponent - unit));
    Some(Multiples { of: of.collect(), unit })
}

/// m and e with value = m·2^e.
fn mantissa_and_exponent(value: &Value) -> Option<(i64, i64)> {
    match value {
        Value::Int(i) => Some((*i, 0)),
        Value::Real(r) if *r == 0.0 => Some((0, 0)),
        Value::Real(r) => {
            let (mantissa, exponent) = binary(r.abs().to_bits());
            let mantissa = mantissa as i64;
            Some((if *r < 0.0 { -mantissa } else { mantissa }, exponent))
        }
        _ => None,
    }
}

/// m and e of the real with these bits (and no sign). Those of infinity are 2^1024, the number after the largest.
fn binary(bits: u64) -> (u64, i64) {
    let (fraction, field) = (bits & ((1 << 52) - 1), (bits >> 52) as i64);
    if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) }
}

/// The real nearest to numerator / denominator · 2^exponent, ties to the even one: found by halving the list of all
/// reals, which have the order of their bits. Infinity stands for 2^1024 there, as in IEEE 754.
pub(super) fn nearest(numerator: &BigInt, denominator: &BigInt, exponent: i64) -> f64 {
    let size = BigInt::from(numerator.magnitude().clone());
    // The number without its sign, against m·2^e.
    let against = |(mantissa, e): (u64, i64)| {
        let other = denominator * mantissa;
        let shift = exponent - e;
        if shift >= 0 { (&size << shift).cmp(&other) } else { size.cmp(&(other << -shift)) }
    };
    // The largest real that is not above the number lies in low..high.
    let (mut low, mut high) = (0, f64::INFINITY.to_bits());
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if against(binary(middle)) == Ordering::Less { high = middle } else { low = middle }
    }
    let (mantissa, e) = binary(low);
    let up = match against((2 * mantissa + 1, e - 1)) {
        Ordering::Less => false,
        Ordering::Equal => low % 2 == 1,
        Ordering::Greater => true,
    };
    let nearest = f64::from_bits(if up { low + 1 } else { low });
    if numerator.sign() == Sign::Minus { -nearest } else { nearest }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotient(numerator: i64, denominator: i64, exponent: i64) -> f64 {
        nearest(&numerator.into(), &denominator.into(), exponent)
    }

    #[test]
    fn rounds_as_division_does() {
        for (a, b) in [(1, 3), (2, 3), (-1, 10), (i64::MAX, 1), (1 << 53, 3), ((1 << 53) - 1, 7), (0, 5)] {
            // Both sides are exact reals or the rounding of one whole number, so the division rounds once.
            let b_exact = b as f64;
            if a.unsigned_abs() <= 1 << 53 {
                assert_eq!(quotient(a, b, 0), a as f64 / b_exact, "{a}/{b}");
            } else {
                assert_eq!(quotient(a, 1, 0), a as f64, "{a}");
            }
        }
    }

    #[test]
    fn rounds_ties_to_even_and_at_both_ends() {
        assert_eq!(quotient((1 << 53) + 1, 1, 0), 9_007_199_254_740_992.0);
        assert_eq!(quotient((1 << 53) + 3, 1, 0), 9_007_199_254_740_996.0);
        assert_eq!(quotient(1, 1, -1074), f64::from_bits(1));
        assert_eq!(quotient(1, 1, -1075), 0.0);
        assert_eq!(quotient(3, 1, -1075), f64::from_bits(2));
        assert_eq!(quotient(3, 2, -1075), f64::from_bits(1));
        assert_eq!(quotient((1 << 53) - 1, 1, 971), f64::MAX);
        assert_eq!(quotient((1 << 54) - 1, 1, 970), f64::INFINITY);
        assert_eq!(quotient(-1, 1, 5000), f64::NEG_INFINITY);
        assert!(quotient(-1, 3, -2000).is_sign_negative());
    }

    #[test]
    fn numbers_are_exact() {
        let values = [Value::Real(0.1), Value::Int(3), Value::Real(-f64::from_bits(1)), Value::Real(1e308)];
        let exact = multiples(values.iter()).unwrap();
        for (value, multiple) in values.iter().zip(&exact.of) {
            let expected = match value {
                Value::Real(r) => *r,
                _ => 3.0,
            };
            assert_eq!(nearest(multiple, &1.into(), exact.unit), expected);
        }
        assert!(multiples([Value::text("3")].iter()).is_none());
    }
}
