//! Types of terms: what the signature says of the arguments of predicates goes from there to variables and constants.

use crate::formats::monpoly::signature::Predicate;
use rustc_hash::FxHashMap;
use tw_diag::{Diagnostic, Span};
use tw_spec::ast::Type;

/// A type that may not be known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell(usize);

/// What a cell holds: a type, nothing yet, or whatever another one holds.
#[derive(Clone, Copy)]
enum Content {
    Known(Type),
    Open,
    Same(Cell),
}

#[derive(Default)]
pub(super) struct Types {
    cells: Vec<Content>,
    /// Types of the terms made so far, by the number of their expression.
    terms: FxHashMap<u32, Cell>,
}

/// As signatures write it.
pub(super) fn name(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "bool",
        Type::Int => "int",
        Type::Real => "float",
        Type::Text => "string",
    }
}

impl Types {
    /// A type, known or not.
    pub fn cell(&mut self, known: Option<Type>) -> Cell {
        self.cells.push(known.map_or(Content::Open, Content::Known));
        Cell(self.cells.len() - 1)
    }

    /// The cells of a predicate's arguments.
    pub fn of(&mut self, predicate: &Predicate) -> Vec<Cell> {
        predicate.parameters.iter().map(|(_, ty)| self.cell(*ty)).collect()
    }

    fn root(&mut self, cell: Cell) -> Cell {
        let mut root = cell;
        while let Content::Same(next) = self.cells[root.0] {
            root = next;
        }
        if root != cell {
            self.cells[cell.0] = Content::Same(root);
        }
        root
    }

    /// The type, if it is known by now.
    pub fn known(&mut self, cell: Cell) -> Option<Type> {
        let root = self.root(cell);
        match self.cells[root.0] {
            Content::Known(ty) => Some(ty),
            _ => None,
        }
    }

    /// Takes down the type of a term.
    pub fn set(&mut self, term: u32, cell: Cell) {
        self.terms.insert(term, cell);
    }

    /// The type of a term.
    pub fn get(&mut self, term: u32) -> Cell {
        match self.terms.get(&term) {
            Some(cell) => *cell,
            None => self.cell(None),
        }
    }

    /// Makes two types one. `found` is that of the text at the place, `expected` what has to be there.
    pub fn unify(&mut self, found: Cell, expected: Cell, place: (&str, Span)) -> Result<(), Diagnostic> {
        let (a, b) = (self.root(found), self.root(expected));
        match (self.cells[a.0], self.cells[b.0]) {
            _ if a == b => {}
            (Content::Known(own), Content::Known(other)) if own != other => {
                let (text, span) = place;
                let (own, other) = (name(own), name(other));
                let message = format!("`{text}` is of type {own}, expected {other}");
                return Err(Diagnostic::error("import-type", message).at(span, format!("expected {other}")));
            }
            (Content::Open, _) => self.cells[a.0] = Content::Same(b),
            _ => self.cells[b.0] = Content::Same(a),
        }
        Ok(())
    }

    /// An error if something known not to be a number stands at the place.
    pub fn number(&mut self, cell: Cell, (text, span): (&str, Span)) -> Result<(), Diagnostic> {
        match self.known(cell) {
            Some(ty @ (Type::Text | Type::Bool)) => {
                let message = format!("`{text}` is of type {}, expected a number", name(ty));
                Err(Diagnostic::error("import-type", message).at(span, "expected int or float"))
            }
            _ => Ok(()),
        }
    }
}
