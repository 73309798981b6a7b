//! `monpoly`: entries `@TIME name (a,b) (c,d) name2 (e)`, the log form of MonPoly. One entry is one position; each tuple
//! is one event, and so is a name without a tuple.
//!
//! An entry may span lines and ends where the next begins, at the end of the file, or at `;` (so that a live log need not
//! wait for the next entry). Values are known by position; they are bare up to a space, comma or parenthesis, or in double
//! quotes with `""` for a quote inside. An empty place in a tuple is null. `#` begins a comment.

mod fast;
#[cfg(test)]
mod tests;
mod tuple;
mod walk;

use super::fields::push_quoted;
use super::line::{BYTE_ORDER_MARK, Names, not_utf8, reset, stamp_at, too_long, too_many};
use super::writing::{Lined, cell_text, inexpressible, positional, stamp_of, truth};
use crate::{
    Arguments, BlockStart, Bytes, Event, FastPath, FormatCard, Likeness, Outline, Projection, ReadOptions,
    Reading, Row, RowSink, RowSource, TraceError, TraceFormat, Writing, quote,
};
use std::io::{BufRead, Write};
use std::sync::Arc;
use tw_core::Value;

/// The format.
pub struct Monpoly;

impl TraceFormat for Monpoly {
    fn card(&self) -> FormatCard {
        FormatCard {
            name: "monpoly",
            extensions: &["log"],
            about: "entries @TIME name (a,b) (c,d) name2 (…), several events at one position",
            open_vocabulary: true,
        }
    }

    fn rows<'a>(&self, input: Bytes<'a>, options: &ReadOptions) -> Reading<'a> {
        Ok(Box::new(Source::new(input, options)))
    }

    fn look(&self, head: &[u8]) -> Likeness {
        let mut entries = crate::look::lines(head).filter(|line| !line.starts_with(b"#"));
        match entries.next() {
            Some([b'@', b'0'..=b'9', ..]) => Likeness::Sure,
            _ => Likeness::No,
        }
    }

    fn blocks(&self, head: &[u8], projection: &Projection, options: &ReadOptions) -> FastPath {
        // Sorting needs the positions one by one.
        if options.sort.is_some() {
            return Ok(None);
        }
        let skip = if head.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        Ok(Some(BlockStart { skip, skip_lines: 0, reader: Box::new(fast::Reader::new(projection, options)) }))
    }

    /// Only the next entry, or `;`, tells that one has ended.
    fn lines_end_records(&self) -> bool {
        false
    }

    fn writer<'a>(&self, out: Box<dyn Write + 'a>, outline: Outline<'_>) -> Writing<'a> {
        Ok(Box::new(Sink { out: Lined::new(out), has_time: outline.has_time, position: 0 }))
    }
}

/// Line and column, from 1.
type Place = (u64, u64);

/// Bytes with their places.
struct Scanner<'a> {
    input: Box<dyn BufRead + Send + 'a>,
    line: u64,
    column: u64,
    /// Bytes of the current entry.
    used: usize,
    limit: usize,
    started: bool,
    /// The end of the input was met.
    ended: bool,
}

impl Scanner<'_> {
    fn place(&self) -> Place {
        (self.line, self.column)
    }

    fn fill(&mut self) -> Result<&[u8], TraceError> {
        loop {
            match self.input.fill_buf() {
                Ok(_) => break,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(crate::input::describe(&error)),
            }
        }
        // Buffered by now, so this asks for nothing.
        let bytes = self.input.fill_buf().map_err(|error| crate::input::describe(&error))?;
        self.ended |= bytes.is_empty();
        Ok(bytes)
    }

    fn peek(&mut self) -> Result<Option<u8>, TraceError> {
        Ok(self.fill()?.first().copied())
    }

    /// Passes over `count` buffered bytes.
    fn pass(&mut self, count: usize) -> Result<(), TraceError> {
        let (mut line, mut column) = self.place();
        for &byte in &self.fill()?[..count] {
            if byte == b'\n' {
                (line, column) = (line + 1, 1);
            } else {
                column += u64::from(byte & 0xC0 != 0x80);
            }
        }
        (self.line, self.column) = (line, column);
        self.input.consume(count);
        self.used += count;
        if self.used > self.limit { Err(too_long(self.limit, self.line)) } else { Ok(()) }
    }

    /// Appends bytes to `token` as long as they are not of `stops`.
    fn take_until(&mut self, stops: impl Fn(u8) -> bool, token: &mut Vec<u8>) -> Result<(), TraceError> {
        loop {
            let bytes = self.fill()?;
            let end = bytes.iter().position(|&byte| stops(byte));
            let count = end.unwrap_or(bytes.len());
            token.extend_from_slice(&bytes[..count]);
            let done = end.is_some() || bytes.is_empty();
            self.pass(count)?;
            if done {
                return Ok(());
            }
        }
    }

    /// Passes over the rest of the line.
    fn pass_comment(&mut self) -> Result<(), TraceError> {
        loop {
            let bytes = self.fill()?;
            let end = memchr::memchr(b'\n', bytes);
            let (count, done) = (end.unwrap_or(bytes.len()), end.is_some() || bytes.is_empty());
            self.pass(count)?;
            if done {
                return Ok(());
            }
        }
    }

    /// Passes over space and comments to the next byte that means something.
    fn next_token(&mut self) -> Result<Option<u8>, TraceError> {
        if !std::mem::replace(&mut self.started, true) && self.fill()?.starts_with(BYTE_ORDER_MARK) {
            self.input.consume(BYTE_ORDER_MARK.len());
        }
        loop {
            let bytes = self.fill()?;
            let count = bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            match bytes.get(count) {
                Some(b'#') => {
                    self.pass(count)?;
                    self.pass_comment()?;
                }
                Some(&byte) => {
                    self.pass(count)?;
                    return Ok(Some(byte));
                }
                None if count == 0 => return Ok(None),
                None => self.pass(count)?,
            }
        }
    }
}

