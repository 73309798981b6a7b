//! Operators, operands and their precedences: `->` and `<->` are alike and lean to the left, `S` cannot be chained, a
//! quantifier reaches as far as it can.

use super::seen::Facts;
use super::{DejaVu, RESERVED};
use crate::build::{Value, bound};
use crate::climb::{Infix as Right, Language, Operand};
use crate::cursor::{Cursor, Tok, refuse};
use crate::decimal::Decimal;
use crate::formats::comparison;
use std::rc::Rc;
use tw_diag::{Diagnostic, Span};
use tw_ir::{Bound, CompareOp, Interval, Temporal};
use tw_spec::ast::{Infix, Prefix};

// Powers, loosest first.
const IMPLIES: u8 = 1;
const OR: u8 = 2;
const AND: u8 = 3;
const SINCE: u8 = 4;
const PREFIX: u8 = 5;

pub(super) enum Operator {
    Not,
    Past(Prefix, Option<Interval>),
    Since(Option<Interval>),
    Connective(Infix),
    /// `[φ, ψ)`
    Stretch,
    Quantifier {
        forall: bool,
        seen: bool,
    },
}

/// `[<=n]` or `[>n]`, if one of them is here.
fn limit(cursor: &mut Cursor<'_>) -> Result<Option<Interval>, Diagnostic> {
    let within = cursor.is("[<=");
    if !within && !cursor.is("[>") {
        return Ok(None);
    }
    let start = cursor.advance();
    if cursor.kind() != Tok::Number || !cursor.here().bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(cursor.found("a whole number"));
    }
    let number = cursor.here();
    cursor.advance();
    let span = start.to(cursor.expect("]")?);
    let decimal =
        Decimal::parse(number).ok_or_else(|| refuse(span, "this bound is too large", "bounds are 64-bit"))?;
    let limit = bound(decimal, span)?;
    let zero = Bound { billionths: 0, ..limit };
    Ok(Some(match within {
        true => Interval { low: zero, high: Some(limit) },
        false => Interval { low: Bound { open: true, ..limit }, high: None },
    }))
}

/// Whether the present is inside.
fn includes_now(interval: Option<Interval>) -> bool {
    interval.is_none_or(|interval| !interval.low.open)
}

impl<'t> Language<'t> for DejaVu<'_> {
    type Operator = Operator;

    fn operand(&mut self, cursor: &mut Cursor<'t>) -> Result<Operand<Operator>, Diagnostic> {
        let span = cursor.span();
        let past = |op, interval| Operand::Prefix(Operator::Past(Prefix::Temporal(op), interval), PREFIX);
        match cursor.kind() {
            Tok::Symbol("!") => {
                cursor.advance();
                return Ok(Operand::Prefix(Operator::Not, PREFIX));
            }
            Tok::Symbol("@") => {
                cursor.advance();
                return Ok(past(Temporal::Previous, None));
            }
            Tok::Symbol("(") => {
                cursor.advance();
                return Ok(Operand::Group);
            }
            Tok::Symbol("[") => {
                cursor.advance();
                return Ok(Operand::Call(Operator::Stretch, 2));
            }
            Tok::Word => {}
            _ => return Err(cursor.found("a formula")),
        }
        let word = cursor.here();
        match word {
            "true" | "false" => {
                cursor.advance();
                Ok(Operand::Complete(self.builder.constant(word == "true", span)))
            }
            "P" | "H" => {
                cursor.advance();
                let op = if word == "P" { Temporal::Once } else { Temporal::Historically };
                Ok(past(op, limit(cursor)?))
            }
            "Forall" | "Exists" | "forall" | "exists" => {
                cursor.advance();
                let (name, place) = cursor.word("the name of a variable")?;
                if RESERVED.contains(&name) {
                    let message = format!("found `{name}`, expected the name of a variable");
                    return Err(Diagnostic::error("import-syntax", message).at(place, "expected a name"));
                }
                cursor.expect(".")?;
                self.bind(name, place)?;
                let (forall, seen) = (word.ends_with("orall"), word.starts_with(['f', 'e']));
                Ok(Operand::Prefix(Operator::Quantifier { forall, seen }, 0))
            }
            _ if RESERVED.contains(&word) => Err(cursor.found("a formula")),
            name => {
                cursor.advance();
                let symbol = if matches!(cursor.kind(), Tok::Symbol(_)) { cursor.here() } else { "" };
                let op = if symbol == "=" { Some(CompareOp::Eq) } else { comparison(symbol) };
                match op {
                    Some(op) => self.compared(cursor, name, span, op).map(Operand::Complete),
                    None => self.predicate(cursor, name, span).map(Operand::Complete),
                }
            }
        }
    }

    fn infix(
        &mut self,
        cursor: &mut Cursor<'t>,
        least: u8,
        left: &Value,
    ) -> Result<Option<Right<Operator>>, Diagnostic> {
        let text = match cursor.kind() {
            Tok::Word | Tok::Symbol(_) => cursor.here(),
            _ => return Ok(None),
        };
        let (operator, power) = match text {
            "->" => (Operator::Connective(Infix::Implies), IMPLIES),
            "<->" => (Operator::Connective(Infix::Iff), IMPLIES),
            "|" => (Operator::Connective(Infix::Or), OR),
            "&" => (Operator::Connective(Infix::And), AND),
            "S" => (Operator::Since(None), SINCE),
            "Z" if SINCE >= least => {
                let why =
                    "a since that leaves the present out has no counterpart where events have equal times";
                return Err(refuse(cursor.span(), "`Z` is not imported", why));
            }
            _ => return Ok(None),
        };
        if power < least {
            return Ok(None);
        }
        if power == SINCE && left.power == SINCE && !left.grouped {
            let found = Diagnostic::error("import-syntax", "`S` cannot be chained");
            return Err(found.at(cursor.span(), "expected parentheses around one of them"));
        }
        cursor.advance();
        let operator = if power == SINCE { Operator::Since(limit(cursor)?) } else { operator };
        Ok(Some(Right { operator, right: power + 1 }))
    }

    fn apply(&mut self, operator: Operator, operands: &[Value], span: Span) -> Result<Value, Diagnostic> {
        let first = operands[0];
        let second = operands.get(1).copied().unwrap_or(first);
        let (a, b) = (self.known(first), self.known(second));
        let none = || Rc::from([]);
        let (value, facts) = match operator {
            Operator::Not => (self.builder.not(first, span), a.not()),
            Operator::Past(op, interval) => {
                self.timely(first)?;
                let facts = Facts::past(op, &a, includes_now(interval));
                (self.builder.prefix(op, interval, first, span), facts)
            }
            Operator::Connective(op) => {
                (self.builder.infix(op, None, [first, second], span), Facts::connective(op, &a, &b))
            }
            Operator::Since(interval) => {
                self.timely(first)?;
                self.timely(second)?;
                let since = Infix::Temporal(Temporal::Since);
                let value = self.builder.infix(since, interval, [first, second], span);
                let fails = if includes_now(interval) { b.fails } else { none() };
                (Value { power: SINCE, ..value }, Facts { holds: b.holds, fails, ..Facts::none() })
            }
            Operator::Stretch => {
                self.timely(first)?;
                self.timely(second)?;
                let not = self.builder.not(second, second.span);
                let since = Infix::Temporal(Temporal::Since);
                (self.builder.infix(since, None, [not, first], span), Facts { compared: none(), ..a })
            }
            Operator::Quantifier { forall, seen } => return self.quantified(forall, seen, first, span),
        };
        Ok(self.know(value, facts))
    }
}
