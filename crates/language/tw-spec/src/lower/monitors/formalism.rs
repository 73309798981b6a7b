//! What the events of a binding may do: names of events and states become numbers.

use super::{Lowering, listed, near};
use crate::ast::monitor::{Ere, EreKind, ItemKind, Monitor, State};
use crate::ast::{Declaration, DeclarationKind, ExprId, ExprKind, Ident, Tree};
use crate::lower::declarations::unique;
use crate::lower::lower;
use crate::lower::scopes::children;
use std::sync::Arc;
use tw_diag::{Diagnostic, Span};
use tw_ir::What;
use tw_ir::ere::{EreId, Eres};
use tw_ir::monitor::Formalism;

impl Lowering<'_, '_> {
    /// The formalism, and where it is written.
    pub(super) fn formalism(&mut self, written: &Monitor, events: &[&Ident]) -> Option<(Formalism, Span)> {
        let lines = written
            .items
            .iter()
            .filter(|item| matches!(item.kind, ItemKind::Ere(_) | ItemKind::Fsm(_) | ItemKind::Ltl(_)));
        let lines: Vec<_> = lines.collect();
        if let [first, second, ..] = lines.as_slice() {
            let found = Diagnostic::error("bad-monitor", "a monitor has one formalism");
            let found = found.at(second.span, "a second one").at(first.span, "the first one");
            self.findings
                .add(found.help("write two monitors, or combine them: `ere` has `&`, `ltl` has `&`"));
            return None;
        }
        let Some(line) = lines.first() else { return Some((Formalism::Raw, written.name.span)) };
        let formalism = match &line.kind {
            ItemKind::Ere(ere) => self.ere(ere, events)?,
            ItemKind::Fsm(states) => self.fsm(states, events)?,
            ItemKind::Ltl(body) => self.ltl(*body, events)?,
            _ => Formalism::Raw,
        };
        Some((formalism, line.span))
    }

    fn event(&mut self, name: &str, span: Span, events: &[&Ident]) -> Option<u32> {
        let found = events.iter().position(|event| event.name == *name);
        if found.is_none() {
            let known = || events.iter().map(|event| event.name.as_str());
            let finding = Diagnostic::error("unknown-event", format!("the monitor has no event `{name}`"));
            self.findings.add(finding.at(span, "").help(match near(name, known()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("its events are {}; declare it: `event {name};`", listed(known())),
            }));
        }
        found.map(|event| event as u32)
    }

    fn ere(&mut self, ere: &Ere, events: &[&Ident]) -> Option<Formalism> {
        let mut eres = Eres::default();
        let mut made: Vec<EreId> = Vec::with_capacity(ere.parts.len());
        let mut sound = true;
        for part in &ere.parts {
            let of = |part: &u32| made[*part as usize];
            let id = match part {
                EreKind::Epsilon => Eres::EPSILON,
                EreKind::Event(event) => match self.event(&event.name, event.span, events) {
                    Some(event) => eres.event(event),
                    None => {
                        sound = false;
                        Eres::EMPTY
                    }
                },
                EreKind::Concat(a, b) => eres.concat(of(a), of(b)),
                EreKind::Or(a, b) => eres.or(of(a), of(b)),
                EreKind::And(a, b) => eres.and(of(a), of(b)),
                EreKind::Not(a) => eres.not(of(a)),
                EreKind::Star(a) => eres.star(of(a)),
                EreKind::Plus(a) => {
                    let more = eres.star(of(a));
                    eres.concat(of(a), more)
                }
                EreKind::Optional(a) => eres.or(of(a), Eres::EPSILON),
            };
            made.push(id);
        }
        let root = *made.last()?;
        sound.then_some(Formalism::Ere { eres, root })
    }

    fn fsm(&mut self, states: &[State], events: &[&Ident]) -> Option<Formalism> {
        unique(states.iter().map(|state| &state.name), "state", self.findings);
        let names: Vec<String> = states.iter().map(|state| state.name.name.clone()).collect();
        let mut sound = true;
        let mut targets = Vec::with_capacity(states.len());
        for state in states {
            unique(state.moves.iter().map(|(event, _)| event), "event", self.findings);
            let mut row = vec![None; events.len()];
            for (event, target) in &state.moves {
                let number = self.event(&event.name, event.span, events);
                let place = names.iter().position(|name| *name == target.name);
                if place.is_none() {
                    let message = format!("there is no state `{}`", target.name);
                    let found = Diagnostic::error("unknown-state", message).at(target.span, "");
                    self.findings.add(found.help(
                        match near(&target.name, names.iter().map(String::as_str)) {
                            Some(near) => format!("did you mean `{near}`?"),
                            None => format!("write it with its moves: `{} [ … ]`", target.name),
                        },
                    ));
                }
                match (number, place) {
                    (Some(number), Some(place)) => row[number as usize] = Some(place as u32),
                    _ => sound = false,
                }
            }
            targets.push(row);
        }
        sound.then_some(Formalism::Fsm { states: names, targets })
    }

    /// The formula alone, as a property whose propositions are the events.
    fn ltl(&mut self, body: ExprId, events: &[&Ident]) -> Option<Formalism> {
        let span = self.tree.exprs[body.index()].span;
        let mut tree = Tree { exprs: self.tree.exprs[..=body.index()].to_vec(), ..Tree::default() };
        // An event that is called like an operator is written in backquotes, and is no column.
        let mut todo = vec![body];
        while let Some(id) = todo.pop() {
            children(&tree.exprs[id.index()].kind, |child| todo.push(child));
            if let ExprKind::Path { quoted, .. } = &mut tree.exprs[id.index()].kind {
                *quoted = false;
            }
        }
        let name = Ident { name: "ltl".to_owned(), span };
        tree.declarations.push(Declaration {
            kind: DeclarationKind::Property { name, title: None, body },
            span,
            comments: Vec::new(),
            trailing: None,
            blank_before: false,
        });
        let lowered = lower(&tree, self.options);
        let sound = !lowered.has_errors();
        lowered.diagnostics.into_iter().for_each(|finding| self.findings.add(finding));
        let program = lowered.value;
        let goal = program.roots.first().filter(|_| sound)?.node;
        let mut slots = Vec::with_capacity(program.slots.len());
        for slot in &program.slots {
            let name = match &slot.what {
                What::Proposition(path) => path.as_name(),
                What::Event { name, arguments, arity: None } if arguments.is_empty() => Some(name.as_str()),
                _ => None,
            };
            let Some(name) = name else {
                let message = "an `ltl` is about the events of its monitor alone";
                let found = Diagnostic::error("bad-monitor", message).at(slot.span, "no event's name");
                let names = listed(events.iter().map(|event| event.name.as_str()));
                self.findings.add(found.help(format!("its events are {names}; data is asked with `when`")));
                return None;
            };
            slots.push(self.event(name, slot.span, events)?);
        }
        for id in program.reachable(&[goal]) {
            let node = program.dag.node(id);
            if node.interval().is_some() || node.is_first_order() {
                let place = program.spans.get(id.index()).copied().flatten().unwrap_or(span);
                let message = "an `ltl` has no intervals and no quantifiers: it is about the order of events";
                let found = Diagnostic::error("bad-monitor", message).at(place, "not possible here");
                self.findings.add(found.help("a property has them: `property …: G forall i. …;`"));
                return None;
            }
        }
        Some(Formalism::Ltl { program: Arc::new(program), goal, slots })
    }
}
