//! Whole numbers of 384 bits times a power of two: every sum of reals whose exponents are not too far apart.
//!
//! 56 bytes; an addition costs about 2 ns. The highest limb only ever holds carries, so that 2⁶³ additions fit.

/// Limbs of a [`Fixed`].
pub const LIMBS: usize = 6;

/// `limbs · 2^base`; the limbs, lowest first, are a number in two's complement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixed {
    pub base: i32,
    pub limbs: [u64; LIMBS],
}

impl Fixed {
    /// Zero, where numbers near `exponent` fit.
    pub fn new(exponent: i32) -> Self {
        // Bases are multiples of a limb, so that two numbers are aligned by moving limbs.
        Fixed { base: (exponent - 64).div_euclid(64) * 64, limbs: [0; LIMBS] }
    }

    /// Adds `mantissa · 2^exponent`, or says that it does not fit.
    #[inline]
    pub fn add(&mut self, mantissa: i64, exponent: i32) -> bool {
        let shift = exponent.wrapping_sub(self.base) as u32;
        if shift >= 64 * (LIMBS as u32 - 2) {
            return mantissa == 0 || self.moved(exponent, 2) && self.add(mantissa, exponent);
        }
        let shifted = i128::from(mantissa) << (shift % 64);
        let words = [shifted as u64, (shifted >> 64) as u64];
        self.carry((shift / 64) as usize, &words, (shifted >> 127) as u64);
        true
    }

    /// Adds the product `mantissa · 2^exponent`, or says that it does not fit. The mantissa has at most 126 bits.
    #[inline]
    pub fn add_product(&mut self, mantissa: i128, exponent: i32) -> bool {
        let shift = exponent.wrapping_sub(self.base) as u32;
        if shift >= 64 * (LIMBS as u32 - 3) {
            return mantissa == 0 || self.moved(exponent, 3) && self.add_product(mantissa, exponent);
        }
        let (low, high) = (mantissa as u64, mantissa >> 64);
        let s = shift % 64;
        let middle = i128::from((u128::from(low) << s >> 64) as u64);
        let upper = (high << s) + middle;
        let words = [low << s, upper as u64, (upper >> 64) as u64];
        self.carry((shift / 64) as usize, &words, (upper >> 127) as u64);
        true
    }

    /// Adds the words at limb `at`, and `sign` (all ones or none) at every limb above.
    #[inline]
    fn carry<const N: usize>(&mut self, at: usize, words: &[u64; N], sign: u64) {
        let mut carry = false;
        for (limb, word) in self.limbs[at..at + N].iter_mut().zip(words) {
            (*limb, carry) = add_carry(*limb, *word, carry);
        }
        // Nearly always nothing is left: a number does not often change its sign.
        if sign.wrapping_add(u64::from(carry)) != 0 {
            for limb in &mut self.limbs[at + N..] {
                (*limb, carry) = add_carry(*limb, sign, carry);
            }
        }
    }

    /// Moves the base such that `exponent` fits, `words` of it below the highest limb; false if digits would be lost.
    #[cold]
    fn moved(&mut self, exponent: i32, words: usize) -> bool {
        let wanted = if exponent < self.base {
            exponent.div_euclid(64) * 64
        } else {
            (exponent.div_euclid(64) - (LIMBS - words - 1) as i32) * 64
        };
        self.rebased(wanted)
    }

    /// Moves the base; false if digits would be lost or the highest limb be used.
    pub fn rebased(&mut self, base: i32) -> bool {
        let limbs = (self.base - base) / 64;
        let sign = (self.limbs[LIMBS - 1] as i64 >> 63) as u64;
        let count = limbs.unsigned_abs() as usize;
        if self.limbs == [0; LIMBS] {
            self.base = base;
            return true;
        }
        if count >= LIMBS {
            return false;
        }
        if limbs > 0 {
            // One limb more than is moved out must be free: the highest limb is for carries.
            if self.limbs[LIMBS - 1 - count..].iter().any(|limb| *limb != sign) {
                return false;
            }
            self.limbs.copy_within(..LIMBS - count, count);
            self.limbs[..count].fill(0);
        } else {
            if self.limbs[..count].iter().any(|limb| *limb != 0) {
                return false;
            }
            self.limbs.copy_within(count.., 0);
            self.limbs[LIMBS - count..].fill(sign);
        }
        self.base = base;
        true
    }

    /// Adds another, or says that it does not fit (then nothing has changed).
    pub fn merge(&mut self, other: &Fixed) -> bool {
        let mut other = *other;
        if !other.rebased(self.base) {
            let mut mine = *self;
            if !mine.rebased(other.base) {
                return false;
            }
            *self = mine;
        }
        let mut carry = false;
        for (limb, word) in self.limbs.iter_mut().zip(&other.limbs) {
            (*limb, carry) = add_carry(*limb, *word, carry);
        }
        true
    }

    /// From sign and magnitude, if there is room.
    pub fn from_magnitude(negative: bool, limbs: &[u64], base: i32) -> Option<Self> {
        let mut fixed = Fixed { base, limbs: [0; LIMBS] };
        fixed.limbs[..LIMBS - 1].get_mut(..limbs.len())?.copy_from_slice(limbs);
        if negative {
            fixed.negate();
        }
        Some(fixed)
    }

    fn negate(&mut self) {
        let mut carry = true;
        for limb in &mut self.limbs {
            (*limb, carry) = (!*limb).overflowing_add(u64::from(carry));
        }
    }

    /// Sign and magnitude.
    pub fn magnitude(&self) -> (bool, [u64; LIMBS]) {
        let mut magnitude = *self;
        let negative = (self.limbs[LIMBS - 1] as i64) < 0;
        if negative {
            magnitude.negate();
        }
        (negative, magnitude.limbs)
    }
}

#[inline]
fn add_carry(a: u64, b: u64, carry: bool) -> (u64, bool) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(u64::from(carry));
    (sum, first | second)
}
