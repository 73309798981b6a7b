//! The tokens of a stretch of `monpoly`, found by their bytes alone.

use std::ops::Range;

const SPACE: u8 = 1;
/// Ends a bare name ([`super::ends_name`]).
const NAME: u8 = 2;
/// Ends a bare value ([`super::ends_value`]).
const VALUE: u8 = 4;

/// What each byte is to the walk.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b' ' | b'\t' | b'\n' | b'\x0C' | b'\r' => SPACE | NAME | VALUE,
            b'(' | b')' | b',' | b'"' => NAME | VALUE,
            b'@' | b';' => NAME,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

/// Passes over space and comments from `at` on, to the next byte that means something or the end.
#[inline(always)]
pub(super) fn pass_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(&byte) = bytes.get(at) {
        if CLASSES[byte as usize] & SPACE != 0 {
            at += 1;
        } else if byte == b'#' {
            at = pass_comment(bytes, at);
        } else {
            break;
        }
    }
    at
}

#[cold]
fn pass_comment(bytes: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length)
}

/// Where the bare name that stands at `at` ends.
#[inline(always)]
pub(super) fn name_end(bytes: &[u8], at: usize) -> usize {
    token_end::<NAME>(bytes, at)
}

/// Where the bare value that stands at `at` ends.
#[inline(always)]
pub(super) fn value_end(bytes: &[u8], at: usize) -> usize {
    token_end::<VALUE>(bytes, at)
}

#[inline(always)]
fn token_end<const CLASS: u8>(bytes: &[u8], mut at: usize) -> usize {
    // Eight bytes at a time, so that no branch depends on how long a token is: most have fewer.
    while let Some(eight) = bytes.get(at..at + 8) {
        let suspects = suspects(u64::from_le_bytes(eight.try_into().expect("eight bytes")));
        if suspects == 0 {
            at += 8;
            continue;
        }
        at += suspects.trailing_zeros() as usize / 8;
        if CLASSES[bytes[at] as usize] & CLASS != 0 {
            return at;
        }
        at += 1;
    }
    while let Some(&byte) = bytes.get(at)
        && CLASSES[byte as usize] & CLASS == 0
    {
        at += 1;
    }
    at
}

/// The lowest bit set is in the first byte that may end a token: one below `0`, `;` or `@`. What is above it says nothing,
/// because of borrows.
#[inline(always)]
fn suspects(eight: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let equal = |byte: u8| below(eight ^ (ONES * u64::from(byte)), 1);
    (below(eight, b'0') | equal(b';') | equal(b'@')) & (ONES << 7)
}

/// The text in quotes that stands at `at`, and whether quotes are doubled in it; `None` if they are not closed.
#[inline]
pub(super) fn quoted(bytes: &[u8], at: usize) -> Option<(Range<usize>, bool)> {
    let (mut from, mut doubled) = (at + 1, false);
    loop {
        let end = from + memchr::memchr(b'"', &bytes[from..])?;
        if bytes.get(end + 1) != Some(&b'"') {
            return Some((at + 1..end, doubled));
        }
        (from, doubled) = (end + 2, true);
    }
}

/// Whether only space stands before `at` on its line, and where the line begins.
#[inline]
pub(super) fn begins_line(bytes: &[u8], at: usize) -> Option<usize> {
    let space = bytes[..at].iter().rev().take_while(|&&byte| byte != b'\n' && byte.is_ascii_whitespace());
    let start = at - space.count();
    (start == 0 || bytes[start - 1] == b'\n').then_some(start)
}

/// The entry at or behind `at`: where its `@` stands, where its last token ends, and where the next can begin. What is
/// wrong inside entries is passed over.
pub(super) fn entry(bytes: &[u8], at: usize) -> Option<(Range<usize>, usize)> {
    let start = pass_space(bytes, at);
    if bytes.get(start) != Some(&b'@') {
        return None;
    }
    let (mut at, mut end, mut inside) = (start + 1, start + 1, false);
    loop {
        at = pass_space(bytes, at);
        match bytes.get(at) {
            None => return Some((start..end, at)),
            Some(b'@') if !inside => return Some((start..end, at)),
            Some(b';') if !inside => return Some((start..at + 1, at + 1)),
            Some(b'"') => at = quoted(bytes, at).map_or(bytes.len(), |(text, _)| text.end + 1),
            Some(b'(' | b')' | b',') => {
                inside = match bytes[at] {
                    b'(' => true,
                    b')' => false,
                    _ => inside,
                };
                at += 1;
            }
            Some(_) if inside => at = value_end(bytes, at),
            Some(_) => at = name_end(bytes, at),
        }
        end = at;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ends_name, ends_value};
    use super::*;

    #[test]
    fn bytes_are_to_the_walk_what_they_are_to_rows() {
        for byte in 0..=255u8 {
            let class = CLASSES[byte as usize];
            assert_eq!(class & SPACE != 0, byte.is_ascii_whitespace());
            assert_eq!(class & NAME != 0, ends_name(byte));
            assert_eq!(class & VALUE != 0, ends_value(byte));
        }
    }

    #[test]
    fn tokens_end_where_rows_end_them() {
        let mut rng = tw_testkit::Rng::new(8);
        for _ in 0..20_000 {
            let bytes: Vec<u8> = (0..rng.below(30))
                .map(|_| match rng.below(12) {
                    0 => rng.bits() as u8,
                    1 => rng.pick(b" (),\"@;\n-./#:?A\x7F\x80\xBB\xC0"),
                    _ => b'x',
                })
                .collect();
            let at = rng.below(bytes.len() + 1);
            let end = |stops: fn(u8) -> bool| {
                bytes[at..].iter().position(|&byte| stops(byte)).map_or(bytes.len(), |length| at + length)
            };
            assert_eq!(name_end(&bytes, at), end(ends_name), "{bytes:?}");
            assert_eq!(value_end(&bytes, at), end(ends_value), "{bytes:?}");
        }
    }
}
