//! The Boolean and temporal part of C2PO, the language that R2U2's specifications are compiled from. Temporal operators are
//! those of [`super::mltl`].
//!
//! Left out is what the compiler unrolls (arrays, structures, counting over sets) and what the monitor computes in its own
//! way: whole numbers of 32 bits that are divided or shifted, real numbers that are equal up to 0.00001.

mod operators;

use super::mltl::{self, clock};
use crate::build::{Builder, Role, Sort, Value};
use crate::climb::expression;
use crate::cursor::{Cursor, Lexis, Tok, letter, letter_or_digit, refuse};
use crate::{Format, Reading};
use rustc_hash::FxHashMap;
use tw_diag::{Diagnostic, Span};
use tw_ir::{ArithmeticOp, CompareOp, Temporal};
use tw_spec::ast::Prefix;

pub(crate) const FORMAT: Format = Format {
    name: "c2po",
    title: "C2PO",
    about: "MLTL as C2PO writes it for R2U2: `INPUT p, q: bool; FTSPEC f: G[0,10] (p -> F[0,5] q);`",
    extensions: &["c2po"],
    clock,
    read,
};

const LEXIS: Lexis = Lexis {
    symbols: &[
        "<->", "!=", "≠", "&&", "∧", "||", "∨", "->", "→", "↔", "<<", ">>", "==", ">=", "≥", "<=", "≤", "=>",
        ":=", "..", "!", "¬", "~", "&", "|", "^", ">", "<", "+", "-", "*", "•", "⋅", "/", "÷", "%", ";", ":",
        ".", ",", "[", "]", "{", "}", "(", ")",
    ],
    comments: &[("--", None)],
    begins: letter,
    goes_on: letter_or_digit,
    quotes: false,
    lines: false,
    signed: true,
};

/// Words that begin a section.
const SECTIONS: [&str; 6] = ["INPUT", "DEFINE", "FTSPEC", "PTSPEC", "STRUCT", "ENUM"];

fn read(reading: &mut Reading<'_>) {
    let mut cursor = match Cursor::new(reading.text, &LEXIS) {
        Ok(cursor) => cursor,
        Err(found) => {
            reading.report(found);
            return;
        }
    };
    let mut c2po = C2po { builder: &mut reading.builder, inputs: FxHashMap::default(), specs: 0 };
    let mut section = "";
    while cursor.kind() != Tok::End {
        if cursor.kind() == Tok::Word && SECTIONS.contains(&cursor.here()) {
            section = cursor.here();
            cursor.advance();
            continue;
        }
        let found = match section {
            "INPUT" => c2po.input(&mut cursor),
            "DEFINE" => c2po.definition(&mut cursor),
            "FTSPEC" => c2po.specification(&mut cursor, false),
            "PTSPEC" => c2po.specification(&mut cursor, true),
            "STRUCT" | "ENUM" => {
                let why = "declare each member as an input of its own";
                Err(refuse(cursor.span(), "structures and enumerations are not imported", why))
            }
            _ => Err(cursor.found("`INPUT`, `DEFINE`, `FTSPEC` or `PTSPEC`")),
        };
        if let Err(found) = found {
            reading.findings.push(found);
            if reading.findings.len() >= crate::MAX_ERRORS {
                return;
            }
            // A declaration ends with `;`, that of a structure with `};`.
            while cursor.kind() != Tok::End && cursor.accept(";").is_none() {
                cursor.advance();
            }
        }
    }
}

struct C2po<'b> {
    builder: &'b mut Builder,
    inputs: FxHashMap<String, Sort>,
    specs: usize,
}

enum Operator {
    Mltl(mltl::Operator),
    Compare(CompareOp),
    Arithmetic(ArithmeticOp),
    Negate,
    Abs,
}

impl C2po<'_> {
    /// `p, q: bool;`
    fn input(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Diagnostic> {
        let mut names = vec![cursor.word("the name of an input")?];
        while cursor.accept(",").is_some() {
            names.push(cursor.word("the name of an input")?);
        }
        cursor.expect(":")?;
        let (kind, span) = cursor.word("`bool`, `int` or `float`")?;
        let sort = match kind {
            "bool" => Sort::Formula,
            "int" => Sort::Int,
            "float" => Sort::Number,
            _ => {
                return Err(refuse(
                    span,
                    format!("`{kind}` is a structure"),
                    "only `bool`, `int` and `float`",
                ));
            }
        };
        if cursor.is("[") {
            return Err(refuse(
                span,
                "arrays are not imported",
                "declare each element as an input of its own",
            ));
        }
        cursor.expect(";")?;
        self.inputs.extend(names.into_iter().map(|(name, _)| (name.to_owned(), sort)));
        Ok(())
    }

    /// `name := expression;`
    fn definition(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Diagnostic> {
        let (name, span) = cursor.word("the name of a definition")?;
        cursor.expect(":=")?;
        let body = expression(self, cursor)?;
        cursor.expect(";").map_err(|_| cursor.found("an operator or `;`"))?;
        self.unheard(name, span)?;
        self.builder.define(Role::Macro, name, span, cursor.line(span), body)
    }

    /// `name: formula;`, or a formula without name. One of the past says nothing at the first row: it is judged at all.
    fn specification(&mut self, cursor: &mut Cursor<'_>, past: bool) -> Result<(), Diagnostic> {
        let span = cursor.span();
        let number = self.specs;
        self.specs += 1;
        let name = if cursor.kind() == Tok::Word && cursor.peek(1) == Tok::Symbol(":") {
            let (name, span) = cursor.word("a name")?;
            cursor.advance();
            self.unheard(name, span)?;
            name.to_owned()
        } else {
            self.builder.fresh(&format!("f{number}"))
        };
        let body = expression(self, cursor)?;
        if cursor.is("=>") {
            let why = "a contract has three verdicts; write the assumption and `assumption -> guarantee` as two formulas";
            return Err(refuse(cursor.span(), "contracts are not imported", why));
        }
        cursor.expect(";").map_err(|_| cursor.found("an operator or `;`"))?;
        let mut body = super::formula(body)?;
        if past {
            body = self.builder.prefix(Prefix::Temporal(Temporal::Globally), None, body, body.span);
        }
        self.builder.define(Role::Either, &name, span, cursor.line(span), body)
    }

    fn unheard(&self, name: &str, span: Span) -> Result<(), Diagnostic> {
        if self.inputs.contains_key(name) {
            let found = Diagnostic::error("import-duplicate", format!("`{name}` is also an input"));
            return Err(found.at(span, "defined again"));
        }
        Ok(())
    }

    fn name(&mut self, name: &str, span: Span) -> Result<Value, Diagnostic> {
        if let Some(sort) = self.inputs.get(name) {
            return self.builder.signal(name, *sort, span);
        }
        self.builder.refer(name, span).ok_or_else(|| {
            Diagnostic::error(
                "import-syntax",
                format!("found `{name}`, which is neither input nor definition"),
            )
            .at(span, "expected a name that was declared before")
        })
    }
}
