//! What rules remember as bytes, for another process to go on.

use super::memory::Memory;
use super::runner::{Row, Runner};
use super::table::{Stamp, Table};
use crate::gate::Plan;
use crate::key::Key;
use crate::save::Saved;
use std::sync::Arc;
use tw_core::Position;
use tw_core::codec::{Corrupt, put, put_signed, take, take_len, take_signed};

impl Saved for Stamp {
    fn save(&self, out: &mut Vec<u8>) {
        put_signed(self.time, out);
        put(self.at as u64, out);
    }

    fn load(from: &mut &[u8]) -> Result<Self, Corrupt> {
        Ok(Stamp { time: take_signed(from)?, at: take(from)? as Position })
    }
}

fn save_keys(keys: &[Key], out: &mut Vec<u8>) {
    put(keys.len() as u64, out);
    keys.iter().for_each(|key| key.save(out));
}

fn load_keys(from: &mut &[u8]) -> Result<Vec<Key>, Corrupt> {
    (0..take_len(from)?).map(|_| Key::load(from)).collect()
}

/// The values of a row, of which there must be so many.
fn load_row(from: &mut &[u8], arity: usize) -> Result<Vec<Key>, Corrupt> {
    let row = load_keys(from)?;
    if row.len() == arity {
        Ok(row)
    } else {
        Err(Corrupt("the saved state has rows of another width".into()))
    }
}

/// Rows in the order of their places: those of tables that only grow are numbered alike when they are read.
fn save_table(table: &Table, out: &mut Vec<u8>) {
    put(table.len() as u64, out);
    for row in table.all() {
        save_keys(table.row(row), out);
        table.stamp(row).save(out);
    }
}

fn load_table(table: &mut Table, from: &mut &[u8]) -> Result<(), Corrupt> {
    for _ in 0..take_len(from)? {
        let row = load_row(from, table.arity())?;
        table.put(&row, Stamp::load(from)?);
    }
    Ok(())
}

impl Memory {
    fn save(&self, out: &mut Vec<u8>) {
        match self {
            Memory::Finite(finite) => {
                save_table(&finite.table, out);
                put(finite.young.len() as u64, out);
                for (row, stamp) in finite.young.iter() {
                    save_keys(row, out);
                    stamp.save(out);
                }
            }
            Memory::Signed(signed) => {
                save_table(&signed.keys, out);
                signed.keys.all().for_each(|row| save_keys(&signed.left[row as usize], out));
            }
            Memory::AsOf(as_of) => {
                save_table(&as_of.keys, out);
                as_of.keys.all().for_each(|row| put(u64::from(as_of.lengths[row as usize]), out));
            }
        }
    }

    fn load(&mut self, from: &mut &[u8]) -> Result<(), Corrupt> {
        match self {
            Memory::Finite(finite) => {
                load_table(&mut finite.table, from)?;
                for _ in 0..take_len(from)? {
                    let row = load_row(from, finite.table.arity())?;
                    finite.young.push((row.into(), Stamp::load(from)?));
                }
            }
            Memory::Signed(signed) => {
                load_table(&mut signed.keys, from)?;
                signed.left = (0..signed.keys.len()).map(|_| load_keys(from)).collect::<Result<_, _>>()?;
            }
            Memory::AsOf(as_of) => {
                load_table(&mut as_of.keys, from)?;
                let length = |from: &mut &[u8]| Ok(take(from)? as u32);
                as_of.lengths =
                    (0..as_of.keys.len()).map(|_| length(from)).collect::<Result<_, Corrupt>>()?;
            }
        }
        Ok(())
    }
}

impl Runner {
    pub(crate) fn save(&self, out: &mut Vec<u8>) {
        put(self.len as u64, out);
        put_signed(self.before, out);
        self.bits.iter().for_each(|bit| put(u64::from(*bit), out));
        self.tables.iter().for_each(|table| table.save(out));
        self.windows.iter().filter_map(|own| own.table.as_ref()).for_each(|table| save_table(table, out));
        for waiting in &self.waiting {
            // In the order of their times, so that queues are made again as they were.
            let mut rows: Vec<u32> = waiting.table.all().collect();
            rows.sort_by_key(|row| waiting.table.stamp(*row).at);
            put(rows.len() as u64, out);
            for row in rows {
                save_keys(waiting.table.row(row), out);
                waiting.table.stamp(row).save(out);
                put(waiting.numbers.get(row) as u64, out);
                put(u64::from(waiting.done.get(row)), out);
            }
        }
        for standing in &self.standing {
            put(standing.rows.len() as u64, out);
            standing.rows.iter().for_each(|row| save_keys(row, out));
        }
        for outbox in &self.outboxes {
            put(outbox.open.len() as u64, out);
            for (about, (time, rows)) in &outbox.open {
                put(*about as u64, out);
                put_signed(*time, out);
                put(rows.len() as u64, out);
                rows.iter().for_each(|row| save_keys(row, out));
            }
        }
    }

    pub(crate) fn load(&mut self, plan: &Plan, from: &mut &[u8]) -> Result<(), Corrupt> {
        self.len = take(from)? as Position;
        self.before = take_signed(from)?;
        for bit in &mut self.bits {
            *bit = take(from)? == 1;
        }
        for table in &mut self.tables {
            table.load(from)?;
        }
        for table in self.windows.iter_mut().filter_map(|own| own.table.as_mut()) {
            load_table(table, from)?;
        }
        for number in 0..self.waiting.len() {
            for _ in 0..take_len(from)? {
                let row = load_row(from, self.waiting[number].table.arity())?;
                let stamp = Stamp::load(from)?;
                let (about, done) = (take(from)? as Position, take(from)? as u32);
                self.register(plan, number, &row, stamp, about, done);
            }
        }
        let rows = |from: &mut &[u8]| -> Result<Vec<Row>, Corrupt> {
            (0..take_len(from)?).map(|_| Ok(load_keys(from)?.into())).collect()
        };
        for standing in &mut self.standing {
            standing.rows = Arc::new(rows(from)?);
        }
        for outbox in &mut self.outboxes {
            for _ in 0..take_len(from)? {
                let (about, time) = (take(from)? as Position, take_signed(from)?);
                outbox.open.insert(about, (time, rows(from)?));
            }
        }
        Ok(())
    }
}
