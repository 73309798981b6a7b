//! Formulas as exclusive-or of conjunctions, and what an event turns them into ("Monitoring Programs using Rewriting").
//!
//! The monitor's state *is* a formula: each event rewrites it to what the rest of the trace owes. A canonical form
//! keeps it small and makes equal residuals identical. It is Hsiang's: a formula is a set of *monomials* (their
//! exclusive or), a monomial a set of *atoms* (their conjunction), an atom a proposition or a temporal subformula whose
//! arguments are in this form again. The empty sum is `false`, the empty monomial `true`; every propositional
//! tautology becomes `true`, while temporal laws stay unknown (`F a | G !a` is not reduced).
//!
//! | formula | after an event (`φ{e}`) | after the last event (`φ{e*}`) |
//! |---|---|---|
//! | `G x` | `G x & x{e}` | `x{e*}` |
//! | `F x` | `F x \| x{e}` | `x{e*}` |
//! | `x U y`, `x W y` | `y{e} \| x{e} & (x U y)` | `y{e*}`, `y{e*} \| x{e*}` |
//! | `x R y`, `x M y` | `y{e} & (x{e} \| (x R y))` | `y{e*}`, `y{e*} & x{e*}` |
//! | `X x`, `N x` | `x` | false, true; with the last state repeated `x{e*}` |
//! | `last` | false | true |
//!
//! No event makes a new atom: a residual combines temporal subformulas of the original, so the atoms are fixed (and
//! numbered in the order of the program's nodes) once the formula is translated. Past operators are propositions
//! beyond the program's atoms ([`crate::past`]).
//!
//! A k-fold disjunction has 2^k − 1 monomials. Where only propositions are involved such a subformula is kept whole,
//! as one atom ([`Atom::State`]); elsewhere [`Limits`] end in [`Exceeded`].

mod arena;
mod cubes;
mod print;
mod state;
mod transform;
mod translate;
mod words;

#[cfg(test)]
mod tests;

pub use cubes::{Cube, Cubes};
pub use print::{Names, Syntax};
pub use transform::Event;
pub use translate::Untranslatable;

use arena::Sets;
use rustc_hash::FxHashMap;
use state::Code;
use tw_ir::{Form, NodeId, Temporal};

/// A formula in canonical form; equal formulas of one [`Terms`] have equal ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FormulaId(pub u32);

impl FormulaId {
    /// The empty sum.
    pub const FALSE: FormulaId = FormulaId(0);
    /// The sum of the empty monomial alone.
    pub const TRUE: FormulaId = FormulaId(1);

    /// A constant.
    pub fn constant(value: bool) -> Self {
        if value { Self::TRUE } else { Self::FALSE }
    }

    /// Its value, if it is a constant.
    pub fn as_constant(self) -> Option<bool> {
        match self {
            Self::FALSE => Some(false),
            Self::TRUE => Some(true),
            _ => None,
        }
    }
}

/// An atom, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AtomId(pub u32);

impl AtomId {
    /// As an index into per-atom tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What conjunctions are made of. The arguments of temporal operators consist of atoms with smaller numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Atom {
    /// An index into `Program::atoms()`, or beyond them a past operator.
    Proposition(u32),
    /// There is no next position.
    Last,
    /// A combination of propositions that is too wide to be multiplied out.
    State(NodeId),
    /// A future operator; one with two arguments has the first of them on the left.
    Temporal(Temporal, Option<FormulaId>, FormulaId),
}

impl Atom {
    /// The arguments of a temporal operator.
    pub fn arguments(self) -> impl Iterator<Item = FormulaId> {
        use Atom::*;
        let (a, b) = match self {
            Proposition(_) | Last | State(_) => (None, None),
            Temporal(_, left, right) => (left, Some(right)),
        };
        [a, b].into_iter().flatten()
    }

    /// Whether it is `X` or `N`.
    fn is_step(self) -> bool {
        matches!(self, Atom::Temporal(operator, ..) if operator.row().form == Form::Step)
    }

    /// The atom with other arguments.
    fn map(self, mut to: impl FnMut(FormulaId) -> FormulaId) -> Atom {
        use Atom::*;
        match self {
            Proposition(_) | Last | State(_) => self,
            Temporal(operator, left, right) => Temporal(operator, left.map(&mut to), to(right)),
        }
    }
}

/// How large terms may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Monomials of one formula.
    pub monomials: usize,
    /// Atoms and monomials stored over all formulas.
    pub terms: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { monomials: 1 << 10, terms: 1 << 22 }
    }
}

