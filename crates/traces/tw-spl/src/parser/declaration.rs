//! `local seq, ack : boolean where seq = TRUE`.

use super::{Parsed, Parser, Reported};
use crate::lexer::Tok;
use crate::tree::{Bounds, Declaration, Initial, Scalar, Type};

impl<'t> Parser<'t, '_> {
    /// All declarations that stand here. The `;` after each may be left out, as it is in print.
    pub(super) fn declarations(&mut self) -> Vec<Declaration<'t>> {
        let mut declarations = Vec::new();
        while matches!(self.kind(), Tok::Key("local" | "in" | "out")) {
            self.advance();
            match self.declaration() {
                Ok(declaration) if self.may_follow() => declarations.push(declaration),
                Ok(_) => {
                    self.expected("the end of the declaration", None);
                    self.skip_declaration();
                }
                Err(Reported) => self.skip_declaration(),
            }
            while self.accept(Tok::Semicolon).is_some() {}
        }
        declarations
    }

    /// Whether what stands here may follow a declaration: `;`, another one, a statement or a process.
    fn may_follow(&self) -> bool {
        match self.kind() {
            Tok::Semicolon | Tok::Word | Tok::OpenBracket | Tok::OpenParen | Tok::Unknown | Tok::End => true,
            Tok::Key(key) => starts(key) || matches!(key, "local" | "in" | "out"),
            _ => false,
        }
    }

    fn skip_declaration(&mut self) {
        loop {
            match self.kind() {
                Tok::End | Tok::Semicolon | Tok::Parallel | Tok::Key("local" | "in" | "out" | "loop") => {
                    return;
                }
                // The name of a process, or a label and its statement.
                Tok::Word if self.peek(1) == Tok::DoubleColon => return,
                Tok::Word
                    if self.peek(1) == Tok::Colon && matches!(self.peek(2), Tok::Key(key) if starts(key)) =>
                {
                    return;
                }
                _ => self.advance(),
            };
        }
    }

    fn declaration(&mut self) -> Parsed<Declaration<'t>> {
        let mut names = Vec::new();
        let mut bounds = None;
        loop {
            names.push(self.expect_name("the name of a variable")?);
            if self.kind() == Tok::OpenBracket {
                bounds = Some(self.bounds()?);
            }
            if self.accept(Tok::Comma).is_none() {
                break;
            }
        }
        self.expect(Tok::Colon, "`:` and a type")?;
        let kind = match (self.type_()?, bounds) {
            (kind, None) => kind,
            (Type::Scalar(scalar), Some(bounds)) => Type::Array(bounds, scalar),
            (_, Some(_)) => {
                self.expected("`integer` or `boolean` as the type of the elements before here", None);
                return Err(Reported);
            }
        };
        let mut initial = Vec::new();
        if self.accept(Tok::Key("where")).is_some() {
            loop {
                initial.push(self.initial()?);
                if self.accept(Tok::And).or_else(|| self.accept(Tok::Comma)).is_none() {
                    break;
                }
            }
        }
        Ok(Declaration { names, kind, initial })
    }

    fn type_(&mut self) -> Parsed<Type> {
        if self.accept(Tok::Key("array")).is_some() {
            let bounds = self.bounds()?;
            self.expect(Tok::Key("of"), "`of` and the type of the elements")?;
            return Ok(Type::Array(bounds, self.scalar()?));
        }
        let reliable = self.accept(Tok::Key("reliable")).is_some();
        if self.accept(Tok::Key("channel")).is_some() {
            if self.kind() != Tok::OpenBracket {
                let help = "channels are asynchronous: write `channel [1..] of …`, or `channel [1..5] of …` for at most 5 messages";
                self.expected("`[1..]`", Some(help.to_owned()));
                return Err(Reported);
            }
            let bounds = self.bounds()?;
            self.expect(Tok::Key("of"), "`of` and the type of the messages")?;
            let mut message = Vec::new();
            if self.accept(Tok::OpenParen).is_some() {
                loop {
                    message.push(self.scalar()?);
                    if self.accept(Tok::Comma).is_none() {
                        break;
                    }
                }
                self.expect(Tok::CloseParen, "`,` or `)`")?;
            } else {
                message.push(self.scalar()?);
            }
            return Ok(Type::Channel { bounds, message, reliable });
        }
        if reliable {
            self.expected("`channel`", None);
            return Err(Reported);
        }
        Ok(Type::Scalar(self.scalar()?))
    }

    fn scalar(&mut self) -> Parsed<Scalar> {
        let scalar = match self.kind() {
            Tok::Key("integer") => Scalar::Integer,
            Tok::Key("boolean") => Scalar::Boolean,
            _ => {
                let help = "types are `integer`, `boolean`, `array [1..] of …` and `channel [1..] of …`";
                self.expected("a type", Some(help.to_owned()));
                return Err(Reported);
            }
        };
        self.advance();
        Ok(scalar)
    }

    /// `[1..]` or `[0..9]`.
    fn bounds(&mut self) -> Parsed<Bounds> {
        let open = self.expect(Tok::OpenBracket, "`[` and the range of indices")?;
        let low = self.signed()?;
        self.expect(Tok::DotDot, "`..`")?;
        let high = if self.kind() == Tok::CloseBracket { None } else { Some(self.signed()?) };
        let close = self.expect(Tok::CloseBracket, "`]`")?;
        Ok(Bounds { low, high, span: open.to(close) })
    }

    fn signed(&mut self) -> Parsed<i64> {
        let negative = self.accept(Tok::Minus).is_some();
        let number = self.number("a number")?;
        Ok(if negative { -number } else { number })
    }

    /// One part of `where`.
    fn initial(&mut self) -> Parsed<Initial<'t>> {
        let negated = self.accept(Tok::Not).is_some();
        let name = self.expect_name("a variable of this declaration")?;
        // A bracket after a name may also be that of the processes or of a statement.
        let elements =
            self.kind() == Tok::OpenBracket && (self.peek(2) == Tok::CloseBracket && self.peek(3) == Tok::Eq);
        let mut parameter = None;
        if elements && self.accept(Tok::OpenBracket).is_some() {
            if self.kind() != Tok::Word {
                let help = "write `a[n] = n + 1`: every element by a rule";
                self.expected("a name that stands for the index", Some(help.to_owned()));
                return Err(Reported);
            }
            parameter = Some(self.name());
            self.expect(Tok::CloseBracket, "`]`")?;
        }
        if negated || (parameter.is_none() && self.kind() != Tok::Eq) {
            return Ok(Initial { name, parameter, value: Err(!negated) });
        }
        self.expect(Tok::Eq, "`=` and the initial value")?;
        let value = self.initial_value()?;
        Ok(Initial { name, parameter, value: Ok(value) })
    }
}

/// Whether a statement starts with this word.
pub(super) fn starts(key: &str) -> bool {
    ["loop", "if", "while", "await", "when", "skip", "noncritical", "critical", "request", "release"]
        .contains(&key)
}
