//! Position after position, where equations look ahead a bounded distance.
//!
//! A derived slot with delay `d` is computed for a position when the `d`-th after it is there: then everything that it reads is
//! known, as long as no cycle looks ahead. At the end those that wait are computed with the defaults that stand beyond it.
//! Memory: the values that equations read, of as many positions as offsets and delays reach, and of each key as many as are looked
//! back to.

use crate::equation::Ends;
use crate::keys::{KEY, Keys, NONE, column_of};
use crate::windows::{self, Here, States};
use crate::{StreamError, Streams, absent};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use tw_core::codec::{
    Corrupt, put, put_signed, put_text, put_value, take, take_len, take_signed, take_text, take_value,
};
use tw_core::{Batch, Column, Time, Value};
use tw_ir::{Program, SlotId, What};

/// What is known before the first position.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How long each derived slot waits.
    delays: Vec<u64>,
    /// Derived slots in an order in which what is computed in the same step comes before who reads it.
    order: Vec<usize>,
    /// The longest wait.
    ahead: u64,
    /// Positions that are held.
    reach: usize,
    /// Slots that equations read, and the derived ones.
    slots: Vec<SlotId>,
    place: FxHashMap<SlotId, usize>,
    /// Of each slot, the shifts of it that count a key's positions.
    noted: FxHashMap<SlotId, Vec<usize>>,
}

/// Positions that wait, and what the next ones read of those before them.
#[derive(Clone, Debug, Default)]
pub struct Ahead {
    /// Positions that arrived.
    arrived: u64,
    /// The values of the latest of them.
    rows: VecDeque<Vec<Value>>,
    /// Their times, of a trace that has some.
    times: VecDeque<Time>,
    keys: Vec<Keys>,
    /// Of each column of keys, the first position of each.
    first: Vec<Vec<u64>>,
    /// Of each shift that counts a key's positions, the latest of them with what its source is there.
    last: Vec<Vec<VecDeque<(u64, Value)>>>,
    /// Of each derived slot that is a window, what it knows of each key.
    windows: Vec<States>,
}

impl Streams {
    /// How positions can be computed one after the other although equations look ahead; `None` if how far is not bounded.
    pub fn plan(&self, program: &Program) -> Option<Plan> {
        let delays = self.graph.delays()?;
        let derived = &self.graph.derived;
        // The next position of a key may never come.
        let waits = |at: usize| derived[at].per.is_some() && derived[at].ahead > 0;
        let jumps = |at: usize| derived[at].per.is_some() && derived[at].reads.iter().any(|&(_, by)| by > 0);
        if (0..derived.len()).any(|at| waits(at) || jumps(at)) {
            return None;
        }
        let tight = |reader: usize, &(read, by): &(usize, i64)| delays[read] + by == delays[reader];
        let mut open: Vec<usize> = (0..derived.len())
            .map(|at| derived[at].reads.iter().filter(|read| tight(at, read)).count())
            .collect();
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); derived.len()];
        for (at, of) in derived.iter().enumerate() {
            of.reads.iter().filter(|read| tight(at, read)).for_each(|&(read, _)| readers[read].push(at));
        }
        let mut order: Vec<usize> = (0..derived.len()).filter(|&at| open[at] == 0).collect();
        let mut next = 0;
        while let Some(&at) = order.get(next) {
            next += 1;
            for &reader in &readers[at] {
                open[reader] -= 1;
                if open[reader] == 0 {
                    order.push(reader);
                }
            }
        }
        if order.len() < derived.len() {
            return None;
        }
        let ahead = delays.iter().copied().max().unwrap_or(0);
        let back = program.slots.iter().filter_map(|slot| match &slot.what {
            What::Shift(shift) => Some(i64::from(shift.by.min(0)).abs()),
            _ => None,
        });
        let reach = ahead + back.max().unwrap_or(0) + 1;
        let mut slots: Vec<SlotId> = (0..program.slots.len() as SlotId).collect();
        slots.retain(|slot| !matches!(program.slots[*slot as usize].what, What::Tuples { .. }));
        slots.extend(self.keys.iter().filter_map(|(_, slot)| slot.filter(|slot| *slot == KEY)));
        let place = slots.iter().enumerate().map(|(place, &slot)| (slot, place)).collect();
        let delays = delays.into_iter().map(|delay| delay as u64).collect();
        let mut noted: FxHashMap<SlotId, Vec<usize>> = FxHashMap::default();
        for (at, of) in derived.iter().enumerate() {
            if let (What::Shift(shift), Some(_)) = (&program.slots[of.slot as usize].what, &of.per) {
                noted.entry(shift.slot).or_default().push(at);
            }
        }
        Some(Plan { delays, order, ahead: ahead as u64, reach: reach as usize, slots, place, noted })
    }
}

