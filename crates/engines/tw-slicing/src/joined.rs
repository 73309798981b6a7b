//! All bindings of a trace and their slices, by indices: what algorithm A computes, without a look at every binding for every
//! event.
//!
//! The bindings of a trace are the joins of what its events are about. They are closed under joins, so that an event about
//! something that is among them adds none; and something new is joined with those alone that agree with it, found by what they
//! bind. A slice is put together, when it is asked for, from the positions of events about the parts of its binding. Time and memory
//! are those of the bindings and of the events; a slice costs what it holds.

use crate::{Binding, Lattice, Object, Partial};
use rustc_hash::{FxHashMap, FxHashSet};

/// Who binds some variables to what.
type Index = FxHashMap<Box<[Object]>, Vec<u32>>;

/// Bindings that bind the same variables.
struct Group {
    mask: u64,
    numbers: Vec<u32>,
    /// Of some of these variables: who binds them to what.
    indices: Vec<(u64, Index)>,
}

/// The bindings of a trace.
pub struct Joined<'a> {
    lattice: Partial<'a>,
    bindings: Vec<Binding>,
    known: FxHashSet<Binding>,
    groups: Vec<Group>,
}

/// The variables that are bound, as bits.
fn mask(binding: &Binding) -> u64 {
    binding
        .0
        .iter()
        .enumerate()
        .fold(0, |mask, (variable, object)| mask | u64::from(object.is_some()) << variable)
}

/// What a binding says of some of its variables.
fn project(binding: &Binding, mask: u64) -> Box<[Object]> {
    let some = binding.0.iter().enumerate().filter(|(variable, _)| mask >> variable & 1 == 1);
    some.filter_map(|(_, object)| *object).collect()
}

impl<'a> Joined<'a> {
    /// Variables that a trace can be sliced by.
    pub const VARIABLES: usize = 64;

    /// Before the first event.
    pub fn new(lattice: Partial<'a>) -> Self {
        let mut joined =
            Self { lattice, bindings: Vec::new(), known: FxHashSet::default(), groups: Vec::new() };
        let bottom = lattice.bottom();
        joined.known.insert(bottom.clone());
        joined.push(bottom);
        joined
    }

    /// The bindings, in the order in which they were found.
    pub fn bindings(&self) -> &[Binding] {
        &self.bindings
    }

    /// An event is about this: adds what it makes with the others. `false` if that would be more than `most`.
    pub fn add(&mut self, about: &Binding, most: usize) -> bool {
        if self.known.contains(about) {
            return true;
        }
        let own = mask(about);
        let mut fresh: Vec<Binding> = Vec::new();
        for group in &mut self.groups {
            for &number in group.agreeing(about, own, &self.bindings) {
                let Some(join) = self.lattice.join(about, &self.bindings[number as usize]) else { continue };
                if !self.known.contains(&join) {
                    self.known.insert(join.clone());
                    fresh.push(join);
                    if self.bindings.len() + fresh.len() > most {
                        return false;
                    }
                }
            }
        }
        fresh.into_iter().for_each(|binding| self.push(binding));
        true
    }

    fn push(&mut self, binding: Binding) {
        let (own, number) = (mask(&binding), self.bindings.len() as u32);
        let place = self.groups.iter().position(|group| group.mask == own).unwrap_or_else(|| {
            self.groups.push(Group { mask: own, numbers: Vec::new(), indices: Vec::new() });
            self.groups.len() - 1
        });
        let group = &mut self.groups[place];
        group.numbers.push(number);
        for (variables, index) in &mut group.indices {
            index.entry(project(&binding, *variables)).or_default().push(number);
        }
        self.bindings.push(binding);
    }
}

impl Group {
    /// Those that agree with a binding on what both bind.
    fn agreeing(&mut self, about: &Binding, own: u64, bindings: &[Binding]) -> &[u32] {
        let common = self.mask & own;
        if common == 0 {
            return &self.numbers;
        }
        let place =
            self.indices.iter().position(|(variables, _)| *variables == common).unwrap_or_else(|| {
                let mut index = Index::default();
                for &number in &self.numbers {
                    index.entry(project(&bindings[number as usize], common)).or_default().push(number);
                }
                self.indices.push((common, index));
                self.indices.len() - 1
            });
        self.indices[place].1.get(&project(about, common)).map_or(&[], Vec::as_slice)
    }
}

/// Where events happen, by what they are about.
#[derive(Clone, Debug, Default)]
pub struct Occurrences {
    masks: Vec<u64>,
    positions: FxHashMap<Binding, Vec<usize>>,
}

impl Occurrences {
    /// An event happens at a position, none before an earlier one; whether it is the first about this.
    pub fn push(&mut self, position: usize, about: &Binding) -> bool {
        if let Some(positions) = self.positions.get_mut(about) {
            if positions.last() != Some(&position) {
                positions.push(position);
            }
            return false;
        }
        let own = mask(about);
        if !self.masks.contains(&own) {
            self.masks.push(own);
        }
        self.positions.insert(about.clone(), vec![position]);
        true
    }

    /// The slice of a binding: the positions of events about parts of it.
    pub fn slice(&self, binding: &Binding) -> Vec<usize> {
        let own = mask(binding);
        let mut found: Vec<&[usize]> = Vec::new();
        for &part in self.masks.iter().filter(|&&part| part & !own == 0) {
            let bound =
                |(variable, object): (usize, &Option<Object>)| object.filter(|_| part >> variable & 1 == 1);
            let about = Binding(binding.0.iter().enumerate().map(bound).collect());
            found.extend(self.positions.get(&about).map(Vec::as_slice));
        }
        match found.as_slice() {
            [] => Vec::new(),
            [one] => one.to_vec(),
            several => {
                let mut all: Vec<usize> = several.iter().flat_map(|part| part.iter().copied()).collect();
                // Runs that are sorted already are merged.
                all.sort();
                all.dedup();
                all
            }
        }
    }
}
