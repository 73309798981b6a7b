//! Rows of values with the last time that each was put there, found by all their values or by some of them.
//!
//! Storage grows by pieces, so that no event pays for the rows of others: rows lie in chunks, and places in parts. A row takes
//! 24 bytes per value and 32 more; each further index 4 and about 20.

use super::places::Places;
use crate::key::Key;
use tw_core::{Position, Time};

const CHUNK: usize = 1 << 10;

/// The hash of some values together.
#[inline]
pub(crate) fn hash<'k>(keys: impl Iterator<Item = &'k Key>) -> u64 {
    keys.fold(0, |hash: u64, key| (hash.rotate_left(23) ^ key.hash()).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// Something of every row of a table, by its number; grows by pieces, too.
#[derive(Clone, Debug)]
pub(crate) struct Beside<T> {
    chunks: Vec<Vec<T>>,
}

impl<T> Default for Beside<T> {
    fn default() -> Self {
        Self { chunks: Vec::new() }
    }
}

impl<T: Copy + Default> Beside<T> {
    pub(crate) fn get(&self, row: u32) -> T {
        self.chunks[row as usize / CHUNK][row as usize % CHUNK]
    }

    pub(crate) fn set(&mut self, row: u32, it: T) {
        let (chunk, at) = (row as usize / CHUNK, row as usize % CHUNK);
        while self.chunks.len() <= chunk {
            // As with rows, the first chunk grows with what it holds.
            let room = if self.chunks.is_empty() { 0 } else { CHUNK };
            self.chunks.push(Vec::with_capacity(room));
        }
        let chunk = &mut self.chunks[chunk];
        if chunk.len() <= at {
            chunk.resize(at + 1, T::default());
        }
        chunk[at] = it;
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.capacity() * std::mem::size_of::<T>()).sum()
    }
}

/// When a row was last put there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) time: Time,
    pub(crate) at: Position,
}

/// A stamp of a place that holds no row.
const FREE: Stamp = Stamp { time: Time::MIN, at: Position::MAX };

/// What is known of a row.
#[derive(Clone, Copy, Debug)]
struct Known {
    stamp: Stamp,
    /// The hash of its values; of a place that holds no row the next such place.
    hash: u64,
}

/// No further place is free.
const NONE: u64 = u64::MAX;

#[derive(Clone, Debug, Default)]
struct Chunk {
    keys: Vec<Key>,
    known: Vec<Known>,
    /// Of each row and index, where it stands among those that the index holds equal.
    backs: Vec<u32>,
}

#[inline]
fn row_of(chunks: &[Chunk], arity: usize, row: u32) -> &[Key] {
    let (chunk, at) = (row as usize / CHUNK, row as usize % CHUNK);
    &chunks[chunk].keys[at * arity..(at + 1) * arity]
}

/// The rows that one index holds equal.
#[derive(Clone, Debug)]
enum Equal {
    One(u32),
    Many(Vec<u32>),
}

impl Equal {
    #[inline]
    fn rows(&self) -> &[u32] {
        match self {
            Equal::One(row) => std::slice::from_ref(row),
            Equal::Many(rows) => rows,
        }
    }
}

#[derive(Clone, Debug)]
struct Index {
    columns: Vec<usize>,
    places: Places<Equal>,
}

#[derive(Clone, Debug)]
pub(crate) struct Table {
    arity: usize,
    chunks: Vec<Chunk>,
    /// Rows ever placed: those beyond have no place.
    end: u32,
    /// The first place that holds no row, and how many there are.
    free: u64,
    holes: u32,
    /// By all their values; `None` where nobody asks for them so.
    rows: Option<Places<u32>>,
    indexes: Vec<Index>,
    /// Where the search for rows that may go stands.
    hand: u32,
}

impl Table {
    pub(crate) fn new(arity: usize, indexes: &[Vec<usize>]) -> Self {
        let index = |columns: &Vec<usize>| Index { columns: columns.clone(), places: Places::default() };
        let indexes = indexes.iter().map(index).collect();
        let (chunks, rows) = (Vec::new(), Some(Places::default()));
        Self { arity, chunks, end: 0, free: NONE, holes: 0, rows, indexes, hand: 0 }
    }

    /// For rows that are found by indexes alone, and may be there several times.
    pub(crate) fn of_all(arity: usize, indexes: &[Vec<usize>]) -> Self {
        Self { rows: None, ..Self::new(arity, indexes) }
    }

    pub(crate) fn arity(&self) -> usize {
        self.arity
    }

    pub(crate) fn len(&self) -> usize {
        (self.end - self.holes) as usize
    }

    /// Rows are numbered from 0 in the order in which they came, as long as none is removed.
    pub(crate) fn end(&self) -> u32 {
        self.end
    }

