//! What the specification declares, by name.

use super::findings::Findings;
use crate::ast::monitor::Monitor;
use crate::ast::{DeclarationKind, Division, ExprId, Ident, Tree, Type};
use rustc_hash::FxHashMap;
use tw_diag::{Diagnostic, Span};
use tw_ir::Path;

/// A `let`.
pub(super) struct Macro<'t> {
    pub name: &'t Ident,
    pub parameters: &'t [Ident],
    pub body: ExprId,
}

/// An `event`.
pub(super) struct Event<'t> {
    pub name: &'t Ident,
    pub parameters: &'t [(Ident, Option<Type>)],
}

/// What a name was declared as.
#[derive(Clone, Copy)]
pub(super) enum Declared {
    /// Index into [`Declarations::macros`].
    Macro(usize),
    /// Index into [`Declarations::events`].
    Event(usize),
    Var,
}

/// Everything declared, checked for duplicates.
#[derive(Default)]
pub(super) struct Declarations<'t> {
    pub macros: Vec<Macro<'t>>,
    pub events: Vec<Event<'t>>,
    pub vars: FxHashMap<&'t Path, (Type, Span)>,
    pub names: FxHashMap<&'t str, (Declared, Span)>,
}

impl<'t> Declarations<'t> {
    /// Reads the declarations of `tree`.
    pub fn collect(tree: &'t Tree, findings: &mut Findings) -> Self {
        let mut declarations = Declarations::default();
        let mut roots: FxHashMap<&str, Span> = FxHashMap::default();
        for declaration in &tree.declarations {
            match &declaration.kind {
                DeclarationKind::Var { path, path_span, ty } => {
                    if let Some((_, before)) = declarations.vars.get(path) {
                        findings.add(duplicate(&path.to_string(), *path_span, *before));
                    } else if path
                        .as_name()
                        .is_none_or(|name| declarations.claim(name, *path_span, Declared::Var, findings))
                    {
                        declarations.vars.insert(path, (*ty, *path_span));
                    }
                }
                DeclarationKind::Event { name, parameters } => {
                    let index = declarations.events.len();
                    if declarations.claim(&name.name, name.span, Declared::Event(index), findings) {
                        declarations.events.push(Event { name, parameters });
                    }
                }
                DeclarationKind::Let { name, parameters, body } => {
                    let index = declarations.macros.len();
                    if declarations.claim(&name.name, name.span, Declared::Macro(index), findings) {
                        declarations.macros.push(Macro { name, parameters, body: *body });
                    }
                }
                DeclarationKind::Property { name, .. }
                | DeclarationKind::Query { name, .. }
                | DeclarationKind::Monitor(Monitor { name, .. }) => {
                    if let Some(before) = roots.insert(&name.name, name.span) {
                        findings.add(duplicate(&name.name, name.span, before));
                    }
                }
                DeclarationKind::Trace(_) | DeclarationKind::Error => {}
            }
        }
        declarations
    }

    /// Takes a name; false if it was taken.
    fn claim(&mut self, name: &'t str, span: Span, what: Declared, findings: &mut Findings) -> bool {
        if let Some((_, before)) = self.names.get(name) {
            findings.add(duplicate(name, span, *before));
            return false;
        }
        self.names.insert(name, (what, span));
        true
    }

    /// How a query divides the trace. What divides it is a column, whatever else has its name in backquotes.
    pub fn division(&self, division: &Division, findings: &mut Findings) -> tw_ir::Division {
        let by = division.by.as_ref().filter(|column| {
            let other = match self.names.get(column.path.as_name().unwrap_or_default()) {
                _ if column.quoted => None,
                Some((Declared::Macro(_), span)) => Some(("a macro", span)),
                Some((Declared::Event(_), span)) => Some(("an event", span)),
                _ => None,
            };
            if let Some((what, declared)) = other {
                let name = &column.path;
                findings.add(
                    Diagnostic::error("bad-division", format!("`{name}` is {what}, but `by` takes a column"))
                        .at(column.span, "a column is expected here")
                        .at(*declared, "declared here")
                        .help(format!("a column of that name is written in backquotes: `` `{name}` ``")),
                );
            }
            other.is_none()
        });
        tw_ir::Division {
            by: by.map(|column| column.path.clone()),
            every: division.every.map(|(length, _)| length),
        }
    }

    /// The declared type of a path.
    pub fn var(&self, path: &Path) -> Option<(Type, Span)> {
        self.vars.get(path).copied()
    }
}

/// Reports names that occur twice in one list.
pub(super) fn unique<'a>(names: impl Iterator<Item = &'a Ident>, what: &str, findings: &mut Findings) {
    let mut seen: FxHashMap<&str, Span> = FxHashMap::default();
    for ident in names {
        if let Some(before) = seen.insert(&ident.name, ident.span) {
            findings.add(
                Diagnostic::error("duplicate-name", format!("the {what} `{}` is named twice", ident.name))
                    .at(ident.span, "again here")
                    .at(before, "first here")
                    .help("give each one its own name"),
            );
        }
    }
}

fn duplicate(name: &str, span: Span, before: Span) -> Diagnostic {
    Diagnostic::error("duplicate-declaration", format!("`{name}` is declared twice"))
        .at(span, "again here")
        .at(before, "first declared here")
        .help("rename or remove one of the two")
}
