//! The tokens of a file that is Java or C in most places: words, texts, and any other character by itself.

use tw_diag::{Diagnostic, Span};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    /// Text in quotation marks, with them; also one character.
    Text,
    /// `/** … */`.
    Doc,
    Char(char),
    End,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub span: Span,
}

pub(super) struct Tokens<'a> {
    pub text: &'a str,
    pub all: Vec<Token>,
    ends: Vec<usize>,
}

fn span(start: usize, end: usize) -> Span {
    Span { source: 0, start: start as u32, end: end as u32 }
}

fn begins(c: char) -> bool {
    c == '_' || c == '$' || c.is_alphabetic()
}

impl<'a> Tokens<'a> {
    pub fn of(text: &'a str) -> Result<Self, Diagnostic> {
        if text.len() > u32::MAX as usize / 2 {
            return Err(Diagnostic::error("too-long", "a specification is limited to 2 GB"));
        }
        let unclosed = |at: usize, length: usize, what: &str, close: &str| {
            let found = Diagnostic::error("import-syntax", format!("this {what} is never closed"));
            Err(found.at(span(at, at + length), format!("expected `{close}`")))
        };
        let mut all = Vec::new();
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let rest = &text[at..];
            let line = || rest.find('\n').unwrap_or(rest.len());
            if c.is_whitespace() || c == '\u{feff}' {
                at += c.len_utf8();
            } else if rest.starts_with("//") {
                at += line();
            } else if c == '#'
                && text[..at].rsplit('\n').next().is_some_and(|before| before.trim().is_empty())
            {
                // `#include` and the like.
                at += line();
            } else if let Some(inside) = rest.strip_prefix("/*") {
                let Some(length) = inside.find("*/") else { return unclosed(at, 2, "comment", "*/") };
                let end = at + length + 4;
                if rest.starts_with("/**") && length > 1 {
                    all.push(Token { kind: Kind::Doc, span: span(at, end) });
                }
                at = end;
            } else if rest.starts_with("%{") {
                let Some(length) = rest.find("%}") else {
                    return unclosed(at, 2, "part of the program", "%}");
                };
                at += length + 2;
            } else if begins(c) {
                let length = rest.find(|c| !(begins(c) || c.is_ascii_digit())).unwrap_or(rest.len());
                all.push(Token { kind: Kind::Word, span: span(at, at + length) });
                at += length;
            } else if c == '"' || c == '\'' {
                match quoted(rest, c) {
                    Some(length) => {
                        all.push(Token { kind: Kind::Text, span: span(at, at + length) });
                        at += length;
                    }
                    None if c == '"' => return unclosed(at, 1, "text", "\""),
                    None => {
                        all.push(Token { kind: Kind::Char(c), span: span(at, at + 1) });
                        at += 1;
                    }
                }
            } else {
                all.push(Token { kind: Kind::Char(c), span: span(at, at + c.len_utf8()) });
                at += c.len_utf8();
            }
        }
        all.push(Token { kind: Kind::End, span: span(at, at) });
        let ends = text.match_indices('\n').map(|(at, _)| at).collect();
        Ok(Self { text, all, ends })
    }

    pub fn slice(&self, span: Span) -> &'a str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// The line of a place, from 1.
    pub fn line(&self, span: Span) -> usize {
        1 + self.ends.partition_point(|&end| end < span.start as usize)
    }

    /// The tokens of a place, without comments.
    pub fn within(&self, place: Span) -> &[Token] {
        let from = self.all.partition_point(|token| token.span.start < place.start);
        let to = self.all.partition_point(|token| token.span.end <= place.end);
        self.all.get(from..to).unwrap_or_default()
    }
}

/// Length of a text at the start, whose marks are `mark`; a backslash takes the next character with it.
fn quoted(rest: &str, mark: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '\n' => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == mark => return Some(at + 1),
            _ => {}
        }
    }
    None
}
