//! Rows of a CSV file: the definition of the format, and of its error messages.

use super::header::{Header, delimiter_of};
use super::record::{Cell, Fault, Splitter, Step};
use crate::{
    Arguments, Event, ReadOptions, Row, RowSource, Stamp, Stamps, TraceError, TraceErrorKind, quote,
};
use std::borrow::Cow;
use std::io::BufRead;
use std::sync::Arc;
use tw_core::{TimeError, Value};

/// Records one at a time, with what is needed to say where they are.
pub(super) struct Records<R> {
    input: R,
    /// Whether the input ends where the trace does (not: where a block does).
    last: bool,
    max_record: usize,
    max_columns: usize,
    splitter: Splitter,
    /// Whether the delimiter is yet to be found.
    guess: bool,
    /// The record.
    buffer: Vec<u8>,
    /// Line on which it starts, from 1.
    line: u64,
    /// Lines read so far.
    lines: u64,
    /// Bytes read before the record, and with it.
    offset: usize,
    read: usize,
}

/// What [`Records::next`] found.
#[derive(PartialEq)]
pub(super) enum Next {
    /// A record, or a line without anything.
    Record,
    Blank,
    /// A record that does not end where the block does.
    Open,
    End,
}

impl<R: BufRead> Records<R> {
    /// `delimiter` is what stands between cells; if nobody knows, the first line tells.
    pub fn new(input: R, last: bool, delimiter: Option<u8>, options: &ReadOptions) -> Self {
        Self {
            input,
            guess: delimiter.is_none(),
            last,
            max_record: options.max_record,
            max_columns: options.max_columns,
            splitter: Splitter::new(delimiter.unwrap_or(b',')),
            buffer: Vec::new(),
            line: 1,
            lines: 0,
            offset: 0,
            read: 0,
        }
    }

    /// Lines and bytes of what came before the record that was asked for last.
    pub fn before(&self) -> (u64, usize) {
        (self.line - 1, self.offset)
    }

    /// Lines and bytes read so far.
    pub fn read_so_far(&self) -> (u64, usize) {
        (self.lines, self.read)
    }

    pub fn next(&mut self) -> Result<Next, TraceError> {
        self.buffer.clear();
        self.splitter.restart();
        self.line = self.lines + 1;
        self.offset = self.read;
        loop {
            let more = self.read_line()?;
            if self.guess && !self.buffer.trim_ascii().is_empty() {
                self.splitter.delimiter = delimiter_of(&self.buffer);
                self.guess = false;
            }
            // Only where the file ends can a line lack its line feed.
            let complete = self.last && (!more || !self.buffer.ends_with(b"\n"));
            match self.splitter.split(&self.buffer, 0, complete, self.max_columns) {
                Ok(Step::Record(_)) => return Ok(Next::Record),
                Ok(Step::Blank(_)) => return Ok(Next::Blank),
                Ok(Step::End) => return Ok(Next::End),
                Ok(Step::Open) if !more => return Ok(Next::Open),
                Ok(Step::Open) => {}
                Err(fault) => return Err(self.describe(fault)),
            }
        }
    }

    /// Appends a line; false if there is none.
    fn read_line(&mut self) -> Result<bool, TraceError> {
        let start = self.buffer.len();
        loop {
            let part = match self.input.fill_buf() {
                Ok(part) => part,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(crate::input::describe(&error)),
            };
            let found = memchr::memchr(b'\n', part);
            let take = found.map_or(part.len(), |found| found + 1);
            self.buffer.extend_from_slice(&part[..take]);
            self.input.consume(take);
            self.read += take;
            if self.buffer.len() > self.max_record {
                let message = format!(
                    "this record is longer than {} bytes, the most that is accepted",
                    self.max_record
                );
                return Err(TraceError::new(TraceErrorKind::Budget, message).at(self.line, 1));
            }
            if found.is_some() || take == 0 {
                break;
            }
        }
        let line = &self.buffer[start..];
        if line.is_empty() {
            return Ok(false);
        }
        self.lines += 1;
        if simdutf8::basic::from_utf8(line).is_err() {
            let valid = std::str::from_utf8(line).map_or_else(|error| error.valid_up_to(), str::len);
            let column = characters(&line[..valid]) + 1;
            let found = format!("the byte 0x{:02X}", line.get(valid).copied().unwrap_or(0));
            return Err(TraceError::syntax(self.lines, column, found, "UTF-8 text"));
        }
        Ok(true)
    }