/// A limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    /// One formula would have at least as many monomials.
    Monomials {
        /// What was needed.
        found: usize,
        /// What was allowed.
        limit: usize,
    },
    /// All formulas together.
    Terms {
        /// What was allowed.
        limit: usize,
    },
}

impl std::fmt::Display for Exceeded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Exceeded::Monomials { found, limit } => {
                write!(f, "a residual of {found} or more conjunctions (the limit is {limit})")
            }
            Exceeded::Terms { limit } => write!(f, "residuals of more than {limit} terms in all"),
        }
    }
}

impl std::error::Error for Exceeded {}

/// An atom and the first subformula that it was the translation of.
#[derive(Clone, Copy, Debug)]
struct Entry {
    atom: Atom,
    origin: NodeId,
    /// The atom as a formula.
    formula: FormulaId,
    /// How deeply temporal operators are nested in it.
    depth: u32,
}

/// The formulas of one monitor, each stored once.
#[derive(Clone, Debug)]
pub struct Terms {
    atoms: Vec<Entry>,
    atom_index: FxHashMap<Atom, AtomId>,
    /// Sets of atoms.
    monomials: Sets,
    /// Sets of monomials.
    formulas: Sets,
    limits: Limits,
    repeat_last: bool,
    /// How to evaluate the atoms of kind `State`.
    codes: FxHashMap<AtomId, Code>,
    /// What each atom became under the event at hand; room that is used again.
    values: Vec<FormulaId>,
    ends: Vec<bool>,
    /// The atoms met in the walk at hand are those marked with its number.
    marks: Vec<u32>,
    walk: u32,
}

impl Terms {
    /// Without any formula. With `repeat_last`, `X x` and `N x` at the last position mean x there.
    pub fn new(repeat_last: bool, limits: Limits) -> Self {
        let mut terms = Self {
            atoms: Vec::new(),
            atom_index: FxHashMap::default(),
            monomials: Sets::default(),
            formulas: Sets::default(),
            limits,
            repeat_last,
            codes: FxHashMap::default(),
            values: Vec::new(),
            ends: Vec::new(),
            marks: Vec::new(),
            walk: 0,
        };
        terms.add_constants();
        terms
    }

    /// The atom with that number.
    pub fn atom(&self, id: AtomId) -> Atom {
        self.atoms[id.index()].atom
    }

    /// A subformula of the program that the atom is equal to.
    pub fn origin(&self, id: AtomId) -> NodeId {
        self.atoms[id.index()].origin
    }

    /// How many atoms there are.
    pub fn atoms(&self) -> usize {
        self.atoms.len()
    }

    /// The monomials of a formula, each as its atoms ascending, in an order that depends on nothing but the formula:
    /// short ones first.
    pub fn monomials(&self, formula: FormulaId) -> Vec<&[u32]> {
        let mut all: Vec<&[u32]> =
            self.formulas.get(formula.0).iter().map(|&id| self.monomials.get(id)).collect();
        all.sort_unstable_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        all
    }

    /// The formula with the given monomials, the inverse of [`Terms::monomials`]. `None` where an atom is unknown.
    pub fn sum_of(&mut self, monomials: &[Vec<u32>]) -> Option<Result<FormulaId, Exceeded>> {
        let known = |atom: &u32| (*atom as usize) < self.atoms.len();
        if !monomials.iter().flatten().all(known) {
            return None;
        }
        let mut ids = Vec::with_capacity(monomials.len());
        for atoms in monomials {
            let mut atoms = atoms.clone();
            atoms.sort_unstable();
            atoms.dedup();
            ids.push(self.monomials.add(&atoms));
        }
        Some(self.sum(ids))
    }

    /// The atoms that a formula mentions (not those within temporal ones), ascending.
    pub fn atoms_of(&self, formula: FormulaId) -> Vec<AtomId> {
        let mut atoms: Vec<u32> =
            self.formulas.get(formula.0).iter().flat_map(|&id| self.monomials.get(id)).copied().collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms.into_iter().map(AtomId).collect()
    }

    /// How many monomials a formula has.
    pub fn size(&self, formula: FormulaId) -> usize {
        self.formulas.get(formula.0).len()
    }

    /// Bytes held, about.
    pub fn heap_bytes(&self) -> usize {
        self.monomials.heap_bytes()
            + self.formulas.heap_bytes()
            + self.atoms.capacity() * (size_of::<Entry>() + 48)
            + self.codes.values().map(Code::heap_bytes).sum::<usize>()
    }
}
