//! A strict JSON parser (RFC 8259) into [`Value`], shared by `jsonl` and `json`. It keeps its own stack, so depth costs
//! memory and not the machine's stack; it stops at [`DEPTH`], because values are later cloned, compared and dropped by
//! recursion.
//!
//! Two decisions of ours: a number that neither 64 bits of integer nor a finite double can hold is kept as text, as
//! written (it can still be a key or be carried over, and whoever needs a number is told which one it was), and a
//! object keeps both of two equal keys ([`super::json_record::duplicate_key`] refuses them where they are read).

use crate::{TraceError, TraceErrorKind};
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::sync::Arc;
use tw_core::Value;

/// Containers that may be open at once, the record itself included.
pub(crate) const DEPTH: usize = 512;

/// What is wrong with a text, and at which byte of it.
#[derive(Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    pub(crate) kind: TraceErrorKind,
    pub(crate) message: String,
    /// The name of what was not found.
    pub(crate) name: Option<Box<str>>,
}

impl Fault {
    pub(crate) fn new(at: usize, kind: TraceErrorKind, message: String) -> Self {
        Self { at, kind, message, name: None }
    }

    /// As an error of the text that starts at `line` and `column`.
    pub(crate) fn place(self, text: &str, line: u64, column: u64) -> TraceError {
        let (line, column) = place(text, self.at, line, column);
        TraceError { name: self.name, ..TraceError::new(self.kind, self.message).at(line, column) }
    }
}

/// Line and column (in characters) of byte `at` of a text that starts at `line` and `column`.
pub(crate) fn place(text: &str, at: usize, line: u64, column: u64) -> (u64, u64) {
    let mut end = at.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    match before.rfind('\n') {
        Some(newline) => {
            let lines = before.bytes().filter(|&b| b == b'\n').count() as u64;
            (line + lines, before[newline + 1..].chars().count() as u64 + 1)
        }
        None => (line, column + before.chars().count() as u64),
    }
}

/// The text of `bytes`, or the first byte that is not UTF-8.
pub(crate) fn utf8(bytes: &[u8], line: u64, column: u64) -> Result<&str, TraceError> {
    simdutf8::compat::from_utf8(bytes).map_err(|error| {
        let good = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
        let (line, column) = place(good, good.len(), line, column);
        let byte = bytes[error.valid_up_to()];
        TraceError::syntax(line, column, format_args!("the byte 0x{byte:02X}"), "UTF-8 text")
    })
}

/// JSON's whitespace.
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// The value of a number as JSON writes it.
pub(crate) fn number_value(text: &str) -> Value {
    if text.bytes().any(|b| matches!(b, b'.' | b'e' | b'E')) {
        match text.parse::<f64>() {
            Ok(real) if real.is_finite() => Value::Real(real),
            _ => Value::text(text),
        }
    } else {
        text.parse().map_or_else(|_| Value::text(text), Value::Int)
    }
}

/// Whether an untyped cell is a number that JSON can write as it stands, and that fits.
pub fn is_number(cell: &str) -> bool {
    let mut parser = Parser::new(cell, "");
    let written = parser.number().is_ok() && parser.at == cell.len();
    written && matches!(Value::from_cell(cell), Some(Value::Int(_) | Value::Real(_)))
}

/// A place in a JSON text.
pub(crate) struct Parser<'t> {
    text: &'t str,
    pub(crate) at: usize,
    /// What the end of the text is, for messages.
    end: &'static str,
    /// Keys that an object has already, and where they stand for the second time.
    pub(crate) repeated: Vec<(usize, Arc<str>)>,
    /// Numbers that arrive as text, and where they stand.
    pub(crate) unfit: Vec<(usize, Arc<str>)>,
}

/// Tells keys that an object has already: by looking through them while they are few, by hash beyond.
#[derive(Default)]
pub(crate) struct Seen {
    hashed: FxHashSet<Arc<str>>,
    /// How many of the fields are in `hashed`.
    taken: usize,
}

impl Seen {
    const FEW: usize = 24;

    pub(crate) fn has(&mut self, fields: &[(Arc<str>, Value)], key: &str) -> bool {
        if fields.len() < Self::FEW {
            return fields.iter().any(|(field, _)| **field == *key);
        }
        self.hashed.extend(fields[self.taken..].iter().map(|(field, _)| field.clone()));
        self.taken = fields.len();
        self.hashed.contains(key)
    }
}

