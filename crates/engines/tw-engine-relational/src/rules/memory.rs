//! What rules remember: rows with times, the values that are left of a key, how long a table was, and facts that windows see.

use super::formula::EVER;
use super::steps::{Kind, Watched};
use super::table::{Stamp, Table};
use crate::answers::in_order;
use crate::key::Key;
use std::collections::VecDeque;
use tw_core::{Column, Position, Relation, Time};
use tw_ir::Ticks;

/// A position for those who read tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) at: Position,
    pub(crate) time: Time,
    /// The time of the position before.
    pub(crate) before: Time,
}

/// Rows that lie end to end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flat {
    pub(crate) keys: Vec<Key>,
    pub(crate) rows: usize,
}

impl Flat {
    pub(crate) fn push<'k>(&mut self, keys: impl Iterator<Item = &'k Key>) {
        self.keys.extend(keys.cloned());
        self.rows += 1;
    }

    /// The events at a position as rows of these columns; of some that take whole numbers alone.
    pub(crate) fn push_events(&mut self, relation: &Relation, place: usize, columns: &[(usize, bool)]) {
        'events: for number in relation.tuples(place) {
            let before = self.keys.len();
            for (column, whole) in columns {
                if let Column::Int { values, .. } = &relation.columns()[*column] {
                    self.keys.push(Key::Int(values[number]));
                    continue;
                }
                match Key::of(&relation.columns()[*column], number) {
                    Some(key) if !whole || key.is_whole() => self.keys.push(key),
                    _ => {
                        self.keys.truncate(before);
                        continue 'events;
                    }
                }
            }
            self.rows += 1;
        }
    }

    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        self.rows = 0;
    }

    /// Takes the rows of another, which are as wide.
    pub(crate) fn append(&mut self, other: &mut Flat) {
        if self.rows == 0 {
            std::mem::swap(self, other);
        } else {
            self.keys.append(&mut other.keys);
            self.rows += std::mem::take(&mut other.rows);
        }
    }

    /// Shows the rows, each once.
    pub(crate) fn distinct(&self, mut see: impl FnMut(&[Key])) {
        if self.rows == 1 {
            return see(&self.keys);
        }
        let mut all: Vec<usize> = (0..self.rows).collect();
        all.sort_by(|a, b| in_order(self.row(*a).iter(), self.row(*b).iter()));
        all.dedup_by(|a, b| self.row(*a) == self.row(*b));
        all.into_iter().for_each(|at| see(self.row(at)));
    }

    #[inline]
    pub(crate) fn row(&self, at: usize) -> &[Key] {
        // Mostly there is one, and dividing takes longer than all else here.
        if self.rows == 1 {
            return &self.keys;
        }
        let arity = self.keys.len() / self.rows.max(1);
        &self.keys[at * arity..(at + 1) * arity]
    }
}

/// A queue that grows by pieces.
#[derive(Clone, Debug)]
pub(crate) struct Queue<T> {
    blocks: VecDeque<VecDeque<T>>,
    len: usize,
}

const BLOCK: usize = 1 << 10;

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self { blocks: VecDeque::new(), len: 0 }
    }
}