    pub fn cells(&self) -> &[Cell] {
        &self.splitter.cells
    }

    pub fn text(&self, cell: Cell) -> Cow<'_, str> {
        // Lines are checked as they are read, and cells end at ASCII characters.
        let text = std::str::from_utf8(&self.buffer[cell.start..cell.end]).unwrap_or_default();
        if cell.doubled { text.replace("\"\"", "\"").into() } else { text.into() }
    }

    /// Line and column of a byte of the record.
    pub fn place(&self, at: usize) -> (u64, u64) {
        let before = &self.buffer[..at.min(self.buffer.len())];
        let start = memchr::memrchr(b'\n', before).map_or(0, |found| found + 1);
        (self.line + memchr::memchr_iter(b'\n', before).count() as u64, characters(&before[start..]) + 1)
    }

    fn describe(&self, fault: Fault) -> TraceError {
        let at = match fault {
            Fault::StrayQuote(at)
            | Fault::AfterQuote(at)
            | Fault::Unclosed(at)
            | Fault::BareReturn(at)
            | Fault::TooMany(at) => at,
        };
        let (line, column) = self.place(at);
        match fault {
            Fault::StrayQuote(_) => TraceError::syntax(
                line,
                column,
                "a quote inside a cell that does not start with one",
                "the whole cell in quotes, and quotes inside it doubled",
            ),
            Fault::AfterQuote(at) => {
                let rest = String::from_utf8_lossy(&self.buffer[at..]).chars().take(1).collect::<String>();
                let found = format!("{} after the closing quote", quote(&rest));
                let expected = format!(
                    "{} or the end of the line (a quote inside a quoted cell is doubled)",
                    spelled(self.splitter.delimiter)
                );
                TraceError::syntax(line, column, found, expected)
            }
            Fault::Unclosed(_) => TraceError::syntax(
                line,
                column,
                crate::error::NEVER_CLOSED,
                "a closing quote before the end of the file",
            ),
            Fault::BareReturn(_) => TraceError::syntax(
                line,
                column,
                "a carriage return without a line feed",
                "lines that end with LF or CRLF (or quotes around the cell)",
            ),
            Fault::TooMany(_) => {
                let message = format!(
                    "this record has more than {} cells, the most that is accepted",
                    self.max_columns
                );
                TraceError::new(TraceErrorKind::Budget, message).at(line, column)
            }
        }
    }
}

/// A delimiter, in words.
pub(super) fn spelled(delimiter: u8) -> String {
    match delimiter {
        b',' => "a comma".into(),
        b';' => "a semicolon".into(),
        b'\t' => "a tab".into(),
        other => format!("`{}`", char::from(other).escape_default()),
    }
}

fn characters(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() as u64
}

/// Rows under a header.
pub(super) struct Rows<R> {
    pub records: Records<R>,
    pub header: Arc<Header>,
    stamps: Stamps,
    /// How the block ended.
    pub open: bool,
}

impl<R: BufRead> Rows<R> {
    /// Reads the header, then rows.
    pub fn new(input: R, options: &ReadOptions) -> Result<Self, TraceError> {
        let mut records = Records::new(input, true, options.delimiter, options);
        let header = read_header(&mut records, options)?;
        Ok(Self { records, header: Arc::new(header), stamps: options.stamps(), open: false })
    }

    /// Rows of a block.
    pub fn under(header: Arc<Header>, input: R, last: bool, options: &ReadOptions) -> Self {
        let records = Records::new(input, last, Some(header.delimiter), options);
        Self { records, header, stamps: options.stamps(), open: false }
    }