fn ends_name(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'(' | b')' | b',' | b'"' | b'@' | b';')
}

fn ends_value(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'(' | b')' | b',' | b'"')
}

/// A token as text; it started at a place.
fn text_of(token: &[u8], (line, column): Place) -> Result<&str, TraceError> {
    std::str::from_utf8(token).map_err(|error| {
        let good = &token[..error.valid_up_to()];
        let lines = memchr::memchr_iter(b'\n', good).count() as u64;
        let start = memchr::memrchr(b'\n', good).map_or(0, |at| at + 1);
        let mut error = not_utf8(&token[start..], good.len() - start, line + lines);
        if lines == 0 {
            error.column = error.column.map(|within| column + within - 1);
        }
        error
    })
}

/// Rows of entries.
struct Source<'a> {
    scanner: Scanner<'a>,
    names: Names,
    token: Vec<u8>,
    options: ReadOptions,
}

impl<'a> Source<'a> {
    fn new(input: Bytes<'a>, options: &ReadOptions) -> Self {
        let limit = options.max_record;
        Source {
            scanner: Scanner { input, line: 1, column: 1, used: 0, limit, started: false, ended: false },
            names: Names::default(),
            token: Vec::new(),
            options: options.clone(),
        }
    }

    /// The entries of a stretch of a file, which has no byte order mark.
    fn of_block(bytes: &'a [u8], options: &ReadOptions) -> Self {
        let mut source = Self::new(Box::new(bytes), options);
        source.scanner.started = true;
        source
    }
}

impl Source<'_> {
    /// The error for what stands at the scanner's place.
    fn refuse<T>(&mut self, expected: &str) -> Result<T, TraceError> {
        let (line, column) = self.scanner.place();
        let mut bytes = Vec::new();
        self.scanner.take_until(ends_value, &mut bytes)?;
        if bytes.is_empty() {
            bytes.extend(self.scanner.peek()?);
        }
        let found = match bytes.as_slice() {
            [] => "the end of the file".to_string(),
            bytes => quote(&String::from_utf8_lossy(bytes)),
        };
        Err(TraceError::syntax(line, column, found, expected))
    }

    /// Takes a bare token.
    fn bare(&mut self, stops: impl Fn(u8) -> bool) -> Result<Place, TraceError> {
        let place = self.scanner.place();
        self.token.clear();
        self.scanner.take_until(stops, &mut self.token)?;
        Ok(place)
    }

    /// Takes a token in quotes, the scanner standing at the first.
    fn quoted(&mut self) -> Result<Place, TraceError> {
        let (line, column) = self.scanner.place();
        self.scanner.pass(1)?;
        self.token.clear();
        loop {
            self.scanner.take_until(|byte| byte == b'"', &mut self.token)?;
            if self.scanner.peek()?.is_none() {
                let found = "a quote that is not closed before the end of the file";
                return Err(TraceError::syntax(line, column, found, "a closing `\"`"));
            }
            self.scanner.pass(1)?;
            if self.scanner.peek()? != Some(b'"') {
                return Ok((line, column + 1));
            }
            self.scanner.pass(1)?;
            self.token.push(b'"');
        }
    }

    /// Takes a tuple, the scanner standing at its `(`.
    fn tuple(&mut self) -> Result<Vec<Value>, TraceError> {
        self.scanner.pass(1)?;
        let mut values = Vec::new();
        if self.scanner.next_token()? == Some(b')') {
            self.scanner.pass(1)?;
            return Ok(values);
        }
        loop {
            if values.len() == self.options.max_columns {
                return Err(too_many(self.options.max_columns, "arguments", self.scanner.line));
            }
            values.push(match self.scanner.next_token()? {
                Some(b',' | b')') => Value::Null,
                Some(b'"') => {
                    let place = self.quoted()?;
                    Value::text(text_of(&self.token, place)?)
                }
                Some(b'(') => return self.refuse("a value"),
                None => return self.refuse("a value or `)`"),
                Some(_) => {
                    let place = self.bare(ends_value)?;
                    Value::text(text_of(&self.token, place)?)
                }
            });
            match self.scanner.next_token()? {
                Some(b',') => self.scanner.pass(1)?,
                Some(b')') => {
                    self.scanner.pass(1)?;
                    return Ok(values);
                }
                _ => return self.refuse("`,` or `)`"),
            }
        }
    }

    /// Takes a name and its tuples.
    fn events(&mut self, row: &mut Row) -> Result<(), TraceError> {
        let place = match self.scanner.peek()? {
            Some(b'"') => self.quoted()?,
            Some(b'>') => {
                return self.refuse("an event name (commands such as `>exit<` are not part of a trace)");
            }
            _ => self.bare(ends_name)?,
        };
        if self.token.is_empty() {
            return self.refuse("an event name, `@TIME` or `;`");
        }
        let name = self.names.get(text_of(&self.token, place)?);
        let mut tuples = 0;
        while self.scanner.next_token()? == Some(b'(') {
            tuples += 1;
            let values = self.tuple()?;
            self.push(row, name.clone(), values)?;
        }
        if tuples == 0 {
            self.push(row, name, Vec::new())?;
        }
        Ok(())
    }

    fn push(&self, row: &mut Row, name: Arc<str>, values: Vec<Value>) -> Result<(), TraceError> {
        if row.events.len() == self.options.max_columns {
            return Err(too_many(self.options.max_columns, "events", self.scanner.line));
        }
        row.events.push(Event { name, arguments: Arguments::Positional(values) });
        Ok(())
    }
}

