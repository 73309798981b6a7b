//! `json`: one array of objects, each a position; keys mean what they mean in `jsonl`.
//!
//! Read as a stream: at most one element (`max_record` bytes) is held at a time.

use super::json_record::{Keys, RecordReader};
use super::json_value::{is_blank, utf8};
use super::json_write::{JsonSink, Layout};
use crate::{ReadOptions, Row, RowSink, RowSource, TraceError, TraceErrorKind, TraceFormat};
use std::io::{BufRead, Write};
use std::sync::Arc;

/// The format.
pub struct Json;

impl TraceFormat for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["json"]
    }

    fn about(&self) -> &'static str {
        "one JSON array of objects; keys as in `jsonl`"
    }

    fn open_vocabulary(&self) -> bool {
        false
    }

    fn rows<'a>(
        &self,
        input: Box<dyn BufRead + Send + 'a>,
        options: &ReadOptions,
    ) -> Result<Box<dyn RowSource + Send + 'a>, TraceError> {
        Ok(Box::new(Elements {
            source: Source { input, line: 1, text: Vec::new() },
            reader: RecordReader::new(Keys::new(options)?, None),
            element: Vec::new(),
            state: State::Start,
            max_record: options.max_record,
        }))
    }

    fn writer<'a>(
        &self,
        out: Box<dyn Write + 'a>,
        _columns: &[Arc<str>],
        _has_time: bool,
        _has_event: bool,
    ) -> Result<Box<dyn RowSink + 'a>, TraceError> {
        Ok(Box::new(JsonSink::new(out, Layout::Array)))
    }
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// Before the array.
    Start,
    /// After `[`.
    First,
    /// After an element.
    Next,
    /// After `]`.
    End,
}

/// Bytes, and where they are.
struct Source<'a> {
    input: Box<dyn BufRead + Send + 'a>,
    line: u64,
    /// The current line so far, up to what a column needs; cut short when it is very long.
    text: Vec<u8>,
}

/// Bytes of a line kept to count its characters.
const KEPT: usize = 1 << 20;

impl Source<'_> {
    fn peek(&mut self) -> Result<Option<u8>, TraceError> {
        loop {
            match self.input.fill_buf() {
                Ok(bytes) => return Ok(bytes.first().copied()),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(TraceError::new(TraceErrorKind::Io, error.to_string())),
            }
        }
    }

    fn take(&mut self, byte: u8) {
        self.input.consume(1);
        if byte == b'\n' {
            self.line += 1;
            self.text.clear();
        } else if self.text.len() < KEPT {
            self.text.push(byte);
        }
    }

    /// Column of the next byte.
    fn column(&self) -> u64 {
        self.text.iter().filter(|&&b| b & 0xC0 != 0x80).count() as u64 + 1
    }

    fn fail(&mut self, expected: &str) -> TraceError {
        let found = match self.peek() {
            Err(error) => return error,
            Ok(None) => "the end of the file".to_string(),
            Ok(Some(byte)) if byte.is_ascii_graphic() => format!("`{}`", char::from(byte)),
            Ok(Some(byte)) => format!("the byte 0x{byte:02X}"),
        };
        TraceError::syntax(self.line, self.column(), found, expected)
    }

    fn skip_blank(&mut self) -> Result<Option<u8>, TraceError> {
        loop {
            match self.peek()? {
                Some(byte) if is_blank(byte) => self.take(byte),
                other => return Ok(other),
            }
        }
    }
}

struct Elements<'a> {
    source: Source<'a>,
    reader: RecordReader,
    element: Vec<u8>,
    state: State,
    max_record: usize,
}

impl Elements<'_> {
    /// The bytes of the object that starts here, up to the brace that closes it or to what is surely wrong with it.
    fn read_element(&mut self) -> Result<(), TraceError> {
        self.element.clear();
        let (line, column) = (self.source.line, self.source.column());
        let (mut depth, mut in_string, mut escaped) = (0u64, false, false);
        while let Some(byte) = self.source.peek()? {
            if self.element.len() == self.max_record {
                let message = format!(
                    "found an element longer than {} bytes, which is the limit for one record",
                    self.max_record
                );
                return Err(TraceError::new(TraceErrorKind::Budget, message).at(line, column));
            }
            self.source.take(byte);
            self.element.push(byte);
            if in_string {
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' => escaped = true,
                    b'"' => in_string = false,
                    // Not allowed in strings: the parser will say so, without reading the rest of the file first.
                    0..0x20 => return Ok(()),
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => in_string = true,
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(());
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl RowSource for Elements<'_> {
    fn next(&mut self, row: &mut Row) -> Result<bool, TraceError> {
        if self.state == State::Start {
            if self.source.peek()? == Some(0xEF) {
                // A byte order mark; anything else is found out by the next line.
                let mark = self.source.input.fill_buf().is_ok_and(|bytes| bytes.starts_with(b"\xEF\xBB\xBF"));
                self.source.input.consume(if mark { 3 } else { 0 });
            }
            if self.source.skip_blank()? != Some(b'[') {
                let other = self.source.peek()? == Some(b'{');
                let hint = if other { " (for one object a line, use `--format jsonl`)" } else { "" };
                return Err(self.source.fail(&format!("an array of objects, `[`{hint}")));
            }
            self.source.take(b'[');
            self.state = State::First;
        }
        if self.state != State::End {
            match (self.state, self.source.skip_blank()?) {
                (_, Some(b']')) => {
                    self.source.take(b']');
                    self.state = State::End;
                }
                (State::Next, Some(b',')) => {
                    self.source.take(b',');
                    if self.source.skip_blank()? != Some(b'{') {
                        return Err(self.source.fail("an object (`{`)"));
                    }
                }
                (State::First, Some(b'{')) => {}
                (State::First, _) => return Err(self.source.fail("an object (`{`) or `]`")),
                _ => return Err(self.source.fail("`,` or `]`")),
            }
        }
        if self.state == State::End {
            return match self.source.skip_blank()? {
                None => Ok(false),
                Some(_) => Err(self.source.fail("the end of the file after `]`")),
            };
        }
        self.state = State::Next;
        let (line, column) = (self.source.line, self.source.column());
        self.read_element()?;
        let text = utf8(&self.element, line, column)?;
        row.line = line;
        self.reader
            .read(text, "the end of the file", row)
            .map_err(|fault| fault.place(text, line, column))?;
        Ok(true)
    }
}
