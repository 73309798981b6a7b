//! Operators, operands and their precedences.

use super::lookups::Lookup;
use super::{BEGINS, Lola, Named, type_named};
use crate::build::{Sort, Value};
use crate::climb::{Infix as Right, Language, Operand, Suffix};
use crate::cursor::{Cursor, Tok, refuse};
use crate::formats::comparison;
use tw_diag::{Diagnostic, Span};
use tw_ir::{ArithmeticOp, CompareOp};
use tw_spec::ast::{ExprKind, Infix, Type};

// Powers, loosest first.
const IMPLIES: u8 = 1;
const OR: u8 = 2;
const AND: u8 = 3;
const BIT_OR: u8 = 4;
const BIT_XOR: u8 = 5;
const BIT_AND: u8 = 6;
const EQUAL: u8 = 7;
const COMPARE: u8 = 8;
const SUM: u8 = 10;
const PRODUCT: u8 = 11;
const PREFIX: u8 = 20;

pub(crate) enum Operator {
    Not,
    Negate,
    /// `+x`: the number itself.
    Same,
    /// `cast(x)`: the number, as a real one.
    Cast,
    Abs,
    Infix(Infix),
    Compare(CompareOp),
    Arithmetic(ArithmeticOp),
    If,
    Lookup(Lookup),
}

/// Functions that are not to be said here.
const FUNCTIONS: [&str; 12] =
    ["sqrt", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "exp", "ln", "log", "floor", "ceil"];

impl<'t> Language<'t> for Lola<'_, 't> {
    type Operator = Operator;

    fn operand(&mut self, cursor: &mut Cursor<'t>) -> Result<Operand<Operator>, Diagnostic> {
        let span = cursor.span();
        let word = match cursor.kind() {
            Tok::Number => return self.number(cursor).map(Operand::Complete),
            Tok::Text => {
                let text = cursor.here();
                cursor.advance();
                let kind = ExprKind::Text(text[1..text.len() - 1].into());
                return Ok(Operand::Complete(self.reading.builder.push(kind, Sort::Number, span, &[])));
            }
            Tok::Symbol(symbol) => {
                let operand = match symbol {
                    "-" => Operand::Prefix(Operator::Negate, PREFIX),
                    "+" => Operand::Prefix(Operator::Same, PREFIX),
                    "!" | "¬" => Operand::Prefix(Operator::Not, PREFIX),
                    "⊤" | "⊥" => Operand::Complete(self.reading.builder.constant(symbol == "⊤", span)),
                    "(" => Operand::Group,
                    "~" => return Err(refuse(span, "`~`: bits of a number", BITS)),
                    _ => return Err(cursor.found("an expression")),
                };
                cursor.advance();
                return Ok(operand);
            }
            Tok::Word if BEGINS.contains(&cursor.here()) => return Err(cursor.found("an expression")),
            Tok::Word => cursor.here(),
            _ => return Err(cursor.found("an expression")),
        };
        cursor.advance();
        Ok(match word {
            "true" | "false" => Operand::Complete(self.reading.builder.constant(word == "true", span)),
            "not" => Operand::Prefix(Operator::Not, PREFIX),
            "if" => Operand::Between(Operator::If, &["then", "else"]),
            "ite" if cursor.accept("(").is_some() => Operand::Call(Operator::If, 3),
            _ if cursor.is("(") => self.call(cursor, word, span)?,
            "cast" if cursor.is("<") => self.cast(cursor, span)?,
            _ if cursor.is("=>") && !self.names.contains_key(word) => {
                return Err(refuse(span, "a function of instances (`=>`)", "write it out"));
            }
            _ => Operand::Complete(self.named(word, span)?),
        })
    }

    fn not_closed(&mut self, cursor: &Cursor<'t>) -> Option<Diagnostic> {
        let tuple = || refuse(cursor.span(), "a tuple", "define a stream for each part");
        cursor.is(",").then(tuple)
    }

