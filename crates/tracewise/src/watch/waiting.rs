//! Positions that wait, with their lines: as columns, so that whatever readers deliver can.

use super::state::{number, number_out, put_bytes, signed, signed_out, text};
use crate::Error;
use crate::error::{Budget, Setting};
use tw_core::codec::{put_value, take_value};
use tw_core::{Batch, Bits, Column, Time, Value};
use tw_ir::SlotId;

/// Where positions stood, if that is known: the numbers of their lines (from 1; 0 is not known) and what those begin with.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Lines {
    pub numbers: Vec<u64>,
    pub texts: Vec<Box<str>>,
}

impl Lines {
    fn gather(&self, order: &[u32]) -> Self {
        let numbers = order.iter().map(|&at| self.numbers[at as usize]).collect();
        Self { numbers, texts: order.iter().map(|&at| self.texts[at as usize].clone()).collect() }
    }
}

/// Positions in the order in which they came.
#[derive(Clone, Default)]
pub(super) struct Waiting {
    batch: Batch,
    lines: Lines,
    /// Bytes of their texts.
    bytes: usize,
}

/// Some positions of a batch.
pub(super) fn gather(batch: &Batch, order: &[u32]) -> Batch {
    Batch {
        len: order.len(),
        slots: batch.slots.iter().map(|column| column.gather(order)).collect(),
        times: batch.times.as_ref().map(|times| order.iter().map(|&at| times[at as usize]).collect()),
    }
}

impl Waiting {
    /// Appends positions.
    pub fn push(&mut self, more: Batch, lines: Lines) {
        self.bytes += bytes(&lines.texts);
        self.lines.numbers.extend(lines.numbers);
        self.lines.numbers.resize(self.batch.len + more.len, 0);
        self.lines.texts.extend(lines.texts);
        self.lines.texts.resize(self.batch.len + more.len, Box::default());
        if self.batch.len == 0 {
            self.batch = more;
            return;
        }
        self.batch.len += more.len;
        match (&mut self.batch.times, more.times) {
            (Some(times), Some(more)) => times.extend(more),
            (times, _) => *times = None,
        }
        for (column, more) in self.batch.slots.iter_mut().zip(more.slots) {
            column.append(more);
        }
    }

    pub fn lines(&self) -> &[u64] {
        &self.lines.numbers
    }

    /// Takes the first positions out, as many as the columns that are now known, and puts those in.
    pub fn first(&mut self, columns: Vec<(SlotId, Column)>) -> (Batch, Lines) {
        let count = columns.first().map_or(0, |(_, column)| column.len());
        let order: Vec<u32> = (0..count as u32).collect();
        let mut taken = self.take(&order);
        for (slot, column) in columns {
            taken.0.slots[slot as usize] = column;
        }
        taken
    }

    /// Takes those out that none can come before any more, by their time; all, if time does not matter any more.
    pub fn earliest(&mut self, up_to: Option<Time>) -> (Batch, Lines) {
        let times = self.batch.times.as_deref().unwrap_or_default();
        let mut order: Vec<u32> = (0..self.batch.len as u32).collect();
        if !times.is_empty() {
            order.retain(|&at| up_to.is_none_or(|up_to| times[at as usize] <= up_to));
            order.sort_by_key(|&at| times[at as usize]);
        }
        self.take(&order)
    }

    fn take(&mut self, order: &[u32]) -> (Batch, Lines) {
        let taken = gather(&self.batch, order);
        let lines = self.lines.gather(order);
        let mut gone = vec![false; self.batch.len];
        order.iter().for_each(|&at| gone[at as usize] = true);
        let left: Vec<u32> = (0..self.batch.len as u32).filter(|&at| !gone[at as usize]).collect();
        self.lines = self.lines.gather(&left);
        self.bytes -= bytes(&lines.texts);
        self.batch = gather(&self.batch, &left);
        (taken, lines)
    }

    /// Refuses more bytes than are allowed.
    pub fn within(&self, allowed: usize, name: &str) -> Result<(), Error> {
        let held: usize = self.batch.slots.iter().map(Column::heap_bytes).sum();
        if held + self.bytes + self.batch.len * 32 <= allowed {
            return Ok(());
        }
        Err(Error::Budget(Budget {
            setting: Setting::Memory,
            what: format!("the lines that wait for earlier ones (`{}`)", Setting::Sort),
            needed: None,
            allowed,
            instead: None,
            trace: name.to_string(),
        }))
    }

