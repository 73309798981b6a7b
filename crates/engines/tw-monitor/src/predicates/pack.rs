//! From 64 tests to one word.

use tw_core::Bits;

/// The bit of each position: `test` of its value, false where it is not valid.
pub(super) fn pack<T: Copy>(values: &[T], valid: &Bits, test: impl Fn(T) -> bool) -> Bits {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2, as just detected.
            return unsafe { pack_avx2(values, valid, test) };
        }
    }
    pack_portable(values, valid, test)
}

/// The same loop compiled for 256-bit registers: the portable build has no 64-bit comparisons.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn pack_avx2<T: Copy>(values: &[T], valid: &Bits, test: impl Fn(T) -> bool) -> Bits {
    pack_portable(values, valid, test)
}

#[inline(always)]
fn pack_portable<T: Copy>(values: &[T], valid: &Bits, test: impl Fn(T) -> bool) -> Bits {
    let mut words = Vec::with_capacity(values.len().div_ceil(64));
    let (chunks, rest) = values.as_chunks::<64>();
    for (chunk, valid) in chunks.iter().zip(valid.words()) {
        words.push(word(chunk, &test) & valid);
    }
    if !rest.is_empty() {
        let tail = rest.iter().enumerate().fold(0, |word, (i, &value)| word | u64::from(test(value)) << i);
        words.push(tail & valid.words().last().copied().unwrap_or(0));
    }
    Bits::from_words(words, values.len())
}

/// One bit per value. Bytes first: they vectorise on every processor, and a multiplication gathers eight.
#[inline(always)]
pub(super) fn word<T: Copy>(values: &[T; 64], test: impl Fn(T) -> bool) -> u64 {
    let mut bytes = [0u8; 64];
    for (byte, &value) in bytes.iter_mut().zip(values) {
        *byte = u8::from(test(value));
    }
    gather(&bytes)
}

/// One bit per byte, each 0 or 1.
#[inline(always)]
pub(super) fn gather(bytes: &[u8; 64]) -> u64 {
    let (eights, _) = bytes.as_chunks::<8>();
    let mut word = 0;
    for (i, &eight) in eights.iter().enumerate() {
        // Byte j holds bit 8j; the factor moves each to bit 56 + j.
        let gathered = u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        word |= gathered << (8 * i);
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_lands_where_it_belongs() {
        for len in [0, 1, 63, 64, 65, 128, 200] {
            let values: Vec<i64> = (0..len).map(|i| i * 2_654_435_761 % 97).collect();
            let valid: Bits = (0..len).map(|i| i % 7 != 3).collect();
            let expected: Bits = values.iter().enumerate().map(|(i, &v)| v < 40 && i % 7 != 3).collect();
            assert_eq!(pack(&values, &valid, |v| v < 40), expected, "{len}");
            assert_eq!(pack_portable(&values, &valid, |v| v < 40), expected, "{len}");
        }
    }
}
