//! Which events of the trace the events of a monitor are.

use super::super::declarations::Declared;
use super::{Lowering, listed, near};
use crate::ast::monitor::{Event, ItemKind, Monitor};
use crate::ast::{Argument, ExprKind, Ident};
use tw_core::Value;
use tw_diag::{Diagnostic, Span};
use tw_ir::monitor::{self as ir, Source};
use tw_ir::{ArgumentKey, Slot, What};

/// The arguments of a trace event: constants, and columns with their parameters.
#[derive(Default)]
struct Read {
    name: String,
    constants: Vec<(ArgumentKey, Value)>,
    keys: Vec<ArgumentKey>,
    columns: Vec<u32>,
    arity: Option<usize>,
    declared: bool,
}

impl Lowering<'_, '_> {
    /// How an event is read; `line` is its declaration and line.
    pub(super) fn source(
        &mut self,
        written: &Monitor,
        event: &Event,
        line: (usize, usize),
    ) -> Option<Source> {
        let numbers = self.numbers(written, &event.parameters)?;
        let read = match &event.source {
            None => self.by_name(event, &numbers)?,
            Some((name, arguments)) => self.by_arguments(written, event, name, arguments, &numbers)?,
        };
        let when = match event.when {
            Some(_) => Some(self.condition(line)?),
            None => None,
        };
        let what = match read.columns.is_empty() {
            true => What::Event { name: read.name.clone(), arguments: read.constants, arity: read.arity },
            false => What::Tuples {
                name: read.name.clone(),
                constants: read.constants,
                arity: read.arity,
                arguments: read.keys.clone(),
            },
        };
        let span = event.source.as_ref().map_or(event.name.span, |(name, _)| name.span);
        let slot = self.slot(what, read.declared, span);
        Some(Source { name: read.name, slot, columns: read.columns, keys: read.keys, when })
    }

    fn slot(&mut self, what: What, declared: bool, span: Span) -> u32 {
        let slots = &mut self.program.slots;
        let known = slots.iter().position(|slot| slot.what == what);
        known.unwrap_or_else(|| {
            slots.push(Slot { what, declared, span });
            slots.len() - 1
        }) as u32
    }

    /// The numbers of parameters by name.
    fn numbers(&mut self, written: &Monitor, names: &[Ident]) -> Option<Vec<u32>> {
        let mut numbers = Vec::new();
        for ident in names {
            match written.parameters.iter().position(|parameter| parameter.name == ident.name) {
                Some(number) => numbers.push(number as u32),
                None => {
                    let known = || written.parameters.iter().map(|parameter| parameter.name.as_str());
                    let message = format!("`{}` is no parameter of `{}`", ident.name, written.name.name);
                    let found = Diagnostic::error("unknown-parameter", message).at(ident.span, "");
                    self.findings.add(found.help(match near(&ident.name, known()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!(
                            "its parameters are {}; add it behind the monitor's name",
                            listed(known())
                        ),
                    }));
                    return None;
                }
            }
        }
        Some(numbers)
    }

    /// The event of the trace of the same name and arguments.
    fn by_name(&mut self, event: &Event, numbers: &[u32]) -> Option<Read> {
        let name = event.name.name.clone();
        let own = |index: usize| event.parameters[index].name.clone();
        let read = Read { name: name.clone(), columns: numbers.to_vec(), ..Read::default() };
        let Some((Declared::Event(index), _)) = self.declarations.names.get(name.as_str()) else {
            let keys = (0..numbers.len()).map(|index| ArgumentKey::Declared {
                index,
                name: own(index),
                of: numbers.len(),
            });
            let arity = (!numbers.is_empty()).then_some(numbers.len());
            return Some(Read { keys: keys.collect(), arity, ..read });
        };
        let declared = &self.declarations.events[*index];
        let place = |name: &str| declared.parameters.iter().position(|(known, _)| known.name == *name);
        let named: Option<Vec<usize>> = event.parameters.iter().map(|p| place(&p.name)).collect();
        let places = match named {
            Some(places) => places,
            None if numbers.len() == declared.parameters.len() => (0..numbers.len()).collect(),
            None => {
                let message = format!(
                    "the event `{name}` has {} arguments, but {} are given",
                    declared.parameters.len(),
                    numbers.len()
                );
                let found = Diagnostic::error("event-arity", message).at(event.name.span, "");
                let found = found.at(declared.name.span, "declared here");
                self.findings
                    .add(found.help(format!("say which are meant: `= {name}(argument: parameter)`")));
                return None;
            }
        };
        let keys = places.into_iter().map(|index| declared.key(index)).collect();
        Some(Read { keys, declared: true, ..read })
    }

