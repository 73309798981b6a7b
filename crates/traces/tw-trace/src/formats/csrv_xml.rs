//! `csrv-xml`: `<log>` of `<event>`s, each with a `<name>` and `<field>`s of one `<name>` and one `<value>`.
//!
//! Space at the ends of names and values is layout and left out, unless written as character references or CDATA. An
//! empty value is null. Comments, processing instructions, an XML declaration and a document type are passed over; no
//! entities other than XML's own are known.

use super::csrv::{Assembler, parts};
use super::line::{characters, not_utf8, too_long};
use super::writing::{Lined, inexpressible};
use crate::{
    Bytes, FormatCard, Outline, ReadOptions, Reading, Row, RowSink, RowSource, TraceError, TraceFormat,
    Writing, quote,
};
use quick_xml::encoding::EncodingError;
use quick_xml::errors::IllFormedError;
use quick_xml::events::Event;
use quick_xml::reader::Reader;
use std::fmt;
use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;
use tw_core::Value;

/// The format.
pub struct CsrvXml;

impl TraceFormat for CsrvXml {
    fn card(&self) -> FormatCard {
        FormatCard {
            name: "csrv-xml",
            extensions: &[],
            about: "competition form: <log> of <event>s with a <name> and <field>s of <name> and <value>",
            open_vocabulary: true,
        }
    }

    fn rows<'a>(&self, input: Bytes<'a>, options: &ReadOptions) -> Reading<'a> {
        let tracked = Tracked { input, line: 1, column: 1, used: 0, limit: options.max_record };
        let mut reader = Reader::from_reader(tracked);
        // Tags are matched here, with their own words and places.
        reader.config_mut().check_end_names = false;
        reader.config_mut().allow_unmatched_ends = true;
        Ok(Box::new(Source {
            reader,
            buffer: Vec::new(),
            place: (1, 1),
            text: String::new(),
            assembler: Assembler::new(options),
            state: State::Before,
        }))
    }

    fn writer<'a>(&self, out: Box<dyn Write + 'a>, outline: Outline<'_>) -> Writing<'a> {
        let mut out = Lined::new(out);
        out.line.push_str("<log>\n");
        Ok(Box::new(Sink { out, has_time: outline.has_time, closed: false }))
    }
}

/// An input that knows the line and column it stands at.
struct Tracked<'a> {
    input: Box<dyn BufRead + Send + 'a>,
    line: u64,
    column: u64,
    /// Bytes of the current event.
    used: usize,
    limit: usize,
}

/// Marks the error of an event beyond the limit.
#[derive(Debug)]
struct TooLong;

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("too long")
    }
}

impl std::error::Error for TooLong {}

impl Read for Tracked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(buffer.len());
        buffer[..count].copy_from_slice(&available[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Tracked<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.used > self.limit {
            return Err(io::Error::other(TooLong));
        }
        self.input.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        // What is consumed was buffered, so this reads nothing.
        let bytes = self.input.fill_buf().map_or(&[][..], |bytes| &bytes[..count.min(bytes.len())]);
        (self.line, self.column) = advance((self.line, self.column), bytes);
        self.used += count;
        self.input.consume(count);
    }
}

/// Line and column, from 1.
type Place = (u64, u64);

/// The place behind `bytes`.
fn advance((line, column): Place, bytes: &[u8]) -> Place {
    match memchr::memrchr(b'\n', bytes) {
        None => (line, column + characters(bytes)),
        Some(last) => {
            let lines = memchr::memchr_iter(b'\n', bytes).count() as u64;
            (line + lines, 1 + characters(&bytes[last + 1..]))
        }
    }
}

#[derive(Clone, PartialEq)]
enum Tag {
    Log,
    Event,
    Name,
    Field,
    Value,
    Other(String),
}

