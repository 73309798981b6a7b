//! Text to tokens. Comments go to a list of their own; whatever is not a token is reported here, once per
//! run of bad characters, and stands in the list as [`Tok::Unknown`] (or as what was meant, if that is plain).
//!
//! Behind the `ere :` and `fsm :` of a monitor, up to the `;`, every word is a name and every sign stands for itself: `a++` is
//! a plus twice, `s []` a state without moves.

use crate::ast::{Infix, Prefix};
use tw_diag::{Diagnostic, Span};
use tw_ir::{CompareOp, Temporal};

/// Kind of a token. Word forms, symbols and letters of one operator are the same kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tok {
    Word,
    Quoted,
    Number,
    Text,
    True,
    False,
    Null,
    First,
    Last,
    Not,
    Prefix(Prefix),
    Infix(Infix),
    Compare(CompareOp),
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Colon,
    Default,
    Comma,
    Semicolon,
    Dot,
    DotDot,
    OpenParen,
    CloseParen,
    OpenBracket,
    CloseBracket,
    OpenBrace,
    CloseBrace,
    Forall,
    Exists,
    If,
    Then,
    Else,
    In,
    Matches,
    While,
    Event,
    /// `~` and `?`, in formalisms alone.
    Tilde,
    Question,
    /// Already reported.
    Unknown,
    End,
}

/// A token and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub kind: Tok,
    pub start: u32,
    pub end: u32,
}

/// A comment and the token before which it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LexedComment {
    pub before: usize,
    pub start: u32,
    pub end: u32,
}

/// What lexing yields.
pub(crate) struct Lexed {
    /// Ends with [`Tok::End`].
    pub tokens: Vec<Token>,
    pub comments: Vec<LexedComment>,
    pub diagnostics: Vec<Diagnostic>,
}

/// The kind of a word: an operator or keyword, or a plain name.
pub(crate) fn word_kind(word: &str) -> Tok {
    match word {
        "not" => Tok::Not,
        "and" => Tok::Infix(Infix::And),
        "or" => Tok::Infix(Infix::Or),
        "xor" => Tok::Infix(Infix::Xor),
        "implies" => Tok::Infix(Infix::Implies),
        "iff" => Tok::Infix(Infix::Iff),
        "forall" => Tok::Forall,
        "exists" => Tok::Exists,
        "true" => Tok::True,
        "false" => Tok::False,
        "null" => Tok::Null,
        "first" => Tok::First,
        "last" => Tok::Last,
        "if" => Tok::If,
        "then" => Tok::Then,
        "else" => Tok::Else,
        "in" => Tok::In,
        "matches" => Tok::Matches,
        "while" => Tok::While,
        "event" => Tok::Event,
        _ => match Temporal::spelled(word) {
            Some(operator) if operator.row().prefix => Tok::Prefix(operator.into()),
            Some(operator) => Tok::Infix(operator.into()),
            None => Tok::Word,
        },
    }
}

/// Whether `name` needs no backquotes as far as its characters go.
pub(crate) fn is_word(name: &str) -> bool {
    name.starts_with(is_word_start) && name.chars().all(is_word_char)
}

/// Whether `name` is a plain name: it needs no backquotes, and it is no operator or keyword.
pub fn is_plain_name(name: &str) -> bool {
    is_word(name) && word_kind(name) == Tok::Word
}

