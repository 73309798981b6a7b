//! Expressions, to postfix order.

use super::{Parsed, Parser, Reported};
use crate::lexer::Tok;
use crate::tree::{Binary, Expr, ExprRange, Item, Place};
use tw_diag::{Diagnostic, Span};

/// Binding strength, loosest first.
const OR: u8 = 1;
const AND: u8 = 2;
const COMPARE: u8 = 3;
const SUM: u8 = 4;
const PRODUCT: u8 = 5;

fn binary(kind: Tok) -> Option<(Binary, u8)> {
    Some(match kind {
        Tok::Or => (Binary::Or, OR),
        Tok::And => (Binary::And, AND),
        Tok::Eq => (Binary::Eq, COMPARE),
        Tok::Ne => (Binary::Ne, COMPARE),
        Tok::Lt => (Binary::Lt, COMPARE),
        Tok::Le => (Binary::Le, COMPARE),
        Tok::Gt => (Binary::Gt, COMPARE),
        Tok::Ge => (Binary::Ge, COMPARE),
        Tok::Plus => (Binary::Add, SUM),
        Tok::Minus => (Binary::Subtract, SUM),
        Tok::Star => (Binary::Multiply, PRODUCT),
        Tok::Slash => (Binary::Divide, PRODUCT),
        Tok::Percent => (Binary::Remainder, PRODUCT),
        _ => return None,
    })
}

impl<'t> Parser<'t, '_> {
    /// A whole expression.
    pub(super) fn expression(&mut self) -> Parsed<ExprRange> {
        self.at_level(OR)
    }

    /// An initial value: `&` begins the next one.
    pub(super) fn initial_value(&mut self) -> Parsed<ExprRange> {
        self.at_level(COMPARE)
    }

    fn at_level(&mut self, level: u8) -> Parsed<ExprRange> {
        let start = self.tree.items.len();
        let span = self.operators(level)?;
        Ok(ExprRange { start, end: self.tree.items.len(), span })
    }

    fn push(&mut self, item: Item<'t>, span: Span) -> Span {
        self.tree.items.push(Expr { item, span });
        span
    }

    /// Operands joined by operators of at least this strength; all associate to the left. Recurses on strength only.
    fn operators(&mut self, level: u8) -> Parsed<Span> {
        let mut left = self.operand()?;
        while let Some((operator, strength)) = binary(self.kind()).filter(|(_, strength)| *strength >= level)
        {
            let at = self.advance();
            if matches!(operator, Binary::And | Binary::Or) {
                self.push(Item::Left(operator), at);
            }
            let right = self.operators(strength + 1)?;
            left = self.push(Item::Binary(operator), left.to(right));
        }
        Ok(left)
    }

    fn operand(&mut self) -> Parsed<Span> {
        let mut signs = Vec::new();
        while let Some(item) = match self.kind() {
            Tok::Not => Some(Item::Not),
            Tok::Minus => Some(Item::Negate),
            _ => None,
        } {
            signs.push((item, self.advance()));
        }
        let mut span = self.primary()?;
        for (item, at) in signs.into_iter().rev() {
            span = self.push(item, at.to(span));
        }
        Ok(span)
    }

    fn primary(&mut self) -> Parsed<Span> {
        let span = self.span();
        match self.kind() {
            Tok::Number => {
                let number = self.number("a number")?;
                Ok(self.push(Item::Int(number), span))
            }
            Tok::Key(word @ ("true" | "false")) => {
                self.advance();
                Ok(self.push(Item::Bool(word == "true"), span))
            }
            Tok::Word => {
                let name = self.name();
                if self.kind() != Tok::OpenBracket {
                    return Ok(self.push(Item::Name(name.text), span));
                }
                self.index()?;
                let whole = span.to(self.gap());
                Ok(self.push(Item::Element(name), whole))
            }
            Tok::OpenParen => {
                let open = self.advance();
                self.deeper(|parser| parser.operators(OR))?;
                let close = self.expect(Tok::CloseParen, "an operator or `)`")?;
                Ok(open.to(close))
            }
            _ => {
                self.expected("an expression", None);
                Err(Reported)
            }
        }
    }

    /// `[expression]`.
    fn index(&mut self) -> Parsed<ExprRange> {
        self.advance();
        let index = self.deeper(|parser| parser.expression())?;
        self.expect(Tok::CloseBracket, "an operator or `]` after the index")?;
        Ok(index)
    }

    /// A variable or an element, to be assigned to.
    pub(super) fn place(&mut self) -> Parsed<Place<'t>> {
        let name = self.expect_name("a variable")?;
        let index = if self.kind() == Tok::OpenBracket { Some(self.index()?) } else { None };
        Ok(Place { name, index, span: name.span.to(self.gap()) })
    }

    /// A number that fits.
    pub(super) fn number(&mut self, what: &str) -> Parsed<i64> {
        let span = self.expect(Tok::Number, what)?;
        let text = self.slice(span);
        text.parse().map_err(|_| {
            let found = Diagnostic::error("number-range", "this number is too large").at(span, "");
            self.report(found.help(format!("integers reach up to {}", i64::MAX)));
            Reported
        })
    }

    /// `(e, e, …)` if a comma stands between these parentheses, one expression otherwise.
    pub(super) fn tuple(&mut self) -> Parsed<Vec<ExprRange>> {
        if !self.tuple_ahead() {
            return Ok(vec![self.expression()?]);
        }
        self.advance();
        let mut list = Vec::new();
        loop {
            list.push(self.deeper(|parser| parser.expression())?);
            if self.accept(Tok::Comma).is_none() {
                break;
            }
        }
        self.expect(Tok::CloseParen, "an operator, `,` or `)`")?;
        Ok(list)
    }

    fn tuple_ahead(&self) -> bool {
        if self.kind() != Tok::OpenParen {
            return false;
        }
        let mut depth = 0u32;
        for token in &self.tokens[self.at..] {
            match token.kind {
                Tok::OpenParen | Tok::OpenBracket => depth += 1,
                Tok::CloseParen | Tok::CloseBracket if depth == 1 => return false,
                Tok::CloseParen | Tok::CloseBracket => depth -= 1,
                Tok::Comma if depth == 1 => return true,
                Tok::Semicolon | Tok::Parallel | Tok::End => return false,
                _ => {}
            }
        }
        false
    }
}
