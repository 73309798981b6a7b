//! What is done to the words of one block.
//!
//! Every kernel works on slices of equal length, position 0 in the lowest bit of the first word. "Up" kernels carry
//! information to higher positions (past operators), "down" kernels to lower ones (future operators). The tables
//! compute the same; which one is used is decided once, by what the processor can do.

mod portable;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86;

/// Words, and whether to read them negated.
pub(crate) type Input<'a> = (&'a [u64], bool);

/// A kernel of chains: the result, what must hold, what ends the wait, the carry.
pub(crate) type Chain = fn(&mut [u64], Input<'_>, Input<'_>, bool);

/// One way to run every kernel.
pub(crate) struct Kernels {
    #[cfg_attr(not(test), allow(dead_code))]
    pub(crate) name: &'static str,
    /// `out = (a ^ flip_a) & (b ^ flip_b)`.
    pub(crate) and: fn(&mut [u64], Input<'_>, Input<'_>),
    /// `out = a ^ b`.
    pub(crate) xor: fn(&mut [u64], &[u64], &[u64]),
    /// `out = a ^ flip`.
    pub(crate) copy: fn(&mut [u64], Input<'_>),
    /// Every bit one position up; the lowest becomes the carry.
    pub(crate) shift_up: fn(&mut [u64], Input<'_>, bool),
    /// Every bit one position down; the highest becomes the carry.
    pub(crate) shift_down: fn(&mut [u64], Input<'_>, bool),
    /// `r = now | hold & (r one position lower)`, the carry below the lowest: hold, now.
    pub(crate) chain_up: Chain,
    /// The same, coming from the positions above.
    pub(crate) chain_down: Chain,
    /// How many bits are set.
    pub(crate) count: fn(Input<'_>) -> usize,
    /// How many bits are set in both.
    pub(crate) count_and: fn(Input<'_>, Input<'_>) -> usize,
    /// Packs the selected bits (`select`, `words`) and writes them to consecutive bits from `at` on.
    pub(crate) gather: fn(&[u64], Input<'_>, &mut [u64], usize),
}

/// Every table this processor can run, the best one last.
pub(crate) fn available() -> Vec<&'static Kernels> {
    #[allow(unused_mut)]
    let mut tables = vec![&portable::KERNELS];
    #[cfg(target_arch = "x86_64")]
    tables.extend(x86::detect());
    tables
}

/// The table to use.
pub(crate) fn best() -> &'static Kernels {
    static BEST: std::sync::LazyLock<&'static Kernels> =
        std::sync::LazyLock::new(|| available().pop().unwrap_or(&portable::KERNELS));
    *BEST
}

/// All ones if the operand is negated.
#[inline(always)]
pub(crate) fn flip(negated: bool) -> u64 {
    if negated { u64::MAX } else { 0 }
}

/// Sets every bit at or above the lowest set bit of `body`; whether there was one.
pub(crate) fn fill_up(out: &mut [u64], body: Input<'_>) -> bool {
    let flip = flip(body.1);
    let Some(first) = body.0.iter().position(|&word| word ^ flip != 0) else {
        out.fill(0);
        return false;
    };
    out[..first].fill(0);
    let word = body.0[first] ^ flip;
    out[first] = word | word.wrapping_neg();
    out[first + 1..].fill(u64::MAX);
    true
}

/// Sets every bit at or below the highest set bit of `body`; whether there was one.
pub(crate) fn fill_down(out: &mut [u64], body: Input<'_>) -> bool {
    let flip = flip(body.1);
    let Some(last) = body.0.iter().rposition(|&word| word ^ flip != 0) else {
        out.fill(0);
        return false;
    };
    out[..last].fill(u64::MAX);
    out[last] = u64::MAX >> (body.0[last] ^ flip).leading_zeros();
    out[last + 1..].fill(0);
    true
}