impl<T> Queue<T> {
    pub(crate) fn push(&mut self, it: T) {
        if self.blocks.back().is_none_or(|block| block.len() >= BLOCK) {
            // The first block grows with what it holds; later ones are made whole.
            let room = if self.blocks.is_empty() { 0 } else { BLOCK };
            self.blocks.push_back(VecDeque::with_capacity(room));
        }
        if let Some(block) = self.blocks.back_mut() {
            block.push_back(it);
            self.len += 1;
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn front(&self) -> Option<&T> {
        self.blocks.front()?.front()
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        let block = self.blocks.front_mut()?;
        let it = block.pop_front();
        self.len -= usize::from(it.is_some());
        if block.is_empty() && self.blocks.len() > 1 {
            self.blocks.pop_front();
        }
        it
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.blocks.iter().flatten()
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.blocks.iter().map(|block| block.capacity() * std::mem::size_of::<T>()).sum()
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Memory {
    Finite(Finite),
    Signed(Signed),
    AsOf(AsOf),
}

#[derive(Clone, Debug)]
pub(crate) struct Finite {
    pub(crate) table: Table,
    ticks: Ticks,
    previous: bool,
    /// What comes in at this position, and what goes.
    pub(crate) inserts: Flat,
    pub(crate) deletes: Vec<(Option<usize>, Flat)>,
    pub(crate) clear: bool,
    /// Rows that are too young to be seen.
    pub(crate) young: Queue<(Box<[Key]>, Stamp)>,
    /// Rows that came or went at this position, if somebody asks.
    pub(crate) changed: Option<Flat>,
}

impl Finite {
    /// Where rows that go are put, by what they are found.
    #[inline]
    pub(crate) fn deleted(&mut self, index: Option<usize>) -> &mut Flat {
        let own = self.deletes.iter().position(|(own, _)| *own == index);
        let own = own.unwrap_or_else(|| {
            self.deletes.push((index, Flat::default()));
            self.deletes.len() - 1
        });
        &mut self.deletes[own].1
    }

    /// Whether a row with this stamp is seen here, or was at the position before.
    #[inline]
    pub(crate) fn sees(&self, stamp: Stamp, before: bool, now: Now) -> bool {
        if self.previous {
            return stamp.at + 1 == now.at;
        }
        let time = if before { now.before } else { now.time };
        self.ticks.high == EVER || time.saturating_sub(stamp.time) <= self.ticks.high
    }

    #[inline]
    pub(crate) fn has<'k>(
        &self,
        keys: impl Iterator<Item = &'k Key> + Clone,
        before: bool,
        now: Now,
    ) -> bool {
        self.table.find(keys).is_some_and(|row| self.sees(self.table.stamp(row), before, now))
    }

    fn commit(&mut self, now: Now) {
        if let Some(changed) = &mut self.changed {
            changed.clear();
        }
        let ages = self.previous || self.ticks.high != EVER || self.ticks.low > 0;
        if !ages
            && self.inserts.rows == 0
            && !self.clear
            && self.deletes.iter().all(|(_, rows)| rows.rows == 0)
        {
            return;
        }
        if std::mem::take(&mut self.clear) {
            if let Some(changed) = &mut self.changed {
                self.table.all().for_each(|row| changed.push(self.table.row(row).iter()));
            }
            self.table.clear();
        }
        for (index, rows) in &mut self.deletes {
            for at in 0..rows.rows {
                let key = rows.row(at);
                // Of those that an index holds equal, one after the other until there is none.
                while let Some(row) = match index {
                    Some(index) => self.table.matching(*index, key.iter()).last().copied(),
                    None => self.table.find(key.iter()),
                } {
                    if let Some(changed) = &mut self.changed {
                        changed.push(self.table.row(row).iter());
                    }
                    self.table.remove(row);
                    if index.is_none() {
                        break;
                    }
                }
            }
            rows.clear();
        }
        let stamp = Stamp { time: now.time, at: now.at };
        let count = self.inserts.rows;
        for at in 0..count {
            let row = self.inserts.row(at);
            if self.ticks.low > 0 {
                self.young.push((row.into(), stamp));
            } else if self.table.put(row, stamp).1
                && let Some(changed) = &mut self.changed
            {
                changed.push(row.iter());
            }
        }
        self.inserts.clear();
        if self.ticks.low > 0 {
            while let Some((_, stamp)) = self.young.front()
                && now.time.saturating_sub(stamp.time) >= self.ticks.low
            {
                let Some((row, stamp)) = self.young.pop() else { break };
                self.table.put(&row, stamp);
            }
        }
        let (high, previous) = (self.ticks.high, self.previous);
        if previous {
            self.table.sweep(1 + 2 * count, |stamp| stamp.at < now.at);
        } else if high != EVER {
            self.table.sweep(1 + 2 * count, |stamp| now.time.saturating_sub(stamp.time) > high);
        }
    }
}

/// Of each key the values that are left.
#[derive(Clone, Debug)]
pub(crate) struct Signed {
    pub(crate) keys: Table,
    pub(crate) left: Vec<Vec<Key>>,
    pub(crate) narrows: Vec<(Box<[Key]>, Vec<Key>)>,
    pub(crate) changed: Option<Flat>,
}

impl Signed {
    /// The values that are left of a key, if some are not.
    pub(crate) fn of<'k>(&self, key: impl Iterator<Item = &'k Key> + Clone) -> Option<&[Key]> {
        self.keys.find(key).map(|row| &*self.left[row as usize])
    }

    fn commit(&mut self, now: Now) {
        if let Some(changed) = &mut self.changed {
            changed.clear();
        }
        for (key, values) in self.narrows.drain(..) {
            let (row, new) = self.keys.put(&key, Stamp { time: now.time, at: now.at });
            let row = row as usize;
            if new {
                self.left.resize(self.left.len().max(row + 1), Vec::new());
                self.left[row] = values;
            } else {
                let before = self.left[row].len();
                self.left[row].retain(|own| values.contains(own));
                if self.left[row].len() == before {
                    continue;
                }
            }
            if let Some(changed) = &mut self.changed {
                changed.push(key.iter());
            }
        }
    }
}

/// Of each key how many rows another table had.
#[derive(Clone, Debug)]
pub(crate) struct AsOf {
    pub(crate) of: usize,
    pub(crate) keys: Table,
    pub(crate) lengths: Vec<u32>,
    pub(crate) stamps: Vec<(Box<[Key]>, u32)>,
}

impl AsOf {
    pub(crate) fn length<'k>(&self, key: impl Iterator<Item = &'k Key> + Clone) -> u32 {
        self.keys.find(key).map_or(0, |row| self.lengths[row as usize])
    }

    pub(crate) fn set(&mut self, key: &[Key], length: u32, stamp: Stamp) {
        let row = self.keys.put(key, stamp).0 as usize;
        self.lengths.resize(self.lengths.len().max(row + 1), 0);
        self.lengths[row] = self.lengths[row].max(length);
    }
}

impl Memory {
    pub(crate) fn new(kind: &Kind, watched: bool) -> Self {
        let changed = watched.then(Flat::default);
        match kind {
            Kind::Finite { arity, ticks, previous, indexes, .. } => Memory::Finite(Finite {
                table: Table::new(*arity, indexes),
                ticks: *ticks,
                previous: *previous,
                inserts: Flat::default(),
                deletes: Vec::new(),
                clear: false,
                young: Queue::default(),
                changed,
            }),
            Kind::Signed { key, .. } => {
                let (left, narrows) = Default::default();
                Memory::Signed(Signed { keys: Table::new(key.len(), &[]), left, narrows, changed })
            }
            Kind::AsOf { of, key, .. } => {
                let (lengths, stamps) = Default::default();
                Memory::AsOf(AsOf { of: *of, keys: Table::new(key.len(), &[]), lengths, stamps })
            }
        }
    }

