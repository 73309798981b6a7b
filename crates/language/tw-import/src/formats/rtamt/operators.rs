//! Operators, operands and their precedences.

use super::{Operator, Rtamt};
use crate::build::Value;
use crate::climb::{Infix as Right, Language, Operand};
use crate::cursor::{Cursor, Tok, refuse};
use crate::formats::{comparison, number};
use tw_diag::{Diagnostic, Span};
use tw_ir::{ArithmeticOp, Temporal};
use tw_spec::ast::{ExprKind, Infix, Prefix};

// Powers of RTAMT's grammar, loosest first.
const XOR: u8 = 5;
const IFF: u8 = 6;
const IMPLIES: u8 = 7;
const OR: u8 = 8;
const AND: u8 = 9;
const SINCE: u8 = 10;
const UNLESS: u8 = 11;
const UNTIL: u8 = 12;
/// What prefix operators take: comparisons and arithmetic.
const PREFIX: u8 = 13;
const COMPARE: u8 = 22;
const MINUS: u8 = 23;
const PLUS: u8 = 24;
const DIVIDE: u8 = 25;
const TIMES: u8 = 26;

impl<'t> Rtamt<'_, 't> {
    /// A prefix operator with its bounds.
    fn timed(&mut self, op: Prefix, cursor: &mut Cursor<'t>) -> Result<Operand<Operator>, Diagnostic> {
        cursor.advance();
        Ok(Operand::Prefix(Operator::Prefix(op, self.bounds(cursor)?), PREFIX))
    }

    /// `rise(x)`: x holds and did not before; the first sample has no "before", which is no objection.
    fn edge(&mut self, value: Value, rising: bool, span: Span) -> Value {
        let line = self.line;
        let body = self.reading.builder.truth(value);
        let body = self.builder().twice(body, line);
        let not = self.builder().not(body, span);
        let (now, before) = if rising { (body, not) } else { (not, body) };
        let before = self.builder().prefix(Prefix::Temporal(Temporal::WeakPrevious), None, before, span);
        self.builder().infix(Infix::And, None, [before, now], span)
    }

    /// `-3`: minus signs stand before numbers only.
    fn negative(&mut self, cursor: &mut Cursor<'t>) -> Result<Value, Diagnostic> {
        let start = cursor.advance();
        let mut negative = true;
        while cursor.accept("-").is_some() {
            negative = !negative;
        }
        if cursor.kind() != Tok::Number {
            return Err(cursor.found("a number").help("write `0 - x` for the opposite of a signal"));
        }
        let end = cursor.advance();
        let text = cursor.slice(end);
        let text = if negative { format!("-{text}") } else { text.to_owned() };
        self.builder().number(&text, start.to(end))
    }
}

impl<'t> Language<'t> for Rtamt<'_, 't> {
    type Operator = Operator;

    fn operand(&mut self, cursor: &mut Cursor<'t>) -> Result<Operand<Operator>, Diagnostic> {
        let span = cursor.span();
        match cursor.kind() {
            Tok::Number => {
                let text = cursor.here();
                cursor.advance();
                self.builder().number(text, span).map(Operand::Complete)
            }
            Tok::Symbol("-") => self.negative(cursor).map(Operand::Complete),
            Tok::Symbol("(") => {
                cursor.advance();
                Ok(Operand::Group)
            }
            Tok::Symbol("!") => {
                cursor.advance();
                Ok(Operand::Prefix(Operator::Not, PREFIX))
            }
            Tok::Word => match cursor.here() {
                "not" => {
                    cursor.advance();
                    Ok(Operand::Prefix(Operator::Not, PREFIX))
                }
                "always" | "G" => self.timed(Prefix::Temporal(Temporal::Globally), cursor),
                "eventually" | "F" => self.timed(Prefix::Temporal(Temporal::Finally), cursor),
                "historically" | "H" => self.timed(Prefix::Temporal(Temporal::Historically), cursor),
                "once" | "O" => self.timed(Prefix::Temporal(Temporal::Once), cursor),
                // At the ends of the trace these are worth +inf, and the strong ones -inf.
                "prev" | "Y" => Ok(step(Prefix::Temporal(Temporal::WeakPrevious), cursor)),
                "next" | "X" => Ok(step(Prefix::Temporal(Temporal::WeakNext), cursor)),
                "s_prev" | "sY" => Ok(step(Prefix::Temporal(Temporal::Previous), cursor)),
                "s_next" | "sX" => Ok(step(Prefix::Temporal(Temporal::Next), cursor)),
                word @ ("rise" | "fall") => call(Operator::Edge { rising: word == "rise" }, cursor),
                "abs" => call(Operator::Abs, cursor),
                function @ ("sqrt" | "exp" | "pow") => {
                    let why = "terms have `+ - * / %`, `min`, `max` and `abs`; compute it into a column of the trace";
                    Err(refuse(span, format!("there is no function `{function}`"), why))
                }
                name => {
                    cursor.advance();
                    self.name(name, span).map(Operand::Complete)
                }
            },
            _ => Err(cursor.found("a formula")),
        }
    }

