//! What varies by its looks: numbers, addresses, identifiers, paths, dates, sizes.
//!
//! A line's content is cut into *pieces* by white space and by `= , ; ( ) [ ] { } < > " ' |`. A piece with a digit varies, and so
//! does a path. What does not vary is hashed as it stands, so that lines of one signature have one hash.

use std::ops::Range;

/// What a varying piece looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Digits, perhaps with a sign.
    Int,
    /// Digits with one point.
    Real,
    /// Anything else.
    Other,
}

/// A piece that varies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Its bytes in the content.
    pub at: Range<usize>,
    /// What it looks like.
    pub look: Look,
    /// Whether it has several words (`3.5 KB`).
    pub words: bool,
}

/// A content cut into what stays and what varies. Reused from line to line.
#[derive(Clone, Debug, Default)]
pub struct Masked {
    /// The hash of what stays.
    pub hash: u64,
    /// What varies, in order.
    pub gaps: Vec<Gap>,
    /// Notes in parentheses (`(1.2 KB)`), which may be there or not: left out of the hash.
    pub notes: Vec<Range<usize>>,
}

const SPACE: u8 = 0;
const LETTER: u8 = 1;
const DIGIT: u8 = 2;
const SEPARATOR: u8 = 3;
/// Inside a piece it belongs to it, at its end it does not.
const JOINT: u8 = 4;

const CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [LETTER; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b' ' | b'\t' | b'\r' => SPACE,
            b'0'..=b'9' => DIGIT,
            b'=' | b',' | b';' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b'"' | b'\''
            | b'|' => SEPARATOR,
            b':' | b'.' | b'!' | b'?' => JOINT,
            _ => LETTER,
        };
        byte += 1;
    }
    table
}

/// Units that belong to the number before them: sizes and times change them as they grow.
const UNITS: &[&[u8]] = &[
    b"B", b"KB", b"MB", b"GB", b"TB", b"kB", b"KiB", b"MiB", b"GiB", b"ms", b"s", b"sec", b"secs", b"us",
    b"ns", b"min", b"mins", b"h", b"hrs",
];
const DAYS: &[&[u8]] = &[b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun"];
const MONTHS: &[&[u8]] =
    &[b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

fn mix(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word) * 0x9E37_79B9_7F4A_7C15_u128;
    (product as u64) ^ ((product >> 64) as u64).rotate_left(23)
}

fn mix_bytes(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        hash = mix(hash, u64::from_le_bytes(word));
    }
    let mut word = [0; 8];
    let rest = chunks.remainder();
    word[..rest.len()].copy_from_slice(rest);
    mix(hash, u64::from_le_bytes(word) ^ ((bytes.len() as u64) << 56))
}

impl Masked {
    /// Cuts a content.
    pub fn scan(&mut self, content: &[u8]) {
        self.gaps.clear();
        self.notes.clear();
        let mut hash = 0x5EED_u64;
        let mut at = 0;
        // Whether the word before was `user`: what follows is a name.
        let mut named = false;
        while at < content.len() {
            let byte = content[at];
            match CLASS[byte as usize] {
                SPACE => {
                    at += 1;
                    while at < content.len() && CLASS[content[at] as usize] == SPACE {
                        at += 1;
                    }
                    // White space at the end says nothing.
                    if at < content.len() {
                        hash = mix(hash, 1);
                    }
                }
                // A joint that joins nothing to the left separates.
                SEPARATOR | JOINT => {
                    if byte == b'('
                        && let Some(end) = note(content, at)
                    {
                        self.notes.push(at..end);
                        at = end;
                        while at < content.len() && CLASS[content[at] as usize] == SPACE {
                            at += 1;
                        }
                        continue;
                    }
                    if byte == b'<'
                        && let Some(end) = quantity(content, at + 1, true)
                    {
                        self.gaps.push(Gap { at: at..end, look: Look::Other, words: true });
                        hash = mix(hash, 2);
                        at = end;
                        continue;
                    }
                    hash = mix(hash, 0x100 | u64::from(byte));
                    at += 1;
                    // Nothing in brackets is as good as something.
                    if byte == b'[' && content.get(at) == Some(&b']') {
                        hash = mix(hash, 2);
                    }
                    named = false;
                }
                _ => {
                    let end = piece(content, at);
                    let text = &content[at..end];
                    let look = varies(text);
                    if let Some(look) = look {
                        let whole = if look == Look::Other { None } else { quantity(content, at, false) };
                        let words = whole.is_some();
                        let end = whole.unwrap_or(end);
                        self.gaps.push(Gap {
                            at: at..end,
                            look: if words { Look::Other } else { look },
                            words,
                        });
                        hash = mix(hash, 2);
                        at = end;
                    } else if let Some(end) = date(content, at, end) {
                        // All of it is one: days of one digit may have a blank more before them.
                        self.gaps.push(Gap { at: at..end, look: Look::Other, words: true });
                        hash = mix(hash, 2);
                        at = end;
                    } else if named || dated(content, at, end) {
                        self.gaps.push(Gap { at: at..end, look: Look::Other, words: false });
                        hash = mix(hash, 2);
                        at = end;
                    } else {
                        hash = mix_bytes(hash, text);
                        at = end;
                        named = (text == b"user" || text == b"User") && content.get(at) == Some(&b' ');
                        continue;
                    }
                    named = false;
                }
            }
        }
        self.hash = hash;
    }
}

