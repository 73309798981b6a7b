//! Finds the delimiters and line ends that separate cells, 64 bytes at a time.
//!
//! Per 64 bytes one bit mask for each special character; quoted stretches are the prefix sums (mod 2) of the quotes;
//! what separates cells outside them is written out as positions. Everything that RFC 4180 forbids, and everything
//! that is allowed but rare (empty lines), makes [`Scanner::scan`] give up: the definition then reads the block.

use crate::formats::masks;

/// State between stretches of a block.
pub(super) struct Scanner<'p> {
    kernel: Kernel,
    patterns: &'p Patterns,
    delimiter: u8,
    state: State,
}

/// For each number of cells already seen in the row: which of the next 64 separators are line ends.
pub(super) struct Patterns(Vec<u64>);

impl Patterns {
    /// Of rows of so many cells, at least one.
    pub fn new(columns: usize) -> Self {
        let pattern = |phase: usize| {
            let first = columns - 1 - phase;
            (first..64).step_by(columns).fold(0, |pattern, bit| pattern | 1 << bit)
        };
        Self((0..columns).map(pattern).collect())
    }
}

#[derive(Clone, Copy)]
struct State {
    /// All ones inside quotes.
    inside: u64,
    /// Whether the byte before was a separator, a closing quote, a carriage return (outside quotes): 0 or 1.
    separator: u64,
    closing: u64,
    carriage: u64,
    /// Cells already seen in the row.
    phase: usize,
    seen: Seen,
}

/// What a block holds, as far as it was scanned.
#[derive(Clone, Copy, Default)]
pub(super) struct Seen {
    /// Quotes.
    pub quotes: bool,
    /// Carriage returns outside quotes.
    pub carriage: bool,
    /// Bytes beyond ASCII.
    pub wide: bool,
    /// Line feeds.
    pub lines: u64,
}

/// The special characters of 64 bytes, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Masks {
    delimiter: u64,
    line: u64,
    quote: u64,
    carriage: u64,
    wide: u64,
}

/// What the processor offers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kernel {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Kernel {
    /// The fastest of [`Kernel::all`].
    pub fn best() -> Kernel {
        *Kernel::all().last().unwrap_or(&Kernel::Portable)
    }

    /// Those that can run here, slowest first.
    pub fn all() -> &'static [Kernel] {
        static ALL: std::sync::OnceLock<Vec<Kernel>> = std::sync::OnceLock::new();
        ALL.get_or_init(|| {
            #[allow(unused_mut)]
            let mut all = vec![Kernel::Portable];
            #[cfg(target_arch = "x86_64")]
            {
                let narrow = is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("lzcnt")
                    && is_x86_feature_detected!("popcnt");
                if narrow {
                    all.push(Kernel::Avx2);
                }
                if narrow
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vbmi2")
                {
                    all.push(Kernel::Avx512);
                }
            }
            all
        })
    }
}

impl<'p> Scanner<'p> {
    pub fn new(kernel: Kernel, patterns: &'p Patterns, delimiter: u8) -> Self {
        let state =
            State { inside: 0, separator: 1, closing: 0, carriage: 0, phase: 0, seen: Seen::default() };
        Self { kernel, patterns, delimiter, state }
    }

    pub fn seen(&self) -> Seen {
        self.state.seen
    }

    /// Whether the bytes so far end inside quotes.
    pub fn inside(&self) -> bool {
        self.state.inside != 0
    }

