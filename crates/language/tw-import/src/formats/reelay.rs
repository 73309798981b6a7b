//! Past MTL as Reelay writes it ("Rye"): one expression over records, `{speed > 20, lights: true}`.
//!
//! A record that lacks a key keeps the last value there; a row here has no value. Whoever writes every key in every row
//! need not mind. Of an expression that it can read only the beginning of, Reelay runs the beginning: what is left over is
//! an error here.
//!
//! Reelay judges every row, so the property is `G` of the expression: it is violated where Reelay says false.

use crate::build::{Builder, Role, Sort, Value, interval};
use crate::climb::{Infix as Right, Language, Operand, expression};
use crate::cursor::{Cursor, Lexis, Tok, letter, letter_or_digit, refuse};
use crate::decimal::Decimal;
use crate::{Format, Options, Reading};
use std::sync::Arc;
use tw_diag::{Diagnostic, Span};
use tw_ir::{CompareOp, Interval, Temporal};
use tw_spec::ast::{ExprKind, Infix, Prefix};

use super::comparison;

pub(crate) const FORMAT: Format = Format {
    name: "reelay",
    title: "Reelay",
    about: "past MTL as Reelay writes it: `historically({req} -> once[0:10]{ack: true})`",
    extensions: &["rye"],
    clock,
    read,
};

const LEXIS: Lexis = Lexis {
    symbols: &[
        "->", "||", "&&", "::", "<=", ">=", "==", "!=", "<", ">", "!", "{", "}", "[", "]", "(", ")", ":",
        ",", ".", "*", "$", "@", "-",
    ],
    comments: &[],
    begins: letter,
    goes_on: letter_or_digit,
    quotes: true,
    lines: false,
    signed: true,
};

fn clock(_: &Options) -> String {
    "A position is a step of time, bounds count steps: run with ⟨clock: index⟩. Every step is judged, hence `G`."
        .to_owned()
}

fn read(reading: &mut Reading<'_>) {
    let found = Cursor::new(reading.text, &LEXIS).and_then(|mut cursor| {
        let span = cursor.span();
        let body = expression(&mut Reelay { builder: &mut reading.builder }, &mut cursor)?;
        if cursor.kind() != Tok::End {
            return Err(cursor.found("an operator or the end of the file"));
        }
        let body = reading.builder.prefix(Prefix::Temporal(Temporal::Globally), None, body, body.span);
        reading.builder.define(Role::Either, &reading.stem, span, cursor.line(span), body)
    });
    if let Err(found) = found {
        reading.report(found);
    }
}

struct Reelay<'b> {
    builder: &'b mut Builder,
}

enum Operator {
    Not,
    Prefix(Prefix, Option<Interval>),
    Infix(Infix, Option<Interval>, u8),
}

// Powers, loosest first.
const IMPLIES: u8 = 1;
const OR: u8 = 2;
const AND: u8 = 3;
const SINCE: u8 = 4;
const PREFIX: u8 = 5;

impl<'t> Reelay<'_> {
    /// `[a:b]`, `[a:]`, `[a:inf]`, `[:b]`, if one of them is here.
    fn bounds(cursor: &mut Cursor<'t>) -> Result<Option<Interval>, Diagnostic> {
        let Some(open) = cursor.accept("[") else { return Ok(None) };
        let low = Self::bound(cursor)?;
        cursor.expect(":")?;
        let unbounded = cursor.is_word("inf");
        if unbounded {
            cursor.advance();
        }
        let high = if unbounded { None } else { Self::bound(cursor)? };
        let span = open.to(cursor.expect("]")?);
        if low.is_none() && high.is_none() {
            return Err(refuse(span, "this interval has no bound", "leave it out"));
        }
        if high == Some(Decimal::ZERO) {
            let why =
                "Reelay takes an upper bound of 0 for none at all; leave the operator out, or the interval";
            return Err(refuse(span, "an upper bound of 0 means two things", why));
        }
        interval(low.unwrap_or(Decimal::ZERO), high, span).map(Some)
    }

