//! STL as RTAMT 0.4 reads it, in discrete time: a position is a sample, samples are one period apart.
//!
//! RTAMT evaluates everything to numbers. A term where a formula is wanted is worth itself, which is `term >= 0` here.
//! Precedences are those of its grammar, in which `*` binds tighter than `/` and `+` tighter than `-`.

mod operators;

use crate::build::{Builder, Role, Sort, Value, interval};
use crate::climb::expression;
use crate::cursor::{Cursor, Lexis, Tok, letter, letter_or_digit, refuse};
use crate::decimal::Decimal;
use crate::{Format, Options, Reading};
use rustc_hash::FxHashMap;
use tw_core::TimeUnit;
use tw_diag::{Diagnostic, Span};
use tw_ir::{ArithmeticOp, CompareOp, Interval};
use tw_spec::ast::{Infix, Prefix};

pub(crate) const FORMAT: Format = Format {
    name: "rtamt",
    title: "RTAMT STL",
    about: "STL as RTAMT writes it: `out = always[0:10](req >= 3 implies eventually[0:5](gnt >= 3))`",
    extensions: &[],
    clock,
    read,
};

const LEXIS: Lexis = Lexis {
    symbols: &[
        "<->", "!==", "->", "==", ">=", "<=", "-", "+", "*", "/", "(", ")", "{", "}", "[", "]", ";", ":",
        ",", ".", "@", "!", "|", "&", ">", "<", "=",
    ],
    comments: &[("/*", Some("*/")), ("//", None)],
    begins: |c| letter(c) || c == '$',
    goes_on: |c| letter_or_digit(c) || matches!(c, '$' | '.' | '/'),
    quotes: false,
    lines: false,
    signed: false,
};

/// Words that the grammar takes for itself, so that nothing can be called so.
const RESERVED: &str = "s ms us ns ps topic import input output internal const real float long complex int bool assertion \
    specification from true TRUE false FALSE";

/// Words that are operators.
const OPERATORS: &str = "not and or iff implies xor rise fall always G eventually F until U unless W historically H once O since S \
    next X prev Y s_next sX s_prev sY abs sqrt exp pow";

/// Whether a word is in a list.
fn is_in(list: &str, word: &str) -> bool {
    list.split(' ').any(|other| other == word)
}

fn clock(options: &Options) -> String {
    let period = match TimeUnit::ALL.iter().rev().find(|(_, unit)| options.period % unit.nanoseconds() == 0) {
        Some((name, unit)) => format!("{}{name}", options.period / unit.nanoseconds()),
        None => format!("{}ns", options.period),
    };
    format!("A position is a sample, one every {period}: run with ⟨clock: index⟩.")
}

fn read(reading: &mut Reading<'_>) {
    let mut cursor = match Cursor::new(reading.text, &LEXIS) {
        Ok(cursor) => cursor,
        Err(found) => {
            reading.report(found);
            return;
        }
    };
    let mut rtamt = Rtamt { reading, constants: FxHashMap::default(), heard: FxHashMap::default(), line: 1 };
    while cursor.kind() != Tok::End {
        if let Err(found) = rtamt.declaration(&mut cursor) {
            if !rtamt.reading.report(found) {
                return;
            }
            rtamt.recover(&mut cursor);
        }
    }
}

struct Rtamt<'r, 't> {
    reading: &'r mut Reading<'t>,
    constants: FxHashMap<&'t str, String>,
    /// Names that were read as signals, and where.
    heard: FxHashMap<String, Span>,
    line: usize,
}

enum Operator {
    Not,
    Prefix(Prefix, Option<Interval>),
    Infix(Infix, Option<Interval>),
    Edge { rising: bool },
    Arithmetic(ArithmeticOp),
    Compare(CompareOp),
    Abs,
}

