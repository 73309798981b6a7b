//! `monitor` blocks: what their names mean.
//!
//! Conditions (`when`, `where`) are formulas like any other: they are lowered beside the properties, under a quantifier over
//! the parameters that they mention, which is taken off again. An `ltl` is lowered alone, over the names of the events.

mod conditions;
mod events;
mod formalism;
#[cfg(test)]
mod tests;
mod texts;

pub(super) use conditions::Conditions;

use super::LowerOptions;
use super::declarations::{Declarations, unique};
use super::findings::Findings;
use crate::ast::monitor::{Item, ItemKind, Monitor};
use crate::ast::{DeclarationKind, Ident, Tree};
use tw_core::suggest;
use tw_diag::{Diagnostic, Span};
use tw_ir::monitor::{self as ir, Category, Condition, Formalism, Report};
use tw_ir::{Node, NodeId, Program};

/// Parameters are told apart by the bits of a word.
const PARAMETERS: usize = 32;
/// Derivatives of an expression that are looked at to see whether its language is empty.
const DERIVATIVES: usize = 2_000;

/// What lowering a monitor needs.
pub(super) struct Lowering<'a, 't> {
    pub tree: &'a Tree,
    pub declarations: &'a Declarations<'t>,
    pub conditions: &'a Conditions,
    /// The nodes of the conditions.
    pub nodes: &'a [Option<NodeId>],
    pub options: &'a LowerOptions,
    pub program: &'a mut Program,
    pub findings: &'a mut Findings,
}

impl Lowering<'_, '_> {
    /// The monitors of the tree, in the order written. One with errors is left out; they are reported.
    pub fn monitors(&mut self) -> Vec<ir::Monitor> {
        let tree = self.tree;
        let blocks = tree.declarations.iter().enumerate();
        let blocks = blocks.filter_map(|(index, declaration)| match &declaration.kind {
            DeclarationKind::Monitor(monitor) => Some((index, monitor)),
            _ => None,
        });
        blocks.filter_map(|(index, monitor)| self.monitor(index, monitor)).collect()
    }

    fn monitor(&mut self, declaration: usize, written: &Monitor) -> Option<ir::Monitor> {
        let name = &written.name.name;
        if written.parameters.len() > PARAMETERS {
            let message = format!("`{name}` has {} parameters", written.parameters.len());
            let found = Diagnostic::error("bad-monitor", message).at(written.name.span, "");
            self.findings.add(found.help(format!("a monitor has at most {PARAMETERS}")));
            return None;
        }
        let event_names = || {
            written.items.iter().filter_map(|item| match &item.kind {
                ItemKind::Event { event, .. } => Some(&event.name),
                _ => None,
            })
        };
        unique(event_names(), "event", self.findings);
        let names: Vec<&Ident> = event_names().collect();
        if names.is_empty() {
            let found = Diagnostic::error("bad-monitor", format!("`{name}` has no event"));
            let help = "declare what it looks at: `event open(f);`";
            self.findings.add(found.at(written.name.span, "").help(help));
            return None;
        }
        let mut sound = true;
        let mut events = Vec::new();
        for (index, item) in written.items.iter().enumerate() {
            let ItemKind::Event { creation, event } = &item.kind else { continue };
            match self.source(written, event, (declaration, index)) {
                Some(source) => events.push(ir::Event {
                    name: event.name.name.clone(),
                    creation: *creation,
                    source,
                    span: event.name.span,
                }),
                None => sound = false,
            }
        }
        if !sound {
            return None;
        }
        let ends = self.ends(written, declaration, &events)?;
        self.unbound(written, &events)?;
        let constraint = self.constraint(written, declaration)?;
        let (formalism, place) = self.formalism(written, &names)?;
        let reports = self.reports(written, &formalism, place)?;
        let monitor = ir::Monitor {
            name: name.clone(),
            title: written.title.clone(),
            severity: written.severity.unwrap_or_default(),
            strict: written.strict,
            equal: written.equal,
            parameters: written.parameters.iter().map(|parameter| parameter.name.clone()).collect(),
            events,
            ends,
            constraint,
            formalism,
            reports,
            span: written.name.span,
        };
        self.empty_language(&monitor, place);
        Some(monitor)
    }

    /// Every parameter is bound by an event: nothing else gives it values.
    fn unbound(&mut self, written: &Monitor, events: &[ir::Event]) -> Option<()> {
        let mut sound = true;
        for (number, parameter) in written.parameters.iter().enumerate() {
            if !events.iter().any(|event| event.source.columns.contains(&(number as u32))) {
                let name = &parameter.name;
                let found =
                    Diagnostic::error("unbound-parameter", format!("no event binds the parameter `{name}`"));
                let help = format!("give it to an event, `event …({name});`, or remove it");
                self.findings.add(found.at(parameter.span, "never gets a value").help(help));
                sound = false;
            }
        }
        sound.then_some(())
    }

