//! Streams: `stream y: bool = x[-1|false] | y[-1|false] by user;`, `observe y;`, `trigger hot "too hot" : t > 80;`, and
//! `NAME[±N|d]`, a column's value at another position.

use super::Parser;
use super::declaration::Unreadable;
use super::division::Divisible;
use crate::ast::{DeclarationKind, ExprId, ExprKind, Infix};
use crate::lexer::Tok;
use tw_diag::{Diagnostic, Span};
use tw_ir::CompareOp;

const STREAM: &str = "write `stream total: int = total[-1|0] + 1;`";

impl Parser<'_> {
    /// Whether `[±N|` follows the name that is `ahead` tokens long.
    pub(super) fn starts_shift(&self, ahead: usize) -> bool {
        let sign = usize::from(matches!(self.peek(ahead + 1), Tok::Plus | Tok::Minus));
        self.peek(ahead) == Tok::OpenBracket
            && self.peek(ahead + 1 + sign) == Tok::Number
            && self.peek(ahead + 2 + sign) == Tok::Infix(Infix::Or)
            // `max[1 |{+} x]` combines values.
            && self.peek(ahead + 3 + sign) != Tok::OpenBrace
    }

    /// `[±N|d]` after a path, from its `[` on.
    pub(super) fn shift(&mut self, of: ExprId, start: Span) -> (ExprId, Span) {
        self.advance();
        let back = self.kind() == Tok::Minus;
        let sign = self.span();
        if matches!(self.kind(), Tok::Plus | Tok::Minus) {
            self.advance();
        }
        let number = self.advance();
        let by = self.slice(number).parse::<i32>().ok().filter(|by| *by <= 1_000_000);
        if by.is_none_or(|by| by == 0) {
            let message = match by {
                Some(_) => "an offset of 0 is the value here",
                None => "an offset is a whole number of positions, a million at most",
            };
            let found = Diagnostic::error("bad-offset", message).at(sign.to(number), "");
            self.report(found.help(match by {
                Some(_) => format!("write `{}` alone", self.slice(self.tree.exprs[of.index()].span)),
                None => "for values further away, define a stream that carries them".to_owned(),
            }));
        }
        let by = by.unwrap_or(1).max(1);
        self.advance();
        let at = self.span();
        let negative = self.kind() == Tok::Minus && self.peek(1) == Tok::Number;
        if negative {
            self.advance();
        }
        let kind = match self.kind() {
            Tok::True | Tok::False => {
                let kind = ExprKind::Bool(self.kind() == Tok::True);
                self.advance();
                kind
            }
            Tok::Null => {
                self.advance();
                ExprKind::Null
            }
            Tok::Number | Tok::Text => self.literal_kind(negative),
            _ => {
                let message = format!("expected a constant after `|`, found {}", self.found());
                let found = Diagnostic::error("bad-offset", message).at(self.span(), "");
                self.report(found.help("it stands for what is beyond the ends of the trace: `x[-1|0]`"));
                ExprKind::Error
            }
        };
        let default = self.add(kind, at.to(self.gap()));
        if self.accept(Tok::CloseBracket).is_none() {
            let found = Diagnostic::error("bad-offset", format!("expected `]`, found {}", self.found()));
            self.report(found.at(self.span(), "").help("an offset is written `x[-1|0]`"));
        }
        let span = start.to(self.gap());
        let by = if back { -by } else { by };
        (self.add(ExprKind::Shift { of, by, default }, span), span)
    }

    pub(super) fn stream(&mut self) -> Result<DeclarationKind, Unreadable> {
        self.advance();
        let name = self.expect_name("the stream's name").ok_or(Unreadable)?;
        if self.accept(Tok::Colon).is_none() {
            return Err(self.expected("bad-declaration", "`:` and a type", STREAM));
        }
        let ty = self.ty()?;
        if self.accept(Tok::Compare(CompareOp::Eq)).is_none() {
            let unreadable = self.expected("bad-declaration", "`=` and an equation", STREAM);
            let body = self.hole();
            self.partial = Some(DeclarationKind::Stream { name, ty, body, by: None });
            return Err(unreadable);
        }
        let body = self.expression().id;
        let division = self.division(Divisible::Stream);
        Ok(DeclarationKind::Stream { name, ty, body, by: division.by })
    }

    pub(super) fn observe(&mut self) -> Result<DeclarationKind, Unreadable> {
        self.advance();
        let mut names = Vec::new();
        loop {
            names.push(self.expect_name("a stream's name").ok_or(Unreadable)?);
            if self.accept(Tok::Comma).is_none() {
                return Ok(DeclarationKind::Observe { names });
            }
        }
    }
}
