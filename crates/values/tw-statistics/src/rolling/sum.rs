//! An exact sum from which values are taken back.
//!
//! Reals are added as whole multiples of one power of two, 128 bits wide, while their last places lie within 42 bits of it;
//! what does not fit goes into an [`ExactSum`] of its own. Where most do not, the power is chosen anew. Both are exact, so
//! that 1e17 leaves no trace once it is gone.

use crate::float::{LEAST, decode};
use crate::{ExactSum, Number};
use tw_core::Value;

/// Bits by which last places may lie above the power: 53 bits of a mantissa and 32 for the count of values remain.
const ROOM: u32 = 42;

/// A sum of what is there.
#[derive(Clone, Debug, Default)]
pub(super) struct SlidingSum {
    /// Of the whole numbers.
    whole: i128,
    /// Of the reals that fit, in multiples of 2^`base`.
    fixed: i128,
    base: i32,
    ints: u64,
    zeros: u64,
    fit: u64,
    /// Of the others.
    rare: ExactSum,
    rest: u64,
    /// Values since the power was chosen.
    since: u64,
}

impl SlidingSum {
    #[inline]
    pub fn add(&mut self, number: Number) {
        match number {
            Number::Int(int) => {
                self.whole += i128::from(int);
                self.ints += 1;
            }
            Number::Real(real) => {
                let (mantissa, exponent) = decode(real);
                if self.fit == 0 && self.rest == 0 && mantissa != 0 {
                    self.base = base_for(exponent);
                }
                self.since += 1;
                self.add_real(real, (mantissa, exponent));
            }
        }
    }

    #[inline]
    fn add_real(&mut self, real: f64, (mantissa, exponent): (i64, i32)) {
        match self.place(exponent) {
            _ if mantissa == 0 => self.zeros += 1,
            Some(shift) => {
                self.fixed += i128::from(mantissa) << shift;
                self.fit += 1;
            }
            None => {
                self.rare.push_real(real);
                self.rest += 1;
            }
        }
    }

    /// Takes back what was added.
    #[inline]
    pub fn remove(&mut self, number: Number) {
        match number {
            Number::Int(int) => {
                self.whole -= i128::from(int);
                self.ints -= 1;
            }
            Number::Real(real) => {
                let (mantissa, exponent) = decode(real);
                match self.place(exponent) {
                    _ if mantissa == 0 => self.zeros -= 1,
                    Some(shift) => {
                        self.fixed -= i128::from(mantissa) << shift;
                        self.fit -= 1;
                    }
                    None => {
                        self.rare.push_real(-real);
                        self.rest -= 1;
                        if self.rest == 0 {
                            self.rare = ExactSum::default();
                        }
                    }
                }
            }
        }
    }

    /// How far above the power a real's last place is, if it fits.
    #[inline]
    fn place(&self, exponent: i32) -> Option<u32> {
        let shift = exponent.wrapping_sub(self.base) as u32;
        (shift <= ROOM).then_some(shift)
    }

    /// Whether most reals do not fit, and it is long enough ago that the power was chosen.
    pub fn is_skewed(&self) -> bool {
        self.rest > self.fit && self.since > 2 * (self.rest + self.fit)
    }

    /// Chooses the power by the latest of the values that are there.
    pub fn rebase(&mut self, values: impl DoubleEndedIterator<Item = Number> + Clone) {
        *self = Self::default();
        let latest = values.clone().rev().find_map(|number| match number {
            Number::Real(real) if real != 0.0 => Some(decode(real).1),
            _ => None,
        });
        self.base = base_for(latest.unwrap_or(0));
        for number in values {
            match number {
                // The power stays as chosen, whichever comes first.
                Number::Real(real) => self.add_real(real, decode(real)),
                int => self.add(int),
            }
        }
    }

    /// The real nearest to the sum.
    #[inline]
    pub fn rounded(&self) -> f64 {
        match (self.ints, self.rest) {
            (0, 0) if self.base.abs() < 900 => nearest(self.fixed) * power(self.base),
            (_, 0) if self.fit == 0 => self.whole as f64,
            _ => self.mixed(),
        }
    }

    /// Averages of the last `size` values, with each of these reals added in turn; `held` are those that are there. False, and
    /// nothing done, if some do not fit.
    pub fn slide(
        &mut self,
        held: impl ExactSizeIterator<Item = Number>,
        size: usize,
        reals: &[f64],
        out: &mut Vec<f64>,
    ) -> bool {
        let mut sum = self.clone();
        if sum.fit == 0 && sum.rest == 0 {
            let first = reals.iter().find(|real| **real != 0.0);
            sum.base = base_for(first.map_or(0, |real| decode(*real).1));
        }
        if sum.ints + sum.rest > 0 || sum.base.abs() >= 900 {
            return false;
        }
        let scaled = |real: f64| {
            let (mantissa, exponent) = decode(real);
            let shift = exponent.wrapping_sub(sum.base) as u32;
            // Zero fits, whatever its exponent is.
            (shift <= ROOM || mantissa == 0).then(|| i128::from(mantissa) << (shift & 63))
        };
        let before = out.len();
        let (mut count, mut at) = (held.len(), held.len() % size);
        let mut ring = vec![0i128; size];
        for (place, number) in ring.iter_mut().zip(held) {
            *place = scaled(number.to_real()).unwrap_or(0);
        }
        let (mut fixed, scale) = (sum.fixed, power(sum.base));
        for &real in reals {
            let Some(new) = scaled(real) else {
                out.truncate(before);
                return false;
            };
            fixed += new - std::mem::replace(&mut ring[at], new);
            at = if at + 1 == size { 0 } else { at + 1 };
            count = if count < size { count + 1 } else { size };
            out.push(nearest(fixed) * scale / count as f64);
        }
        // What is there now is the end of the column, which is longer than the window.
        let end = reals[reals.len().saturating_sub(size)..].iter();
        self.clone_from(&SlidingSum { base: sum.base, ..Self::default() });
        end.for_each(|&real| self.add_real(real, decode(real)));
        self.since = self.fit;
        true
    }

    #[cold]
    fn mixed(&self) -> f64 {
        let mut sum = self.rare.clone();
        sum.push_scaled(self.whole, 0);
        sum.push_scaled(self.fixed, self.base);
        sum.rounded()
    }

    /// The sum: whole if all values are, an error if that has more than 64 bits.
    pub fn total(&self) -> Result<Value, String> {
        if self.fit + self.rest + self.zeros > 0 {
            let sum = self.rounded();
            return Ok(if sum.is_finite() { Value::Real(sum) } else { Value::Null });
        }
        match i64::try_from(self.whole) {
            Ok(sum) => Ok(Value::Int(sum)),
            Err(_) => Err(format!("the sum {} overflows a 64-bit integer", self.whole)),
        }
    }
}

/// The real nearest to a whole number below 2¹¹⁷: the upper half is exact, and of the lower one what is below its 53 bits says
/// no more than that there is something.
#[inline]
pub(super) fn nearest(number: i128) -> f64 {
    let (high, low) = ((number >> 64) as i64, number as u64);
    if high.unsigned_abs() < 8 {
        return number as f64;
    }
    let low = (low >> 11) as i64 | i64::from(low & 0x7ff != 0);
    (high as f64 * 9_007_199_254_740_992.0 + low as f64) * 2048.0
}

/// The power for numbers near those with this exponent; no last place is below the least.
fn base_for(exponent: i32) -> i32 {
    (exponent - ROOM as i32 / 2).max(LEAST)
}

/// 2^`exponent`, of an exponent that normal numbers have.
#[inline]
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}
