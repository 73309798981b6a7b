//! Names in blocks: those of a monitor are its own, those of settings the trace's.

use super::{Finder, NameKind, Scope};
use crate::ast::monitor::{EreKind, Event, ItemKind, Monitor};
use crate::ast::settings::{SettingValue, TraceBlock};
use crate::ast::{ExprKind, Ident};
use rustc_hash::FxHashMap;
use tw_diag::Span;

impl<'t> Finder<'t> {
    pub(super) fn monitor(&mut self, index: usize, monitor: &'t Monitor, span: Span) {
        let mut scope = Scope::new();
        for parameter in &monitor.parameters {
            let id = self.define(parameter, NameKind::MonitorParameter, index, Some(span));
            scope.push((&parameter.name, id));
        }
        let mut events: FxHashMap<&str, usize> = FxHashMap::default();
        let mut states: FxHashMap<&str, usize> = FxHashMap::default();
        for item in &monitor.items {
            match &item.kind {
                ItemKind::Event { event, .. } => {
                    let id = match events.get(event.name.name.as_str()) {
                        Some(&known) => {
                            self.used(event.name.span, known, false);
                            known
                        }
                        None => self.define(&event.name, NameKind::MonitorEvent, index, Some(span)),
                    };
                    events.insert(&event.name.name, id);
                }
                ItemKind::Fsm(list) => {
                    for state in list {
                        let id = self.define(&state.name, NameKind::State, index, Some(span));
                        states.insert(&state.name.name, id);
                    }
                }
                _ => {}
            }
        }
        let find = |table: &FxHashMap<&str, usize>, ident: &Ident| table.get(ident.name.as_str()).copied();
        for item in &monitor.items {
            match &item.kind {
                ItemKind::Event { event, .. } => self.monitor_event(index, event, &scope),
                ItemKind::End(event) => {
                    let id = match find(&events, &event.name) {
                        Some(id) => id,
                        None => self.of_trace(&event.name.name),
                    };
                    self.used(event.name.span, id, true);
                    self.monitor_event(index, event, &scope);
                }
                ItemKind::Where(body) => self.expression(index, *body, &scope),
                ItemKind::Ltl(body) => {
                    let events = events.iter().map(|(name, id)| (*name, *id));
                    self.expression(index, *body, &events.collect());
                }
                ItemKind::Ere(ere) => {
                    for part in &ere.parts {
                        if let EreKind::Event(ident) = part
                            && let Some(id) = find(&events, ident)
                        {
                            self.used(ident.span, id, false);
                        }
                    }
                }
                ItemKind::Fsm(list) => {
                    for (event, target) in list.iter().flat_map(|state| &state.moves) {
                        for (ident, table) in [(event, &events), (target, &states)] {
                            if let Some(id) = find(table, ident) {
                                self.used(ident.span, id, false);
                            }
                        }
                    }
                }
                ItemKind::On { category, text } => {
                    if let Some(id) = find(&states, category) {
                        self.used(category.span, id, false);
                    }
                    if let Some(text) = text {
                        self.placeholders(text.span, &scope);
                    }
                }
                ItemKind::Error => {}
            }
        }
    }

    /// The parameters in the text of a report: `{i}`.
    fn placeholders(&mut self, span: Span, scope: &Scope<'t>) {
        let text = self.slice(span);
        for (open, _) in text.match_indices('{') {
            let inside = &text[open + 1..];
            let Some(end) = inside.find('}') else { return };
            if let Some((_, id)) = scope.iter().find(|(own, _)| *own == &inside[..end]) {
                let start = span.start + open as u32 + 1;
                self.used(Span { start, end: start + end as u32, ..span }, *id, false);
            }
        }
    }

    /// What an event of a monitor is in the trace, and when.
    fn monitor_event(&mut self, index: usize, event: &'t Event, scope: &Scope<'t>) {
        let find = |name: &str| scope.iter().find(|(own, _)| *own == name).map(|(_, id)| *id);
        for parameter in &event.parameters {
            if let Some(id) = find(&parameter.name) {
                self.used(parameter.span, id, false);
            }
        }
        if let Some((source, arguments)) = &event.source {
            let known = self.global.get(source.name.as_str()).copied();
            let known = known.filter(|id| self.names.list[*id].kind == NameKind::Event);
            let id = match known {
                Some(id) => id,
                None => self.of_trace(&source.name),
            };
            self.used(source.span, id, true);
            for label in arguments.iter().filter_map(|argument| argument.name.as_ref()) {
                self.label(label, known);
            }
            for value in arguments.iter().filter_map(|argument| argument.value) {
                let expr = &self.tree.exprs[value.index()];
                if let ExprKind::Path { path, .. } = &expr.kind
                    && let Some(id) = path.as_name().and_then(find)
                {
                    self.used(expr.span, id, false);
                }
            }
        }
        if let Some(when) = event.when {
            self.expression(index, when, scope);
        }
    }

    /// The columns that settings name.
    pub(super) fn settings(&mut self, block: &'t TraceBlock) {
        for line in &block.lines {
            if let SettingValue::Path { path, .. } = &line.value
                && matches!(line.name.name.as_str(), "time" | "event" | "by")
            {
                self.path(path, line.span, &Vec::new(), true);
            }
        }
    }
}
