//! From the bytes of a cell to its value, for the cells most files are made of; the rest goes through
//! [`ColumnBuilder::push_cell`], which says what is right.

use super::structure::Kernel;
use crate::{ColumnBuilder, Stamps};
use std::borrow::Cow;
use std::ops::Range;
use tw_core::{Bits, Time};

/// The cells of some rows.
#[derive(Clone, Copy)]
pub(super) struct Cells<'b> {
    pub bytes: &'b [u8],
    /// Where each cell starts; the byte before the next start separates them.
    pub bounds: &'b [u32],
    /// Cells per row.
    pub columns: usize,
    pub rows: usize,
    /// Whether lines may end with CRLF, and cells may be quoted.
    pub carriage: bool,
    pub quotes: bool,
}

impl<'b> Cells<'b> {
    /// Start and end of a cell as written.
    #[inline(always)]
    fn range(&self, row: usize, column: usize) -> (usize, usize) {
        let at = row * self.columns + column;
        let (start, mut end) = (self.bounds[at] as usize, self.bounds[at + 1] as usize - 1);
        if self.carriage && column + 1 == self.columns && end > start && self.bytes[end - 1] == b'\r' {
            end -= 1;
        }
        (start, end)
    }

    /// Bytes of the longest row.
    pub fn longest(&self) -> usize {
        let bound = |row: usize| self.bounds[row * self.columns] as usize;
        (0..self.rows).map(|row| bound(row + 1) - bound(row)).max().unwrap_or(0)
    }

    /// A cell's bytes, without quotes.
    #[inline(always)]
    pub fn cell(&self, row: usize, column: usize) -> Cow<'b, [u8]> {
        let (start, end) = self.range(row, column);
        let bytes = &self.bytes[start..end];
        if self.quotes && bytes.first() == Some(&b'"') { unquote(bytes) } else { Cow::Borrowed(bytes) }
    }

    /// Start and end of a cell between its quotes, if it has them.
    #[inline(always)]
    fn inner(&self, row: usize, column: usize) -> (usize, usize) {
        let (start, end) = self.range(row, column);
        let quote = usize::from(self.quotes && end > start && self.bytes[start] == b'"');
        (start + quote, end - quote)
    }

    /// Eight bytes from `start` on, the first the lowest; zeros where there are no more.
    #[inline(always)]
    fn word(&self, start: usize) -> u64 {
        match self.bytes.get(start..start + 8) {
            Some(bytes) => u64::from_le_bytes(bytes.try_into().unwrap_or_default()),
            None => {
                let mut padded = [0; 8];
                let rest = &self.bytes[start..];
                padded[..rest.len()].copy_from_slice(rest);
                u64::from_le_bytes(padded)
            }
        }
    }
}

