//! Scalars in place: where they end, whether they are valid, and what they are worth.

use super::lanes::{Lanes, Work};
use crate::formats::json_value::DEPTH;

/// Bytes that must be readable past any byte the walker may stand on.
pub(super) const PADDING: usize = 128;

/// A number's extent: everything the fast decoders need.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Number {
    pub(super) negative: bool,
    /// Digits before the point.
    pub(super) whole: u32,
    /// Digits after it; 0 means there is no point.
    pub(super) fraction: u32,
    /// There is an exponent, or the number is too long for the other fields.
    pub(super) odd: bool,
    /// One past the last byte.
    pub(super) end: usize,
}

/// A cursor's view of the bytes: every place it may stand on has [`PADDING`] readable bytes after it, and the last byte
/// of its stretch is a newline, which no scanner here passes.
#[derive(Clone, Copy)]
pub(super) struct Bytes {
    base: *const u8,
}

impl Bytes {
    /// # Safety
    /// The stretches that will be walked lie in `bytes`, each ends with a newline, and `PADDING` bytes of `bytes` follow it.
    pub(super) unsafe fn new(bytes: &[u8]) -> Self {
        Self { base: bytes.as_ptr() }
    }

    #[inline(always)]
    pub(super) fn pointer(self, at: usize) -> *const u8 {
        // SAFETY: `at` stands in the stretch or within its padding (see `new`).
        unsafe { self.base.add(at) }
    }

    #[inline(always)]
    pub(super) fn byte(self, at: usize) -> u8 {
        // SAFETY: as for `pointer`.
        unsafe { *self.pointer(at) }
    }

    #[inline(always)]
    pub(super) fn four(self, at: usize) -> u32 {
        // SAFETY: as for `pointer`; unaligned reads are asked for.
        unsafe { self.pointer(at).cast::<u32>().read_unaligned() }
    }

    #[inline(always)]
    pub(super) fn eight(self, at: usize) -> u64 {
        // SAFETY: as for `pointer`; unaligned reads are asked for.
        unsafe { u64::from_le(self.pointer(at).cast::<u64>().read_unaligned()) }
    }

    /// The bytes from `start` to `end`, both of which a scanner has reached.
    #[inline(always)]
    pub(super) fn slice<'s>(self, start: usize, end: usize) -> &'s [u8] {
        debug_assert!(start <= end);
        // SAFETY: both ends lie in the stretch, which outlives the walk (the walker drops slices before it returns).
        unsafe { std::slice::from_raw_parts(self.pointer(start), end - start) }
    }
}

/// One past the closing quote of the string whose first byte after the opening quote is at `at`, and whether it holds
/// escapes.
#[inline(always)]
pub(super) fn string_end<L: Lanes>(bytes: Bytes, at: usize) -> Option<(usize, bool)> {
    // SAFETY: `at` stands in the stretch, so 64 bytes follow it. Both halves are looked at in any case: whether a text is
    // longer than 32 bytes is hard to predict, and the second look costs less than a wrong guess.
    let special = unsafe { L::special(bytes.pointer(at)) };
    if special != 0 {
        let end = at + special.trailing_zeros() as usize;
        if bytes.byte(end) == b'"' {
            return Some((end + 1, false));
        }
    }
    // SAFETY: `L` is in use, so the machine has what it needs.
    unsafe { L::outlined(LongString { bytes, at }) }
}

/// The end of a string that is long or has escapes.
struct LongString {
    bytes: Bytes,
    at: usize,
}

impl Work for LongString {
    type Result = Option<(usize, bool)>;

    #[inline(always)]
    fn work<L: Lanes>(self) -> Self::Result {
        long_string_end::<L>(self.bytes, self.at)
    }
}

#[inline(always)]
fn long_string_end<L: Lanes>(bytes: Bytes, mut at: usize) -> Option<(usize, bool)> {
    let mut escapes = false;
    loop {
        // SAFETY: no newline was passed, so `at` stands in the stretch.
        let special = unsafe { L::special(bytes.pointer(at)) };
        if special == 0 {
            at += 64;
            continue;
        }
        at += special.trailing_zeros() as usize;
        match bytes.byte(at) {
            b'"' => return Some((at + 1, escapes)),
            b'\\' => {
                escapes = true;
                at = escape_end(bytes, at)?;
            }
            _ => return None,
        }
    }
}