    fn suffix(&mut self, cursor: &mut Cursor<'t>, operand: Value) -> Result<Suffix<Operator>, Diagnostic> {
        match cursor.kind() {
            Tok::Symbol("[") => self.older_offset(cursor, operand),
            Tok::Symbol(".") => self.method(cursor, operand),
            // `.0` is read as a number.
            Tok::Number if cursor.here().starts_with('.') => {
                Err(refuse(cursor.span(), "a part of a tuple", "define a stream for each part"))
            }
            _ => Ok(Suffix::None),
        }
    }

    fn infix(
        &mut self,
        cursor: &mut Cursor<'t>,
        least: u8,
        left: &Value,
    ) -> Result<Option<Right<Operator>>, Diagnostic> {
        let text = match cursor.kind() {
            Tok::Symbol(_) | Tok::Word => cursor.here(),
            _ => return Ok(None),
        };
        let (operator, power, right) = match text {
            "->" | "→" | "=>" | "implies" => (Operator::Infix(Infix::Implies), IMPLIES, IMPLIES),
            "||" | "∨" | "\\/" | "or" => (Operator::Infix(Infix::Or), OR, OR + 1),
            "&&" | "∧" | "/\\" | "and" => (Operator::Infix(Infix::And), AND, AND + 1),
            "|" => (Operator::Infix(Infix::Or), BIT_OR, BIT_OR + 1),
            "^" => (Operator::Infix(Infix::Xor), BIT_XOR, BIT_XOR + 1),
            "&" => (Operator::Infix(Infix::And), BIT_AND, BIT_AND + 1),
            "=" | "==" => (Operator::Compare(CompareOp::Eq), EQUAL, EQUAL + 1),
            "!=" | "≠" => (Operator::Compare(CompareOp::Ne), EQUAL, EQUAL + 1),
            "≤" => (Operator::Compare(CompareOp::Le), COMPARE, COMPARE + 1),
            "≥" => (Operator::Compare(CompareOp::Ge), COMPARE, COMPARE + 1),
            "+" => (Operator::Arithmetic(ArithmeticOp::Add), SUM, SUM + 1),
            "-" => (Operator::Arithmetic(ArithmeticOp::Sub), SUM, SUM + 1),
            "*" => (Operator::Arithmetic(ArithmeticOp::Mul), PRODUCT, PRODUCT + 1),
            "/" => (Operator::Arithmetic(ArithmeticOp::Div), PRODUCT, PRODUCT + 1),
            "%" | "mod" => (Operator::Arithmetic(ArithmeticOp::Rem), PRODUCT, PRODUCT + 1),
            "<<" | ">>" => return Err(refuse(cursor.span(), format!("`{text}`: bits of a number"), BITS)),
            // `x ! 0`, as it was written once: the latest value.
            "!" => {
                self.check(*left, "a lookup")?;
                (Operator::Lookup(Lookup::Hold), PREFIX, PREFIX)
            }
            "**" => return Err(refuse(cursor.span(), "`**`: a power", "write a product")),
            symbol => match comparison(symbol) {
                Some(op) => (Operator::Compare(op), COMPARE, COMPARE + 1),
                None => return Ok(None),
            },
        };
        if power < least {
            return Ok(None);
        }
        cursor.advance();
        Ok(Some(Right { operator, right }))
    }

    fn apply(&mut self, operator: Operator, operands: &[Value], span: Span) -> Result<Value, Diagnostic> {
        let first = operands[0];
        let second = operands.get(1).copied().unwrap_or(first);
        let builder = &mut self.reading.builder;
        Ok(match operator {
            Operator::Not => builder.not(first, span),
            Operator::Negate => builder.negate(first, span),
            Operator::Same => first,
            Operator::Cast => {
                self.casts.insert(first.id);
                first
            }
            Operator::Abs => builder.push(ExprKind::Abs(first.id), first.sort, span, &[first]),
            Operator::Infix(op) => builder.infix(op, None, [first, second], span),
            Operator::Compare(op) => builder.compare(op, first, second, span),
            Operator::Arithmetic(op) => builder.arithmetic(op, first, second, span),
            Operator::If => builder.choice([first, second, operands[2]], span),
            Operator::Lookup(lookup) => self.look(lookup, first, second, span)?,
        })
    }
}

const BITS: &str = "numbers are counted with, not taken apart: compute it into a column";

