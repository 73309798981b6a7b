//! What every name in a text stands for, for editors: where it is declared and where else it is used.
//!
//! The rules are those of lowering (`lower::expand`), on the tree as written: a name is a parameter of its macro, a variable
//! that a quantifier binds, what a declaration says, or else a column or event of the trace. A tree with holes has names, too.

mod blocks;
mod expressions;

use crate::ast::{DeclarationKind, Division, ExprId, Ident, Tree};
use rustc_hash::FxHashMap;
use tw_diag::Span;
use tw_ir::{Measure, Path, PathStep, Piece};

/// What a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameKind {
    /// A `let`.
    Macro,
    /// A declared event.
    Event,
    /// A `var`.
    Variable,
    /// A `stream`.
    Stream,
    /// A property, query, requirement, trigger, monitor or chart.
    Root,
    /// A parameter of a `let`.
    Parameter,
    /// A variable of a quantifier, of an aggregate or of a map.
    Bound,
    /// An event of a monitor.
    MonitorEvent,
    /// A parameter of a monitor.
    MonitorParameter,
    /// A state of a monitor.
    State,
    /// A parameter of a declared event.
    Field,
    /// A pattern of the library, or another word of the language that is called.
    Library,
    /// A column, event or field of the trace that nothing declares.
    Trace,
}

/// A name.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// As it is written, without backquotes.
    pub name: String,
    /// What it is.
    pub kind: NameKind,
    /// The declaration that declares it or stands around it: an index into [`Tree::declarations`].
    pub declaration: Option<usize>,
    /// Where it is declared.
    pub declared: Option<Span>,
    /// Where it can be written, if not everywhere.
    pub inside: Option<Span>,
}

/// A place where a name stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The place, backquotes included.
    pub span: Span,
    /// Index into [`Names::list`].
    pub name: usize,
    /// Whether it is called, or written with `event`.
    pub called: bool,
}

/// All names of a text.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// What they are.
    pub list: Vec<Name>,
    /// Where they stand, in the order of the text.
    pub uses: Vec<Use>,
}

impl Names {
    /// The names of a tree and of the text that it was read from.
    pub fn of(text: &str, tree: &Tree) -> Names {
        let mut finder = Finder {
            text,
            tree,
            names: Names::default(),
            global: FxHashMap::default(),
            trace: FxHashMap::default(),
            library: FxHashMap::default(),
        };
        finder.declarations();
        for index in 0..tree.declarations.len() {
            finder.declaration(index);
        }
        let mut names = finder.names;
        names.uses.sort_by_key(|found| (found.span.start, found.name));
        names.uses.dedup_by_key(|found| found.span.start);
        names
    }

    /// The use at an offset, its end included.
    pub fn at(&self, offset: u32) -> Option<&Use> {
        let before = self.uses.partition_point(|found| found.span.start <= offset);
        let found = self.uses.get(before.checked_sub(1)?)?;
        (offset <= found.span.end).then_some(found)
    }

    /// The uses of a name.
    pub fn uses_of(&self, name: usize) -> impl Iterator<Item = &Use> {
        self.uses.iter().filter(move |found| found.name == name)
    }

    /// The names that can be written at an offset.
    pub fn visible(&self, offset: u32) -> impl Iterator<Item = &Name> {
        let inside = move |span: Span| span.start <= offset && offset <= span.end;
        self.list.iter().filter(move |name| name.inside.is_none_or(inside))
    }
}

struct Finder<'t> {
    text: &'t str,
    tree: &'t Tree,
    names: Names,
    /// What declarations declare.
    global: FxHashMap<&'t str, usize>,
    /// Columns and events that nothing declares.
    trace: FxHashMap<String, usize>,
    /// Words of the language that stand where names do: no columns or events of the same name.
    library: FxHashMap<String, usize>,
}

/// Names that hide others, innermost last.
type Scope<'t> = Vec<(&'t str, usize)>;

impl<'t> Finder<'t> {
    fn add(&mut self, name: Name) -> usize {
        self.names.list.push(name);
        self.names.list.len() - 1
    }