fn is_word_start(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

fn is_word_char(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// The symbol at the start of `bytes`: its kind and length. The longest one counts.
fn symbol(bytes: &[u8]) -> Option<(Tok, usize)> {
    let kind = match bytes.get(..3) {
        Some(b"<->") => return Some((Tok::Infix(Infix::Iff), 3)),
        _ => bytes.get(..2).and_then(|two| {
            Some(match two {
                b"->" | b"=>" => Tok::Infix(Infix::Implies),
                b"&&" | b"/\\" => Tok::Infix(Infix::And),
                b"||" | b"\\/" => Tok::Infix(Infix::Or),
                b"++" => Tok::Infix(Infix::Xor),
                b"[]" => Tok::Prefix(Prefix::Temporal(Temporal::Globally)),
                b"<>" => Tok::Prefix(Prefix::Temporal(Temporal::Finally)),
                b"==" => Tok::Compare(CompareOp::Eq),
                b"!=" => Tok::Compare(CompareOp::Ne),
                b"<=" => Tok::Compare(CompareOp::Le),
                b">=" => Tok::Compare(CompareOp::Ge),
                b"??" => Tok::Default,
                b".." => Tok::DotDot,
                _ => return None,
            })
        }),
    };
    if let Some(kind) = kind {
        return Some((kind, 2));
    }
    let kind = match bytes.first()? {
        b'&' => Tok::Infix(Infix::And),
        b'|' => Tok::Infix(Infix::Or),
        b'^' => Tok::Infix(Infix::Xor),
        b'=' => Tok::Compare(CompareOp::Eq),
        b'<' => Tok::Compare(CompareOp::Lt),
        b'>' => Tok::Compare(CompareOp::Gt),
        b'!' => Tok::Not,
        b'+' => Tok::Plus,
        b'-' => Tok::Minus,
        b'*' => Tok::Star,
        b'/' => Tok::Slash,
        b'%' => Tok::Percent,
        b':' => Tok::Colon,
        b',' => Tok::Comma,
        b';' => Tok::Semicolon,
        b'.' => Tok::Dot,
        b'(' => Tok::OpenParen,
        b')' => Tok::CloseParen,
        b'[' => Tok::OpenBracket,
        b']' => Tok::CloseBracket,
        b'{' => Tok::OpenBrace,
        b'}' => Tok::CloseBrace,
        _ => return None,
    };
    Some((kind, 1))
}

/// The sign at the start of `bytes` where a formalism is written.
fn formalism_symbol(bytes: &[u8]) -> Option<(Tok, usize)> {
    match bytes.first()? {
        b'-' | b'=' if bytes.get(1) == Some(&b'>') => Some((Tok::Infix(Infix::Implies), 2)),
        b'~' => Some((Tok::Tilde, 1)),
        b'?' => Some((Tok::Question, 1)),
        byte => symbol(&[*byte]),
    }
}

/// Characters people paste from papers and word processors, what they mean, and the token to go on with.
const MEANT: [(char, &str, Tok); 27] = [
    ('¬', "!", Tok::Not),
    ('~', "!", Tok::Not),
    ('∧', "&", Tok::Infix(Infix::And)),
    ('∨', "|", Tok::Infix(Infix::Or)),
    ('⊕', "^", Tok::Infix(Infix::Xor)),
    ('→', "->", Tok::Infix(Infix::Implies)),
    ('⇒', "->", Tok::Infix(Infix::Implies)),
    ('↔', "<->", Tok::Infix(Infix::Iff)),
    ('⇔', "<->", Tok::Infix(Infix::Iff)),
    ('□', "G", Tok::Prefix(Prefix::Temporal(Temporal::Globally))),
    ('◇', "F", Tok::Prefix(Prefix::Temporal(Temporal::Finally))),
    ('◊', "F", Tok::Prefix(Prefix::Temporal(Temporal::Finally))),
    ('○', "X", Tok::Prefix(Prefix::Temporal(Temporal::Next))),
    ('◯', "X", Tok::Prefix(Prefix::Temporal(Temporal::Next))),
    ('∀', "forall", Tok::Forall),
    ('∃', "exists", Tok::Exists),
    ('∈', "in", Tok::In),
    ('≤', "<=", Tok::Compare(CompareOp::Le)),
    ('≥', ">=", Tok::Compare(CompareOp::Ge)),
    ('≠', "!=", Tok::Compare(CompareOp::Ne)),
    ('×', "*", Tok::Star),
    ('·', "*", Tok::Star),
    ('÷', "/", Tok::Slash),
    ('−', "-", Tok::Minus),
    ('–', "-", Tok::Minus),
    ('∞', "inf", Tok::Unknown),
    ('#', "//", Tok::Unknown),
];

/// Splits `text` into tokens.
pub(crate) fn lex(text: &str, source: u32) -> Lexed {
    lex_with(text, source, false)
}

/// The same; with `hash`, comments may begin with `#` too.
pub(crate) fn lex_with(text: &str, source: u32, hash: bool) -> Lexed {
    let mut lexer = Lexer {
        text,
        source,
        at: 0,
        formalism: false,
        hash,
        out: Lexed {
            tokens: Vec::with_capacity(text.len() / 3 + 1),
            comments: Vec::new(),
            diagnostics: Vec::new(),
        },
    };
    if text.len() > u32::MAX as usize {
        lexer.out.diagnostics.push(Diagnostic::error("too-long", "a specification is limited to 4 GB"));
    } else {
        lexer.at = text.len() - text.trim_start_matches('\u{feff}').len();
        lexer.run();
    }
    let end = lexer.at as u32;
    lexer.out.tokens.push(Token { kind: Tok::End, start: end, end });
    lexer.out
}

/// What a stretch of text is, for editors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordKind {
    /// A name, or a word that is a keyword only where it stands: `let`, `count`.
    Name,
    /// A name in backquotes.
    Quoted,
    /// A number.
    Number,
    /// A text in quotes.
    Text,
    /// An operator, whatever it is written with.
    Operator,
    /// A reserved word that is no operator.
    Keyword,
    /// A bracket, `;`, `:` and the like.
    Sign,
    /// A comment.
    Comment,
    /// What is not part of the language.
    Unknown,
}

/// A word, sign or comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// What it is.
    pub kind: WordKind,
    /// Its place.
    pub span: Span,
    /// Whether an operand may end with it, so that an operator follows.
    pub ends_operand: bool,
}

