//! What names stand for: variables of quantifiers, of aggregates, of LET, and the free ones.
//!
//! A name means what the innermost construct says that binds it. An aggregate binds every variable of its formula but those
//! that it groups by; LET binds its parameters, and there are no others inside.

use super::types::{Cell, Types};
use crate::cursor::refuse;
use rustc_hash::FxHashMap;
use tw_diag::{Diagnostic, Span};

/// A variable: how the source calls it, how it is written here, and its type.
#[derive(Clone)]
pub(super) struct Variable {
    pub name: String,
    pub word: String,
    /// The same before it was numbered.
    plain: String,
    pub cell: Cell,
}

enum Kind {
    /// Free variables of the whole formula, in the order of their first use.
    Free,
    Quantifier,
    /// The names that are grouped by, and whether each of them occurs.
    Aggregate(Vec<(String, bool)>),
    Let,
}

struct Scope {
    kind: Kind,
    variables: Vec<Variable>,
    by_name: FxHashMap<String, usize>,
}

impl Scope {
    fn new(kind: Kind) -> Scope {
        Scope { kind, variables: Vec::new(), by_name: FxHashMap::default() }
    }

    fn get(&self, name: &str) -> Option<&Variable> {
        self.by_name.get(name).map(|at| &self.variables[*at])
    }

    fn add(&mut self, variable: Variable) {
        self.by_name.insert(variable.name.clone(), self.variables.len());
        self.variables.push(variable);
    }
}

pub(super) struct Scopes {
    scopes: Vec<Scope>,
    /// How often a word is bound around here: nobody may hide another's, since a macro's parameter cannot be hidden.
    words: FxHashMap<String, usize>,
    /// Aggregates around here.
    aggregates: usize,
}

impl Default for Scopes {
    fn default() -> Self {
        Self { scopes: vec![Scope::new(Kind::Free)], words: FxHashMap::default(), aggregates: 0 }
    }
}

impl Scopes {
    fn variable(&mut self, name: &str, cell: Cell) -> Variable {
        let mut word: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            word.insert(0, '_');
        }
        while !tw_spec::is_plain_name(&word) {
            word.push('_');
        }
        // Begun with how often the word itself is bound, a search for a free number is short.
        let bound = self.words.get(&word).copied().unwrap_or(0);
        let plain = word.clone();
        let mut number = bound + 1;
        while self.words.get(&word).is_some_and(|count| *count > 0) {
            number += usize::from(word != plain);
            word = format!("{plain}_{number}");
        }
        *self.words.entry(word.clone()).or_default() += 1;
        if word != plain {
            *self.words.entry(plain.clone()).or_default() += 1;
        }
        Variable { name: name.to_owned(), word, plain, cell }
    }

    fn open(&mut self, kind: Kind, names: &[(&str, Span)], types: &mut Types) -> Result<(), Diagnostic> {
        let mut scope = Scope::new(kind);
        for (name, span) in names {
            if scope.get(name).is_some() {
                let found = Diagnostic::error("import-duplicate", format!("`{name}` is bound twice"));
                return Err(found.at(*span, "bound again"));
            }
            let cell = types.cell(None);
            let variable = self.variable(name, cell);
            scope.add(variable);
        }
        self.scopes.push(scope);
        Ok(())
    }

    /// Begins a quantifier over variables.
    pub fn quantifier(&mut self, names: &[(&str, Span)], types: &mut Types) -> Result<(), Diagnostic> {
        self.open(Kind::Quantifier, names, types)
    }

    /// Begins the definition of a predicate with parameters.
    pub fn definition(&mut self, names: &[(&str, Span)], types: &mut Types) -> Result<(), Diagnostic> {
        self.open(Kind::Let, names, types)
    }

    /// Begins an aggregate that groups by variables.
    pub fn aggregate(&mut self, groups: &[(&str, Span)]) {
        let groups = groups.iter().map(|(name, _)| ((*name).to_owned(), false)).collect();
        self.scopes.push(Scope::new(Kind::Aggregate(groups)));
        self.aggregates += 1;
    }

    /// Ends what was begun last; its variables. Their words stay taken inside of an aggregate: its formula may become a macro,
    /// whose parameters are variables that may not have occurred yet.
    pub fn close(&mut self) -> Vec<Variable> {
        let Some(Scope { kind, variables, .. }) = self.scopes.pop() else { return Vec::new() };
        self.aggregates -= usize::from(matches!(kind, Kind::Aggregate(_)));
        if self.aggregates > 0 {
            return variables;
        }
        for variable in &variables {
            for word in [&variable.word, &variable.plain] {
                if let Some(count) = self.words.get_mut(word) {
                    *count -= 1;
                }
                if variable.word == variable.plain {
                    break;
                }
            }
        }
        variables
    }

    /// The first of the names that the aggregate begun last groups by, but that its formula lacks.
    pub fn unused_group(&self) -> Option<&str> {
        match &self.scopes.last()?.kind {
            Kind::Aggregate(groups) => groups.iter().find(|(_, used)| !used).map(|(name, _)| name.as_str()),
            _ => None,
        }
    }

    /// What a name stands for here.
    pub fn find(&mut self, name: &str, span: Span, types: &mut Types) -> Result<Variable, Diagnostic> {
        for at in (0..self.scopes.len()).rev() {
            let scope = &mut self.scopes[at];
            if let Some(variable) = scope.get(name) {
                return Ok(variable.clone());
            }
            match &mut scope.kind {
                Kind::Quantifier => continue,
                Kind::Aggregate(groups) => {
                    if let Some((_, used)) = groups.iter_mut().find(|(group, _)| group == name) {
                        *used = true;
                        continue;
                    }
                }
                Kind::Let => {
                    let why = "make it a parameter, or bind it with a quantifier";
                    return Err(refuse(span, format!("`{name}` is not a parameter of this definition"), why));
                }
                Kind::Free => {}
            }
            let cell = types.cell(None);
            let variable = self.variable(name, cell);
            self.scopes[at].add(variable.clone());
            return Ok(variable);
        }
        Err(refuse(span, format!("`{name}` is not bound"), "bind it with a quantifier"))
    }
}
