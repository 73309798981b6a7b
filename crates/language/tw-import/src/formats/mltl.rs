//! Mission-time LTL as R2U2 takes it in `.mltl` files: one formula a line over `a0`, `a1` and so on. The operators are also
//! those of `.c2po` files.
//!
//! The left operand of `f U[a,b] g` is demanded from a positions on only, and past operators mirror that. So a lower bound
//! is a shift: `F[a,a] (f U[0,b-a] g)`. Where the trace ends before the shift, U is false and R true, as on finite traces in
//! the literature; R2U2 itself gives no verdict where the trace could still change it.

use super::formula;
use crate::build::{Builder, Role, Sort, Value, exactly, interval};
use crate::climb::{Infix as Right, Language, Operand, expression};
use crate::cursor::{Cursor, Lexis, Tok, letter, letter_or_digit, refuse};
use crate::decimal::Decimal;
use crate::{Format, Options, Reading};
use tw_diag::{Diagnostic, Span};
use tw_ir::{Bound, Interval, Temporal};
use tw_spec::ast::{Infix, Prefix};

pub(crate) const FORMAT: Format = Format {
    name: "mltl",
    title: "MLTL",
    about: "MLTL as R2U2 writes it, one formula a line: `G[0,10] (a0 -> F[0,5] a1)`",
    extensions: &["mltl"],
    clock,
    read,
};

const LEXIS: Lexis = Lexis {
    symbols: &["<->", "->", "!", "&", "|", ",", "[", "]", "(", ")"],
    comments: &[("#", None)],
    begins: letter,
    goes_on: letter_or_digit,
    quotes: false,
    lines: true,
    signed: false,
};

pub(super) fn clock(_: &Options) -> String {
    "A position is a row, bounds count rows: run with ⟨clock: index⟩.".to_owned()
}

fn read(reading: &mut Reading<'_>) {
    let mut cursor = match Cursor::new(reading.text, &LEXIS) {
        Ok(cursor) => cursor,
        Err(found) => {
            reading.report(found);
            return;
        }
    };
    let mut number = 0;
    while cursor.kind() != Tok::End {
        if cursor.kind() == Tok::Line {
            cursor.advance();
            continue;
        }
        let name = format!("f{number}");
        number += 1;
        let span = cursor.span();
        let mut mltl = Mltl { builder: &mut reading.builder, past: false };
        let read = expression(&mut mltl, &mut cursor);
        let past = mltl.past;
        let found = read.and_then(|mut body| {
            if !matches!(cursor.kind(), Tok::Line | Tok::End) {
                return Err(cursor.found("an operator or the end of the line"));
            }
            // One of the past says nothing at the first row: it is judged at all.
            if past {
                body = reading.builder.prefix(Prefix::Temporal(Temporal::Globally), None, body, body.span);
            }
            reading.builder.define(Role::Either, &name, span, cursor.line(span), body)
        });
        if let Err(found) = found {
            if !reading.report(found) {
                return;
            }
            while !matches!(cursor.kind(), Tok::Line | Tok::End) {
                cursor.advance();
            }
        }
    }
}

/// Operators of MLTL.
pub(super) enum Operator {
    Not,
    Prefix(Prefix, Interval),
    /// `U`, `R`, `S`, `T`.
    Timed(Infix, Interval),
    /// `->` and the like.
    Connective(Infix),
}

/// The prefix operator that a letter stands for.
pub(super) fn prefix(word: &str) -> Option<Prefix> {
    Some(match word {
        "G" => Prefix::Temporal(Temporal::Globally),
        "F" => Prefix::Temporal(Temporal::Finally),
        "H" => Prefix::Temporal(Temporal::Historically),
        "O" => Prefix::Temporal(Temporal::Once),
        _ => return None,
    })
}

/// The infix operator that a letter stands for.
pub(super) fn timed(word: &str) -> Option<Infix> {
    Some(match word {
        "U" => Infix::Temporal(Temporal::Until),
        "R" => Infix::Temporal(Temporal::Release),
        "S" => Infix::Temporal(Temporal::Since),
        "T" => Infix::Temporal(Temporal::Trigger),
        _ => return None,
    })
}

/// `[a,b]`, or `[b]` for `[0,b]`.
pub(super) fn bounds(cursor: &mut Cursor<'_>) -> Result<Interval, Diagnostic> {
    let open = cursor.expect("[")?;
    let first = bound(cursor)?;
    let second = if cursor.accept(",").is_some() { Some(bound(cursor)?) } else { None };
    let span = open.to(cursor.expect("]")?);
    let (low, high) = match second {
        Some(high) => (first, high),
        None => (Decimal::ZERO, first),
    };
    interval(low, Some(high), span)
}