/// The end of the piece that begins at `at`.
fn piece(content: &[u8], at: usize) -> usize {
    let (mut end, mut firm) = (at, at);
    while end < content.len() {
        match CLASS[content[end] as usize] {
            LETTER | DIGIT => {
                end += 1;
                firm = end;
            }
            // `size:12` is a word and a number, `10.0.0.1:80` is one address.
            JOINT
                if content[end] == b':'
                    && end > at
                    && content[at..end].iter().all(u8::is_ascii_alphabetic) =>
            {
                break;
            }
            JOINT => end += 1,
            _ => break,
        }
    }
    firm
}

/// Whether a piece varies by its looks.
fn varies(text: &[u8]) -> Option<Look> {
    let digits = text.iter().filter(|byte| byte.is_ascii_digit()).count();
    if digits == 0 {
        // Stars stand for what is not known.
        if text.len() > 1 && text.iter().all(|byte| *byte == b'*') {
            return Some(Look::Other);
        }
        let path = text.len() > 2 && text[0] == b'/' && text[1].is_ascii_alphanumeric();
        let drive = text.len() > 3 && text[1] == b':' && text[2] == b'\\';
        return (path || drive).then_some(Look::Other);
    }
    let signed = usize::from(matches!(text[0], b'-' | b'+'));
    if digits + signed == text.len() {
        return Some(Look::Int);
    }
    let points = text.iter().filter(|byte| **byte == b'.').count();
    if digits + signed + points == text.len() && points == 1 && text[signed] != b'.' {
        return Some(Look::Real);
    }
    Some(Look::Other)
}

