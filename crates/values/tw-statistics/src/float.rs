//! Reals as whole numbers times powers of two, and back by one rounding.

/// The least exponent of a real's last place.
pub const LEAST: i32 = -1074;

/// A finite real as `mantissa · 2^exponent`, exactly.
#[inline]
pub fn decode(real: f64) -> (i64, i32) {
    let bits = real.to_bits();
    let field = (bits >> 52 & 0x7ff) as i32;
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    // A subnormal has no leading one and the exponent of field 1.
    let normal = i64::from(field != 0);
    let magnitude = fraction | normal << 52;
    let sign = bits as i64 >> 63;
    ((magnitude ^ sign) - sign, field - normal as i32 + LEAST)
}

/// The real nearest to `limbs · 2^base` (ties to even), where `limbs` are the digits of a whole number to base 2⁶⁴, the
/// last of them first, and `more` says that the true number is a little larger. Infinite if it is too large.
pub fn encode(negative: bool, limbs: &[u64], base: i32, more: bool) -> f64 {
    let Some(high) = limbs.iter().rposition(|limb| *limb != 0) else { return 0.0 };
    let top = high as i32 * 64 + 63 - limbs[high].leading_zeros() as i32;
    // The exponent of the result's last place, and where it stands among the limbs' bits.
    let last = (base + top - 52).max(LEAST);
    let drop = last - base;
    let (mantissa, half, rest) = if drop <= 0 {
        (limbs[0] << -drop, false, more)
    } else {
        let drop = drop as usize;
        let half = bit(limbs, drop - 1);
        (window(limbs, drop), half, more || any_below(limbs, drop - 1))
    };
    let mantissa = mantissa + u64::from(half && (rest || mantissa & 1 == 1));
    // The leading one counts as one in the exponent's field, which makes subnormals fit; a carry out of the mantissa
    // moves on to the exponent by itself, and to infinity after the largest.
    let magnitude = match last {
        ..=971 => f64::from_bits((((last - LEAST) as u64) << 52) + mantissa),
        _ => f64::INFINITY,
    };
    if negative { -magnitude } else { magnitude }
}

fn bit(limbs: &[u64], at: usize) -> bool {
    limbs.get(at / 64).is_some_and(|limb| limb >> (at % 64) & 1 == 1)
}

/// The 64 bits from `at` on.
fn window(limbs: &[u64], at: usize) -> u64 {
    let (index, shift) = (at / 64, at % 64);
    let low = limbs.get(index).copied().unwrap_or(0) >> shift;
    let high = limbs.get(index + 1).copied().unwrap_or(0);
    if shift == 0 { low } else { low | high << (64 - shift) }
}

/// Whether a bit below `at` is set.
fn any_below(limbs: &[u64], at: usize) -> bool {
    let (index, shift) = (at / 64, at % 64);
    limbs[..index.min(limbs.len())].iter().any(|limb| *limb != 0)
        || limbs.get(index).is_some_and(|limb| limb & ((1 << shift) - 1) != 0)
}

/// Reals ordered as whole numbers: −0.0 before +0.0.
#[inline]
pub fn to_key(real: f64) -> i64 {
    let bits = real.to_bits() as i64;
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

/// The inverse of [`to_key`].
#[inline]
pub fn from_key(key: i64) -> f64 {
    f64::from_bits((key ^ ((key >> 63) as u64 >> 1) as i64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tw_testkit::Rng;

    const EDGES: [f64; 11] = [
        0.0,
        5e-324,
        f64::MIN_POSITIVE,
        2.0 * f64::MIN_POSITIVE,
        f64::MIN_POSITIVE - 5e-324,
        1.0,
        -1.5,
        1e-300,
        f64::MAX,
        f64::MIN,
        9007199254740993.0,
    ];

    #[test]
    fn decoding_and_encoding_are_inverse() {
        let mut rng = Rng::new(1);
        let random = (0..10_000).map(|_| f64::from_bits(rng.bits())).filter(|x| x.is_finite());
        for x in EDGES.into_iter().chain(random) {
            let (m, e) = decode(x);
            assert_eq!(encode(m < 0, &[m.unsigned_abs()], e, false), x, "{x:e}");
            assert_eq!(from_key(to_key(x)).to_bits(), x.to_bits());
        }
        assert!(to_key(-0.0) < to_key(0.0) && to_key(-1.0) < to_key(-0.0) && to_key(2.0) > to_key(1.0));
    }

    #[test]
    fn halves_go_to_even_and_the_largest_to_infinity() {
        let one = 1u64 << 53; // 54 bits: one bit is dropped
        for (limb, more, expected) in [
            (one, false, one as f64),
            (one + 1, false, one as f64),
            (one + 1, true, (one + 2) as f64),
            (one + 3, false, (one + 4) as f64),
            (u64::MAX, false, 18446744073709551616.0),
        ] {
            assert_eq!(encode(false, &[limb], 0, more), expected, "{limb:x}");
        }
        assert_eq!(encode(false, &[u64::MAX], 960, false), f64::INFINITY);
        assert_eq!(encode(true, &[u64::MAX - 2047], 960, false), f64::MIN);
        assert_eq!(encode(false, &[1], 1024, false), f64::INFINITY);
        assert_eq!(encode(false, &[1], -1075, false), 0.0);
        assert_eq!(encode(false, &[1], -1075, true), 5e-324);
        assert_eq!(encode(false, &[3], -1075, false), 1e-323);
        assert_eq!(encode(false, &[0, 0, 1], -1074 - 128, false), 5e-324);
        assert_eq!(encode(false, &[1], -3000, true), 0.0);
    }
}
