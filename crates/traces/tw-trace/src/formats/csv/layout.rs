//! The fastest case: every cell one character wide, every wanted cell `0` or `1`.
//!
//! Then every row is the same bytes except for the lowest bit of some of them. A template of 64 rows is compared with 64
//! rows of the block, and the bits of each column are gathered from the lowest bits. Nothing is assumed: bytes that
//! do not fit the template make the block be read the general way.

use super::structure::Kernel;
use tw_core::Bits;

/// Widest row this is done for, in bytes.
const WIDEST: usize = 64;

/// What 64 rows look like.
pub(super) struct Layout {
    /// Bytes per row.
    stride: usize,
    /// Bytes to compare: for each of 64 rows, the bits that are fixed, and their values.
    fixed: Vec<[u8; 64]>,
    expected: Vec<[u8; 64]>,
    /// Cells that may be any one character but a special one: all bits set; empty if there are none.
    free: Vec<[u8; 64]>,
    /// For each wanted column and each 64 bytes: which bytes are its cells, and how many came before in the 64 rows.
    gather: Vec<Vec<(u64, u32)>>,
}

impl Layout {
    /// The layout of rows of `columns` cells, of which those in `wanted` are truth values.
    pub fn new(columns: usize, carriage: bool, wanted: &[usize]) -> Option<Layout> {
        let stride = 2 * columns + usize::from(carriage);
        if columns == 0 || stride > WIDEST {
            return None;
        }
        let mut layout = Layout {
            stride,
            fixed: vec![[0xFF; 64]; stride],
            expected: vec![[0; 64]; stride],
            free: vec![[0; 64]; stride],
            gather: vec![vec![(0, 0); stride]; wanted.len()],
        };
        let mut any_free = false;
        for byte in 0..64 * stride {
            let (chunk, at) = (byte / 64, byte % 64);
            let within = byte % stride;
            let cell = within / 2;
            let (fixed, expected) = if within < 2 * columns && within.is_multiple_of(2) {
                match wanted.iter().position(|&column| column == cell) {
                    Some(number) => {
                        layout.gather[number][chunk].0 |= 1 << at;
                        (0xFE, b'0')
                    }
                    None => {
                        layout.free[chunk][at] = 0xFF;
                        any_free = true;
                        (0x80, 0)
                    }
                }
            } else if within + 1 == stride {
                (0xFF, b'\n')
            } else if within + 1 == 2 * columns {
                (0xFF, b'\r')
            } else {
                (0xFF, b',')
            };
            layout.fixed[chunk][at] = fixed;
            layout.expected[chunk][at] = expected;
        }
        if !any_free {
            layout.free.clear();
        }
        for gather in &mut layout.gather {
            let mut before = 0;
            for (mask, shift) in gather {
                // 64 only where nothing follows.
                *shift = before % 64;
                before += mask.count_ones();
            }
        }
        Some(layout)
    }