/// The words, signs and comments of a text, in their order; `charts` where comments may begin with `#` too.
pub fn words(text: &str, charts: bool) -> Vec<Word> {
    let lexed = lex_with(text, 0, charts);
    let span = |start, end| Span { source: 0, start, end };
    let word = |token: &Token| {
        let kind = match token.kind {
            Tok::Word => WordKind::Name,
            Tok::Quoted => WordKind::Quoted,
            Tok::Number => WordKind::Number,
            Tok::Text => WordKind::Text,
            Tok::Unknown => WordKind::Unknown,
            Tok::Not | Tok::Prefix(_) | Tok::Infix(_) | Tok::Compare(_) | Tok::Default => WordKind::Operator,
            Tok::Plus | Tok::Minus | Tok::Star | Tok::Slash | Tok::Percent => WordKind::Operator,
            Tok::True | Tok::False | Tok::Null | Tok::First | Tok::Last | Tok::Forall | Tok::Exists => {
                WordKind::Keyword
            }
            Tok::If | Tok::Then | Tok::Else | Tok::In | Tok::Matches | Tok::While | Tok::Event => {
                WordKind::Keyword
            }
            _ => WordKind::Sign,
        };
        let ends_operand =
            matches!(
                token.kind,
                Tok::Word | Tok::Quoted | Tok::Number | Tok::Text | Tok::True | Tok::False | Tok::Null
            ) || matches!(token.kind, Tok::First | Tok::Last | Tok::CloseParen | Tok::CloseBracket);
        Word { kind, span: span(token.start, token.end), ends_operand }
    };
    let mut all: Vec<Word> = lexed.tokens.iter().filter(|token| token.kind != Tok::End).map(word).collect();
    all.extend(lexed.comments.iter().map(|comment| Word {
        kind: WordKind::Comment,
        span: span(comment.start, comment.end),
        ends_operand: false,
    }));
    all.sort_by_key(|word| word.span.start);
    all
}

struct Lexer<'a> {
    text: &'a str,
    source: u32,
    at: usize,
    /// Whether a formalism is being read.
    formalism: bool,
    /// Whether `#` begins a comment.
    hash: bool,
    out: Lexed,
}