    /// All `where`s together.
    fn constraint(&mut self, written: &Monitor, declaration: usize) -> Option<Option<Condition>> {
        let mut whole: Option<Condition> = None;
        for (index, item) in written.items.iter().enumerate() {
            let ItemKind::Where(_) = &item.kind else { continue };
            let condition = self.condition((declaration, index))?;
            if let Some(slot) = self.slots_of(condition.node).first() {
                let found = &self.program.slots[*slot as usize];
                let (span, names) = (found.span, written.parameters.iter().map(|p| p.name.as_str()));
                let finding = Diagnostic::error("unknown-parameter", "`where` is about bound values alone");
                let finding = finding.at(span, "nothing binds this");
                self.findings.add(finding.help(format!(
                    "bound are {}; in a monitor, what the trace says is asked with `when`, behind an event",
                    listed(names)
                )));
                return None;
            }
            whole = Some(match whole {
                None => condition,
                Some(mut whole) => {
                    whole.node = self.program.dag.add(Node::And(whole.node, condition.node));
                    whole.variables.extend(condition.variables);
                    whole
                }
            });
        }
        Some(whole)
    }

    fn slots_of(&self, node: NodeId) -> Vec<u32> {
        let dag = &self.program.dag;
        let slot = |id: NodeId| match dag.node(id) {
            Node::Slot(slot) | Node::Truth(slot) => Some(slot),
            _ => None,
        };
        self.program.reachable(&[node]).into_iter().filter_map(slot).collect()
    }

    fn reports(&mut self, written: &Monitor, formalism: &Formalism, place: Span) -> Option<Vec<Report>> {
        let states: &[String] = match formalism {
            Formalism::Fsm { states, .. } => states,
            _ => &[],
        };
        let named: &[(&str, Category)] = match formalism {
            Formalism::Ere { .. } => &[("match", Category::Match), ("fail", Category::Fail)],
            Formalism::Fsm { .. } => &[("fail", Category::Fail)],
            Formalism::Ltl { .. } => {
                &[("violation", Category::Violation), ("validation", Category::Validation)]
            }
            Formalism::Raw => &[("match", Category::Match)],
        };
        let title = texts::plain(written.title.as_deref().unwrap_or_default());
        let mut reports: Vec<Report> = Vec::new();
        for item in &written.items {
            let Item { kind: ItemKind::On { category, text }, .. } = item else { continue };
            let state = states.iter().position(|state| *state == category.name);
            let known = named.iter().find(|(name, _)| *name == category.name).map(|(_, category)| *category);
            let Some(found) = state.map(|state| Category::State(state as u32)).or(known) else {
                let names = named.iter().map(|(name, _)| *name).chain(states.iter().map(String::as_str));
                let message = format!("nothing ever comes to `{}` here", category.name);
                let finding = Diagnostic::error("unknown-category", message).at(category.span, "");
                self.findings.add(finding.at(place, "this says what there is").help(
                    match near(&category.name, names.clone()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("it may be {}", listed(names)),
                    },
                ));
                return None;
            };
            if reports.iter().any(|report| report.category == found) {
                let message = format!("`{}` is reported already", category.name);
                let finding = Diagnostic::error("duplicate-name", message).at(category.span, "again here");
                self.findings.add(finding.help("keep one of the two"));
                return None;
            }
            let text = match text {
                Some(text) => texts::pieces(text, written, self.findings)?,
                None => title.clone(),
            };
            reports.push(Report { category: found, name: category.name.clone(), text });
        }
        if reports.is_empty() {
            let (name, category) = named[0];
            reports.push(Report { category, name: name.to_owned(), text: title });
        }
        Some(reports)
    }

    /// A monitor that waits for words of a language that has none waits in vain.
    fn empty_language(&mut self, monitor: &ir::Monitor, place: Span) {
        let Formalism::Ere { eres, root } = &monitor.formalism else { return };
        let events = monitor.events.len() as u32;
        if monitor.reports(Category::Match)
            && eres.is_empty_language(*root, events, DERIVATIVES) == Some(true)
        {
            let found =
                Diagnostic::warning("empty-language", "no sequence of events matches this expression");
            let found = found.at(place, "nothing is ever reported");
            self.findings.add(found.help("look at `&` and `~`: they leave nothing over"));
        }
    }
}

/// The name that was meant. Of single letters every other one is near.
fn near<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    suggest(name, known).filter(|_| name.chars().count() > 1)
}

/// Names in backquotes, as a sentence has them.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => "none".to_owned(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}
