//! What a projection asks of a trace that is made of events alone: names to look for, and what each slot makes of them.

use super::line::by_rows;
use crate::slots::{Others, arities};
use crate::{
    BlockBatch, Exact, Projection, RowSource, TraceError, TraceWarning, Vocabulary, describe, expect_of,
};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tw_core::{Batch, Bits, Column, Dictionary, Time, Value};
use tw_ir::{Expect, What};

/// The distinct names of a projection and what was seen of them so far.
pub(super) struct Wanted {
    /// The projection.
    pub(super) projection: Projection,
    /// Names, each once.
    pub(super) names: Table,
    /// For each slot that is about a name, which.
    pub(super) name_of_slot: Vec<Option<usize>>,
    /// For each name, the slots that also look at arguments.
    pub(super) patterns: Vec<Vec<usize>>,
    /// For each name, how many arguments its events have, where that is known.
    pub(super) exact: Vec<Option<Exact>>,
    /// For each name, the numbers of arguments that it is asked for with, as bits; all where no slot says it.
    pub(super) arities: Vec<u64>,
    vocabulary: Mutex<Vocabulary>,
}

/// Bytes at the start of a block searched for names to suggest, as long as a wanted name has not occurred.
pub(super) const SAMPLE: usize = 16 << 10;

impl Wanted {
    /// The names of `projection`.
    pub(super) fn new(projection: &Projection) -> Self {
        let mut names: Vec<String> = Vec::new();
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let name_of_slot: Vec<Option<usize>> = projection
            .slots
            .iter()
            .map(|slot| match &slot.what {
                What::Variable(path, expect) if *expect != Expect::Bool || path.has_each() => None,
                what => {
                    let name = describe(what);
                    Some(*numbers.entry(name).or_insert_with_key(|name| {
                        names.push(name.clone());
                        names.len() - 1
                    }))
                }
            })
            .collect();
        let mut patterns = vec![Vec::new(); names.len()];
        for (slot, name) in name_of_slot.iter().enumerate() {
            if let (Some(name), true) = (name, looks_at_arguments(&projection.slots[slot].what)) {
                patterns[*name].push(slot);
            }
        }
        let vocabulary = Mutex::new(Vocabulary::new(projection.slots.len()));
        let exact = |name: &String| projection.exact.iter().find(|exact| exact.name == *name).cloned();
        let exact = names.iter().map(exact).collect();
        let asked = arities(projection);
        let arities = names.iter().map(|name| asked.get(name).copied().unwrap_or(u64::MAX)).collect();
        let (projection, names) = (projection.clone(), Table::new(names));
        Self { projection, names, name_of_slot, patterns, exact, arities, vocabulary }
    }

    fn vocabulary(&self) -> MutexGuard<'_, Vocabulary> {
        // What another thread noted before it died is still true.
        self.vocabulary.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes which names a block of `positions` positions had. `sample` calls its argument with names of the block, for
    /// suggestions; it is asked only while a wanted name has yet to occur.
    pub(super) fn note(
        &self,
        positions: usize,
        (seen, others): (&[bool], &[Others]),
        sample: impl FnOnce(&mut dyn FnMut(&str)),
    ) {
        self.vocabulary().merge(&self.noted(positions, (seen, others)));
        if self.misses() {
            let mut names = Vocabulary::new(self.name_of_slot.len());
            sample(&mut |name| {
                if !names.events.contains(name) {
                    names.events.insert(Arc::from(name));
                }
            });
            self.vocabulary().merge(&names);
        }
    }

    /// What is to be noted of a block of `positions` positions that had these names.
    pub(super) fn noted(&self, positions: usize, (seen, others): (&[bool], &[Others])) -> Vocabulary {
        let mut mine = Vocabulary::new(self.name_of_slot.len());
        mine.positions = positions as u64;
        mine.has_events = seen.contains(&true);
        for (event, name) in mine.event.iter_mut().zip(&self.name_of_slot) {
            *event = name.is_some_and(|name| seen[name]);
        }
        for (name, others) in self.names.names().iter().zip(others) {
            if others.count > 0 {
                mine.others.insert(name.as_str().into(), *others);
            }
        }
        mine
    }

    /// Whether a wanted name has yet to occur.
    pub(super) fn misses(&self) -> bool {
        let all = self.vocabulary();
        self.name_of_slot.iter().zip(&all.event).any(|(name, seen)| name.is_some() && !seen)
    }

    /// Reads a block by way of rows instead: it has an error, or something a fast path does not know.
    pub(super) fn by_rows(
        &self,
        source: &mut dyn RowSource,
        timed: bool,
        any_order: bool,
    ) -> Result<BlockBatch, TraceError> {
        let (batch, vocabulary) = by_rows(source, &self.projection, timed, any_order)?;
        self.vocabulary().merge(&vocabulary);
        Ok(batch)
    }

    /// What was seen so far.
    pub(super) fn seen(&self) -> Vocabulary {
        self.vocabulary().clone()
    }

    /// Adds what was seen elsewhere.
    pub(super) fn absorb(&self, seen: &Vocabulary) {
        self.vocabulary().merge(seen);
    }

