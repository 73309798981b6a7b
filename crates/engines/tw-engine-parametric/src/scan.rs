//! What happens at a stretch of positions, slot by slot, put in the order of positions.

use std::ops::Range;
use tw_core::{Batch, Column, Value};

/// Where a slot has few events, one look skips so many positions; further looks narrow the place of an event down to so few.
const BLOCK: usize = 128;
const NEAR: usize = 32;
/// Nothing happens at a position.
const NOTHING: u32 = u32::MAX;
/// More happens than one tuple.
const SEVERAL: u32 = u32::MAX - 1;

/// The tuples of a slot at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Happening {
    /// The position in the batch.
    pub position: u32,
    /// What the slot is called.
    pub slot: u32,
    first: u32,
    last: u32,
}

impl Happening {
    /// The numbers of the tuples.
    pub fn tuples(&self) -> Range<usize> {
        self.first as usize..self.last as usize
    }
}

/// What happens at a stretch of positions. Kept for its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scan {
    /// The first of them.
    from: usize,
    /// Of each position the slot and the tuple.
    spots: Vec<(u32, u32)>,
    /// What happens where it is more than one tuple, by position.
    several: Vec<Happening>,
    /// Positions of a slot's events.
    places: Vec<u32>,
}

/// What is done with what happens.
pub(crate) trait Take {
    /// One tuple at a position.
    fn one(&mut self, slot: usize, tuple: usize, position: usize);
    /// What else happens at a position, by slot.
    fn several(&mut self, happenings: &[Happening]);
}

/// The tuples of a column at a stretch of positions.
pub(crate) fn tuples(column: &Column, positions: &Range<usize>) -> Range<usize> {
    match column {
        Column::Tuples(relation) => {
            let starts = relation.starts();
            starts[positions.start] as usize..starts[positions.end] as usize
        }
        _ => 0..0,
    }
}

impl Scan {
    /// Reads slots, each with what it is to be called, at a stretch of positions; whether something happens there. Beside a slot may stand which of its tuples
    /// count, ascending, the first of the stretch being 0; positions with several tuples do in any case.
    pub fn read<'w>(
        &mut self,
        batch: &Batch,
        slots: impl Iterator<Item = (usize, usize, Option<&'w [u32]>)>,
        positions: Range<usize>,
    ) -> bool {
        self.from = positions.start;
        let mut any = false;
        for (place, slot, wanted) in slots {
            let place = place as u32;
            match &batch.slots[slot] {
                Column::Tuples(relation) => {
                    let starts = &relation.starts()[positions.start..=positions.end];
                    let (first, last) = (starts[0], starts[positions.len()]);
                    if first == last {
                        continue;
                    }
                    self.clear(&mut any, positions.len());
                    match (last - first) as usize * 8 > positions.len() {
                        true => self.dense(place, starts, wanted),
                        false => self.sparse(place, starts, wanted),
                    }
                }
                Column::Truth(bits) => {
                    let next = |at: usize| bits.find(true, at).filter(|&at| at < positions.end);
                    let mut at = next(positions.start);
                    while let Some(position) = at {
                        self.clear(&mut any, positions.len());
                        self.put(place, position - positions.start, 0, 1);
                        at = next(position + 1);
                    }
                }
                other => {
                    for position in positions.clone().filter(|&at| other.value(at) == Value::Bool(true)) {
                        self.clear(&mut any, positions.len());
                        self.put(place, position - positions.start, 0, 1);
                    }
                }
            }
        }
        self.several.sort_unstable();
        any
    }

    /// Before the first thing that happens.
    fn clear(&mut self, any: &mut bool, positions: usize) {
        if !std::mem::replace(any, true) {
            self.spots.clear();
            self.spots.resize(positions, (NOTHING, 0));
            self.several.clear();
        }
    }

    /// A slot with events at many positions.
    fn dense(&mut self, slot: u32, starts: &[u32], wanted: Option<&[u32]>) {
        // Which position is next is not to be guessed: all are written, and those where nothing starts are written over.
        let mut places = std::mem::take(&mut self.places);
        places.resize(starts.len(), 0);
        let (mut count, mut before) = (0, starts[0]);
        for (at, &next) in starts[1..].iter().enumerate() {
            places[count] = at as u32;
            count += usize::from(next != before);
            before = next;
        }
        let all = places[..count].iter().map(|&at| at as usize);
        let first = starts[0];
        match wanted {
            None => all.for_each(|at| self.put(slot, at, starts[at], starts[at + 1])),
            Some(wanted) if count == (starts[starts.len() - 1] - first) as usize => {
                for &tuple in wanted {
                    self.put(slot, places[tuple as usize] as usize, first + tuple, first + tuple + 1);
                }
            }
            Some(mut wanted) => {
                all.for_each(|at| {
                    self.put_wanted(slot, at, first, (starts[at], starts[at + 1]), &mut wanted)
                });
            }
        }
        self.places = places;
    }

