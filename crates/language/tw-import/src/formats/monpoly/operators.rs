//! Operators, operands and their precedences: temporal operators and quantifiers reach over all connectives, `NOT` binds
//! most tightly.

use super::aggregates::Aggregate;
use super::{Defined, MonPoly};
use crate::build::Value;
use crate::climb::{Infix as Right, Language, Operand};
use crate::cursor::{Cursor, Tok, refuse};
use crate::formats::{comparison, formula, number};
use tw_diag::{Diagnostic, Span};
use tw_ir::{ArithmeticOp, CompareOp, Interval, Temporal};
use tw_spec::ast::{Infix, Prefix, Type};

// Powers, loosest first.
const UNTIL: u8 = 1;
const TEMPORAL: u8 = 2;
const QUANTIFIER: u8 = 3;
const EQUIV: u8 = 4;
const IMPLIES: u8 = 5;
const OR: u8 = 6;
const AND: u8 = 7;
const NOT: u8 = 8;
const COMPARE: u8 = 9;
const SUM: u8 = 10;
const PRODUCT: u8 = 11;
const NEGATE: u8 = 12;
/// Of the value of `LET p(x) = φ` before its `IN`.
const LET: u8 = 100;

pub(super) enum Operator {
    Not,
    Negate,
    Quantifier(bool),
    Prefix(Prefix, Option<Interval>),
    Infix(Infix, Option<Interval>),
    Compare(CompareOp),
    Arithmetic(ArithmeticOp),
    Aggregate(Aggregate),
    /// `LET p(x, y) =`: its name and its line.
    Let(String, usize),
    In,
}

fn temporal(word: &str) -> Option<Temporal> {
    Some(match word {
        "PREV" | "PREVIOUS" => Temporal::Previous,
        "NEXT" => Temporal::Next,
        "EVENTUALLY" | "SOMETIMES" => Temporal::Finally,
        "ONCE" => Temporal::Once,
        "ALWAYS" => Temporal::Globally,
        "PAST_ALWAYS" | "HISTORICALLY" => Temporal::Historically,
        _ => return None,
    })
}

/// Words that are operators between operands, or end one.
const INFIXES: [&str; 11] =
    ["SINCE", "UNTIL", "AND", "OR", "IMPLIES", "EQUIV", "MOD", "IN", "SUBSTRING", "MATCHES", "TRIGGER"];

/// Words that are refused by name.
const FUNCTIONS: [&str; 12] =
    ["f2i", "i2f", "r2s", "s2r", "i2s", "s2i", "f2s", "s2f", "DAY_OF_MONTH", "MONTH", "YEAR", "FORMAT_DATE"];

impl<'t> MonPoly<'_, 't> {
    /// `LET p(x, y) =`
    fn definition(&mut self, cursor: &mut Cursor<'t>) -> Result<Operator, Diagnostic> {
        let (name, span) = cursor.word("the name of a predicate")?;
        self.plain(name, span)?;
        cursor.expect("(")?;
        let names = if cursor.is(")") { Vec::new() } else { self.names(cursor)? };
        cursor.expect(")")?;
        cursor.expect("=")?;
        self.scopes.definition(&names, &mut self.types)?;
        Ok(Operator::Let(name.to_owned(), cursor.line(span)))
    }

    /// Both sides of an operator are of one type.
    fn same(&mut self, left: Value, right: Value) -> Result<super::Cell, Diagnostic> {
        let (first, second) = (self.cell(left), self.cell(right));
        let text = self.slice(right.span);
        self.types.unify(second, first, (text, right.span))?;
        Ok(first)
    }
}

impl<'t> Language<'t> for MonPoly<'_, 't> {
    type Operator = Operator;

