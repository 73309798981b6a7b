//! What the specification declares, by name.

use super::findings::Findings;
use crate::ast::chart::Chart;
use crate::ast::monitor::Monitor;
use crate::ast::{Column, DeclarationKind, Division, EventTemplate, ExprId, Ident, Tree, Type};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use tw_diag::{Diagnostic, Span};
use tw_ir::{ArgumentKey, Path, Take, Template, TextEvent};

/// A `let`.
pub(super) struct Macro<'t> {
    pub name: &'t Ident,
    pub parameters: &'t [Ident],
    pub body: ExprId,
}

/// An `event`.
pub(super) struct Event<'t> {
    pub name: &'t Ident,
    pub parameters: Cow<'t, [(Ident, Option<Type>)]>,
}

impl Event<'_> {
    /// An argument of it.
    pub fn key(&self, index: usize) -> ArgumentKey {
        let (name, of) = (self.parameters[index].0.name.clone(), self.parameters.len());
        ArgumentKey::Declared { index, name, of }
    }
}

/// A `stream`.
pub(super) struct Stream<'t> {
    pub name: &'t Ident,
    pub ty: Type,
    pub body: ExprId,
    pub by: Option<&'t Column>,
}

/// What a name was declared as.
#[derive(Clone, Copy)]
pub(super) enum Declared {
    /// Index into [`Declarations::macros`].
    Macro(usize),
    /// Index into [`Declarations::events`].
    Event(usize),
    Var,
    /// Index into [`Declarations::streams`].
    Stream(usize),
}

/// Everything declared, checked for duplicates.
#[derive(Default)]
pub(super) struct Declarations<'t> {
    pub macros: Vec<Macro<'t>>,
    pub events: Vec<Event<'t>>,
    pub vars: FxHashMap<&'t Path, (Type, Span)>,
    pub streams: Vec<Stream<'t>>,
    /// The events that are templates of texts.
    pub templates: Vec<(&'t Ident, &'t EventTemplate)>,
    /// The placeholders of templates, which are columns: of the first that has one of the name.
    pub placeholders: FxHashMap<Path, (Type, Span)>,
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
                DeclarationKind::Event { name, parameters, template } => {
                    let index = declarations.events.len();
                    if declarations.claim(&name.name, name.span, Declared::Event(index), findings) {
                        let parameters = match template {
                            Some(template) => Cow::Owned(typed(parameters, &template.template)),
                            None => Cow::Borrowed(parameters.as_slice()),
                        };
                        declarations.events.push(Event { name, parameters });
                    }
                    if let Some(template) = template {
                        declarations.templates.push((name, template));
                    }
                }
                DeclarationKind::Let { name, parameters, body } => {
                    let index = declarations.macros.len();
                    if declarations.claim(&name.name, name.span, Declared::Macro(index), findings) {
                        declarations.macros.push(Macro { name, parameters, body: *body });
                    }
                }
                DeclarationKind::Stream { name, ty, body, by } => {
                    let index = declarations.streams.len();
                    if declarations.claim(&name.name, name.span, Declared::Stream(index), findings) {
                        let by = by.as_ref();
                        declarations.streams.push(Stream { name, ty: *ty, body: *body, by });
                    }
                }
                DeclarationKind::Property { name, .. }
                | DeclarationKind::Trigger { name, .. }
                | DeclarationKind::Query { name, .. }
                | DeclarationKind::Chart(Chart { name, .. })
                | DeclarationKind::Require { name, .. }
                | DeclarationKind::Monitor(Monitor { name, .. }) => {
                    if let Some(before) = roots.insert(&name.name, name.span) {
                        findings.add(duplicate(&name.name, name.span, before));
                    }
                }
                DeclarationKind::Observe { .. }
                | DeclarationKind::After(_)
                | DeclarationKind::Trace(_)
                | DeclarationKind::Error => {}
            }
        }
        declarations.place(findings);
        declarations
    }

    /// Notes the placeholders of all templates as columns.
    fn place(&mut self, findings: &mut Findings) {
        for (name, own) in &self.templates {
            for (number, placeholder, take) in own.template.placeholders() {
                let Some(placeholder) = placeholder else { continue };
                let path = Path::field(placeholder);
                let (ty, span) = (type_of(take), own.place(number));
                if let Some((declared, before)) = self.vars.get(&path)
                    && *declared != ty
                {
                    let message = format!(
                        "the placeholder `{placeholder}` of `{}` is {}, but `{placeholder}` is declared as another type",
                        name.name,
                        takes(take)
                    );
                    findings.add(
                        Diagnostic::error("contradictory-types", message)
                            .at(span, "this placeholder is also the column of its name")
                            .at(*before, "declared here")
                            .help("let both have one type, or rename one"),
                    );
                }
                let (first, before) = *self.placeholders.entry(path).or_insert((ty, span));
                if first != ty {
                    let message = format!(
                        "the placeholder `{placeholder}` is {} here and something else in an earlier template",
                        takes(take)
                    );
                    findings.add(
                        Diagnostic::warning("templates-disagree", message)
                            .at(span, "not in the column of this name")
                            .at(before, "the column has these values")
                            .help("rename one of the two, or give both one type"),
                    );
                }
            }
        }
    }

    /// The templates as readers take them.
    pub fn text_events(&self) -> Vec<TextEvent> {
        let event = |(name, own): &(&Ident, &EventTemplate)| TextEvent {
            name: name.name.clone(),
            source: own.source.path.clone(),
            template: own.template.clone(),
            span: own.span,
        };
        self.templates.iter().map(event).collect()
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

    /// The type of a column: declared, or that of the placeholders of its name.
    pub fn column(&self, path: &Path) -> Option<(Type, Span)> {
        let stream = || match self.names.get(path.as_name()?) {
            Some((Declared::Stream(index), span)) => Some((self.streams[*index].ty, *span)),
            _ => None,
        };
        self.var(path).or_else(stream).or_else(|| self.placeholders.get(path).copied())
    }
}

/// What a template takes is what its event has.
fn typed(parameters: &[(Ident, Option<Type>)], template: &Template) -> Vec<(Ident, Option<Type>)> {
    let ty = |name: &Ident| template.named(&name.name).map(|(_, take)| type_of(take));
    parameters.iter().map(|(name, declared)| (name.clone(), ty(name).or(*declared))).collect()
}

fn type_of(take: Take) -> Type {
    match take {
        Take::Int => Type::Int,
        Take::Real => Type::Real,
        Take::Run | Take::Words | Take::Rest => Type::Text,
    }
}

/// What a placeholder takes, in words.
fn takes(take: Take) -> &'static str {
    match take {
        Take::Int => "a whole number",
        Take::Real => "a number",
        Take::Run | Take::Words | Take::Rest => "a text",
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
