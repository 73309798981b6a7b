//! The records of the bindings of one domain, in pieces that never move, with intrusive lists by some of their values.
//!
//! A record is a few words: the state with what was told, perhaps the time of creation, perhaps which things are dead, which lists it
//! is in, the values, and the next record of each list. Lists are linked one way: a record that no longer belongs to one is taken
//! out when the list is walked, or when everything is swept.

use crate::shape::{DomainShape, IndexShape};
use crate::values::NONE;
use hashbrown::HashTable;

/// A record is in use.
pub(crate) const USED: u32 = 1 << 20;
/// Nothing is ever reported of it again.
pub(crate) const SPENT: u32 = 1 << 19;
/// The state in the first word.
pub(crate) const STATE: u32 = 0xffff;
/// Records in a piece.
const PIECE: usize = 1 << 10;

#[derive(Clone, Debug)]
enum Heads {
    One(u32),
    Dense(Vec<u32>),
    Table(HashTable<u32>),
}

/// The bindings of one domain.
#[derive(Clone, Debug)]
pub(crate) struct Slab {
    stride: usize,
    pieces: Vec<Box<[u32]>>,
    /// Records that were ever in use.
    len: usize,
    free: Vec<u32>,
    heads: Vec<Heads>,
    /// Records in use, and how many of them are spent.
    pub used: usize,
    pub spent: usize,
}