    /// Takes in what the rules of this position have found.
    pub(crate) fn commit(&mut self, now: Now) {
        match self {
            Memory::Finite(finite) => finite.commit(now),
            Memory::Signed(signed) => signed.commit(now),
            Memory::AsOf(as_of) => {
                for (key, length) in std::mem::take(&mut as_of.stamps) {
                    as_of.set(&key, length, Stamp { time: now.time, at: now.at });
                }
            }
        }
    }

    pub(crate) fn changed(&self) -> Option<&Flat> {
        match self {
            Memory::Finite(finite) => finite.changed.as_ref(),
            Memory::Signed(signed) => signed.changed.as_ref(),
            Memory::AsOf(_) => None,
        }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Memory::Finite(finite) => {
                let young = finite.young.len() * finite.table.arity() * std::mem::size_of::<Key>();
                finite.table.heap_bytes() + finite.young.heap_bytes() + young
            }
            Memory::Signed(signed) => {
                let left: usize = signed.left.iter().map(|left| left.capacity() * 24 + 24).sum();
                signed.keys.heap_bytes() + left
            }
            Memory::AsOf(as_of) => as_of.keys.heap_bytes() + as_of.lengths.capacity() * 4,
        }
    }
}

/// The facts that a window looks for.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// The last of each kind, for those who look back.
    pub(crate) table: Option<Table>,
    /// What has become known and is not told yet.
    pub(crate) fresh: Fresh,
    low: i64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Fresh {
    pub(crate) rows: Flat,
    pub(crate) stamps: Vec<Stamp>,
}

impl Facts {
    pub(crate) fn new(watched: &Watched) -> Self {
        let table = watched.looks_back().then(|| Table::new(watched.arity, &[]));
        Self { table, fresh: Fresh::default(), low: watched.window.low }
    }

    /// Keeps a fact for those who look back, and forgets some that nobody can see any more.
    pub(crate) fn keep(&mut self, row: &[Key], stamp: Stamp, now: Time) {
        let Some(table) = &mut self.table else { return };
        table.put(row, stamp);
        let oldest = now.saturating_add(self.low);
        table.sweep(3, |stamp| stamp.time < oldest);
    }
}