impl Plan {
    /// How many positions after its own each can be told.
    pub fn ahead(&self) -> u64 {
        self.ahead
    }
}

/// Who computes, and of what.
struct Step<'a> {
    streams: &'a Streams,
    program: &'a Program,
    plan: &'a Plan,
    /// Whether no position comes any more.
    over: bool,
}

impl Ahead {
    /// Positions that arrived and were not given back yet.
    pub fn waiting(&self, plan: &Plan) -> usize {
        self.arrived.min(plan.ahead) as usize
    }

    /// Takes the next positions; gives back the derived columns, by slot, of those that are complete now: the first that wait.
    pub fn push(
        &mut self,
        (streams, program, plan): (&Streams, &Program, &Plan),
        batch: &Batch,
    ) -> Result<Vec<(SlotId, Column)>, StreamError> {
        let step = Step { streams, program, plan, over: false };
        self.keys.resize(streams.keys.len(), Keys::default());
        self.first.resize(streams.keys.len(), Vec::new());
        self.last.resize(streams.graph.derived.len(), Vec::new());
        self.windows.resize(streams.graph.derived.len(), States::new());
        let mut found = Found::new(streams);
        for at in 0..batch.len {
            let derived = |slot: &SlotId| streams.graph.of_slot.contains_key(slot);
            let value = |slot: &SlotId| match derived(slot) {
                true => Value::Null,
                false => column_of(batch, *slot).value(at),
            };
            self.rows.push_back(plan.slots.iter().map(value).collect());
            self.times.extend(windows::time(batch, at));
            if self.rows.len() > plan.reach {
                self.rows.pop_front();
                self.times.pop_front();
            }
            self.arrived += 1;
            self.name(&step);
            self.step(&step, self.arrived - 1, &mut found)?;
        }
        Ok(found.columns(program, streams))
    }

    /// The stream is over: the same for all that wait.
    pub fn finish(
        &mut self,
        (streams, program, plan): (&Streams, &Program, &Plan),
    ) -> Result<Vec<(SlotId, Column)>, StreamError> {
        let step = Step { streams, program, plan, over: true };
        let mut found = Found::new(streams);
        for at in self.arrived..self.arrived + plan.ahead {
            self.step(&step, at, &mut found)?;
        }
        Ok(found.columns(program, streams))
    }

    /// Numbers the keys of the latest position, and notes it for those who look back to it from the trace itself.
    fn name(&mut self, step: &Step<'_>) {
        for (at, (_, slot)) in step.streams.keys.iter().enumerate() {
            let key = slot.map_or(NONE, |slot| {
                let place = step.plan.place[&slot];
                self.rows.back().map_or(NONE, |row| self.keys[at].number(&row[place]))
            });
            if key != NONE && key as usize == self.first[at].len() {
                self.first[at].push(self.arrived - 1);
            }
        }
        let position = self.arrived - 1;
        // What is not computed yet keeps its place: the positions of a key are counted, not the values.
        for &member in step.plan.noted.values().flatten() {
            let (What::Shift(shift), Some(key)) = (step.what(member), self.key(step, member, position))
            else {
                continue;
            };
            if key != NONE {
                let value = self.slot(step, shift.slot, position);
                self.held(member, key).push_back((position, value));
            }
        }
    }

