//! Text to tokens, one at a time.

use super::syntax::Error;
use super::words::changed_name;
use tw_core::Value;

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tok {
    /// A name or word.
    Name,
    /// Digits.
    Number,
    /// A sign: `:=`, `->`.
    Sign(&'static str),
    /// The end of the text.
    End,
}

/// A token and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub kind: Tok,
    pub start: u32,
    pub end: u32,
}

/// Signs, longer ones first.
const SIGNS: [&str; 28] = [
    "<->", "->", ":=", "..", "!=", "<=", ">=", "<", ">", "=", "!", "&", "|", "+", "-", "*", "/", "(", ")",
    "[", "]", "{", "}", ":", ";", ",", "?", ".",
];

/// Reads tokens.
pub(super) struct Lexer<'t> {
    pub text: &'t str,
    pub at: usize,
    /// Names that were changed, and what they stand for, as comments say.
    pub changed: Vec<(&'t str, Value)>,
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'#')
}

impl<'t> Lexer<'t> {
    /// At the beginning of the text.
    pub fn new(text: &'t str) -> Self {
        Self { text, at: 0, changed: Vec::new() }
    }

    /// The place after white space and comments.
    fn skip(&mut self) {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(b'-') if bytes.get(self.at + 1) == Some(&b'-') => {
                    let end = bytes[self.at..].iter().position(|&byte| byte == b'\n');
                    let end = end.map_or(bytes.len(), |length| self.at + length);
                    self.changed.extend(changed_name(&self.text[self.at..end]));
                    self.at = end;
                }
                _ => return,
            }
        }
    }

    /// The next token.
    pub fn next(&mut self) -> Result<Token, Error> {
        self.skip();
        let bytes = self.text.as_bytes();
        let start = self.at;
        let token = |kind, end: usize| Token { kind, start: start as u32, end: end as u32 };
        let Some(&first) = bytes.get(start) else { return Ok(token(Tok::End, start)) };
        if first.is_ascii_alphabetic() || first == b'_' {
            let mut end = start + 1;
            // A hyphen belongs to a name when the name goes on after it; `a->b` is an implication.
            while bytes.get(end).is_some_and(|&byte| {
                is_name_byte(byte)
                    || byte == b'-' && bytes.get(end + 1).is_some_and(|&byte| is_name_byte(byte))
            }) {
                end += 1;
            }
            self.at = end;
            return Ok(token(Tok::Name, end));
        }
        if first.is_ascii_digit() {
            let digits = bytes[start..].iter().position(|byte| !byte.is_ascii_digit());
            self.at = digits.map_or(bytes.len(), |length| start + length);
            return Ok(token(Tok::Number, self.at));
        }
        let rest = &bytes[start..];
        if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(sign.as_bytes())) {
            self.at += sign.len();
            return Ok(token(Tok::Sign(sign), self.at));
        }
        let found = self.text[start..].chars().next().unwrap_or(' ');
        Err(Error::new(
            start as u32,
            format!("found `{}`, expected a name, a number or an operator", found.escape_debug()),
        ))
    }
}