    fn define(
        &mut self,
        ident: &'t Ident,
        kind: NameKind,
        declaration: usize,
        inside: Option<Span>,
    ) -> usize {
        let (name, declared) = (ident.name.clone(), Some(ident.span));
        let id = self.add(Name { name, kind, declaration: Some(declaration), declared, inside });
        self.used(ident.span, id, false);
        id
    }

    fn used(&mut self, span: Span, name: usize, called: bool) {
        self.names.uses.push(Use { span, name, called });
    }

    /// The name of the trace that is written so.
    fn of_trace(&mut self, name: &str) -> usize {
        if let Some(&known) = self.trace.get(name) {
            return known;
        }
        let id = self.add(Name {
            name: name.to_owned(),
            kind: NameKind::Trace,
            declaration: None,
            declared: None,
            inside: None,
        });
        self.trace.insert(name.to_owned(), id);
        id
    }

    /// The word of the language that is written so.
    fn of_language(&mut self, name: &str) -> usize {
        if let Some(&known) = self.library.get(name) {
            return known;
        }
        let (kind, word) = (NameKind::Library, name.to_owned());
        let id = self.add(Name { name: word, kind, declaration: None, declared: None, inside: None });
        self.library.insert(name.to_owned(), id);
        id
    }

    /// What is declared, so that uses before it find it.
    fn declarations(&mut self) {
        let tree = self.tree;
        let mut roots: FxHashMap<&str, usize> = FxHashMap::default();
        for (index, declaration) in tree.declarations.iter().enumerate() {
            use DeclarationKind as K;
            let (ident, kind) = match &declaration.kind {
                K::Let { name, .. } => (name, NameKind::Macro),
                K::Event { name, .. } => (name, NameKind::Event),
                K::Stream { name, .. } => (name, NameKind::Stream),
                K::Property { name, .. }
                | K::Query { name, .. }
                | K::Trigger { name, .. }
                | K::Require { name, .. } => (name, NameKind::Root),
                K::Monitor(monitor) => (&monitor.name, NameKind::Root),
                K::Chart(chart) => (&chart.name, NameKind::Root),
                K::Var { path, path_span, .. } => {
                    if let Some(name) = path.as_name() {
                        let span = self.first(path, *path_span);
                        let known = self.global.get(name).copied();
                        let id = known.unwrap_or_else(|| {
                            let name = name.to_owned();
                            let declared = Some(span);
                            let (kind, declaration) = (NameKind::Variable, Some(index));
                            self.add(Name { name, kind, declaration, declared, inside: None })
                        });
                        self.used(span, id, false);
                        self.global.insert(name, id);
                    } else {
                        self.path(path, *path_span, &Vec::new(), true);
                    }
                    continue;
                }
                _ => continue,
            };
            // Twice declared: reported elsewhere, and the first counts.
            let table = if kind == NameKind::Root { &mut roots } else { &mut self.global };
            if let Some(&known) = table.get(ident.name.as_str()) {
                self.used(ident.span, known, false);
                continue;
            }
            let id = self.define(ident, kind, index, None);
            let table = if kind == NameKind::Root { &mut roots } else { &mut self.global };
            table.insert(&ident.name, id);
        }
        // Placeholders of templates are columns.
        for (index, declaration) in tree.declarations.iter().enumerate() {
            if let DeclarationKind::Event { parameters, template, .. } = &declaration.kind {
                for (field, _) in parameters {
                    if template.is_none() {
                        self.define(field, NameKind::Field, index, Some(declaration.span));
                        continue;
                    }
                    let id = match self.global.get(field.name.as_str()) {
                        Some(&known) => known,
                        None => {
                            let id = self.define(field, NameKind::Variable, index, None);
                            self.global.insert(&field.name, id);
                            id
                        }
                    };
                    self.used(field.span, id, false);
                }
            }
            if let DeclarationKind::Event { template: Some(own), .. } = &declaration.kind {
                for (number, piece) in own.template.pieces.iter().enumerate() {
                    let Piece::Placeholder { name: Some(name), .. } = piece else { continue };
                    let place = own.place(number);
                    let start = place.start + 1;
                    let span = Span { start, end: start + name.len() as u32, ..place };
                    if let Some(&id) = self.global.get(name.as_str())
                        && self.slice(span) == name
                    {
                        self.used(span, id, false);
                    }
                }
            }
        }
        for declaration in &tree.declarations {
            if let DeclarationKind::After(after) = &declaration.kind {
                for part in std::iter::once(&after.first).chain(&after.then) {
                    if let Some(&id) = roots.get(part.chart.name.as_str()) {
                        self.used(part.chart.span, id, false);
                    }
                }
            }
        }
    }