#[inline]
fn hash(key: impl Iterator<Item = u32>) -> u64 {
    let mut hash = 0u64;
    for value in key {
        hash = (hash.rotate_left(26) ^ u64::from(value)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    hash ^ hash >> 32
}

impl Slab {
    pub fn new(shape: &DomainShape) -> Self {
        let mut slab = Self {
            stride: shape.stride,
            pieces: Vec::new(),
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
            1 => Heads::Dense(Vec::new()),
            _ => Heads::Table(HashTable::new()),
        };
        self.heads = shape.indexes.iter().map(heads).collect();
    }

    #[inline]
    pub fn word(&self, id: u32, place: usize) -> u32 {
        self.pieces[id as usize / PIECE][id as usize % PIECE * self.stride + place]
    }

    #[inline]
    pub fn word_mut(&mut self, id: u32, place: usize) -> &mut u32 {
        &mut self.pieces[id as usize / PIECE][id as usize % PIECE * self.stride + place]
    }

    /// The number of a binding's `nth` value.
    #[inline]
    pub fn value(&self, shape: &DomainShape, id: u32, nth: usize) -> u32 {
        if shape.direct { id } else { self.word(id, shape.values + nth) }
    }

    /// Whether the only value with this number has a record.
    #[inline]
    pub fn direct(&self, id: u32) -> u32 {
        match self.pieces.get(id as usize / PIECE) {
            Some(piece) if piece[id as usize % PIECE * self.stride] & USED != 0 => id,
            _ => NONE,
        }
    }

    /// Records in use.
    pub fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len as u32).filter(|&id| self.word(id, 0) & USED != 0)
    }

    fn grow_to(&mut self, len: usize) {
        while self.pieces.len() * PIECE < len {
            self.pieces.push(vec![0; PIECE * self.stride].into_boxed_slice());
        }
        self.len = self.len.max(len);
    }

    /// A new record of these values, in no list yet.
    pub fn add(&mut self, shape: &DomainShape, values: &[u32]) -> u32 {
        let id = match shape.direct {
            true => values.first().copied().unwrap_or(0),
            false => self.free.pop().unwrap_or(self.len as u32),
        };
        self.grow_to(id as usize + 1);
        for place in 0..self.stride {
            *self.word_mut(id, place) = 0;
        }
        if !shape.direct {
            for (nth, &value) in values.iter().enumerate() {
                *self.word_mut(id, shape.values + nth) = value;
            }
        }
        *self.word_mut(id, 0) = USED;
        self.used += 1;
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
            Heads::Dense(heads) => heads.get(key[0] as usize).copied().unwrap_or(NONE),
            Heads::Table(table) => {
                let same = |&id: &u32| self.key(shape, index, id).eq(key.iter().copied());
                table.find(hash(key.iter().copied()), same).copied().unwrap_or(NONE)
            }
        }
    }

    /// Puts another record first, or takes the key out.
    fn set_head(&mut self, shape: &DomainShape, index: usize, key: &[u32], head: u32) {
        let mut heads = std::mem::replace(&mut self.heads[index], Heads::One(NONE));
        match &mut heads {
            Heads::One(own) => *own = head,
            Heads::Dense(heads) => {
                let place = key[0] as usize;
                if place >= heads.len() {
                    heads.resize(place + 1, NONE);
                }
                heads[place] = head;
            }
            Heads::Table(table) => {
                let same = |&id: &u32| self.key(shape, index, id).eq(key.iter().copied());
                let rehash = |&id: &u32| hash(self.key(shape, index, id));
                match table.entry(hash(key.iter().copied()), same, rehash) {
                    hashbrown::hash_table::Entry::Occupied(entry) if head == NONE => drop(entry.remove()),
                    hashbrown::hash_table::Entry::Occupied(mut entry) => *entry.get_mut() = head,
                    hashbrown::hash_table::Entry::Vacant(entry) if head != NONE => drop(entry.insert(head)),
                    hashbrown::hash_table::Entry::Vacant(_) => {}
                }
            }
        }
        self.heads[index] = heads;
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
            let first = self.head(shape, index, key);
            *self.word_mut(id, Self::link(shape, index)) = first;
            self.set_on(shape, index, id, true);
        }
        self.set_head(shape, index, key, id);
    }

    /// Puts a record in the lists that its state asks for.
    pub fn enter_all(&mut self, shape: &DomainShape, id: u32, fixed: bool) {
        let word = self.word(id, 0);
        for (index, own) in shape.indexes.iter().enumerate() {
            let needs = own.needs.get((word & STATE) as usize).copied().unwrap_or(false);
            if own.fixed && fixed || !own.fixed && needs && word & SPENT == 0 {
                self.enter(shape, index, id);
            }
        }
    }

    /// Takes a record out of a list: the one before it is given, or it is the first.
    pub fn leave(&mut self, shape: &DomainShape, index: usize, key: &[u32], before: u32, id: u32) {
        let next = self.word(id, Self::link(shape, index));
        match before {
            NONE => self.set_head(shape, index, key, next),
            before => *self.word_mut(before, Self::link(shape, index)) = next,
        }
        self.set_on(shape, index, id, false);
    }

    /// Drops the records that are not kept, and links the others anew.
    pub fn rebuild(&mut self, shape: &DomainShape, kept: impl Fn(&Self, u32) -> bool) {
        self.clear_heads(shape);
        self.free.clear();
        (self.used, self.spent) = (0, 0);
        for id in (0..self.len as u32).rev() {
            if self.word(id, 0) & USED == 0 || !kept(self, id) {
                *self.word_mut(id, 0) = 0;
                if !shape.direct {
                    self.free.push(id);
                }
                continue;
            }
            for place in shape.on..shape.values {
                *self.word_mut(id, place) = 0;
            }
            self.used += 1;
            self.spent += usize::from(self.word(id, 0) & SPENT != 0);
            self.enter_all(shape, id, true);
        }
    }

    /// Bytes held, about.
    pub fn heap_bytes(&self) -> usize {
        let heads = |heads: &Heads| match heads {
            Heads::One(_) => 0,
            Heads::Dense(heads) => heads.capacity() * 4,
            Heads::Table(table) => table.capacity() * 8 / 7 * 5,
        };
        self.pieces.len() * PIECE * self.stride * 4
            + self.heads.iter().map(heads).sum::<usize>()
            + self.free.capacity() * 4
    }
}