    #[inline]
    pub(crate) fn row(&self, row: u32) -> &[Key] {
        row_of(&self.chunks, self.arity, row)
    }

    #[inline]
    pub(crate) fn stamp(&self, row: u32) -> Stamp {
        self.chunks[row as usize / CHUNK].known[row as usize % CHUNK].stamp
    }

    /// The number of the row with these values.
    #[inline]
    pub(crate) fn find<'k>(&self, keys: impl Iterator<Item = &'k Key> + Clone) -> Option<u32> {
        let hash = hash(keys.clone());
        self.rows.as_ref()?.get(hash, |row| self.row(*row).iter().eq(keys.clone())).copied()
    }

    /// Puts a row there or renews its stamp; its number, and whether it is new.
    pub(crate) fn put(&mut self, keys: &[Key], stamp: Stamp) -> (u32, bool) {
        let hash = hash(keys.iter());
        let next = u32::try_from(self.free).unwrap_or(self.end);
        let Self { chunks, arity, rows: Some(rows), .. } = self else { return (self.add(keys, stamp), true) };
        let (row, new) = rows.find_or_insert(hash, |row| row_of(chunks, *arity, *row) == keys, || next);
        let row = *row;
        if !new {
            let own = &mut self.chunks[row as usize / CHUNK].known[row as usize % CHUNK].stamp;
            if (own.time, own.at) < (stamp.time, stamp.at) {
                *own = stamp;
            }
            return (row, false);
        }
        let placed = self.place(keys, stamp, hash);
        debug_assert_eq!(placed, row);
        for number in 0..self.indexes.len() {
            self.enter(number, row);
        }
        (row, true)
    }

    /// Puts a row there, beside others like it; its number.
    pub(crate) fn add(&mut self, keys: &[Key], stamp: Stamp) -> u32 {
        let row = self.place(keys, stamp, 0);
        for number in 0..self.indexes.len() {
            self.enter(number, row);
        }
        row
    }

    fn place(&mut self, keys: &[Key], stamp: Stamp, hash: u64) -> u32 {
        let (arity, indexes) = (self.arity, self.indexes.len());
        if let Ok(row) = u32::try_from(self.free) {
            let (chunk, at) = (row as usize / CHUNK, row as usize % CHUNK);
            let chunk = &mut self.chunks[chunk];
            chunk.keys[at * arity..(at + 1) * arity].clone_from_slice(keys);
            self.free = chunk.known[at].hash;
            self.holes -= 1;
            chunk.known[at] = Known { stamp, hash };
            return row;
        }
        if self.end as usize == self.chunks.len() * CHUNK {
            let mut chunk = Chunk::default();
            // The first grows with what it holds: many tables stay small.
            if !self.chunks.is_empty() {
                chunk.keys.reserve_exact(CHUNK * arity);
                chunk.known.reserve_exact(CHUNK);
                chunk.backs.reserve_exact(CHUNK * indexes);
            }
            self.chunks.push(chunk);
        }
        let chunk = &mut self.chunks[self.end as usize / CHUNK];
        chunk.keys.extend_from_slice(keys);
        chunk.known.push(Known { stamp, hash });
        chunk.backs.resize(chunk.backs.len() + indexes, 0);
        self.end += 1;
        self.end - 1
    }

    fn back(&mut self, row: u32, index: usize) -> &mut u32 {
        let indexes = self.indexes.len();
        &mut self.chunks[row as usize / CHUNK].backs[row as usize % CHUNK * indexes + index]
    }

    fn enter(&mut self, number: usize, row: u32) {
        let Self { chunks, indexes, arity, .. } = self;
        let of = |row: u32| row_of(chunks, *arity, row);
        let Index { columns, places } = &mut indexes[number];
        let own = of(row);
        let hash = hash(columns.iter().map(|column| &own[*column]));
        let is = |equal: &Equal| {
            let other = of(equal.rows()[0]);
            columns.iter().all(|column| other[*column] == own[*column])
        };
        let back = match places.find_or_insert(hash, is, || Equal::One(row)) {
            (_, true) => 0,
            (Equal::Many(rows), _) => {
                rows.push(row);
                rows.len() as u32 - 1
            }
            (one, _) => {
                let mut rows = Vec::with_capacity(4);
                rows.extend([one.rows()[0], row]);
                *one = Equal::Many(rows);
                1
            }
        };
        *self.back(row, number) = back;
    }

    pub(crate) fn remove(&mut self, row: u32) {
        let (chunk, at) = (row as usize / CHUNK, row as usize % CHUNK);
        for number in 0..self.indexes.len() {
            self.leave(number, row);
        }
        let hash = self.chunks[chunk].known[at].hash;
        if let Some(rows) = &mut self.rows {
            rows.change(hash, |own| *own == row, |_| false);
        }
        let arity = self.arity;
        let chunk = &mut self.chunks[chunk];
        chunk.keys[at * arity..(at + 1) * arity].fill(Key::Int(0));
        chunk.known[at] = Known { stamp: FREE, hash: self.free };
        self.free = u64::from(row);
        self.holes += 1;
    }

    fn leave(&mut self, number: usize, row: u32) {
        let back = *self.back(row, number) as usize;
        let Self { chunks, indexes, arity, .. } = self;
        let of = |row: u32| row_of(chunks, *arity, row);
        let Index { columns, places } = &mut indexes[number];
        let own = of(row);
        let hash = hash(columns.iter().map(|column| &own[*column]));
        let is = |equal: &Equal| {
            let other = of(equal.rows()[0]);
            columns.iter().all(|column| other[*column] == own[*column])
        };
        let mut moved = None;
        places.change(hash, is, |equal| {
            let Equal::Many(rows) = equal else { return false };
            rows.swap_remove(back);
            moved = rows.get(back).copied();
            // One that was many stays so: what comes and goes by twos would be made anew each time.
            !rows.is_empty()
        });
        if let Some(moved) = moved {
            *self.back(moved, number) = back as u32;
        }
    }

    /// The rows with these values in the columns of an index.
    #[inline]
    pub(crate) fn matching<'k>(&self, index: usize, keys: impl Iterator<Item = &'k Key> + Clone) -> &[u32] {
        let Index { columns, places } = &self.indexes[index];
        let hash = hash(keys.clone());
        let equal = places.get(hash, |equal| {
            let other = self.row(equal.rows()[0]);
            columns.iter().map(|column| &other[*column]).eq(keys.clone())
        });
        equal.map_or(&[], Equal::rows)
    }

    /// Whether a place holds a row.
    pub(crate) fn holds(&self, row: u32) -> bool {
        self.stamp(row) != FREE
    }

    /// The numbers of all rows.
    pub(crate) fn all(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.end).filter(|row| self.holds(*row))
    }

    pub(crate) fn clear(&mut self) {
        let columns: Vec<Vec<usize>> = self.indexes.iter().map(|index| index.columns.clone()).collect();
        *self =
            Table { rows: self.rows.as_ref().map(|_| Places::default()), ..Table::new(self.arity, &columns) };
    }

    /// Looks at some rows more, and removes those that may go.
    pub(crate) fn sweep(&mut self, count: usize, gone: impl Fn(Stamp) -> bool) {
        for _ in 0..count.min(self.end as usize) {
            if self.hand >= self.end {
                self.hand = 0;
            }
            let stamp = self.stamp(self.hand);
            if stamp != FREE && gone(stamp) {
                self.remove(self.hand);
            }
            self.hand += 1;
        }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        let chunk = |chunk: &Chunk| {
            chunk.keys.capacity() * std::mem::size_of::<Key>()
                + chunk.known.capacity() * std::mem::size_of::<Known>()
                + chunk.backs.capacity() * 4
        };
        let indexes = |index: &Index| index.places.heap_bytes();
        self.chunks.iter().map(chunk).sum::<usize>()
            + self.rows.as_ref().map_or(0, Places::heap_bytes)
            + self.indexes.iter().map(indexes).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn rows_are_found_by_all_and_by_some_of_their_values() {
        let mut random = 1u64;
        let mut table = Table::new(2, &[vec![0], vec![1]]);
        let mut plain: HashMap<(i64, i64), Time> = HashMap::new();
        for step in 0..60_000i64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (a, b) = ((random >> 40) as i64 % 90, (random >> 50) as i64 % 90);
            let row = [Key::Int(a), Key::Int(b)];
            if random >> 33 & 3 > 0 {
                let (_, new) = table.put(&row, Stamp { time: step, at: step as usize });
                assert_eq!(new, plain.insert((a, b), step).is_none());
            } else if let Some(found) = table.find(row.iter()) {
                table.remove(found);
                assert!(plain.remove(&(a, b)).is_some());
            } else {
                assert!(!plain.contains_key(&(a, b)));
            }
            assert_eq!(table.len(), plain.len());
            let key = [Key::Int(b)];
            let expected = plain.keys().filter(|(_, own)| *own == b).count();
            if step % 64 == 0 {
                for (index, column) in [(0, 0), (1, 1)] {
                    let found = table.matching(index, key.iter());
                    assert!(found.iter().all(|row| table.row(*row)[column] == key[0]));
                }
                assert_eq!(table.matching(1, key.iter()).len(), expected);
                assert_eq!(table.all().count(), plain.len());
            }
        }
        table.sweep(20_000, |stamp| stamp.time < 50_000);
        assert_eq!(table.len(), plain.values().filter(|time| **time >= 50_000).count());
    }
}