    /// The event of the trace that stands behind `=`.
    fn by_arguments(
        &mut self,
        written: &Monitor,
        event: &Event,
        name: &Ident,
        arguments: &[Argument],
        numbers: &[u32],
    ) -> Option<Read> {
        let declared = match self.declarations.names.get(name.name.as_str()) {
            Some((Declared::Event(index), _)) => Some(*index),
            _ => None,
        };
        let positional = arguments.iter().filter(|argument| argument.name.is_none()).count();
        if positional > 0 && positional < arguments.len() {
            let message =
                format!("the arguments of `{}` are given partly by name and partly by position", name.name);
            let found = Diagnostic::error("mixed-arguments", message).at(name.span, "");
            self.findings.add(found.help("give all by name or all by position"));
            return None;
        }
        let mut read = Read { name: name.name.clone(), declared: declared.is_some(), ..Read::default() };
        let mut taken: Vec<ArgumentKey> = Vec::new();
        for (position, argument) in arguments.iter().enumerate() {
            let key = self.key(declared, name, argument, position)?;
            if taken.contains(&key) {
                let message = format!("an argument of `{}` is given twice", name.name);
                let found =
                    Diagnostic::error("duplicate-argument", message).at(argument.span, "given again here");
                self.findings.add(found.help("keep one of the two"));
                return None;
            }
            taken.push(key.clone());
            let Some(value) = argument.value else { continue };
            let expr = &self.tree.exprs[value.index()];
            let constant = match &expr.kind {
                ExprKind::Bool(value) => Value::Bool(*value),
                ExprKind::Int(value) => Value::Int(*value),
                ExprKind::Real(value) => Value::Real(*value),
                ExprKind::Text(text) => Value::text(text),
                ExprKind::Path { path, .. } => {
                    let parameter = path.as_name().unwrap_or_default();
                    let ident = Ident { name: parameter.to_owned(), span: expr.span };
                    let number = self.numbers(written, std::slice::from_ref(&ident))?[0];
                    if !numbers.contains(&number) {
                        let message = format!("`{parameter}` is not bound by `{}`", event.name.name);
                        let found = Diagnostic::error("unbound-parameter", message).at(ident.span, "");
                        let names = event.parameters.iter().map(|p| p.name.as_str()).chain([parameter]);
                        let names: Vec<&str> = names.collect();
                        let help = format!("write `event {}({}) = …`", event.name.name, names.join(", "));
                        self.findings.add(found.help(help));
                        return None;
                    }
                    read.keys.push(key);
                    read.columns.push(number);
                    continue;
                }
                _ => return None,
            };
            read.constants.push((key, constant));
        }
        read.arity = (declared.is_none() && positional > 0).then_some(positional);
        for (ident, number) in event.parameters.iter().zip(numbers) {
            if !read.columns.contains(number) {
                let message = format!("no argument of `{}` is `{}`", name.name, ident.name);
                let found =
                    Diagnostic::error("unbound-parameter", message).at(ident.span, "gets no value here");
                let help = format!("write it among the arguments: `{}({})`", name.name, ident.name);
                self.findings.add(found.at(name.span, "these are all").help(help));
                return None;
            }
        }
        Some(read)
    }

    fn key(
        &mut self,
        declared: Option<usize>,
        name: &Ident,
        argument: &Argument,
        position: usize,
    ) -> Option<ArgumentKey> {
        let Some(index) = declared else {
            return Some(match &argument.name {
                Some(label) => ArgumentKey::Name(label.name.clone()),
                None => ArgumentKey::Index(position),
            });
        };
        let declared = &self.declarations.events[index];
        let names = || declared.parameters.iter().map(|(known, _)| known.name.as_str());
        let index = match &argument.name {
            Some(label) => names().position(|known| known == label.name),
            None => Some(position).filter(|index| *index < declared.parameters.len()),
        };
        if index.is_none() {
            let message = match &argument.name {
                Some(label) => format!("the event `{}` has no argument `{}`", name.name, label.name),
                None => format!("the event `{}` has fewer arguments", name.name),
            };
            let found = Diagnostic::error("unknown-argument", message).at(argument.span, "");
            let found = found.at(declared.name.span, "declared here");
            self.findings.add(found.help(format!("its arguments are {}", listed(names()))));
        }
        index.map(|index| declared.key(index))
    }

    /// What ends values.
    pub(super) fn ends(
        &mut self,
        written: &Monitor,
        declaration: usize,
        events: &[ir::Event],
    ) -> Option<Vec<ir::End>> {
        let mut ends = Vec::new();
        for (line, item) in written.items.iter().enumerate() {
            let ItemKind::End(end) = &item.kind else { continue };
            if end.parameters.is_empty() {
                let message = format!("`end {}` ends no value", end.name.name);
                let found = Diagnostic::error("bad-monitor", message).at(end.name.span, "");
                self.findings.add(found.help(format!("name a parameter: `end {}(m);`", end.name.name)));
                return None;
            }
            let parameters = self.numbers(written, &end.parameters)?;
            let own = events.iter().position(|event| event.name == end.name.name);
            let event = own.filter(|_| end.source.is_none() && end.when.is_none());
            let source = match event {
                Some(event) => events[event].source.clone(),
                None => self.source(written, end, (declaration, line))?,
            };
            if let Some(other) = parameters.iter().position(|number| !source.columns.contains(number)) {
                let ident = &end.parameters[other];
                let message = format!("the event `{}` does not bind `{}`", end.name.name, ident.name);
                let found =
                    Diagnostic::error("unbound-parameter", message).at(ident.span, "gets no value here");
                self.findings.add(found.help("end a parameter of the event"));
                return None;
            }
            ends.push(ir::End { source, parameters, event, span: end.name.span });
        }
        Some(ends)
    }
}