    fn infix(
        &mut self,
        cursor: &mut Cursor<'t>,
        least: u8,
        _: &Value,
    ) -> Result<Option<Right<Operator>>, Diagnostic> {
        let text = match cursor.kind() {
            Tok::Word | Tok::Symbol(_) => cursor.here(),
            _ => return Ok(None),
        };
        let (operator, power) = match text {
            "*" => (Operator::Arithmetic(ArithmeticOp::Mul), TIMES),
            "/" => (Operator::Arithmetic(ArithmeticOp::Div), DIVIDE),
            "+" => (Operator::Arithmetic(ArithmeticOp::Add), PLUS),
            "-" => (Operator::Arithmetic(ArithmeticOp::Sub), MINUS),
            "until" | "U" => (Operator::Infix(Infix::Temporal(Temporal::Until), None), UNTIL),
            "unless" | "W" => (Operator::Infix(Infix::Temporal(Temporal::WeakUntil), None), UNLESS),
            "since" | "S" => (Operator::Infix(Infix::Temporal(Temporal::Since), None), SINCE),
            "and" | "&" => (Operator::Infix(Infix::And, None), AND),
            "or" | "|" => (Operator::Infix(Infix::Or, None), OR),
            "implies" | "->" => (Operator::Infix(Infix::Implies, None), IMPLIES),
            "iff" | "<->" => (Operator::Infix(Infix::Iff, None), IFF),
            "xor" => (Operator::Infix(Infix::Xor, None), XOR),
            symbol => match comparison(symbol) {
                Some(op) => (Operator::Compare(op), COMPARE),
                None => return Ok(None),
            },
        };
        if power < least {
            return Ok(None);
        }
        let span = cursor.advance();
        let operator = match operator {
            Operator::Infix(Infix::Iff | Infix::Xor, _) => {
                let why = "RTAMT gives `a iff b` the value -|a - b| and `a xor b` the value |a - b|, so the one is never \
                           above 0 and the other never below; write `(a implies b) and (b implies a)` or its negation";
                return Err(refuse(span, format!("`{text}` compares robustness, not truth"), why));
            }
            Operator::Infix(
                op @ (Infix::Temporal(Temporal::Until)
                | Infix::Temporal(Temporal::Since)
                | Infix::Temporal(Temporal::WeakUntil)),
                _,
            ) => {
                let bounds = self.bounds(cursor)?;
                if op == Infix::Temporal(Temporal::WeakUntil)
                    && bounds.is_some_and(|bounds| bounds.low.billionths > 0)
                {
                    let why = "write `(always[0:b] x) or (x until[a:b] y)`";
                    return Err(refuse(span, "`unless` with a lower bound above 0", why));
                }
                Operator::Infix(op, bounds)
            }
            operator => operator,
        };
        Ok(Some(Right { operator, right: power + 1 }))
    }

    fn apply(&mut self, operator: Operator, operands: &[Value], span: Span) -> Result<Value, Diagnostic> {
        let first = operands[0];
        let second = operands.get(1).copied().unwrap_or(first);
        Ok(match operator {
            Operator::Not => {
                let body = self.reading.builder.truth(first);
                self.builder().not(body, span)
            }
            Operator::Prefix(op, bounds) => {
                let body = self.reading.builder.truth(first);
                self.builder().prefix(op, bounds, body, span)
            }
            Operator::Infix(op, bounds) => {
                let sides = [self.reading.builder.truth(first), self.reading.builder.truth(second)];
                self.builder().infix(op, bounds, sides, span)
            }
            Operator::Edge { rising } => self.edge(first, rising, span),
            Operator::Arithmetic(op) => {
                let (left, right) = (number(first)?, number(second)?);
                self.builder().arithmetic(op, left, right, span)
            }
            Operator::Compare(op) => {
                let (left, right) = (number(first)?, number(second)?);
                self.builder().compare(op, left, right, span)
            }
            Operator::Abs => {
                let body = number(first)?;
                self.builder().push(ExprKind::Abs(body.id), body.sort, span, &[body])
            }
        })
    }
}

/// `next`, `prev` and their strong forms, which take no bounds.
fn step(op: Prefix, cursor: &mut Cursor<'_>) -> Operand<Operator> {
    cursor.advance();
    Operand::Prefix(Operator::Prefix(op, None), PREFIX)
}

/// `rise(`, `fall(`, `abs(`.
fn call(operator: Operator, cursor: &mut Cursor<'_>) -> Result<Operand<Operator>, Diagnostic> {
    cursor.advance();
    cursor.expect("(")?;
    Ok(Operand::Call(operator, 1))
}
