//! Exact sums of slices, several values at a time.
//!
//! Reals are cut, all at the same places, into parts that can be added without rounding: with σ = 1.5·2^k the real
//! `(x + σ) − σ` is `x` rounded to a multiple of 2^(k−52), and `x` less that is exact and at most 2^(k−53). As long as
//! every x is below 2^(k−8), 256 such parts have an exact sum. (The error-free splitting of Zielke and Drygalla, as in
//! Rump's summation.) Two cuts reach 89 bits below the largest value, four 177; what has digits beyond goes one by one.

/// Values that are added at a time: 256 in each lane.
pub const BLOCK: usize = 256 * LANES;

const LANES: usize = 8;

/// Hands over parts whose sum is the sum of `reals`, at most [`BLOCK`] of them; false, and none handed over, if their
/// digits are too far apart, if they are too large, not finite, or too few to be worth it.
pub fn sum_reals(reals: &[f64], mut part: impl FnMut(f64)) -> bool {
    if reals.len() < 4 * LANES {
        return false;
    }
    let mut largest = [0f64; LANES];
    let (rows, rest) = reals.as_chunks::<LANES>();
    for row in rows {
        for (largest, x) in largest.iter_mut().zip(row) {
            *largest = if x.abs() > *largest { x.abs() } else { *largest };
        }
    }
    let largest = rest.iter().chain(&largest).fold(0f64, |a, b| a.max(b.abs()));
    // All are below 2^top.
    let top = (largest.to_bits() >> 52) as i32 - 1022;
    if top + 8 >= 1023 {
        return false;
    }
    if let Some(parts) = cut::<2>(rows, rest, top) {
        parts.into_iter().flatten().for_each(&mut part);
        return true;
    }
    if let Some(parts) = cut::<4>(rows, rest, top) {
        parts.into_iter().flatten().for_each(&mut part);
        return true;
    }
    false
}

/// The sums of the parts of `CUTS` cuts, in each lane; nothing if digits are left, or a value is not finite.
fn cut<const CUTS: usize>(rows: &[[f64; LANES]], rest: &[f64], top: i32) -> Option<[[f64; LANES]; CUTS]> {
    let mut sigma = [0.0; CUTS];
    for (cut, sigma) in sigma.iter_mut().enumerate() {
        // The second cut is for values below 2^(top − 45), and so on.
        *sigma = 1.5 * power(top + 8 - 45 * cut as i32);
    }
    let mut sums = [[0.0; LANES]; CUTS];
    let mut left = [0u64; LANES];
    let mut add = |row: &[f64; LANES]| {
        for lane in 0..LANES {
            let mut x = row[lane];
            for (sums, sigma) in sums.iter_mut().zip(sigma) {
                let part = (x + sigma) - sigma;
                x -= part;
                sums[lane] += part;
            }
            left[lane] |= x.to_bits();
        }
    };
    rows.iter().for_each(&mut add);
    let mut last = [0.0; LANES];
    last[..rest.len()].copy_from_slice(rest);
    add(&last);
    // The sign bit alone is −0.0: nothing left.
    let left = left.iter().fold(0, |a, b| a | b) << 1;
    (left == 0 && sums.as_flattened().iter().all(|sum| sum.is_finite())).then_some(sums)
}

/// 2^exponent, 0 if that is no real.
fn power(exponent: i32) -> f64 {
    match exponent {
        -1022..=1023 => f64::from_bits(((exponent + 1023) as u64) << 52),
        -1074..-1022 => f64::from_bits(1 << (exponent + 1074)),
        _ => 0.0,
    }
}

/// The sum of at most 2³¹ whole numbers.
pub fn sum_ints(ints: &[i64]) -> i128 {
    // Halves of 32 bits have sums below 2⁶³; the sign bit is turned around to make the upper half a positive number.
    let (mut low, mut high) = ([0u64; LANES], [0u64; LANES]);
    let (rows, rest) = ints.as_chunks::<LANES>();
    for row in rows {
        for lane in 0..LANES {
            let bits = row[lane] as u64 ^ 1 << 63;
            low[lane] += bits & 0xffff_ffff;
            high[lane] += bits >> 32;
        }
    }
    let low: u128 = low.iter().map(|sum| u128::from(*sum)).sum();
    let high: u128 = high.iter().map(|sum| u128::from(*sum)).sum();
    let biased = (low + (high << 32)) as i128;
    let sum = biased - ((rows.len() * LANES) as i128 * (1 << 63));
    sum + rest.iter().map(|int| i128::from(*int)).sum::<i128>()
}
