//! Text to tokens. The symbols of the printed notation (`¬ ∧ ∨ ⇐ ⇒ ∥ ≤ …`) are the same tokens as the typed ones.

use crate::parser::MAX_ERRORS;
use tw_diag::{Diagnostic, Span};

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tok {
    /// A name.
    Word,
    /// A word of the language, in lower case.
    Key(&'static str),
    Number,
    Assign,
    Receive,
    Parallel,
    DoubleColon,
    Colon,
    Semicolon,
    Comma,
    DotDot,
    OpenParen,
    CloseParen,
    OpenBracket,
    CloseBracket,
    Not,
    And,
    Or,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Eq,
    Ne,
    Lt,
    /// Also the sending arrow.
    Le,
    Gt,
    Ge,
    /// Already reported.
    Unknown,
    End,
}

/// A token and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub kind: Tok,
    pub span: Span,
}

/// Words that are no names, and the token each is.
const WORDS: [(&str, Tok); 34] = [
    ("program", Tok::Key("program")),
    ("local", Tok::Key("local")),
    ("in", Tok::Key("in")),
    ("out", Tok::Key("out")),
    ("integer", Tok::Key("integer")),
    ("int", Tok::Key("integer")),
    ("boolean", Tok::Key("boolean")),
    ("bool", Tok::Key("boolean")),
    ("channel", Tok::Key("channel")),
    ("reliable", Tok::Key("reliable")),
    ("array", Tok::Key("array")),
    ("of", Tok::Key("of")),
    ("where", Tok::Key("where")),
    ("loop", Tok::Key("loop")),
    ("forever", Tok::Key("forever")),
    ("do", Tok::Key("do")),
    ("if", Tok::Key("if")),
    ("then", Tok::Key("then")),
    ("else", Tok::Key("else")),
    ("while", Tok::Key("while")),
    ("await", Tok::Key("await")),
    ("when", Tok::Key("when")),
    ("skip", Tok::Key("skip")),
    ("noncritical", Tok::Key("noncritical")),
    ("critical", Tok::Key("critical")),
    ("request", Tok::Key("request")),
    ("release", Tok::Key("release")),
    ("after", Tok::Key("after")),
    ("or", Tok::Key("or")),
    ("and", Tok::And),
    ("not", Tok::Not),
    ("div", Tok::Slash),
    ("mod", Tok::Percent),
    ("true", Tok::Key("true")),
];

/// Symbols, longer ones first.
const SYMBOLS: [(&str, Tok); 44] = [
    (":=", Tok::Assign),
    ("::", Tok::DoubleColon),
    ("||", Tok::Parallel),
    ("∥", Tok::Parallel),
    ("=>", Tok::Receive),
    ("⇒", Tok::Receive),
    ("<=", Tok::Le),
    ("⇐", Tok::Le),
    ("≤", Tok::Le),
    (">=", Tok::Ge),
    ("≥", Tok::Ge),
    ("!=", Tok::Ne),
    ("<>", Tok::Ne),
    ("≠", Tok::Ne),
    ("==", Tok::Eq),
    ("..", Tok::DotDot),
    ("&&", Tok::And),
    ("/\\", Tok::And),
    ("∧", Tok::And),
    ("\\/", Tok::Or),
    ("∨", Tok::Or),
    ("&", Tok::And),
    ("|", Tok::Or),
    ("!", Tok::Not),
    ("~", Tok::Not),
    ("¬", Tok::Not),
    ("=", Tok::Eq),
    ("<", Tok::Lt),
    (">", Tok::Gt),
    ("+", Tok::Plus),
    ("-", Tok::Minus),
    ("−", Tok::Minus),
    ("*", Tok::Star),
    ("·", Tok::Star),
    ("/", Tok::Slash),
    ("%", Tok::Percent),
    (":", Tok::Colon),
    (";", Tok::Semicolon),
    (",", Tok::Comma),
    ("(", Tok::OpenParen),
    (")", Tok::CloseParen),
    ("[", Tok::OpenBracket),
    ("]", Tok::CloseBracket),
    ("×", Tok::Star),
];

/// Bytes of a name at most; names of columns are repeated many times.
const MAX_NAME: usize = 100;

