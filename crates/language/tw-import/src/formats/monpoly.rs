//! Metric first-order temporal logic as MonPoly writes it: `publish(r) IMPLIES ONCE[0,7d] approve(r)`, with a signature that
//! declares the predicates.
//!
//! The formula is the policy (`-negate` finds its violations): it has to hold at every time point, for all values of its free
//! variables, hence `G forall`. Where the log ends before a bound, EVENTUALLY and UNTIL are false and ALWAYS is true in both.
//!
//! The words of MonPoly are long: `x-1` and `x/2` are names. Versions differ in how tightly `/` binds, so that only
//! readings on which they agree are taken.

mod aggregates;
mod operands;
mod operators;
mod scopes;
mod signature;
mod types;

use crate::build::{Builder, Role, Sort, Value};
use crate::climb::expression;
use crate::cursor::{Cursor, Lexis, Tok, letter, letter_or_digit, refuse};
use crate::{Format, Options, Reading};
use scopes::Scopes;
use signature::Signature;
use tw_diag::{Diagnostic, Span};
use tw_ir::Temporal;
use tw_spec::ast::{ExprKind, Prefix, Type};
use types::{Cell, Types};

pub(crate) const FORMAT: Format = Format {
    name: "monpoly",
    title: "MonPoly",
    about: "MFOTL as MonPoly writes it, with a signature: `publish(r) IMPLIES ONCE[0,7d] approve(r)`",
    extensions: &["mfotl"],
    clock,
    read,
};

const LEXIS: Lexis = Lexis {
    symbols: &[
        "<-", "<=", "<>", "<|", "|>", "▷", "◁", ">=", "<", ">", "=", "+", "-", ".", "*", "/", "(", ")", "[",
        "]", "|", ",", ";", "?",
    ],
    comments: &[("(*", Some("*)")), ("#", None)],
    begins: letter,
    goes_on,
    quotes: true,
    lines: false,
    signed: true,
};

/// What a word goes on with: `x-1` is one.
fn goes_on(c: char) -> bool {
    letter_or_digit(c) || matches!(c, '-' | '/' | ':' | '\'' | '"')
}

fn clock(_: &Options) -> String {
    "Every time point is judged, for all values of free variables, hence `G forall`; times are in seconds."
        .to_owned()
}

fn read(reading: &mut Reading<'_>) {
    if let Err(found) = policy(reading) {
        reading.report(found);
    }
}

fn policy(reading: &mut Reading<'_>) -> Result<(), Diagnostic> {
    let signature = match &reading.options.signature {
        Some(signature) => Some(Signature::read(&signature.text)?),
        None => None,
    };
    let mut cursor = Cursor::new(reading.text, &LEXIS)?;
    if cursor.kind() == Tok::End {
        return Ok(());
    }
    for predicate in signature.iter().flat_map(|signature| &signature.predicates) {
        reading.builder.event(&predicate.name, predicate.parameters.clone(), predicate.span);
    }
    if signature.is_none() {
        reading.note("No signature was given: arguments have the types that their use asks for.");
    }
    let start = cursor.span();
    let mut monpoly = MonPoly {
        builder: &mut reading.builder,
        text: reading.text,
        signature,
        types: Types::default(),
        scopes: Scopes::default(),
        lets: Vec::new(),
        divided: Vec::new(),
    };
    let body = expression(&mut monpoly, &mut cursor)?;
    if cursor.kind() != Tok::End {
        return Err(cursor.found("an operator or the end of the file"));
    }
    let body = super::formula(body)?;
    monpoly.check_divisions()?;
    let free: Vec<String> = monpoly.scopes.close().into_iter().map(|variable| variable.word).collect();
    let body = reading.builder.quantify(true, &free, body, body.span);
    let body = reading.builder.prefix(Prefix::Temporal(Temporal::Globally), None, body, body.span);
    let name = reading.builder.fresh(&reading.stem);
    reading.builder.define(Role::Either, &name, start, cursor.line(start), body)
}

/// A predicate that LET defines.
struct Defined {
    name: String,
    /// The macro that it became.
    word: String,
    parameters: Vec<Cell>,
}

struct MonPoly<'b, 't> {
    builder: &'b mut Builder,
    text: &'t str,
    signature: Option<Signature>,
    types: Types,
    scopes: Scopes,
    /// Those that are visible here, the innermost last.
    lets: Vec<Defined>,
    /// What is divided: MonPoly rounds the quotient of whole numbers.
    divided: Vec<(Cell, Span)>,
}

impl<'t> MonPoly<'_, 't> {
    fn slice(&self, span: Span) -> &'t str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// The type of a term.
    fn cell(&mut self, term: Value) -> Cell {
        self.types.get(term.id.0)
    }

    /// A name, if MonPoly would not take more for it than was meant.
    fn plain(&self, name: &str, span: Span) -> Result<(), Diagnostic> {
        if name.starts_with("r\"") || name.starts_with("r'") {
            let why = "they are those of another library; compare texts with `=`";
            return Err(refuse(span, "regular expressions are not imported", why));
        }
        if name.contains(['-', '/', ':', '\'', '"']) {
            let why = "write spaces around operators, and other names with letters, digits and `_` alone";
            return Err(refuse(span, format!("`{name}` is one name in MonPoly"), why));
        }
        Ok(())
    }

    /// A number here: MonPoly's have no exponent, and no letters behind them.
    fn number(&mut self, cursor: &mut Cursor<'t>) -> Result<Value, Diagnostic> {
        let span = cursor.advance();
        let text = cursor.slice(span);
        let rest = &self.text[span.end as usize..];
        let digits = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b'-');
        if !digits || text.trim_start_matches('-').starts_with('.') || rest.starts_with(goes_on) {
            let why = "write digits, perhaps with a point, and spaces around operators";
            return Err(refuse(span, "this number is part of a name in MonPoly", why));
        }
        let real = text.contains('.');
        let value = if real {
            let number: f64 = text.parse().unwrap_or(f64::NAN);
            self.builder.push(ExprKind::Real(number), Sort::Number, span, &[])
        } else {
            self.builder.number(text, span)?
        };
        let cell = self.types.cell(Some(if real { Type::Real } else { Type::Int }));
        self.types.set(value.id.0, cell);
        Ok(value)
    }

    /// A variable here.
    fn variable(&mut self, name: &str, span: Span) -> Result<Value, Diagnostic> {
        self.plain(name, span)?;
        let variable = self.scopes.find(name, span, &mut self.types)?;
        let value = self.builder.variable(&variable.word, span);
        self.types.set(value.id.0, variable.cell);
        Ok(value)
    }

    fn text(&mut self, span: Span) -> Value {
        let text = self.slice(span);
        let inside = &text[1..text.len() - 1];
        let kind = ExprKind::Text(inside.into());
        let value = self.builder.push(kind, Sort::Number, span, &[]);
        let cell = self.types.cell(Some(Type::Text));
        self.types.set(value.id.0, cell);
        value
    }

    /// Quotients of whole numbers, or of what may be such, are refused once all types are known.
    fn check_divisions(&mut self) -> Result<(), Diagnostic> {
        for (cell, span) in std::mem::take(&mut self.divided) {
            if self.types.known(cell) != Some(Type::Real) {
                let why = "the quotient of whole numbers is rounded there and exact here; divide numbers of type float";
                return Err(refuse(span, "`/` of whole numbers is not imported", why));
            }
        }
        Ok(())
    }
}