    /// After the last block.
    pub(super) fn finish(&self) -> Result<Vec<TraceWarning>, TraceError> {
        self.vocabulary().judge(&self.projection, true)
    }

    /// The batch of a block: `column` gives that of a slot about a name, all others are null.
    pub(super) fn batch(
        &self,
        len: usize,
        times: Option<Vec<Time>>,
        mut column: impl FnMut(usize) -> Column,
    ) -> Batch {
        let mut slots: Vec<Column> = self
            .projection
            .slots
            .iter()
            .enumerate()
            .map(|(slot, what)| match self.name_of_slot[slot] {
                Some(_) => column(slot),
                None => nulls(expect_of(&what.what), len),
            })
            .collect();
        slots.extend(self.projection.key.as_ref().map(|_| nulls(Expect::Text, len)));
        Batch { len, slots, times: times.filter(|_| self.projection.times) }
    }
}

/// Whether a slot is about more than the name of an event.
pub(super) fn looks_at_arguments(what: &What) -> bool {
    match what {
        What::Event { arguments, arity, .. } => !arguments.is_empty() || arity.is_some(),
        What::Tuples { .. } => true,
        What::Proposition(_)
        | What::Variable(..)
        | What::Timing(_)
        | What::Stream { .. }
        | What::Shift(_)
        | What::Window(_) => false,
    }
}

/// A column of nulls.
fn nulls(expect: Expect, len: usize) -> Column {
    let valid = Bits::repeat(false, len);
    match expect {
        Expect::Bool => Column::Truth(valid),
        Expect::Number | Expect::Real | Expect::Int => Column::Int { values: vec![0; len], valid },
        Expect::Text | Expect::Line => {
            Column::Text { ids: vec![0; len], dictionary: Dictionary::default(), valid }
        }
        Expect::Any => Column::Any(vec![Value::Null; len]),
    }
}

/// Names by their bytes: open addressing on length and first eight bytes, far more places than names.
pub(super) struct Table {
    names: Vec<String>,
    keys: Vec<(u64, usize)>,
    /// Index of a name, plus one; zero is a free place.
    places: Vec<u32>,
    shift: u32,
}

impl Table {
    fn new(names: Vec<String>) -> Self {
        let bits = (names.len() * 8).next_power_of_two().trailing_zeros().max(4);
        let keys: Vec<(u64, usize)> =
            names.iter().map(|name| (prefix(name.as_bytes(), 0, name.len()), name.len())).collect();
        let mut table = Self { names, keys, places: vec![0; 1 << bits], shift: 64 - bits };
        for (index, &(prefix, len)) in table.keys.iter().enumerate() {
            let mut place = hash(prefix, len, table.shift);
            while table.places[place] != 0 {
                place = (place + 1) & (table.places.len() - 1);
            }
            table.places[place] = index as u32 + 1;
        }
        table
    }

    /// The names.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Which name `text[start..start + len]` is.
    #[inline(always)]
    pub(super) fn find(&self, text: &[u8], start: usize, len: usize) -> Option<usize> {
        let prefix = prefix(text, start, len);
        let mut place = hash(prefix, len, self.shift);
        loop {
            let index = (self.places[place] as usize).checked_sub(1)?;
            if self.keys[index] == (prefix, len)
                && (len <= 8 || self.names[index].as_bytes()[8..] == text[start + 8..start + len])
            {
                return Some(index);
            }
            place = (place + 1) & (self.places.len() - 1);
        }
    }
}

#[inline(always)]
fn hash(prefix: u64, len: usize, shift: u32) -> usize {
    ((prefix ^ (len as u64) << 56).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> shift) as usize
}

/// The first eight bytes as a number, zeros beyond `len`.
#[inline(always)]
fn prefix(text: &[u8], start: usize, len: usize) -> u64 {
    match text.get(start..start + 8) {
        Some(eight) => {
            let word = u64::from_le_bytes(eight.try_into().expect("eight bytes"));
            if len >= 8 { word } else { word & ((1 << (8 * len)) - 1) }
        }
        None => {
            let mut eight = [0; 8];
            let len = len.min(8);
            eight[..len].copy_from_slice(&text[start..start + len]);
            u64::from_le_bytes(eight)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_wherever_they_stand() {
        let names: Vec<String> = ["", "a", "b", "ab", "abcdefgh", "abcdefghi", "abcdefghj", "é", "a\0"]
            .iter()
            .map(|name| name.to_string())
            .chain((0..200).map(|i| format!("event_{i}")))
            .collect();
        let table = Table::new(names.clone());
        for (index, name) in names.iter().enumerate() {
            for text in [format!("xy{name}"), format!("xy{name} and much more text")] {
                assert_eq!(table.find(text.as_bytes(), 2, name.len()), Some(index), "{name}");
            }
        }
        for other in ["c", "abc", "abcdefg", "abcdefghk", "event_200", "event_1 "] {
            assert_eq!(table.find(other.as_bytes(), 0, other.len()), None, "{other}");
        }
    }
}
