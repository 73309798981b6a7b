//! Exact sums of whole numbers and reals, rounded once, whatever the order.
//!
//! Three representations, each taken when the one before cannot hold the sum: a whole number of 128 bits while only
//! whole numbers come; [`Fixed`], 384 bits with a common exponent; [`Wide`], which holds every sum of reals. A whole
//! number costs 3 ns, a real 4 to 7, in a `Wide` 10; in long slices a whole number 0.4 ns, a real 0.9 ns ([`lanes`]).
//! 80 bytes, 600 more for a `Wide`.

mod fixed;
mod lanes;
#[cfg(test)]
mod tests;
mod wide;

use crate::checkpoint::{put_digits, take_digits};
use crate::float::{decode, encode};
use crate::save::{corrupt, put_word, take_byte, take_word};
pub(crate) use fixed::Fixed;
use tw_core::codec::Corrupt;
pub(crate) use wide::Wide;

/// An exact sum.
#[derive(Clone, Debug)]
pub struct ExactSum {
    digits: Digits,
    /// Whether a real was added: the sum is then a real.
    real: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Digits {
    Whole(i128),
    Fixed(Fixed),
    Wide(Box<Wide>),
    /// An infinity or a NaN was added.
    NotFinite,
}

impl Default for ExactSum {
    fn default() -> Self {
        ExactSum { digits: Digits::Whole(0), real: false }
    }
}

impl ExactSum {
    /// Adds a whole number.
    #[inline]
    pub fn push_int(&mut self, int: i64) {
        match &mut self.digits {
            Digits::Whole(sum) => *sum = sum.wrapping_add(i128::from(int)),
            _ => self.add(int, 0),
        }
    }

    /// Takes back a whole number that was added.
    pub fn remove_int(&mut self, int: i64) {
        match &mut self.digits {
            Digits::Whole(sum) => *sum = sum.wrapping_sub(i128::from(int)),
            _ => self.add_whole(-i128::from(int)),
        }
    }

    /// Adds a whole number of 128 bits times a power of two.
    pub(crate) fn push_scaled(&mut self, sum: i128, base: i32) {
        let mut rest = sum;
        let mut exponent = base;
        while rest != 0 {
            let part = rest % (1 << 62);
            self.add(part as i64, exponent);
            rest /= 1 << 62;
            exponent += 62;
        }
    }

    /// Adds a real.
    #[inline]
    pub fn push_real(&mut self, real: f64) {
        self.real = true;
        let (mantissa, exponent) = decode(real);
        // 972 is the exponent of infinities and NaN.
        if let Digits::Fixed(sum) = &mut self.digits
            && exponent < 972
            && sum.add(mantissa, exponent)
        {
            return;
        }
        self.push_rare(real);
    }

    #[cold]
    fn push_rare(&mut self, real: f64) {
        if real.is_finite() {
            let (mantissa, exponent) = decode(real);
            if mantissa != 0 {
                self.add(mantissa, exponent);
            }
        } else {
            self.digits = Digits::NotFinite;
        }
    }

    /// Adds whole numbers.
    pub fn push_ints(&mut self, ints: &[i64]) {
        // Sums of fewer than 2³² whole numbers have at most 96 bits.
        for block in ints.chunks(1 << 31) {
            self.add_whole(lanes::sum_ints(block));
        }
    }

    /// Adds reals.
    pub fn push_reals(&mut self, reals: &[f64]) {
        self.real |= !reals.is_empty();
        for block in reals.chunks(lanes::BLOCK) {
            if !lanes::sum_reals(block, |part| self.push_real(part)) {
                block.iter().for_each(|real| self.push_real(*real));
            }
        }
    }

    fn add_whole(&mut self, sum: i128) {
        match &mut self.digits {
            Digits::Whole(mine) => *mine = mine.wrapping_add(sum),
            _ => {
                // 62 bits at a time, each part with its sign.
                let (mut rest, mut exponent) = (sum, 0);
                while rest != 0 {
                    let part = rest % (1 << 62);
                    self.add(part as i64, exponent);
                    rest /= 1 << 62;
                    exponent += 62;
                }
            }
        }
    }

    fn add(&mut self, mantissa: i64, exponent: i32) {
        loop {
            match &mut self.digits {
                Digits::Whole(sum) => {
                    let sum = std::mem::take(sum);
                    self.digits = Digits::Fixed(Fixed::new(exponent));
                    self.add_whole(sum);
                }
                Digits::Fixed(sum) => {
                    if sum.add(mantissa, exponent) {
                        return;
                    }
                    self.widen();
                }
                Digits::Wide(sum) => return sum.add(mantissa, exponent),
                Digits::NotFinite => return,
            }
        }
    }