    fn read(&mut self, row: &mut Row) -> Result<bool, TraceError> {
        loop {
            match self.records.next()? {
                Next::Record => break,
                // In a file of one column an empty line is a row whose cell is empty.
                Next::Blank if self.header.columns.len() == 1 => {
                    self.records.splitter.cells.push(Cell { start: 0, end: 0, doubled: false });
                    break;
                }
                Next::Blank => {}
                Next::Open => {
                    self.open = true;
                    return Ok(false);
                }
                Next::End => return Ok(false),
            }
        }
        let (records, header) = (&self.records, &*self.header);
        let (found, expected) = (records.cells().len(), header.columns.len());
        if found != expected {
            let end = || records.cells().last().map_or(0, |cell| cell.end);
            let (line, column) =
                records.place(records.cells().get(expected).map_or_else(end, |cell| cell.start));
            let cells = |count: usize| format!("{count} cell{}", if count == 1 { "" } else { "s" });
            let expected = format!("{}, one for each column of the header", cells(expected));
            return Err(TraceError::syntax(line, column, format!("{} in this row", cells(found)), expected));
        }
        row.line = records.line;
        row.time = None;
        row.typed = false;
        row.variables.clear();
        row.events.clear();
        if let Some(&first) = header.joined.first() {
            let part = |&number: &usize| records.text(records.cells()[number]);
            let text = header.joined.iter().map(part).collect::<Vec<_>>().join(" ");
            let names: Vec<&str> = header.joined.iter().map(|&number| &*header.columns[number]).collect();
            let stamp = stamp(text.trim(), &names.join(" "), self.stamps).map_err(|error| {
                let (line, column) = records.place(records.cells()[first].start);
                error.at(line, column)
            })?;
            row.time = Some(stamp);
        }
        for (number, (&cell, name)) in records.cells().iter().zip(&header.columns).enumerate() {
            if header.joined.contains(&number) {
                continue;
            }
            let text = records.text(cell);
            if Some(number) == header.time {
                let stamp = stamp(&text, name, self.stamps).map_err(|error| {
                    let (line, column) = records.place(cell.start);
                    error.at(line, column)
                })?;
                row.time = Some(stamp);
            } else if Some(number) == header.event {
                if !text.is_empty() {
                    row.events.push(Event { name: text.as_ref().into(), arguments: Arguments::OfRow });
                }
            } else {
                let value = if text.is_empty() { Value::Null } else { Value::text(&text) };
                row.variables.push((Arc::clone(name), value));
            }
        }
        Ok(true)
    }
}

/// Reads a timestamp cell.
pub(super) fn stamp(text: &str, name: &str, stamps: Stamps) -> Result<Stamp, TraceError> {
    stamps.parse(text).map_err(|error| {
        let found = match error {
            TimeError::NotANumber if text.is_empty() => "nothing".to_string(),
            TimeError::NotANumber => quote(text),
            error => format!("{}, which is {error}", quote(text)),
        };
        let expected = match stamps.form {
            Some(_) => stamps.expected(),
            None => format!(
                "a timestamp (a number, in `{}`, or a date and time like `2024-05-01T12:00:00Z`)",
                stamps.numbers.name()
            ),
        };
        let message = format!("`{name}`: found {found}, expected {expected}");
        TraceError::new(TraceErrorKind::Time, message)
    })
}

/// The header record. A file without one has no columns and no rows.
pub(super) fn read_header<R: BufRead>(
    records: &mut Records<R>,
    options: &ReadOptions,
) -> Result<Header, TraceError> {
    loop {
        match records.next()? {
            Next::Record => {
                let names = records.cells().iter().map(|&cell| records.text(cell).as_ref().into()).collect();
                let delimiter = records.splitter.delimiter;
                return Header::new(names, delimiter, options, &|number| {
                    records.place(records.cells()[number].start)
                });
            }
            Next::Blank => {}
            Next::Open | Next::End => return Ok(Header::default()),
        }
    }
}

impl<R: BufRead> RowSource for Rows<R> {
    fn next(&mut self, row: &mut Row) -> Result<bool, TraceError> {
        self.read(row)
    }

    fn header(&self) -> Option<Vec<Arc<str>>> {
        Some(self.header.variables().cloned().collect())
    }

    fn has_events(&self) -> bool {
        self.header.event.is_some()
    }

    fn place(&self, variable: &str) -> Option<(u64, u64)> {
        let cell = self.records.cells().get(self.header.variable(variable)?)?;
        Some(self.records.place(cell.start))
    }
}