impl Lexer<'_> {
    fn run(&mut self) {
        while let Some(c) = self.text[self.at..].chars().next() {
            let start = self.at;
            let rest = &self.text[start..];
            if c.is_whitespace() {
                self.at += c.len_utf8();
            } else if is_word_start(c) {
                let length = rest.find(|c| !is_word_char(c)).unwrap_or(rest.len());
                let kind = if self.formalism { Tok::Word } else { word_kind(&rest[..length]) };
                self.push(kind, length);
            } else if c.is_ascii_digit() {
                self.push(Tok::Number, number_length(rest.as_bytes()));
            } else if rest.starts_with("//") || self.hash && c == '#' {
                let length = rest.find('\n').unwrap_or(rest.len());
                self.comment(length);
            } else if rest.starts_with("/*") {
                self.block_comment(rest);
            } else if c == '"' || c == '`' || c == '\'' {
                self.delimited(c, rest);
            } else if self.formalism && formalism_symbol(rest.as_bytes()).is_some() {
                let (kind, length) = formalism_symbol(rest.as_bytes()).unwrap_or((Tok::Unknown, 1));
                self.push(kind, length);
                self.formalism = !matches!(kind, Tok::Semicolon | Tok::CloseBrace);
            } else if rest.starts_with("=<") && !rest.starts_with("=<>") {
                self.report("unknown-operator", 2, "`=<` is not an operator", "write `<=` for \"at most\"");
                self.push(Tok::Compare(CompareOp::Le), 2);
            } else if let Some((kind, length)) = symbol(rest.as_bytes()) {
                self.push(kind, length);
                self.formalism = kind == Tok::Colon && self.begins_formalism();
            } else {
                self.unknown(c, rest);
            }
        }
    }

    fn push(&mut self, kind: Tok, length: usize) {
        let start = self.at as u32;
        self.at += length;
        self.out.tokens.push(Token { kind, start, end: self.at as u32 });
    }

    /// Whether the `:` just read stands behind `ere` or `fsm` at the beginning of a line of a block. No formula has a `:`
    /// there: before its first operand would be `;`, and behind `{` only names of parameters and values stand.
    fn begins_formalism(&self) -> bool {
        let [.., before, word, _] = self.out.tokens.as_slice() else { return false };
        matches!(before.kind, Tok::Semicolon | Tok::OpenBrace)
            && matches!(&self.text[word.start as usize..word.end as usize], "ere" | "fsm")
    }

    fn comment(&mut self, length: usize) {
        let start = self.at as u32;
        self.at += length;
        self.out.comments.push(LexedComment { before: self.out.tokens.len(), start, end: self.at as u32 });
    }

    fn block_comment(&mut self, rest: &str) {
        match rest[2..].find("*/") {
            Some(at) => self.comment(at + 4),
            None => {
                self.report(
                    "unclosed-comment",
                    2,
                    "this comment is never closed",
                    "write `*/` where it ends",
                );
                self.at = self.text.len();
            }
        }
    }

    /// Text in double quotes, a name in backquotes, or text wrongly in single quotes; each ends on its line.
    fn delimited(&mut self, quote: char, rest: &str) {
        let bytes = rest.as_bytes();
        let mut i = 1;
        while i < bytes.len() && bytes[i] != b'\n' {
            match bytes[i] {
                b'\\' if quote != '`' && i + 1 < bytes.len() && bytes[i + 1] != b'\n' => i += 2,
                b'`' if quote == '`' && bytes.get(i + 1) == Some(&b'`') => i += 2,
                byte if byte == quote as u8 => {
                    let kind = if quote == '`' { Tok::Quoted } else { Tok::Text };
                    if quote == '\'' {
                        let help = format!("write \"{}\"", &rest[1..i]);
                        self.report("single-quotes", i + 1, "text is written in double quotes", &help);
                    } else if quote == '`' && i == 1 {
                        self.report(
                            "empty-name",
                            2,
                            "this name is empty",
                            "write a name between the backquotes",
                        );
                    }
                    return self.push(kind, i + 1);
                }
                _ => i += 1,
            }
        }
        // Up to the end of the line, without its line break: the rest of the file is still worth reading.
        let line = rest[..i.min(rest.len())].trim_end();
        let (what, help) = match quote {
            '`' => ("name in backquotes", "close it with a backquote on the same line".to_owned()),
            _ => (
                "text",
                "close it with `\"` on the same line; a line break inside is written `\\n`".to_owned(),
            ),
        };
        self.report("unclosed-text", line.len(), &format!("this {what} is never closed"), &help);
        self.push(Tok::Unknown, line.len());
    }

    fn unknown(&mut self, c: char, rest: &str) {
        // `=~` of other languages; the `=` before it is a token already.
        if c == '~' && self.text[..self.at].ends_with('=') {
            let help = "a text is searched with a regular expression: `name matches \"part\"`";
            self.report("unknown-operator", 1, "`=~` is written `matches`", help);
            self.out.tokens.pop();
            self.push(Tok::Matches, 1);
            return;
        }
        if let Some((_, meant, kind)) = MEANT.iter().find(|(other, ..)| *other == c) {
            let help = match c {
                '#' => "comments begin with `//`".to_owned(),
                _ => format!("write `{meant}`"),
            };
            self.report(
                "unknown-character",
                c.len_utf8(),
                &format!("`{c}` is not part of the language"),
                &help,
            );
            if c == '#' {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else {
                self.push(*kind, c.len_utf8());
            }
            return;
        }
        let known = |c: char| {
            c.is_whitespace() || is_word_char(c) || c.is_ascii_punctuation() && !"$@?\\".contains(c)
        };
        let length = rest.char_indices().skip(1).find(|(_, c)| known(*c)).map_or(rest.len(), |(at, _)| at);
        let shown: String = rest[..length].chars().take(12).flat_map(char::escape_debug).collect();
        let help = match c {
            '?' => "for a default value write `??`".to_owned(),
            '“' | '”' | '„' | '‘' | '’' => "text is written in straight double quotes".to_owned(),
            _ => "names with odd characters are written in backquotes".to_owned(),
        };
        self.report("unknown-character", length, &format!("`{shown}` is not part of the language"), &help);
        self.push(Tok::Unknown, length);
    }

    fn report(&mut self, code: &'static str, length: usize, message: &str, help: &str) {
        if self.out.diagnostics.len() < crate::parser::MAX_ERRORS {
            let span = Span { source: self.source, start: self.at as u32, end: (self.at + length) as u32 };
            self.out.diagnostics.push(Diagnostic::error(code, message).at(span, "").help(help));
        }
    }
}

