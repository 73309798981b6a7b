//! What the line-based formats share: lines with their numbers, places of errors, names kept once, and the reading of
//! a block by way of rows.

use crate::scan::{missing_timestamp, surprising_timestamp};
use crate::{
    BlockBatch, Projection, ReadOptions, Row, RowSource, SlotBuilder, Stamp, Stamps, TraceError,
    TraceErrorKind, Vocabulary, quote,
};
use rustc_hash::FxHashSet;
use std::io::BufRead;
use std::sync::Arc;
use tw_core::{Time, TimeError};

/// A mark that some editors put at the start of a UTF-8 file. It is no part of the text.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Lines of UTF-8 text, one at a time.
pub(super) struct Lines<'a> {
    input: Box<dyn BufRead + Send + 'a>,
    buffer: Vec<u8>,
    number: u64,
    longest: usize,
    /// The input begins in the middle of a file, where a byte order mark would be data.
    inner: bool,
}

impl<'a> Lines<'a> {
    /// The lines of a whole input.
    pub(super) fn new(input: Box<dyn BufRead + Send + 'a>, options: &ReadOptions) -> Self {
        Self { input, buffer: Vec::new(), number: 0, longest: options.max_record, inner: false }
    }

    /// The lines of a stretch of a file.
    pub(super) fn of_block(bytes: &'a [u8], options: &ReadOptions) -> Self {
        Self { inner: true, ..Self::new(Box::new(bytes), options) }
    }

    /// Number of the line last read, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Goes to the next line; false after the last. The last newline starts no line.
    pub(super) fn advance(&mut self) -> Result<bool, TraceError> {
        self.buffer.clear();
        loop {
            let available = match self.input.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(crate::input::describe(&error)),
            };
            let end = memchr::memchr(b'\n', available);
            let used = end.map_or(available.len(), |end| end + 1);
            self.buffer.extend_from_slice(&available[..used]);
            self.input.consume(used);
            if self.buffer.len() > self.longest {
                return Err(too_long(self.longest, self.number + 1));
            }
            if end.is_some() || used == 0 {
                break;
            }
        }
        if self.number == 0 && !self.inner && self.buffer.starts_with(BYTE_ORDER_MARK) {
            self.buffer.drain(..BYTE_ORDER_MARK.len());
        }
        self.number += u64::from(!self.buffer.is_empty());
        Ok(!self.buffer.is_empty())
    }

    /// The line, without its end (`\n` or `\r\n`).
    pub(super) fn text(&self) -> Result<&str, TraceError> {
        let line = self.buffer.as_slice();
        text_of(line.strip_suffix(b"\n").unwrap_or(line), self.number)
    }
}

/// A line's bytes as text, without the `\r` of `\r\n`.
fn text_of(line: &[u8], number: u64) -> Result<&str, TraceError> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let text = match simdutf8::compat::from_utf8(line) {
        Ok(text) => text,
        Err(error) => return Err(not_utf8(line, error.valid_up_to(), number)),
    };
    match memchr::memchr(b'\r', line) {
        None => Ok(text),
        // As the end of a line it would be one of an old kind, and the whole file a single line; say so.
        Some(at) => Err(TraceError::syntax(
            number,
            column(line, at),
            "a carriage return inside a line",
            "lines that end with a line feed, or with a carriage return and a line feed",
        )),
    }
}

/// The error for bytes that are not UTF-8 from `at` on.
pub(super) fn not_utf8(line: &[u8], at: usize, number: u64) -> TraceError {
    let byte = line.get(at).copied().unwrap_or_default();
    TraceError::syntax(number, column(line, at), format!("the byte 0x{byte:02x}"), "UTF-8 text")
}

/// The error for a line or record beyond the limit.
pub(super) fn too_long(limit: usize, line: u64) -> TraceError {
    let message =
        format!("this record is longer than {limit} bytes, the limit; is the format the right one?");
    TraceError { line: Some(line), ..TraceError::new(TraceErrorKind::Budget, message) }
}

/// The error for a record with more parts than the limit.
pub(super) fn too_many(limit: usize, parts: &str, line: u64) -> TraceError {
    let message =
        format!("this record has more than {limit} {parts}, the limit; is the format the right one?");
    TraceError { line: Some(line), ..TraceError::new(TraceErrorKind::Budget, message) }
}

/// Column in characters, from 1, of the byte `at`.
pub(super) fn column(line: &[u8], at: usize) -> u64 {
    characters(&line[..at.min(line.len())]) + 1
}

/// How many characters begin in `bytes`.
pub(super) fn characters(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() as u64
}

/// Reads a timestamp that stands at a place.
pub(super) fn stamp_at(text: &str, stamps: Stamps, line: u64, column: u64) -> Result<Stamp, TraceError> {
    stamps.parse(text).map_err(|reason| {
        let found = if text.is_empty() { "nothing".to_string() } else { quote(text) };
        let reason = match reason {
            TimeError::NotANumber => String::new(),
            other => format!(", which is {other}"),
        };
        let expected = stamps.expected();
        let message = format!("found {found}{reason}, expected {expected}");
        TraceError::new(TraceErrorKind::Time, message).at(line, column)
    })
}

