//! Reads JSON piece by piece: what is expected is asked for, so that no tree is built of the whole.

use std::borrow::Cow;
use tw_core::Value;

/// Where, and what was found and expected.
pub(super) type Wrong = (usize, String);

/// How deep values may be nested.
const MOST_DEPTH: usize = 128;

pub(super) struct Pull<'t> {
    text: &'t str,
    pub at: usize,
}

impl<'t> Pull<'t> {
    pub fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// The next byte that is no white space; 0 at the end.
    pub fn peek(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(self.at) {
            self.at += 1;
        }
        bytes.get(self.at).copied().unwrap_or(0)
    }

    /// What stands here is not what should.
    pub fn unexpected<T>(&mut self, expected: &str) -> Result<T, Wrong> {
        self.peek();
        let rest = &self.text[self.at..];
        let found = match rest.chars().next() {
            None => "the end of the file".to_owned(),
            Some(first) if first.is_alphanumeric() || matches!(first, '"' | '-') => {
                let length = rest
                    .char_indices()
                    .skip(1)
                    .take(30)
                    .find(|(_, c)| matches!(c, ',' | ']' | '}' | ':' | '\n' | ' '))
                    .or_else(|| rest.char_indices().nth(30))
                    .map_or(rest.len(), |(at, _)| at);
                format!("`{}`", &rest[..length])
            }
            Some(first) => format!("`{}`", first.escape_debug()),
        };
        Err((self.at, format!("found {found}, expected {expected}")))
    }

    pub fn sign(&mut self, sign: u8) -> Result<(), Wrong> {
        if self.peek() != sign {
            return self.unexpected(&format!("`{}`", char::from(sign)));
        }
        self.at += 1;
        Ok(())
    }

    /// After the last value.
    pub fn end(&mut self) -> Result<(), Wrong> {
        if self.peek() == 0 && self.at == self.text.len() {
            Ok(())
        } else {
            self.unexpected("the end of the file")
        }
    }

    /// In a list or an object: whether another item comes. `first` becomes false.
    pub fn more(&mut self, first: &mut bool, close: u8) -> Result<bool, Wrong> {
        let next = self.peek();
        if next == close {
            self.at += 1;
            return Ok(false);
        }
        if !std::mem::take(first) {
            if next != b',' {
                return self.unexpected(&format!("`,` or `{}`", char::from(close)));
            }
            self.at += 1;
            self.peek();
        }
        Ok(true)
    }

