//! Kernels in plain Rust. The bodies are inlined into the other tables, compiled there for wider registers.

use super::{Input, Kernels, flip};

pub(super) static KERNELS: Kernels = Kernels {
    name: "portable",
    and,
    xor,
    copy,
    shift_up,
    shift_down,
    chain_up,
    chain_down,
    count,
    count_and,
    gather,
};

#[inline(always)]
fn zip(out: &mut [u64], a: &[u64], b: &[u64], f: impl Fn(u64, u64) -> u64) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = f(a, b);
    }
}

#[inline(always)]
pub(super) fn and(out: &mut [u64], a: Input<'_>, b: Input<'_>) {
    match (a.1, b.1) {
        (false, false) => zip(out, a.0, b.0, |a, b| a & b),
        (false, true) => zip(out, a.0, b.0, |a, b| a & !b),
        (true, false) => zip(out, a.0, b.0, |a, b| !a & b),
        (true, true) => zip(out, a.0, b.0, |a, b| !(a | b)),
    }
}

#[inline(always)]
pub(super) fn xor(out: &mut [u64], a: &[u64], b: &[u64]) {
    zip(out, a, b, |a, b| a ^ b);
}

#[inline(always)]
pub(super) fn copy(out: &mut [u64], a: Input<'_>) {
    let flip = flip(a.1);
    for (out, &a) in out.iter_mut().zip(a.0) {
        *out = a ^ flip;
    }
}

#[inline(always)]
pub(super) fn shift_up(out: &mut [u64], a: Input<'_>, carry: bool) {
    let (flip, a) = (flip(a.1), a.0);
    let Some((first, rest)) = out.split_first_mut() else { return };
    *first = (a[0] ^ flip) << 1 | u64::from(carry);
    for (out, pair) in rest.iter_mut().zip(a.windows(2)) {
        *out = (pair[1] << 1 | pair[0] >> 63) ^ flip;
    }
}

#[inline(always)]
pub(super) fn shift_down(out: &mut [u64], a: Input<'_>, carry: bool) {
    let (flip, a) = (flip(a.1), a.0);
    let Some((last, rest)) = out.split_last_mut() else { return };
    *last = (a[rest.len()] ^ flip) >> 1 | u64::from(carry) << 63;
    for (out, pair) in rest.iter_mut().zip(a.windows(2)) {
        *out = (pair[0] >> 1 | pair[1] << 63) ^ flip;
    }
}

/// One word of a chain: adding `now` to `hold | now` lets the carry run through exactly the positions that hold.
#[inline(always)]
fn link(hold: u64, now: u64, carry: &mut bool) -> u64 {
    let either = hold | now;
    let (sum, over) = either.overflowing_add(now);
    let (sum, over_by_carry) = sum.overflowing_add(u64::from(*carry));
    *carry = over | over_by_carry;
    now | (hold & (sum ^ either ^ now))
}

#[inline(always)]
pub(super) fn chain_up(out: &mut [u64], hold: Input<'_>, now: Input<'_>, mut carry: bool) {
    let (flip_hold, flip_now) = (flip(hold.1), flip(now.1));
    for ((out, &hold), &now) in out.iter_mut().zip(hold.0).zip(now.0) {
        *out = link(hold ^ flip_hold, now ^ flip_now, &mut carry);
    }
}

/// Bits are reversed a few words at a time, in loops of their own that compilers turn into vector code.
#[inline(always)]
pub(super) fn chain_down(out: &mut [u64], hold: Input<'_>, now: Input<'_>, mut carry: bool) {
    const AT_ONCE: usize = 16;
    let (flip_hold, flip_now) = (flip(hold.1), flip(now.1));
    let mut end = out.len();
    while end > 0 {
        let start = end.saturating_sub(AT_ONCE);
        let (mut h, mut n) = ([0u64; AT_ONCE], [0u64; AT_ONCE]);
        for (to, &word) in h.iter_mut().zip(&hold.0[start..end]) {
            *to = (word ^ flip_hold).reverse_bits();
        }
        for (to, &word) in n.iter_mut().zip(&now.0[start..end]) {
            *to = (word ^ flip_now).reverse_bits();
        }
        for index in (0..end - start).rev() {
            h[index] = link(h[index], n[index], &mut carry);
        }
        for (to, &word) in out[start..end].iter_mut().zip(&h) {
            *to = word.reverse_bits();
        }
        end = start;
    }
}

#[inline(always)]
pub(super) fn count(a: Input<'_>) -> usize {
    let flip = flip(a.1);
    a.0.iter().map(|&a| u64::from((a ^ flip).count_ones())).sum::<u64>() as usize
}

#[inline(always)]
pub(super) fn count_and(a: Input<'_>, b: Input<'_>) -> usize {
    let (flip_a, flip_b) = (flip(a.1), flip(b.1));
    let both = a.0.iter().zip(b.0).map(|(&a, &b)| (a ^ flip_a) & (b ^ flip_b));
    both.map(|word| u64::from(word.count_ones())).sum::<u64>() as usize
}

/// The bits of `word` that `select` selects, packed.
fn extract(mut select: u64, word: u64) -> u64 {
    let (mut packed, mut at) = (0, 0);
    while select != 0 {
        packed |= (word >> select.trailing_zeros() & 1) << at;
        at += 1;
        select &= select - 1;
    }
    packed
}

fn gather(select: &[u64], value: Input<'_>, out: &mut [u64], at: usize) {
    gather_with(select, value, out, at, extract);
}

/// Collects packed bits in a word and writes it when it is full. Bits after the last one written stay as they are.
#[inline(always)]
pub(super) fn gather_with(
    select: &[u64],
    value: Input<'_>,
    out: &mut [u64],
    at: usize,
    extract: impl Fn(u64, u64) -> u64,
) {
    let flip = flip(value.1);
    let (mut index, mut filled) = (at / 64, (at % 64) as u32);
    let below = |bits: u32| (1u64 << bits) - 1;
    let mut full = if filled == 0 { 0 } else { out[index] & below(filled) };
    for (&select, &word) in select.iter().zip(value.0) {
        let count = select.count_ones();
        let packed = extract(select, word ^ flip);
        full |= packed << filled;
        filled += count;
        if filled >= 64 {
            out[index] = full;
            index += 1;
            filled -= 64;
            full = if filled == 0 { 0 } else { packed >> (count - filled) };
        }
    }
    if filled > 0 {
        out[index] = out[index] & !below(filled) | full;
    }
}
