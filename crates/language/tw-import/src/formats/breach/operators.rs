//! Operators, operands and their precedences.

use super::{Breach, Operator};
use crate::build::Value;
use crate::climb::{Infix as Right, Language, Operand};
use crate::cursor::{Cursor, Tok, refuse};
use crate::formats::{comparison, formula, number};
use tw_diag::{Diagnostic, Span};
use tw_ir::{ArithmeticOp, CompareOp, Temporal};
use tw_spec::ast::{ExprKind, Infix, Prefix};

// Powers, loosest first.
const OR: u8 = 1;
const IMPLIES: u8 = 2;
const AND: u8 = 3;
const UNTIL: u8 = 4;
const PREFIX: u8 = 5;
const COMPARE: u8 = 6;
const SUM: u8 = 7;
const PRODUCT: u8 = 8;
const NEGATE: u8 = 9;

impl<'t> Language<'t> for Breach<'_, 't> {
    type Operator = Operator;

    fn operand(&mut self, cursor: &mut Cursor<'t>) -> Result<Operand<Operator>, Diagnostic> {
        let span = cursor.span();
        let word = match cursor.kind() {
            Tok::Number => {
                let text = cursor.here();
                cursor.advance();
                return self.builder().number(text, span).map(Operand::Complete);
            }
            Tok::Symbol("-") => {
                cursor.advance();
                return Ok(Operand::Prefix(Operator::Negate, NEGATE));
            }
            Tok::Symbol("(") => {
                cursor.advance();
                return Ok(Operand::Group);
            }
            Tok::Word => cursor.here(),
            _ => return Err(cursor.found("a formula")),
        };
        let op = match word {
            "not" => {
                cursor.advance();
                return Ok(Operand::Prefix(Operator::Not, PREFIX));
            }
            "true" | "false" => {
                cursor.advance();
                return Ok(Operand::Complete(self.builder().constant(word == "true", span)));
            }
            "abs" => {
                cursor.advance();
                cursor.expect("(")?;
                return Ok(Operand::Call(Operator::Abs, 1));
            }
            "alw" | "always" | "alw_" | "always_" => Prefix::Temporal(Temporal::Globally),
            "ev" | "eventually" | "ev_" | "eventually_" => Prefix::Temporal(Temporal::Finally),
            "once" | "once_" | "hist" | "hist_" | "historically" | "historically_" | "av_ev" => {
                let why = "past operators and averages are outside the part of the language that is read";
                return Err(refuse(span, format!("`{word}` is not imported"), why));
            }
            _ => return self.name(cursor).map(Operand::Complete),
        };
        cursor.advance();
        let bounds = if word.ends_with('_') { Some(self.bounds(cursor)?) } else { None };
        Ok(Operand::Prefix(Operator::Prefix(op, bounds), PREFIX))
    }

    fn infix(
        &mut self,
        cursor: &mut Cursor<'t>,
        least: u8,
        _: &Value,
    ) -> Result<Option<Right<Operator>>, Diagnostic> {
        let text = match cursor.kind() {
            Tok::Word if cursor.peek(1) == Tok::Symbol(":=") => return Ok(None),
            Tok::Word | Tok::Symbol(_) => cursor.here(),
            _ => return Ok(None),
        };
        // Formulas are split at the first operator: those of one power lean to the right.
        let (operator, power, right) = match text {
            "or" => (Operator::Infix(Infix::Or, None), OR, OR),
            "=>" => (Operator::Infix(Infix::Implies, None), IMPLIES, IMPLIES),
            "and" => (Operator::Infix(Infix::And, None), AND, AND),
            "until" | "until_" => (Operator::Infix(Infix::Temporal(Temporal::Until), None), UNTIL, UNTIL),
            "+" => (Operator::Arithmetic(ArithmeticOp::Add), SUM, SUM + 1),
            "-" => (Operator::Arithmetic(ArithmeticOp::Sub), SUM, SUM + 1),
            "*" => (Operator::Arithmetic(ArithmeticOp::Mul), PRODUCT, PRODUCT + 1),
            "/" => (Operator::Arithmetic(ArithmeticOp::Div), PRODUCT, PRODUCT + 1),
            symbol => match comparison(symbol) {
                Some(op) => (Operator::Compare(op), COMPARE, COMPARE + 1),
                None => return Ok(None),
            },
        };
        if power < least {
            return Ok(None);
        }
        cursor.advance();
        let operator = match operator {
            Operator::Infix(op, _) if text == "until_" => Operator::Infix(op, Some(self.bounds(cursor)?)),
            operator => operator,
        };
        Ok(Some(Right { operator, right }))
    }

    fn apply(&mut self, operator: Operator, operands: &[Value], span: Span) -> Result<Value, Diagnostic> {
        let first = operands[0];
        let second = operands.get(1).copied().unwrap_or(first);
        Ok(match operator {
            Operator::Not => {
                let body = formula(first)?;
                self.builder().not(body, span)
            }
            Operator::Prefix(op, bounds) => {
                let body = formula(first)?;
                self.builder().prefix(op, bounds, body, span)
            }
            Operator::Infix(op, bounds) => {
                let sides = [formula(first)?, formula(second)?];
                self.builder().infix(op, bounds, sides, span)
            }
            Operator::Compare(op) => {
                let (left, right) = (number(first)?, number(second)?);
                if op == CompareOp::Eq {
                    self.reading.note(
                        "`==` is true here where it is there, but has another robustness: -|a - b|, not a constant.",
                    );
                }
                self.builder().compare(op, left, right, span)
            }
            Operator::Arithmetic(op) => {
                let (left, right) = (number(first)?, number(second)?);
                self.builder().arithmetic(op, left, right, span)
            }
            Operator::Negate => {
                let body = number(first)?;
                self.builder().negate(body, span)
            }
            Operator::Abs => {
                let body = number(first)?;
                self.builder().push(ExprKind::Abs(body.id), body.sort, span, &[body])
            }
        })
    }
}