enum Frame {
    List(Vec<Value>),
    Object(Vec<(Arc<str>, Value)>, Arc<str>, Seen),
}

impl<'t> Parser<'t> {
    pub(crate) fn new(text: &'t str, end: &'static str) -> Self {
        Self { text, at: 0, end, repeated: Vec::new(), unfit: Vec::new() }
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(crate) fn skip_blank(&mut self) {
        while self.peek().is_some_and(is_blank) {
            self.at += 1;
        }
    }

    /// "found …, expected …" at the current place.
    pub(crate) fn fail(&self, expected: &str) -> Fault {
        let mut start = self.at;
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        let rest = &self.text[start..];
        let found = match rest.chars().next() {
            None => self.end.to_string(),
            Some(c) if c.is_control() => format!("the control character U+{:04X}", u32::from(c)),
            Some(c) if c.is_alphanumeric() => {
                let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                crate::quote(&rest[..word])
            }
            Some(c) => format!("`{c}`"),
        };
        Fault::new(start, TraceErrorKind::Syntax, format!("found {found}, expected {expected}"))
    }

    pub(crate) fn expect(&mut self, byte: u8, expected: &str) -> Result<(), Fault> {
        if self.peek() != Some(byte) {
            return Err(self.fail(expected));
        }
        self.at += 1;
        Ok(())
    }

    /// A string, with its quotes.
    pub(crate) fn string(&mut self, expected: &str) -> Result<Cow<'t, str>, Fault> {
        self.expect(b'"', expected)?;
        let bytes = self.text.as_bytes();
        let mut start = self.at;
        let mut decoded: Option<String> = None;
        loop {
            match bytes.get(self.at) {
                Some(b'"') => {
                    let part = &self.text[start..self.at];
                    self.at += 1;
                    return Ok(match decoded {
                        Some(text) => Cow::Owned(text + part),
                        None => Cow::Borrowed(part),
                    });
                }
                Some(b'\\') => {
                    let text = decoded.get_or_insert_default();
                    text.push_str(&self.text[start..self.at]);
                    self.at += 1;
                    let c = self.escape()?;
                    decoded.get_or_insert_default().push(c);
                    start = self.at;
                }
                Some(0..0x20) => {
                    return Err(self.fail("an escape: control characters are not allowed in strings"));
                }
                Some(_) => self.at += 1,
                None => return Err(self.fail("`\"` at the end of the string")),
            }
        }
    }

    /// Whether the value that starts at byte `at` is a number (one that did not fit arrives as text).
    pub(crate) fn is_number_at(&self, at: usize) -> bool {
        matches!(self.text.as_bytes().get(at), Some(b'-' | b'0'..=b'9'))
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Result<char, Fault> {
        let Some(byte) = self.peek() else { return Err(self.fail("an escaped character")) };
        let plain = match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(),
            _ => return Err(self.fail("one of `\" \\ / b f n r t u` after a backslash")),
        };
        self.at += 1;
        Ok(plain)
    }

