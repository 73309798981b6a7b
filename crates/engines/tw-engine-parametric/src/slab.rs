//! The records of the bindings of one domain, in pieces that never move, with intrusive lists by some of their values.
//!
//! A record is a few words: of each monitor that shares it the state with what was told, perhaps the time of creation, perhaps which
//! things are dead, which lists it is in, the values, and the next record of each list. Lists are linked one way: a record that no
//! longer belongs to one is taken out when the list is walked, or when everything is swept.

use crate::dense::Dense;
use crate::group::Group;
use crate::shape::{DomainShape, IndexShape};
use crate::stamps::hash;
use crate::table::Table;
use crate::values::NONE;

/// A record is in use (in its first word).
pub(crate) const USED: u32 = 1 << 20;
/// Nothing is ever reported of it again.
pub(crate) const SPENT: u32 = 1 << 19;
/// The state in a word.
pub(crate) const STATE: u32 = 0xffff;
/// Words of records from which on it is worth asking ahead: fewer are near anyway.
const FAR: usize = 1 << 16;
/// Records in a piece.
const PIECE: usize = 1 << 10;

#[derive(Clone, Debug)]
enum Heads {
    One(u32),
    Dense(Dense<NONE>),
    /// With the hash and the number that were asked for last.
    Table(Table, (u32, u32)),
}

/// Records, by number.
#[derive(Clone, Debug)]
struct Records {
    stride: usize,
    /// Of records that are found by number, some pieces may never be needed: those are empty.
    pieces: Vec<Box<[u32]>>,
}

impl Records {
    #[inline]
    fn get(&self, id: u32) -> &[u32] {
        &self.pieces[id as usize / PIECE][id as usize % PIECE * self.stride..][..self.stride]
    }

    /// Whether a record has this key in an index. Only indexes by several values ask, whose records hold them.
    #[inline]
    fn has(&self, shape: &DomainShape, index: &IndexShape, id: u32, key: &[u32]) -> bool {
        let values = &self.get(id)[shape.values..];
        match index.exact {
            true => values.iter().zip(key).all(|(value, own)| value == own),
            false => index.places.iter().zip(key).all(|(&place, &own)| values[place] == own),
        }
    }
}

/// The bindings of one domain.
#[derive(Clone, Debug)]
pub(crate) struct Slab {
    records: Records,
    /// Pieces that are there.
    held: usize,
    /// Records that were ever in use.
    len: usize,
    free: Vec<u32>,
    heads: Vec<Heads>,
    /// Records in use, and how many of them are spent with dead things.
    pub used: usize,
    pub spent: usize,
}

impl Slab {
    pub fn new(shape: &DomainShape) -> Self {
        let mut slab = Self {
            records: Records { stride: shape.stride, pieces: Vec::new() },
            held: 0,
            len: 0,
            free: Vec::new(),
            heads: Vec::new(),
            used: 0,
            spent: 0,
        };
        slab.clear_heads(shape);
        slab
    }

    fn clear_heads(&mut self, shape: &DomainShape) {
        let heads = |index: &IndexShape| match index.places.len() {
            0 => Heads::One(NONE),
            1 => Heads::Dense(Dense::default()),
            _ => Heads::Table(Table::default(), (0, NONE)),
        };
        self.heads = shape.indexes.iter().map(heads).collect();
    }

    #[inline]
    pub fn record(&self, id: u32) -> &[u32] {
        self.records.get(id)
    }

    #[inline]
    pub fn record_mut(&mut self, id: u32) -> &mut [u32] {
        let stride = self.records.stride;
        &mut self.records.pieces[id as usize / PIECE][id as usize % PIECE * stride..][..stride]
    }

    #[inline]
    pub fn word(&self, id: u32, place: usize) -> u32 {
        self.records.pieces[id as usize / PIECE][id as usize % PIECE * self.records.stride + place]
    }

    #[inline]
    pub fn word_mut(&mut self, id: u32, place: usize) -> &mut u32 {
        &mut self.records.pieces[id as usize / PIECE][id as usize % PIECE * self.records.stride + place]
    }

    /// The number of a binding's `nth` value.
    #[inline]
    pub fn value(&self, shape: &DomainShape, id: u32, nth: usize) -> u32 {
        if shape.direct { id } else { self.word(id, shape.values + nth) }
    }

    /// Whether the only value with this number has a record.
    #[inline]
    pub fn direct(&self, id: u32) -> u32 {
        match self.records.pieces.get(id as usize / PIECE) {
            Some(piece)
                if piece
                    .get(id as usize % PIECE * self.records.stride)
                    .is_some_and(|word| word & USED != 0) =>
            {
                id
            }
            _ => NONE,
        }
    }