impl Tag {
    fn new(name: &str) -> Self {
        match name {
            "log" => Tag::Log,
            "event" => Tag::Event,
            "name" => Tag::Name,
            "field" => Tag::Field,
            "value" => Tag::Value,
            other => Tag::Other(other.to_string()),
        }
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Tag::Log => "log",
            Tag::Event => "event",
            Tag::Name => "name",
            Tag::Field => "field",
            Tag::Value => "value",
            Tag::Other(name) => name,
        })
    }
}

/// One piece of the document, as far as it matters here. Text is in the source's `text`.
enum Piece {
    Open {
        tag: Tag,
        empty: bool,
    },
    Close(Tag),
    /// Text as written; its space is layout.
    Text,
    /// Text of character references and CDATA, kept as it is.
    Exact,
    End,
}

enum State {
    Before,
    Log,
    After,
}

/// Rows of a document.
struct Source<'a> {
    reader: Reader<Tracked<'a>>,
    buffer: Vec<u8>,
    /// Start of the piece last read.
    place: Place,
    text: String,
    assembler: Assembler,
    state: State,
}

fn is_space(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_whitespace())
}

impl Source<'_> {
    fn refuse<T>(&self, piece: &Piece, expected: &str) -> Result<T, TraceError> {
        let found = match piece {
            Piece::Open { tag, empty: false } => quote(&format!("<{tag}>")),
            Piece::Open { tag, empty: true } => quote(&format!("<{tag}/>")),
            Piece::Close(tag) => quote(&format!("</{tag}>")),
            Piece::Text | Piece::Exact => quote(self.text.trim()),
            Piece::End => "the end of the file".to_string(),
        };
        Err(TraceError::syntax(self.place.0, self.place.1, found, expected))
    }

    /// The next piece.
    fn piece(&mut self) -> Result<Piece, TraceError> {
        loop {
            let tracked = self.reader.get_ref();
            self.place = (tracked.line, tracked.column);
            self.buffer.clear();
            let event = match self.reader.read_event_into(&mut self.buffer) {
                Ok(event) => event,
                Err(error) => return Err(self.malformed(error)),
            };
            let (line, column) = self.place;
            return Ok(match event {
                Event::Start(start) | Event::Empty(start)
                    if {
                        let name = start.name();
                        name.as_ref() != "log" && !is_space(start.attributes_raw())
                    } =>
                {
                    let found = quote(&format!("<{}>", &*start));
                    let expected = "a tag without attributes";
                    return Err(TraceError::syntax(line, column, found, expected));
                }
                Event::Start(start) => Piece::Open { tag: Tag::new(start.name().as_ref()), empty: false },
                Event::Empty(start) => Piece::Open { tag: Tag::new(start.name().as_ref()), empty: true },
                Event::End(end) => Piece::Close(Tag::new(end.name().as_ref())),
                Event::Text(text) => {
                    self.text.clear();
                    self.text.push_str(&text.xml10_content());
                    Piece::Text
                }
                Event::CData(text) => {
                    self.text.clear();
                    self.text.push_str(&text.xml10_content());
                    Piece::Exact
                }
                Event::GeneralRef(reference) => {
                    let character = match &*reference {
                        "lt" => Some('<'),
                        "gt" => Some('>'),
                        "amp" => Some('&'),
                        "quot" => Some('"'),
                        "apos" => Some('\''),
                        _ => reference.resolve_char_ref().ok().flatten(),
                    };
                    let Some(character) = character else {
                        let found = quote(&format!("&{};", &*reference));
                        let expected =
                            "a character reference or one of `&lt;` `&gt;` `&amp;` `&quot;` `&apos;`";
                        return Err(TraceError::syntax(line, column, found, expected));
                    };
                    self.text.clear();
                    self.text.push(character);
                    Piece::Exact
                }
                Event::Eof => Piece::End,
                Event::Comment(_) | Event::PI(_) | Event::Decl(_) | Event::DocType(_) => continue,
            });
        }
    }

    /// The error for a document that is not XML.
    fn malformed(&self, error: quick_xml::Error) -> TraceError {
        let (line, column) = self.place;
        match error {
            quick_xml::Error::Io(error) => {
                let too_long_event = error.get_ref().is_some_and(|inner| inner.is::<TooLong>());
                if too_long_event {
                    too_long(self.reader.get_ref().limit, line)
                } else {
                    crate::input::describe(&error)
                }
            }
            quick_xml::Error::Encoding(EncodingError::Utf8(error)) => {
                let good = &self.buffer[..error.valid_up_to().min(self.buffer.len())];
                let (line, column) = advance(self.place, good);
                not_utf8(&self.buffer, good.len(), line).at(line, column)
            }
            quick_xml::Error::IllFormed(IllFormedError::UnclosedReference) => TraceError::syntax(
                line,
                column,
                "`&` that begins no reference",
                "`&amp;` for the character `&`",
            ),
            error => {
                let reason = match &error {
                    quick_xml::Error::Syntax(error) => error.to_string(),
                    other => other.to_string(),
                };
                TraceError::syntax(line, column, format!("malformed markup ({reason})"), "well-formed XML")
            }
        }
    }

    /// The next piece that is not space between tags.
    fn markup(&mut self) -> Result<Piece, TraceError> {
        loop {
            let piece = self.piece()?;
            if !(matches!(piece, Piece::Text) && is_space(&self.text)) {
                return Ok(piece);
            }
        }
    }

    /// The text of an element that was just opened, its space trimmed where that is layout; null if there is nothing.
    fn leaf(&mut self, tag: Tag, empty: bool) -> Result<Value, TraceError> {
        let mut text = String::new();
        let mut exact = None;
        loop {
            if empty {
                return Ok(Value::Null);
            }
            match self.piece()? {
                Piece::Text if exact.is_none() && text.is_empty() => {
                    text.push_str(self.text.trim_start_matches([' ', '\t', '\r', '\n']));
                }
                Piece::Text => text.push_str(&self.text),
                Piece::Exact => {
                    text.push_str(&self.text);
                    exact = Some(text.len());
                }
                Piece::Close(close) if close == tag => break,
                other => return self.refuse(&other, &format!("text or `</{tag}>`")),
            }
        }
        let trimmed = text.trim_end_matches([' ', '\t', '\r', '\n']).len();
        text.truncate(trimmed.max(exact.unwrap_or(0)));
        Ok(if text.is_empty() && exact.is_none() { Value::Null } else { Value::Str(text.into()) })
    }

    /// The text of a `<name>`, which may not be empty.
    fn name(&mut self, empty: bool) -> Result<Arc<str>, TraceError> {
        let (line, column) = self.place;
        match self.leaf(Tag::Name, empty)? {
            Value::Str(name) if !name.is_empty() => Ok(name),
            _ => Err(TraceError::syntax(line, column, "an empty `<name>`", "a name")),
        }
    }

    /// The rest of an event that was just opened.
    fn event(&mut self, row: &mut Row) -> Result<(), TraceError> {
        const EXPECTED: &str = "`<name>`, `<field>` or `</event>`";
        loop {
            match self.markup()? {
                piece @ Piece::Open { tag: Tag::Name, .. } if !row.events.is_empty() => {
                    return self.refuse(&piece, "`<field>` or `</event>`: the event has a name already");
                }
                Piece::Open { tag: Tag::Name, empty } => {
                    let name = self.name(empty)?;
                    self.assembler.name(row, &name);
                }
                Piece::Open { tag: Tag::Field, empty: false } => self.field(row)?,
                piece @ Piece::Close(Tag::Event) if row.events.is_empty() => {
                    return self.refuse(&piece, "`<name>`: an event has a name");
                }
                Piece::Close(Tag::Event) => return Ok(()),
                other => return self.refuse(&other, EXPECTED),
            }
        }
    }

    /// The rest of a field that was just opened.
    fn field(&mut self, row: &mut Row) -> Result<(), TraceError> {
        let mut name = None;
        let mut value = None;
        loop {
            match (self.markup()?, &name, &value) {
                (Piece::Open { tag: Tag::Name, empty }, None, _) => name = Some(self.name(empty)?),
                (Piece::Open { tag: Tag::Value, empty }, _, None) => {
                    // Behind the tag, where the text begins.
                    let tracked = self.reader.get_ref();
                    let place = (tracked.line, tracked.column);
                    value = Some((self.leaf(Tag::Value, empty)?, place));
                }
                (Piece::Close(Tag::Field), Some(name), Some((value, place))) => {
                    return self.assembler.field(row, name, value.clone(), *place);
                }
                (piece, None, None) => return self.refuse(&piece, "`<name>` or `<value>`"),
                (piece, None, Some(_)) => return self.refuse(&piece, "`<name>`: a field has one"),
                (piece, Some(_), None) => return self.refuse(&piece, "`<value>`: a field has one"),
                (piece, Some(_), Some(_)) => return self.refuse(&piece, "`</field>`"),
            }
        }
    }
}

