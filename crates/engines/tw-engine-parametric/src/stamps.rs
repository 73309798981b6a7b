//! When events about some things last happened.

use crate::dense::Dense;
use crate::table::Table;

/// Rows of a piece.
const PIECE: usize = 1 << 10;

/// Of each key the time of the last event about it; zero is never.
#[derive(Clone, Debug)]
pub(crate) enum Stamps {
    /// Keys are single things, or nothing.
    One(Dense<0>),
    Many(Rows),
}

/// Keys with their times, in pieces that never move.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    width: usize,
    pieces: Vec<Box<[u32]>>,
    len: usize,
    table: Table,
}

/// Mixes the words of a key.
#[inline]
pub(crate) fn hash(key: impl Iterator<Item = u32>) -> u32 {
    let mut hash = 0u64;
    for value in key {
        hash = (hash.rotate_left(26) ^ u64::from(value)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    (hash >> 32) as u32
}

impl Rows {
    fn new(parameters: usize) -> Self {
        Self { width: parameters + 1, pieces: Vec::new(), len: 0, table: Table::default() }
    }

    /// A key and its time.
    fn row(&self, number: u32) -> &[u32] {
        &self.pieces[number as usize / PIECE][number as usize % PIECE * self.width..][..self.width]
    }

    fn find(&self, hash: u32, key: &[u32]) -> u32 {
        self.table.find(hash, |own| self.row(own)[..key.len()] == *key)
    }

    fn set(&mut self, key: &[u32], time: u32) {
        let hash = hash(key.iter().copied());
        let mut number = self.find(hash, key) as usize;
        if number == crate::values::NONE as usize {
            number = self.len;
            if number == self.pieces.len() * PIECE {
                self.pieces.push(vec![0; PIECE * self.width].into_boxed_slice());
            }
            self.len += 1;
            self.table.add(hash, number as u32);
        }
        let row = &mut self.pieces[number / PIECE][number % PIECE * self.width..][..self.width];
        row[..key.len()].copy_from_slice(key);
        row[key.len()] = time;
    }
}

impl Stamps {
    pub fn new(parameters: usize) -> Self {
        match parameters {
            0 | 1 => Stamps::One(Dense::default()),
            several => Stamps::Many(Rows::new(several)),
        }
    }

    #[inline]
    pub fn get(&self, key: &[u32]) -> u32 {
        match self {
            Stamps::One(times) => times.get(key.first().copied().unwrap_or(0)),
            Stamps::Many(rows) => match rows.find(hash(key.iter().copied()), key) {
                crate::values::NONE => 0,
                number => rows.row(number)[key.len()],
            },
        }
    }

    /// Looks at the times of keys, so that they are near when they are asked for.
    pub fn ask_ahead<'r>(&self, keys: impl Iterator<Item = &'r [u32]>) {
        if let Stamps::One(times) = self {
            std::hint::black_box(
                keys.fold(0, |seen, key| seen ^ times.get(key.first().copied().unwrap_or(0))),
            );
        }
    }

    #[inline]
    pub fn set(&mut self, key: &[u32], time: u32) {
        match self {
            Stamps::One(times) => times.set(key.first().copied().unwrap_or(0), time),
            Stamps::Many(rows) => rows.set(key, time),
        }
    }

    /// Every key with its time.
    pub fn all(&self) -> Vec<(Vec<u32>, u32)> {
        match self {
            Stamps::One(times) => times.iter().map(|(key, time)| (vec![key], time)).collect(),
            Stamps::Many(rows) => {
                let row = |number: usize| {
                    let (time, key) = rows.row(number as u32).split_last()?;
                    Some((key.to_vec(), *time))
                };
                (0..rows.len).filter_map(row).collect()
            }
        }
    }

    /// Forgets the keys that are not kept.
    pub fn retain(&mut self, kept: impl Fn(&[u32]) -> bool) {
        match self {
            Stamps::One(times) => times.retain(|key, _| kept(&[key])),
            Stamps::Many(rows) => {
                let parameters = rows.width - 1;
                let all = self.all();
                if all.iter().all(|(key, _)| kept(key)) {
                    return;
                }
                let mut rows = Rows::new(parameters);
                all.iter().filter(|(key, _)| kept(key)).for_each(|(key, time)| rows.set(key, *time));
                *self = Stamps::Many(rows);
            }
        }
    }

    /// How many values it names, at most.
    pub fn names(&self) -> usize {
        match self {
            Stamps::One(times) => times.room(),
            Stamps::Many(rows) => rows.len * (rows.width - 1),
        }
    }

    pub fn heap_bytes(&self) -> usize {
        match self {
            Stamps::One(times) => times.heap_bytes(),
            Stamps::Many(rows) => rows.pieces.len() * PIECE * rows.width * 4 + rows.table.heap_bytes(),
        }
    }
}
