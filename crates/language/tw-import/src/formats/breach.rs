//! The well-known part of Breach's STL: `param` and `signal` lines, and definitions `name := formula`.
//!
//! Breach splits a formula at its loosest operator first, and takes `or` for looser than `=>`. Signals are piecewise linear
//! between samples there.

mod operators;

use super::formula;
use crate::build::{Builder, Role, Sort, Value, interval};
use crate::climb::expression;
use crate::cursor::{Cursor, Lexis, Tok, letter, letter_or_digit, refuse};
use crate::decimal::Decimal;
use crate::{Format, Options, Reading};
use rustc_hash::FxHashMap;
use tw_diag::Diagnostic;
use tw_ir::{ArithmeticOp, CompareOp, Interval};
use tw_spec::ast::{Infix, Prefix};

pub(crate) const FORMAT: Format = Format {
    name: "breach",
    title: "Breach STL",
    about: "STL as Breach writes it: `param vmax=150` and `phi := alw_[0, 10] (speed[t] < vmax)`",
    extensions: &["stl"],
    clock,
    read,
};

const LEXIS: Lexis = Lexis {
    symbols: &[
        ":=", "=>", "<=", ">=", "==", "<", ">", "=", "+", "-", "*", "/", "^", "(", ")", "[", "]", ",", ";",
        "|", "&", "~", ":", "{", "}", ".", "'", "!",
    ],
    comments: &[("#", None), ("%", None)],
    begins: letter,
    goes_on: letter_or_digit,
    quotes: false,
    lines: false,
    signed: false,
};

fn clock(_: &Options) -> String {
    "Bounds are in the unit of the trace's timestamps. Breach draws straight lines between samples: robust ⟨interpolate: linear⟩."
        .to_owned()
}

fn read(reading: &mut Reading<'_>) {
    let mut cursor = match Cursor::new(reading.text, &LEXIS) {
        Ok(cursor) => cursor,
        Err(found) => {
            reading.report(found);
            return;
        }
    };
    let mut breach = Breach { reading, parameters: FxHashMap::default() };
    while cursor.kind() != Tok::End {
        let found = match if cursor.kind() == Tok::Word { cursor.here() } else { "" } {
            _ if cursor.peek(1) == Tok::Symbol(":=") => breach.definition(&mut cursor),
            "param" => breach.parameters(&mut cursor),
            "signal" => breach.signals(&mut cursor),
            _ => Err(cursor.found("`param`, `signal` or `name := formula`")),
        };
        if let Err(found) = found {
            if !breach.reading.report(found) {
                return;
            }
            cursor.advance();
            while cursor.kind() != Tok::End && !begins(&cursor) {
                cursor.advance();
            }
        }
    }
}

/// Whether a line of its own begins here.
fn begins(cursor: &Cursor<'_>) -> bool {
    cursor.is_word("param") || cursor.is_word("signal") || cursor.peek(1) == Tok::Symbol(":=")
}

struct Breach<'r, 't> {
    reading: &'r mut Reading<'t>,
    /// Values of parameters, as written.
    parameters: FxHashMap<&'t str, String>,
}

enum Operator {
    Not,
    Prefix(Prefix, Option<Interval>),
    Infix(Infix, Option<Interval>),
    Compare(CompareOp),
    Arithmetic(ArithmeticOp),
    Negate,
    Abs,
}

