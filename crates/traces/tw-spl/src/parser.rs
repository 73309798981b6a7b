//! Tokens to a tree, by recursive descent whose depth is bounded by [`MAX_DEPTH`]. After an error the parser goes on at the
//! next statement, declaration or process.

mod declaration;
mod expression;
pub(crate) mod statement;

use crate::lexer::{Tok, Token, lex, words};
use crate::tree::{Kind, Name, ProcessTree, Statement, StatementId, Tree};
use tw_diag::{Diagnostic, Span};

/// More errors than this help nobody.
pub(crate) const MAX_ERRORS: usize = 20;

/// How deep statements and parentheses may nest. Nobody writes that by hand; the bound keeps the stack small.
pub(crate) const MAX_DEPTH: u32 = 100;

/// The error is in the list already.
pub(crate) struct Reported;

pub(crate) type Parsed<T> = Result<T, Reported>;

/// Parses a program; findings go to `diagnostics`.
pub(crate) fn parse<'t>(text: &'t str, diagnostics: &mut Vec<Diagnostic>) -> Tree<'t> {
    let tokens = lex(text, diagnostics);
    let mut parser =
        Parser { text, tokens, at: 0, depth: 0, given_up: false, tree: Tree::default(), diagnostics };
    parser.program();
    parser.tree
}

pub(crate) struct Parser<'t, 'd> {
    text: &'t str,
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
    /// The rest of the text was passed over; that something in it is missing says nothing.
    given_up: bool,
    tree: Tree<'t>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl<'t> Parser<'t, '_> {
    /// `[program NAME] declarations process || process …`, the processes perhaps in brackets.
    fn program(&mut self) {
        if self.accept(Tok::Key("program")).is_some() {
            self.program_name();
        }
        self.tree.declarations = self.declarations();
        let wrapped = self.kind() == Tok::OpenBracket
            && self.peek(1) == Tok::Word
            && self.peek(2) == Tok::DoubleColon
            && self.accept(Tok::OpenBracket).is_some();
        loop {
            self.process();
            if self.accept(Tok::Parallel).is_some() {
                continue;
            }
            if wrapped && self.accept(Tok::CloseBracket).is_some() && self.kind() == Tok::End {
                break;
            }
            if self.kind() == Tok::End {
                if wrapped {
                    self.expected("`]` that closes the list of processes", None);
                }
                break;
            }
            self.expected("`||` and another process, or the end of the program", None);
            while !matches!(self.kind(), Tok::Parallel | Tok::End) {
                self.advance();
            }
            if self.accept(Tok::Parallel).is_none() {
                break;
            }
        }
    }

    /// Words joined by hyphens: `MUX-SEM`.
    fn program_name(&mut self) {
        let start = self.span();
        if self.kind() != Tok::Word {
            return self.expected("the name of the program", None);
        }
        let mut span = self.advance();
        while self.kind() == Tok::Minus && matches!(self.peek(1), Tok::Word | Tok::Number) {
            self.advance();
            span = self.advance();
        }
        self.tree.name = Some(self.slice(start.to(span)).to_owned());
        let _ = self.accept(Tok::Semicolon).or_else(|| self.accept(Tok::DoubleColon));
    }

    fn process(&mut self) {
        let start = self.span();
        let mut name = None;
        if self.kind() == Tok::Word && self.peek(1) == Tok::DoubleColon {
            name = Some(self.name());
            self.advance();
        }
        let mut declarations = self.declarations();
        // `P :: [local …; S]`: declarations may stand inside the brackets of the body.
        let inside =
            self.kind() == Tok::OpenBracket && matches!(self.peek(1), Tok::Key("local" | "in" | "out"));
        if inside {
            self.advance();
            declarations.extend(self.declarations());
        }
        let body = self.sequence();
        if inside && self.accept(Tok::CloseBracket).is_none() {
            self.expected("`]` that closes the process", None);
        }
        let span = start.to(self.gap());
        self.tree.processes.push(ProcessTree { name, declarations, body, span });
    }

    fn add(&mut self, statement: Statement<'t>) -> StatementId {
        self.tree.statements.push(statement);
        self.tree.statements.len() - 1
    }

    fn add_sequence(&mut self, mut list: Vec<StatementId>, start: Span) -> StatementId {
        if list.len() == 1 {
            return list.remove(0);
        }
        let span = start.to(self.gap());
        let kind = Kind::Sequence(list);
        self.add(Statement { labels: Vec::new(), guards: Vec::new(), kind, after: None, span })
    }

    /// Runs `inner` one level deeper. Beyond the limit the rest of the text is passed over: whatever it holds, it is no
    /// program that somebody wrote.
    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            let found = Diagnostic::error("too-deep", message).at(self.span(), "one level too many");
            self.report(found.help("split the statement or the expression"));
            self.at = self.tokens.len() - 1;
            self.given_up = true;
            return Err(Reported);
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn peek(&self, ahead: usize) -> Tok {
        self.tokens.get(self.at + ahead).map_or(Tok::End, |token| token.kind)
    }

    fn kind(&self) -> Tok {
        self.tokens[self.at].kind
    }

    fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// The place right after the previous token, where something is missing.
    fn gap(&self) -> Span {
        let end = self.at.checked_sub(1).map_or(0, |before| self.tokens[before].span.end);
        Span { source: 0, start: end, end }
    }

    fn slice(&self, span: Span) -> &'t str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Takes the current token; the end is never passed.
    fn advance(&mut self) -> Span {
        let span = self.span();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        span
    }

    fn accept(&mut self, kind: Tok) -> Option<Span> {
        (self.kind() == kind).then(|| self.advance())
    }

    fn expect(&mut self, kind: Tok, what: &str) -> Parsed<Span> {
        self.accept(kind).ok_or_else(|| {
            self.expected(what, None);
            Reported
        })
    }

    /// Takes the current token as a name.
    fn name(&mut self) -> Name<'t> {
        let span = self.advance();
        Name { text: self.slice(span), span }
    }

    fn expect_name(&mut self, what: &str) -> Parsed<Name<'t>> {
        if self.kind() == Tok::Word {
            return Ok(self.name());
        }
        let word = self.slice(self.span());
        let help = words()
            .any(|other| other == word)
            .then(|| format!("`{word}` is a word of the language; choose another name"));
        self.expected(what, help);
        Err(Reported)
    }

    /// Reports that something else was expected here.
    fn expected(&mut self, what: &str, help: Option<String>) {
        if self.kind() == Tok::Unknown {
            return;
        }
        let found = match self.kind() {
            Tok::End => "the end of the program".to_owned(),
            _ => format!("`{}`", self.slice(self.span())),
        };
        let at = if self.kind() == Tok::End { self.gap() } else { self.span() };
        let mut diagnostic =
            Diagnostic::error("syntax", format!("expected {what}, found {found}")).at(at, "");
        diagnostic.help = help;
        self.report(diagnostic);
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < MAX_ERRORS && !self.given_up {
            self.diagnostics.push(diagnostic);
        }
    }
}
