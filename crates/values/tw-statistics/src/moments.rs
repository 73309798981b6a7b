//! Variance and correlation from exact sums of values, squares and products.
//!
//! The sums are exact ([`ExactSum`], `ProductSum`), so their order is of no account and the result is rounded once: no
//! cancellation, whatever the mean. A whole number costs 6 ns, in slices 1 ns, a real 8 to 12 ns (20 if exponents are
//! hundreds apart), a pair three times that; a result 0.4 µs, of whole numbers that are not too large 30 ns. 160 bytes
//! for a variance, 400 for a correlation, 1.8 and 4.6 KiB where exponents are hundreds apart.

use crate::ExactSum;
use crate::checkpoint::{put_digits, take_digits};
use crate::float::{decode, encode};
use crate::sum::{Fixed, Wide};
use num_bigint::{BigInt, BigUint, Sign};
use tw_core::codec::Corrupt;

/// A whole number or a real.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole number.
    Int(i64),
    /// A finite real.
    Real(f64),
}

impl Number {
    #[inline]
    fn decode(self) -> (i64, i32) {
        match self {
            Number::Int(int) => (int, 0),
            Number::Real(real) => decode(real),
        }
    }

    fn is_finite(self) -> bool {
        match self {
            Number::Int(_) => true,
            Number::Real(real) => real.is_finite(),
        }
    }
}

/// An exact sum of products of two numbers.
#[derive(Clone, Debug)]
pub(crate) enum ProductSum {
    Fixed(Fixed),
    Wide(Box<Wide>),
}

impl Default for ProductSum {
    fn default() -> Self {
        ProductSum::Fixed(Fixed { base: 0, limbs: [0; 6] })
    }
}

impl ProductSum {
    #[inline]
    fn add(&mut self, (a, i): (i64, i32), (b, j): (i64, i32)) {
        self.add_product(i128::from(a) * i128::from(b), i + j);
    }

    #[inline]
    fn add_product(&mut self, mantissa: i128, exponent: i32) {
        if let ProductSum::Fixed(sum) = self
            && sum.add_product(mantissa, exponent)
        {
            return;
        }
        self.add_rare(mantissa, exponent);
    }

    #[cold]
    fn add_rare(&mut self, mantissa: i128, exponent: i32) {
        if mantissa != 0 {
            self.widen().add_product(mantissa, exponent);
        }
    }

    fn widen(&mut self) -> &mut Wide {
        if let ProductSum::Fixed(sum) = self {
            let mut wide = Wide::for_products();
            wide.add_limbs(&sum.limbs, sum.base);
            *self = ProductSum::Wide(Box::new(wide));
        }
        match self {
            ProductSum::Wide(wide) => wide,
            ProductSum::Fixed(_) => unreachable!("just widened"),
        }
    }

    fn append(&mut self, other: &ProductSum) {
        match (&mut *self, other) {
            (ProductSum::Fixed(mine), ProductSum::Fixed(sum)) => {
                if !mine.merge(sum) {
                    self.widen().add_limbs(&sum.limbs, sum.base);
                }
            }
            (_, ProductSum::Fixed(sum)) => self.widen().add_limbs(&sum.limbs, sum.base),
            (_, ProductSum::Wide(sum)) => self.widen().merge(sum),
        }
    }

    fn magnitude(&self) -> (bool, Vec<u64>, i32) {
        match self {
            ProductSum::Fixed(sum) => {
                let (negative, limbs) = sum.magnitude();
                (negative, limbs.to_vec(), sum.base)
            }
            ProductSum::Wide(sum) => sum.magnitude(),
        }
    }

    /// The sum, if it is a whole number below 2¹²⁷.
    fn small(&self) -> Option<i128> {
        match self {
            ProductSum::Fixed(Fixed { base: 0, limbs: [low, high, 0, 0, 0, 0] }) => {
                i128::try_from(u128::from(*low) | u128::from(*high) << 64).ok()
            }
            _ => None,
        }
    }

    pub fn save(&self, out: &mut Vec<u8>) {
        put_digits(self.magnitude(), out);
    }

