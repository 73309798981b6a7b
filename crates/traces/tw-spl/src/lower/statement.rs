//! Statements to locations and transitions.

use super::{Lowering, Symbol, worded};
use crate::machine::{Action, Label, Target, Transition};
use crate::parser::statement::counted;
use crate::tree::{Kind, Name, Place, Scalar, Statement, StatementId};
use std::collections::HashMap;
use tw_diag::{Diagnostic, Span};

impl<'t> Lowering<'t, '_> {
    /// Adds the first steps of a statement to location `at`; what follows it is at `next`. A shared location is that of a
    /// selection, where other alternatives have their first steps too. Recursion is as deep as statements nest.
    pub(super) fn emit(&mut self, id: StatementId, at: u32, next: u32, shared: bool) {
        let tree = self.tree;
        let statement = &tree.statements[id];
        let labels: Vec<u32> = statement.labels.iter().filter_map(|label| self.label(*label)).collect();
        self.locations[at as usize].labels.extend(&labels);
        match &statement.kind {
            Kind::Sequence(list) => self.sequence(list, at, next, shared),
            Kind::Select(list) => {
                for &alternative in list {
                    self.emit(alternative, at, next, true);
                }
            }
            Kind::Loop(body) => {
                // The end of the body returns to its first location: the loop's own label is passed only once.
                let first = self.location();
                self.transition(statement, at, Action::Go, first);
                self.emit(*body, first, first, false);
            }
            Kind::While(test, body) => {
                // Control returns to the test, but not to the other alternatives of a selection.
                let again = if shared { self.location() } else { at };
                let first = self.location();
                let test = self.typed(*test, Scalar::Boolean);
                self.transition(statement, at, Action::Test { test, otherwise: next }, first);
                if shared {
                    self.transition(statement, again, Action::Test { test, otherwise: next }, first);
                    self.locations[again as usize].labels.extend(&labels);
                }
                self.emit(*body, first, again, false);
            }
            Kind::If(test, then, otherwise) => {
                let test = self.typed(*test, Scalar::Boolean);
                let first = self.location();
                let second = if otherwise.is_some() { self.location() } else { next };
                self.transition(statement, at, Action::Test { test, otherwise: second }, first);
                self.emit(*then, first, next, false);
                if let Some(otherwise) = otherwise {
                    self.emit(*otherwise, second, next, false);
                }
            }
            _ => {
                if let Some(action) = self.basic(&statement.kind, statement.span) {
                    self.transition(statement, at, action, next);
                }
            }
        }
    }

    fn sequence(&mut self, list: &[StatementId], at: u32, next: u32, shared: bool) {
        let mut here = at;
        for (number, &id) in list.iter().enumerate() {
            let last = number + 1 == list.len();
            let there = if last { next } else { self.location() };
            self.emit(id, here, there, shared && number == 0);
            if let (Kind::Loop(_), Some(&after)) = (&self.tree.statements[id].kind, list.get(number + 1)) {
                let span = self.tree.statements[after].span;
                let found =
                    Diagnostic::warning("unreachable", "this is never reached: `loop forever` has no end");
                self.report(found.at(span, "").help("put the statements of the loop in `[` and `]`"));
            }
            here = there;
        }
    }

    fn label(&mut self, label: Name<'t>) -> Option<u32> {
        let process = self.process?;
        if let Some(before) = self.labels.insert(label.text, label.span) {
            let message = format!("the label `{}` is used twice in a process", label.text);
            let found = Diagnostic::error("duplicate-name", message);
            self.report(found.at(label.span, "again here").at(before, "first here"));
            return None;
        }
        self.program.labels.push(Label { name: label.text.to_owned(), process });
        Some((self.program.labels.len() - 1) as u32)
    }

    fn transition(&mut self, statement: &Statement<'t>, at: u32, action: Action, next: u32) {
        let guards: Vec<_> =
            statement.guards.iter().map(|guard| self.typed(*guard, Scalar::Boolean)).collect();
        let conditional =
            !guards.is_empty() || !matches!(action, Action::Go | Action::Assign(_) | Action::Release(_));
        let location = &mut self.locations[at as usize];
        location.watched |= statement.after.is_some() && conditional;
        location.transitions.push(Transition {
            guards,
            after: statement.after,
            action,
            next,
            span: statement.span,
        });
    }

    /// The action of a statement that is done in one step.
    fn basic(&mut self, kind: &Kind<'t>, span: Span) -> Option<Action> {
        match kind {
            Kind::Assign(places, values) => {
                self.twice(places);
                let mut list = Vec::new();
                for (place, value) in places.iter().zip(values) {
                    let Some((target, scalar)) = self.target(*place) else { continue };
                    list.push((target, self.typed(*value, scalar)));
                }
                Some(Action::Assign(list))
            }
            Kind::Request(place) | Kind::Release(place) => {
                let (target, scalar) = self.target(*place)?;
                if scalar != Scalar::Integer {
                    self.mismatch(place.span, worded(scalar), "an integer, the semaphore");
                }
                if let Target::Element { array, .. } = target {
                    self.program.arrays[array as usize].read = true;
                }
                Some(if matches!(kind, Kind::Request(_)) {
                    Action::Request(target)
                } else {
                    Action::Release(target)
                })
            }
            Kind::Send(name, values) => {
                let (channel, message) = self.channel(*name, values.len(), span)?;
                let pairs = values.iter().zip(message);
                let values = pairs.map(|(value, scalar)| self.typed(*value, scalar)).collect();
                Some(Action::Send { channel, values })
            }
            Kind::Receive(name, places) => {
                let (channel, message) = self.channel(*name, places.len(), span)?;
                self.twice(places);
                let mut targets = Vec::new();
                for (place, part) in places.iter().zip(message) {
                    let Some((target, scalar)) = self.target(*place) else { continue };
                    if scalar != part {
                        let expected = format!("a variable for {}", worded(part));
                        self.mismatch(place.span, &format!("one for {}", worded(scalar)), &expected);
                    }
                    targets.push(target);
                }
                Some(Action::Receive { channel, targets })
            }
            _ => Some(Action::Go),
        }
    }

    /// One variable twice on the left of a simultaneous assignment.
    fn twice(&mut self, places: &[Place<'t>]) {
        let mut seen = HashMap::new();
        for place in places.iter().filter(|place| place.index.is_none()) {
            if let Some(before) = seen.insert(place.name.text, place.span) {
                let message = format!("`{}` gets two values at once", place.name.text);
                let found = Diagnostic::error("duplicate-name", message);
                self.report(found.at(place.span, "again here").at(before, "first here"));
            }
        }
    }

    fn channel(&mut self, name: Name<'t>, values: usize, span: Span) -> Option<(u32, Vec<Scalar>)> {
        let Symbol::Channel(channel) = self.resolve(name)? else {
            let message = format!("`{}` is no channel", name.text);
            let found = Diagnostic::error("type", message).at(name.span, "");
            self.report(found.help("an assignment is written `:=`"));
            return None;
        };
        let message = self.messages[channel as usize].clone();
        if message.len() != values {
            let parts = counted(message.len(), "value");
            let text = format!("messages of `{}` hold {parts}, found {values}", name.text);
            self.report(Diagnostic::error("different-lengths", text).at(span, ""));
            return None;
        }
        Some((channel, message))
    }
}
