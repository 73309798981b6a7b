//! Cells of a line: in double quotes (`""` inside) or bare up to a separator, spaces around either left out.

use super::line::column;
use crate::{TraceError, quote};
use std::borrow::Cow;
use std::sync::Arc;
use tw_core::Value;

/// A cell.
pub(super) struct Cell<'l> {
    /// Its text.
    pub(super) text: Cow<'l, str>,
    /// Whether it was in quotes: empty and in quotes is the empty text, not null.
    pub(super) quoted: bool,
    /// Byte it starts at.
    pub(super) start: usize,
    /// Byte it ends before: a separator or the end of the line.
    pub(super) end: usize,
}

impl Cell<'_> {
    /// As a value of an untyped row.
    pub(super) fn value(&self) -> Value {
        if self.text.is_empty() && !self.quoted { Value::Null } else { Value::Str(Arc::from(&*self.text)) }
    }
}

fn blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Skips spaces and tabs.
pub(super) fn skip_blank(line: &[u8], from: usize) -> usize {
    from + line[from..].iter().take_while(|&&byte| blank(byte)).count()
}

/// Whether nothing but spaces is left from `from` on.
pub(super) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|&byte| blank(byte))
}

/// `bytes` without spaces and tabs at its ends.
pub(super) fn trim(bytes: &[u8]) -> &[u8] {
    let start = skip_blank(bytes, 0);
    let end = bytes.iter().rposition(|&byte| !blank(byte)).map_or(start, |last| last + 1);
    &bytes[start..end]
}

/// Reads the cell that starts at `from` and goes up to `stop` (or the end of the line).
pub(super) fn cell(line: &str, number: u64, from: usize, stop: Option<u8>) -> Result<Cell<'_>, TraceError> {
    let bytes = line.as_bytes();
    let start = skip_blank(bytes, from);
    if bytes.get(start) != Some(&b'"') {
        let end =
            stop.and_then(|stop| memchr::memchr(stop, &bytes[from..])).map_or(bytes.len(), |at| from + at);
        // Spaces and tabs are single bytes, so what remains is whole characters.
        let text = line[start.min(end)..end].trim_end_matches([' ', '\t']);
        return Ok(Cell { text: Cow::Borrowed(text), quoted: false, start: start.min(end), end });
    }
    let mut text = Cow::Borrowed("");
    let mut at = start + 1;
    loop {
        let Some(length) = memchr::memchr(b'"', &bytes[at..]) else {
            return Err(TraceError::syntax(
                number,
                column(bytes, start),
                "a quote that is not closed on its line",
                "a closing `\"`",
            ));
        };
        let part = &line[at..at + length];
        at += length + 1;
        if bytes.get(at) == Some(&b'"') {
            text.to_mut().push_str(part);
            text.to_mut().push('"');
            at += 1;
        } else {
            if text.is_empty() {
                text = Cow::Borrowed(part)
            } else {
                text.to_mut().push_str(part)
            }
            break;
        }
    }
    let end = skip_blank(bytes, at);
    match bytes.get(end) {
        Some(&byte) if Some(byte) != stop => {
            let expected = match stop {
                Some(stop) => format!("`{}` or the end of the line", char::from(stop)),
                None => "the end of the line".to_string(),
            };
            let found = format!("{} after a closing quote", quote(&line[end..]));
            Err(TraceError::syntax(number, column(bytes, end), found, expected))
        }
        _ => Ok(Cell { text, quoted: true, start, end }),
    }
}

/// Whether `text` must be written in quotes to be read back where any of `stops` ends a bare cell.
pub(super) fn needs_quotes(text: &str, stops: &[u8]) -> bool {
    let bytes = text.as_bytes();
    bytes.is_empty()
        || bytes[0] == b'"'
        || blank(bytes[0])
        || blank(bytes[bytes.len() - 1])
        || bytes.iter().any(|byte| stops.contains(byte))
}

/// Appends `text`, in quotes if need be.
pub(super) fn push_cell(out: &mut String, text: &str, stops: &[u8]) {
    if needs_quotes(text, stops) {
        push_quoted(out, text);
    } else {
        out.push_str(text);
    }
}

/// Appends `text` in quotes.
pub(super) fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    for (index, part) in text.split('"').enumerate() {
        if index > 0 {
            out.push_str("\"\"");
        }
        out.push_str(part);
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_read_back() {
        for text in ["", "a", "a,b", " a", "a\t", "\"", "a\"b", "\"\"", "\"a\"", "ä,\"ö\"", "a b"] {
            let mut line = String::from("x,");
            push_cell(&mut line, text, b",");
            line.push_str(" ,y");
            let cell = cell(&line, 1, 2, Some(b',')).unwrap();
            assert_eq!(cell.text, text, "{line}");
            assert_eq!(&line[cell.end..], ",y");
        }
    }

    #[test]
    fn bare_cells_are_trimmed_and_quotes_checked() {
        assert_eq!(cell(" a \t, b", 1, 0, Some(b',')).unwrap().text, "a");
        assert_eq!(cell("   ", 1, 0, Some(b',')).unwrap().value(), Value::Null);
        assert_eq!(cell("\"\"", 1, 0, Some(b',')).unwrap().value(), Value::text(""));
        assert_eq!(cell("a\"b", 1, 0, None).unwrap().text, "a\"b");
        let error =
            |line| cell(line, 3, 0, Some(b',')).map(|cell| cell.end).unwrap_err().in_file("f").to_string();
        assert_eq!(
            error(" \"ab"),
            "f:3:2: found a quote that is not closed on its line, expected a closing `\"`"
        );
        assert_eq!(
            error("\"ä\" c"),
            "f:3:5: found `c` after a closing quote, expected `,` or the end of the line"
        );
    }
}