impl<'t> Lola<'_, 't> {
    fn number(&mut self, cursor: &mut Cursor<'t>) -> Result<Value, Diagnostic> {
        let (text, span) = (cursor.here(), cursor.span());
        cursor.advance();
        // `10s` stands in lookups only.
        if cursor.kind() == Tok::Word && cursor.span().start == span.end {
            let what = format!("`{text}{}`: a length of time as a value", cursor.here());
            return Err(refuse(span.to(cursor.span()), what, "write a number"));
        }
        self.reading.builder.number(text, span)
    }

    /// `cast<Int64, Float64>(`: whole numbers stay what they are, or become real ones.
    fn cast(&mut self, cursor: &mut Cursor<'t>, span: Span) -> Result<Operand<Operator>, Diagnostic> {
        cursor.expect("<")?;
        let (from, _) = cursor.word("a type")?;
        let to = match cursor.accept(",") {
            Some(_) => cursor.word("a type")?.0,
            None => from,
        };
        cursor.expect(">")?;
        cursor.expect("(")?;
        match (type_named(from), type_named(to)) {
            (_, Some(Type::Real)) => Ok(Operand::Call(Operator::Cast, 1)),
            (Some(Type::Int), Some(Type::Int)) => Ok(Operand::Call(Operator::Same, 1)),
            _ => Err(refuse(
                span,
                format!("a `cast` to `{to}`"),
                "a cast to whole numbers rounds: compute it into a column",
            )),
        }
    }

    /// `name(`: a function, or an instance.
    fn call(
        &mut self,
        cursor: &mut Cursor<'t>,
        name: &str,
        span: Span,
    ) -> Result<Operand<Operator>, Diagnostic> {
        cursor.expect("(")?;
        Ok(match name {
            "abs" => Operand::Call(Operator::Abs, 1),
            "cast" => Operand::Call(Operator::Cast, 1),
            "min" => Operand::Call(Operator::Arithmetic(ArithmeticOp::Min), 2),
            "max" => Operand::Call(Operator::Arithmetic(ArithmeticOp::Max), 2),
            "delta" => {
                let (of, place) = cursor.word("the name of a stream")?;
                let of = self.named(of, place)?;
                cursor.expect(",")?;
                if cursor.peek(1) == Tok::Symbol(":") {
                    cursor.advance();
                    cursor.advance();
                }
                let default = self.constant_here(cursor)?;
                let close = cursor.expect(")")?;
                let before = self.look(Lookup::Offset(-1), of, default, span.to(close))?;
                let of = self.copy(of, place);
                let op = ArithmeticOp::Sub;
                Operand::Complete(self.reading.builder.arithmetic(op, of, before, span.to(close)))
            }
            _ if FUNCTIONS.contains(&name) => {
                return Err(refuse(span, format!("the function `{name}`"), "compute it into a column"));
            }
            _ => {
                let Some(Named::Output(number)) = self.names.get(name) else {
                    return Err(refuse(span, format!("the function `{name}`"), "compute it into a column"));
                };
                let key = self.outputs[*number].key.clone();
                let (argument, place) = cursor.word("the key of an instance")?;
                let close = cursor.expect(")")?;
                let own = self.instance.as_ref();
                let same = key.as_ref().is_some_and(|(_, column)| match own {
                    Some((parameter, by)) => by == column && (argument == parameter || argument == column),
                    None => argument == column,
                });
                if !same {
                    let why = "an instance is read where its key is: by the input that it was spawned with";
                    return Err(refuse(place, format!("another instance of `{name}`"), why));
                }
                Operand::Complete(self.name(name, span.to(close))?)
            }
        })
    }

    /// A name that has no arguments.
    fn named(&mut self, name: &str, span: Span) -> Result<Value, Diagnostic> {
        if let Some((parameter, column)) = self.instance.clone()
            && name == parameter
        {
            return self.name(&column, span);
        }
        if let Some(Named::Output(number)) = self.names.get(name)
            && let Some((_, column)) = &self.outputs[*number].key
        {
            let why = format!("write `{name}({column})`");
            return Err(refuse(span, format!("`{name}` has an instance per key"), &why));
        }
        self.name(name, span)
    }
}
