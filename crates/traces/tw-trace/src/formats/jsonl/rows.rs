//! The definition of `jsonl`: line by line.

use crate::formats::json_record::{Keys, RecordReader};
use crate::formats::json_value::{is_blank, place, utf8};
use crate::{Row, RowSource, TraceError, TraceErrorKind};
use std::io::BufRead;

/// What a line ends with, in messages.
pub(super) const END: &str = "the end of the line";

/// A head this long need not be all of the input.
const HEAD: usize = 1 << 16;

/// Positions of a stream of lines.
pub(super) struct Rows<'a> {
    input: Box<dyn BufRead + Send + 'a>,
    reader: RecordReader,
    max_record: usize,
    buffer: Vec<u8>,
    line: u64,
}

impl<'a> Rows<'a> {
    /// `timed` says whether positions must have timestamps, if that is known.
    pub(super) fn new(
        input: Box<dyn BufRead + Send + 'a>,
        keys: Keys,
        timed: Option<bool>,
        max_record: usize,
    ) -> Self {
        Self { input, reader: RecordReader::new(keys, timed), max_record, buffer: Vec::new(), line: 0 }
    }

    /// Line and column of a byte of the row delivered last.
    fn place_of(&self, at: usize) -> (u64, u64) {
        place(std::str::from_utf8(&self.buffer).unwrap_or_default(), at, self.line, 1)
    }

    /// The next line into the buffer, without its newline; false at the end.
    fn read_line(&mut self) -> Result<bool, TraceError> {
        self.buffer.clear();
        self.line += 1;
        let mut any = false;
        loop {
            let bytes = match self.input.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(TraceError::new(TraceErrorKind::Io, error.to_string())),
            };
            if bytes.is_empty() {
                return Ok(any);
            }
            any = true;
            let newline = memchr::memchr(b'\n', bytes);
            let part = newline.unwrap_or(bytes.len());
            if self.buffer.len() + part > self.max_record {
                return Err(too_long(self.line, self.max_record));
            }
            self.buffer.extend_from_slice(&bytes[..part]);
            self.input.consume(part + usize::from(newline.is_some()));
            if newline.is_some() {
                return Ok(true);
            }
        }
    }
}

/// A line longer than is accepted.
pub(super) fn too_long(line: u64, max_record: usize) -> TraceError {
    let message = format!("found a line longer than {max_record} bytes, which is the limit for one record");
    TraceError::new(TraceErrorKind::Budget, message).at(line, 1)
}

impl RowSource for Rows<'_> {
    fn next(&mut self, row: &mut Row) -> Result<bool, TraceError> {
        while self.read_line()? {
            let text = utf8(&self.buffer, self.line, 1)?;
            if text.bytes().all(is_blank) {
                continue;
            }
            self.reader.read(text, (self.line, 1), END, row)?;
            return Ok(true);
        }
        Ok(false)
    }

    fn place(&self, variable: &str) -> Option<(u64, u64)> {
        self.reader.value_at(variable).map(|at| self.place_of(at))
    }
}

/// Whether the first position has a timestamp; `None` if the head does not tell (its first line is too long for it). A
/// first line that is wrong is left to the reader of its block to complain about.
pub(super) fn first_is_timed(head: &[u8], keys: &Keys) -> Option<bool> {
    let mut rest = head;
    loop {
        let (line, after) = match memchr::memchr(b'\n', rest) {
            Some(newline) => (&rest[..newline], &rest[newline + 1..]),
            None if head.len() >= HEAD => return None,
            None => (rest, &rest[rest.len()..]),
        };
        if !line.iter().copied().all(is_blank) {
            let text = std::str::from_utf8(line).unwrap_or_default();
            let mut row = Row::default();
            let mut reader = RecordReader::new(keys.clone(), None);
            return match reader.read(text, (1, 1), END, &mut row) {
                Ok(()) => Some(row.time.is_some()),
                // The definition, which starts from the same line, says what is wrong with it.
                Err(_) => None,
            };
        }
        if after.is_empty() && memchr::memchr(b'\n', rest).is_none() {
            return Some(false);
        }
        rest = after;
    }
}
