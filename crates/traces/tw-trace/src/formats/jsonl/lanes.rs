//! Many bytes at a time: the few questions the walker asks about bytes, answered by AVX2 where the machine has it.
//! (AVX-512 was tried and is not faster.)

/// Answers as bit masks, bit `i` for byte `i`.
pub(super) trait Lanes: Copy {
    /// Of 64 bytes, those that end a run of plain string bytes: `"`, `\` and control characters.
    ///
    /// # Safety
    /// 64 bytes are readable at `at`, and the machine has what the implementation needs.
    unsafe fn special(at: *const u8) -> u64;

    /// Of 32 bytes, those that are decimal digits.
    ///
    /// # Safety
    /// 32 bytes are readable at `at`, and the machine has what the implementation needs.
    unsafe fn digits(at: *const u8) -> u32;

    /// Of 32 bytes, those that are equal.
    ///
    /// # Safety
    /// As for [`Lanes::digits`], at both places.
    unsafe fn equal(a: *const u8, b: *const u8) -> u32;

    /// Does work that is too long or too rare to be inlined, in a function of its own that may use the same
    /// instructions as its caller.
    ///
    /// # Safety
    /// The machine has what the implementation needs.
    unsafe fn outlined<W: Work>(work: W) -> W::Result;
}

/// Work to be done with some [`Lanes`]. Implementations are always inlined, so that [`Lanes::outlined`] decides which
/// instructions they use.
pub(super) trait Work {
    /// What comes of it.
    type Result;

    /// Does it.
    fn work<L: Lanes>(self) -> Self::Result;
}

/// Any machine.
#[derive(Clone, Copy)]
pub(super) struct Portable;

/// One bit per byte for which `test` holds.
///
/// # Safety
/// 32 bytes are readable at `at`.
#[inline(always)]
unsafe fn mask(at: *const u8, test: impl Fn(usize, u8) -> bool) -> u32 {
    // SAFETY: the caller vouches for 32 bytes; an array of bytes has no alignment.
    let bytes = unsafe { &*at.cast::<[u8; 32]>() };
    bytes.iter().enumerate().fold(0, |mask, (i, &b)| mask | u32::from(test(i, b)) << i)
}

impl Lanes for Portable {
    #[inline(always)]
    unsafe fn special(at: *const u8) -> u64 {
        let special = |_: usize, b: u8| b == b'"' || b == b'\\' || b < 0x20;
        // SAFETY: passed on to the caller.
        unsafe { u64::from(mask(at, special)) | u64::from(mask(at.add(32), special)) << 32 }
    }

    #[inline(always)]
    unsafe fn digits(at: *const u8) -> u32 {
        // SAFETY: passed on to the caller.
        unsafe { mask(at, |_, b| b.is_ascii_digit()) }
    }

    #[inline(always)]
    unsafe fn equal(a: *const u8, b: *const u8) -> u32 {
        // SAFETY: passed on to the caller, who vouches for 32 bytes at `b` as well.
        unsafe { mask(a, |i, byte| byte == *b.add(i)) }
    }

    #[inline(never)]
    unsafe fn outlined<W: Work>(work: W) -> W::Result {
        work.work::<Self>()
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use avx2::Avx2;

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Lanes, Work};
    use std::arch::x86_64::{
        _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_max_epu8, _mm256_min_epu8, _mm256_movemask_epi8,
        _mm256_or_si256, _mm256_set1_epi8, _mm256_sub_epi8,
    };

    /// Machines with AVX2.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Avx2;

    /// [`Lanes::special`] of 32 bytes. (A closure would not be inlined where AVX2 is known to be there.)
    #[inline(always)]
    unsafe fn half(at: *const u8) -> u32 {
        // SAFETY: the caller vouches for 32 bytes and AVX2.
        unsafe {
            let bytes = _mm256_loadu_si256(at.cast());
            let control = _mm256_set1_epi8(0x1F);
            let quote = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'"' as i8));
            let backslash = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'\\' as i8));
            let low = _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, control), control);
            _mm256_movemask_epi8(_mm256_or_si256(_mm256_or_si256(quote, backslash), low)) as u32
        }
    }

    impl Lanes for Avx2 {
        #[inline(always)]
        unsafe fn special(at: *const u8) -> u64 {
            // SAFETY: the caller vouches for 64 bytes and AVX2.
            unsafe { u64::from(half(at)) | u64::from(half(at.add(32))) << 32 }
        }

        #[inline(always)]
        unsafe fn digits(at: *const u8) -> u32 {
            // SAFETY: the caller vouches for 32 bytes and AVX2.
            unsafe {
                let bytes = _mm256_sub_epi8(_mm256_loadu_si256(at.cast()), _mm256_set1_epi8(b'0' as i8));
                let nine = _mm256_set1_epi8(9);
                _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(bytes, nine), bytes)) as u32
            }
        }

        #[inline(always)]
        unsafe fn equal(a: *const u8, b: *const u8) -> u32 {
            // SAFETY: the caller vouches for 32 bytes at both places and AVX2.
            unsafe {
                let equal = _mm256_cmpeq_epi8(_mm256_loadu_si256(a.cast()), _mm256_loadu_si256(b.cast()));
                _mm256_movemask_epi8(equal) as u32
            }
        }

        #[inline(never)]
        #[target_feature(enable = "avx2,bmi1,bmi2")]
        unsafe fn outlined<W: Work>(work: W) -> W::Result {
            work.work::<Self>()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn avx2_answers_as_portable() {
        if !std::arch::is_x86_feature_detected!("avx2") {
            return;
        }
        let bytes: Vec<u8> =
            (0..4096u32).map(|i| (i.wrapping_mul(2654435761) >> 13) as u8).chain(0..=255).collect();
        for at in 0..bytes.len() - 64 {
            let other = (at * 7) % (bytes.len() - 64);
            // SAFETY: both places have 64 bytes after them, and AVX2 was detected.
            unsafe {
                let (a, b) = (bytes.as_ptr().add(at), bytes.as_ptr().add(other));
                assert_eq!(Avx2::special(a), Portable::special(a));
                assert_eq!(Avx2::digits(a), Portable::digits(a));
                assert_eq!(Avx2::equal(a, b), Portable::equal(a, b));
                assert_eq!(Avx2::equal(a, a), u32::MAX);
            }
        }
    }
}