    /// The wanted columns of a block, and its number of rows; `None` if it does not fit.
    pub fn read(&self, bytes: &[u8], last: bool, kernel: Kernel) -> Option<(Vec<Bits>, usize)> {
        let (chunks, _) = bytes.as_chunks::<64>();
        let groups = bytes.len() / (64 * self.stride);
        // A last line may lack its end.
        let tail = &bytes[groups * 64 * self.stride..];
        let end = self.end();
        let lacking = tail.len().next_multiple_of(self.stride) - tail.len();
        let line_end = &end[end.len() - lacking.min(end.len())..];
        let missing = lacking != 0;
        if missing && (!last || tail.len() % self.stride + line_end.len() != self.stride) {
            return None;
        }
        let mut words: Vec<Vec<u64>> = self.gather.iter().map(|_| Vec::with_capacity(groups + 1)).collect();
        let fits = match kernel {
            Kernel::Portable => self.groups(chunks, groups, &mut words),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kernel::all` lists this kernel only where the processor has these features.
            Kernel::Avx2 => unsafe { x86::groups_avx2(self, chunks, groups, &mut words) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Kernel::Avx512 => unsafe { x86::groups_avx512(self, chunks, groups, &mut words) },
        };
        if !fits {
            return None;
        }
        let mut rows = groups * 64;
        if !tail.is_empty() {
            // The rest, made up to 64 rows by rows that fit.
            let mut padded = tail.to_vec();
            if missing {
                padded.extend_from_slice(line_end);
            }
            rows += padded.len() / self.stride;
            let row: Vec<u8> = self.expected.as_flattened()[..self.stride]
                .iter()
                .map(|&byte| if byte == 0 { b'0' } else { byte })
                .collect();
            while padded.len() < 64 * self.stride {
                padded.extend_from_slice(&row);
            }
            let (chunks, _) = padded.as_chunks::<64>();
            if !self.groups(chunks, 1, &mut words) {
                return None;
            }
        }
        Some((words.into_iter().map(|words| Bits::from_words(words, rows)).collect(), rows))
    }

    fn end(&self) -> &'static [u8] {
        if self.stride % 2 == 1 { b"\r\n" } else { b"\n" }
    }

    /// Groups of 64 rows, a word of each column per group.
    fn groups(&self, chunks: &[[u8; 64]], groups: usize, words: &mut [Vec<u64>]) -> bool {
        for group in chunks.chunks_exact(self.stride).take(groups) {
            let mut wrong = 0;
            let mut taken = vec![(0u64, 0u32); words.len()];
            for (number, chunk) in group.iter().enumerate() {
                let mut low = 0;
                for (at, &byte) in chunk.iter().enumerate() {
                    wrong |= byte & self.fixed[number][at] ^ self.expected[number][at];
                    let free = self.free.get(number).is_some_and(|free| free[at] != 0);
                    wrong |= u8::from(free && matches!(byte, b',' | b'\n' | b'\r' | b'"'));
                    low |= u64::from(byte & 1) << at;
                }
                for ((word, count), gather) in taken.iter_mut().zip(&self.gather) {
                    let (mut mask, _) = gather[number];
                    while mask != 0 {
                        *word |= (low >> mask.trailing_zeros() & 1) << *count;
                        *count += 1;
                        mask &= mask - 1;
                    }
                }
            }
            if wrong != 0 {
                return false;
            }
            for (words, (word, _)) in words.iter_mut().zip(taken) {
                words.push(word);
            }
        }
        true
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Layout;
    use std::arch::x86_64::*;

    /// 64 bytes compared with the template: what differs, and the lowest bit of each byte.
    trait Compare {
        type Wrong: Copy;
        fn nothing() -> Self::Wrong;
        fn compare(chunk: &[u8; 64], fixed: &[u8; 64], expected: &[u8; 64], wrong: &mut Self::Wrong) -> u64;
        fn special(chunk: &[u8; 64], free: &[u8; 64], wrong: &mut Self::Wrong);
        fn fits(wrong: Self::Wrong) -> bool;
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    pub(super) fn groups_avx2(
        layout: &Layout,
        chunks: &[[u8; 64]],
        groups: usize,
        words: &mut [Vec<u64>],
    ) -> bool {
        by_columns::<Avx2>(layout, chunks, groups, words)
    }

    #[target_feature(enable = "avx2,avx512f,avx512bw,bmi1,bmi2,popcnt")]
    pub(super) fn groups_avx512(
        layout: &Layout,
        chunks: &[[u8; 64]],
        groups: usize,
        words: &mut [Vec<u64>],
    ) -> bool {
        by_columns::<Avx512>(layout, chunks, groups, words)
    }

    /// One loop for each small number of columns, so that their words stay in registers.
    #[inline(always)]
    fn by_columns<C: Compare>(
        layout: &Layout,
        chunks: &[[u8; 64]],
        groups: usize,
        words: &mut [Vec<u64>],
    ) -> bool {
        match words {
            [a] => groups_of::<C, 1>(layout, chunks, groups, [a]),
            [a, b] => groups_of::<C, 2>(layout, chunks, groups, [a, b]),
            [a, b, c] => groups_of::<C, 3>(layout, chunks, groups, [a, b, c]),
            [a, b, c, d] => groups_of::<C, 4>(layout, chunks, groups, [a, b, c, d]),
            many => groups_of_many::<C>(layout, chunks, groups, many),
        }
    }

    #[inline(always)]
    fn groups_of<C: Compare, const N: usize>(
        layout: &Layout,
        chunks: &[[u8; 64]],
        groups: usize,
        mut words: [&mut Vec<u64>; N],
    ) -> bool {
        let stride = layout.stride;
        let picks: Vec<[(u64, u32); N]> =
            (0..stride).map(|chunk| std::array::from_fn(|column| layout.gather[column][chunk])).collect();
        for group in chunks.chunks_exact(stride).take(groups) {
            let mut wrong = C::nothing();
            let mut taken = [0u64; N];
            let template = layout.fixed.iter().zip(&layout.expected).zip(&picks);
            for (chunk, ((fixed, expected), picks)) in group.iter().zip(template) {
                let low = C::compare(chunk, fixed, expected, &mut wrong);
                for (word, &(mask, shift)) in taken.iter_mut().zip(picks) {
                    // SAFETY: BMI2 is among the features of the functions this is inlined into.
                    *word |= unsafe { _pext_u64(low, mask) } << shift;
                }
            }
            for (chunk, free) in group.iter().zip(&layout.free) {
                C::special(chunk, free, &mut wrong);
            }
            if !C::fits(wrong) {
                return false;
            }
            for (words, word) in words.iter_mut().zip(taken) {
                words.push(word);
            }
        }
        true
    }

    #[inline(always)]
    fn groups_of_many<C: Compare>(
        layout: &Layout,
        chunks: &[[u8; 64]],
        groups: usize,
        words: &mut [Vec<u64>],
    ) -> bool {
        let mut lows = vec![0; layout.stride];
        for group in chunks.chunks_exact(layout.stride).take(groups) {
            let mut wrong = C::nothing();
            for (at, chunk) in group.iter().enumerate() {
                lows[at] = C::compare(chunk, &layout.fixed[at], &layout.expected[at], &mut wrong);
            }
            for (chunk, free) in group.iter().zip(&layout.free) {
                C::special(chunk, free, &mut wrong);
            }
            if !C::fits(wrong) {
                return false;
            }
            for (words, gather) in words.iter_mut().zip(&layout.gather) {
                let mut word = 0;
                for (&low, &(mask, shift)) in lows.iter().zip(gather) {
                    // SAFETY: as above.
                    word |= unsafe { _pext_u64(low, mask) } << shift;
                }
                words.push(word);
            }
        }
        true
    }

    /// Only ever used inside [`groups_avx2`].
    struct Avx2;

    #[inline(always)]
    fn halves(bytes: &[u8; 64]) -> [__m256i; 2] {
        // SAFETY: both loads lie within the 64 bytes; AVX2 is among the features of the functions this is inlined into.
        unsafe {
            [_mm256_loadu_si256(bytes.as_ptr().cast()), _mm256_loadu_si256(bytes.as_ptr().add(32).cast())]
        }
    }

    impl Compare for Avx2 {
        type Wrong = __m256i;

        #[inline(always)]
        fn nothing() -> __m256i {
            // SAFETY: AVX2 is among the features of `groups_avx2`; so in the functions below.
            unsafe { _mm256_setzero_si256() }
        }

        #[inline(always)]
        fn compare(chunk: &[u8; 64], fixed: &[u8; 64], expected: &[u8; 64], wrong: &mut __m256i) -> u64 {
            let (chunk, fixed, expected) = (halves(chunk), halves(fixed), halves(expected));
            let mut low = 0;
            for half in 0..2 {
                // SAFETY: as above. The lowest bit of each byte becomes its highest, which a move mask takes.
                let mask = unsafe {
                    let differs =
                        _mm256_xor_si256(_mm256_and_si256(chunk[half], fixed[half]), expected[half]);
                    *wrong = _mm256_or_si256(*wrong, differs);
                    _mm256_movemask_epi8(_mm256_slli_epi16(chunk[half], 7)) as u32
                };
                low |= u64::from(mask) << (32 * half);
            }
            low
        }

        #[inline(always)]
        fn special(chunk: &[u8; 64], free: &[u8; 64], wrong: &mut __m256i) {
            let (chunk, free) = (halves(chunk), halves(free));
            for half in 0..2 {
                // SAFETY: as above.
                unsafe {
                    let is = |byte: u8| _mm256_cmpeq_epi8(chunk[half], _mm256_set1_epi8(byte as i8));
                    let separates = _mm256_or_si256(is(b','), is(b'\n'));
                    let special = _mm256_or_si256(separates, _mm256_or_si256(is(b'\r'), is(b'"')));
                    *wrong = _mm256_or_si256(*wrong, _mm256_and_si256(special, free[half]));
                }
            }
        }

        #[inline(always)]
        fn fits(wrong: __m256i) -> bool {
            // SAFETY: as above.
            unsafe { _mm256_testz_si256(wrong, wrong) == 1 }
        }
    }

    /// Only ever used inside [`groups_avx512`].
    struct Avx512;

    #[inline(always)]
    fn whole(bytes: &[u8; 64]) -> __m512i {
        // SAFETY: the load is the 64 bytes; AVX-512 is among the features of `groups_avx512`.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }

    impl Compare for Avx512 {
        type Wrong = __m512i;

        #[inline(always)]
        fn nothing() -> __m512i {
            // SAFETY: AVX-512 is among the features of `groups_avx512`; so in the functions below.
            unsafe { _mm512_setzero_si512() }
        }

        #[inline(always)]
        fn compare(chunk: &[u8; 64], fixed: &[u8; 64], expected: &[u8; 64], wrong: &mut __m512i) -> u64 {
            let chunk = whole(chunk);
            // SAFETY: as above. The first table is (chunk & fixed) ^ expected.
            unsafe {
                let differs = _mm512_ternarylogic_epi64(chunk, whole(fixed), whole(expected), 0x6A);
                *wrong = _mm512_or_si512(*wrong, differs);
                _mm512_test_epi8_mask(chunk, _mm512_set1_epi8(1))
            }
        }

        #[inline(always)]
        fn special(chunk: &[u8; 64], free: &[u8; 64], wrong: &mut __m512i) {
            let chunk = whole(chunk);
            // SAFETY: as above.
            unsafe {
                let is = |byte: u8| _mm512_cmpeq_epi8_mask(chunk, _mm512_set1_epi8(byte as i8));
                let special = is(b',') | is(b'\n') | is(b'\r') | is(b'"');
                *wrong = _mm512_or_si512(*wrong, _mm512_maskz_mov_epi8(special, whole(free)));
            }
        }

        #[inline(always)]
        fn fits(wrong: __m512i) -> bool {
            // SAFETY: as above.
            unsafe { _mm512_test_epi64_mask(wrong, wrong) == 0 }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_any_number_and_width() {
        for columns in [1, 2, 3, 5, 8, 31] {
            for carriage in [false, true] {
                let wanted: Vec<usize> = (0..columns).filter(|column| column % 3 != 2).collect();
                let layout = Layout::new(columns, carriage, &wanted).unwrap();
                for rows in [0, 1, 2, 63, 64, 65, 128, 200] {
                    let bit = |row: usize, column: usize| (row * 31 + column * 17 + row * row) % 5 < 2;
                    let mut text = String::new();
                    for row in 0..rows {
                        for column in 0..columns {
                            text.push(match (column % 3, bit(row, column)) {
                                (2, bit) => ['z', '-'][usize::from(bit)],
                                (_, bit) => ['0', '1'][usize::from(bit)],
                            });
                            text.push_str(match (column + 1 == columns, carriage) {
                                (false, _) => ",",
                                (true, false) => "\n",
                                (true, true) => "\r\n",
                            });
                        }
                    }
                    let cut = text.trim_end_matches(['\r', '\n']);
                    for &kernel in Kernel::all() {
                        let (found, count) = layout.read(text.as_bytes(), false, kernel).unwrap();
                        assert_eq!(count, rows);
                        for (bits, &column) in found.iter().zip(&wanted) {
                            let expected: Bits = (0..rows).map(|row| bit(row, column)).collect();
                            assert_eq!(*bits, expected, "{kernel:?} {columns} columns, {rows} rows");
                        }
                        if rows > 0 {
                            assert!(layout.read(cut.as_bytes(), false, kernel).is_none());
                            assert_eq!(layout.read(cut.as_bytes(), true, kernel).unwrap(), (found, rows));
                        }
                        // Any byte that does not fit is found.
                        for at in (0..text.len()).step_by(1 + text.len() / 40) {
                            for wrong in [b',', b'\n', b'"', b'\r', b'2', 0xC3, b' '] {
                                let mut bytes = text.clone().into_bytes();
                                let column = at % layout.stride / 2;
                                let free = at % layout.stride < 2 * columns
                                    && (at % layout.stride).is_multiple_of(2)
                                    && column % 3 == 2;
                                if bytes[at] == wrong || free && matches!(wrong, b'2' | b' ') {
                                    continue;
                                }
                                bytes[at] = wrong;
                                assert!(
                                    layout.read(&bytes, true, kernel).is_none(),
                                    "{kernel:?} {at} {wrong}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }
}