    fn bound(cursor: &mut Cursor<'t>) -> Result<Option<Decimal>, Diagnostic> {
        if cursor.kind() != Tok::Number {
            return Ok(None);
        }
        let span = cursor.advance();
        let text = cursor.slice(span);
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            let why =
                "in discrete time, Reelay drops what is behind the point; write a whole number of steps";
            return Err(refuse(span, format!("the bound `{text}` is not a whole number"), why));
        }
        match Decimal::parse(text) {
            Some(number) => Ok(Some(number)),
            None => Err(refuse(span, format!("`{text}` is no usable bound"), "bounds are 64-bit")),
        }
    }

    /// What is between `{` and `}`.
    fn record(&mut self, cursor: &mut Cursor<'t>) -> Result<Value, Diagnostic> {
        let start = cursor.expect("{")?;
        let mut all = self.pair(cursor)?;
        while cursor.accept(",").is_some() {
            let next = self.pair(cursor)?;
            all = self.builder.infix(Infix::And, None, [all, next], start.to(next.span));
        }
        let span = start.to(cursor.expect("}").map_err(|_| cursor.found("`,` or `}`"))?);
        Ok(Value { span, ..all })
    }

    /// `p`, `p: true`, `x: 3`, `mode: "sport"`, `x > 3`.
    fn pair(&mut self, cursor: &mut Cursor<'t>) -> Result<Value, Diagnostic> {
        let start = cursor.span();
        let key = match cursor.kind() {
            Tok::Word => cursor.here(),
            Tok::Text => unquoted(cursor.here()),
            Tok::Symbol("$") => {
                return Err(refuse(start, "`$1` is an element of a list", "columns have names here"));
            }
            _ => return Err(cursor.found("the name of a key")),
        };
        cursor.advance();
        if cursor.is("::") || cursor.is("{") || cursor.is_word("any") || cursor.is_word("all") {
            return Err(refuse(start, "nested records are not imported", "write flat records"));
        }
        if let Some(op) = match cursor.kind() {
            Tok::Symbol(symbol) => comparison(symbol),
            _ => None,
        } {
            cursor.advance();
            let left = self.key(key, Sort::Number, start)?;
            let right = self.number(cursor)?;
            return Ok(self.builder.compare(op, left, right, start.to(right.span)));
        }
        if cursor.accept(":").is_none() {
            return self.key(key, Sort::Formula, start);
        }
        let span = cursor.span();
        match cursor.kind() {
            Tok::Word if matches!(cursor.here(), "true" | "false") => {
                let expected = cursor.here() == "true";
                cursor.advance();
                let value = self.key(key, Sort::Formula, start)?;
                Ok(if expected { value } else { self.builder.not(value, start.to(span)) })
            }
            Tok::Number => {
                let left = self.key(key, Sort::Number, start)?;
                let right = self.number(cursor)?;
                Ok(self.builder.compare(CompareOp::Eq, left, right, start.to(right.span)))
            }
            Tok::Word | Tok::Text => {
                let text = if cursor.kind() == Tok::Text { unquoted(cursor.here()) } else { cursor.here() };
                cursor.advance();
                let left = self.key(key, Sort::Number, start)?;
                let right = self.builder.push(ExprKind::Text(Arc::from(text)), Sort::Number, span, &[]);
                Ok(self.builder.compare(CompareOp::Eq, left, right, start.to(span)))
            }
            Tok::Symbol("*") => {
                let why = "write a value instead of `*`; `forall` and `exists` over values are not imported";
                Err(refuse(span, "`*` stands for any value", why))
            }
            _ => Err(cursor.found("a value")),
        }
    }

    fn key(&mut self, key: &str, sort: Sort, span: Span) -> Result<Value, Diagnostic> {
        if key.is_empty() || key.contains(['.', '`']) {
            return Err(refuse(
                span,
                format!("`{key}` is no usable name"),
                "points lead into nested values here",
            ));
        }
        self.builder.signal(key, sort, span)
    }

    fn number(&mut self, cursor: &mut Cursor<'t>) -> Result<Value, Diagnostic> {
        let plain =
            |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.'));
        if cursor.kind() != Tok::Number || !plain(cursor.here()) {
            return Err(cursor.found("a number without exponent"));
        }
        let span = cursor.advance();
        self.builder.number(cursor.slice(span), span)
    }
}

