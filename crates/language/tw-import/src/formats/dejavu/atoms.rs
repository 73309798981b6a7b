//! Comparisons, events and calls of macros.

use super::DejaVu;
use super::seen::{Facts, Pattern, Term};
use crate::build::{Sort, Value};
use crate::cursor::{Cursor, Tok, refuse};
use std::rc::Rc;
use tw_diag::{Diagnostic, Span};
use tw_ir::CompareOp;
use tw_spec::ast::ExprKind;

impl<'t> DejaVu<'_> {
    /// A text or a whole number here, if there is one.
    fn constant(&mut self, cursor: &mut Cursor<'t>) -> Result<Option<ExprKind>, Diagnostic> {
        let span = cursor.span();
        let text = cursor.here();
        Ok(match cursor.kind() {
            Tok::Text if text.starts_with('"') => {
                if text.contains('\\') {
                    return Err(refuse(span, "this text has an escape", "write the character itself"));
                }
                cursor.advance();
                Some(ExprKind::Text(text[1..text.len() - 1].into()))
            }
            Tok::Number => {
                cursor.advance();
                let Ok(number) = text.parse::<i64>() else {
                    return Err(refuse(
                        span,
                        format!("`{text}` is not a whole number of 64 bits"),
                        "write texts in quotes",
                    ));
                };
                Some(ExprKind::Int(number))
            }
            _ => None,
        })
    }

    fn variable(&mut self, name: &str, span: Span) -> Result<(u32, Value), Diagnostic> {
        let variable = self.find(name, span)?;
        let (number, word) = (variable.number, variable.word.clone());
        Ok((number, self.builder.variable(&word, span)))
    }

    /// `x < y` or `x = "a"`.
    pub(super) fn compared(
        &mut self,
        cursor: &mut Cursor<'t>,
        name: &str,
        span: Span,
        op: CompareOp,
    ) -> Result<Value, Diagnostic> {
        let (left, first) = self.variable(name, span)?;
        let mut compared = vec![Term::Variable(left)];
        cursor.advance();
        let place = cursor.span();
        let second = match self.constant(cursor)? {
            Some(ExprKind::Text(_)) if op != CompareOp::Eq => {
                return Err(refuse(
                    place,
                    "the order of texts is an error in DejaVu",
                    "compare numbers, or with `=`",
                ));
            }
            Some(kind) => self.builder.push(kind, Sort::Number, place, &[]),
            None => {
                let (name, place) = cursor.word("a variable or a constant")?;
                let (right, value) = self.variable(name, place)?;
                compared.push(Term::Variable(right));
                value
            }
        };
        let value = self.builder.compare(op, first, second, span.to(second.span));
        let compared = Facts::pattern(&compared).holds;
        Ok(self.know(value, Facts { compared, ..Facts::none() }))
    }

    /// `open(f, "read")`, `started`: an event or a macro.
    pub(super) fn predicate(
        &mut self,
        cursor: &mut Cursor<'t>,
        name: &str,
        span: Span,
    ) -> Result<Value, Diagnostic> {
        let (mut terms, mut values) = (Vec::new(), Vec::new());
        if cursor.accept("(").is_some() && cursor.accept(")").is_none() {
            loop {
                let place = cursor.span();
                if let Some(kind) = self.constant(cursor)? {
                    values.push(Some(self.builder.push(kind.clone(), Sort::Number, place, &[])));
                    terms.push(Term::Constant(kind));
                } else {
                    let (name, place) = cursor.word("a variable or a constant")?;
                    let (number, value) = self.variable(name, place)?;
                    values.push(Some(value));
                    terms.push(Term::Variable(number));
                }
                if cursor.accept(",").is_none() {
                    break;
                }
            }
            cursor.expect(")").map_err(|_| cursor.found("`,` or `)`"))?;
        }
        let expected = match self.macros.get(name) {
            Some(own) => Some(own.parameters.len()),
            None => self.arities.get(name).copied(),
        };
        if let Some(expected) = expected.filter(|expected| *expected != terms.len()) {
            let message = format!("`{name}` has {} arguments here, and {expected} elsewhere", terms.len());
            return Err(Diagnostic::error("import-type", message).at(span, format!("expected {expected}")));
        }
        if let Some(own) = self.macros.get(name) {
            let word = own.word.clone();
            let facts = self.call(name, &terms);
            let value = self.builder.apply(&word, &values, span);
            return Ok(self.know(value, facts));
        }
        if expected.is_none() && self.declared {
            let message = format!("found `{name}`, which is neither event nor macro");
            return Err(Diagnostic::error("import-syntax", message).at(span, "expected one that is declared"));
        }
        self.arities.insert(name.to_owned(), terms.len());
        let facts = Facts::pattern(&terms);
        self.patterns.push(Pattern { event: name.to_owned(), terms });
        let value = self.builder.pattern(name, &values, span);
        Ok(self.know(value, facts))
    }

    /// What a macro says of its arguments.
    fn call(&mut self, name: &str, terms: &[Term]) -> Facts {
        let Some(own) = self.macros.get(name) else { return Facts::none() };
        let argument = |number: &u32| {
            own.parameters.iter().position(|other| other == number).map(|at| terms[at].clone())
        };
        let given = |set: &Rc<[u32]>| -> Rc<[u32]> {
            let terms: Vec<Term> = set.iter().filter_map(argument).collect();
            Facts::pattern(&terms).holds
        };
        let Facts { holds, fails, compared } = &own.facts;
        let facts = Facts { holds: given(holds), fails: given(fails), compared: given(compared) };
        let patterns = own.patterns.iter().map(|pattern| Pattern {
            event: pattern.event.clone(),
            terms: pattern
                .terms
                .iter()
                .map(|term| match term {
                    Term::Variable(number) => argument(number).unwrap_or_else(|| term.clone()),
                    constant => constant.clone(),
                })
                .collect(),
        });
        self.patterns.extend(patterns.collect::<Vec<_>>());
        facts
    }
}