    fn declaration(&mut self, index: usize) {
        let tree = self.tree;
        let declaration = &tree.declarations[index];
        let none = Scope::new();
        match &declaration.kind {
            DeclarationKind::Let { parameters, body, .. } => {
                let mut scope = Scope::new();
                for parameter in parameters {
                    let id = self.define(parameter, NameKind::Parameter, index, Some(declaration.span));
                    scope.push((&parameter.name, id));
                }
                self.expression(index, *body, &scope);
            }
            DeclarationKind::Property { body, .. } | DeclarationKind::Trigger { body, .. } => {
                self.expression(index, *body, &none);
            }
            DeclarationKind::Query { body, division, .. }
            | DeclarationKind::Require { body, division, .. } => {
                self.expression(index, *body, &none);
                self.division(division);
            }
            DeclarationKind::Stream { body, by, .. } => {
                self.expression(index, *body, &none);
                self.division(&Division { by: by.clone(), every: None });
            }
            DeclarationKind::Observe { names } => {
                for ident in names {
                    let id = match self.global.get(ident.name.as_str()) {
                        Some(&id) => id,
                        None => self.of_trace(&ident.name),
                    };
                    self.used(ident.span, id, false);
                }
            }
            DeclarationKind::Event { template: Some(own), .. } => {
                self.path(&own.source.path, own.source.span, &none, own.source.quoted);
            }
            DeclarationKind::Monitor(monitor) => self.monitor(index, monitor, declaration.span),
            DeclarationKind::Trace(block) => self.settings(block),
            _ => {}
        }
    }

    fn division(&mut self, division: &Division) {
        if let Some(column) = &division.by {
            self.path(&column.path, column.span, &Vec::new(), true);
        }
    }

    fn slice(&self, span: Span) -> &'t str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// The place of a path's first name.
    fn first(&self, path: &Path, span: Span) -> Span {
        let text = self.slice(span);
        let length = match path.steps.first() {
            _ if text.starts_with('`') => {
                let closing = text[1..].replace("``", "  ").find('`');
                closing.map_or(text.len(), |at| at + 2)
            }
            Some(PathStep::Field(name)) => name.len().min(text.len()),
            _ => text.len(),
        };
        Span { end: span.start + length as u32, ..span }
    }

    /// What the first name of a path is; in backquotes it is always a column.
    fn path(&mut self, path: &Path, span: Span, scope: &Scope<'t>, quoted: bool) {
        let Some(PathStep::Field(name)) = path.steps.first() else { return };
        let place = self.first(path, span);
        let local = scope.iter().rev().find(|(own, _)| *own == name && !quoted).map(|(_, id)| *id);
        let global = self.global.get(name.as_str()).copied();
        let column = |id: &usize| {
            matches!(self.names.list[*id].kind, NameKind::Variable | NameKind::Stream) || !quoted
        };
        // `time` and `elapsed` are terms of the language where nothing declares them.
        let measure = path.as_name().and_then(Measure::parse).is_some() && !quoted;
        let id = match local.or(global.filter(column)) {
            Some(id) => id,
            None if measure => self.of_language(name),
            None => self.of_trace(name),
        };
        self.used(place, id, false);
    }

    /// The expression and all below it.
    fn expression(&mut self, index: usize, root: ExprId, scope: &Scope<'t>) {
        let mut work = vec![(root, scope.clone())];
        while let Some((id, scope)) = work.pop() {
            self.one(index, id, scope, &mut work);
        }
    }
}
