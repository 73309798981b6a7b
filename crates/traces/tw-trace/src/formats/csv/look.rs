//! What a CSV file looks like: a row of names, and rows with as many cells.

use super::header::delimiter_of;
use crate::{Likeness, look};

/// Rows below the header that are counted.
const ROWS: usize = 8;

/// How much `head` looks like a table with a header.
pub(super) fn look(head: &[u8]) -> Likeness {
    let mut lines = look::lines(head);
    let Some(header) = lines.next() else { return Likeness::No };
    let delimiter = delimiter_of(header);
    let names = cells(header, delimiter);
    let named = |name: &&[u8]| {
        let first = name.trim_ascii().first();
        first.is_some_and(|first| first.is_ascii_alphabetic() || b"_@#$\"'".contains(first) || *first >= 0x80)
    };
    if names.len() < 2 || !names.iter().all(named) {
        return Likeness::No;
    }
    let mut rows = 0;
    for line in lines.take(ROWS) {
        // A quoted cell may go on in the next line, which is nothing to count.
        if memchr::memchr_iter(b'"', line).count() % 2 == 1 {
            break;
        }
        if cells(line, delimiter).len() != names.len() {
            return Likeness::No;
        }
        rows += 1;
    }
    if rows > 0 { Likeness::Likely } else { Likeness::No }
}

/// What stands between delimiters that are outside quotes.
fn cells(line: &[u8], delimiter: u8) -> Vec<&[u8]> {
    let mut quoted = false;
    let outside = |&byte: &u8| {
        quoted ^= byte == b'"';
        byte == delimiter && !quoted
    };
    line.split(outside).collect()
}