/// The end of a number with its unit that begins at `at`; with `bare`, the unit may be missing.
fn quantity(content: &[u8], at: usize, bare: bool) -> Option<usize> {
    let number =
        content[at..].iter().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-')).count();
    if number == 0 || !content[at..at + number].iter().any(u8::is_ascii_digit) {
        return None;
    }
    let end = at + number;
    if content.get(end) == Some(&b' ') {
        let unit = content[end + 1..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let after = content.get(end + 1 + unit);
        let ends = after.is_none_or(|byte| CLASS[*byte as usize] != LETTER && CLASS[*byte as usize] != DIGIT);
        if ends && UNITS.contains(&&content[end + 1..end + 1 + unit]) {
            return Some(end + 1 + unit);
        }
    }
    bare.then_some(end)
}

/// The end of a note `(1.2 KB)` that begins at `at`.
fn note(content: &[u8], at: usize) -> Option<usize> {
    let end = quantity(content, at + 1, false)?;
    (content.get(end) == Some(&b')')).then_some(end + 1)
}

/// The end of a date that begins with a name of a day or month: `Tue Jun 14 03:12:11 2005`, of which the time and the year may be
/// missing.
fn date(content: &[u8], at: usize, end: usize) -> Option<usize> {
    if !dated(content, at, end) {
        return None;
    }
    let blanks = |at: usize| {
        let skip = content[at..].iter().take_while(|byte| matches!(byte, b' ' | b',')).count();
        at + skip
    };
    let digits = |at: usize| content[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut next = blanks(end);
    if DAYS.contains(&&content[at..end]) {
        if !MONTHS.contains(&content.get(next..next + 3)?) {
            return None;
        }
        next = blanks(next + 3);
    }
    let mut last = next + digits(next);
    if last == next || last - next > 2 {
        return None;
    }
    let clock = blanks(last);
    let time = content[clock..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.'))
        .count();
    if content[clock..clock + time].iter().filter(|byte| **byte == b':').count() >= 1 {
        last = clock + time;
        while content[last - 1] == b':' || content[last - 1] == b'.' {
            last -= 1;
        }
    }
    let year = blanks(last);
    if digits(year) == 4 && year > last {
        last = year + 4;
    }
    // What follows must not be more of the last number.
    let after = content.get(last).map(|byte| CLASS[*byte as usize]);
    (!matches!(after, Some(LETTER | DIGIT))).then_some(last)
}

/// Whether a word is part of a date: a day's or month's name that a month or a number follows.
fn dated(content: &[u8], at: usize, end: usize) -> bool {
    if end - at != 3 || !content[at].is_ascii_uppercase() {
        return false;
    }
    let text = &content[at..end];
    let rest = &content[end..];
    let skip = rest.iter().take_while(|byte| matches!(byte, b' ' | b',')).count();
    let next = &rest[skip..];
    let number = next.first().is_some_and(u8::is_ascii_digit);
    if MONTHS.contains(&text) {
        return skip > 0 && number;
    }
    DAYS.contains(&text) && skip > 0 && (number || next.len() >= 3 && MONTHS.contains(&&next[..3]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(content: &str) -> Vec<&str> {
        let mut masked = Masked::default();
        masked.scan(content.as_bytes());
        masked.gaps.iter().map(|gap| &content[gap.at.clone()]).collect()
    }

    fn same(one: &str, other: &str) -> bool {
        let hash = |text: &str| {
            let mut masked = Masked::default();
            masked.scan(text.as_bytes());
            masked.hash
        };
        hash(one) == hash(other)
    }

    #[test]
    fn what_varies() {
        assert_eq!(
            gaps("Failed password for root from 10.0.0.9 port 38926 ssh2"),
            ["10.0.0.9", "38926", "ssh2"]
        );
        assert_eq!(
            gaps("block blk_-16 of size:67 from /10.2.3.4:50010"),
            ["blk_-16", "67", "/10.2.3.4:50010"]
        );
        assert_eq!(gaps("session opened for user cyrus by (uid=0)"), ["cyrus", "0"]);
        assert_eq!(gaps("at Tue Jun 14 03:12:11 2005, ok"), ["Tue Jun 14 03:12:11 2005"]);
        assert_eq!(gaps("on Jun  4: 7 in Sep 2005"), ["Jun  4", "7", "Sep", "2005"]);
        assert!(same("at Tue Jun 14 03:12:11 2005", "at Wed Oct  4 13:12:11 2015"));
        assert_eq!(gaps("open /etc/hosts: done."), ["/etc/hosts"]);
        assert_eq!(gaps("May we go"), Vec::<&str>::new());
    }

    #[test]
    fn sizes_have_units_and_notes() {
        assert!(same("estimated size 5.2 KB, free 3 B)", "estimated size 384.0 B, free 322.8 KB)"));
        assert!(same("1190 bytes (1.16 KB) sent", "45 bytes sent"));
        assert!(same("lifetime <1 sec", "lifetime 00:02"));
        assert!(same("values []", "values [a1]"));
        assert!(same("two  blanks ", "two blanks"));
        assert!(!same("a b", "ab") && !same("a (b)", "a b") && !same("user x", "used x"));
    }
}