fn is_word_char(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// The symbol at the beginning of the text.
fn symbol(text: &str) -> Option<(&'static str, Tok)> {
    let first = text.as_bytes().first();
    let begins = |symbol: &str| symbol.as_bytes().first() == first && text.starts_with(symbol);
    SYMBOLS.iter().copied().find(|(symbol, _)| begins(symbol))
}

/// The token of a word. Truth values may be written in capitals, as they are in print.
fn word_kind(word: &str) -> Tok {
    match word {
        "TRUE" | "True" => Tok::Key("true"),
        "FALSE" | "False" | "false" => Tok::Key("false"),
        _ => WORDS.iter().find(|(other, _)| *other == word).map_or(Tok::Word, |(_, kind)| *kind),
    }
}

/// Every word of the language, for "did you mean".
pub(crate) fn words() -> impl Iterator<Item = &'static str> {
    WORDS.iter().map(|(word, _)| *word).chain(["false"])
}

/// Splits `text` into tokens, the last of which is [`Tok::End`].
pub(crate) fn lex(text: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Token> {
    let mut lexer = Lexer { text, at: 0, tokens: Vec::with_capacity(text.len() / 4 + 1), diagnostics };
    if text.len() > u32::MAX as usize {
        lexer.diagnostics.push(Diagnostic::error("too-long", "a program is limited to 4 GB"));
    } else {
        lexer.at = text.len() - text.trim_start_matches('\u{feff}').len();
        lexer.run();
    }
    lexer.push(Tok::End, 0);
    lexer.tokens
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    tokens: Vec<Token>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Lexer<'_> {
    fn run(&mut self) {
        while let Some(c) = self.text[self.at..].chars().next() {
            let rest = &self.text[self.at..];
            let run = |fits: fn(char) -> bool| rest.find(|c| !fits(c)).unwrap_or(rest.len());
            if c.is_whitespace() {
                self.at += c.len_utf8();
            } else if c == '_' || c.is_alphabetic() {
                let length = run(is_word_char);
                if length > MAX_NAME {
                    let message = format!("this name is longer than {MAX_NAME} bytes");
                    self.report("too-long", length, &message, "choose a shorter one");
                }
                self.push(word_kind(&rest[..length]), length);
            } else if c.is_ascii_digit() {
                self.push(Tok::Number, run(|c| c.is_ascii_digit()));
            } else if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(end) => self.at += end + 2,
                    None => {
                        self.report(
                            "unclosed-comment",
                            2,
                            "this comment is never closed",
                            "close it with `*/`",
                        );
                        self.at = self.text.len();
                    }
                }
            } else if let Some((symbol, kind)) = symbol(rest) {
                self.push(kind, symbol.len());
            } else {
                self.unknown(c, rest);
            }
        }
    }

    fn push(&mut self, kind: Tok, length: usize) {
        let start = self.at as u32;
        self.at += length;
        self.tokens.push(Token { kind, span: Span { source: 0, start, end: self.at as u32 } });
    }

    /// Characters that are no token, a run of them at a time.
    fn unknown(&mut self, c: char, rest: &str) {
        let known = |c: char| c.is_whitespace() || is_word_char(c) || c.is_ascii_punctuation();
        let length = rest.char_indices().skip(1).find(|(_, c)| known(*c)).map_or(rest.len(), |(at, _)| at);
        let shown: String = rest[..length].chars().take(12).flat_map(char::escape_debug).collect();
        let help = match c {
            '#' => "comments begin with `//`",
            '{' | '}' => "statements are grouped with `[` and `]`",
            '"' | '\'' => "variables hold integers and booleans; there is no text",
            _ => "names are made of letters, digits and `_`",
        };
        let message = format!("`{shown}` is not part of the language");
        self.report("unknown-character", length, &message, help);
        if c == '#' {
            self.at += rest.find('\n').unwrap_or(rest.len());
        } else {
            self.push(Tok::Unknown, length);
        }
    }

    fn report(&mut self, code: &'static str, length: usize, message: &str, help: &str) {
        if self.diagnostics.len() < MAX_ERRORS {
            let span = Span { source: 0, start: self.at as u32, end: (self.at + length) as u32 };
            self.diagnostics.push(Diagnostic::error(code, message).at(span, "").help(help));
        }
    }
}
