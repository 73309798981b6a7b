//! Formatting: the canonical form, as the smallest stretch of lines that differs.

use crate::document::{Document, Encoding};
use serde_json::{Value, json};
use tracewise::language::{parse, parse_charts, print};

/// The edits that bring a document into its canonical form; none where it cannot be read.
pub fn edits(document: &Document, encoding: Encoding) -> Value {
    let read = if document.name().ends_with(".elsc") { parse_charts } else { parse };
    let parsed = read(&document.text, 0);
    if parsed.has_errors() {
        return Value::Null;
    }
    let new = print(&parsed.value);
    let old = &document.text;
    if new == *old {
        return json!([]);
    }
    // What is alike at both ends stays, so that cursors there do, too.
    let head = common(old.split_inclusive('\n'), new.split_inclusive('\n'));
    let (left, right) = (&old[head..], &new[head..]);
    let tail = common(left.split_inclusive('\n').rev(), right.split_inclusive('\n').rev());
    let range = document.between(head, old.len() - tail, encoding);
    json!([{"range": range, "newText": right[..right.len() - tail]}])
}

/// The bytes of the lines that both have first.
fn common<'t>(a: impl Iterator<Item = &'t str>, b: impl Iterator<Item = &'t str>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).map(|(a, _)| a.len()).sum()
}