#[cold]
fn unquote(cell: &[u8]) -> Cow<'_, [u8]> {
    // The scanner has checked that quotes are closed and, inside, doubled.
    let inner = cell.get(1..cell.len() - 1).unwrap_or_default();
    if memchr::memchr(b'"', inner).is_none() {
        return Cow::Borrowed(inner);
    }
    let mut out = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = memchr::memchr(b'"', rest) {
        out.extend_from_slice(&rest[..=at]);
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

/// A cell did not fit its use.
pub(super) struct Misfit;

/// Appends one column of the rows to a builder.
pub(super) fn push(
    builder: &mut ColumnBuilder,
    cells: &Cells<'_>,
    column: usize,
    kernel: Kernel,
) -> Result<(), Misfit> {
    match builder {
        ColumnBuilder::Truth(_) => push_truth(builder, cells, column, kernel),
        ColumnBuilder::Int { .. } | ColumnBuilder::Real { .. } => push_numbers(builder, cells, column),
        ColumnBuilder::Reals(numbers) => push(numbers, cells, column, kernel),
        _ => (0..cells.rows).try_for_each(|row| push_any(builder, cells, row, column)),
    }
}

fn push_any(builder: &mut ColumnBuilder, cells: &Cells<'_>, row: usize, column: usize) -> Result<(), Misfit> {
    let cell = cells.cell(row, column);
    // The block was checked to be UTF-8, and a cell ends at ASCII characters.
    let text = std::str::from_utf8(&cell).map_err(|_| Misfit)?;
    builder.push_cell(text).map_err(|_| Misfit)
}

/// By length: the cell that is true, and the one that is false; where there is none, what no cell of that length is.
const TRUE: [u64; 8] = [NONE, 0x31, NONE, NONE, 0x65_75_72_74, NONE, NONE, NONE];
const FALSE: [u64; 8] = [0, 0x30, NONE, NONE, NONE, 0x65_73_6C_61_66, NONE, NONE];
const NONE: u64 = u64::MAX;

fn push_truth(
    builder: &mut ColumnBuilder,
    cells: &Cells<'_>,
    column: usize,
    kernel: Kernel,
) -> Result<(), Misfit> {
    let plain = !(cells.quotes || cells.carriage && column + 1 == cells.columns);
    let mut row = 0;
    while row < cells.rows {
        let count = (cells.rows - row).min(64);
        let word = match kernel {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kernel::all` lists this kernel only where the processor has these features.
            Kernel::Avx512 if plain && count == 64 => unsafe { x86::truths(cells, row, column) },
            _ => truths(cells, row, column, count),
        };
        if let (Some(word), ColumnBuilder::Truth(bits)) = (word, &mut *builder) {
            bits.push_word(word, count);
        } else {
            (row..row + count).try_for_each(|row| push_any(builder, cells, row, column))?;
        }
        row += count;
    }
    Ok(())
}

/// The truth of up to 64 cells, if all are as usual.
fn truths(cells: &Cells<'_>, row: usize, column: usize, count: usize) -> Option<u64> {
    let (mut word, mut fine) = (0, true);
    for bit in 0..count {
        let (start, end) = cells.inner(row + bit, column);
        let len = (end - start).min(7);
        let bytes = cells.word(start) & ((1 << (8 * len)) - 1);
        let truth = bytes == TRUE[len];
        fine &= truth | (bytes == FALSE[len]);
        word |= u64::from(truth) << bit;
    }
    fine.then_some(word)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Cells, FALSE, TRUE};
    use std::arch::x86_64::*;

    /// As [`super::truths`], of 64 cells without quotes or carriage returns.
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn truths(cells: &Cells<'_>, row: usize, column: usize) -> Option<u64> {
        let (bytes, stride) = (cells.bytes, cells.columns);
        let first = row * stride + column;
        let bounds = &cells.bounds[first..first + 63 * stride + 2];
        // Every cell starts before the last one does; eight bytes are read from each start.
        if bounds[63 * stride] as usize + 8 > bytes.len() || bytes.len() > i32::MAX as usize {
            return super::truths(cells, row, column, 64);
        }
        let table = |table: &[u64; 8]| {
            // SAFETY: the load is the eight words of the table.
            unsafe { _mm512_loadu_si512(table.as_ptr().cast()) }
        };
        let (yes, no) = (table(&TRUE), table(&FALSE));
        let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        let steps = _mm256_mullo_epi32(lanes, _mm256_set1_epi32(stride as i32));
        let (mut word, mut fine) = (0, 0xFF);
        for group in 0..8 {
            let at = &bounds[group * 8 * stride..];
            // SAFETY: the eighth index is 7 × stride + 1, and `at` has at least that many entries and one more.
            let (starts, ends) = unsafe {
                (
                    _mm256_i32gather_epi32::<4>(at.as_ptr().cast(), steps),
                    _mm256_i32gather_epi32::<4>(at.as_ptr().add(1).cast(), steps),
                )
            };
            // SAFETY: each start is at least eight bytes before the end, as was checked for the last one.
            let words = unsafe { _mm512_i32gather_epi64::<1>(starts, bytes.as_ptr().cast()) };
            // Length, counting the separator, so less one; longer than seven is as good as seven.
            let len = _mm256_sub_epi32(_mm256_sub_epi32(ends, starts), _mm256_set1_epi32(1));
            let len = _mm512_cvtepu32_epi64(_mm256_min_epu32(len, _mm256_set1_epi32(7)));
            let kept = _mm512_sllv_epi64(_mm512_set1_epi64(-1), _mm512_slli_epi64::<3>(len));
            let words = _mm512_andnot_si512(kept, words);
            let is_true = _mm512_cmpeq_epi64_mask(words, _mm512_permutexvar_epi64(len, yes));
            let is_false = _mm512_cmpeq_epi64_mask(words, _mm512_permutexvar_epi64(len, no));
            fine &= is_true | is_false;
            word |= u64::from(is_true) << (8 * group);
        }
        (fine == 0xFF).then_some(word)
    }
}

fn push_numbers(builder: &mut ColumnBuilder, cells: &Cells<'_>, column: usize) -> Result<(), Misfit> {
    let mut row = 0;
    while row < cells.rows {
        // As far as they are as usual; then one by the definition.
        row += match builder {
            ColumnBuilder::Int { values, valid, .. } => {
                usual(values, valid, row..cells.rows, |row| integer(cells, row, column))
            }
            ColumnBuilder::Real { values, valid } => {
                usual(values, valid, row..cells.rows, |row| real(cells, row, column))
            }
            _ => 0,
        };
        if row < cells.rows {
            push_any(builder, cells, row, column)?;
            row += 1;
        }
    }
    Ok(())
}

/// Appends the numbers of rows up to one that is not as usual; how many they are.
#[inline(always)]
fn usual<T: Copy + Default>(
    values: &mut Vec<T>,
    valid: &mut Bits,
    rows: Range<usize>,
    number: impl Fn(usize) -> Option<T>,
) -> usize {
    // Room first, so that nothing asks for it number by number.
    let before = values.len();
    values.resize(before + rows.len(), T::default());
    let mut count = 0;
    for (to, row) in values[before..].iter_mut().zip(rows) {
        let Some(number) = number(row) else { break };
        *to = number;
        count += 1;
    }
    values.truncate(before + count);
    valid.push_repeat(true, count);
    count
}

#[inline(always)]
fn number(cells: &Cells<'_>, row: usize, column: usize) -> Option<(bool, u64, usize, bool)> {
    let (start, end) = cells.inner(row, column);
    match end - start {
        len @ 1..=8 => short_decimal(cells.word(start), len),
        _ => decimal(&cells.bytes[start..end]),
    }
}

/// A whole number, as usually written.
#[inline(always)]
fn integer(cells: &Cells<'_>, row: usize, column: usize) -> Option<i64> {
    match number(cells, row, column)? {
        (negative, digits, _, false) => Some(if negative { -(digits as i64) } else { digits as i64 }),
        _ => None,
    }
}

/// A number that is not whole, as usually written.
#[inline(always)]
fn real(cells: &Cells<'_>, row: usize, column: usize) -> Option<f64> {
    let (negative, digits, places, point) = number(cells, row, column)?;
    if !point {
        return None;
    }
    // Exact: both are, and a division is rounded once.
    let real = (digits < 1 << 53).then(|| digits as f64 / POWERS[places])?;
    Some(if negative { -real } else { real })
}

const POWERS: [f64; 19] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18];

/// The number that one to eight digits are, all at once.
#[inline(always)]
fn short_digits(word: u64, len: usize) -> Option<u64> {
    if len == 0 || len > 8 {
        return None;
    }
    // Digits to the end, zeros before them.
    let blank = 64 - 8 * len as u32;
    let word = word << blank | if blank == 0 { 0 } else { 0x3030_3030_3030_3030 >> (64 - blank) };
    let high = word & 0xF0F0_F0F0_F0F0_F0F0;
    let carried = word.wrapping_add(0x0606_0606_0606_0606) & 0xF0F0_F0F0_F0F0_F0F0;
    if high != 0x3030_3030_3030_3030 || carried != high {
        return None;
    }
    let digits = word & 0x0F0F_0F0F_0F0F_0F0F;
    let pairs = (digits.wrapping_mul(10) + (digits >> 8)) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs.wrapping_mul(100) + (pairs >> 16)) & 0x0000_FFFF_0000_FFFF;
    Some((fours.wrapping_mul(10_000) + (fours >> 32)) & 0xFFFF_FFFF)
}

/// As [`decimal`], of one to eight bytes at once.
#[inline(always)]
fn short_decimal(word: u64, len: usize) -> Option<(bool, u64, usize, bool)> {
    let negative = word & 0xFF == u64::from(b'-');
    let (word, len) = (word >> (8 * u32::from(negative)), len - usize::from(negative));
    // The lowest byte that is a point has its highest bit set here.
    let differs = word ^ 0x2E2E_2E2E_2E2E_2E2E;
    let points = differs.wrapping_sub(0x0101_0101_0101_0101) & !differs & 0x8080_8080_8080_8080;
    let at = points.trailing_zeros() as usize / 8;
    if at >= len {
        return Some((negative, short_digits(word, len)?, 0, false));
    }
    if at == 0 || at + 1 == len {
        return None;
    }
    let before = (1 << (8 * at)) - 1;
    let digits = short_digits(word & before | word >> 8 & !before, len - 1)?;
    Some((negative, digits, len - 1 - at, true))
}

/// Sign, digits as a number, digits after the point, and whether there is one; `None` for all but plain decimals of at
/// most 18 digits with one before and, if there is a point, one after it.
#[inline]
fn decimal(cell: &[u8]) -> Option<(bool, u64, usize, bool)> {
    let (negative, digits) = match cell {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, cell),
    };
    if digits.is_empty() || digits.len() > 19 {
        return None;
    }
    let (mut number, mut point) = (0u64, None);
    for (at, &byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => number = number.wrapping_mul(10).wrapping_add(u64::from(byte - b'0')),
            b'.' if point.is_none() && at > 0 && at + 1 < digits.len() => point = Some(at),
            _ => return None,
        }
    }
    match point {
        Some(at) => Some((negative, number, digits.len() - at - 1, true)),
        None if digits.len() <= 18 => Some((negative, number, 0, false)),
        None => None,
    }
}

/// A number of four to eight digits and nothing else, all of them at a time.
#[inline]
fn eight_digits(digits: &[u8]) -> Option<u64> {
    if !(4..=8).contains(&digits.len()) {
        return None;
    }
    let (first, last) = (digits.first_chunk::<4>()?, digits.last_chunk::<4>()?);
    // The two overlap in what they have in common. Zeros go before.
    let text = u64::from(u32::from_le_bytes(*first))
        | u64::from(u32::from_le_bytes(*last)) << (8 * (digits.len() - 4));
    let short = 8 * (8 - digits.len()) as u32;
    let text = text << short | (0x3030_3030_3030_3030u64 & !(u64::MAX << short));
    let values = text ^ 0x3030_3030_3030_3030;
    // A digit is at most 9: adding 6 more does not leave its four bits.
    if (values | values.wrapping_add(0x0606_0606_0606_0606)) & 0xf0f0_f0f0_f0f0_f0f0 != 0 {
        return None;
    }
    // Neighbours are joined: digits to pairs, pairs to fours, fours to one number.
    let pairs = values.wrapping_mul(10).wrapping_add(values >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    Some(fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff)
}

/// A timestamp, as [`time`] reads it: up to eight characters at once.
#[inline(always)]
pub(super) fn time_in(cells: &Cells<'_>, (row, column): (usize, usize), stamps: Stamps) -> Option<Time> {
    let (start, end) = cells.inner(row, column);
    if let len @ 1..=8 = end - start
        && let Some((negative, digits, places, _)) = short_decimal(cells.word(start), len)
    {
        // Whole numbers, which are most, need no division.
        let unit = stamps.nanoseconds();
        let step = if places == 0 { unit } else { unit / SCALE[places] };
        if (places == 0 || step * SCALE[places] == unit)
            && let Some(time) = (digits as i64).checked_mul(step)
        {
            return Some(if negative { -time } else { time });
        }
    }
    time(&cells.cell(row, column), stamps)
}

/// Powers of ten.
const SCALE: [i64; 10] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/// A timestamp, as [`parse_stamp`] reads it.
#[inline]
pub(super) fn time(cell: &[u8], stamps: Stamps) -> Option<Time> {
    let whole =
        eight_digits(cell).and_then(|number| i64::try_from(number).ok()?.checked_mul(stamps.nanoseconds()));
    whole.or_else(|| any_time(cell, stamps))
}

#[inline(never)]
fn any_time(cell: &[u8], stamps: Stamps) -> Option<Time> {
    if let Some((negative, digits, places, _)) = decimal(cell) {
        // Whole numbers, which are most, need no division.
        let unit = stamps.nanoseconds();
        let step = match (places, SCALE.get(places)) {
            (0, _) => Some(unit),
            (_, Some(&scale)) if unit % scale == 0 => Some(unit / scale),
            _ => None,
        };
        if let (Some(step), Ok(digits)) = (step, i64::try_from(digits))
            && let Some(time) = digits.checked_mul(step)
        {
            return Some(if negative { -time } else { time });
        }
    } else if let Some(time) = date(cell) {
        return Some(time);
    }
    stamps.parse(std::str::from_utf8(cell).ok()?).ok().map(|stamp| stamp.time)
}

/// `YYYY-MM-DDTHH:MM:SSZ` with or without a fraction of up to nine digits; a space instead of `T` and no `Z` will do.
fn date(cell: &[u8]) -> Option<Time> {
    let (text, rest) = cell.split_first_chunk::<19>()?;
    let fits = text[4] == b'-'
        && text[7] == b'-'
        && matches!(text[10], b'T' | b' ')
        && text[13] == b':'
        && text[16] == b':';
    let number = |from: usize, to: usize| {
        text[from..to].iter().try_fold(0i64, |number, &byte| {
            byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0'))
        })
    };
    if !fits {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        _ => return None,
    };
    // Beyond these years 64 bits of nanoseconds end, which is said elsewhere.
    if !(1700..2200).contains(&year) || day < 1 || day > days || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let rest = rest.strip_suffix(b"Z").unwrap_or(rest);
    let mut fraction = 0;
    if let Some((point, digits)) = rest.split_first() {
        if *point != b'.' || digits.is_empty() || digits.len() > 9 || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        for at in 0..9 {
            fraction = fraction * 10 + digits.get(at).map_or(0, |digit| i64::from(digit - b'0'));
        }
    }
    // Days since 1970 in the calendar whose years start in March.
    let (march_year, march_month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = march_year * 365 + march_year / 4 - march_year / 100
        + march_year / 400
        + (march_month * 153 + 2) / 5
        + day
        - 719_469;
    Some(((days * 24 + hour) * 60 + minute) * 60_000_000_000 + second * 1_000_000_000 + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_stamp;
    use tw_core::TimeUnit;
    use tw_core::{Column, Value};
    use tw_ir::Expect;

    #[test]
    fn numbers_are_what_push_cell_makes_of_them() {
        let texts = [
            "0",
            "7",
            "12",
            "99999999",
            "123456789",
            "-5",
            "-0",
            "+3",
            "1.5",
            "-2.25",
            "0.1",
            "123456.789",
            "1.",
            ".5",
            "9007199254740993.5",
            "999999999999999999",
            "9999999999999999999",
            "-9223372036854775808",
            "9223372036854775807",
            "1e5",
            "0.000000000000000001",
            "12a",
            "1 ",
            "",
            "nan",
            "1.2.3",
            "--1",
            "/",
            ":",
            "0x1",
            "1234567:",
            "00012",
            "-",
            "true",
            "2.50",
            "123456789012345.678",
        ];
        for text in texts {
            for expect in [Expect::Number, Expect::Real, Expect::Int] {
                for (bytes, padding) in
                    [(format!("{text}\n"), false), (format!("{text}\nlong enough\n"), true)]
                {
                    let end = text.len() as u32 + 1;
                    let cells = Cells {
                        bytes: if padding { bytes.as_bytes() } else { text.as_bytes() },
                        bounds: &[0, end],
                        columns: 1,
                        rows: 1,
                        carriage: false,
                        quotes: false,
                    };
                    let (mut fast, mut plain) = (ColumnBuilder::new(expect), ColumnBuilder::new(expect));
                    let expected = plain.push_cell(text).map(|()| plain.finish());
                    match (push(&mut fast, &cells, 0, Kernel::best()), expected) {
                        (Ok(()), Ok(expected)) => {
                            let found = fast.finish();
                            assert_eq!(found, expected, "{text:?}");
                            // The sign of zero too.
                            let show = |column: &Column| format!("{:?}", column.value(0));
                            assert_eq!(show(&found), show(&expected), "{text:?}");
                        }
                        (Err(Misfit), Err(_)) => {}
                        (found, expected) => panic!("{text:?}: {:?}, expected {expected:?}", found.is_ok()),
                    }
                }
            }
        }
    }

    #[test]
    fn times_are_what_parse_stamp_makes_of_them() {
        let texts = [
            "0",
            "17",
            "1234",
            "00090",
            "98765432",
            "9876543a",
            "/1234567",
            "12:4",
            "123456789",
            "-12345",
            "12.45",
            "1.5",
            "-2.25",
            "1700000000.123456789",
            "0.1234567891",
            "1e3",
            "x",
            "",
            "9223372036",
            "9223372037",
            "999999999999999999",
            "2024-02-29T12:34:56Z",
            "2023-02-29T12:34:56Z",
            "1969-12-31T23:59:59.5Z",
            "2024-01-01T00:00:00",
            "2024-01-01 00:00:00.000000001",
            "2024-01-01T00:00:00+01:00",
            "2024-13-01T00:00:00Z",
            "2024-06-30T23:59:60Z",
            "1600-01-01T00:00:00Z",
            "1700-03-01T00:00:00Z",
            "2100-02-29T00:00:00Z",
            "2000-02-29T00:00:00Z",
            "2024-01-01T00:00:00.Z",
            "2024-01-01T24:00:00Z",
            "2024-01-01",
            "2199-12-31T23:59:59.999999999Z",
            "-0.5",
        ];
        for (_, unit) in TimeUnit::ALL {
            for text in texts {
                let expected = parse_stamp(text, unit).ok().map(|stamp| stamp.time);
                assert_eq!(time(text.as_bytes(), Stamps::of(unit)), expected, "{text:?} in {}", unit.name());
                for bytes in [text.to_string(), format!("{text}\nlong enough\n")] {
                    let bounds = [0, text.len() as u32 + 1];
                    let (bytes, bounds) = (bytes.as_bytes(), &bounds[..]);
                    let cells = Cells { bytes, bounds, columns: 1, rows: 1, carriage: false, quotes: false };
                    let found = time_in(&cells, (0, 0), Stamps::of(unit));
                    assert_eq!(found, expected, "{text:?} in {}", unit.name());
                }
            }
        }
        for day in 0..200_000 {
            let stamp = jiff::Timestamp::from_second(day * 86_400 - 5_000_000_000).unwrap();
            let text = stamp.to_string();
            assert_eq!(
                time(text.as_bytes(), Stamps::of(TimeUnit::Seconds)),
                parse_stamp(&text, TimeUnit::Seconds).ok().map(|s| s.time),
                "{text}"
            );
        }
    }

    #[test]
    fn truth_and_quotes() {
        let text = "1,true,\"1\",\"\",\"fal\"\"se\",0\0,false\r\n";
        let mut bounds = vec![0];
        bounds.extend(
            text.bytes().enumerate().filter(|(_, byte)| b",\n".contains(byte)).map(|(at, _)| at as u32 + 1),
        );
        let cells = Cells {
            bytes: text.as_bytes(),
            bounds: &bounds,
            columns: 7,
            rows: 1,
            carriage: true,
            quotes: true,
        };
        let truth = |column| {
            let mut builder = ColumnBuilder::new(Expect::Bool);
            push(&mut builder, &cells, column, Kernel::best()).ok().map(|()| builder.finish().value(0))
        };
        let expected = [Some(true), Some(true), Some(true), Some(false), None, None, Some(false)];
        for (column, expected) in expected.into_iter().enumerate() {
            assert_eq!(truth(column), expected.map(Value::Bool), "column {column}");
        }
        assert_eq!(&*cells.cell(0, 4), b"fal\"se");
    }
}
