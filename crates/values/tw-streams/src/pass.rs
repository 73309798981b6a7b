//! Batch after batch, where equations look back only.

use crate::column::{column, is_truth};
use crate::equation::Ends;
use crate::graph::{Component, Direction};
use crate::keys::{Keys, NONE, column_of};
use crate::machine::{Kind, Machine, kind};
use crate::windows::{self, Here, States};
use crate::{StreamError, Streams, absent};
use std::collections::VecDeque;
use tw_core::codec::{Corrupt, put, put_text, put_value, take, take_len, take_text, take_value};
use tw_core::{Batch, Bits, Column, Position, Time, Value};
use tw_ir::{Program, Shift, SlotId, What};
use tw_monitor::truth;

/// What one pass carries from batch to batch.
#[derive(Clone, Debug, Default)]
pub struct Pass {
    /// Positions so far.
    seen: u64,
    /// Values of each column that counts positions of its own.
    keys: Vec<Keys>,
    /// Of each derived slot that is a shift, per key, the last values of its source.
    last: Vec<Vec<VecDeque<Value>>>,
    /// Of each derived slot that is a window, what it knows of each key.
    windows: Vec<States>,
    fast: Fast,
}

/// What is compiled, as long as columns are of the same kinds.
#[derive(Clone, Debug, Default)]
struct Fast {
    kinds: Vec<Option<Kind>>,
    /// Those that nothing was compiled for.
    refused: Vec<Option<Kind>>,
    machine: Option<Box<Machine>>,
    /// Whether values alone decide, as the definition has it.
    never: bool,
}

/// A batch being filled.
struct Filling<'a> {
    streams: &'a Streams,
    program: &'a Program,
    batch: &'a Batch,
    /// Per column of keys: the key of each position, and whether it is the key's first.
    keys: Vec<(Vec<u32>, Vec<bool>)>,
    seen: u64,
    values: Vec<Vec<Value>>,
    /// Per derived slot, how many positions the batch itself has.
    have: Vec<usize>,
    /// Columns that were computed at once.
    columns: Vec<Option<Column>>,
}

impl Pass {
    /// Fills the computed columns of the next batch.
    pub fn fill(
        &mut self,
        streams: &Streams,
        program: &Program,
        batch: &mut Batch,
    ) -> Result<(), StreamError> {
        self.keys.resize(streams.keys.len(), Keys::default());
        self.last.resize(streams.graph.derived.len(), Vec::new());
        self.windows.resize(streams.graph.derived.len(), States::new());
        let numbered = self.keys.iter_mut().zip(&streams.keys).map(|(keys, (_, slot))| match slot {
            None => (vec![NONE; batch.len], vec![false; batch.len]),
            Some(slot) => {
                let column = column_of(batch, *slot);
                let mut first = Vec::with_capacity(batch.len);
                let number = |at: Position| {
                    let known = keys.names.len();
                    let number = keys.number(&column.value(at));
                    first.push(keys.names.len() > known);
                    number
                };
                ((0..batch.len).map(number).collect(), first)
            }
        });
        let keys = numbered.collect();
        let (values, have) = self.compiled(streams, program, batch);
        let columns = vec![None; streams.graph.derived.len()];
        let mut filling = Filling { streams, program, batch, keys, seen: self.seen, values, have, columns };
        for component in &streams.graph.components {
            self.component(&mut filling, component)?;
        }
        let Filling { values, have, columns, .. } = filling;
        let made = values.into_iter().zip(have).zip(columns);
        for (derived, ((values, have), ready)) in streams.graph.derived.iter().zip(made) {
            if have < batch.len {
                let made = ready.unwrap_or_else(|| column(program, derived.slot, values));
                batch.slots[derived.slot as usize] = made;
            }
        }
        self.seen += batch.len as u64;
        Ok(())
    }