    /// Goes over to [`Wide`].
    fn widen(&mut self) -> &mut Wide {
        let mut wide = Wide::for_sums();
        match &self.digits {
            Digits::Whole(sum) => wide.add_limbs(&[*sum as u64, (*sum >> 64) as u64], 0),
            Digits::Fixed(sum) => wide.add_limbs(&sum.limbs, sum.base),
            Digits::Wide(_) | Digits::NotFinite => {}
        }
        if !matches!(self.digits, Digits::Wide(_)) {
            self.digits = Digits::Wide(Box::new(wide));
        }
        match &mut self.digits {
            Digits::Wide(wide) => wide,
            _ => unreachable!("just made"),
        }
    }

    /// Adds another sum.
    pub fn append(&mut self, other: &ExactSum) {
        self.real |= other.real;
        match (&mut self.digits, &other.digits) {
            (Digits::NotFinite, _) => {}
            (_, Digits::NotFinite) => self.digits = Digits::NotFinite,
            (_, Digits::Whole(sum)) => self.add_whole(*sum),
            (Digits::Whole(sum), _) => {
                let sum = std::mem::take(sum);
                self.digits = other.digits.clone();
                self.add_whole(sum);
            }
            (Digits::Fixed(mine), Digits::Fixed(sum)) => {
                if !mine.merge(sum) {
                    self.widen().add_limbs(&sum.limbs, sum.base);
                }
            }
            (_, Digits::Fixed(sum)) => self.widen().add_limbs(&sum.limbs, sum.base),
            (_, Digits::Wide(sum)) => self.widen().merge(sum),
        }
    }

    /// The sum as a whole number, unless a real was added.
    pub fn whole(&self) -> Option<i128> {
        match self.digits {
            Digits::Whole(sum) if !self.real => Some(sum),
            _ => None,
        }
    }

    /// The real nearest to the sum (ties to even; +0.0 for zero); infinite or NaN if it is none.
    pub fn rounded(&self) -> f64 {
        match &self.digits {
            Digits::Whole(sum) => *sum as f64,
            Digits::Fixed(sum) => {
                let (negative, limbs) = sum.magnitude();
                encode(negative, &limbs, sum.base, false)
            }
            Digits::Wide(sum) => {
                let (negative, limbs, base) = sum.magnitude();
                encode(negative, &limbs, base, false)
            }
            Digits::NotFinite => f64::NAN,
        }
    }

    /// Sign, limbs, exponent of the lowest bit; nothing if it is not finite.
    pub(crate) fn magnitude(&self) -> Option<(bool, Vec<u64>, i32)> {
        Some(match &self.digits {
            Digits::Whole(sum) => {
                let magnitude = sum.unsigned_abs();
                (*sum < 0, vec![magnitude as u64, (magnitude >> 64) as u64], 0)
            }
            Digits::Fixed(sum) => {
                let (negative, limbs) = sum.magnitude();
                (negative, limbs.to_vec(), sum.base)
            }
            Digits::Wide(sum) => sum.magnitude(),
            Digits::NotFinite => return None,
        })
    }

    pub(crate) fn save(&self, out: &mut Vec<u8>) {
        let kind = match self.digits {
            Digits::Whole(_) => 0,
            Digits::Fixed(_) | Digits::Wide(_) => 1,
            Digits::NotFinite => 2,
        };
        out.push(kind << 1 | u8::from(self.real));
        if let Digits::Whole(sum) = self.digits {
            put_word(sum as u64, out);
            put_word((sum >> 64) as u64, out);
        } else if let Some(digits) = self.magnitude() {
            put_digits(digits, out);
        }
    }

    pub(crate) fn load(from: &mut &[u8]) -> Result<Self, Corrupt> {
        let head = take_byte(from)?;
        let digits = match head >> 1 {
            0 => Digits::Whole(i128::from(take_word(from)?) | i128::from(take_word(from)?) << 64),
            1 => {
                let (negative, limbs, base) = take_digits(from, (-1088, 1088))?;
                Fixed::from_magnitude(negative, &limbs, base).map_or_else(
                    || {
                        let mut wide = Wide::for_sums();
                        wide.add_magnitude(negative, &limbs, base);
                        Digits::Wide(Box::new(wide))
                    },
                    Digits::Fixed,
                )
            }
            2 => Digits::NotFinite,
            _ => return corrupt("a sum of an unknown kind"),
        };
        Ok(ExactSum { digits, real: head & 1 == 1 })
    }

    /// Memory held beyond the sum itself.
    pub fn heap_bytes(&self) -> usize {
        match &self.digits {
            Digits::Wide(sum) => sum.heap_bytes(),
            _ => 0,
        }
    }
}
