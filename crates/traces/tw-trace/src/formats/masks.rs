//! Sixty-four bytes at a time: where a byte occurs, as bits of a word. Everything the fast paths do with lines and
//! tokens is arithmetic on such words.
//!
//! The kernels are generic over [`Lanes`] and compiled twice: for AVX2 with BMI2, chosen at run time, and portably.

/// How a kind of machine compares and compresses.
pub(super) trait Lanes {
    /// Bit `i` is set where `chunk[i] == byte`.
    fn equal(chunk: &[u8; 64], byte: u8) -> u64;
    /// The bits of `word` at the set bits of `mask`, moved together at the low end.
    fn compress(word: u64, mask: u64) -> u64;
}

/// Any machine.
pub(super) struct Portable;

impl Lanes for Portable {
    #[inline(always)]
    fn equal(chunk: &[u8; 64], byte: u8) -> u64 {
        const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
        let wanted = u64::from(byte) * 0x0101_0101_0101_0101;
        let mut bits = 0;
        for (index, eight) in chunk.chunks_exact(8).enumerate() {
            let differs = u64::from_le_bytes(eight.try_into().expect("chunks of eight")) ^ wanted;
            // The high bit of each byte that is zero, exactly: no carry leaves a byte.
            let zero = !(((differs & LOW) + LOW) | differs | LOW);
            // Gathers bit 8i of the flags into bit i.
            bits |= ((zero >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * index);
        }
        bits
    }

    #[inline(always)]
    fn compress(word: u64, mut mask: u64) -> u64 {
        let (mut out, mut to) = (0, 0);
        while mask != 0 {
            out |= (word >> mask.trailing_zeros() & 1) << to;
            to += 1;
            mask &= mask - 1;
        }
        out
    }
}

/// AVX2 and BMI2. Its methods may only run where [`has_avx2`] said so.
#[cfg(target_arch = "x86_64")]
pub(super) struct Avx2;

#[cfg(target_arch = "x86_64")]
impl Lanes for Avx2 {
    #[inline(always)]
    fn equal(chunk: &[u8; 64], byte: u8) -> u64 {
        use std::arch::x86_64::*;
        // SAFETY: the two loads read the 64 bytes of `chunk` and need no alignment; kernels over `Avx2` are entered only
        // through functions that enable AVX2 after `has_avx2`.
        unsafe {
            let wanted = _mm256_set1_epi8(byte as i8);
            let low = _mm256_loadu_si256(chunk.as_ptr().cast());
            let high = _mm256_loadu_si256(chunk.as_ptr().add(32).cast());
            let low = _mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted)) as u32;
            let high = _mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted)) as u32;
            u64::from(opaque(low)) | u64::from(opaque(high)) << 32
        }
    }

    #[inline(always)]
    fn compress(word: u64, mask: u64) -> u64 {
        // SAFETY: no memory is touched; BMI2 is present by the same rule as above.
        unsafe { std::arch::x86_64::_pext_u64(word, mask) }
    }
}

/// `bits`, of which the compiler knows nothing more. Knowing that they come from a vector, it takes them apart lane by
/// lane when they are counted or shifted, which costs the kernels a good part of their speed.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn opaque(mut bits: u32) -> u32 {
    // SAFETY: there is no instruction in it.
    unsafe {
        std::arch::asm!("/* {0:e} */", inout(reg) bits, options(pure, nomem, nostack, preserves_flags))
    };
    bits
}

/// Whether [`Avx2`] can be used.
#[cfg(target_arch = "x86_64")]
pub(super) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
}

/// Marks the separators (set in `ends`) whose stretch since the separator before holds a bit of `marks`; `carry` takes a
/// stretch into the next word. `marks` and `ends` share no bit.
///
/// A stretch is a run of ones of `!ends`, worth 2ⁿ − 1. Adding anything from 1 to 2ⁿ − 1 carries exactly one into the
/// separator behind it, so one addition answers for every stretch of the word at once.
#[inline(always)]
pub(super) fn any_before(ends: u64, marks: u64, carry: &mut u64) -> u64 {
    let (sum, over) = (!ends).overflowing_add(marks);
    let (sum, more) = sum.overflowing_add(*carry);
    *carry = u64::from(over | more);
    sum & ends
}

/// The sixty-four bytes of `bytes` from `at` on.
#[inline(always)]
pub(super) fn chunk(bytes: &[u8], at: usize) -> &[u8; 64] {
    bytes[at..at + 64].try_into().expect("a slice of sixty-four")
}

/// A column of truth values written a few bits at a time at a known place.
#[inline(always)]
pub(super) fn or_bits(words: &mut [u64], at: usize, bits: u64) {
    let (word, shift) = (at / 64, at % 64);
    words[word] |= bits << shift;
    words[word + 1] |= bits >> 1 >> (63 - shift);
}

/// Words for `len` bits and the one more that [`or_bits`] touches.
pub(super) fn words_for(len: usize) -> Vec<u64> {
    vec![0; len / 64 + 2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use tw_testkit::Rng;

    fn check<L: Lanes>() {
        let mut rng = Rng::new(0x9E37_79B9_7F4A_7C15);
        for _ in 0..2000 {
            let chunk: [u8; 64] = std::array::from_fn(|_| (rng.bits() % 5 * 64) as u8 ^ 10);
            for byte in [10, 74, 138, 202, 0] {
                let expected = (0..64).filter(|&i| chunk[i] == byte).fold(0, |bits, i| bits | 1u64 << i);
                assert_eq!(L::equal(&chunk, byte), expected);
            }
            let (word, mask) = (rng.bits(), rng.bits() & rng.bits());
            let kept: Vec<u64> = (0..64).filter(|i| mask >> i & 1 == 1).map(|i| word >> i & 1).collect();
            let expected = kept.iter().rev().fold(0, |bits, bit| bits << 1 | bit);
            assert_eq!(L::compress(word, mask), expected);
        }
    }

    #[test]
    fn machines_agree() {
        check::<Portable>();
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            check::<Avx2>();
        }
    }

    #[test]
    fn stretches_are_answered_across_words() {
        let mut rng = Rng::new(7);
        for _ in 0..2000 {
            let ends: Vec<u64> = (0..4).map(|_| rng.bits() & rng.bits()).collect();
            let marks: Vec<u64> =
                ends.iter().map(|ends| rng.bits() & rng.bits() & rng.bits() & !ends).collect();
            let (mut carry, mut any) = (0, false);
            for (&ends, &marks) in ends.iter().zip(&marks) {
                let got = any_before(ends, marks, &mut carry);
                for bit in 0..64 {
                    any |= marks >> bit & 1 == 1;
                    if ends >> bit & 1 == 1 {
                        assert_eq!(got >> bit & 1 == 1, any);
                        any = false;
                    }
                }
            }
        }
    }
}