    /// A key and its colon.
    pub fn key(&mut self) -> Result<Cow<'t, str>, Wrong> {
        if self.peek() != b'"' {
            return self.unexpected("a key in double quotes");
        }
        let key = self.string()?;
        self.sign(b':')?;
        self.peek();
        Ok(key)
    }

    /// Text in double quotes.
    pub fn string(&mut self) -> Result<Cow<'t, str>, Wrong> {
        if self.peek() != b'"' {
            return self.unexpected("text in double quotes");
        }
        let start = self.at + 1;
        let bytes = self.text.as_bytes();
        let mut at = start;
        loop {
            match bytes.get(at) {
                Some(b'"') => {
                    self.at = at + 1;
                    return Ok(Cow::Borrowed(&self.text[start..at]));
                }
                Some(b'\\') => break,
                Some(0..=31) | None => {
                    self.at = at;
                    return self.unexpected("`\"` at the end of the text");
                }
                Some(_) => at += 1,
            }
        }
        let mut decoded = String::from(&self.text[start..at]);
        self.at = at;
        loop {
            match bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(decoded));
                }
                Some(b'\\') => self.escape(&mut decoded)?,
                Some(0..=31) | None => return self.unexpected("`\"` at the end of the text"),
                Some(_) => {
                    let rest = &bytes[self.at..];
                    let plain = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=31));
                    let end = self.at + plain.unwrap_or(rest.len());
                    decoded.push_str(&self.text[self.at..end]);
                    self.at = end;
                }
            }
        }
    }

    fn escape(&mut self, decoded: &mut String) -> Result<(), Wrong> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let decode = match bytes.get(start + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let unit = |at: usize| {
                    let digits =
                        bytes.get(at..at + 4).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
                    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
                };
                let wrong = || {
                    (start, "found a bad escape, expected `\\u` and four digits of a character".to_owned())
                };
                let high = unit(start + 2).ok_or_else(wrong)?;
                self.at = start + 6;
                let code = if (0xd800..0xdc00).contains(&high)
                    && bytes.get(self.at..self.at + 2) == Some(b"\\u")
                {
                    let low =
                        unit(self.at + 2).filter(|low| (0xdc00..0xe000).contains(low)).ok_or_else(wrong)?;
                    self.at += 6;
                    0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)
                } else {
                    high
                };
                decoded.push(char::from_u32(code).ok_or_else(wrong)?);
                return Ok(());
            }
            _ => return Err((start, "found a bad escape, expected one of JSON".to_owned())),
        };
        decoded.push(decode);
        self.at += 2;
        Ok(())
    }

    /// The characters of a number.
    fn number_text(&mut self) -> Result<&'t str, Wrong> {
        self.peek();
        let bytes = self.text.as_bytes();
        let start = self.at;
        let digits = |mut at: usize| {
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            at
        };
        let whole = start + usize::from(bytes.get(start) == Some(&b'-'));
        let mut at = digits(whole);
        let mut wrong = at == whole || bytes[whole] == b'0' && at > whole + 1;
        if bytes.get(at) == Some(&b'.') {
            let after = digits(at + 1);
            wrong |= after == at + 1;
            at = after;
        }
        if let Some(b'e' | b'E') = bytes.get(at) {
            let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            let after = digits(at + 1 + sign);
            wrong |= after == at + 1 + sign;
            at = after;
        }
        if wrong {
            return self.unexpected("a number");
        }
        self.at = at;
        Ok(&self.text[start..at])
    }

    /// A whole number that is not negative and below or at a bound.
    pub fn count(&mut self, most: u64, what: &str) -> Result<u64, Wrong> {
        self.peek();
        let start = self.at;
        let text =
            if self.peek().is_ascii_digit() { self.number_text()? } else { return self.unexpected(what) };
        let number = text.parse::<u64>().ok().filter(|&number| number <= most);
        number.ok_or_else(|| (start, format!("found `{text}`, expected {what}")))
    }

    /// A whole number.
    pub fn int(&mut self) -> Result<i64, Wrong> {
        self.peek();
        let start = self.at;
        let text = self.number_text()?;
        text.parse().map_err(|_| (start, format!("found `{text}`, expected a whole number of 64 bits")))
    }

    /// `true` or `false`.
    pub fn boolean(&mut self) -> Result<bool, Wrong> {
        self.peek();
        for (word, truth) in [("true", true), ("false", false)] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(truth);
            }
        }
        self.unexpected("`true` or `false`")
    }

    /// Any value. Numbers with a point or an exponent are real, others are whole.
    pub fn value(&mut self) -> Result<Value, Wrong> {
        self.nested(0)
    }

    /// Values hold their parts, and so does this; the depth is bounded.
    fn nested(&mut self, depth: usize) -> Result<Value, Wrong> {
        if depth > MOST_DEPTH {
            return self.unexpected("a value that is nested less deeply");
        }
        match self.peek() {
            b'"' => Ok(Value::text(&self.string()?)),
            b't' | b'f' => Ok(Value::Bool(self.boolean()?)),
            b'n' if self.text[self.at..].starts_with("null") => {
                self.at += 4;
                Ok(Value::Null)
            }
            b'-' | b'0'..=b'9' => {
                let start = self.at;
                let text = self.number_text()?;
                if text.contains(['.', 'e', 'E']) {
                    let real = text.parse::<f64>().ok().filter(|real| real.is_finite());
                    return real
                        .map(Value::Real)
                        .ok_or_else(|| (start, format!("found `{text}`, expected a finite number")));
                }
                self.at = start;
                Ok(Value::Int(self.int()?))
            }
            b'[' => {
                self.at += 1;
                let (mut items, mut first) = (Vec::new(), true);
                while self.more(&mut first, b']')? {
                    items.push(self.nested(depth + 1)?);
                }
                Ok(Value::List(items))
            }
            b'{' => {
                self.at += 1;
                let (mut fields, mut first) = (Vec::new(), true);
                while self.more(&mut first, b'}')? {
                    let key = self.key()?;
                    fields.push((key.as_ref().into(), self.nested(depth + 1)?));
                }
                Ok(Value::Object(fields))
            }
            _ => self.unexpected("a value"),
        }
    }
}
