//! Lola and RTLola: equations of streams, one declaration after the other.
//!
//! Of RTLola the part that is evaluated at every event: inputs, constants, outputs with offsets, `hold` and `get`, windows,
//! triggers, instances per value of an input. Of Lola the older notation: `input int x`, `output bool y := x[-1, 0] > 3`.
//! What a clock evaluates has no counterpart, and neither have streams that pause.

mod lookups;
mod operators;
mod types;

use crate::build::{Leaf, Value};
use crate::climb::expression;
use crate::cursor::{Cursor, Lexis, Tok, refuse};
use crate::{Format, Options, Reading};
use rustc_hash::{FxHashMap, FxHashSet};
use tw_diag::{Diagnostic, Span};
use tw_spec::ast::{ExprId, ExprKind, Ident, Type};

pub(crate) const FORMAT: Format = Format {
    name: "lola",
    title: "RTLola and Lola",
    about: "stream equations: `input x: Int64`, `output n := n.offset(by: -1).defaults(to: 0) + x`, `trigger n > 9`",
    extensions: &["lola", "rtlola", "spec"],
    clock,
    read,
};

const LEXIS: Lexis = Lexis {
    symbols: &[
        ":=", "::", "\\/", "/\\", "=>", "->", "→", "<<", ">>", "<=", ">=", "==", "!=", "**", "&&", "||", "≤",
        "≥", "≠", "∧", "∨", "¬", "⊤", "⊥", "∫", "∃", "∀", "<", ">", "=", "+", "-", "*", "/", "%", "^", "~",
        "(", ")", "[", "]", "{", "}", ",", ";", "|", "&", ":", ".", "!", "@", "#", "?",
    ],
    comments: &[("//", None), ("/*", Some("*/"))],
    begins,
    goes_on,
    quotes: true,
    lines: false,
    signed: false,
};