    /// Fills the computed slots of one position, the next: a value per slot.
    pub fn row(
        &mut self,
        streams: &Streams,
        program: &Program,
        time: Option<Time>,
        row: &mut [Value],
    ) -> Result<(), StreamError> {
        if let Some(machine) = &mut self.fast.machine
            && machine.row(row, self.seen)
        {
            self.seen += 1;
            return Ok(());
        }
        let column = |(slot, value): (usize, &Value)| match is_truth(program, slot as SlotId) {
            true => Column::Truth(Bits::repeat(truth(value), 1)),
            false => single(value.clone()),
        };
        let slots = row.iter().enumerate().map(column).collect();
        let mut batch = Batch { len: 1, slots, times: time.map(|time| vec![time]) };
        self.fill(streams, program, &mut batch)?;
        for derived in &streams.graph.derived {
            row[derived.slot as usize] = batch.slots[derived.slot as usize].value(0);
        }
        Ok(())
    }

    /// The definition alone: what is compiled is compared with it.
    #[must_use]
    pub fn by_definition(mut self) -> Self {
        self.fast.never = true;
        self
    }

    /// Whether some equations are compiled at present.
    pub fn is_compiled(&self) -> bool {
        self.fast.machine.is_some()
    }

    /// Fills in what is compiled. Per derived slot: its first values, and for how many positions it needs nobody.
    fn compiled(
        &mut self,
        streams: &Streams,
        program: &Program,
        batch: &mut Batch,
    ) -> (Vec<Vec<Value>>, Vec<usize>) {
        let members = streams.graph.derived.len();
        let (mut values, mut have) = (vec![Vec::new(); members], vec![0; members]);
        if self.fast.never || batch.len == 0 {
            return (values, have);
        }
        self.learn(streams, program, batch);
        let Some(machine) = &mut self.fast.machine else { return (values, have) };
        let (columns, count) = machine.run(program, batch, self.seen);
        (0..members).filter(|&member| machine.is_done(member)).for_each(|member| have[member] = count);
        if count == batch.len {
            // Nobody reads what the machine alone looks back to: it takes no room.
            for member in (0..members).filter(|&member| have[member] > 0) {
                let slot = streams.graph.derived[member].slot as usize;
                batch.slots[slot] = Column::Truth(Bits::repeat(false, batch.len));
            }
            for (member, column) in columns {
                batch.slots[streams.graph.derived[member].slot as usize] = column;
            }
            return (values, have);
        }
        // From here on the definition goes on with what the machine holds.
        for member in (0..members).filter(|&member| have[member] > 0) {
            values[member] = vec![Value::Null; count];
        }
        for (member, column) in columns {
            values[member] = (0..count).map(|at| column.value(at)).collect();
        }
        machine.keep(self.seen + count as u64, &mut self.last);
        self.fast.machine = None;
        (values, have)
    }

    /// Has a machine for the kinds of columns there are.
    fn learn(&mut self, streams: &Streams, program: &Program, batch: &Batch) {
        let fast = &mut self.fast;
        fast.kinds.resize(program.slots.len(), None);
        for (slot, column) in batch.slots.iter().enumerate().take(program.slots.len()) {
            if streams.graph.of_slot.contains_key(&(slot as SlotId)) {
                continue;
            }
            let known = &mut fast.kinds[slot];
            *known = match (*known, kind(column)) {
                (Some(Kind::Int | Kind::Real | Kind::Mixed), Some(found))
                    if *known != Some(found) && found != Kind::Truth =>
                {
                    Some(Kind::Mixed)
                }
                (known, found) => found.or(known),
            };
        }
        for derived in &streams.graph.derived {
            if let What::Shift(Shift { slot, default: Value::Real(_), .. }) =
                &program.slots[derived.slot as usize].what
                && fast.kinds[*slot as usize] == Some(Kind::Int)
            {
                fast.kinds[*slot as usize] = Some(Kind::Mixed);
            }
        }
        if fast.machine.as_ref().is_some_and(|machine| machine.fits(&fast.kinds))
            || fast.refused == fast.kinds
        {
            return;
        }
        if let Some(machine) = fast.machine.take() {
            machine.keep(self.seen, &mut self.last);
        }
        fast.machine = Machine::new(streams, program, &fast.kinds, &self.last).map(Box::new);
        if fast.machine.is_none() {
            fast.refused = fast.kinds.clone();
        }
    }

