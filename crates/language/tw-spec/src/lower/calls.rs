//! Calls: a name with arguments is a macro, a pattern of the library or an event.

use super::declarations::{Declared, Macro};
use super::expand::{Expander, Frame, Step};
use super::expanded::{ItemId, Kind, Nature};
use super::scopes::{Body, Prepared};
use crate::ast::{Argument, ExprId, Ident};
use crate::patterns;
use tw_diag::{Diagnostic, Span};
use tw_ir::Measure;

impl<'t> Expander<'t, '_> {
    /// What a call stands for, or the macro that has to be expanded first.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn call(
        &mut self,
        frame: &Frame,
        id: ExprId,
        name: &'t Ident,
        arguments: &'t [Argument],
        values: &[Option<ItemId>],
        event: bool,
        span: Span,
    ) -> Step {
        if event {
            return Ok(match self.declarations.names.get(name.name.as_str()) {
                Some((Declared::Event(index), _)) => self.declared_event(*index, arguments, values, span),
                _ => self.undeclared_event(&name.name, true, arguments, values, span),
            });
        }
        let (body, prepared) = &self.bodies[frame.body];
        let prepared = &self.prepared[*prepared];
        let bound = if body.parameters.contains(&name.name.as_str()) {
            Some("a parameter of this macro")
        } else {
            prepared.lookup(prepared.scope[id.index()], &name.name).map(|_| "a bound variable")
        };
        if let Some(what) = bound {
            self.findings.add(
                Diagnostic::error(
                    "not-callable",
                    format!("`{}` is {what} and takes no arguments", name.name),
                )
                .at(name.span, "called here")
                .help(format!("if you mean the event, write `event {}(…)`", name.name)),
            );
            return Ok(self.out.error(span));
        }
        match self.declarations.names.get(name.name.as_str()) {
            Some((Declared::Macro(index), declared)) => {
                let parameters = self.declarations.macros[*index].parameters.len();
                let Some(items) = self.macro_arguments(&name.name, arguments, values) else {
                    return Ok(self.out.error(span));
                };
                if items.len() != parameters {
                    return Ok(self.arity_mismatch(
                        &name.name,
                        parameters,
                        items.len(),
                        span,
                        Some(*declared),
                    ));
                }
                self.instance(*index, items, span, false)
            }
            Some((Declared::Event(index), _)) => Ok(self.declared_event(*index, arguments, values, span)),
            Some((Declared::Var | Declared::Stream(_), declared)) => {
                self.findings.add(
                    Diagnostic::error("not-callable", format!("`{}` is declared as a variable", name.name))
                        .at(name.span, "called here")
                        .at(*declared, "declared here")
                        .help(format!("if you mean the event, write `event {}(…)`", name.name)),
                );
                Ok(self.out.error(span))
            }
            None if arguments.is_empty() && Measure::parse(&name.name).is_some() => {
                let measure = Measure::parse(&name.name).unwrap_or(Measure::Time);
                Ok(self.out.add(Kind::Timing(measure), span, (!frame.library).then_some(span)))
            }
            None if name.name == "has" => Ok(self.has(frame, arguments, values, span)),
            None => match patterns::find(&name.name) {
                Some((index, pattern)) => {
                    let named = arguments.iter().any(|argument| argument.name.is_some());
                    let items = match named {
                        true => self.named_arguments(pattern, arguments, values, span),
                        false => self.macro_arguments(&name.name, arguments, values),
                    };
                    let Some(items) = items else { return Ok(self.out.error(span)) };
                    if items.len() != pattern.parameters.len() {
                        let wanted = pattern.parameters.len();
                        return Ok(self.arity_mismatch(&name.name, wanted, items.len(), span, None));
                    }
                    let body = self.library(index);
                    self.instance(body, items, span, true)
                }
                None => Ok(self.undeclared_event(&name.name, false, arguments, values, span)),
            },
        }
    }

    /// The arguments of a pattern by name, in the order of its parameters: `between(from: q, to: r, holds: p)`.
    fn named_arguments(
        &mut self,
        pattern: &patterns::PatternDoc,
        arguments: &[Argument],
        values: &[Option<ItemId>],
        span: Span,
    ) -> Option<Vec<ItemId>> {
        let form = || {
            let named = |letter: &&str| format!("{}: {letter}", patterns::word(letter));
            let list: Vec<String> = pattern.parameters.iter().map(named).collect();
            format!("write `{}({})`", pattern.name, list.join(", "))
        };
        let mut items = vec![None; pattern.parameters.len()];
        let mut refuse = |message: String, at: Span| {
            let found = Diagnostic::error("bad-argument", message).at(at, "not possible here");
            self.findings.add(found.help(form()));
        };
        for (argument, value) in arguments.iter().zip(values) {
            let Some(label) = &argument.name else {
                refuse("either all arguments of a pattern have names or none has".into(), argument.span);
                return None;
            };
            let is = |letter: &&str| *letter == label.name || patterns::word(letter) == label.name;
            let place = pattern.parameters.iter().position(is);
            match (place, value) {
                (Some(place), Some(value)) if items[place].is_none() => items[place] = Some(*value),
                (Some(_), Some(_)) => {
                    refuse(format!("the argument `{}` is given twice", label.name), argument.span);
                    return None;
                }
                (Some(_), None) => {
                    refuse("`_` stands for any value of an event's argument".into(), argument.span);
                    return None;
                }
                (None, _) => {
                    refuse(format!("`{}` has no argument `{}`", pattern.name, label.name), argument.span);
                    return None;
                }
            }
        }
        let missing = pattern.parameters.iter().zip(&items).find(|(_, item)| item.is_none());
        if let Some((letter, _)) = missing {
            refuse(format!("`{}` lacks its argument `{}`", pattern.name, patterns::word(letter)), span);
            return None;
        }
        items.into_iter().collect()
    }

    /// `has(x)`: x has a value here.
    fn has(
        &mut self,
        frame: &Frame,
        arguments: &[Argument],
        values: &[Option<ItemId>],
        span: Span,
    ) -> ItemId {
        let (&[Argument { name: None, .. }], &[Some(value)]) = (arguments, values) else {
            self.findings.add(
                Diagnostic::error("bad-argument", "`has(x)` asks whether one name or term has a value")
                    .at(span, "used here")
                    .help("an event of that name is written `event has(…)`"),
            );
            return self.out.error(span);
        };
        let kind = match self.out.nature(value) {
            // What a quantifier binds is a value.
            Nature::Variable => Kind::Bool(true),
            _ => Kind::Has(value),
        };
        let said = !frame.library && (frame.arguments.is_empty() || self.out.closed(kind, span));
        self.out.add(kind, span, said.then_some(span))
    }

    fn macro_arguments(
        &mut self,
        name: &str,
        arguments: &[Argument],
        values: &[Option<ItemId>],
    ) -> Option<Vec<ItemId>> {
        let mut items = Vec::with_capacity(values.len());
        for (argument, value) in arguments.iter().zip(values) {
            let event = format!("if you mean the event, write `event {name}(…)`");
            let (message, help) = match (&argument.name, value) {
                (None, Some(item)) => {
                    items.push(*item);
                    continue;
                }
                (Some(label), _) => (
                    "arguments of macros are given in order, without names",
                    format!("an experiment is put in parentheses: `{name}(({} : …))`; {event}", label.name),
                ),
                (None, None) => (
                    "`_` stands for any value of an event's argument; a macro needs a formula or a value",
                    event,
                ),
            };
            self.findings.add(
                Diagnostic::error("bad-argument", message).at(argument.span, "not possible here").help(help),
            );
        }
        (items.len() == values.len()).then_some(items)
    }

    pub(super) fn arity_mismatch(
        &mut self,
        name: &str,
        wanted: usize,
        found: usize,
        span: Span,
        declared: Option<Span>,
    ) -> ItemId {
        let plural = if wanted == 1 { "" } else { "s" };
        let mut finding = Diagnostic::error(
            "macro-arity",
            format!(
                "`{name}` takes {wanted} argument{plural}, but {found} {} given",
                if found == 1 { "is" } else { "are" }
            ),
        )
        .at(span, "used here");
        match declared {
            Some(declared) => finding = finding.at(declared, "declared here"),
            None => {
                let list = patterns::find(name).map(|(_, p)| p.parameters.join(", ")).unwrap_or_default();
                finding = finding.help(format!(
                    "it is the pattern `{name}({list})`; if you mean an event, write `event {name}(…)`"
                ));
            }
        }
        self.findings.add(finding);
        self.out.error(span)
    }

    /// The expansion of a body, remembered or to be made.
    pub(super) fn instance(
        &mut self,
        body: usize,
        arguments: Vec<ItemId>,
        site: Span,
        library: bool,
    ) -> Step {
        if self.active[body] {
            let from = self.trail.iter().position(|b| *b == body).unwrap_or(0);
            let macros = &self.declarations.macros;
            let mut chain: Vec<&str> = self.trail[from..]
                .iter()
                .filter_map(|b| macros.get(*b))
                .map(|m| m.name.name.as_str())
                .collect();
            let Some(Macro { name, .. }) = macros.get(body) else {
                return Ok(self.out.error(site));
            };
            chain.push(&name.name);
            // A cycle of thousands is reported by its beginning.
            if chain.len() > 8 {
                chain.splice(6..chain.len() - 1, ["…"]);
            }
            self.findings.add(
                Diagnostic::error("recursive-macro", format!("`{}` is defined by itself: {}", name.name, chain.join(" → ")))
                    .at(site, "used here")
                    .at(name.span, "declared here")
                    .help("macros are expanded in place; to speak about other positions use a temporal operator, e.g. `Y` or `S`"),
            );
            return Ok(self.out.error(site));
        }
        let key = (body, self.structures(&arguments));
        match self.instances.get(&key) {
            Some(&item) => Ok(item),
            None => Err(self.enter(body, arguments, site, library)),
        }
    }

    /// The body of a library pattern.
    fn library(&mut self, index: usize) -> usize {
        if let Some(&body) = self.library.get(&index) {
            return body;
        }
        let (exprs, root) = patterns::tree(index);
        let class = u32::MAX - index as u32;
        let parameters = patterns::PATTERNS[index].parameters.to_vec();
        let mut body = [Body { root, exprs: Vec::new(), parameters, class }];
        let prepared = Prepared::new(exprs, &mut body, self.declarations, &mut self.numbers, self.findings);
        self.prepared.push(prepared);
        let [body] = body;
        self.bodies.push((body, self.prepared.len() - 1));
        self.active.push(false);
        self.library.insert(index, self.bodies.len() - 1);
        self.bodies.len() - 1
    }
}