impl RowSource for Source<'_> {
    fn next(&mut self, row: &mut Row) -> Result<bool, TraceError> {
        match self.scanner.next_token()? {
            None => return Ok(false),
            Some(b'@') => {}
            Some(_) => return self.refuse("`@TIME`, the start of an entry"),
        }
        self.scanner.used = 0;
        reset(row, self.scanner.line);
        self.scanner.pass(1)?;
        self.scanner.next_token()?;
        let place = self.bare(ends_name)?;
        let text = text_of(&self.token, place)?;
        row.time = Some(stamp_at(text, self.options.stamps(), place.0, place.1)?);
        loop {
            match self.scanner.next_token()? {
                None | Some(b'@') => return Ok(true),
                Some(b';') => {
                    self.scanner.pass(1)?;
                    return Ok(true);
                }
                Some(b'(' | b')' | b',') => return self.refuse("an event name, `@TIME` or `;`"),
                Some(_) => self.events(row)?,
            }
        }
    }
}

/// Writes an entry per row. Variables beside events, or without any, become events without arguments if they are true and
/// are left out if they are false or null; others are refused. Arguments that have names lose them. In a trace without
/// timestamps the position's index stands for one.
struct Sink<'a> {
    out: Lined<'a>,
    has_time: bool,
    position: u64,
}

impl RowSink for Sink<'_> {
    fn write(&mut self, row: &Row) -> Result<(), TraceError> {
        let line = &mut self.out.line;
        line.push('@');
        if self.has_time {
            line.push_str(&stamp_of(row)?.format());
        } else {
            line.push_str(&self.position.to_string());
        }
        self.position += 1;
        for event in &row.events {
            push_name(line, row, &event.name)?;
            let values = positional(row, event, "monpoly")?;
            if let [Value::Null] = values.as_slice() {
                let what = format!("a single null as the arguments of {}", quote(&event.name));
                return Err(inexpressible(row, &what, "monpoly", "events"));
            }
            line.push_str(" (");
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    line.push(',');
                }
                let place = || format!("an argument of {}", quote(&event.name));
                if let Some(text) = cell_text(row, value, place, "monpoly")? {
                    push_token(line, &text);
                }
            }
            line.push(')');
        }
        if !row.events.iter().any(|event| event.arguments == Arguments::OfRow) {
            for (name, value) in &row.variables {
                match truth(value, row.typed) {
                    Some(true) => {
                        push_name(line, row, name)?;
                        line.push_str(" ()");
                    }
                    Some(false) => {}
                    None => {
                        let what =
                            format!("column {}, which holds {}", quote(name), quote(&value.to_string()));
                        return Err(inexpressible(row, &what, "monpoly", "csv` or `jsonl"));
                    }
                }
            }
        }
        self.out.end()
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        self.out.finish()
    }
}

/// Appends a space and a name.
fn push_name(line: &mut String, row: &Row, name: &str) -> Result<(), TraceError> {
    if name.is_empty() {
        return Err(inexpressible(row, "an event without a name", "monpoly", "jsonl"));
    }
    line.push(' ');
    push_token(line, name);
    Ok(())
}

/// Appends a name or value: bare if it has only characters that MonPoly itself takes bare.
fn push_token(line: &mut String, text: &str) {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_[]/:-.!".contains(&byte);
    if !text.is_empty() && text.bytes().all(plain) {
        line.push_str(text);
    } else {
        push_quoted(line, text);
    }
}