    /// Scans whole chunks of 64 bytes; appends for each separator the position after it, `base` being that of the
    /// first byte. False if something is not as expected.
    pub fn scan(&mut self, chunks: &[[u8; 64]], base: u32, bounds: &mut Vec<u32>) -> bool {
        match self.kernel {
            Kernel::Portable => scan_with::<Portable>(self, chunks, base, bounds),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kernel::all` lists this kernel only where the processor has these features.
            Kernel::Avx2 => unsafe { x86::scan_avx2(self, chunks, base, bounds) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Kernel::Avx512 => unsafe { x86::scan_avx512(self, chunks, base, bounds) },
        }
    }
}

/// The operations that differ between processors.
trait Lanes {
    /// The masks of 64 bytes, cells being separated by `delimiter`.
    fn masks(chunk: &[u8; 64], delimiter: u8) -> Masks;
    /// The bits of `bits` where `mask` has ones, moved together.
    fn extract(bits: u64, mask: u64) -> u64;
    /// Appends `base + 1 +` the position of each set bit. There is room for 64 more.
    fn positions(mask: u64, base: u32, bounds: &mut Vec<u32>);
}

#[inline(always)]
fn scan_with<L: Lanes>(
    scanner: &mut Scanner<'_>,
    chunks: &[[u8; 64]],
    base: u32,
    bounds: &mut Vec<u32>,
) -> bool {
    let patterns = scanner.patterns.0.as_slice();
    let columns = patterns.len();
    let delimiter = scanner.delimiter;
    let mut state = scanner.state;
    let mut base = base;
    for chunk in chunks {
        let masks = L::masks(chunk, delimiter);
        let mut separators = masks.delimiter | masks.line;
        if masks.quote | masks.carriage | state.inside | state.closing | state.carriage != 0 {
            match quoted(&masks, &mut state) {
                Some(outside) => separators = outside,
                None => return false,
            }
        }
        state.seen.wide |= masks.wide != 0;
        state.seen.lines += u64::from(masks.line.count_ones());
        state.separator = separators >> 63;
        let count = separators.count_ones() as usize;
        let expected = patterns[state.phase] & low_bits(count);
        if L::extract(masks.line, separators) != expected {
            return false;
        }
        state.phase = (state.phase + count) as u32 as usize;
        if state.phase >= columns {
            state.phase = (state.phase as u32 % columns as u32) as usize;
        }
        bounds.reserve(64);
        L::positions(separators, base, bounds);
        base = base.wrapping_add(64);
    }
    scanner.state = state;
    true
}

/// The separators of 64 bytes with quotes or carriage returns among them, or `None` if one of those is misplaced.
#[inline(never)]
fn quoted(masks: &Masks, state: &mut State) -> Option<u64> {
    // A bit is set from an opening quote up to but not including its closing one.
    let inside = prefix_xor(masks.quote) ^ state.inside;
    let (opening, closing) = (masks.quote & inside, masks.quote & !inside);
    let separators = (masks.delimiter | masks.line) & !inside;
    let carriage = masks.carriage & !inside;
    // A quote opens at the start of a cell, or right after a closing one: together they are a doubled quote.
    let starts = separators << 1 | state.separator;
    let after_closing = closing << 1 | state.closing;
    if opening & !(starts | after_closing) != 0 {
        return None;
    }
    // What follows a closing quote is a separator, a line end or an opening quote.
    if after_closing & !(separators | carriage | opening) != 0 {
        return None;
    }
    // What follows a carriage return is a line feed.
    if (carriage << 1 | state.carriage) & !(masks.line & !inside) != 0 {
        return None;
    }
    state.inside = (inside as i64 >> 63) as u64;
    state.closing = closing >> 63;
    state.carriage = carriage >> 63;
    state.seen.quotes |= masks.quote != 0;
    state.seen.carriage |= carriage != 0;
    Some(separators)
}

fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

#[inline(always)]
fn low_bits(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

struct Portable;

impl Lanes for Portable {
    fn masks(chunk: &[u8; 64], delimiter: u8) -> Masks {
        let equal = <masks::Portable as masks::Lanes>::equal;
        let mut wide = 0;
        for (index, eight) in chunk.as_chunks::<8>().0.iter().enumerate() {
            let high = u64::from_le_bytes(*eight) >> 7 & 0x0101_0101_0101_0101;
            // Gathers bit 8i into bit i.
            wide |= (high.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * index);
        }
        let (delimiter, line) = (equal(chunk, delimiter), equal(chunk, b'\n'));
        Masks { delimiter, line, quote: equal(chunk, b'"'), carriage: equal(chunk, b'\r'), wide }
    }

    fn extract(bits: u64, mask: u64) -> u64 {
        <masks::Portable as masks::Lanes>::compress(bits, mask)
    }

    fn positions(mut mask: u64, base: u32, bounds: &mut Vec<u32>) {
        while mask != 0 {
            bounds.push(base + 1 + mask.trailing_zeros());
            mask &= mask - 1;
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Lanes, Masks, Scanner, scan_with};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn scan_avx2(
        scanner: &mut Scanner<'_>,
        chunks: &[[u8; 64]],
        base: u32,
        bounds: &mut Vec<u32>,
    ) -> bool {
        scan_with::<Avx2>(scanner, chunks, base, bounds)
    }

    #[target_feature(enable = "avx2,avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn scan_avx512(
        scanner: &mut Scanner<'_>,
        chunks: &[[u8; 64]],
        base: u32,
        bounds: &mut Vec<u32>,
    ) -> bool {
        scan_with::<Avx512>(scanner, chunks, base, bounds)
    }

    /// Only ever used inside [`scan_avx2`].
    struct Avx2;

    impl Lanes for Avx2 {
        #[inline(always)]
        fn masks(chunk: &[u8; 64], delimiter: u8) -> Masks {
            // SAFETY: both loads lie within the 64 bytes; the features are those of `scan_avx2`.
            unsafe {
                let low = _mm256_loadu_si256(chunk.as_ptr().cast());
                let high = _mm256_loadu_si256(chunk.as_ptr().add(32).cast());
                let is = |byte: u8| {
                    let byte = _mm256_set1_epi8(byte as i8);
                    let low = _mm256_movemask_epi8(_mm256_cmpeq_epi8(low, byte)) as u32;
                    let high = _mm256_movemask_epi8(_mm256_cmpeq_epi8(high, byte)) as u32;
                    u64::from(low) | u64::from(high) << 32
                };
                let wide = u64::from(_mm256_movemask_epi8(low) as u32)
                    | u64::from(_mm256_movemask_epi8(high) as u32) << 32;
                Masks {
                    delimiter: is(delimiter),
                    line: is(b'\n'),
                    quote: is(b'"'),
                    carriage: is(b'\r'),
                    wide,
                }
            }
        }

        #[inline(always)]
        fn extract(bits: u64, mask: u64) -> u64 {
            // SAFETY: BMI2 is among the features of `scan_avx2`.
            unsafe { _pext_u64(bits, mask) }
        }

        #[inline(always)]
        fn positions(mut mask: u64, base: u32, bounds: &mut Vec<u32>) {
            let count = mask.count_ones() as usize;
            let len = bounds.len();
            // SAFETY: the caller reserved room for 64, and at most 64 are written: eight at a time, while any bit is
            // left; then as many as there were bits are counted in.
            unsafe {
                let mut out = bounds.as_mut_ptr().add(len);
                while mask != 0 {
                    for lane in 0..8 {
                        out.add(lane).write(base.wrapping_add(1 + mask.trailing_zeros()));
                        mask &= mask.wrapping_sub(1);
                    }
                    out = out.add(8);
                }
                bounds.set_len(len + count);
            }
        }
    }

    /// Only ever used inside [`scan_avx512`].
    struct Avx512;

    /// 1, 2, …, 64.
    static AFTER: [u8; 64] = {
        let mut after = [0; 64];
        let mut at = 0;
        while at < 64 {
            after[at] = at as u8 + 1;
            at += 1;
        }
        after
    };

    impl Lanes for Avx512 {
        #[inline(always)]
        fn masks(chunk: &[u8; 64], delimiter: u8) -> Masks {
            // SAFETY: the load is the 64 bytes; the features are those of `scan_avx512`.
            unsafe {
                let bytes = _mm512_loadu_si512(chunk.as_ptr().cast());
                let is = |byte: u8| _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8));
                let wide = _mm512_movepi8_mask(bytes);
                Masks {
                    delimiter: is(delimiter),
                    line: is(b'\n'),
                    quote: is(b'"'),
                    carriage: is(b'\r'),
                    wide,
                }
            }
        }

        #[inline(always)]
        fn extract(bits: u64, mask: u64) -> u64 {
            // SAFETY: BMI2 is among the features of `scan_avx512`.
            unsafe { _pext_u64(bits, mask) }
        }

        #[inline(always)]
        fn positions(mask: u64, base: u32, bounds: &mut Vec<u32>) {
            let count = mask.count_ones() as usize;
            let len = bounds.len();
            // SAFETY: the caller reserved room for 64, and at most four stores of 16 are made; the features are those of
            // `scan_avx512`.
            unsafe {
                let after = _mm512_loadu_si512(AFTER.as_ptr().cast());
                let packed = _mm512_maskz_compress_epi8(mask, after);
                let base = _mm512_set1_epi32(base as i32);
                let out: *mut u32 = bounds.as_mut_ptr().add(len);
                let store = |part: __m128i, at: usize| {
                    let positions = _mm512_add_epi32(_mm512_cvtepu8_epi32(part), base);
                    _mm512_storeu_si512(out.add(at).cast(), positions);
                };
                store(_mm512_castsi512_si128(packed), 0);
                if count > 16 {
                    store(_mm512_extracti32x4_epi32(packed, 1), 16);
                    if count > 32 {
                        store(_mm512_extracti32x4_epi32(packed, 2), 32);
                        store(_mm512_extracti32x4_epi32(packed, 3), 48);
                    }
                }
                bounds.set_len(len + count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same by looking at one byte after another.
    fn plain(text: &[u8], columns: usize) -> Option<Vec<u32>> {
        let (mut bounds, mut inside, mut cells) = (Vec::new(), false, 0);
        for (at, &byte) in text.iter().enumerate() {
            let (before, after) = (at.checked_sub(1).map(|at| text[at]), text.get(at + 1));
            match byte {
                b'"' if !inside => {
                    if !matches!(before, None | Some(b',' | b'\n' | b'"')) {
                        return None;
                    }
                    inside = true;
                }
                b'"' => {
                    inside = false;
                    if !matches!(after, Some(b',' | b'\n' | b'\r' | b'"') | None) {
                        return None;
                    }
                }
                b'\r' if !inside && !matches!(after, Some(b'\n') | None) => return None,
                b',' | b'\n' if !inside => {
                    cells += 1;
                    if (byte == b'\n') != (cells == columns) {
                        return None;
                    }
                    cells %= columns;
                    bounds.push(at as u32 + 1);
                }
                _ => {}
            }
        }
        Some(bounds)
    }

    #[test]
    fn every_kernel_finds_what_a_plain_loop_finds() {
        let mut rng = tw_testkit::Rng::new(88);
        let mut random = |limit: usize| rng.below(limit);
        let mut regular = 0;
        for round in 0..30_000 {
            let columns = 1 + random(4);
            let mut text = Vec::new();
            while text.len() < 200 {
                for column in 0..columns {
                    let cells = [
                        "",
                        "1",
                        "true",
                        "long enough",
                        "\"\"",
                        "\"a\"\"b\"",
                        "\"x,\ny\"",
                        "é",
                        "a\"",
                        "\"b\"c",
                        "d\r",
                    ];
                    let odd = if round % 2 == 0 { 0 } else { 3 * usize::from(random(60) == 0) };
                    text.extend(cells[random(8 + odd)].as_bytes());
                    text.extend(
                        if column + 1 < columns { "," } else { ["\n", "\r\n"][random(2)] }.as_bytes(),
                    );
                }
            }
            if random(50) == 0 {
                text.push(b',');
            }
            text.resize(256.max(text.len().next_multiple_of(64)), b'z');
            let expected = plain(&text, columns);
            regular += usize::from(expected.is_some());
            for &kernel in Kernel::all() {
                let patterns = Patterns::new(columns);
                let mut scanner = Scanner::new(kernel, &patterns, b',');
                let mut bounds = Vec::new();
                let (chunks, _) = text.as_chunks::<64>();
                let cut = random(chunks.len());
                let fine = scanner.scan(&chunks[..cut], 0, &mut bounds)
                    && scanner.scan(&chunks[cut..], cut as u32 * 64, &mut bounds);
                assert_eq!(fine.then_some(bounds), expected, "{kernel:?} {}", String::from_utf8_lossy(&text));
                if fine {
                    assert_eq!(
                        scanner.seen().lines,
                        text.iter().filter(|&&byte| byte == b'\n').count() as u64
                    );
                    assert_eq!(scanner.seen().wide, text.iter().any(|&byte| byte >= 0x80));
                }
            }
        }
        assert!(regular > 10_000, "{regular}");
    }
}