/// Length of `12`, `1.5`, `2e-3`. A point counts only before a digit, so that `1..5` is a range.
fn number_length(bytes: &[u8]) -> usize {
    let digits = |mut i: usize| {
        while bytes.get(i).is_some_and(u8::is_ascii_digit) {
            i += 1;
        }
        i
    };
    let mut i = digits(0);
    if bytes.get(i) == Some(&b'.') && bytes.get(i + 1).is_some_and(u8::is_ascii_digit) {
        i = digits(i + 1);
    }
    if matches!(bytes.get(i), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(i + 1), Some(b'+' | b'-')));
        if bytes.get(i + 1 + sign).is_some_and(u8::is_ascii_digit) {
            i = digits(i + 1 + sign);
        }
    }
    i
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printers put names in backquotes that the lexer would take for something else: both know the same words.
    #[test]
    fn keywords_are_no_names() {
        let mut words: Vec<&str> = include_str!("lexer.rs").split('"').filter(|word| is_word(word)).collect();
        words.extend(Temporal::all().flat_map(|operator| [operator.row().letter, operator.row().word]));
        words.retain(|word| !word.is_empty());
        assert!(words.len() > 45);
        for word in words {
            assert_eq!(word_kind(word) != Tok::Word, tw_ir::is_keyword(word), "{word}");
        }
    }
}
