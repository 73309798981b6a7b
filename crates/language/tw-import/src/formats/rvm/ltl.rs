//! Temporal formulas over the events of a monitor: `[](next => (*) hasnexttrue)`.

use super::Reading;
use super::ere::known;
use crate::build::{Builder, Sort, Value};
use crate::climb::{Infix as Right, Language, Operand, expression};
use crate::cursor::{Cursor, Lexis, Tok, letter, letter_or_digit};
use tw_diag::{Diagnostic, Span};
use tw_ir::Temporal;
use tw_spec::ast::{ExprId, Infix, Prefix};

const LEXIS: Lexis = Lexis {
    symbols: &[
        "<=>", "<->", "[*]", "<*>", "(*)", "~U", "~S", "=>", "->", "[]", "<>", "/\\", "\\/", "&&", "||",
        "++", "^", "!", "(", ")",
    ],
    comments: &[("/*", Some("*/")), ("//", None)],
    begins: letter,
    goes_on: letter_or_digit,
    quotes: false,
    lines: false,
    signed: false,
};

// Powers, loosest first.
const IFF: u8 = 1;
const IMPLIES: u8 = 2;
const OR: u8 = 3;
const XOR: u8 = 4;
const AND: u8 = 5;
const SINCE: u8 = 6;
const UNTIL: u8 = 7;
const PREFIX: u8 = 8;

/// Reads the formula at `body`. One that is judged at every event is put under `G`, itself or its negation.
pub(super) fn read(
    reading: &mut Reading<'_>,
    text: &str,
    body: Span,
    events: &[&str],
    everywhere: Option<bool>,
) -> Result<ExprId, Diagnostic> {
    let mut cursor = Cursor::within(text, body, &LEXIS)?;
    let mut formula = Ltl { builder: &mut reading.builder, events };
    let mut value = expression(&mut formula, &mut cursor)?;
    if cursor.kind() != Tok::End {
        return Err(cursor.found("an operator or a handler"));
    }
    if let Some(holds) = everywhere {
        if !holds {
            value = reading.builder.not(value, value.span);
        }
        value = reading.builder.prefix(Temporal::Globally.into(), None, value, value.span);
    }
    Ok(value.id)
}

struct Ltl<'b, 'e> {
    builder: &'b mut Builder,
    events: &'e [&'e str],
}

enum Operator {
    Not,
    Prefix(Prefix),
    Infix(Infix),
}

impl<'t> Language<'t> for Ltl<'_, '_> {
    type Operator = Operator;

    fn operand(&mut self, cursor: &mut Cursor<'t>) -> Result<Operand<Operator>, Diagnostic> {
        let span = cursor.span();
        let text = match cursor.kind() {
            Tok::Word | Tok::Symbol(_) => cursor.here(),
            _ => return Err(cursor.found("an event, an operator or `(`")),
        };
        let temporal = match text {
            "[]" => Some(Temporal::Globally),
            "<>" => Some(Temporal::Finally),
            "o" => Some(Temporal::Next),
            "(*)" => Some(Temporal::Previous),
            "[*]" => Some(Temporal::Historically),
            "<*>" => Some(Temporal::Once),
            _ => None,
        };
        if text == "(" {
            cursor.advance();
            return Ok(Operand::Group);
        }
        if let Some(temporal) = temporal {
            cursor.advance();
            return Ok(Operand::Prefix(Operator::Prefix(temporal.into()), PREFIX));
        }
        if matches!(text, "!" | "not") {
            cursor.advance();
            return Ok(Operand::Prefix(Operator::Not, PREFIX));
        }
        if cursor.kind() != Tok::Word || infix(text).is_some() {
            return Err(cursor.found("an event, an operator or `(`"));
        }
        cursor.advance();
        Ok(Operand::Complete(match text {
            "true" | "false" => self.builder.constant(text == "true", span),
            event => {
                known(event, span, self.events)?;
                self.builder.signal(event, Sort::Formula, span)?
            }
        }))
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
        let Some((op, power)) = infix(text).filter(|(_, power)| *power >= least) else { return Ok(None) };
        cursor.advance();
        // Implications and the temporal operators go to the right.
        let right = if matches!(power, IMPLIES | SINCE | UNTIL) { power } else { power + 1 };
        Ok(Some(Right { operator: Operator::Infix(op), right }))
    }

    fn apply(&mut self, operator: Operator, operands: &[Value], span: Span) -> Result<Value, Diagnostic> {
        let first = operands[0];
        let second = operands.get(1).copied().unwrap_or(first);
        Ok(match operator {
            Operator::Not => self.builder.not(first, span),
            Operator::Prefix(op) => self.builder.prefix(op, None, first, span),
            Operator::Infix(op) => self.builder.infix(op, None, [first, second], span),
        })
    }
}

fn infix(text: &str) -> Option<(Infix, u8)> {
    Some(match text {
        "<=>" | "<->" | "iff" => (Infix::Iff, IFF),
        "=>" | "->" | "implies" => (Infix::Implies, IMPLIES),
        "or" | "||" | "\\/" => (Infix::Or, OR),
        "xor" | "++" | "^" => (Infix::Xor, XOR),
        "and" | "&&" | "/\\" => (Infix::And, AND),
        "S" => (Temporal::Since.into(), SINCE),
        "~S" => (Temporal::Trigger.into(), SINCE),
        "U" => (Temporal::Until.into(), UNTIL),
        "R" | "~U" => (Temporal::Release.into(), UNTIL),
        _ => return None,
    })
}
