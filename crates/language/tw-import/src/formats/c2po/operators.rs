//! Operators, operands and their precedences.

use super::{C2po, Operator, SECTIONS};
use crate::build::{Sort, Value};
use crate::climb::{Infix as Right, Language, Operand};
use crate::cursor::{Cursor, Tok, refuse};
use crate::formats::{comparison, mltl, number};
use tw_diag::{Diagnostic, Span};
use tw_ir::{ArithmeticOp, CompareOp};
use tw_spec::ast::{ExprKind, Infix};

// Powers, loosest first.
const IMPLIES: u8 = 1;
const OR: u8 = 2;
const AND: u8 = 3;
const UNTIL: u8 = 4;
const TEMPORAL: u8 = 5;
const BITS: u8 = 6;
const EQUAL: u8 = 9;
const ORDER: u8 = 10;
const SHIFT: u8 = 11;
const SUM: u8 = 12;
const PRODUCT: u8 = 13;
const NOT: u8 = 14;

impl<'t> Language<'t> for C2po<'_> {
    type Operator = Operator;

    fn operand(&mut self, cursor: &mut Cursor<'t>) -> Result<Operand<Operator>, Diagnostic> {
        let span = cursor.span();
        let word = match cursor.kind() {
            Tok::Number => {
                let text = cursor.here();
                cursor.advance();
                return self.builder.number(text, span).map(Operand::Complete);
            }
            Tok::Symbol("!" | "¬") => {
                cursor.advance();
                return Ok(Operand::Prefix(Operator::Mltl(mltl::Operator::Not), NOT));
            }
            Tok::Symbol("-") => {
                cursor.advance();
                return Ok(Operand::Prefix(Operator::Negate, NOT));
            }
            Tok::Symbol("(") => {
                cursor.advance();
                return Ok(Operand::Group);
            }
            Tok::Symbol("{" | "~") => {
                let why = "there are neither arrays nor bit operations";
                return Err(refuse(span, format!("`{}` is not imported", cursor.here()), why));
            }
            Tok::Word => cursor.here(),
            _ => return Err(cursor.found("a formula")),
        };
        match word {
            "true" | "false" => {
                cursor.advance();
                Ok(Operand::Complete(self.builder.constant(word == "true", span)))
            }
            "foreach" | "forsome" | "forexactly" | "foratleast" | "foratmost" => {
                Err(refuse(span, format!("`{word}` counts over a set"), "write the formula for each element"))
            }
            "prev" | "TAU" | "sqrt" => {
                let why = "compute it into a column of the trace";
                Err(refuse(span, format!("`{word}` has no counterpart"), why))
            }
            "abs" => {
                cursor.advance();
                cursor.expect("(")?;
                Ok(Operand::Call(Operator::Abs, 1))
            }
            _ if mltl::prefix(word).is_some() => {
                cursor.advance();
                let bounds = mltl::bounds(cursor)?;
                let operator = mltl::prefix(word).map(|op| mltl::Operator::Prefix(op, bounds));
                operator
                    .map(|operator| Operand::Prefix(Operator::Mltl(operator), TEMPORAL))
                    .ok_or_else(|| cursor.found("a formula"))
            }
            _ if mltl::timed(word).is_some() || word == "M" || SECTIONS.contains(&word) => {
                Err(cursor.found("a formula"))
            }
            name => {
                cursor.advance();
                if cursor.is("(") {
                    return Err(refuse(span, format!("`{name}(…)` makes a structure"), "only plain values"));
                }
                if cursor.is("[") || cursor.is(".") {
                    return Err(refuse(span, format!("`{name}` has elements"), "only plain values"));
                }
                self.name(name, span).map(Operand::Complete)
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
        let connective = |op| Operator::Mltl(mltl::Operator::Connective(op));
        let (operator, power) = match text {
            "->" | "→" => (connective(Infix::Implies), IMPLIES),
            "<->" | "↔" => (connective(Infix::Iff), IMPLIES),
            "xor" => (connective(Infix::Xor), IMPLIES),
            "||" | "∨" => (connective(Infix::Or), OR),
            "&&" | "∧" => (connective(Infix::And), AND),
            "==" => (Operator::Compare(CompareOp::Eq), EQUAL),
            "!=" | "≠" => (Operator::Compare(CompareOp::Ne), EQUAL),
            "≥" => (Operator::Compare(CompareOp::Ge), ORDER),
            "≤" => (Operator::Compare(CompareOp::Le), ORDER),
            "+" => (Operator::Arithmetic(ArithmeticOp::Add), SUM),
            "-" => (Operator::Arithmetic(ArithmeticOp::Sub), SUM),
            "*" | "•" | "⋅" => (Operator::Arithmetic(ArithmeticOp::Mul), PRODUCT),
            "/" | "÷" => (Operator::Arithmetic(ArithmeticOp::Div), PRODUCT),
            "%" => (Operator::Arithmetic(ArithmeticOp::Rem), PRODUCT),
            "|" | "^" | "&" | "<<" | ">>" | "pow" => {
                let power = if text == "pow" {
                    PRODUCT
                } else if text.len() == 2 {
                    SHIFT
                } else {
                    BITS
                };
                if power < least {
                    return Ok(None);
                }
                let why =
                    "there are neither bit operations nor powers; `&&`, `||` and `xor` are between formulas";
                return Err(refuse(cursor.span(), format!("`{text}` is not imported"), why));
            }
            word => match (mltl::timed(word), comparison(word)) {
                (Some(op), _) => {
                    if UNTIL < least {
                        return Ok(None);
                    }
                    cursor.advance();
                    let operator = Operator::Mltl(mltl::Operator::Timed(op, mltl::bounds(cursor)?));
                    return Ok(Some(Right { operator, right: UNTIL + 1 }));
                }
                (None, Some(op)) => (Operator::Compare(op), ORDER),
                (None, None) => return Ok(None),
            },
        };
        if power < least {
            return Ok(None);
        }
        let span = cursor.advance();
        match operator {
            Operator::Arithmetic(ArithmeticOp::Rem) => {
                Err(refuse(span, "`%` is not imported", "it may differ for negative numbers"))
            }
            Operator::Arithmetic(ArithmeticOp::Div) if left.sort == Sort::Int => {
                let why = "division of whole numbers is rounded there and exact here; divide numbers of type `float`";
                Err(refuse(span, "`/` of whole numbers is not imported", why))
            }
            operator => Ok(Some(Right { operator, right: power + 1 })),
        }
    }

    fn apply(&mut self, operator: Operator, operands: &[Value], span: Span) -> Result<Value, Diagnostic> {
        let first = operands[0];
        let second = operands.get(1).copied().unwrap_or(first);
        Ok(match operator {
            Operator::Mltl(operator) => return mltl::apply(self.builder, operator, operands, span),
            Operator::Compare(op) => {
                let (left, right) = (number(first)?, number(second)?);
                let exact = left.sort == Sort::Int && right.sort == Sort::Int;
                if matches!(op, CompareOp::Eq | CompareOp::Ne) && !exact {
                    let why = "R2U2 takes numbers as equal that differ by at most 0.00001; write `abs(x - y) <= 0.00001`";
                    return Err(refuse(span, "numbers of type `float` are compared for equality", why));
                }
                self.builder.compare(op, left, right, span)
            }
            Operator::Arithmetic(op) => {
                let (left, right) = (number(first)?, number(second)?);
                self.builder.arithmetic(op, left, right, span)
            }
            Operator::Negate => {
                let body = number(first)?;
                self.builder.negate(body, span)
            }
            Operator::Abs => {
                let body = number(first)?;
                self.builder.push(ExprKind::Abs(body.id), body.sort, span, &[body])
            }
        })
    }
}