impl<'t> Rtamt<'_, 't> {
    /// One line of the head, or one `name = formula`.
    fn declaration(&mut self, cursor: &mut Cursor<'t>) -> Result<(), Diagnostic> {
        match if cursor.kind() == Tok::Word { cursor.here() } else { "" } {
            "specification" => {
                cursor.advance();
                cursor.word("the name of the specification").map(|_| ())
            }
            "from" => {
                let span = cursor.advance();
                let why =
                    "signals have no classes here; a field of a signal is written `signal.field` as it is";
                Err(refuse(span, "`from … import …` reads a Python module", why))
            }
            "const" => self.constant(cursor),
            "input" | "output" => {
                cursor.advance();
                self.variable(cursor)
            }
            "float" | "int" | "long" | "complex" => self.variable(cursor),
            _ if cursor.is("@") => {
                // `@ topic(signal, name)` says where a robot's signal comes from; a trace has columns.
                let span = cursor.advance();
                cursor.word("`topic`")?;
                cursor.expect("(")?;
                cursor.word("a signal")?;
                cursor.expect(",")?;
                cursor.word("a topic")?;
                cursor.expect(")")?;
                let found = Diagnostic::warning("import-ignored", "topics are left out");
                self.reading.report(found.at(span, "signals are read from columns of the same name"));
                Ok(())
            }
            // A type of a Python module, then the name of a signal.
            _ if cursor.kind() == Tok::Word
                && cursor.peek(1) == Tok::Word
                && !is_in(OPERATORS, cursor.here()) =>
            {
                self.variable(cursor)
            }
            _ => self.assertion(cursor),
        }
    }

    /// `const float limit = 3.5`.
    fn constant(&mut self, cursor: &mut Cursor<'t>) -> Result<(), Diagnostic> {
        cursor.advance();
        cursor.word("a type")?;
        let (name, _) = cursor.word("the name of the constant")?;
        cursor.expect("=")?;
        let sign = if cursor.accept("-").is_some() { "-" } else { "" };
        if cursor.kind() != Tok::Number {
            return Err(cursor.found("a number"));
        }
        let value = format!("{sign}{}", cursor.here());
        cursor.advance();
        self.constants.insert(name, value);
        Ok(())
    }

    /// `float req`: types follow use here. An initial value says nothing about a trace.
    fn variable(&mut self, cursor: &mut Cursor<'t>) -> Result<(), Diagnostic> {
        cursor.word("a type")?;
        let (name, span) = cursor.word("the name of a signal")?;
        if cursor.accept("=").is_some() {
            let why = "declare it without value; samples come from the trace";
            return Err(refuse(span, format!("`{name}` is declared with a value"), why));
        }
        Ok(())
    }

    /// `name = formula`, or a formula alone, which is called `out`.
    fn assertion(&mut self, cursor: &mut Cursor<'t>) -> Result<(), Diagnostic> {
        let start = cursor.span();
        self.line = cursor.line(start);
        let line = self.line;
        let named = cursor.kind() == Tok::Word && cursor.peek(1) == Tok::Symbol("=");
        let name = if named {
            let (name, span) = cursor.word("a name")?;
            self.plain(name, span)?;
            cursor.advance();
            name.to_owned()
        } else {
            self.reading.builder.fresh("out")
        };
        let body = expression(self, cursor)?;
        // Older versions end an assertion with a semicolon.
        cursor.accept(";");
        if let Some(heard) = self.heard.get(&name) {
            let found = Diagnostic::error(
                "import-duplicate",
                format!("`{name}` is the name of a signal and of a formula"),
            );
            return Err(found.at(start, "defined here").at(*heard, "read as a signal here"));
        }
        self.reading.builder.define(Role::Either, &name, start, line, body)?;
        Ok(())
    }

    /// An error if the grammar takes the word for itself.
    fn plain(&self, name: &str, span: Span) -> Result<(), Diagnostic> {
        if is_in(RESERVED, name) || is_in(OPERATORS, name) {
            let found = Diagnostic::error("import-syntax", format!("found `{name}`, expected a name"));
            return Err(found.at(span, "a word of RTAMT's own"));
        }
        Ok(())
    }

    /// Goes to where the next assertion or declaration may begin.
    fn recover(&self, cursor: &mut Cursor<'_>) {
        while cursor.kind() != Tok::End {
            let begins = cursor.kind() == Tok::Word
                && (cursor.peek(1) == Tok::Symbol("=")
                    || matches!(cursor.here(), "const" | "float" | "int" | "input" | "output"));
            if begins {
                return;
            }
            cursor.advance();
        }
    }

    fn builder(&mut self) -> &mut Builder {
        &mut self.reading.builder
    }

    /// `[a:b]` or `[a,b]`, if there is one here: in samples.
    fn bounds(&mut self, cursor: &mut Cursor<'t>) -> Result<Option<Interval>, Diagnostic> {
        let Some(open) = cursor.accept("[") else { return Ok(None) };
        let (low, low_unit) = self.bound(cursor)?;
        if cursor.accept(":").is_none() {
            cursor.accept(",").ok_or_else(|| cursor.found("`:` or `,`"))?;
        }
        let (high, high_unit) = self.bound(cursor)?;
        let span = open.to(cursor.expect("]")?);
        let default = self.reading.options.unit;
        let (low_unit, high_unit) = match (low_unit, high_unit) {
            (low, Some(high)) => (low.unwrap_or(high), high),
            (None, None) => (default, default),
            (Some(_), None) => {
                let why = "write the unit behind the upper bound, too";
                return Err(refuse(span, "only the lower bound has a unit, which RTAMT does not take", why));
            }
        };
        let period = self.reading.options.period;
        let samples = |number: Decimal, unit: TimeUnit| {
            let time = number.times(Decimal::whole(unit.nanoseconds()));
            time.and_then(|time| time.divided(period)).map(Decimal::whole).ok_or_else(|| {
                let why = "give the time between two samples with `⟨period⟩`";
                refuse(span, "a bound is not a multiple of the time between two samples", why)
            })
        };
        interval(samples(low, low_unit)?, Some(samples(high, high_unit)?), span).map(Some)
    }

    /// `10`, `0.5s`, `limit`, `limit ms`.
    fn bound(&mut self, cursor: &mut Cursor<'t>) -> Result<(Decimal, Option<TimeUnit>), Diagnostic> {
        let span = cursor.span();
        let text = match cursor.kind() {
            Tok::Number => cursor.here(),
            Tok::Word => match self.constants.get(cursor.here()) {
                Some(value) => value.as_str(),
                None => return Err(cursor.found("a number or the name of a constant")),
            },
            _ => return Err(cursor.found("a number or the name of a constant")),
        };
        cursor.advance();
        let number = Decimal::parse(text)
            .ok_or_else(|| refuse(span, format!("`{text}` is no usable bound"), "write a decimal number"))?;
        if cursor.kind() != Tok::Word {
            return Ok((number, None));
        }
        let unit = match cursor.here() {
            unit @ ("s" | "ms" | "us" | "ns") => TimeUnit::parse(unit),
            _ => return Err(cursor.found("`s`, `ms`, `us`, `ns`, `:`, `,` or `]`")),
        };
        cursor.advance();
        Ok((number, unit))
    }

    /// A name: a constant, a formula that was defined before, or a signal.
    fn name(&mut self, name: &'t str, span: Span) -> Result<Value, Diagnostic> {
        self.plain(name, span)?;
        if let Some(value) = self.constants.get(name) {
            return self.reading.builder.number(value, span);
        }
        if let Some(value) = self.builder().refer(name, span) {
            return Ok(value);
        }
        if name.contains('/') && !self.heard.contains_key(name) {
            let found =
                Diagnostic::warning("import-name", format!("RTAMT reads `{name}` as the name of one signal"));
            let found = found.at(span, "one name").help("write spaces around `/` to divide");
            self.reading.report(found);
        }
        self.heard.entry(name.to_owned()).or_insert(span);
        self.builder().signal(name, Sort::Number, span)
    }
}