/// One past the escape at `at`; a surrogate pair is one escape.
fn escape_end(bytes: Bytes, at: usize) -> Option<usize> {
    match bytes.byte(at + 1) {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 2),
        b'u' => match hex(bytes, at + 2)? {
            0xD800..0xDC00 => {
                let pair = bytes.byte(at + 6) == b'\\' && bytes.byte(at + 7) == b'u';
                (pair && (0xDC00..0xE000).contains(&hex(bytes, at + 8)?)).then_some(at + 12)
            }
            0xDC00..0xE000 => None,
            _ => Some(at + 6),
        },
        _ => None,
    }
}

fn hex(bytes: Bytes, at: usize) -> Option<u32> {
    (0..4).try_fold(0, |unit, i| Some(unit * 16 + char::from(bytes.byte(at + i)).to_digit(16)?))
}

/// The number at `at`, whose first byte is `first`, if it is one as JSON writes them.
#[inline(always)]
pub(super) fn number<L: Lanes>(bytes: Bytes, at: usize, first: u8) -> Option<Number> {
    let negative = first == b'-';
    let start = at + usize::from(negative);
    // SAFETY: `start` is at most one past a byte that is not a newline, so it stands in the stretch.
    let digits = unsafe { L::digits(bytes.pointer(start)) };
    let whole = (!digits).trailing_zeros();
    if (whole == 0) | (whole > 1) & (bytes.byte(start) == b'0') {
        return None;
    }
    let mut end = start + whole as usize;
    let mut after = bytes.byte(end);
    let mut fraction = 0;
    if after == b'.' {
        if whole >= 31 {
            return long_number(bytes, at);
        }
        fraction = (!(digits >> (whole + 1))).trailing_zeros();
        if fraction == 0 {
            return None;
        }
        end += 1 + fraction as usize;
        after = bytes.byte(end);
    }
    // An exponent, or more digits than were looked at.
    if after | 0x20 == b'e' || end >= start + 31 {
        return long_number(bytes, at);
    }
    Some(Number { negative, whole, fraction, odd: false, end })
}

/// A number of any length, with an exponent or not.
#[inline(never)]
fn long_number(bytes: Bytes, at: usize) -> Option<Number> {
    let negative = bytes.byte(at) == b'-';
    let start = at + usize::from(negative);
    let digits = |mut at: usize| {
        let start = at;
        while bytes.byte(at).is_ascii_digit() {
            at += 1;
        }
        (at > start).then_some(at)
    };
    let mut end = digits(start)?;
    if end > start + 1 && bytes.byte(start) == b'0' {
        return None;
    }
    if bytes.byte(end) == b'.' {
        end = digits(end + 1)?;
    }
    if bytes.byte(end) | 0x20 == b'e' {
        end += 1;
        end = digits(end + usize::from(matches!(bytes.byte(end), b'+' | b'-')))?;
    }
    Some(Number { negative, whole: 0, fraction: 0, odd: true, end })
}

/// The value of the `count` (1 to 18) digits at `at`.
#[inline(always)]
pub(super) fn digits_value(bytes: Bytes, at: usize, count: u32) -> u64 {
    if count <= 8 {
        return eight_digits(bytes.eight(at) << (64 - 8 * count));
    }
    let low = eight_digits(bytes.eight(at + count as usize - 8));
    let rest = count - 8;
    if rest <= 8 {
        return eight_digits(bytes.eight(at) << (64 - 8 * rest)) * 100_000_000 + low;
    }
    let middle = eight_digits(bytes.eight(at + count as usize - 16));
    let high = eight_digits(bytes.eight(at) << (64 - 8 * (rest - 8)));
    (high * 100_000_000 + middle) * 100_000_000 + low
}

/// The value of eight digits, first digit in the lowest byte; zero bytes count as the digit 0.
#[inline(always)]
fn eight_digits(word: u64) -> u64 {
    let pairs = (word & 0x0F0F_0F0F_0F0F_0F0F).wrapping_mul(2561) >> 8;
    let fours = (pairs & 0x00FF_00FF_00FF_00FF).wrapping_mul(6_553_601) >> 16;
    (fours & 0x0000_FFFF_0000_FFFF).wrapping_mul(42_949_672_960_001) >> 32
}

/// `true`, `false` and `null`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Literal {
    False,
    True,
    Null,
}