impl RowSource for Source<'_> {
    fn next(&mut self, row: &mut Row) -> Result<bool, TraceError> {
        loop {
            self.reader.get_mut().used = 0;
            let piece = self.markup()?;
            match (&self.state, piece) {
                (State::Before | State::After, Piece::End) => return Ok(false),
                (State::Before, Piece::Open { tag: Tag::Log, empty }) => {
                    self.state = if empty { State::After } else { State::Log };
                }
                (State::Before, piece) => return self.refuse(&piece, "`<log>`"),
                (State::Log, Piece::Open { tag: Tag::Event, empty: false }) => {
                    self.assembler.begin(row, self.place.0);
                    self.event(row)?;
                    return Ok(true);
                }
                (State::Log, Piece::Close(Tag::Log)) => self.state = State::After,
                (State::Log, piece) => return self.refuse(&piece, "`<event>` or `</log>`"),
                (State::After, piece) => return self.refuse(&piece, "the end of the file"),
            }
        }
    }
}

struct Sink<'a> {
    out: Lined<'a>,
    has_time: bool,
    closed: bool,
}

impl RowSink for Sink<'_> {
    fn write(&mut self, row: &Row) -> Result<(), TraceError> {
        let (name, fields) = parts(row, self.has_time, "csrv-xml")?;
        let out = &mut self.out.line;
        out.push_str("  <event>\n    <name>");
        push_text(out, row, name)?;
        out.push_str("</name>\n");
        for (field, value) in &fields {
            out.push_str("    <field><name>");
            push_text(out, row, field)?;
            out.push_str("</name><value>");
            if let Some(value) = value {
                push_text(out, row, value)?;
            }
            out.push_str("</value></field>\n");
        }
        out.push_str("  </event>");
        self.out.end()
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        if !std::mem::replace(&mut self.closed, true) {
            self.out.line.push_str("</log>\n");
        }
        self.out.finish()
    }
}

/// Appends text so that it reads back the same: space at its ends as references, nothing as an empty CDATA section.
fn push_text(out: &mut String, row: &Row, text: &str) -> Result<(), TraceError> {
    if text.is_empty() {
        out.push_str("<![CDATA[]]>");
    }
    let space = [' ', '\t', '\r', '\n'];
    let inner = text.len() - text.trim_start_matches(space).len()..text.trim_end_matches(space).len();
    for (at, character) in text.char_indices() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\r' => out.push_str("&#13;"),
            ' ' | '\t' | '\n' if !inner.contains(&at) => {
                out.push_str(&format!("&#{};", u32::from(character)))
            }
            '\t' | '\n' => out.push(character),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => {
                let what = format!("the character {} (XML has none such)", quote(&character.to_string()));
                return Err(inexpressible(row, &what, "csrv-xml", "csrv-csv` or `jsonl"));
            }
            other => out.push(other),
        }
    }
    Ok(())
}
