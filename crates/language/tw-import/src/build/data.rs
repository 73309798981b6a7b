//! The part of specifications that is about data: events and their patterns, variables and quantifiers, macros with
//! parameters, aggregates over valuations.

use super::{Builder, Definition, Sort, Value, macro_name};
use tw_diag::Span;
use tw_ir::{Path, PathStep, Tally};
use tw_spec::ast::{Argument, ExprKind, Ident, Type};

/// An event that the source declares.
pub(super) struct Event {
    pub name: String,
    pub parameters: Vec<(String, Option<Type>)>,
    pub span: Span,
}

impl Builder {
    /// Declares an event.
    pub fn event(&mut self, name: &str, parameters: Vec<(String, Option<Type>)>, span: Span) {
        self.events.push(Event { name: name.to_owned(), parameters, span });
    }

    /// The pattern of an event; an argument that is left out is `_`.
    pub fn pattern(&mut self, name: &str, arguments: &[Option<Value>], span: Span) -> Value {
        let value = self.call(name, arguments, span);
        self.patterns.push(value.id);
        value
    }

    /// The name of a definition with parameters, applied.
    pub fn apply(&mut self, word: &str, arguments: &[Option<Value>], span: Span) -> Value {
        if arguments.is_empty() {
            let path = Path { steps: vec![PathStep::Field(word.to_owned())] };
            return self.push(ExprKind::Path { path, quoted: false }, Sort::Formula, span, &[]);
        }
        self.call(word, arguments, span)
    }

    pub(super) fn call(&mut self, name: &str, arguments: &[Option<Value>], span: Span) -> Value {
        let values: Vec<Value> = arguments.iter().flatten().copied().collect();
        let arguments = arguments.iter().map(|value| Argument {
            name: None,
            value: value.map(|value| value.id),
            span: value.map_or(span, |value| value.span),
        });
        let name = Ident { name: name.to_owned(), span };
        let kind = ExprKind::Call { name, arguments: arguments.collect(), event: false };
        self.push(kind, Sort::Formula, span, &values)
    }

    /// A variable that is bound around here.
    pub fn variable(&mut self, word: &str, span: Span) -> Value {
        self.words.insert(word.to_owned());
        let path = Path { steps: vec![PathStep::Field(word.to_owned())] };
        self.push(ExprKind::Path { path, quoted: false }, Sort::Number, span, &[])
    }

    /// `forall x, y. φ` or `exists x, y. φ`; φ itself without variables.
    pub fn quantify(&mut self, forall: bool, words: &[String], body: Value, span: Span) -> Value {
        if words.is_empty() {
            return body;
        }
        let variables = words.iter().map(|word| Ident { name: word.clone(), span }).collect();
        let kind = ExprKind::Quantifier { forall, variables, range: None, body: body.id };
        self.push(kind, Sort::Formula, span, &[body])
    }

    /// An aggregate over the valuations of variables: `sum(value for words : body)`, a count without value.
    pub fn tally(
        &mut self,
        tally: Tally,
        value: Option<Value>,
        words: &[String],
        body: Value,
        span: Span,
    ) -> Value {
        let variables = words.iter().map(|word| Ident { name: word.clone(), span }).collect();
        let kind = ExprKind::Tally { tally, value: value.map(|value| value.id), variables, body: body.id };
        self.push(kind, Sort::Number, span, &[body])
    }

    /// Defines a macro with parameters under a name of its own; that name.
    pub fn define_with(&mut self, name: &str, parameters: Vec<String>, line: usize, body: Value) -> String {
        let mut word = macro_name(name);
        while self.by_word.contains_key(&word) || self.events.iter().any(|event| event.name == word) {
            word.push('_');
        }
        self.by_name.entry(word.clone()).or_insert(self.definitions.len());
        self.by_word.insert(word.clone(), self.definitions.len());
        let (name, used) = (word.clone(), true);
        self.definitions.push(Definition { name, word: word.clone(), parameters, body, line, used });
        word
    }

    /// A formula in these variables, such that it can be written twice: large ones become macros.
    pub fn twice_of(&mut self, value: Value, words: &[String], line: usize) -> Value {
        if value.size <= super::COPIED {
            return value;
        }
        self.parts += 1;
        let name = self.define_with(&format!("part_{}", self.parts), words.to_vec(), line, value);
        let arguments: Vec<_> = words.iter().map(|word| Some(self.variable(word, value.span))).collect();
        self.apply(&name, &arguments, value.span)
    }

    /// A name that is no variable's so far.
    pub fn fresh_word(&mut self, name: &str) -> String {
        let mut word = macro_name(name);
        while self.words.contains(&word) {
            word.push('_');
        }
        self.words.insert(word.clone());
        word
    }

    /// Patterns whose name would be taken for a variable, a macro or a pattern of the library are marked as events; so are
    /// those without arguments, which would be columns.
    pub(super) fn mark_events(&mut self) {
        for id in &self.patterns {
            if let ExprKind::Call { name, arguments, event } = &mut self.tree.exprs[id.index()].kind {
                let name = name.name.as_str();
                *event = arguments.is_empty()
                    || self.words.contains(name)
                    || self.by_word.get(name).is_some_and(|at| self.definitions[*at].used)
                    || AGGREGATES.contains(&name)
                    || tw_spec::PATTERNS.iter().any(|pattern| pattern.name == name);
            }
        }
    }
}

/// Names that are aggregates before a parenthesis.
const AGGREGATES: [&str; 6] = ["count", "sum", "avg", "min", "max", "abs"];
