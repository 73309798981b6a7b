//! `json`: one array of objects, each a position; keys mean what they mean in `jsonl`.
//!
//! Read as a stream: at most one element (`max_record` bytes) is held at a time.

use super::json_record::{Keys, RecordReader};
use super::json_value::{is_blank, place, utf8};
use super::json_write::{JsonSink, Layout};
use crate::{
    Bytes, FormatCard, Likeness, Outline, ReadOptions, Reading, Row, RowSource, States, TraceError,
    TraceErrorKind, TraceFormat, Writing,
};
use std::io::{BufRead, Write};

/// The format.
pub struct Json;

impl TraceFormat for Json {
    fn card(&self) -> FormatCard {
        FormatCard {
            name: "json",
            extensions: &["json"],
            about: "one JSON array of objects; keys as in `jsonl`",
            open_vocabulary: false,
        }
    }

    fn rows<'a>(&self, input: Bytes<'a>, options: &ReadOptions) -> Reading<'a> {
        Ok(Box::new(Elements {
            source: Source { input, line: 1, text: Vec::new() },
            reader: RecordReader::new(Keys::new(options)?, None),
            element: Vec::new(),
            place: (1, 1),
            state: State::Start,
            max_record: options.max_record,
        }))
    }

    fn look(&self, head: &[u8]) -> Likeness {
        let inside = head.trim_ascii_start().strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
        match inside {
            Some(inside) if inside.starts_with(b"{") || inside.starts_with(b"]") => Likeness::Sure,
            _ => Likeness::No,
        }
    }

    /// An element may go on over lines, or stand beside others on one.
    fn lines_end_records(&self) -> bool {
        false
    }

    fn lines_tell(&self) -> bool {
        false
    }

    fn writer<'a>(&self, out: Box<dyn Write + 'a>, outline: Outline<'_>) -> Writing<'a> {
        Ok(Box::new(JsonSink::new(out, Layout::Array, &outline)))
    }

    fn states(&self) -> Option<States> {
        Some(States::Rows)
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
    /// Line and column of the element.
    place: (u64, u64),
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
            if self.source.skip_blank()? != Some(b'[') {
                let other = self.source.peek()? == Some(b'{');
                let hint = if other {
                    " (for one object a line, use `⟨format: jsonl⟩`; for an export of OpenTelemetry, `⟨format: otlp-json⟩`)"
                } else {
                    ""
                };
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
        self.place = (line, column);
        self.read_element()?;
        let text = utf8(&self.element, line, column)?;
        self.reader.read(text, self.place, "the end of the file", row)?;
        Ok(true)
    }

    fn place(&self, variable: &str) -> Option<(u64, u64)> {
        let text = std::str::from_utf8(&self.element).ok()?;
        self.reader.value_at(variable).map(|at| place(text, at, self.place.0, self.place.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::jsonl::Jsonl;

    fn read(format: &dyn TraceFormat, text: &str, options: &ReadOptions) -> Result<Vec<Row>, TraceError> {
        // A small buffer, so that elements cross its boundaries.
        let input = std::io::BufReader::with_capacity(7, text.as_bytes());
        let mut source = format.rows(Box::new(input), options)?;
        let (mut rows, mut row) = (Vec::new(), Row::default());
        while source.next(&mut row)? {
            rows.push(row.clone());
        }
        assert!(!source.next(&mut row)?);
        Ok(rows)
    }

    const OBJECTS: [&str; 5] = [
        r#"{"time": 1.5, "event": "login", "user": "b\"o}b", "ip": [1, {"x": "]"}]}"#,
        "{\n  \"time\" : \"1970-01-01T00:00:02Z\",\n  \"nested\": {\"a\": {}, \"b\": []}\n}",
        r#"{"time":3,"s":"\\","big":18446744073709551616}"#,
        "{\"time\":4,\"é\":\"日本語\\ud83d\\ude00\"}",
        r#"{"time":5}"#,
    ];

    #[test]
    fn elements_are_what_lines_are() {
        for blank in ["", " ", "\n", "\r\n\t"] {
            for count in 0..=OBJECTS.len() {
                let objects = &OBJECTS[..count];
                let array =
                    format!("{blank}[{blank}{}{blank}]{blank}", objects.join(&format!("{blank},{blank}")));
                let lines: String = objects.iter().map(|object| object.replace('\n', " ") + "\n").collect();
                let mut elements = read(&Json, &array, &ReadOptions::default()).unwrap();
                for (element, object) in elements.iter_mut().zip(objects) {
                    let before = &array[..array.find(object).unwrap()];
                    assert_eq!(element.line, before.matches('\n').count() as u64 + 1);
                    (element.line, element.unfit) = (0, Vec::new());
                }
                let mut rows = read(&Jsonl, &lines, &ReadOptions::default()).unwrap();
                rows.iter_mut().for_each(|row| (row.line, row.unfit) = (0, Vec::new()));
                assert_eq!(elements, rows);
            }
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        let mut rows = read(&Json, &format!("[{}]", OBJECTS.join(",")), &ReadOptions::default()).unwrap();
        for format in [&Json as &dyn TraceFormat, &Jsonl] {
            let mut out = Vec::new();
            let mut sink = format
                .writer(Box::new(&mut out), Outline { has_time: true, has_event: true, ..Outline::default() })
                .unwrap();
            rows.iter().for_each(|row| sink.write(row).unwrap());
            sink.finish().unwrap();
            drop(sink);
            let mut again =
                read(format, std::str::from_utf8(&out).unwrap(), &ReadOptions::default()).unwrap();
            rows.iter_mut().chain(&mut again).for_each(|row| (row.line, row.unfit) = (0, Vec::new()));
            assert_eq!(again, rows);
        }
    }

    #[test]
    fn errors_name_the_place() {
        for (text, line, column, part) in [
            ("", 1, 1, "found the end of the file, expected an array"),
            ("{\"a\":1}\n{\"a\":2}", 1, 1, "⟨format: jsonl⟩"),
            ("[1]", 1, 2, "expected an object (`{`) or `]`"),
            ("[{}\n {}]", 2, 2, "found `{`, expected `,` or `]`"),
            ("[{},\n]", 2, 1, "expected an object"),
            ("[{}", 1, 4, "found the end of the file, expected `,` or `]`"),
            ("[{}]\n x", 2, 2, "expected the end of the file after `]`"),
            ("[{},\n  {\"é\": tru}]", 2, 9, "found `tru`, expected a JSON value"),
            ("[{\"a\":\n\n \"x\ny\"}]", 3, 4, "control character U+000A"),
            ("[{\"a\":[1}]", 1, 9, "expected `,` or `]`"),
            ("[{\"a\":1", 1, 8, "found the end of the file"),
            ("[{\"time\":2},{\"time\":\"x\"}]", 1, 21, "expected a timestamp"),
            ("[{\"abcdefghij\":\"klmnopqrst\"}]", 1, 2, "longer than 20 bytes"),
            ("[{]", 1, 3, "expected a key"),
        ] {
            let error =
                read(&Json, text, &ReadOptions { max_record: 20, ..ReadOptions::default() }).unwrap_err();
            assert!(error.message.contains(part), "{text}: {error}");
            assert_eq!((error.line, error.column), (Some(line), Some(column)), "{text}: {error}");
        }
        let deep = format!("[{{\"a\":{}", "[".repeat(100_000));
        assert!(read(&Json, &deep, &ReadOptions::default()).unwrap_err().message.contains("deeper than 512"));
    }
}
