//! Names in formulas and terms.

use super::{Finder, NameKind, Scope};
use crate::ast::{ExprId, ExprKind, Ident, Map};
use crate::lower::{children, map_of};
use crate::patterns;
use tw_diag::Span;

impl<'t> Finder<'t> {
    /// The names of one expression itself; its parts are added to `work` with what hides names there.
    pub(super) fn one(
        &mut self,
        index: usize,
        id: ExprId,
        scope: Scope<'t>,
        work: &mut Vec<(ExprId, Scope<'t>)>,
    ) {
        let tree = self.tree;
        let expr = &tree.exprs[id.index()];
        let mut apart = None;
        let mut inner = None;
        match &expr.kind {
            ExprKind::Path { path, quoted } => self.path(path, expr.span, &scope, *quoted),
            ExprKind::Call { name, arguments, event } => {
                self.call(name, *event, &scope);
                let called = self.global.get(name.name.as_str()).copied();
                for label in arguments.iter().filter_map(|argument| argument.name.as_ref()) {
                    self.label(label, called);
                }
            }
            ExprKind::Quantifier { variables, range, .. } => {
                inner = Some(self.bind(variables, index, expr.span, &scope));
                // A range is read outside of what it binds.
                apart = range.map(|range| (range, scope.clone()));
            }
            ExprKind::Tally { variables, .. } => {
                inner = Some(self.bind(variables, index, expr.span, &scope));
            }
            kind => {
                if let Some(Map { parameter: Some(parameter), result }) = map_of(kind) {
                    let bound = self.bind(std::slice::from_ref(parameter), index, expr.span, &scope);
                    apart = Some((*result, bound));
                }
            }
        }
        children(&expr.kind, |child| {
            if apart.as_ref().is_none_or(|(other, _)| *other != child) {
                work.push((child, inner.as_ref().unwrap_or(&scope).clone()));
            }
        });
        work.extend(apart);
    }

    fn bind(&mut self, names: &'t [Ident], index: usize, span: Span, scope: &Scope<'t>) -> Scope<'t> {
        let mut inner = scope.clone();
        for ident in names {
            let id = self.define(ident, NameKind::Bound, index, Some(span));
            inner.push((&ident.name, id));
        }
        inner
    }

    fn call(&mut self, ident: &'t Ident, event: bool, scope: &Scope<'t>) {
        let name = ident.name.as_str();
        let local = scope.iter().rev().find(|(own, _)| *own == name && !event).map(|(_, id)| *id);
        let declared = self.global.get(name).copied().filter(|id| {
            !event || matches!(self.names.list[*id].kind, NameKind::Event | NameKind::MonitorEvent)
        });
        let id = match local.or(declared) {
            Some(id) => id,
            None => {
                let library =
                    !event && (patterns::find(name).is_some() || matches!(name, "has" | "time" | "elapsed"));
                if library { self.of_language(name) } else { self.of_trace(name) }
            }
        };
        self.used(ident.span, id, true);
    }

    /// `user` of `login(user: u)`: a field of the declared event.
    pub(super) fn label(&mut self, label: &'t Ident, called: Option<usize>) {
        let event = called.and_then(|id| self.names.list[id].declaration);
        let field = self.names.list.iter().position(|own| {
            own.name == label.name
                && own.declaration == event
                && event.is_some()
                && matches!(own.kind, NameKind::Field | NameKind::Variable)
        });
        if let Some(id) = field {
            self.used(label.span, id, false);
        }
    }
}
