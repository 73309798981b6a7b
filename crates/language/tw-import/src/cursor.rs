//! Text to tokens, and a place among them. What a word, a number or a comment is differs between formats ([`Lexis`]);
//! the rest is shared.

use tw_diag::{Diagnostic, Span};

/// What the tokens of a format are.
pub(crate) struct Lexis {
    /// Symbols; of two with the same beginning the longer one first.
    pub symbols: &'static [&'static str],
    /// How comments begin, and how they end (at the end of the line, if nothing is said).
    pub comments: &'static [(&'static str, Option<&'static str>)],
    /// Whether a word may begin with a character.
    pub begins: fn(char) -> bool,
    /// Whether a word may go on with a character.
    pub goes_on: fn(char) -> bool,
    /// Whether text stands in quotation marks.
    pub quotes: bool,
    /// Whether the end of a line is a token.
    pub lines: bool,
    /// Whether a minus sign right before a digit belongs to the number.
    pub signed: bool,
}

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tok {
    /// A name or a keyword.
    Word,
    /// A number, with its sign if the format says so.
    Number,
    /// Text, with its quotation marks.
    Text,
    /// One of the symbols.
    Symbol(&'static str),
    /// The end of a line.
    Line,
    /// The end of the text.
    End,
}

/// A token and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub kind: Tok,
    pub span: Span,
}

/// A letter or `_`: what words begin with in most formats.
pub(crate) fn letter(c: char) -> bool {
    c == '_' || c.is_ascii_alphabetic()
}

/// A letter, a digit or `_`.
pub(crate) fn letter_or_digit(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric()
}

/// A place in the tokens of a text.
pub(crate) struct Cursor<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    /// Where lines end: each definition asks for its line.
    ends: Vec<usize>,
}

impl<'a> Cursor<'a> {
    /// Lexes the whole text; the first character that belongs to no token is an error.
    pub fn new(text: &'a str, lexis: &Lexis) -> Result<Self, Diagnostic> {
        Self::of(0, text, lexis)
    }

    /// The same of another source than the first.
    pub fn of(source: u32, text: &'a str, lexis: &Lexis) -> Result<Self, Diagnostic> {
        let tokens = lex(source, text, 0, lexis)?;
        let ends = text.match_indices('\n').map(|(at, _)| at).collect();
        Ok(Self { text, tokens, at: 0, ends })
    }

    /// Lexes a part of the text, whose lines nobody asks for.
    pub fn within(text: &'a str, part: Span, lexis: &Lexis) -> Result<Self, Diagnostic> {
        let text = &text[..part.end as usize];
        let tokens = lex(part.source, text, part.start as usize, lexis)?;
        Ok(Self { text, tokens, at: 0, ends: Vec::new() })
    }

    /// Makes one name of names with this symbol between them: `IPv4::source`.
    pub fn join(&mut self, symbol: &'static str) {
        let mut joined: Vec<Token> = Vec::with_capacity(self.tokens.len());
        let mut at = 0;
        while let Some(&(mut token)) = self.tokens.get(at) {
            at += 1;
            while token.kind == Tok::Word
                && let [sign, next, ..] = self.tokens[at..]
                && (sign.kind, next.kind) == (Tok::Symbol(symbol), Tok::Word)
                && (sign.span.start, next.span.start) == (token.span.end, sign.span.end)
            {
                token.span.end = next.span.end;
                at += 2;
            }
            joined.push(token);
        }
        self.tokens = joined;
    }

    /// The kind of the token here.
    pub fn kind(&self) -> Tok {
        self.peek(0)
    }

    /// The kind of the token so many further on.
    pub fn peek(&self, ahead: usize) -> Tok {
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)].kind
    }

    /// The number of the token here.
    pub fn place(&self) -> usize {
        self.at
    }

    /// Goes to the token of a number.
    pub fn go(&mut self, place: usize) {
        self.at = place.min(self.tokens.len() - 1);
    }

    /// The token of a number: its kind and its place.
    pub fn token(&self, place: usize) -> (Tok, Span) {
        let token = &self.tokens[place.min(self.tokens.len() - 1)];
        (token.kind, token.span)
    }

    /// The place of the token here.
    pub fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// The text of a place.
    pub fn slice(&self, span: Span) -> &'a str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// The text of the token here.
    pub fn here(&self) -> &'a str {
        self.slice(self.span())
    }

    /// The line of a place, from 1.
    pub fn line(&self, span: Span) -> usize {
        1 + self.ends.partition_point(|&end| end < span.start as usize)
    }

    /// Goes on; the place of the token that was here.
    pub fn advance(&mut self) -> Span {
        let span = self.span();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        span
    }

    /// Whether this symbol is here.
    pub fn is(&self, symbol: &str) -> bool {
        self.kind() == Tok::Symbol(symbol_of(symbol, self.kind()))
    }

    /// Whether this word is here.
    pub fn is_word(&self, word: &str) -> bool {
        self.kind() == Tok::Word && self.here() == word
    }

    /// Goes on if this symbol is here.
    pub fn accept(&mut self, symbol: &str) -> Option<Span> {
        self.is(symbol).then(|| self.advance())
    }

    /// Goes on if this symbol is here; an error that says what was expected otherwise.
    pub fn expect(&mut self, symbol: &str) -> Result<Span, Diagnostic> {
        match self.accept(symbol) {
            Some(span) => Ok(span),
            None => Err(self.found(&format!("`{symbol}`"))),
        }
    }

    /// Goes on if a word is here.
    pub fn word(&mut self, expected: &str) -> Result<(&'a str, Span), Diagnostic> {
        if self.kind() != Tok::Word {
            return Err(self.found(expected));
        }
        let span = self.advance();
        Ok((self.slice(span), span))
    }

    /// The error "found this, expected that".
    pub fn found(&self, expected: &str) -> Diagnostic {
        let found = match self.kind() {
            Tok::End => "the end of the file".to_owned(),
            Tok::Line => "the end of the line".to_owned(),
            _ => format!("`{}`", self.here()),
        };
        Diagnostic::error("import-syntax", format!("found {found}, expected {expected}"))
            .at(self.span(), format!("expected {expected}"))
    }
}