    fn component(&mut self, filling: &mut Filling<'_>, component: &Component) -> Result<(), StreamError> {
        if let ([member], Direction::Free) = (&component.members[..], component.direction)
            && let Some(plan) = &filling.streams.windows[*member]
            && filling.streams.graph.derived[*member].per.is_none()
        {
            let missing = |slot: SlotId| filling.made_here(slot).is_some();
            let ready = plan.column(&mut self.windows[*member], filling.batch, missing);
            if ready.is_some() {
                filling.columns[*member] = ready;
                return Ok(());
            }
        }
        let left = |filling: &Filling<'_>, member: usize, at: Position| filling.have[member] <= at;
        let from = component.members.iter().map(|&member| filling.have[member]).min().unwrap_or(0);
        for at in from..filling.batch.len {
            for &member in &component.members {
                if left(filling, member, at) {
                    let value = match filling.streams.windows[member] {
                        Some(_) => filling.window(&mut self.windows[member], member, at)?,
                        None => filling.value(&self.last[member], member, at)?,
                    };
                    filling.values[member].push(value);
                }
            }
            for &member in &component.members {
                if left(filling, member, at) {
                    self.keep(filling, member, at);
                }
            }
        }
        Ok(())
    }

    /// Keeps what the source of a shift is worth here.
    fn keep(&mut self, filling: &Filling<'_>, member: usize, at: Position) {
        let Some(shift) = filling.shift(member) else { return };
        let key = filling.key(member, at).map_or(0, |(key, _)| key);
        if key == NONE {
            return;
        }
        let last = &mut self.last[member];
        if last.len() <= key as usize {
            last.resize(key as usize + 1, VecDeque::new());
        }
        let last = &mut last[key as usize];
        if last.len() == shift.by.unsigned_abs() as usize {
            last.pop_front();
        }
        last.push_back(filling.slot(shift.slot, at));
    }

    /// Writes what is carried.
    pub fn save(&self, out: &mut Vec<u8>) {
        put(self.seen, out);
        put(self.keys.len() as u64, out);
        for keys in &self.keys {
            put(keys.names.len() as u64, out);
            keys.names.iter().for_each(|name| put_text(name, out));
        }
        let mut last = self.last.clone();
        if let Some(machine) = &self.fast.machine {
            machine.keep(self.seen, &mut last);
        }
        put(last.len() as u64, out);
        for of_member in &last {
            put(of_member.len() as u64, out);
            for last in of_member {
                put(last.len() as u64, out);
                last.iter().for_each(|value| put_value(value, out));
            }
        }
        windows::save_all(&self.windows, out);
    }

    /// Reads what [`Pass::save`] wrote.
    pub fn load(streams: &Streams, from: &mut &[u8]) -> Result<Self, Corrupt> {
        let mut pass = Self { seen: take(from)?, ..Self::default() };
        for _ in 0..take_len(from)? {
            let mut keys = Keys::default();
            for _ in 0..take_len(from)? {
                keys.number(&Value::Str(take_text(from)?));
            }
            pass.keys.push(keys);
        }
        for _ in 0..take_len(from)? {
            let mut of_member = Vec::new();
            for _ in 0..take_len(from)? {
                let values: Result<VecDeque<Value>, Corrupt> =
                    (0..take_len(from)?).map(|_| take_value(from)).collect();
                of_member.push(values?);
            }
            pass.last.push(of_member);
        }
        pass.windows = windows::load_all(&streams.windows, from)?;
        Ok(pass)
    }