    /// `uXXXX`, or two of them that make a surrogate pair.
    fn unicode(&mut self) -> Result<char, Fault> {
        let start = self.at - 1;
        let lone = |unit: u32| {
            let message = format!("found the lone surrogate `\\u{unit:04x}`, expected a pair of surrogates");
            Fault::new(start, TraceErrorKind::Syntax, message)
        };
        let high = self.hex()?;
        let code = match high {
            0xD800..0xDC00 => {
                if !self.text[self.at..].starts_with("\\u") {
                    return Err(lone(high));
                }
                self.at += 1;
                let low = self.hex()?;
                if !(0xDC00..0xE000).contains(&low) {
                    return Err(lone(high));
                }
                0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)
            }
            other => other,
        };
        char::from_u32(code).ok_or_else(|| lone(code))
    }

    /// `u` and four hexadecimal digits.
    fn hex(&mut self) -> Result<u32, Fault> {
        self.at += 1;
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|b| char::from(b).to_digit(16));
            unit = unit * 16 + digit.ok_or_else(|| self.fail("four hexadecimal digits after `\\u`"))?;
            self.at += 1;
        }
        Ok(unit)
    }

    /// A number, as written.
    pub(crate) fn number(&mut self) -> Result<&'t str, Fault> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => {
                self.at += 1;
                if self.peek().is_some_and(|b| b.is_ascii_digit()) {
                    return Err(self.fail("no digit after a leading zero"));
                }
            }
            _ => self.digits("a digit")?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits("a digit after the decimal point")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits("a digit in the exponent")?;
        }
        Ok(&self.text[start..self.at])
    }

    fn digits(&mut self, expected: &str) -> Result<(), Fault> {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start { Err(self.fail(expected)) } else { Ok(()) }
    }

    /// A key and its colon.
    pub(crate) fn key(&mut self, expected: &str) -> Result<Cow<'t, str>, Fault> {
        let key = self.string(expected)?;
        self.skip_blank();
        self.expect(b':', "`:` after the key")?;
        self.skip_blank();
        Ok(key)
    }

    /// A value, inside `depth` containers.
    pub(crate) fn value(&mut self, depth: usize) -> Result<Value, Fault> {
        const KEY: &str = "a key in double quotes";
        let mut open: Vec<Frame> = Vec::new();
        loop {
            self.skip_blank();
            let mut value = match self.peek() {
                Some(opener @ (b'{' | b'[')) => {
                    if depth + open.len() >= DEPTH {
                        let message = format!("found data nested deeper than {DEPTH} levels");
                        return Err(Fault::new(self.at, TraceErrorKind::Budget, message));
                    }
                    self.at += 1;
                    self.skip_blank();
                    match (opener, self.peek()) {
                        (b'{', Some(b'}')) => {
                            self.at += 1;
                            Value::Object(Vec::new())
                        }
                        (b'[', Some(b']')) => {
                            self.at += 1;
                            Value::List(Vec::new())
                        }
                        (b'{', _) => {
                            let key = self.key("a key in double quotes or `}`")?;
                            open.push(Frame::Object(Vec::new(), key.into(), Seen::default()));
                            continue;
                        }
                        _ => {
                            open.push(Frame::List(Vec::new()));
                            continue;
                        }
                    }
                }
                _ => self.scalar()?,
            };
            // The value is complete: into the innermost container, which may thereby be complete itself.
            loop {
                match open.pop() {
                    None => return Ok(value),
                    Some(Frame::List(mut items)) => {
                        items.push(value);
                        self.skip_blank();
                        match self.peek() {
                            Some(b',') => {
                                self.at += 1;
                                open.push(Frame::List(items));
                                break;
                            }
                            Some(b']') => value = Value::List(items),
                            _ => return Err(self.fail("`,` or `]`")),
                        }
                    }
                    Some(Frame::Object(mut fields, key, mut seen)) => {
                        fields.push((key, value));
                        self.skip_blank();
                        match self.peek() {
                            Some(b',') => {
                                self.at += 1;
                                self.skip_blank();
                                let key_at = self.at;
                                let key: Arc<str> = self.key(KEY)?.into();
                                if seen.has(&fields, &key) {
                                    self.repeated.push((key_at, key.clone()));
                                }
                                open.push(Frame::Object(fields, key, seen));
                                break;
                            }
                            Some(b'}') => value = Value::Object(fields),
                            _ => return Err(self.fail("`,` or `}`")),
                        }
                    }
                }
                self.at += 1;
            }
        }
    }

    fn scalar(&mut self) -> Result<Value, Fault> {
        match self.peek() {
            Some(b'"') => Ok(Value::Str(self.string("text")?.into())),
            Some(b'-' | b'0'..=b'9') => {
                let start = self.at;
                let value = number_value(self.number()?);
                if let Value::Str(text) = &value {
                    self.unfit.push((start, text.clone()));
                }
                Ok(value)
            }
            _ => {
                let rest = &self.text.as_bytes()[self.at..];
                for (word, value) in
                    [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)]
                {
                    if rest.starts_with(word.as_bytes()) {
                        self.at += word.len();
                        return Ok(value);
                    }
                }
                Err(self.fail("a JSON value (an object, a list, text in double quotes, a finite number, `true`, `false` or `null`)"))
            }
        }
    }
}