/// The time of a timestamp, if it is one: [`parse_stamp`], with a short way for plain decimals.
#[inline(always)]
pub(super) fn time_of(text: &[u8], stamps: Stamps) -> Option<Time> {
    let (mut value, mut at) = (0i64, 0);
    while let Some(digit) = text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        if at == 18 {
            break;
        }
        value = value * 10 + i64::from(digit);
        at += 1;
    }
    let nanoseconds = stamps.nanoseconds();
    if at > 0 && at == text.len() {
        return value.checked_mul(nanoseconds);
    }
    if at > 0 && text[at] == b'.' && text.len() <= 19 {
        let mut part = nanoseconds;
        let fraction = &text[at + 1..];
        for &byte in fraction {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 || part % 10 != 0 {
                part = 0;
                break;
            }
            value = value * 10 + i64::from(digit);
            part /= 10;
        }
        if part != 0 {
            return value.checked_mul(part);
        }
    }
    Some(stamps.parse(std::str::from_utf8(text).ok()?).ok()?.time)
}

/// Names, each kept once.
#[derive(Default)]
pub(super) struct Names(FxHashSet<Arc<str>>);

/// Names kept; a trace with more (ids as names) pays an allocation each.
const KEPT: usize = 4096;

impl Names {
    /// The shared copy of `name`.
    pub(super) fn get(&mut self, name: &str) -> Arc<str> {
        if let Some(kept) = self.0.get(name) {
            return kept.clone();
        }
        let shared: Arc<str> = name.into();
        if self.0.len() < KEPT {
            self.0.insert(shared.clone());
        }
        shared
    }
}

/// Empties `row` for the position that starts on `line`.
pub(super) fn reset(row: &mut Row, line: u64) {
    row.line = line;
    row.time = None;
    row.variables.clear();
    row.events.clear();
    row.typed = false;
}

/// Reads all of `source` into a batch: what a fast path falls back on, and what it must equal.
pub(super) fn by_rows(
    source: &mut dyn RowSource,
    projection: &Projection,
    timed: bool,
    any_order: bool,
) -> Result<(BlockBatch, Vocabulary), TraceError> {
    let mut vocabulary = Vocabulary::new(projection.slots.len());
    let mut builder = SlotBuilder::new(projection);
    let mut row = Row::default();
    let mut range: Option<(Stamp, Stamp)> = None;
    let mut stamped = None;
    while source.next(&mut row)? {
        match (*stamped.get_or_insert(row.time.is_some()), row.time) {
            (true, None) => return Err(missing_timestamp().at(row.line, 1)),
            (false, Some(_)) => return Err(surprising_timestamp().at(row.line, 1)),
            _ => {}
        }
        if let Some(now) = row.time {
            let (first, last) = range.unwrap_or((now, now));
            if now.time < last.time && !any_order {
                return Err(TraceError::decreasing(now, last).at(row.line, 1));
            }
            range = Some((first, now));
        }
        builder.push(&row, &mut vocabulary)?;
    }
    let batch = builder.finish(timed);
    let time_range = range.map(|(first, last)| (first.time, last.time));
    Ok((BlockBatch { batch, time_range, lines: 0, ..BlockBatch::default() }, vocabulary))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_stamp;
    use tw_core::TimeUnit;

    fn lines(text: &[u8]) -> Result<Vec<String>, TraceError> {
        let options = ReadOptions { max_record: 10, ..ReadOptions::default() };
        let mut lines = Lines::new(Box::new(text), &options);
        let mut all = Vec::new();
        while lines.advance()? {
            all.push(lines.text()?.to_string());
        }
        Ok(all)
    }

    #[test]
    fn ends_of_lines() {
        assert_eq!(lines(b"").unwrap(), [""; 0]);
        assert_eq!(lines(b"\n").unwrap(), [""]);
        assert_eq!(lines(BYTE_ORDER_MARK).unwrap(), [""; 0]);
        assert_eq!(lines(b"a\r\n\r\nb").unwrap(), ["a", "", "b"]);
        assert_eq!(lines(b"\xEF\xBB\xBFa\nb\r").unwrap(), ["a", "b"]);
    }

    #[test]
    fn the_short_way_to_a_time_leads_to_the_same() {
        let texts = [
            "0",
            "007",
            "5",
            "1.5",
            "1.",
            ".5",
            "1.25",
            "1.0000000001",
            "1.500000000",
            "123456789.123456789",
            "-1",
            "+1",
            "9223372036",
            "9223372037",
            "999999999999999999",
            "9999999999999999999",
            "1e3",
            "",
            ".",
            "1.2.3",
            "x",
            "1x",
            "1970-01-01T00:00:01Z",
        ];
        for text in texts {
            for (_, unit) in TimeUnit::ALL {
                let expected = parse_stamp(text, unit).ok().map(|stamp| stamp.time);
                assert_eq!(time_of(text.as_bytes(), Stamps::of(unit)), expected, "{text} {unit:?}");
            }
        }
    }

    #[test]
    fn places_of_errors() {
        for (text, place, message) in [
            (&b"a\n\xC3\xA4\xFF\n"[..], "2:2", "the byte 0xff"),
            (b"a\rb\n", "1:2", "a carriage return inside a line"),
            (b"a\n12345678901", "2", "longer than 10 bytes"),
        ] {
            let error = lines(text).unwrap_err();
            let text = error.in_file("f").to_string();
            assert!(text.starts_with(&format!("f:{place}: ")) && text.contains(message), "{text}");
        }
    }
}