    /// Notes what the source of a shift that counts a key's positions is worth there.
    fn note(&mut self, step: &Step<'_>, member: usize, position: u64, value: &Value) {
        let Some(key) = self.key(step, member, position).filter(|key| *key != NONE) else { return };
        let held = self.held(member, key);
        if let Ok(at) = held.binary_search_by_key(&position, |(at, _)| *at) {
            held[at].1 = value.clone();
        }
    }

    fn held(&mut self, member: usize, key: u32) -> &mut VecDeque<(u64, Value)> {
        let keys = &mut self.last[member];
        if keys.len() <= key as usize {
            keys.resize(key as usize + 1, VecDeque::new());
        }
        &mut keys[key as usize]
    }

    /// The number of a position's key, for a derived slot that counts the positions of keys.
    fn key(&mut self, step: &Step<'_>, member: usize, position: u64) -> Option<u32> {
        let column = step.column(member)?;
        let Some(slot) = step.streams.keys[column].1 else { return Some(NONE) };
        let value = self.slot(step, slot, position);
        Some(self.keys[column].number(&value))
    }

    fn slot(&self, step: &Step<'_>, slot: SlotId, position: u64) -> Value {
        let row = position.checked_sub(self.oldest()).and_then(|row| self.rows.get(row as usize));
        let place = step.plan.place.get(&slot);
        row.zip(place).map_or(Value::Null, |(row, &place)| row[place].clone())
    }

    /// The first position that is held.
    fn oldest(&self) -> u64 {
        self.arrived - self.rows.len() as u64
    }

    fn step(&mut self, step: &Step<'_>, now: u64, found: &mut Found) -> Result<(), StreamError> {
        for &member in &step.plan.order {
            let Some(position) = now.checked_sub(step.plan.delays[member]) else { continue };
            if position >= self.arrived {
                continue;
            }
            let value = self.value(step, member, position)?;
            let slot = step.streams.graph.derived[member].slot;
            let from = self.oldest();
            let place = step.plan.place[&slot];
            for &reader in step.plan.noted.get(&slot).into_iter().flatten() {
                self.note(step, reader, position, &value);
            }
            if let Some(row) = self.rows.get_mut((position - from) as usize) {
                row[place] = value;
            }
        }
        // The row that nobody computes any more.
        if let Some(position) = now.checked_sub(step.plan.ahead).filter(|position| *position < self.arrived) {
            let from = self.oldest();
            if let Some(row) = self.rows.get((position - from) as usize) {
                for (values, derived) in found.values.iter_mut().zip(&step.streams.graph.derived) {
                    values.push(row[step.plan.place[&derived.slot]].clone());
                }
            }
        }
        Ok(())
    }

    fn value(&mut self, step: &Step<'_>, member: usize, position: u64) -> Result<Value, StreamError> {
        let key = self.key(step, member, position);
        match step.what(member) {
            What::Shift(shift) => match key {
                None => {
                    let there = position.checked_add_signed(shift.by.into());
                    let known = there.filter(|there| *there < self.arrived);
                    Ok(known
                        .map_or_else(|| shift.default.clone(), |there| self.slot(step, shift.slot, there)))
                }
                Some(NONE) => Ok(Value::Null),
                Some(key) => {
                    let by = shift.by.unsigned_abs() as usize;
                    let held = self.held(member, key);
                    let before = held.partition_point(|(at, _)| *at < position);
                    // The next one of this key looks back one less far.
                    held.drain(..before.saturating_sub(by));
                    let value = before.checked_sub(by).and_then(|_| held.front());
                    Ok(value.map_or_else(|| shift.default.clone(), |(_, value)| value.clone()))
                }
            },
            What::Stream { stream, .. } => {
                let of = &step.program.streams[*stream as usize];
                let first = match (key, step.column(member)) {
                    (Some(NONE), _) => return Ok(absent(of.ty)),
                    (Some(key), Some(column)) => self.first[column].get(key as usize) == Some(&position),
                    _ => position == 0,
                };
                let ends = Ends { first, last: step.over && position + 1 == self.arrived };
                let read = |slot: SlotId| self.slot(step, slot, position);
                step.streams.value(step.program, *stream, (position as usize, ends), read)
            }
            What::Window(_) => self.window(step, member, position, key.unwrap_or(0)),
            _ => Ok(Value::Null),
        }
    }

