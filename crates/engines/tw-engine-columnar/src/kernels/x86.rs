//! Kernels for processors with wide registers: AVX2, and AVX-512 with byte permutation and Galois-field instructions.
//!
//! With AVX-512 a chain treats eight words as one number of 512 bits: lanes are added on their own, then the carries
//! between lanes are found at once by adding the masks of lanes that produce and that pass on a carry. Downwards, the
//! 512 bits are reversed first (bytes by a permutation, bits within bytes by an affine map) and back afterwards.

use super::{Input, Kernels, portable};
use std::arch::x86_64::*;

/// The tables this processor can run, the best one last.
pub(super) fn detect() -> Vec<&'static Kernels> {
    let mut tables = Vec::new();
    let avx2 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("lzcnt");
    if avx2 {
        tables.push(&AVX2);
        let avx512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("avx512vpopcntdq")
            && is_x86_feature_detected!("gfni");
        if avx512 {
            tables.push(&AVX512);
        }
    }
    tables
}

/// Compiles a portable body for wider registers and wraps it as a safe function.
macro_rules! widened {
    ($features:literal: $($name:ident ( $($arg:ident : $type:ty),* ) $(-> $result:ty)?;)*) => { $(
        fn $name($($arg: $type),*) $(-> $result)? {
            #[target_feature(enable = $features)]
            fn wide($($arg: $type),*) $(-> $result)? {
                portable::$name($($arg),*)
            }
            // SAFETY: reached only through a table that `detect` hands out after finding these features.
            unsafe { wide($($arg),*) }
        }
    )* };
}

/// Packs selected bits with one instruction per word.
fn gather(select: &[u64], value: Input<'_>, out: &mut [u64], at: usize) {
    #[target_feature(enable = "bmi1,bmi2,popcnt")]
    fn wide(select: &[u64], value: Input<'_>, out: &mut [u64], at: usize) {
        portable::gather_with(select, value, out, at, |select, word| _pext_u64(word, select));
    }
    // SAFETY: reached only through a table that `detect` hands out after finding these features.
    unsafe { wide(select, value, out, at) }
}

