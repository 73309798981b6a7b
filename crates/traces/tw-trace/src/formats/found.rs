//! What a block held of the events that a projection asks for, in a trace that is made of events with arguments.

use super::masks::words_for;
use super::wanted::{Wanted, looks_at_arguments};
use crate::slots::{Cells, Others, TupleBuilder, arity_bit, meets};
use tw_core::{Bits, Column};
use tw_ir::What;

/// The columns of a block under construction.
pub(super) struct Found {
    /// For each name, whether it occurred.
    seen: Vec<bool>,
    /// For each name, the events with a number of arguments that nobody asks for.
    others: Vec<Others>,
    /// For each name, a bit per position where it occurs.
    names: Vec<Vec<u64>>,
    /// For each slot, what its pattern makes of arguments.
    slots: Vec<Pattern>,
}

enum Pattern {
    /// Its name is all there is to it.
    Name,
    /// A bit per position where arguments meet it.
    Truth(Vec<u64>),
    Tuples(TupleBuilder),
}

impl Found {
    /// Nothing, of at most so many positions.
    pub(super) fn new(wanted: &Wanted, positions: usize) -> Self {
        let names = wanted.names.names().len();
        let pattern = |what: &What| match TupleBuilder::of(what, positions) {
            Some(tuples) => Pattern::Tuples(tuples),
            None if looks_at_arguments(what) => Pattern::Truth(words_for(positions)),
            None => Pattern::Name,
        };
        Self {
            seen: vec![false; names],
            others: vec![Others::default(); names],
            names: (0..names).map(|_| words_for(positions)).collect(),
            slots: wanted.projection.slots.iter().map(|slot| pattern(&slot.what)).collect(),
        }
    }

    /// Notes an event of a wanted name; `None` if rows must say what is wrong with it.
    #[inline(always)]
    pub(super) fn event(
        &mut self,
        wanted: &Wanted,
        name: usize,
        position: usize,
        cells: &impl Cells,
    ) -> Option<()> {
        let (word, bit) = (position / 64, 1 << (position % 64));
        self.seen[name] = true;
        self.names[name][word] |= bit;
        if wanted.exact[name].as_ref().is_some_and(|exact| !exact.allows(cells.len())) {
            return None;
        }
        if wanted.arities[name] & arity_bit(cells.len()) == 0 {
            self.others[name].note(cells.len());
        }
        for &slot in &wanted.patterns[name] {
            let what = &wanted.projection.slots[slot].what;
            match (&mut self.slots[slot], what) {
                (Pattern::Tuples(tuples), what) => tuples.push_cells(position, what, cells)?,
                (Pattern::Truth(words), What::Event { arguments, arity, .. }) => {
                    words[word] |= if meets(arguments, *arity, cells)? { bit } else { 0 };
                }
                _ => {}
            }
        }
        Some(())
    }

    /// What is to be noted: for each name whether it occurred, and with what arguments that nobody asks for.
    pub(super) fn noted(&self) -> (&[bool], &[Others]) {
        (&self.seen, &self.others)
    }

    /// Takes the column of a slot about a name.
    pub(super) fn column(&mut self, wanted: &Wanted, slot: usize, len: usize) -> Column {
        let words = match std::mem::replace(&mut self.slots[slot], Pattern::Name) {
            Pattern::Tuples(tuples) => return Column::Tuples(tuples.finish(len)),
            Pattern::Truth(words) => words,
            Pattern::Name => wanted.name_of_slot[slot].map_or(Vec::new(), |name| self.names[name].clone()),
        };
        Column::Truth(Bits::from_words(words, len))
    }
}