fn bound(cursor: &mut Cursor<'_>) -> Result<Decimal, Diagnostic> {
    if cursor.is_word("M") {
        let why = "write the number of the last position instead of `M`";
        return Err(refuse(cursor.span(), "the mission time is not in the file", why));
    }
    let whole = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if cursor.kind() != Tok::Number || !whole(cursor.here()) {
        return Err(cursor.found("a whole number"));
    }
    let span = cursor.advance();
    let why = "bounds are 64-bit";
    Decimal::parse(cursor.slice(span)).ok_or_else(|| refuse(span, "this bound is too large", why))
}

/// The operator with its operands.
pub(super) fn apply(
    builder: &mut Builder,
    operator: Operator,
    operands: &[Value],
    span: Span,
) -> Result<Value, Diagnostic> {
    let first = formula(operands[0])?;
    let second = formula(operands.get(1).copied().unwrap_or(first))?;
    Ok(match operator {
        Operator::Not => builder.not(first, span),
        Operator::Prefix(op, interval) => builder.prefix(op, Some(interval), first, span),
        Operator::Connective(op) => builder.infix(op, None, [first, second], span),
        Operator::Timed(op, Interval { low, high }) => {
            // What the lower bound shifts by, and the operator that does so without asking for a position to exist where
            // the dual would not.
            let shift = match op {
                Infix::Temporal(Temporal::Release) => Prefix::Temporal(Temporal::Globally),
                Infix::Temporal(Temporal::Since) => Prefix::Temporal(Temporal::Once),
                Infix::Temporal(Temporal::Trigger) => Prefix::Temporal(Temporal::Historically),
                _ => Prefix::Temporal(Temporal::Finally),
            };
            let zero = Bound { billionths: 0, ..low };
            let high = high.map(|high| Bound { billionths: high.billionths - low.billionths, ..high });
            let inner = builder.infix(op, Some(Interval { low: zero, high }), [first, second], span);
            if low.billionths == 0 { inner } else { builder.prefix(shift, Some(exactly(low)), inner, span) }
        }
    })
}

struct Mltl<'b> {
    builder: &'b mut Builder,
    /// Whether there was an operator of the past.
    past: bool,
}

// Powers, loosest first; all infix operators lean to the left.
const IMPLIES: u8 = 1;
const OR: u8 = 2;
const AND: u8 = 3;
const UNTIL: u8 = 4;
const PREFIX: u8 = 5;

impl<'t> Language<'t> for Mltl<'_> {
    type Operator = Operator;

    fn operand(&mut self, cursor: &mut Cursor<'t>) -> Result<Operand<Operator>, Diagnostic> {
        let span = cursor.span();
        match cursor.kind() {
            Tok::Symbol("!") => {
                cursor.advance();
                Ok(Operand::Prefix(Operator::Not, PREFIX))
            }
            Tok::Symbol("(") => {
                cursor.advance();
                Ok(Operand::Group)
            }
            Tok::Word => match cursor.here() {
                word @ ("true" | "false") => {
                    cursor.advance();
                    Ok(Operand::Complete(self.builder.constant(word == "true", span)))
                }
                word if prefix(word).is_some() => {
                    let op = prefix(word).unwrap_or(Prefix::Temporal(Temporal::Globally));
                    self.past |= matches!(
                        op,
                        Prefix::Temporal(Temporal::Historically) | Prefix::Temporal(Temporal::Once)
                    );
                    cursor.advance();
                    Ok(Operand::Prefix(Operator::Prefix(op, bounds(cursor)?), PREFIX))
                }
                word if word.strip_prefix('a').is_some_and(is_index) => {
                    cursor.advance();
                    self.builder.signal(word, Sort::Formula, span).map(Operand::Complete)
                }
                _ => Err(cursor.found("a proposition `a0`, `a1`, … or an operator")),
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
        let (op, power) = match text {
            "->" => (Infix::Implies, IMPLIES),
            "<->" => (Infix::Iff, IMPLIES),
            "|" => (Infix::Or, OR),
            "&" => (Infix::And, AND),
            word => match timed(word) {
                Some(op) => (op, UNTIL),
                None => return Ok(None),
            },
        };
        if power < least {
            return Ok(None);
        }
        cursor.advance();
        self.past |= matches!(op, Infix::Temporal(Temporal::Since) | Infix::Temporal(Temporal::Trigger));
        let operator =
            if power == UNTIL { Operator::Timed(op, bounds(cursor)?) } else { Operator::Connective(op) };
        Ok(Some(Right { operator, right: power + 1 }))
    }

    fn apply(&mut self, operator: Operator, operands: &[Value], span: Span) -> Result<Value, Diagnostic> {
        apply(self.builder, operator, operands, span)
    }
}

/// Whether this is a number without leading zeros.
fn is_index(digits: &str) -> bool {
    !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'))
}
