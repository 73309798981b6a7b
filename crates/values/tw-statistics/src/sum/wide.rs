//! Fixed-point numbers that hold any sum of reals, or of products of reals, whatever their exponents.
//!
//! A superaccumulator: digits to base 2³² in 64-bit chunks, so that an addition touches three to five chunks and no
//! carry runs; carries are settled once in 2³⁰ additions. 600 bytes for sums, 1.1 KiB for sums of products.

/// A number `Σ chunks[i] · 2^(base + 32 i)`.
#[derive(Clone, Debug)]
pub struct Wide {
    base: i32,
    chunks: Box<[i64]>,
    /// Additions since carries were settled.
    pending: u32,
}

/// Additions before carries are settled: each changes a chunk by less than 2³².
const SETTLE: u32 = if cfg!(test) { 16 } else { 1 << 30 };

impl Wide {
    /// Zero, for sums of reals: last places from 2^−1074, sums to 2^(1024 + 64).
    pub fn for_sums() -> Self {
        Self::new(-1088, 72)
    }

    /// Zero, for sums of products of two reals.
    pub fn for_products() -> Self {
        Self::new(-2176, 136)
    }

    fn new(base: i32, chunks: usize) -> Self {
        Wide { base, chunks: vec![0; chunks].into(), pending: 0 }
    }

    /// Adds `mantissa · 2^exponent`.
    pub fn add(&mut self, mantissa: i64, exponent: i32) {
        let (index, shift) = self.place(exponent);
        let sign = mantissa >> 63;
        let shifted = u128::from(mantissa.unsigned_abs()) << shift;
        for (chunk, at) in self.chunks[index..index + 3].iter_mut().zip([0, 32, 64]) {
            let digit = i64::from((shifted >> at) as u32);
            *chunk += (digit ^ sign) - sign;
        }
        self.settle_in_time(1);
    }

    /// Adds the product `mantissa · 2^exponent`.
    pub fn add_product(&mut self, mantissa: i128, exponent: i32) {
        let (low, high) = (mantissa.unsigned_abs() as u64, (mantissa.unsigned_abs() >> 64) as u64);
        let sign = (mantissa >> 127) as i64;
        for (part, exponent) in [(low, exponent), (high, exponent + 64)] {
            let (index, shift) = self.place(exponent);
            let shifted = u128::from(part) << shift;
            for (chunk, at) in self.chunks[index..index + 3].iter_mut().zip([0, 32, 64]) {
                let digit = i64::from((shifted >> at) as u32);
                *chunk += (digit ^ sign) - sign;
            }
        }
        self.settle_in_time(2);
    }

    /// Adds `limbs · 2^base`, a number in two's complement.
    pub fn add_limbs(&mut self, limbs: &[u64], base: i32) {
        let negative = limbs.last().is_some_and(|limb| (*limb as i64) < 0);
        let mut carry = negative;
        for (limb, at) in limbs.iter().zip(0..) {
            let digits = if negative {
                let (digits, over) = (!limb).overflowing_add(u64::from(carry));
                carry = over;
                digits
            } else {
                *limb
            };
            // Limbs beyond the range hold nothing.
            if digits != 0 {
                let signed = if negative { -i128::from(digits) } else { i128::from(digits) };
                let (index, shift) = self.place(base + 64 * at);
                let mut rest = signed << shift;
                for chunk in &mut self.chunks[index..index + 3] {
                    *chunk += i64::from(rest as u32);
                    rest >>= 32;
                }
                self.chunks[index + 3] += rest as i64;
            }
        }
        self.settle_in_time(2);
    }

    /// Adds another of the same kind.
    pub fn merge(&mut self, other: &Wide) {
        let other = other.settled();
        for (chunk, digit) in self.chunks.iter_mut().zip(&other.chunks) {
            *chunk += digit;
        }
        self.settle_in_time(1);
    }

    /// Adds a number of sign and magnitude.
    pub fn add_magnitude(&mut self, negative: bool, limbs: &[u64], base: i32) {
        for (limb, at) in limbs.iter().zip(0..) {
            for (half, up) in [(*limb as u32, 0), ((limb >> 32) as u32, 32)] {
                let half = i64::from(half);
                self.add(if negative { -half } else { half }, base + 64 * at + up);
            }
        }
    }

    fn place(&self, exponent: i32) -> (usize, u32) {
        let offset = (exponent - self.base) as u32;
        ((offset / 32) as usize, offset % 32)
    }

    fn settle_in_time(&mut self, additions: u32) {
        self.pending += additions;
        if self.pending >= SETTLE {
            self.settle();
        }
    }

    fn settle(&mut self) {
        let (last, low) = self.chunks.split_last_mut().expect("there are chunks");
        let mut carry = 0;
        for chunk in low {
            let sum = *chunk + carry;
            carry = sum >> 32;
            *chunk = sum & 0xffff_ffff;
        }
        *last += carry;
        self.pending = 0;
    }

    fn settled(&self) -> Wide {
        let mut copy = self.clone();
        copy.settle();
        copy
    }

    /// Sign, magnitude in limbs of 64 bits, and the exponent of the lowest bit.
    pub fn magnitude(&self) -> (bool, Vec<u64>, i32) {
        let mut digits = self.settled();
        let negative = *digits.chunks.last().expect("there are chunks") < 0;
        if negative {
            digits.chunks.iter_mut().for_each(|chunk| *chunk = -*chunk);
            digits.settle();
        }
        let limbs = digits.chunks.chunks(2).map(|pair| pair[0] as u64 | (pair[1] as u64) << 32).collect();
        (negative, limbs, self.base)
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.chunks.len() * 8 + size_of::<Self>()
    }
}