/// A literal as a word, the bytes of it that count, and its length; by three bits of the first byte that tell them apart.
const LITERALS: [(u64, u64, usize, Literal); 8] = {
    // No UTF-8 text holds this word.
    let mut table = [(u64::MAX, u64::MAX, 0, Literal::Null); 8];
    table[place_of(b't')] = (u64::from_le_bytes(*b"true\0\0\0\0"), 0xFFFF_FFFF, 4, Literal::True);
    table[place_of(b'f')] = (u64::from_le_bytes(*b"false\0\0\0"), 0xFF_FFFF_FFFF, 5, Literal::False);
    table[place_of(b'n')] = (u64::from_le_bytes(*b"null\0\0\0\0"), 0xFFFF_FFFF, 4, Literal::Null);
    table
};

const fn place_of(first: u8) -> usize {
    (first >> 1 & 7) as usize
}

/// One past the literal at `at`, whose first byte is `first`, and what it is: a table instead of branches, because which
/// one it is cannot be predicted.
#[inline(always)]
pub(super) fn literal(bytes: Bytes, at: usize, first: u8) -> Option<(usize, Literal)> {
    let (word, mask, len, literal) = LITERALS[place_of(first)];
    (bytes.eight(at) & mask == word).then_some((at + len, literal))
}

/// One past the value at `at`, which is validated; `depth` containers are open around it.
#[inline(always)]
pub(super) fn value_end<L: Lanes>(bytes: Bytes, at: usize, depth: impl FnOnce() -> usize) -> Option<usize> {
    match bytes.byte(at) {
        b'"' => string_end::<L>(bytes, at + 1).map(|(end, _)| end),
        first @ (b'-' | b'0'..=b'9') => number::<L>(bytes, at, first).map(|number| number.end),
        // SAFETY: `L` is in use, so the machine has what it needs.
        b'{' | b'[' => unsafe { L::outlined(Container { bytes, at, depth: depth() }) },
        first => literal(bytes, at, first).map(|(end, _)| end),
    }
}

/// The end of a container.
struct Container {
    bytes: Bytes,
    at: usize,
    depth: usize,
}

impl Work for Container {
    type Result = Option<usize>;

    #[inline(always)]
    fn work<L: Lanes>(self) -> Self::Result {
        container_end::<L>(self.bytes, self.at, self.depth)
    }
}

/// One past the container at `at`. Its own stack of bits says which containers are open: 1 is an object.
#[inline(always)]
fn container_end<L: Lanes>(bytes: Bytes, mut at: usize, around: usize) -> Option<usize> {
    let mut stack = [0u64; DEPTH / 64];
    let mut depth = around;
    loop {
        // A value starts at `at`.
        match bytes.byte(at) {
            opener @ (b'{' | b'[') => {
                if depth == DEPTH {
                    return None;
                }
                let object = opener == b'{';
                let bit = 1 << (depth % 64);
                if object {
                    stack[depth / 64] |= bit;
                } else {
                    stack[depth / 64] &= !bit;
                }
                at = blank_end(bytes, at + 1);
                if bytes.byte(at) != opener + 2 {
                    depth += 1;
                    if object {
                        at = key_end::<L>(bytes, at)?;
                    }
                    continue;
                }
                at += 1;
            }
            b'"' => at = string_end::<L>(bytes, at + 1)?.0,
            first @ (b'-' | b'0'..=b'9') => at = number::<L>(bytes, at, first)?.end,
            first => at = literal(bytes, at, first)?.0,
        }
        // A value ended at `at`.
        loop {
            if depth == around {
                return Some(at);
            }
            let object = stack[(depth - 1) / 64] >> ((depth - 1) % 64) & 1 == 1;
            at = blank_end(bytes, at);
            match bytes.byte(at) {
                b',' => {
                    at = blank_end(bytes, at + 1);
                    if object {
                        at = key_end::<L>(bytes, at)?;
                    }
                    break;
                }
                b'}' if object => {}
                b']' if !object => {}
                _ => return None,
            }
            at += 1;
            depth -= 1;
        }
    }
}

/// Past blanks, but not past the line.
#[inline(always)]
pub(super) fn blank_end(bytes: Bytes, mut at: usize) -> usize {
    while matches!(bytes.byte(at), b' ' | b'\t' | b'\r') {
        at += 1;
    }
    at
}

/// Where the value of the key at `at` starts.
#[inline(always)]
fn key_end<L: Lanes>(bytes: Bytes, at: usize) -> Option<usize> {
    if bytes.byte(at) != b'"' {
        return None;
    }
    let colon = blank_end(bytes, string_end::<L>(bytes, at + 1)?.0);
    (bytes.byte(colon) == b':').then(|| blank_end(bytes, colon + 1))
}
