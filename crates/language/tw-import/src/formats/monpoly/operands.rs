//! What stands between operators: predicates, lists of names, intervals.

use super::{MonPoly, goes_on};
use crate::build::{Value, bound, checked};
use crate::cursor::{Cursor, Tok, refuse};
use crate::decimal::Decimal;
use tw_core::TimeUnit;
use tw_diag::{Diagnostic, Span};
use tw_ir::{Bound, Interval};

impl<'t> MonPoly<'_, 't> {
    /// The interval behind a temporal operator, if there is one: `(` opens one where a number and a comma follow.
    pub(super) fn interval(&mut self, cursor: &mut Cursor<'t>) -> Result<Option<Interval>, Diagnostic> {
        let unit = usize::from(cursor.peek(2) == Tok::Word);
        let timed = cursor.peek(1) == Tok::Number && cursor.peek(2 + unit) == Tok::Symbol(",");
        if !(cursor.is("[") || cursor.is("(") && timed) {
            return Ok(None);
        }
        let open = cursor.is("(");
        let start = cursor.advance();
        let mut low = self.bound(cursor)?;
        low.open = open;
        cursor.expect(",")?;
        let mut high = if cursor.accept("*").is_some() { None } else { Some(self.bound(cursor)?) };
        let end = if cursor.is(")") || cursor.is("]") { cursor.here() } else { "" };
        if end.is_empty() {
            return Err(cursor.found("`)` or `]`"));
        }
        let span = start.to(cursor.advance());
        if let Some(high) = &mut high {
            high.open = end == ")";
        }
        checked(Interval { low, high }, span).map(Some)
    }

    /// `30`, `7d`.
    fn bound(&mut self, cursor: &mut Cursor<'t>) -> Result<Bound, Diagnostic> {
        let text = cursor.here();
        if cursor.kind() != Tok::Number || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(cursor.found("a whole number, perhaps with a unit"));
        }
        let mut span = cursor.advance();
        let decimal = Decimal::parse(text)
            .ok_or_else(|| refuse(span, "this bound is too large", "bounds are 64-bit"))?;
        let mut unit = None;
        // What follows without a space belongs to the word in MonPoly.
        if self.text[span.end as usize..].starts_with(goes_on) {
            let (word, place) = cursor.word("a unit: `s`, `m`, `h` or `d`")?;
            span = span.to(place);
            unit = match word {
                "s" | "m" | "h" | "d" => TimeUnit::parse(word),
                _ => {
                    return Err(refuse(
                        span,
                        format!("`{word}` is not a unit of MonPoly"),
                        "units are s, m, h and d",
                    ));
                }
            };
        }
        Ok(Bound { unit, ..bound(decimal, span)? })
    }

    /// `x, y` up to something else.
    pub(super) fn names(&mut self, cursor: &mut Cursor<'t>) -> Result<Vec<(&'t str, Span)>, Diagnostic> {
        let mut names = Vec::new();
        loop {
            let (name, span) = cursor.word("the name of a variable")?;
            self.plain(name, span)?;
            if name == "_" {
                return Err(refuse(span, "`_` cannot be bound here", "give the variable a name"));
            }
            names.push((name, span));
            if cursor.accept(",").is_none() {
                return Ok(names);
            }
        }
    }

    /// `p(x, 3, "a", _)`, of the signature or of a LET around.
    pub(super) fn predicate(&mut self, cursor: &mut Cursor<'t>) -> Result<Value, Diagnostic> {
        let (name, place) = cursor.word("the name of a predicate")?;
        self.plain(name, place)?;
        cursor.expect("(")?;
        let mut arguments: Vec<(Option<Value>, &str)> = Vec::new();
        while cursor.accept(")").is_none() {
            if !arguments.is_empty() {
                cursor.expect(",").map_err(|_| match cursor.kind() {
                    Tok::Symbol("+" | "-" | "*" | "/") | Tok::Word => {
                        let why = "write `EXISTS y. p(y) AND y = …` for an argument that is computed";
                        refuse(cursor.span(), "an argument is a variable, a constant or `_`", why)
                    }
                    _ => cursor.found("`,` or `)`"),
                })?;
            }
            let span = cursor.span();
            let argument = match cursor.kind() {
                Tok::Number => Some(self.number(cursor)?),
                Tok::Text => Some(self.text(cursor.advance())),
                Tok::Word if cursor.here().starts_with('_') => {
                    let name = cursor.here();
                    if name != "_" && arguments.iter().any(|(_, other)| *other == name) {
                        let why = "give it a name without `_` and bind it with EXISTS";
                        return Err(refuse(
                            span,
                            format!("`{name}` stands for one value in two places"),
                            why,
                        ));
                    }
                    cursor.advance();
                    None
                }
                Tok::Word => {
                    let name = cursor.here();
                    cursor.advance();
                    if cursor.is("(") {
                        let why = "an argument is a variable, a constant or `_`";
                        return Err(refuse(span, format!("`{name}(…)` is an argument"), why));
                    }
                    Some(self.variable(name, span)?)
                }
                _ => return Err(cursor.found("a variable, a constant or `_`")),
            };
            arguments.push((argument, cursor.slice(span)));
        }
        let close = self.text[..cursor.span().start as usize].trim_end().len() as u32;
        let span = place.to(Span { start: close.max(place.end), end: close.max(place.end), ..place });
        let defined = self.lets.iter().rev().find(|defined| defined.name == name);
        let defined = defined.map(|defined| (defined.word.clone(), defined.parameters.clone()));
        let declared = self.signature.as_ref().and_then(|signature| signature.get(name).cloned());
        let expected = match (&defined, &declared) {
            (Some((_, cells)), _) => Some(cells.clone()),
            (None, Some(predicate)) => Some(self.types.of(predicate)),
            (None, None) => None,
        };
        match expected {
            Some(cells) if cells.len() != arguments.len() => {
                let (found, wanted) = (arguments.len(), cells.len());
                let message =
                    format!("`{name}` has {found} arguments here, and {wanted} where it is declared");
                return Err(Diagnostic::error("import-type", message).at(place, format!("expected {wanted}")));
            }
            Some(cells) => {
                for (at, (argument, text)) in arguments.iter().enumerate() {
                    if let Some(argument) = argument {
                        let cell = self.cell(*argument);
                        self.types.unify(cell, cells[at], (text, argument.span))?;
                    }
                }
            }
            None if matches!(name, "tp" | "ts" | "tpts") => {
                let why = "write the number or the time of a time point as an argument of its events";
                return Err(refuse(place, format!("`{name}` has no counterpart"), why));
            }
            None if self.signature.is_some() => {
                let message = format!("`{name}` is not in the signature");
                return Err(Diagnostic::error("import-syntax", message)
                    .at(place, "expected a predicate of the signature"));
            }
            None => {}
        }
        let mut values: Vec<Option<Value>> = arguments.iter().map(|(argument, _)| *argument).collect();
        let Some((word, _)) = defined else { return Ok(self.builder.pattern(name, &values, span)) };
        // A macro asks for a value in every place.
        let mut any = Vec::new();
        for value in values.iter_mut().filter(|value| value.is_none()) {
            let word = self.builder.fresh_word("any");
            *value = Some(self.builder.variable(&word, span));
            any.push(word);
        }
        let call = self.builder.apply(&word, &values, span);
        Ok(self.builder.quantify(false, &any, call, span))
    }
}
