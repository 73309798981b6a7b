//! The scheme of algorithm A, over any semilattice.

use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Debug;
use std::hash::Hash;

/// A semilattice with a bottom, and a top that is not among its elements: slices of the top are whole traces, which nobody asks
/// for.
pub trait Lattice {
    /// What slices are about.
    type Element: Clone + Eq + Hash + Debug;
    /// What is below everything.
    fn bottom(&self) -> Self::Element;
    /// The least element above both; `None` is the top.
    fn join(&self, a: &Self::Element, b: &Self::Element) -> Option<Self::Element>;
    /// Everything below an element, itself first and larger ones before smaller.
    fn below(&self, element: &Self::Element) -> impl Iterator<Item = Self::Element>;
}

/// The table of algorithm A: the elements found so far (Θ), each with its slice (T).
///
/// Θ is closed under joins, so of those below an element one is the largest; and the slice of any element is that of the largest
/// below it ([`Slices::of`]).
#[derive(Clone, Debug)]
pub struct Slices<L: Lattice, Q> {
    lattice: L,
    elements: Vec<L::Element>,
    slices: Vec<Vec<Q>>,
    index: FxHashMap<L::Element, usize>,
}

impl<L: Lattice, Q: Clone> Slices<L, Q> {
    /// Before the first event.
    pub fn new(lattice: L) -> Self {
        let bottom = lattice.bottom();
        let index = FxHashMap::from_iter([(bottom.clone(), 0)]);
        Self { lattice, elements: vec![bottom], slices: vec![Vec::new()], index }
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// The bottom is always there.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The elements and their slices, in the order in which they were found.
    pub fn iter(&self) -> impl Iterator<Item = (&L::Element, &[Q])> {
        self.elements.iter().zip(self.slices.iter().map(Vec::as_slice))
    }

    /// The slice of any element.
    pub fn of(&self, element: &L::Element) -> &[Q] {
        &self.slices[self.largest_below(element)]
    }

    /// The largest element that is there and below `element`.
    fn largest_below(&self, element: &L::Element) -> usize {
        self.lattice.below(element).find_map(|part| self.index.get(&part).copied()).unwrap_or(0)
    }

    /// One event, of which Σ is what it is about.
    ///
    /// The published algorithms need that any two of Σ join to the top. Where they do not (two variables may have one value,
    /// or several events happen at one position) the joins of Σ belong to it as well, and slices are copied from the table as
    /// it was before the event: both are done here always, and make no difference in the published cases.
    pub fn event(&mut self, event: &Q, sigma: &[L::Element]) {
        let mut joined: FxHashSet<L::Element> = FxHashSet::default();
        let (mut known, mut fresh) = (Vec::new(), Vec::new());
        for about in &self.closed(sigma) {
            for other in &self.elements {
                let Some(join) = self.lattice.join(about, other) else { continue };
                if joined.insert(join.clone()) {
                    match self.index.get(&join) {
                        Some(&number) => known.push(number),
                        None => fresh.push((self.largest_below(&join), join)),
                    }
                }
            }
        }
        // What is new is copied before anything is appended.
        for (from, element) in fresh {
            let mut slice = self.slices[from].clone();
            slice.push(event.clone());
            self.index.insert(element.clone(), self.elements.len());
            self.elements.push(element);
            self.slices.push(slice);
        }
        known.into_iter().for_each(|number| self.slices[number].push(event.clone()));
    }

    /// All joins of some of them.
    fn closed(&self, sigma: &[L::Element]) -> Vec<L::Element> {
        let mut all: Vec<L::Element> = Vec::new();
        for about in sigma {
            let joins: Vec<L::Element> =
                all.iter().filter_map(|other| self.lattice.join(about, other)).collect();
            for element in [about.clone()].into_iter().chain(joins) {
                if !all.contains(&element) {
                    all.push(element);
                }
            }
        }
        all
    }
}