    /// Bytes held, about.
    pub fn heap_bytes(&self) -> usize {
        let values: usize = self.last.iter().flatten().map(VecDeque::capacity).sum();
        let keys: usize = self.keys.iter().flat_map(|keys| &keys.names).map(|name| name.len() + 32).sum();
        let machine = self.fast.machine.as_ref().map_or(0, |machine| machine.heap_bytes());
        let windows: usize = self.windows.iter().map(windows::heap_bytes).sum();
        values * size_of::<Value>() + keys + machine + windows
    }
}

/// A column of one position.
fn single(value: Value) -> Column {
    let valid = Bits::repeat(true, 1);
    match value {
        Value::Bool(truth) => Column::Truth(Bits::repeat(truth, 1)),
        Value::Int(number) => Column::Int { values: vec![number], valid },
        Value::Real(number) => Column::Real { values: vec![number], valid },
        other => Column::of_values(vec![other]),
    }
}

impl Filling<'_> {
    fn shift(&self, member: usize) -> Option<&Shift> {
        match &self.program.slots[self.streams.graph.derived[member].slot as usize].what {
            What::Shift(shift) => Some(shift),
            _ => None,
        }
    }

    /// The key of a position for a member that counts a key's positions, and whether it is the first.
    fn key(&self, member: usize, at: Position) -> Option<(u32, bool)> {
        let path = self.streams.graph.derived[member].per.as_ref()?;
        let known = self.streams.keys.iter().position(|(known, _)| known == path)?;
        Some((self.keys[known].0[at], self.keys[known].1[at]))
    }

    /// The value of a window at the next position.
    fn window(&self, states: &mut States, member: usize, at: Position) -> Result<Value, StreamError> {
        let key = self.key(member, at).map_or(0, |(key, _)| key);
        let Some(plan) = self.streams.windows[member].as_ref().filter(|_| key != NONE) else {
            return Ok(Value::Null);
        };
        let here = Here { time: windows::time(self.batch, at), measure: self.streams.measure };
        plan.value(self.program, plan.of_key(states, key), here, &|slot| self.slot(slot, at))
            .map_err(|message| Streams::failed(plan, at, message))
    }

    fn value(&self, last: &[VecDeque<Value>], member: usize, at: Position) -> Result<Value, StreamError> {
        let key = self.key(member, at);
        match &self.program.slots[self.streams.graph.derived[member].slot as usize].what {
            What::Shift(shift) => {
                let number = key.map_or(0, |(key, _)| key);
                if number == NONE {
                    return Ok(Value::Null);
                }
                let held =
                    last.get(number as usize).filter(|held| held.len() == shift.by.unsigned_abs() as usize);
                Ok(held.and_then(VecDeque::front).unwrap_or(&shift.default).clone())
            }
            What::Stream { stream, .. } => {
                let of = &self.program.streams[*stream as usize];
                let first = match key {
                    None => self.seen + at as u64 == 0,
                    Some((NONE, _)) => return Ok(absent(of.ty)),
                    Some((_, first)) => first,
                };
                let ends = Ends { first, last: false };
                self.streams.value(self.program, *stream, (at, ends), |slot| self.slot(slot, at))
            }
            _ => Ok(Value::Null),
        }
    }

    /// The derived slot that this is, unless the batch has it whole.
    fn made_here(&self, slot: SlotId) -> Option<usize> {
        let member = self.streams.graph.of_slot.get(&slot).copied();
        member.filter(|&member| self.have[member] < self.batch.len)
    }

    fn slot(&self, slot: SlotId, at: Position) -> Value {
        match self.made_here(slot) {
            Some(member) => match &self.columns[member] {
                Some(column) => column.value(at),
                None => self.values[member][at].clone(),
            },
            None => self.batch.slots[slot as usize].value(at),
        }
    }
}
