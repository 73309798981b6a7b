//! Loops over numbers under a mask, compiled for the widest registers that the processor has.

use crate::words;
use std::sync::OnceLock;

/// Numbers of which those at `from..to` whose bit in `mask` is set count.
#[derive(Clone, Copy)]
pub(crate) struct Masked<'a, T> {
    pub(crate) values: &'a [T],
    pub(crate) mask: &'a [u64],
    pub(crate) from: usize,
    pub(crate) to: usize,
}

impl<'a, T> Masked<'a, T> {
    /// The words of the mask, each with its up to 64 numbers.
    #[inline(always)]
    fn words(self) -> impl Iterator<Item = (u64, &'a [T])> {
        words::span(self.from, self.to).map(move |index| {
            let end = self.values.len().min(index * 64 + 64);
            (words::masked(self.mask, index, self.from, self.to), &self.values[index * 64..end])
        })
    }
}

/// Which of two, the one, the other, and where to.
type Choose<T> = fn(&[u64], &[T], &[T], &mut [T]);

/// One function per loop.
#[derive(Clone, Copy)]
pub(crate) struct Kernels {
    /// Told apart by tests.
    #[cfg_attr(not(test), allow(dead_code))]
    pub(crate) name: &'static str,
    /// How many bits are set.
    pub(crate) count: fn(&[u64]) -> u64,
    /// The sum.
    pub(crate) sum: fn(Masked<'_, i64>) -> i128,
    /// The least, `i64::MAX` of nothing.
    pub(crate) min: fn(Masked<'_, i64>) -> i64,
    /// The greatest, `i64::MIN` of nothing.
    pub(crate) max: fn(Masked<'_, i64>) -> i64,
    /// The least [`key`].
    pub(crate) min_key: fn(Masked<'_, f64>) -> i64,
    /// The greatest [`key`].
    pub(crate) max_key: fn(Masked<'_, f64>) -> i64,
    /// Appends those that count.
    pub(crate) pack_ints: fn(Masked<'_, i64>, &mut Vec<i64>),
    /// Appends those that count.
    pub(crate) pack_reals: fn(Masked<'_, f64>, &mut Vec<f64>),
    /// Of two lists the first one's number where the bit is set, the second one's elsewhere.
    pub(crate) choose_ints: Choose<i64>,
    /// The same for reals.
    pub(crate) choose_reals: Choose<f64>,
    /// Sums, and whether one overflows.
    pub(crate) add: fn(&[i64], &[i64], &mut [i64]) -> bool,
    /// Differences, and whether one overflows.
    pub(crate) subtract: fn(&[i64], &[i64], &mut [i64]) -> bool,
}

/// The best kernels that this processor runs.
pub(crate) fn best() -> &'static Kernels {
    static BEST: OnceLock<&'static Kernels> = OnceLock::new();
    BEST.get_or_init(|| all().pop().unwrap_or(&PORTABLE))
}

/// All kernels that this processor runs, the best last.
pub(crate) fn all() -> Vec<&'static Kernels> {
    let mut tables = vec![&PORTABLE];
    #[cfg(target_arch = "x86_64")]
    {
        let avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("lzcnt");
        let avx512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        if avx2 {
            tables.push(&AVX2);
        }
        if avx2 && avx512 {
            tables.push(&AVX512);
        }
    }
    tables
}

/// A whole number that orders finite reals as they are ordered, −0.0 before 0.0.
#[inline(always)]
pub(crate) fn key(real: f64) -> i64 {
    let bits = real.to_bits() as i64;
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

/// The real that has the key.
#[inline(always)]
pub(crate) fn from_key(key: i64) -> f64 {
    f64::from_bits((key ^ ((key >> 63) as u64 >> 1) as i64) as u64)
}

#[inline(always)]
fn chosen(word: u64, bit: usize) -> bool {
    word >> bit & 1 == 1
}

mod portable {
    use super::*;

    #[inline(always)]
    pub(super) fn count(words: &[u64]) -> u64 {
        words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    #[inline(always)]
    pub(super) fn sum(numbers: Masked<'_, i64>) -> i128 {
        // Halves are added apart, so that nothing overflows; 2⁶³ is added to each number to make it unsigned.
        const SIGN: u64 = 1 << 63;
        let (mut low, mut high, mut count) = (0u64, 0u64, 0u64);
        for (word, values) in numbers.words() {
            count += u64::from(word.count_ones());
            if word == u64::MAX {
                for value in values {
                    let value = *value as u64 ^ SIGN;
                    low += value & 0xffff_ffff;
                    high += value >> 32;
                }
            } else if word != 0 {
                for (bit, value) in values.iter().enumerate() {
                    let value = if chosen(word, bit) { *value as u64 ^ SIGN } else { 0 };
                    low += value & 0xffff_ffff;
                    high += value >> 32;
                }
            }
        }
        (i128::from(high) << 32) + i128::from(low) - i128::from(count) * i128::from(SIGN)
    }

    /// The best of `value(number)`, `none` of nothing.
    #[inline(always)]
    fn extreme<T: Copy>(
        numbers: Masked<'_, T>,
        none: i64,
        value: impl Fn(T) -> i64,
        better: impl Fn(i64, i64) -> i64,
    ) -> i64 {
        let mut best = none;
        for (word, values) in numbers.words() {
            if word == u64::MAX {
                for number in values {
                    best = better(best, value(*number));
                }
            } else if word != 0 {
                for (bit, number) in values.iter().enumerate() {
                    best = better(best, if chosen(word, bit) { value(*number) } else { none });
                }
            }
        }
        best
    }

    #[inline(always)]
    pub(super) fn min(numbers: Masked<'_, i64>) -> i64 {
        extreme(numbers, i64::MAX, |value| value, i64::min)
    }

    #[inline(always)]
    pub(super) fn max(numbers: Masked<'_, i64>) -> i64 {
        extreme(numbers, i64::MIN, |value| value, i64::max)
    }

    #[inline(always)]
    pub(super) fn min_key(numbers: Masked<'_, f64>) -> i64 {
        extreme(numbers, i64::MAX, key, i64::min)
    }

    #[inline(always)]
    pub(super) fn max_key(numbers: Masked<'_, f64>) -> i64 {
        extreme(numbers, i64::MIN, key, i64::max)
    }

    #[inline(always)]
    fn pack<T: Copy + Default>(numbers: Masked<'_, T>, out: &mut Vec<T>) {
        for (word, values) in numbers.words() {
            if word == u64::MAX {
                out.extend_from_slice(values);
            } else if word != 0 {
                // Each is written where the next chosen one belongs, so that there is nothing to predict.
                let mut chunk = [T::default(); 65];
                let mut count = 0;
                for (bit, value) in values.iter().enumerate() {
                    chunk[count] = *value;
                    count += usize::from(chosen(word, bit));
                }
                out.extend_from_slice(&chunk[..count]);
            }
        }
    }

    #[inline(always)]
    pub(super) fn pack_ints(numbers: Masked<'_, i64>, out: &mut Vec<i64>) {
        pack(numbers, out);
    }

    #[inline(always)]
    pub(super) fn pack_reals(numbers: Masked<'_, f64>, out: &mut Vec<f64>) {
        pack(numbers, out);
    }

    #[inline(always)]
    fn choose<T: Copy>(first: &[u64], x: &[T], y: &[T], out: &mut [T]) {
        for (((word, x), y), out) in first.iter().zip(x.chunks(64)).zip(y.chunks(64)).zip(out.chunks_mut(64))
        {
            for (bit, ((out, x), y)) in out.iter_mut().zip(x).zip(y).enumerate() {
                *out = if chosen(*word, bit) { *x } else { *y };
            }
        }
    }

    #[inline(always)]
    pub(super) fn choose_ints(first: &[u64], x: &[i64], y: &[i64], out: &mut [i64]) {
        choose(first, x, y, out);
    }

    #[inline(always)]
    pub(super) fn choose_reals(first: &[u64], x: &[f64], y: &[f64], out: &mut [f64]) {
        choose(first, x, y, out);
    }

    #[inline(always)]
    pub(super) fn add(x: &[i64], y: &[i64], out: &mut [i64]) -> bool {
        let mut over = 0;
        for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
            let sum = x.wrapping_add(*y);
            // An overflow is where the signs of both sides differ from that of the result.
            over |= (x ^ sum) & (y ^ sum);
            *out = sum;
        }
        over < 0
    }

    #[inline(always)]
    pub(super) fn subtract(x: &[i64], y: &[i64], out: &mut [i64]) -> bool {
        let mut over = 0;
        for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
            let difference = x.wrapping_sub(*y);
            over |= (x ^ y) & (x ^ difference);
            *out = difference;
        }
        over < 0
    }
}

static PORTABLE: Kernels = Kernels {
    name: "portable",
    count: |words| portable::count(words),
    sum: |numbers| portable::sum(numbers),
    min: |numbers| portable::min(numbers),
    max: |numbers| portable::max(numbers),
    min_key: |numbers| portable::min_key(numbers),
    max_key: |numbers| portable::max_key(numbers),
    pack_ints: |numbers, out| portable::pack_ints(numbers, out),
    pack_reals: |numbers, out| portable::pack_reals(numbers, out),
    choose_ints: |first, x, y, out| portable::choose_ints(first, x, y, out),
    choose_reals: |first, x, y, out| portable::choose_reals(first, x, y, out),
    add: |x, y, out| portable::add(x, y, out),
    subtract: |x, y, out| portable::subtract(x, y, out),
};

/// Compiles the portable loops for wider registers.
#[cfg(target_arch = "x86_64")]
macro_rules! widened {
    ($table:ident, $module:ident, $label:literal, $features:literal:
        $($name:ident ( $($arg:ident : $type:ty),* ) $(-> $result:ty)?;)*) => {
        #[cfg(target_arch = "x86_64")]
        mod $module {
            use super::{Masked, portable};
            $(pub(super) fn $name($($arg: $type),*) $(-> $result)? {
                #[target_feature(enable = $features)]
                fn wide($($arg: $type),*) $(-> $result)? {
                    portable::$name($($arg),*)
                }
                // SAFETY: reached only through a table that `all` hands out after finding these features.
                unsafe { wide($($arg),*) }
            })*
        }
        #[cfg(target_arch = "x86_64")]
        static $table: Kernels = Kernels { name: $label, $($name: $module::$name),* };
    };
}

#[cfg(target_arch = "x86_64")]
widened! { AVX2, avx2, "avx2", "avx2,bmi1,bmi2,popcnt,lzcnt":
    count(words: &[u64]) -> u64;
    sum(numbers: Masked<'_, i64>) -> i128;
    min(numbers: Masked<'_, i64>) -> i64;
    max(numbers: Masked<'_, i64>) -> i64;
    min_key(numbers: Masked<'_, f64>) -> i64;
    max_key(numbers: Masked<'_, f64>) -> i64;
    pack_ints(numbers: Masked<'_, i64>, out: &mut Vec<i64>);
    pack_reals(numbers: Masked<'_, f64>, out: &mut Vec<f64>);
    choose_ints(first: &[u64], x: &[i64], y: &[i64], out: &mut [i64]);
    choose_reals(first: &[u64], x: &[f64], y: &[f64], out: &mut [f64]);
    add(x: &[i64], y: &[i64], out: &mut [i64]) -> bool;
    subtract(x: &[i64], y: &[i64], out: &mut [i64]) -> bool;
}

#[cfg(target_arch = "x86_64")]
widened! { AVX512, avx512, "avx512", "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,popcnt,lzcnt":
    count(words: &[u64]) -> u64;
    sum(numbers: Masked<'_, i64>) -> i128;
    min(numbers: Masked<'_, i64>) -> i64;
    max(numbers: Masked<'_, i64>) -> i64;
    min_key(numbers: Masked<'_, f64>) -> i64;
    max_key(numbers: Masked<'_, f64>) -> i64;
    pack_ints(numbers: Masked<'_, i64>, out: &mut Vec<i64>);
    pack_reals(numbers: Masked<'_, f64>, out: &mut Vec<f64>);
    choose_ints(first: &[u64], x: &[i64], y: &[i64], out: &mut [i64]);
    choose_reals(first: &[u64], x: &[f64], y: &[f64], out: &mut [f64]);
    add(x: &[i64], y: &[i64], out: &mut [i64]) -> bool;
    subtract(x: &[i64], y: &[i64], out: &mut [i64]) -> bool;
}