/// Text without its quotation marks.
fn unquoted(text: &str) -> &str {
    text.get(1..text.len().saturating_sub(1)).unwrap_or_default()
}

impl<'t> Language<'t> for Reelay<'_> {
    type Operator = Operator;

    fn operand(&mut self, cursor: &mut Cursor<'t>) -> Result<Operand<Operator>, Diagnostic> {
        let span = cursor.span();
        let operator = match cursor.kind() {
            Tok::Symbol("{") => return self.record(cursor).map(Operand::Complete),
            Tok::Symbol("(") => {
                cursor.advance();
                return Ok(Operand::Group);
            }
            Tok::Symbol("$") => {
                return Err(refuse(span, "`${…}` is a function of the program", "compute it into a column"));
            }
            Tok::Symbol("!") => {
                cursor.advance();
                Operator::Not
            }
            Tok::Word => {
                let word = cursor.here();
                let op = match word {
                    "not" => None,
                    "pre" | "Y" => Some(Prefix::Temporal(Temporal::Previous)),
                    "once" | "P" => Some(Prefix::Temporal(Temporal::Once)),
                    "historically" | "H" => Some(Prefix::Temporal(Temporal::Historically)),
                    "exists" | "E" | "forall" | "A" => {
                        let why = "quantifiers over values are not imported; `check ⟨by: COLUMN⟩` checks each value alone";
                        return Err(refuse(span, format!("`{word}` ranges over values"), why));
                    }
                    _ => return Err(cursor.found("an atom in `{…}`, an operator or `(`")),
                };
                cursor.advance();
                match op {
                    None => Operator::Not,
                    Some(Prefix::Temporal(Temporal::Previous)) => {
                        Operator::Prefix(Prefix::Temporal(Temporal::Previous), None)
                    }
                    Some(op) => Operator::Prefix(op, Self::bounds(cursor)?),
                }
            }
            _ => return Err(cursor.found("an atom in `{…}`, an operator or `(`")),
        };
        if !cursor.is("{") && !cursor.is("(") && !cursor.is("$") {
            return Err(cursor.found("an atom in `{…}` or `(`"));
        }
        Ok(Operand::Prefix(operator, PREFIX))
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
        let (op, power) = match text {
            "->" | "implies" => (Infix::Implies, IMPLIES),
            "||" | "or" => (Infix::Or, OR),
            "&&" | "and" => (Infix::And, AND),
            "since" | "S" => (Infix::Temporal(Temporal::Since), SINCE),
            _ => return Ok(None),
        };
        if power < least {
            return Ok(None);
        }
        if left.power == power && !left.grouped && matches!(power, IMPLIES | SINCE) {
            let found = Diagnostic::error("import-syntax", format!("`{text}` cannot be chained"));
            return Err(found.at(cursor.span(), "expected parentheses").help("write `a -> (b -> c)`"));
        }
        cursor.advance();
        let bounds = if power == SINCE { Self::bounds(cursor)? } else { None };
        Ok(Some(Right { operator: Operator::Infix(op, bounds, power), right: power + 1 }))
    }

    fn apply(&mut self, operator: Operator, operands: &[Value], span: Span) -> Result<Value, Diagnostic> {
        let first = operands[0];
        let second = operands.get(1).copied().unwrap_or(first);
        Ok(match operator {
            Operator::Not => self.builder.not(first, span),
            Operator::Prefix(op, bounds) => self.builder.prefix(op, bounds, first, span),
            Operator::Infix(op, bounds, power) => {
                Value { power, ..self.builder.infix(op, bounds, [first, second], span) }
            }
        })
    }
}
