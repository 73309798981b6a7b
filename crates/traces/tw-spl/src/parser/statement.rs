//! Statements.

use super::declaration::starts;
use super::{Parsed, Parser, Reported};
use crate::lexer::{Tok, words};
use crate::tree::{Kind, Place, Statement, StatementId};
use tw_diag::{Diagnostic, Span};

impl<'t> Parser<'t, '_> {
    /// Statements up to `]`, `or`, `||` or the end. Between them stands `;`, which may be left out before a label, as it
    /// is in print.
    pub(super) fn sequence(&mut self) -> StatementId {
        let start = self.span();
        let mut list = Vec::new();
        loop {
            while self.accept(Tok::Semicolon).is_some() {}
            match self.kind() {
                Tok::CloseBracket | Tok::Key("or") | Tok::Parallel | Tok::End => break,
                _ => {}
            }
            let before = self.at;
            match self.statement() {
                Ok(statement) => {
                    list.push(statement);
                    self.between();
                }
                Err(Reported) => self.skip_statement(before),
            }
        }
        if list.is_empty() && self.diagnostics.is_empty() {
            self.expected("a statement", None);
        }
        self.add_sequence(list, start)
    }

    /// After a statement: `;`, the end of the list, or a label. Anything else is reported, and passed over unless it may
    /// begin a statement.
    fn between(&mut self) {
        match self.kind() {
            Tok::Semicolon | Tok::CloseBracket | Tok::Key("or") | Tok::Parallel | Tok::End => return,
            Tok::Word if self.peek(1) == Tok::Colon => return,
            _ => {}
        }
        let begins = self.begins_statement();
        let help = match self.kind() {
            Tok::Key("else") => Some("no `;` stands before `else`".to_owned()),
            Tok::Key("local") => Some("declarations stand at the head of a process".to_owned()),
            Tok::Word if self.peek(1) == Tok::DoubleColon => Some("`||` stands between processes".to_owned()),
            _ if begins => Some("did you forget `;`?".to_owned()),
            _ => None,
        };
        self.expected("`;` or the end of the statements", help);
        if !begins {
            self.skip_statement(self.at);
        }
    }

    fn begins_statement(&self) -> bool {
        match self.kind() {
            Tok::Key(key) => starts(key),
            Tok::Word => matches!(self.peek(1), Tok::Assign | Tok::Receive | Tok::Le),
            _ => false,
        }
    }

    /// Goes to the next `;`, label, or end of the list; past `before` in any case.
    fn skip_statement(&mut self, before: usize) {
        let mut depth = 0u32;
        loop {
            match self.kind() {
                Tok::End | Tok::Parallel => return,
                Tok::Semicolon | Tok::Key("or") if depth == 0 => return,
                Tok::Word if depth == 0 && self.at > before && self.peek(1) == Tok::Colon => return,
                Tok::OpenBracket => depth += 1,
                Tok::CloseBracket if depth == 0 => return,
                Tok::CloseBracket => depth -= 1,
                _ => {}
            }
            self.advance();
        }
    }

    /// One statement with its labels.
    fn statement(&mut self) -> Parsed<StatementId> {
        let read = |parser: &mut Self| {
            let statement = parser.labelled()?;
            Ok(parser.add(statement))
        };
        // The brackets around what a `while` does are no level of their own.
        let before = self.at.checked_sub(1).map(|before| self.tokens[before].kind);
        match (before, self.kind()) {
            (Some(Tok::Key("do" | "then" | "else")), Tok::OpenBracket) => read(self),
            _ => self.deeper(read),
        }
    }

    fn labelled(&mut self) -> Parsed<Statement<'t>> {
        let start = self.span();
        let mut labels = Vec::new();
        while self.kind() == Tok::Word && self.peek(1) == Tok::Colon {
            labels.push(self.name());
            self.advance();
        }
        let mut guards = Vec::new();
        while self.accept(Tok::Key("when")).is_some() {
            guards.push(self.expression()?);
            self.expect(Tok::Key("do"), "an operator or `do`")?;
        }
        let from = self.span();
        let waits = self.kind() == Tok::Key("await");
        if waits {
            self.advance();
            guards.push(self.expression()?);
        }
        let guarded = !guards.is_empty();
        let kind = if waits { Kind::Skip } else { self.unlabelled()? };
        if guarded && !kind.is_basic() {
            let found =
                Diagnostic::error("not-basic", "`when … do` takes a statement that is done in one step")
                    .at(from.to(self.gap()), "takes several steps");
            self.report(found.help("write `[await condition; statement]`"));
        }
        let after = self.after(&kind)?;
        Ok(Statement { labels, guards, kind, after, span: start.to(self.gap()) })
    }

    /// `after N`.
    fn after(&mut self, kind: &Kind<'t>) -> Parsed<Option<u64>> {
        let Some(at) = self.accept(Tok::Key("after")) else { return Ok(None) };
        let number = self.number("the number of positions to wait")?;
        if !kind.is_basic() {
            let found =
                Diagnostic::error("not-basic", "`after` belongs to a statement that is done in one step");
            self.report(found.at(at.to(self.gap()), "").help("write it on the first statement inside"));
        }
        Ok(Some(number.unsigned_abs()))
    }

    fn unlabelled(&mut self) -> Parsed<Kind<'t>> {
        match self.kind() {
            Tok::Key("skip" | "critical" | "noncritical") => {
                self.advance();
                Ok(Kind::Skip)
            }
            Tok::Key(word @ ("request" | "release")) => {
                self.advance();
                let parentheses = self.accept(Tok::OpenParen).is_some();
                let place = self.place()?;
                if parentheses {
                    self.expect(Tok::CloseParen, "`)`")?;
                }
                Ok(if word == "request" { Kind::Request(place) } else { Kind::Release(place) })
            }
            Tok::Key("loop") => {
                self.advance();
                self.expect(Tok::Key("forever"), "`forever`")?;
                self.expect(Tok::Key("do"), "`do`")?;
                Ok(Kind::Loop(self.statement()?))
            }
            Tok::Key("while") => {
                self.advance();
                let test = self.expression()?;
                self.expect(Tok::Key("do"), "an operator or `do`")?;
                Ok(Kind::While(test, self.statement()?))
            }
            Tok::Key("if") => {
                self.advance();
                let test = self.expression()?;
                self.expect(Tok::Key("then"), "an operator or `then`")?;
                let then = self.statement()?;
                let otherwise = match self.accept(Tok::Key("else")) {
                    Some(_) => Some(self.statement()?),
                    None => None,
                };
                Ok(Kind::If(test, then, otherwise))
            }
            Tok::OpenBracket => self.brackets(),
            Tok::OpenParen => {
                let targets = self.targets()?;
                self.expect(Tok::Assign, "`:=`")?;
                self.assignment(targets)
            }
            Tok::Word => {
                let place = self.place()?;
                match self.kind() {
                    Tok::Assign => {
                        self.advance();
                        self.assignment(vec![place])
                    }
                    Tok::Le if place.index.is_none() => {
                        self.advance();
                        Ok(Kind::Send(place.name, self.tuple()?))
                    }
                    Tok::Receive if place.index.is_none() => {
                        self.advance();
                        Ok(Kind::Receive(place.name, self.targets()?))
                    }
                    _ => {
                        let word = place.name.text;
                        let help = match self.kind() {
                            Tok::Eq => Some("an assignment is written `:=`".to_owned()),
                            _ => {
                                tw_core::suggest(word, words()).map(|word| format!("did you mean `{word}`?"))
                            }
                        };
                        self.expected("`:=`, or `<=` or `=>` of a channel", help);
                        Err(Reported)
                    }
                }
            }
            _ => {
                self.expected("a statement", None);
                Err(Reported)
            }
        }
    }

    /// `[S; S]`, or `[S or S]`.
    fn brackets(&mut self) -> Parsed<Kind<'t>> {
        let open = self.advance();
        let mut alternatives = vec![self.sequence()];
        while self.accept(Tok::Key("or")).is_some() {
            alternatives.push(self.sequence());
        }
        if self.accept(Tok::CloseBracket).is_none() {
            if self.kind() != Tok::Unknown {
                let gap = self.gap();
                let found =
                    Diagnostic::error("unclosed-bracket", "this `[` is never closed").at(open, "opened here");
                self.report(found.at(gap, "`]` expected here at the latest"));
            }
            return Err(Reported);
        }
        Ok(match alternatives.len() {
            1 => Kind::Sequence(alternatives),
            _ => Kind::Select(alternatives),
        })
    }

    /// `x` or `(x, y)`.
    fn targets(&mut self) -> Parsed<Vec<Place<'t>>> {
        if self.accept(Tok::OpenParen).is_none() {
            return Ok(vec![self.place()?]);
        }
        let mut targets = Vec::new();
        loop {
            targets.push(self.place()?);
            if self.accept(Tok::Comma).is_none() {
                break;
            }
        }
        self.expect(Tok::CloseParen, "`,` or `)`")?;
        Ok(targets)
    }

    fn assignment(&mut self, targets: Vec<Place<'t>>) -> Parsed<Kind<'t>> {
        let values = self.tuple()?;
        if values.len() != targets.len() {
            let span = |first: Span, last: Span| first.to(last);
            let left = span(targets[0].span, targets[targets.len() - 1].span);
            let right = span(values[0].span, values[values.len() - 1].span);
            let found = Diagnostic::error("different-lengths", "the sides of `:=` differ in length")
                .at(right, counted(values.len(), "value"))
                .at(left, counted(targets.len(), "variable"));
            self.report(found);
        }
        Ok(Kind::Assign(targets, values))
    }
}

/// `1 value`, `2 values`.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