mod avx2 {
    use super::{Input, portable};
    widened! { "avx2,bmi1,bmi2,popcnt,lzcnt":
        and(out: &mut [u64], a: Input<'_>, b: Input<'_>);
        xor(out: &mut [u64], a: &[u64], b: &[u64]);
        copy(out: &mut [u64], a: Input<'_>);
        shift_up(out: &mut [u64], a: Input<'_>, carry: bool);
        shift_down(out: &mut [u64], a: Input<'_>, carry: bool);
        chain_up(out: &mut [u64], hold: Input<'_>, now: Input<'_>, carry: bool);
        chain_down(out: &mut [u64], hold: Input<'_>, now: Input<'_>, carry: bool);
        count(a: Input<'_>) -> usize;
        count_and(a: Input<'_>, b: Input<'_>) -> usize;
    }
    pub(super) static KERNELS: super::Kernels = super::Kernels {
        name: "avx2",
        and,
        xor,
        copy,
        shift_up,
        shift_down,
        chain_up,
        chain_down,
        count,
        count_and,
        gather: super::gather,
    };
}
use avx2::KERNELS as AVX2;

mod wide {
    use super::{Input, portable};
    widened! { "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512vpopcntdq,bmi1,bmi2,popcnt,lzcnt":
        and(out: &mut [u64], a: Input<'_>, b: Input<'_>);
        xor(out: &mut [u64], a: &[u64], b: &[u64]);
        copy(out: &mut [u64], a: Input<'_>);
        shift_up(out: &mut [u64], a: Input<'_>, carry: bool);
        shift_down(out: &mut [u64], a: Input<'_>, carry: bool);
        count(a: Input<'_>) -> usize;
        count_and(a: Input<'_>, b: Input<'_>) -> usize;
    }
    pub(super) static KERNELS: super::Kernels = super::Kernels {
        name: "avx512",
        and,
        xor,
        copy,
        shift_up,
        shift_down,
        chain_up: super::chain_up,
        chain_down: super::chain_down,
        count,
        count_and,
        gather: super::gather,
    };
}
use wide::KERNELS as AVX512;

fn chain_up(out: &mut [u64], hold: Input<'_>, now: Input<'_>, carry: bool) {
    // SAFETY: reached only through a table that `detect` hands out after finding these features.
    unsafe { chain_up_512(out, hold, now, carry) }
}

fn chain_down(out: &mut [u64], hold: Input<'_>, now: Input<'_>, carry: bool) {
    // SAFETY: reached only through a table that `detect` hands out after finding these features.
    unsafe { chain_down_512(out, hold, now, carry) }
}

/// Eight words of a chain as one number, lowest lane first.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn link(hold: __m512i, now: __m512i, carry: &mut u32) -> __m512i {
    let ones = _mm512_set1_epi64(-1);
    let either = _mm512_or_si512(hold, now);
    let sum = _mm512_add_epi64(either, now);
    let produce = u32::from(_mm512_cmplt_epu64_mask(sum, now));
    let pass_on = u32::from(_mm512_cmpeq_epi64_mask(sum, ones));
    // Adding the masks lets a carry run through neighbouring lanes that are all ones.
    let run = ((produce << 1) | *carry) + pass_on;
    *carry = run >> 8;
    let sum = _mm512_mask_sub_epi64(sum, (run ^ pass_on) as __mmask8, sum, ones);
    let carried = _mm512_ternarylogic_epi64::<0x96>(sum, either, now);
    // now | hold & carried
    _mm512_ternarylogic_epi64::<0xF8>(now, hold, carried)
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn chain_up_512(out: &mut [u64], hold: Input<'_>, now: Input<'_>, carry: bool) {
    let len = out.len();
    assert!(hold.0.len() >= len && now.0.len() >= len);
    let flip_hold = _mm512_set1_epi64(-i64::from(hold.1));
    let flip_now = _mm512_set1_epi64(-i64::from(now.1));
    let mut carry = u32::from(carry);
    let mut at = 0;
    while at + 8 <= len {
        // SAFETY: `at + 8 <= len`, and all three slices hold `len` words.
        unsafe {
            let h = _mm512_xor_si512(_mm512_loadu_epi64(hold.0.as_ptr().add(at).cast()), flip_hold);
            let n = _mm512_xor_si512(_mm512_loadu_epi64(now.0.as_ptr().add(at).cast()), flip_now);
            _mm512_storeu_epi64(out.as_mut_ptr().add(at).cast(), link(h, n, &mut carry));
        }
        at += 8;
    }
    if at < len {
        let tail = (1u8 << (len - at)) - 1;
        // SAFETY: the mask touches only the `len - at` words that are left.
        unsafe {
            let h = _mm512_maskz_loadu_epi64(tail, hold.0.as_ptr().add(at).cast());
            let n = _mm512_maskz_loadu_epi64(tail, now.0.as_ptr().add(at).cast());
            let (h, n) = (_mm512_xor_si512(h, flip_hold), _mm512_xor_si512(n, flip_now));
            _mm512_mask_storeu_epi64(out.as_mut_ptr().add(at).cast(), tail, link(h, n, &mut carry));
        }
    }
}

/// 512 bits from last to first.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn reverse(bits: __m512i) -> __m512i {
    const LAST_BYTE_FIRST: [u8; 64] = {
        let mut order = [0; 64];
        let mut index = 0;
        while index < 64 {
            order[index] = 63 - index as u8;
            index += 1;
        }
        order
    };
    // SAFETY: the array is 64 bytes long.
    let order = unsafe { _mm512_loadu_si512(LAST_BYTE_FIRST.as_ptr().cast()) };
    let bytes = _mm512_permutexvar_epi8(order, bits);
    // The matrix whose ones stand on the other diagonal reverses the bits of a byte.
    _mm512_gf2p8affine_epi64_epi8::<0>(bytes, _mm512_set1_epi64(0x8040_2010_0804_0201_u64 as i64))
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,gfni")]
fn chain_down_512(out: &mut [u64], hold: Input<'_>, now: Input<'_>, carry: bool) {
    let len = out.len();
    assert!(hold.0.len() >= len && now.0.len() >= len);
    let flip_hold = _mm512_set1_epi64(-i64::from(hold.1));
    let flip_now = _mm512_set1_epi64(-i64::from(now.1));
    let mut carry = u32::from(carry);
    let mut at = len - len % 8;
    if at < len {
        let tail = (1u8 << (len - at)) - 1;
        let ones = _mm512_set1_epi64(-1);
        // SAFETY: the mask touches only the `len - at` words that are left.
        unsafe {
            let h = _mm512_maskz_loadu_epi64(tail, hold.0.as_ptr().add(at).cast());
            let n = _mm512_maskz_loadu_epi64(tail, now.0.as_ptr().add(at).cast());
            // Lanes past the end come first when reversed: there the carry must pass through.
            let h = _mm512_mask_xor_epi64(ones, tail, h, flip_hold);
            let n = _mm512_maskz_xor_epi64(tail, n, flip_now);
            let r = reverse(link(reverse(h), reverse(n), &mut carry));
            _mm512_mask_storeu_epi64(out.as_mut_ptr().add(at).cast(), tail, r);
        }
    }
    while at > 0 {
        at -= 8;
        // SAFETY: `at + 8 <= len`, and all three slices hold `len` words.
        unsafe {
            let h = _mm512_xor_si512(_mm512_loadu_epi64(hold.0.as_ptr().add(at).cast()), flip_hold);
            let n = _mm512_xor_si512(_mm512_loadu_epi64(now.0.as_ptr().add(at).cast()), flip_now);
            let r = reverse(link(reverse(h), reverse(n), &mut carry));
            _mm512_storeu_epi64(out.as_mut_ptr().add(at).cast(), r);
        }
    }
}