    fn operand(&mut self, cursor: &mut Cursor<'t>) -> Result<Operand<Operator>, Diagnostic> {
        let span = cursor.span();
        let word = match cursor.kind() {
            Tok::Number => return self.number(cursor).map(Operand::Complete),
            Tok::Text => return Ok(Operand::Complete(self.text(cursor.advance()))),
            Tok::Symbol("(") => {
                cursor.advance();
                return Ok(Operand::Group);
            }
            Tok::Symbol("-") => {
                cursor.advance();
                return Ok(Operand::Prefix(Operator::Negate, NEGATE));
            }
            Tok::Symbol("<|" | "|>" | "◁" | "▷") => {
                return Err(refuse(
                    span,
                    "regular expressions over time are not imported",
                    "write it with SINCE and UNTIL",
                ));
            }
            Tok::Word => cursor.here(),
            _ => return Err(cursor.found("a formula")),
        };
        if let Some(op) = temporal(word) {
            cursor.advance();
            let interval = self.interval(cursor)?;
            return Ok(Operand::Prefix(Operator::Prefix(Prefix::Temporal(op), interval), TEMPORAL));
        }
        match word {
            "TRUE" | "FALSE" => {
                cursor.advance();
                Ok(Operand::Complete(self.builder.constant(word == "TRUE", span)))
            }
            "NOT" => {
                cursor.advance();
                Ok(Operand::Prefix(Operator::Not, NOT))
            }
            "FORALL" | "EXISTS" => {
                cursor.advance();
                let names = self.names(cursor)?;
                cursor.expect(".")?;
                self.scopes.quantifier(&names, &mut self.types)?;
                Ok(Operand::Prefix(Operator::Quantifier(word == "FORALL"), QUANTIFIER))
            }
            "LET" => {
                cursor.advance();
                Ok(Operand::Prefix(self.definition(cursor)?, 0))
            }
            "LETPAST" => {
                Err(refuse(span, "`LETPAST` has no counterpart", "definitions are not recursive here"))
            }
            "FORWARD" | "MATCHF" | "BACKWARD" | "MATCHP" => Err(refuse(
                span,
                "regular expressions over time are not imported",
                "write it with SINCE and UNTIL",
            )),
            _ if INFIXES.contains(&word) => Err(cursor.found("a formula")),
            _ if FUNCTIONS.contains(&word) => Err(refuse(
                span,
                format!("`{word}` has no counterpart"),
                "compute it into an argument of the event",
            )),
            "_" => {
                Err(refuse(span, "`_` stands outside of a predicate", "give the variable a name and bind it"))
            }
            _ if cursor.peek(1) == Tok::Symbol("<-") => {
                let aggregate = self.aggregate(cursor)?;
                Ok(Operand::Prefix(Operator::Aggregate(aggregate), 0))
            }
            _ if cursor.peek(1) == Tok::Symbol("(") => self.predicate(cursor).map(Operand::Complete),
            _ => {
                cursor.advance();
                self.variable(word, span).map(Operand::Complete)
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
            _ => "",
        };
        if left.power == LET && !left.grouped {
            if text != "IN" {
                return Err(cursor.found("an operator or `IN`"));
            }
            cursor.advance();
            return Ok(Some(Right { operator: Operator::In, right: 0 }));
        }
        let connective = |op| Operator::Infix(op, None);
        let (operator, power, right) = match text {
            "SINCE" => (Operator::Infix(Infix::Temporal(Temporal::Since), None), UNTIL, UNTIL),
            "UNTIL" => (Operator::Infix(Infix::Temporal(Temporal::Until), None), UNTIL, UNTIL),
            "EQUIV" => (connective(Infix::Iff), EQUIV, EQUIV + 1),
            "IMPLIES" => (connective(Infix::Implies), IMPLIES, IMPLIES),
            "OR" => (connective(Infix::Or), OR, OR + 1),
            "AND" => (connective(Infix::And), AND, AND + 1),
            "=" => (Operator::Compare(CompareOp::Eq), COMPARE, COMPARE + 1),
            "<>" => (Operator::Compare(CompareOp::Ne), COMPARE, COMPARE + 1),
            "+" => (Operator::Arithmetic(ArithmeticOp::Add), SUM, SUM + 1),
            "-" => (Operator::Arithmetic(ArithmeticOp::Sub), SUM, SUM + 1),
            "*" => (Operator::Arithmetic(ArithmeticOp::Mul), PRODUCT, PRODUCT + 1),
            "/" => (Operator::Arithmetic(ArithmeticOp::Div), PRODUCT, PRODUCT + 1),
            "MOD" => (Operator::Arithmetic(ArithmeticOp::Rem), PRODUCT, PRODUCT + 1),
            "SUBSTRING" | "MATCHES" if COMPARE >= least => {
                let why = "compute it into an argument of the event";
                return Err(refuse(cursor.span(), format!("`{text}` has no counterpart"), why));
            }
            _ => match comparison(text).filter(|op| !matches!(op, CompareOp::Eq | CompareOp::Ne)) {
                Some(op) => (Operator::Compare(op), COMPARE, COMPARE + 1),
                None => return Ok(None),
            },
        };
        if let Operator::Arithmetic(op) = operator {
            // Versions differ here: `a / b + c` was `a / (b + c)` once, and `a MOD b + c` still is.
            let quotient = |power: u8| power == PRODUCT + 1;
            let mixed = quotient(left.power) || op_is_quotient(op) && left.power == PRODUCT;
            if mixed && !left.grouped {
                let why = "write parentheses: versions of MonPoly read it differently";
                return Err(refuse(cursor.span(), format!("`{text}` beside `/` or `MOD`"), why));
            }
        }
        if power < least {
            return Ok(None);
        }
        cursor.advance();
        let operator = match operator {
            Operator::Infix(op @ Infix::Temporal(_), _) => Operator::Infix(op, self.interval(cursor)?),
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
                self.builder.not(body, span)
            }
            Operator::Negate => {
                let body = number(first)?;
                let cell = self.cell(body);
                self.types.number(cell, (self.slice(body.span), body.span))?;
                let value = self.builder.negate(body, span);
                self.types.set(value.id.0, cell);
                value
            }
            Operator::Quantifier(forall) => {
                let body = formula(first)?;
                let words: Vec<String> =
                    self.scopes.close().into_iter().map(|variable| variable.word).collect();
                self.builder.quantify(forall, &words, body, span)
            }
            Operator::Prefix(op, interval) => {
                let body = formula(first)?;
                self.builder.prefix(op, interval, body, span)
            }
            Operator::Infix(op, interval) => {
                let operands = [formula(first)?, formula(second)?];
                self.builder.infix(op, interval, operands, span)
            }
            Operator::Compare(op) => {
                let (left, right) = (number(first)?, number(second)?);
                self.same(left, right)?;
                self.builder.compare(op, left, right, span)
            }
            Operator::Arithmetic(op) => {
                let (left, right) = (number(first)?, number(second)?);
                let cell = self.same(left, right)?;
                self.types.number(cell, (self.slice(left.span), left.span))?;
                match op {
                    ArithmeticOp::Div => self.divided.push((cell, span)),
                    ArithmeticOp::Rem => {
                        let int = self.types.cell(Some(Type::Int));
                        self.types.unify(cell, int, (self.slice(left.span), left.span))?;
                    }
                    _ => {}
                }
                let value = self.builder.arithmetic(op, left, right, span);
                self.types.set(value.id.0, cell);
                let power = match op {
                    ArithmeticOp::Add | ArithmeticOp::Sub => SUM,
                    ArithmeticOp::Mul => PRODUCT,
                    _ => PRODUCT + 1,
                };
                Value { power, ..value }
            }
            Operator::Aggregate(aggregate) => return self.aggregated(aggregate, first, span),
            Operator::Let(name, line) => {
                let body = formula(first)?;
                let parameters = self.scopes.close();
                let cells = parameters.iter().map(|parameter| parameter.cell).collect();
                let words = parameters.into_iter().map(|parameter| parameter.word).collect();
                let word = self.builder.define_with(&name, words, line, body);
                self.lets.push(Defined { name, word, parameters: cells });
                Value { power: LET, ..body }
            }
            Operator::In => {
                self.lets.pop();
                let body = formula(second)?;
                Value { power: u8::MAX, span, ..body }
            }
        })
    }
}

fn op_is_quotient(op: ArithmeticOp) -> bool {
    matches!(op, ArithmeticOp::Div | ArithmeticOp::Rem)
}
