//! A file: declarations of events, macros and properties, in any order. Macros are read before those that use them.

use super::seen::Facts;
use super::{DejaVu, Macro, RESERVED};
use crate::build::Role;
use crate::climb::expression;
use crate::cursor::{Cursor, Tok, refuse};
use rustc_hash::FxHashMap;
use tw_diag::{Diagnostic, Span};
use tw_ir::Temporal;
use tw_spec::ast::Prefix;

pub(super) type Name = (String, Span);

/// `open(f, m)`: an event, a macro or, without parameters, a property.
pub(super) struct Head {
    pub name: Name,
    pub parameters: Vec<Name>,
}

pub(super) struct Definition {
    head: Head,
    property: bool,
    /// Where its formula begins and ends, in tokens.
    body: (usize, usize),
}

pub(super) struct Document {
    pub events: Vec<Head>,
    /// Each after those that it uses.
    pub definitions: Vec<Definition>,
}

impl Document {
    pub fn read(cursor: &mut Cursor<'_>) -> Result<Document, Diagnostic> {
        let (mut events, mut definitions): (Vec<Head>, Vec<Definition>) = (Vec::new(), Vec::new());
        while cursor.kind() != Tok::End {
            let word = if cursor.kind() == Tok::Word { cursor.here() } else { "" };
            match word {
                "prop" => {
                    cursor.advance();
                    let head = Head { name: name(cursor)?, parameters: Vec::new() };
                    cursor.expect(":")?;
                    definitions.push(Definition { head, property: true, body: body(cursor)? });
                }
                "pred" | "preds" | "event" | "events" => {
                    cursor.advance();
                    let first = head(cursor)?;
                    if word == "pred" && cursor.accept("=").is_some() {
                        definitions.push(Definition { head: first, property: false, body: body(cursor)? });
                        continue;
                    }
                    events.push(first);
                    while cursor.accept(",").is_some() {
                        events.push(head(cursor)?);
                    }
                }
                _ => return Err(cursor.found("`prop` or `pred`")),
            }
        }
        if let Some(last) = definitions.last()
            && definitions.iter().all(|definition| !definition.property)
        {
            let found = Diagnostic::error("import-syntax", "there is no property");
            return Err(found.at(last.head.name.1, "the last definition").help("add one: `prop p : …`"));
        }
        let mut names: FxHashMap<&str, usize> = FxHashMap::default();
        let defined = definitions.iter().map(|definition| &definition.head);
        for (at, head) in defined.chain(&events).enumerate() {
            if names.insert(&head.name.0, at).is_some() {
                let found =
                    Diagnostic::error("import-duplicate", format!("`{}` is defined twice", head.name.0));
                return Err(found.at(head.name.1, "defined again").help("give one of them another name"));
            }
        }
        let order = order(cursor, &definitions, &names)?;
        let mut slots: Vec<Option<Definition>> = definitions.into_iter().map(Some).collect();
        let definitions = order.into_iter().filter_map(|at| slots[at].take()).collect();
        Ok(Document { events, definitions })
    }
}

/// The definitions, each after the macros that it uses: a search in depth on a stack of its own.
fn order(
    cursor: &Cursor<'_>,
    definitions: &[Definition],
    names: &FxHashMap<&str, usize>,
) -> Result<Vec<usize>, Diagnostic> {
    let mut order = Vec::with_capacity(definitions.len());
    // Not met yet, being searched, done.
    let mut state = vec![0_u8; definitions.len()];
    for start in 0..definitions.len() {
        let mut stack = vec![(start, definitions[start].body.0)];
        if state[start] != 0 {
            continue;
        }
        state[start] = 1;
        while let Some((at, token)) = stack.pop() {
            if token == definitions[at].body.1 {
                state[at] = 2;
                order.push(at);
                continue;
            }
            stack.push((at, token + 1));
            let (kind, span) = cursor.token(token);
            let used = names.get(cursor.slice(span)).copied();
            let used = used.filter(|used| {
                kind == Tok::Word && *used < definitions.len() && !definitions[*used].property
            });
            match used {
                Some(used) if state[used] == 1 => {
                    let message = format!("`{}` is defined by itself", cursor.slice(span));
                    return Err(
                        Diagnostic::error("import-syntax", message).at(span, "used in its own definition")
                    );
                }
                Some(used) if state[used] == 0 => {
                    state[used] = 1;
                    stack.push((used, definitions[used].body.0));
                }
                _ => {}
            }
        }
    }
    Ok(order)
}

/// A name that is no keyword.
fn name(cursor: &mut Cursor<'_>) -> Result<Name, Diagnostic> {
    if cursor.kind() == Tok::Word && RESERVED.contains(&cursor.here()) {
        return Err(cursor.found("a name"));
    }
    let (name, span) = cursor.word("a name")?;
    Ok((name.to_owned(), span))
}

/// `open(f, m)`, or `open` without parameters.
fn head(cursor: &mut Cursor<'_>) -> Result<Head, Diagnostic> {
    let mut head = Head { name: name(cursor)?, parameters: Vec::new() };
    if cursor.accept("(").is_some() && cursor.accept(")").is_none() {
        loop {
            let parameter = name(cursor)?;
            if head.parameters.iter().any(|(other, _)| *other == parameter.0) {
                let found =
                    Diagnostic::error("import-duplicate", format!("`{}` is a parameter twice", parameter.0));
                return Err(found.at(parameter.1, "named again"));
            }
            head.parameters.push(parameter);
            if cursor.accept(",").is_none() {
                break;
            }
        }
        cursor.expect(")").map_err(|_| cursor.found("`,` or `)`"))?;
    }
    Ok(head)
}

/// Goes over a formula; its first token and the one behind it.
fn body(cursor: &mut Cursor<'_>) -> Result<(usize, usize), Diagnostic> {
    let start = cursor.place();
    while cursor.kind() != Tok::End {
        if cursor.kind() == Tok::Word {
            match cursor.here() {
                "prop" | "pred" | "preds" | "event" | "events" => break,
                "where" => {
                    let why = "rules are recursive, which definitions are not here";
                    return Err(refuse(cursor.span(), "rules (`where`) are not imported", why));
                }
                _ => {}
            }
        }
        cursor.advance();
    }
    Ok((start, cursor.place()))
}

impl<'t> DejaVu<'_> {
    /// Reads the formula of a property or macro.
    pub(super) fn definition(
        &mut self,
        definition: &Definition,
        cursor: &mut Cursor<'t>,
    ) -> Result<(), Diagnostic> {
        let Definition { head: Head { name: (name, span), parameters }, property, body } = definition;
        self.variables.clear();
        self.patterns.clear();
        for (parameter, span) in parameters {
            self.bind(parameter, *span)?;
        }
        let numbers = self.variables.iter().map(|variable| variable.number).collect();
        let words = self.variables.iter().map(|variable| variable.word.clone()).collect();
        cursor.go(body.0);
        let value = expression(self, cursor)?;
        if cursor.place() != body.1 {
            return Err(cursor.found("an operator or the next definition"));
        }
        let line = cursor.line(*span);
        if *property {
            let value = self.builder.prefix(Prefix::Temporal(Temporal::Globally), None, value, value.span);
            return self.builder.define(Role::Either, name, *span, line, value);
        }
        let facts = self.facts.get(&value.id.0).cloned().unwrap_or_else(Facts::none);
        let word = self.builder.define_with(name, words, line, value);
        let patterns = std::mem::take(&mut self.patterns);
        self.macros.insert(name.clone(), Macro { word, parameters: numbers, facts, patterns });
        Ok(())
    }
}
