//! Partial functions from variables to things.

use crate::{Constraint, Lattice, Object, Objects};

/// A binding: of each variable the thing that it is, if it is bound.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Binding(pub Vec<Option<Object>>);

impl Binding {
    /// Nothing is bound, of so many variables.
    pub fn empty(variables: usize) -> Self {
        Self(vec![None; variables])
    }

    /// The minimal matcher of a pattern: its variables bound to the arguments of an event. `None` where a variable would be two
    /// things.
    pub fn matcher(variables: usize, columns: &[u32], arguments: &[Object]) -> Option<Self> {
        let mut binding = Self::empty(variables);
        for (&variable, &object) in columns.iter().zip(arguments) {
            let place = &mut binding.0[variable as usize];
            if place.replace(object).is_some_and(|before| before != object) {
                return None;
            }
        }
        Some(binding)
    }

    /// Whether every variable is bound.
    pub fn is_complete(&self) -> bool {
        self.0.iter().all(Option::is_some)
    }

    /// Whether no two variables are one thing.
    pub fn is_injective(&self) -> bool {
        let mut objects: Vec<Object> = self.0.iter().flatten().copied().collect();
        objects.sort_unstable();
        objects.windows(2).all(|pair| pair[0] != pair[1])
    }

    /// Whether this binds nothing that `other` does not bind to the same.
    pub fn leq(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(own, other)| own.is_none() || own == other)
    }

    /// Every binding below this one, itself first and larger ones before smaller.
    pub fn parts(&self) -> impl Iterator<Item = Self> + use<> {
        let bound: Vec<usize> = (0..self.0.len()).filter(|&variable| self.0[variable].is_some()).collect();
        let mut sets: Vec<u64> = (0..1 << bound.len()).collect();
        sets.sort_by_key(|set| std::cmp::Reverse(set.count_ones()));
        let whole = self.clone();
        sets.into_iter().map(move |set| {
            let mut part = whole.clone();
            let left_out = bound.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 0);
            left_out.for_each(|(_, &variable)| part.0[variable] = None);
            part
        })
    }

    /// Both together; `None` where they disagree.
    pub fn union(&self, other: &Self) -> Option<Self> {
        let both = self.0.iter().zip(&other.0);
        both.map(|pair| match pair {
            (Some(a), Some(b)) if a != b => None,
            (a, b) => Some(a.or(*b)),
        })
        .collect::<Option<Vec<_>>>()
        .map(Self)
    }
}

/// The semilattice of bindings.
///
/// A binding stands for itself and a constraint on what is not bound yet, which is the same for all: "constraints" of the paper are
/// pairs of the two, and the top is what no values of the other variables can satisfy.
#[derive(Clone, Copy, Debug)]
pub struct Partial<'a> {
    /// How many variables there are.
    pub variables: usize,
    /// Whether two variables are never one thing.
    pub injective: bool,
    /// What bindings have to satisfy.
    pub constraint: Option<&'a Constraint<'a>>,
    /// What things are.
    pub objects: &'a Objects,
}

impl Partial<'_> {
    /// Whether a binding is below the top.
    pub fn allows(&self, binding: &Binding) -> bool {
        (!self.injective || binding.is_injective())
            && self.constraint.is_none_or(|constraint| constraint.satisfiable(binding, self.objects))
    }
}

impl Lattice for Partial<'_> {
    type Element = Binding;

    fn bottom(&self) -> Binding {
        Binding::empty(self.variables)
    }

    fn join(&self, a: &Binding, b: &Binding) -> Option<Binding> {
        a.union(b).filter(|union| self.allows(union))
    }

    fn below(&self, element: &Binding) -> impl Iterator<Item = Binding> {
        element.parts()
    }
}