    /// Writes them. Tuples of event patterns cannot be written: who has them is not asked to.
    pub fn save(&self, out: &mut Vec<u8>) {
        number_out(self.batch.len as u64, out);
        self.lines.numbers.iter().for_each(|&line| number_out(line, out));
        self.lines.texts.iter().for_each(|text| put_bytes(text.as_bytes(), out));
        number_out(u64::from(self.batch.times.is_some()), out);
        self.batch.times.iter().flatten().for_each(|&time| signed_out(time, out));
        number_out(self.batch.slots.len() as u64, out);
        for column in &self.batch.slots {
            let kind = match column {
                Column::Truth(_) => 0,
                Column::Int { .. } => 1,
                Column::Real { .. } => 2,
                Column::Text { .. } | Column::Words(_) => 3,
                Column::Any(_) | Column::Tuples(_) => 4,
            };
            number_out(kind, out);
            (0..self.batch.len).for_each(|at| put_value(&column.value(at), out));
        }
    }

    /// Reads what [`Waiting::save`] wrote.
    pub fn load(from: &mut &[u8]) -> Result<Self, String> {
        let len = length(from)?;
        let numbers = (0..len).map(|_| number(from)).collect::<Result<Vec<u64>, _>>()?;
        let texts = (0..len).map(|_| text(from).map(String::into_boxed_str));
        let texts = texts.collect::<Result<Vec<_>, _>>()?;
        let times = match number(from)? {
            0 => None,
            _ => Some((0..len).map(|_| signed(from)).collect::<Result<Vec<Time>, _>>()?),
        };
        let mut slots = Vec::new();
        for _ in 0..length(from)? {
            let kind = number(from)?;
            let values = (0..len).map(|_| take_value(from)).collect::<Result<Vec<Value>, _>>();
            slots.push(column(kind, values.map_err(|corrupt| corrupt.0)?));
        }
        let bytes = bytes(&texts);
        Ok(Self { batch: Batch { len, slots, times }, lines: Lines { numbers, texts }, bytes })
    }
}

fn bytes(texts: &[Box<str>]) -> usize {
    texts.iter().map(|text| text.len()).sum()
}

/// A number of things that follow, each of which takes a byte at least.
fn length(from: &mut &[u8]) -> Result<usize, String> {
    let len = usize::try_from(number(from)?).ok().filter(|len| *len <= from.len());
    len.ok_or_else(|| "its parts do not belong together".to_owned())
}

fn column(kind: u64, values: Vec<Value>) -> Column {
    let valid: Bits = values.iter().map(|value| !value.is_null()).collect();
    match kind {
        0 => Column::Truth(values.iter().map(|value| *value == Value::Bool(true)).collect()),
        1 => {
            let whole = |value: &Value| if let Value::Int(number) = value { *number } else { 0 };
            Column::Int { values: values.iter().map(whole).collect(), valid }
        }
        2 => {
            let real = |value: &Value| if let Value::Real(number) = value { *number } else { 0.0 };
            Column::Real { values: values.iter().map(real).collect(), valid }
        }
        3 => Column::of_values(values),
        _ => Column::Any(values),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_what_waited() {
        let lines = |numbers: &[u64]| Lines {
            numbers: numbers.to_vec(),
            texts: numbers.iter().map(|number| number.to_string().into()).collect(),
        };
        let mut waiting = Waiting::default();
        let valid: Bits = [true, false, true].into_iter().collect();
        let slots = vec![
            Column::Truth([true, false, true].into_iter().collect()),
            Column::Int { values: vec![1, 0, 3], valid: valid.clone() },
            Column::Real { values: vec![0.5, 0.0, 2.5], valid },
            Column::of_values(vec![Value::text("a"), Value::Null, Value::text("b")]),
            Column::Any(vec![Value::Int(1), Value::Real(0.5), Value::Null]),
        ];
        waiting.push(Batch { len: 3, slots, times: Some(vec![5, 3, 4]) }, lines(&[1, 2, 3]));
        let mut saved = Vec::new();
        waiting.save(&mut saved);
        let mut again = Waiting::load(&mut saved.as_slice()).unwrap();
        for cut in 0..saved.len() {
            assert!(Waiting::load(&mut &saved[..cut]).is_err(), "{cut}");
        }
        for waiting in [&mut waiting, &mut again] {
            let (batch, found) = waiting.earliest(Some(4));
            assert_eq!((found, batch.times), (lines(&[2, 3]), Some(vec![3, 4])));
            let row = |at: usize| batch.slots.iter().map(|column| column.value(at)).collect::<Vec<_>>();
            assert_eq!(row(0), [Value::Bool(false), Value::Null, Value::Null, Value::Null, Value::Real(0.5)]);
            assert_eq!(row(1)[..3], [Value::Bool(true), Value::Int(3), Value::Real(2.5)]);
            assert_eq!(waiting.bytes, 1);
            let (batch, found) = waiting.earliest(None);
            assert_eq!((found, batch.len, batch.slots[3].value(0)), (lines(&[1]), 1, Value::text("a")));
        }
    }
}
