//! Tree to machine: resolves names, checks types, lays out slots and locations.

mod declaration;
mod expression;
mod statement;

use crate::machine::{Column, Kind, Location, Process, Program};
use crate::parser::MAX_ERRORS;
use crate::tree::{Name, Scalar, Tree};
use std::collections::HashMap;
use std::sync::Arc;
use tw_diag::{Diagnostic, Severity, Span};

/// Columns of a trace at most.
const MAX_COLUMNS: usize = 1024;

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
enum Symbol {
    Scalar(u32, Scalar),
    Array(u32, Scalar),
    Channel(u32),
}

/// A declared name.
#[derive(Clone, Copy, Debug)]
struct Declared {
    symbol: Symbol,
    span: Span,
}

type Scope<'t> = HashMap<&'t str, Declared>;

/// Checks the tree and fills the program; findings go to `diagnostics`.
pub(crate) fn lower<'t>(tree: &Tree<'t>, program: &mut Program, diagnostics: &mut Vec<Diagnostic>) {
    let mut lowering = Lowering {
        tree,
        program,
        diagnostics,
        global: Scope::new(),
        local: Scope::new(),
        messages: Vec::new(),
        variables: Vec::new(),
        process: None,
        labels: HashMap::new(),
        locations: Vec::new(),
    };
    lowering.run();
}

struct Lowering<'t, 'p> {
    tree: &'p Tree<'t>,
    program: &'p mut Program,
    diagnostics: &'p mut Vec<Diagnostic>,
    global: Scope<'t>,
    local: Scope<'t>,
    /// Types of the messages of each channel.
    messages: Vec<Vec<Scalar>>,
    /// For every slot: its name, its process and its kind.
    variables: Vec<(String, Option<u32>, Kind, Span)>,
    /// The process in the making.
    process: Option<u32>,
    /// Its labels.
    labels: HashMap<&'t str, Span>,
    /// Its locations.
    locations: Vec<Location>,
}

impl<'t> Lowering<'t, '_> {
    fn run(&mut self) {
        let tree = self.tree;
        self.declarations(&tree.declarations);
        let mut names: HashMap<String, Span> = HashMap::new();
        for (number, process) in tree.processes.iter().enumerate() {
            self.process = Some(number as u32);
            self.local.clear();
            self.labels.clear();
            self.locations = vec![Location::default()];
            let name = process.name.map_or_else(|| format!("P{}", number + 1), |name| name.text.to_owned());
            let at = process.name.map_or(process.span, |name| name.span);
            if let Some(before) = names.insert(name.clone(), at) {
                let found = Diagnostic::error("duplicate-name", format!("two processes are called `{name}`"));
                self.report(found.at(at, "again here").at(before, "first here"));
            }
            self.program.processes.push(Process { name, locations: Vec::new() });
            self.declarations(&process.declarations);
            let end = self.location();
            self.emit(process.body, 0, end, false);
            self.program.processes[number].locations = std::mem::take(&mut self.locations);
        }
        self.columns();
    }

    /// Names that are used once stand bare, others after their process.
    fn columns(&mut self) {
        let labels =
            self.program.labels.iter().map(|label| {
                (format!("at_{}", label.name), Some(label.process), Kind::Boolean, Span::default())
            });
        let all: Vec<_> = self.variables.iter().cloned().chain(labels).collect();
        if all.len() > MAX_COLUMNS {
            let message =
                format!("a trace has at most {MAX_COLUMNS} columns, this one would have {}", all.len());
            self.report(
                Diagnostic::error("program-limit", message).help("every variable and label is a column"),
            );
        }
        let mut uses: HashMap<&str, u32> = HashMap::new();
        for (name, ..) in &all {
            *uses.entry(name).or_default() += 1;
        }
        let mut taken: HashMap<Arc<str>, Span> = HashMap::new();
        let mut columns = Vec::with_capacity(all.len());
        let mut clashes = Vec::new();
        for (name, process, kind, span) in &all {
            let column: Arc<str> = match process {
                Some(process) if uses[name.as_str()] > 1 => {
                    format!("{}.{name}", self.program.processes[*process as usize].name).into()
                }
                _ => name.as_str().into(),
            };
            if let Some(before) = taken.insert(column.clone(), *span) {
                let message = format!("two columns of the trace would be called `{column}`");
                let found = Diagnostic::error("duplicate-name", message).at(before, "");
                clashes.push(found.help(format!("rename the variable `{name}` or the label")));
            }
            columns.push(Column { name: column, kind: *kind });
        }
        self.program.columns = columns;
        if self.program.broken {
            // Two declarations of one name are an error already.
            return;
        }
        clashes.into_iter().for_each(|clash| self.report(clash));
    }

    fn location(&mut self) -> u32 {
        self.locations.push(Location::default());
        (self.locations.len() - 1) as u32
    }

    fn resolve(&mut self, name: Name<'t>) -> Option<Symbol> {
        if let Some(declared) = self.local.get(name.text).or_else(|| self.global.get(name.text)) {
            return Some(declared.symbol);
        }
        if self.diagnostics.len() >= MAX_ERRORS {
            self.program.broken = true;
            return None;
        }
        let known = self.local.keys().chain(self.global.keys()).copied();
        let near = tw_core::suggest(name.text, known);
        let found = Diagnostic::error("unknown-name", format!("`{}` is not declared", name.text));
        let found = found.at(name.span, "");
        self.report(match near {
            Some(near) => found.help(format!("did you mean `{near}`?")),
            None => found.help(format!("declare it: `local {} : integer`", name.text)),
        });
        None
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.program.broken |= diagnostic.severity == Severity::Error;
        if self.diagnostics.len() < MAX_ERRORS {
            self.diagnostics.push(diagnostic);
        }
    }

    fn mismatch(&mut self, span: Span, found: &str, expected: &str) {
        let message = format!("expected {expected}, found {found}");
        self.report(Diagnostic::error("type", message).at(span, ""));
    }
}

/// A type, in words.
fn worded(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Integer => "an integer",
        Scalar::Boolean => "a boolean",
    }
}