    /// The first word of the record of the only value with this number, if it has one.
    #[inline]
    pub fn direct_word(&mut self, id: u32) -> Option<&mut u32> {
        let piece = self.records.pieces.get_mut(id as usize / PIECE)?;
        piece.get_mut(id as usize % PIECE * self.records.stride).filter(|word| **word & USED != 0)
    }

    /// Records in use.
    pub fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        let pieces = self.records.pieces.iter().enumerate();
        let ids = pieces.flat_map(|(piece, words)| {
            let first = words.chunks_exact(self.records.stride).map(|record| record[0]).enumerate();
            first.map(move |(nth, word)| ((piece * PIECE + nth) as u32, word))
        });
        ids.filter(|(_, word)| word & USED != 0).map(|(id, _)| id)
    }

    #[cold]
    fn make_room(&mut self, id: usize) {
        let piece = id / PIECE;
        if self.records.pieces.len() <= piece {
            self.records.pieces.resize_with(piece + 1, Default::default);
        }
        self.records.pieces[piece] = vec![0; PIECE * self.records.stride].into_boxed_slice();
        self.held += 1;
    }

    /// A new record of these values, in no list yet.
    pub fn add(&mut self, shape: &DomainShape, values: &[u32]) -> u32 {
        let id = match shape.direct {
            true => values.first().copied().unwrap_or(0),
            false => self.free.pop().unwrap_or(self.len as u32),
        };
        if self.records.pieces.get(id as usize / PIECE).is_none_or(|piece| piece.is_empty()) {
            self.make_room(id as usize);
        }
        self.len = self.len.max(id as usize + 1);
        self.used += 1;
        let record = self.record_mut(id);
        record.fill(0);
        if !shape.direct {
            record[shape.values..][..values.len()].copy_from_slice(values);
        }
        record[0] = USED;
        id
    }

    /// The key of a record in an index.
    #[inline]
    fn key<'a>(&'a self, shape: &'a DomainShape, index: usize, id: u32) -> impl Iterator<Item = u32> + 'a {
        shape.indexes[index].places.iter().map(move |&place| self.value(shape, id, place))
    }

    /// The first record with these values.
    #[inline]
    pub fn head(&self, shape: &DomainShape, index: usize, key: &[u32]) -> u32 {
        match &self.heads[index] {
            Heads::One(head) => *head,
            Heads::Dense(heads) => heads.get(key[0]),
            Heads::Table(table, _) => {
                let same = |id: u32| self.records.has(shape, &shape.indexes[index], id, key);
                table.find(hash(key.iter().copied()), same)
            }
        }
    }

    /// The same, where the key that was asked for last is likely to be asked for again.
    #[inline]
    pub fn likely_head(&mut self, shape: &DomainShape, index: usize, key: &[u32]) -> u32 {
        match &mut self.heads[index] {
            Heads::One(head) => *head,
            Heads::Dense(heads) => heads.get(key[0]),
            Heads::Table(table, last) => {
                let same = |id: u32| self.records.has(shape, &shape.indexes[index], id, key);
                let hash = hash(key.iter().copied());
                if last.0 != hash || last.1 == NONE || !same(last.1) {
                    *last = (hash, table.find(hash, same));
                }
                last.1
            }
        }
    }

    /// Looks at the heads and the first records that these keys will ask for; without an index, at the records of values.
    pub fn ask_ahead<'r>(
        &self,
        shape: &DomainShape,
        index: Option<usize>,
        rows: impl Iterator<Item = &'r [u32]>,
        asked: &mut Vec<u32>,
    ) {
        if self.used * self.records.stride < FAR {
            return;
        }
        asked.clear();
        match index.map(|index| &self.heads[index]) {
            None => asked.extend(rows.map(|row| row.first().copied().unwrap_or(0))),
            Some(Heads::One(_)) => return,
            Some(Heads::Dense(heads)) => asked.extend(rows.map(|row| heads.get(row[0]))),
            Some(Heads::Table(table, _)) => {
                asked.extend(rows.map(|row| table.guess(hash(row.iter().copied()))));
            }
        }
        let mut seen = 0;
        for &id in asked.iter() {
            let piece = self.records.pieces.get(id as usize / PIECE);
            let word = piece
                .and_then(|piece| piece.get(id as usize % PIECE * self.records.stride + shape.links - 1));
            seen ^= word.copied().unwrap_or(0);
        }
        std::hint::black_box(seen);
    }

    /// Puts another record first, or takes the key out; the record that was first.
    fn set_head(&mut self, shape: &DomainShape, index: usize, key: &[u32], head: u32) -> u32 {
        match &mut self.heads[index] {
            Heads::One(own) => std::mem::replace(own, head),
            Heads::Dense(heads) => heads.replace(key[0], head),
            Heads::Table(table, last) => {
                let own = &shape.indexes[index];
                let hash = hash(key.iter().copied());
                let same = |id: u32| self.records.has(shape, own, id, key);
                *last = (hash, head);
                match head {
                    NONE => {
                        table.remove(hash, same);
                        NONE
                    }
                    // A binding is there once.
                    _ if own.exact => {
                        table.add(hash, head);
                        NONE
                    }
                    _ => table.set(hash, head, same),
                }
            }
        }
    }

    /// The place of an index's link.
    #[inline]
    fn link(shape: &DomainShape, index: usize) -> usize {
        shape.links + index - usize::from(!shape.direct)
    }

    /// Whether a record is in the list of an index.
    fn is_on(&self, shape: &DomainShape, index: usize, id: u32) -> bool {
        let bit = index - usize::from(!shape.direct);
        self.word(id, shape.on + bit / 32) >> (bit % 32) & 1 == 1
    }

    fn set_on(&mut self, shape: &DomainShape, index: usize, id: u32, on: bool) {
        let bit = index - usize::from(!shape.direct);
        let word = self.word_mut(id, shape.on + bit / 32);
        *word = *word & !(1 << (bit % 32)) | u32::from(on) << (bit % 32);
    }

    /// The record after one in a list.
    #[inline]
    pub fn next(&self, shape: &DomainShape, index: usize, id: u32) -> u32 {
        match shape.indexes[index].exact {
            true => NONE,
            false => self.word(id, Self::link(shape, index)),
        }
    }

    /// Puts a record first in the list of an index, unless it is there.
    fn enter(&mut self, shape: &DomainShape, index: usize, id: u32) {
        let mut key = [0u32; 32];
        let mut len = 0;
        for value in self.key(shape, index, id) {
            key[len] = value;
            len += 1;
        }
        let key = &key[..len];
        if !shape.indexes[index].exact {
            if self.is_on(shape, index, id) {
                return;
            }
            let first = self.set_head(shape, index, key, id);
            *self.word_mut(id, Self::link(shape, index)) = first;
            return self.set_on(shape, index, id, true);
        }
        self.set_head(shape, index, key, id);
    }

    /// Puts a record in the lists that its states ask for; if it is new, also in those that all records are in.
    pub fn enter_all(&mut self, group: &Group, domain: usize, id: u32, new: bool) {
        let shape = &group.shape.domains[domain];
        if shape.indexes.is_empty() {
            return;
        }
        let needs = group.needs(domain, self.record(id));
        for (index, own) in shape.indexes.iter().enumerate() {
            let enters = if own.fixed { new } else { needs >> index & 1 == 1 };
            if enters {
                self.enter(shape, index, id);
            }
        }
    }

    /// Takes a record out of a list: the one before it is given, or it is the first.
    pub fn leave(&mut self, shape: &DomainShape, index: usize, key: &[u32], before: u32, id: u32) {
        let next = self.word(id, Self::link(shape, index));
        match before {
            NONE => drop(self.set_head(shape, index, key, next)),
            before => *self.word_mut(before, Self::link(shape, index)) = next,
        }
        self.set_on(shape, index, id, false);
    }

    /// Drops the records that are not kept, and links the others anew.
    pub fn rebuild(&mut self, group: &Group, domain: usize, kept: impl Fn(&Self, u32) -> bool) {
        let shape = &group.shape.domains[domain];
        self.clear_heads(shape);
        self.free.clear();
        (self.used, self.spent) = (0, 0);
        for id in (0..self.len as u32).rev() {
            if self.records.pieces[id as usize / PIECE].is_empty() {
                continue;
            }
            if self.word(id, 0) & USED == 0 || !kept(self, id) {
                *self.word_mut(id, 0) = 0;
                if !shape.direct {
                    self.free.push(id);
                }
                continue;
            }
            self.record_mut(id)[shape.on..shape.values].fill(0);
            self.used += 1;
            self.spent += usize::from(group.is_spent(self.record(id)));
            self.enter_all(group, domain, id, true);
        }
    }

    /// Bytes held, about.
    pub fn heap_bytes(&self) -> usize {
        let heads = |heads: &Heads| match heads {
            Heads::One(_) => 0,
            Heads::Dense(heads) => heads.heap_bytes(),
            Heads::Table(table, _) => table.heap_bytes(),
        };
        self.held * PIECE * self.records.stride * 4
            + self.records.pieces.capacity() * size_of::<Box<[u32]>>()
            + self.heads.iter().map(heads).sum::<usize>()
            + self.free.capacity() * 4
    }
}