    pub fn load(from: &mut &[u8]) -> Result<Self, Corrupt> {
        let (negative, limbs, base) = take_digits(from, (-2176, 2112))?;
        Ok(match Fixed::from_magnitude(negative, &limbs, base) {
            Some(mut sum) => {
                // Whole numbers are quickest where they were.
                sum.rebased(sum.base.min(0));
                ProductSum::Fixed(sum)
            }
            None => {
                let mut wide = Wide::for_products();
                wide.add_magnitude(negative, &limbs, base);
                ProductSum::Wide(Box::new(wide))
            }
        })
    }

    fn heap_bytes(&self) -> usize {
        match self {
            ProductSum::Fixed(_) => 0,
            ProductSum::Wide(sum) => sum.heap_bytes(),
        }
    }
}

/// Count, sum and sum of squares.
#[derive(Clone, Debug, Default)]
pub struct Moments {
    pub(crate) count: u64,
    pub(crate) sum: ExactSum,
    pub(crate) squares: ProductSum,
}

impl Moments {
    /// Adds a number.
    #[inline]
    pub fn push(&mut self, number: Number) {
        self.count += 1;
        match number {
            Number::Int(int) => self.sum.push_int(int),
            Number::Real(real) => self.sum.push_real(real),
        }
        let parts = number.decode();
        // The sum remembers that a value was not finite.
        if number.is_finite() && parts.0 != 0 {
            self.squares.add(parts, parts);
        }
    }

    /// Takes back a number that was added.
    pub fn remove(&mut self, number: Number) {
        self.count -= 1;
        match number {
            Number::Int(int) => self.sum.remove_int(int),
            Number::Real(real) => self.sum.push_real(-real),
        }
        let (mantissa, exponent) = number.decode();
        if mantissa != 0 {
            let square = i128::from(mantissa) * i128::from(mantissa);
            self.squares.add_product(-square, 2 * exponent);
        }
    }

    /// Adds whole numbers.
    pub fn push_ints(&mut self, ints: &[i64]) {
        self.count += ints.len() as u64;
        self.sum.push_ints(ints);
        // Squares are below 2¹²⁷: one addition and its carry each, and the whole sum once.
        let (mut sum, mut carries) = (0u128, 0u64);
        for int in ints {
            let magnitude = u128::from(int.unsigned_abs());
            let (next, carry) = sum.overflowing_add(magnitude * magnitude);
            sum = next;
            carries += u64::from(carry);
        }
        for (part, exponent) in [(sum as u64, 0), ((sum >> 64) as u64, 64), (carries, 128)] {
            self.squares.add_product(i128::from(part), exponent);
        }
    }

    /// Adds reals.
    pub fn push_reals(&mut self, reals: &[f64]) {
        self.count += reals.len() as u64;
        self.sum.push_reals(reals);
        for real in reals.iter().filter(|real| real.is_finite() && **real != 0.0) {
            let parts = decode(*real);
            self.squares.add(parts, parts);
        }
    }

    /// Adds what another has.
    pub fn append(&mut self, other: &Moments) {
        self.count += other.count;
        self.sum.append(&other.sum);
        self.squares.append(&other.squares);
    }

    /// The population variance, rounded once; NaN of nothing, not finite if it is too large.
    pub fn variance(&self) -> f64 {
        covariance(self.count, &self.sum, &self.sum, &self.squares)
    }

    /// Memory held beyond the moments themselves.
    pub fn heap_bytes(&self) -> usize {
        self.sum.heap_bytes() + self.squares.heap_bytes()
    }
}

/// Moments of pairs.
#[derive(Clone, Debug, Default)]
pub struct PairMoments {
    pub(crate) x: Moments,
    pub(crate) y: Moments,
    pub(crate) products: ProductSum,
}

impl PairMoments {
    /// Adds a pair.
    pub fn push(&mut self, x: Number, y: Number) {
        self.x.push(x);
        self.y.push(y);
        let (a, b) = (x.decode(), y.decode());
        if x.is_finite() && y.is_finite() && a.0 != 0 && b.0 != 0 {
            self.products.add(a, b);
        }
    }

    /// Adds what another has.
    pub fn append(&mut self, other: &PairMoments) {
        self.x.append(&other.x);
        self.y.append(&other.y);
        self.products.append(&other.products);
    }