impl<'t> Breach<'_, 't> {
    /// `param a=1, b = -2.5`.
    fn parameters(&mut self, cursor: &mut Cursor<'t>) -> Result<(), Diagnostic> {
        cursor.advance();
        loop {
            let (name, span) = cursor.word("the name of a parameter")?;
            cursor.expect("=")?;
            let sign = if cursor.accept("-").is_some() { "-" } else { "" };
            if cursor.kind() != Tok::Number {
                return Err(cursor.found("a number"));
            }
            let value = format!("{sign}{}", cursor.here());
            cursor.advance();
            let same = |other: &String| *other == value || Decimal::parse(other) == Decimal::parse(&value);
            if self.parameters.get(name).is_some_and(|other| !same(other)) {
                let why = "Breach takes the last value for all formulas; write one value, or two names";
                return Err(refuse(span, format!("`{name}` has two values"), why));
            }
            self.parameters.insert(name, value);
            if cursor.accept(",").is_none() {
                cursor.accept(";");
                return Ok(());
            }
        }
    }

    /// `signal x, y`: names are known from their use.
    fn signals(&mut self, cursor: &mut Cursor<'t>) -> Result<(), Diagnostic> {
        cursor.advance();
        loop {
            cursor.word("the name of a signal")?;
            if cursor.accept(",").is_none() {
                return Ok(());
            }
        }
    }

    /// `name := formula`.
    fn definition(&mut self, cursor: &mut Cursor<'t>) -> Result<(), Diagnostic> {
        let (name, span) = cursor.word("the name of a formula")?;
        cursor.expect(":=")?;
        let body = expression(self, cursor)?;
        cursor.accept(";");
        if cursor.kind() != Tok::End && !begins(cursor) {
            return Err(cursor.found("an operator or the next definition"));
        }
        self.reading.builder.define(Role::Either, name, span, cursor.line(span), formula(body)?)
    }

    fn builder(&mut self) -> &mut Builder {
        &mut self.reading.builder
    }

    /// `_[a, b]`: the operator's word ends with `_` then.
    fn bounds(&mut self, cursor: &mut Cursor<'t>) -> Result<Interval, Diagnostic> {
        let open = cursor.expect("[")?;
        let Some(low) = self.bound(cursor)? else { return Err(cursor.found("a finite bound")) };
        cursor.accept(",");
        let high = self.bound(cursor)?;
        let span = open.to(cursor.expect("]")?);
        interval(low, high, span)
    }

    /// `5`, `t1`, `t1+.5`, `inf`.
    fn bound(&mut self, cursor: &mut Cursor<'t>) -> Result<Option<Decimal>, Diagnostic> {
        if cursor.is_word("inf") || cursor.is_word("Inf") {
            cursor.advance();
            return Ok(None);
        }
        let mut sum = Decimal::ZERO;
        let mut negative = cursor.accept("-").is_some();
        loop {
            let span = cursor.span();
            let text = match cursor.kind() {
                Tok::Number => cursor.here().to_owned(),
                Tok::Word => match self.parameters.get(cursor.here()) {
                    Some(value) => value.clone(),
                    None => return Err(cursor.found("a number or a parameter with a value")),
                },
                _ => return Err(cursor.found("a number or a parameter with a value")),
            };
            cursor.advance();
            let number = Decimal::parse(&text).map(|number| if negative { number.negated() } else { number });
            sum = number.and_then(|number| sum.plus(number)).ok_or_else(|| {
                refuse(span, format!("`{text}` is no usable bound"), "bounds are exact to nine decimals")
            })?;
            negative = match cursor.kind() {
                Tok::Symbol("+") => false,
                Tok::Symbol("-") => true,
                Tok::Symbol(symbol @ ("*" | "/" | "^" | "(")) => {
                    let why = "bounds are sums; write the value";
                    return Err(refuse(cursor.span(), format!("`{symbol}` in a bound"), why));
                }
                _ => return Ok(Some(sum)),
            };
            cursor.advance();
        }
    }

    /// `x[t]` is a signal, a name alone a parameter or a formula.
    fn name(&mut self, cursor: &mut Cursor<'t>) -> Result<Value, Diagnostic> {
        let (name, span) = cursor.word("a formula")?;
        if cursor.accept("[").is_some() {
            if !cursor.is_word("t") {
                return Err(cursor.found("`t`"));
            }
            cursor.advance();
            if !cursor.is("]") {
                let why = "`x[t]` is the value here; for another one use a temporal operator";
                return Err(refuse(span, format!("`{name}` is read at another time"), why));
            }
            let end = cursor.advance();
            return self.builder().signal(name, Sort::Number, span.to(end));
        }
        if cursor.is("(") {
            let why = "terms have `+ - * /` and `abs`; compute it into a column of the trace";
            return Err(refuse(span, format!("there is no function `{name}`"), why));
        }
        if let Some(value) = self.builder().refer(name, span) {
            return Ok(value);
        }
        if let Some(value) = self.parameters.get(name) {
            return self.reading.builder.number(value, span);
        }
        let message = format!("found `{name}`, which is neither a formula nor a parameter with a value");
        let found = Diagnostic::error("import-syntax", message);
        Err(found.at(span, "expected a name that was defined before").help("a signal is written `x[t]`"))
    }
}