fn begins(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

fn goes_on(c: char) -> bool {
    matches!(c, '_' | '\'' | '²') || c.is_alphanumeric()
}

fn clock(_: &Options) -> String {
    "A position is an event with a value of every input that is read there without `hold` or `get`."
        .to_owned()
}

/// Words that begin a declaration.
const BEGINS: [&str; 9] =
    ["input", "output", "trigger", "constant", "const", "define", "import", "include", "type"];

/// What a name of the source is.
#[derive(Clone, Debug)]
pub(super) enum Named {
    Input(Type),
    Constant(Type),
    /// A stream, by its number among the outputs.
    Output(usize),
}

/// An output as its head declares it.
#[derive(Clone, Debug, Default)]
pub(super) struct Output {
    pub ty: Option<Type>,
    /// Its parameter, and the input whose values have instances.
    pub key: Option<(String, String)>,
    /// Its equation and where its name stands, once it is read.
    pub body: Option<(ExprId, Span)>,
}

pub(super) struct Lola<'r, 't> {
    pub reading: &'r mut Reading<'t>,
    pub names: FxHashMap<String, Named>,
    pub outputs: Vec<Output>,
    /// Values of constants, as written.
    pub constants: FxHashMap<String, ExprKind>,
    /// What is told at the end, types being known by then: streams and triggers in their order.
    pub made: Vec<Made>,
    /// Streams that hold the latest value of another, by its name and the default.
    pub held: FxHashMap<(String, String), String>,
    /// The stream that is being read, if it has instances.
    pub instance: Option<(String, String)>,
    /// Whether its positions are those of its key.
    filtered: bool,
    /// Defaults that never count, to be given the type of what they stand for.
    pub unused: FxHashMap<ExprId, ExprId>,
    /// Numbers that are cast to real ones.
    pub casts: FxHashSet<ExprId>,
    pub line: usize,
}

/// A stream or trigger that has been read.
pub(super) struct Made {
    pub name: Ident,
    pub line: usize,
    pub body: ExprId,
    pub what: What,
}

pub(super) enum What {
    Stream(usize),
    Trigger(Option<String>),
}

fn read(reading: &mut Reading<'_>) {
    let mut cursor = match Cursor::new(reading.text, &LEXIS) {
        Ok(cursor) => cursor,
        Err(found) => {
            reading.report(found);
            return;
        }
    };
    cursor.join("::");
    let mut lola = Lola {
        reading,
        names: FxHashMap::default(),
        outputs: Vec::new(),
        constants: FxHashMap::default(),
        made: Vec::new(),
        held: FxHashMap::default(),
        instance: None,
        filtered: false,
        unused: FxHashMap::default(),
        casts: FxHashSet::default(),
        line: 0,
    };
    if let Err(found) = lola.heads(&mut cursor) {
        lola.reading.report(found);
        return;
    }
    cursor.go(0);
    while cursor.kind() != Tok::End {
        lola.line = cursor.line(cursor.span());
        lola.instance = None;
        if let Err(found) = lola.declaration(&mut cursor) {
            if !lola.reading.report(found) {
                return;
            }
            while cursor.kind() != Tok::End && !declares(&cursor) {
                cursor.advance();
            }
        }
    }
    if !lola.reading.findings.is_empty() {
        return;
    }
    match lola.made.is_empty() {
        false => lola.finish(),
        true => {
            let found = Diagnostic::error("import-syntax", "there is no output and no trigger");
            lola.reading.report(found.at(cursor.span(), "expected `output` or `trigger`"));
        }
    }
}

/// Whether a declaration begins here.
fn declares(cursor: &Cursor<'_>) -> bool {
    cursor.kind() == Tok::Word && BEGINS.contains(&cursor.here())
}

/// The type of a name; `None` if there is none of this name.
fn type_named(name: &str) -> Option<Type> {
    Some(match name {
        "Bool" | "bool" | "Boolean" | "boolean" => Type::Bool,
        "Int" | "Int8" | "Int16" | "Int32" | "Int64" | "UInt" | "UInt8" | "UInt16" | "UInt32" | "UInt64" => {
            Type::Int
        }
        "int" | "uint" => Type::Int,
        "Float" | "Float32" | "Float64" | "float" | "double" | "real" | "Double" | "Real" => Type::Real,
        "String" | "string" => Type::Text,
        _ => return None,
    })
}

impl<'t> Lola<'_, 't> {
    /// What is declared, and as what: equations may refer to what comes later.
    fn heads(&mut self, cursor: &mut Cursor<'t>) -> Result<(), Diagnostic> {
        while cursor.kind() != Tok::End {
            let word = if cursor.kind() == Tok::Word { cursor.here() } else { "" };
            cursor.advance();
            match word {
                "input" => self.inputs(cursor)?,
                "output" => {
                    let (name, span, output) = self.head(cursor)?;
                    self.declare(name, span, Named::Output(self.outputs.len()))?;
                    self.outputs.push(output);
                }
                "constant" | "const" | "define" => {
                    let (name, span, ty) = typed(cursor)?;
                    let Some(ty) = ty else { return Err(cursor.found("`:` and a type")) };
                    self.declare(name, span, Named::Constant(ty))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn declare(&mut self, name: &str, span: Span, named: Named) -> Result<(), Diagnostic> {
        match self.names.insert(name.to_owned(), named) {
            None => Ok(()),
            Some(_) => {
                let found = Diagnostic::error("import-duplicate", format!("`{name}` is defined twice"));
                Err(found.at(span, "defined again").help("give one of them another name"))
            }
        }
    }

    /// `a: Int64, b: Bool`, or `int a, b` as Lola writes it.
    fn inputs(&mut self, cursor: &mut Cursor<'t>) -> Result<(), Diagnostic> {
        let mut before = None;
        loop {
            let (name, span, ty) = match before {
                // `input int a, b`: one type for all.
                Some(ty) if cursor.peek(1) != Tok::Symbol(":") => {
                    let (name, span) = cursor.word("the name of an input")?;
                    (name, span, Some(ty))
                }
                _ => {
                    let older = cursor.peek(1) == Tok::Word;
                    let found = typed(cursor)?;
                    before = found.2.filter(|_| older);
                    found
                }
            };
            if cursor.is("(") {
                return Err(refuse(
                    span,
                    format!("the input `{name}` has parameters"),
                    "give each value a column",
                ));
            }
            let Some(ty) = ty else { return Err(cursor.found("`:` and a type")) };
            self.declare(name, span, Named::Input(ty))?;
            if cursor.accept(",").is_none() {
                return Ok(());
            }
        }
    }

    /// `a: Int64`, `a(p: String): Int64 spawn with b`, `int a`: up to where the pacing or the equation begins.
    fn head(&mut self, cursor: &mut Cursor<'t>) -> Result<(&'t str, Span, Output), Diagnostic> {
        let template = |span: Span| {
            refuse(span, "a template with parameters", "write `output a(p: Int64) spawn with …`")
        };
        if cursor.is("(") || cursor.is("<") {
            return Err(template(cursor.span()));
        }
        let (name, span, ty) = typed(cursor)?;
        let mut output = Output { ty, ..Output::default() };
        if cursor.is("<") {
            return Err(template(cursor.span()));
        }
        if let Some(open) = cursor.accept("(") {
            let (parameter, _) = cursor.word("the name of a parameter")?;
            if cursor.accept(":").is_some() {
                type_here(cursor)?;
            }
            if cursor.is(",") {
                let why = "there is an instance per value of one column: join them in the trace";
                return Err(refuse(open.to(cursor.span()), format!("`{name}` has several parameters"), why));
            }
            cursor.expect(")")?;
            if cursor.accept(":").is_some() {
                output.ty = type_here(cursor)?;
            }
            let why = "write `spawn with COLUMN eval when COLUMN == PARAMETER with …`";
            let spawn = cursor.span();
            if !cursor.is_word("spawn") {
                return Err(refuse(span, format!("nothing says which instances `{name}` has"), why));
            }
            cursor.advance();
            if !cursor.is_word("with") {
                return Err(refuse(spawn, "instances that begin on a condition or a clock", why));
            }
            cursor.advance();
            let group = cursor.accept("(");
            let (column, _) = cursor.word("the name of an input")?;
            if let Some(open) = group
                && cursor.accept(")").is_none()
            {
                let span = open.to(cursor.span());
                return Err(refuse(span, "instances that are told by more than the value of an input", why));
            }
            if !cursor.is_word("eval") {
                return Err(refuse(
                    cursor.span(),
                    "instances that are told by more than the value of an input",
                    why,
                ));
            }
            output.key = Some((parameter.to_owned(), column.to_owned()));
        }
        Ok((name, span, output))
    }

    fn declaration(&mut self, cursor: &mut Cursor<'t>) -> Result<(), Diagnostic> {
        if cursor.accept("#").is_some() {
            return tags(cursor);
        }
        if cursor.accept(";").is_some() {
            return Ok(());
        }
        let (word, span) = (if declares(cursor) { cursor.here() } else { "" }, cursor.span());
        cursor.advance();
        match word {
            // The heads have been read already.
            "input" => loop {
                typed_or_name(cursor)?;
                if cursor.accept(",").is_none() {
                    return Ok(());
                }
            },
            "import" => cursor.word("the name of a module").map(|_| ()),
            "constant" | "const" | "define" => self.constant(cursor),
            "output" => self.output(cursor),
            "trigger" => self.trigger(cursor, span),
            "include" => Err(refuse(span, "`include` of another file", "put its text in place of it")),
            "type" => Err(refuse(span, "a type of several fields", "declare an input for each field")),
            _ => {
                cursor.go(cursor.place() - 1);
                let found = cursor.found("`input`, `output`, `constant` or `trigger`");
                cursor.advance();
                Err(found)
            }
        }
    }

    /// `c: Float64 := 3.5`.
    fn constant(&mut self, cursor: &mut Cursor<'t>) -> Result<(), Diagnostic> {
        let (name, span, _) = typed(cursor)?;
        if cursor.accept(":=").is_none() {
            cursor.expect("=")?;
        }
        let body = expression(self, cursor)?;
        let kind = self.reading.builder.exprs()[body.id.index()].kind.clone();
        if !matches!(kind, ExprKind::Bool(_) | ExprKind::Int(_) | ExprKind::Real(_) | ExprKind::Text(_)) {
            return Err(refuse(body.span, "a constant that is computed", "write its value"));
        }
        self.constants.insert(name.to_owned(), kind);
        self.reading.builder.define(crate::build::Role::Macro, name, span, self.line, body)
    }

    fn output(&mut self, cursor: &mut Cursor<'t>) -> Result<(), Diagnostic> {
        let (name, span, output) = self.head(cursor)?;
        let Some(Named::Output(number)) = self.names.get(name).cloned() else { return Ok(()) };
        (self.instance, self.filtered) = (output.key.clone(), false);
        let body = self.equation(cursor)?;
        if let Some((parameter, column)) = self.instance.as_ref().filter(|_| !self.filtered) {
            let why = format!("write `eval when {column} == {parameter} with …`");
            return Err(refuse(span, "instances that are evaluated at the events of others", &why));
        }
        self.outputs[number].body = Some((body.id, span));
        let name = Ident { name: name.to_owned(), span };
        self.made.push(Made { name, line: self.line, body: body.id, what: What::Stream(number) });
        Ok(())
    }

    /// `:= e`, `@a := e`, `eval with e`.
    fn equation(&mut self, cursor: &mut Cursor<'t>) -> Result<Value, Diagnostic> {
        self.pacing(cursor)?;
        if cursor.accept(":=").is_some() || cursor.accept("=").is_some() {
            return expression(self, cursor);
        }
        let span = cursor.span();
        match if cursor.kind() == Tok::Word { cursor.here() } else { "" } {
            "eval" => {}
            "spawn" => {
                let why = "a stream is there from the first event on; write `if … then … else`";
                return Err(refuse(span, "a stream that begins later (`spawn`)", why));
            }
            "close" => return Err(closes(span)),
            "mirrors" => {
                let why = "write `if … then … else` with a value for where it pauses";
                return Err(refuse(span, "a stream that pauses (`mirrors`)", why));
            }
            _ if cursor.is("{") => return Err(refuse(span, "a stream that a clock extends", CLOCK)),
            _ => return Err(cursor.found("`:=` and an expression")),
        }
        cursor.advance();
        self.pacing(cursor)?;
        if cursor.is_word("when") {
            self.filter(cursor)?;
        }
        if declares(cursor) || cursor.kind() == Tok::End {
            let why = "write `eval with …`, or leave the stream out";
            return Err(refuse(span, "a stream without values (`eval` without `with`)", why));
        }
        if !cursor.is_word("with") {
            return Err(cursor.found("`with` and an expression"));
        }
        cursor.advance();
        let body = expression(self, cursor)?;
        match if cursor.kind() == Tok::Word { cursor.here() } else { "" } {
            "when" => {
                self.filter(cursor)?;
                Ok(body)
            }
            "close" => Err(closes(cursor.span())),
            "eval" => Err(refuse(cursor.span(), "a second `eval`", "write `if … then … else` in the first")),
            _ => Ok(body),
        }
    }

    /// `when user == u`: the positions of an instance, and nothing else.
    fn filter(&mut self, cursor: &mut Cursor<'t>) -> Result<(), Diagnostic> {
        let when = cursor.advance();
        let group = cursor.accept("(").is_some();
        let (left, _) = cursor.word("a name")?;
        let equal = cursor.accept("==").or_else(|| cursor.accept("=")).is_some();
        let pair = match (&self.instance, equal) {
            (Some((parameter, column)), true) => {
                let (right, _) = cursor.word("a name")?;
                (left == parameter && right == column) || (left == column && right == parameter)
            }
            _ => false,
        };
        if !pair
            || group && cursor.accept(")").is_none()
            || !(cursor.is_word("with") || declares(cursor) || cursor.kind() == Tok::End)
        {
            let why = match &self.instance {
                Some((parameter, column)) => format!("write `eval when {column} == {parameter} with …`"),
                None => "write `if … then … else` with a value for where it pauses".to_owned(),
            };
            return Err(refuse(when, "a stream that pauses (`eval when`)", &why));
        }
        self.filtered = true;
        Ok(())
    }

    /// `@a`, `@(a && b)`: the events that bring these inputs, which are all.
    fn pacing(&mut self, cursor: &mut Cursor<'t>) -> Result<(), Diagnostic> {
        let Some(at) = cursor.accept("@") else { return Ok(()) };
        let mut depth = 0;
        let begin = cursor.place();
        loop {
            match cursor.kind() {
                Tok::Number => {
                    let number = cursor.advance();
                    let unit = if cursor.kind() == Tok::Word { cursor.here() } else { "" };
                    let clock = format!("`@{}{unit}`: a stream that a clock evaluates", cursor.slice(number));
                    return Err(refuse(at.to(cursor.span()), clock, CLOCK));
                }
                Tok::Symbol("(") => depth += 1,
                Tok::Symbol(")") if depth > 0 => depth -= 1,
                Tok::Symbol("&&" | "||" | "&" | "|" | "∧" | "∨") if cursor.place() > begin => {
                    cursor.advance();
                    continue;
                }
                Tok::Word if matches!(cursor.here(), "and" | "or") && cursor.place() > begin => {
                    cursor.advance();
                    continue;
                }
                Tok::Word if matches!(cursor.here(), "Global" | "Local") => {
                    cursor.advance();
                    continue;
                }
                Tok::Word => {}
                _ => return Err(cursor.found("the inputs whose events evaluate it")),
            }
            cursor.advance();
            let goes_on = matches!(cursor.kind(), Tok::Symbol("&&" | "||" | "&" | "|" | "∧" | "∨"))
                || cursor.is_word("and")
                || cursor.is_word("or");
            if depth == 0 && !goes_on {
                self.reading.note("Pacing by inputs (`@a`) is left out: an event brings all of them.");
                return Ok(());
            }
        }
    }

    /// `x > 3 "text"`, `eval when x > 3 with "text"`.
    fn trigger(&mut self, cursor: &mut Cursor<'t>, span: Span) -> Result<(), Diagnostic> {
        self.pacing(cursor)?;
        let mut title = None;
        let body = if cursor.is_word("eval") {
            cursor.advance();
            self.pacing(cursor)?;
            if !cursor.is_word("when") {
                return Err(cursor.found("`when` and a condition"));
            }
            cursor.advance();
            let body = expression(self, cursor)?;
            if cursor.is_word("with") {
                cursor.advance();
                if cursor.kind() != Tok::Text {
                    return Err(refuse(
                        cursor.span(),
                        "a text that is computed",
                        "write a text in quotation marks",
                    ));
                }
            }
            body
        } else {
            expression(self, cursor)?
        };
        if cursor.kind() == Tok::Text {
            let text = cursor.here();
            title = Some(text[1..text.len() - 1].to_owned());
            cursor.advance();
        }
        if cursor.is_word("eval") {
            return Err(refuse(cursor.span(), "a second `eval`", "write a trigger for each"));
        }
        if cursor.is("(") {
            return Err(refuse(cursor.span(), "a text with values", "leave them out: the report shows them"));
        }
        let mut number = 1 + self.made.iter().filter(|made| matches!(made.what, What::Trigger(_))).count();
        while self.names.contains_key(&format!("trigger_{number}")) {
            number += 1;
        }
        let name = Ident { name: format!("trigger_{number}"), span };
        self.made.push(Made { name, line: self.line, body: body.id, what: What::Trigger(title) });
        Ok(())
    }

    /// The name of a declared thing, as part of an expression.
    pub(super) fn name(&mut self, name: &str, span: Span) -> Result<Value, Diagnostic> {
        let builder = &mut self.reading.builder;
        match self.names.get(name) {
            Some(Named::Input(ty)) => Ok(builder.column(name, Leaf::Known(*ty), span)),
            Some(Named::Output(number)) => Ok(builder.column(name, Leaf::Stream(*number), span)),
            Some(Named::Constant(ty)) => match builder.constant_named(name, *ty, span) {
                Some(value) => Ok(value),
                None => {
                    Err(refuse(span, format!("`{name}` is used before its value is given"), "put it first"))
                }
            },
            None => {
                let message = format!("`{name}` is neither an input nor an output");
                Err(Diagnostic::error("import-syntax", message).at(span, "not declared"))
            }
        }
    }
}

const CLOCK: &str = "values are told at events: leave the clock out, and windows are computed at every event";

fn closes(span: Span) -> Diagnostic {
    refuse(
        span,
        "instances that end (`close`)",
        "an instance stays; let a condition in its equation say that it is over",
    )
}

/// `[tag, name="text"]` behind `#`, and `!` between them.
fn tags(cursor: &mut Cursor<'_>) -> Result<(), Diagnostic> {
    cursor.accept("!");
    cursor.expect("[")?;
    while cursor.kind() != Tok::End {
        if cursor.accept("]").is_some() {
            return Ok(());
        }
        cursor.advance();
    }
    Err(cursor.found("`]`"))
}

/// `a: Int64`, or `int a`; without type in RTLola, where it is told from the equation.
fn typed<'t>(cursor: &mut Cursor<'t>) -> Result<(&'t str, Span, Option<Type>), Diagnostic> {
    let (first, span) = cursor.word("a name")?;
    let next = if cursor.kind() == Tok::Word { cursor.here() } else { "" };
    let clause = matches!(next, "" | "spawn" | "eval" | "close" | "mirrors") || BEGINS.contains(&next);
    if !clause && type_named(first).is_some() {
        let (name, span) = cursor.word("a name")?;
        return Ok((name, span, type_named(first)));
    }
    let ty = match cursor.is(":") {
        true => {
            cursor.advance();
            type_here(cursor)?
        }
        false => None,
    };
    Ok((first, span, ty))
}

fn typed_or_name(cursor: &mut Cursor<'_>) -> Result<(), Diagnostic> {
    typed(cursor).map(|_| ())
}

/// A type; `_` leaves it to the equation.
fn type_here(cursor: &mut Cursor<'_>) -> Result<Option<Type>, Diagnostic> {
    if let Some(open) = cursor.accept("(") {
        return Err(refuse(open, "a stream of tuples", "define a stream for each part"));
    }
    let (name, span) = cursor.word("a type")?;
    if let Some(mark) = cursor.accept("?") {
        return Err(refuse(
            span.to(mark),
            "a stream that may have no value",
            "give a default where it is read",
        ));
    }
    match type_named(name) {
        None if name == "_" => Ok(None),
        None => Err(refuse(
            span,
            format!("the type `{name}`"),
            "types are Bool, Int64, UInt64, Float64 and String",
        )),
        ty => Ok(ty),
    }
}
