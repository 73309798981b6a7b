//! Requirements: `require p99 "…" : quantile(0.99)[ms] < 500 by user every 1h;`.

use super::Parser;
use super::declaration::Unreadable;
use super::division::Divisible;
use crate::ast::{DeclarationKind, ExprKind};
use crate::lexer::Tok;
use tw_diag::Diagnostic;

const FORM: &str = "write `require p99 : quantile(0.99)[ms] < 500;`";

impl Parser<'_> {
    pub(super) fn require(&mut self) -> Result<DeclarationKind, Unreadable> {
        self.advance();
        let name = self.expect_name("the requirement's name").ok_or(Unreadable)?;
        let title = (self.kind() == Tok::Text).then(|| self.text());
        if self.accept(Tok::Colon).is_none() {
            return Err(self.expected("bad-declaration", "`:` and a query", FORM));
        }
        let Some((place, op)) = self.last_comparison() else {
            let found = Diagnostic::error("bad-requirement", "nothing is compared in this requirement");
            self.report(found.at(name.span, "").help(FORM));
            return Err(Unreadable);
        };
        // The query ends where its value is compared, however loosely its operators bind.
        let comparison = std::mem::replace(&mut self.tokens[place].kind, Tok::Semicolon);
        let body = self.expression().id;
        self.tokens[place].kind = comparison;
        self.at = place;
        self.advance();
        let negative = self.accept(Tok::Minus).is_some();
        if self.kind() != Tok::Number {
            return Err(self.expected("bad-requirement", "a number after the comparison", FORM));
        }
        let limit = self.literal_kind(negative);
        if limit == ExprKind::Error {
            return Err(Unreadable);
        }
        let division = self.division(Divisible::Query);
        Ok(DeclarationKind::Require { name, title, body, op, limit, division })
    }

    /// The last comparison outside of brackets, before the declaration ends. Where a bracket is never closed, what follows it
    /// is not inside.
    fn last_comparison(&mut self) -> Option<(usize, tw_ir::CompareOp)> {
        let first = self.at;
        let (mut depth, mut found, mut inside) = (0u32, None, None);
        loop {
            match self.kind() {
                Tok::OpenParen | Tok::OpenBracket | Tok::OpenBrace => depth += 1,
                Tok::CloseParen | Tok::CloseBracket | Tok::CloseBrace => depth = depth.saturating_sub(1),
                Tok::Semicolon | Tok::End => break,
                Tok::Compare(op) if depth == 0 => found = Some((self.at, op)),
                Tok::Compare(op) => inside = Some((self.at, op)),
                _ if self.starts_declaration() => break,
                _ => {}
            }
            self.advance();
        }
        self.at = first;
        found.or_else(|| inside.filter(|_| depth > 0))
    }
}