/// The same text with the lifetime of the token's, so that the two can be compared.
fn symbol_of(symbol: &str, kind: Tok) -> &'static str {
    match kind {
        Tok::Symbol(own) if own == symbol => own,
        _ => "",
    }
}

/// A refusal: the source means something that cannot be said here, or not exactly.
pub(crate) fn refuse(span: Span, what: impl Into<String>, why: &str) -> Diagnostic {
    Diagnostic::error("import-unsupported", what).at(span, "not imported").help(why)
}

/// The tokens from a place on.
fn lex(source: u32, text: &str, from: usize, lexis: &Lexis) -> Result<Vec<Token>, Diagnostic> {
    let span = |start: usize, end: usize| Span { source, start: start as u32, end: end as u32 };
    // Spans are 32-bit.
    if text.len() > u32::MAX as usize / 2 {
        return Err(Diagnostic::error("too-long", "a specification is limited to 2 GB"));
    }
    let mut tokens = Vec::new();
    let mut at = match from {
        0 => text.len() - text.trim_start_matches('\u{feff}').len(),
        _ => from,
    };
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        if c == '\n' && lexis.lines {
            tokens.push(Token { kind: Tok::Line, span: span(at, at + 1) });
            at += 1;
            continue;
        }
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        if let Some((open, close)) = lexis.comments.iter().find(|(open, _)| rest.starts_with(open)) {
            at += match close {
                None => rest.find('\n').unwrap_or(rest.len()),
                Some(close) => match rest[open.len()..].find(close) {
                    Some(length) => open.len() + length + close.len(),
                    None => {
                        let found = Diagnostic::error("import-syntax", "this comment is never closed");
                        return Err(found.at(span(at, at + open.len()), format!("expected `{close}`")));
                    }
                },
            };
            continue;
        }
        let (kind, length) = token(rest, c, lexis).ok_or_else(|| {
            let message = format!("found `{}`, expected a name, a number or an operator", c.escape_debug());
            Diagnostic::error("import-syntax", message)
                .at(span(at, at + c.len_utf8()), "not part of the format")
        })?;
        if kind == Tok::Text && length == usize::MAX {
            let found = Diagnostic::error("import-syntax", "this text is never closed");
            return Err(found.at(span(at, at + 1), format!("expected another `{c}` on this line")));
        }
        tokens.push(Token { kind, span: span(at, at + length) });
        at += length;
    }
    tokens.push(Token { kind: Tok::End, span: span(at, at) });
    Ok(tokens)
}

/// The token at the start of `rest`, which begins with `c`, and its length.
fn token(rest: &str, c: char, lexis: &Lexis) -> Option<(Tok, usize)> {
    if (lexis.begins)(c) {
        return Some((Tok::Word, rest.find(|c| !(lexis.goes_on)(c)).unwrap_or(rest.len())));
    }
    let bytes = rest.as_bytes();
    let sign = usize::from(lexis.signed && c == '-');
    if let Some(length) = number(&bytes[sign..]) {
        return Some((Tok::Number, sign + length));
    }
    if lexis.quotes && (c == '"' || c == '\'') {
        let end = rest[1..].find([c, '\n']).filter(|end| rest[1 + end..].starts_with(c));
        return Some((Tok::Text, end.map_or(usize::MAX, |end| end + 2)));
    }
    let symbol = lexis.symbols.iter().find(|symbol| rest.starts_with(**symbol))?;
    Some((Tok::Symbol(symbol), symbol.len()))
}

/// Length of `12`, `1.5`, `.5`, `2.`, `2e-3`, `1_000` at the start.
fn number(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize| {
        from + bytes[from..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'_').count()
    };
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let begins = digit(0) || bytes.first() == Some(&b'.') && digit(1);
    if !begins {
        return None;
    }
    let mut end = digits(0);
    // `1..5` is a range in some formats.
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1) != Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
            end = digits(end + 1 + sign);
        }
    }
    Some(end)
}