    /// A slot with events at few positions.
    fn sparse(&mut self, slot: u32, starts: &[u32], mut wanted: Option<&[u32]>) {
        let mut from = 0;
        for block in starts[1..].chunks(BLOCK) {
            let mut next = starts[from];
            while next != block[block.len() - 1] {
                // Starts ascend: the position is as far as those that are not beyond the tuple.
                let (mut part, mut at) = (block, from);
                while part.len() > NEAR {
                    let (low, high) = part.split_at(part.len() / 2);
                    let beyond = low[low.len() - 1] > next;
                    at += if beyond { 0 } else { low.len() };
                    part = if beyond { low } else { high };
                }
                at += part.iter().map(|&start| u32::from(start <= next)).sum::<u32>() as usize;
                let end = starts[at + 1];
                match &mut wanted {
                    None => self.put(slot, at, next, end),
                    Some(wanted) => self.put_wanted(slot, at, starts[0], (next, end), wanted),
                }
                next = end;
            }
            from += block.len();
        }
    }

    /// Puts tuples if they count; those before them are taken from what does.
    fn put_wanted(
        &mut self,
        slot: u32,
        at: usize,
        base: u32,
        (first, last): (u32, u32),
        wanted: &mut &[u32],
    ) {
        let passed = wanted.iter().take_while(|own| **own < first - base).count();
        *wanted = &wanted[passed..];
        if last - first > 1 || wanted.first() == Some(&(first - base)) {
            self.put(slot, at, first, last);
        }
    }

    #[inline]
    fn put(&mut self, slot: u32, at: usize, first: u32, last: u32) {
        let spot = &mut self.spots[at];
        if spot.0 == NOTHING && last - first == 1 {
            *spot = (slot, first);
        } else {
            self.put_beside(slot, at, first, last);
        }
    }

    #[cold]
    fn put_beside(&mut self, slot: u32, at: usize, first: u32, last: u32) {
        let position = (self.from + at) as u32;
        let (before, tuple) = std::mem::replace(&mut self.spots[at], (SEVERAL, 0));
        if before != SEVERAL && before != NOTHING {
            self.several.push(Happening { position, slot: before, first: tuple, last: tuple + 1 });
        }
        self.several.push(Happening { position, slot, first, last });
    }

    /// Goes through what happens, position by position.
    #[inline]
    pub fn each(&mut self, take: &mut impl Take) {
        // As in `dense`.
        self.places.resize(self.spots.len() + 1, 0);
        let mut count = 0;
        for (at, &(slot, _)) in self.spots.iter().enumerate() {
            self.places[count] = at as u32;
            count += usize::from(slot != NOTHING);
        }
        let mut rest = &self.several[..];
        for &at in &self.places[..count] {
            let position = self.from + at as usize;
            match self.spots[at as usize] {
                (SEVERAL, _) => {
                    let own = rest.iter().take_while(|own| own.position as usize == position).count();
                    take.several(&rest[..own]);
                    rest = &rest[own..];
                }
                (slot, tuple) => take.one(slot as usize, tuple as usize, position),
            }
        }
    }
}

/// The same as a list.
impl Take for Vec<Happening> {
    fn one(&mut self, slot: usize, tuple: usize, position: usize) {
        let (position, slot, first) = (position as u32, slot as u32, tuple as u32);
        self.push(Happening { position, slot, first, last: first + 1 });
    }

    fn several(&mut self, happenings: &[Happening]) {
        self.extend_from_slice(happenings);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tw_core::{Bits, Relation};
    use tw_testkit::Rng;

    /// Against a look at every position, for slots with many events, few, and truth values.
    #[test]
    fn what_happens_is_found_in_order() {
        for seed in 0..200 {
            let random = &mut Rng::new(seed);
            let len = 1 + random.below(400);
            let slot = |random: &mut Rng| {
                let rare = 1 + random.below(150);
                if random.one_in(4) {
                    return Column::Truth((0..len).fold(Bits::new(), |mut bits, _| {
                        bits.push(random.one_in(rare));
                        bits
                    }));
                }
                let mut starts = vec![0u32];
                for at in 0..len {
                    let count = if random.one_in(rare) { 1 + random.below(2) as u32 } else { 0 };
                    starts.push(starts[at] + count);
                }
                let values: Vec<i64> = (0..i64::from(starts[len])).collect();
                let column = Column::Int { valid: Bits::repeat(true, values.len()), values };
                Column::Tuples(Relation::new(starts, vec![column]))
            };
            let slots: Vec<Column> = (0..1 + random.below(4)).map(|_| slot(random)).collect();
            let batch = Batch { len, slots, times: None };
            let from = random.below(len);
            let to = from + random.below(len - from + 1);
            let mut expected = Vec::new();
            for position in from..to {
                for (slot, column) in batch.slots.iter().enumerate() {
                    let (first, last) = match column {
                        Column::Tuples(relation) => {
                            let own = relation.tuples(position);
                            (own.start as u32, own.end as u32)
                        }
                        truth => (0, u32::from(truth.value(position) == Value::Bool(true))),
                    };
                    if first < last {
                        expected.push(Happening {
                            position: position as u32,
                            slot: slot as u32,
                            first,
                            last,
                        });
                    }
                }
            }
            let mut found = Vec::new();
            let mut scan = Scan::default();
            let any = scan.read(&batch, (0..batch.slots.len()).map(|slot| (slot, slot, None)), from..to);
            assert_eq!(any, !expected.is_empty());
            if any {
                scan.each(&mut found);
            }
            assert_eq!(found, expected, "seed {seed}");
        }
    }
}