    /// The value of a window at the next position of a key.
    fn window(
        &mut self,
        step: &Step<'_>,
        member: usize,
        position: u64,
        key: u32,
    ) -> Result<Value, StreamError> {
        let Some(plan) = step.streams.windows[member].as_ref().filter(|_| key != NONE) else {
            return Ok(Value::Null);
        };
        let mut states = std::mem::take(&mut self.windows[member]);
        let time = self.times.get((position - self.oldest()) as usize).copied();
        let here = Here { time, measure: step.streams.measure };
        let read = |slot: SlotId| self.slot(step, slot, position);
        let value = plan.value(step.program, plan.of_key(&mut states, key), here, &read);
        self.windows[member] = states;
        value.map_err(|message| Streams::failed(plan, position as usize, message))
    }

    /// Writes what waits and what is held.
    pub fn save(&self, out: &mut Vec<u8>) {
        put(self.arrived, out);
        put(self.rows.len() as u64, out);
        for row in &self.rows {
            put(row.len() as u64, out);
            row.iter().for_each(|value| put_value(value, out));
        }
        put(self.keys.len() as u64, out);
        for (keys, first) in self.keys.iter().zip(&self.first) {
            put(keys.names.len() as u64, out);
            for (name, &first) in keys.names.iter().zip(first) {
                put_text(name, out);
                put(first, out);
            }
        }
        put(self.last.len() as u64, out);
        for keys in &self.last {
            put(keys.len() as u64, out);
            for held in keys {
                put(held.len() as u64, out);
                for (at, value) in held {
                    put(*at, out);
                    put_value(value, out);
                }
            }
        }
        put(self.times.len() as u64, out);
        self.times.iter().for_each(|&time| put_signed(time, out));
        windows::save_all(&self.windows, out);
    }

    /// Reads what [`Ahead::save`] wrote.
    pub fn load(streams: &Streams, from: &mut &[u8]) -> Result<Self, Corrupt> {
        let mut ahead = Self { arrived: take(from)?, ..Self::default() };
        for _ in 0..take_len(from)? {
            let row: Result<Vec<Value>, Corrupt> = (0..take_len(from)?).map(|_| take_value(from)).collect();
            ahead.rows.push_back(row?);
        }
        for _ in 0..take_len(from)? {
            let (mut keys, mut first) = (Keys::default(), Vec::new());
            for _ in 0..take_len(from)? {
                keys.number(&Value::Str(take_text(from)?));
                first.push(take(from)?);
            }
            ahead.keys.push(keys);
            ahead.first.push(first);
        }
        for _ in 0..take_len(from)? {
            let mut keys = Vec::new();
            for _ in 0..take_len(from)? {
                let mut held = VecDeque::new();
                for _ in 0..take_len(from)? {
                    held.push_back((take(from)?, take_value(from)?));
                }
                keys.push(held);
            }
            ahead.last.push(keys);
        }
        for _ in 0..take_len(from)? {
            ahead.times.push_back(take_signed(from)?);
        }
        ahead.windows = windows::load_all(&streams.windows, from)?;
        Ok(ahead)
    }
}

impl Step<'_> {
    fn what(&self, member: usize) -> &What {
        &self.program.slots[self.streams.graph.derived[member].slot as usize].what
    }

    /// The column of keys whose positions a derived slot counts.
    fn column(&self, member: usize) -> Option<usize> {
        let path = self.streams.graph.derived[member].per.as_ref()?;
        self.streams.keys.iter().position(|(known, _)| known == path)
    }
}

/// Values of derived slots, of positions that are complete.
struct Found {
    values: Vec<Vec<Value>>,
}

impl Found {
    fn new(streams: &Streams) -> Self {
        Self { values: vec![Vec::new(); streams.graph.derived.len()] }
    }

    fn columns(self, program: &Program, streams: &Streams) -> Vec<(SlotId, Column)> {
        let slots = streams.graph.derived.iter().map(|derived| derived.slot);
        slots
            .zip(self.values)
            .map(|(slot, values)| (slot, crate::column::column(program, slot, values)))
            .collect()
    }
}