    /// The correlation; NaN where a side does not vary or a variance is not finite.
    pub fn correlation(&self) -> f64 {
        let (x, y) = (self.x.variance(), self.y.variance());
        if x == 0.0 || y == 0.0 || !x.is_finite() || !y.is_finite() {
            return f64::NAN;
        }
        let r = covariance(self.x.count, &self.x.sum, &self.y.sum, &self.products) / (x.sqrt() * y.sqrt());
        if r.is_finite() { r.clamp(-1.0, 1.0) } else { f64::NAN }
    }

    /// Memory held beyond the moments themselves.
    pub fn heap_bytes(&self) -> usize {
        self.x.heap_bytes() + self.y.heap_bytes() + self.products.heap_bytes()
    }
}

/// `(n·Σxy − Σx·Σy) / n²` rounded once.
fn covariance(count: u64, x: &ExactSum, y: &ExactSum, products: &ProductSum) -> f64 {
    if count == 0 {
        return f64::NAN;
    }
    if let Some(result) = small_covariance(count, x, y, products) {
        return result;
    }
    let (Some(x), Some(y)) = (x.magnitude(), y.magnitude()) else { return f64::NAN };
    let (x, y, products) = (Big::new(x), Big::new(y), Big::new(products.magnitude()));
    let numerator = products.times(count).minus(x.product(&y));
    let square = BigUint::from(count) * count;
    numerator.over(&square)
}

/// The same for whole numbers whose squares are small enough.
fn small_covariance(count: u64, x: &ExactSum, y: &ExactSum, products: &ProductSum) -> Option<f64> {
    let cross = x.whole()?.checked_mul(y.whole()?)?;
    let numerator = products.small()?.checked_mul(i128::from(count))?.checked_sub(cross)?;
    let square = count.checked_mul(count)?;
    if numerator == 0 {
        return Some(0.0);
    }
    // Scaled such that the quotient has more than 64 bits.
    let magnitude = numerator.unsigned_abs();
    let shift = magnitude.leading_zeros();
    let scaled = magnitude << shift;
    let (quotient, rest) = (scaled / u128::from(square), scaled % u128::from(square));
    if quotient >> 64 == 0 {
        return None;
    }
    let limbs = [quotient as u64, (quotient >> 64) as u64];
    Some(encode(numerator < 0, &limbs, -(shift as i32), rest != 0))
}

/// A whole number times a power of two.
struct Big {
    digits: BigInt,
    exponent: i32,
}

impl Big {
    fn new((negative, limbs, exponent): (bool, Vec<u64>, i32)) -> Self {
        let halves = limbs.iter().flat_map(|limb| [*limb as u32, (*limb >> 32) as u32]).collect();
        let sign = if negative { Sign::Minus } else { Sign::Plus };
        Big { digits: BigInt::from_biguint(sign, BigUint::new(halves)), exponent }
    }

    fn times(self, factor: u64) -> Self {
        Big { digits: self.digits * factor, exponent: self.exponent }
    }

    fn product(&self, other: &Big) -> Self {
        Big { digits: &self.digits * &other.digits, exponent: self.exponent + other.exponent }
    }

    fn minus(self, other: Big) -> Self {
        let exponent = self.exponent.min(other.exponent);
        let aligned = |big: Big| big.digits << (big.exponent - exponent) as u32;
        Big { digits: aligned(self) - aligned(other), exponent }
    }

    /// Divided and rounded once.
    fn over(&self, divisor: &BigUint) -> f64 {
        let (sign, magnitude) = (self.digits.sign(), self.digits.magnitude());
        if sign == Sign::NoSign {
            return 0.0;
        }
        // The quotient must have more bits than a mantissa and its rounding bit; the remainder says whether it is
        // exact.
        let shift = (divisor.bits() + 64).saturating_sub(magnitude.bits()) as u32;
        let scaled = magnitude << shift;
        let quotient = &scaled / divisor;
        let more = &quotient * divisor != scaled;
        encode(sign == Sign::Minus, &quotient.to_u64_digits(), self.exponent - shift as i32, more)
    }
}
