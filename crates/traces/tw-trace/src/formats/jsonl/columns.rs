//! Columns filled by position: every cell starts as null, so an absent key costs nothing, and cursors can fill different
//! stretches of one column. What a cell means is the business of [`crate::ColumnBuilder`]; whatever it would refuse is
//! refused here by `None`, and the block is then read by the definition.
//!
//! Truth and validity are bytes here, which are quicker to set one at a time, and become bits at the end.

use super::lanes::Lanes;
use super::names::Names;
use super::scalar::Bytes;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;
use tw_core::{Bits, Column, Dictionary, Value};
use tw_ir::Expect;

/// One column.
pub(super) enum Cells {
    /// Truth values.
    Truth(Vec<u8>),
    /// Numbers.
    Number(Numbers),
    /// Text.
    Text(Texts),
    /// Anything.
    Any(Vec<Value>),
}

/// Cells of numbers: integers, and the bits of reals.
pub(super) struct Numbers {
    values: Vec<i64>,
    /// [`WHOLE`], [`REAL`], or 0 for null.
    kinds: Vec<u8>,
    /// Declared `int`.
    only: bool,
}

const WHOLE: u8 = 1;
const REAL: u8 = 2;

/// Cells of text.
pub(super) struct Texts {
    /// [`NULL`] is null.
    ids: Vec<u32>,
    index: FxHashMap<Arc<str>, u32>,
    entries: Vec<Arc<str>>,
    names: Names,
}

const NULL: u32 = u32::MAX;

impl Cells {
    /// `rows` nulls.
    pub(super) fn new(expect: Expect, rows: usize) -> Self {
        match expect {
            Expect::Bool => Cells::Truth(vec![0; rows]),
            Expect::Number | Expect::Real | Expect::Int => Cells::Number(Numbers {
                values: vec![0; rows],
                kinds: vec![0; rows],
                only: expect == Expect::Int,
            }),
            Expect::Text | Expect::Line => Cells::Text(Texts {
                ids: vec![NULL; rows],
                index: FxHashMap::default(),
                entries: Vec::new(),
                names: Names::new(),
            }),
            Expect::Any => Cells::Any(vec![Value::Null; rows]),
        }
    }

    pub(super) fn set_bool(&mut self, row: usize, bool: bool) -> Option<()> {
        match self {
            Cells::Truth(bytes) => bytes[row] = u8::from(bool),
            Cells::Any(values) => values[row] = Value::Bool(bool),
            _ => return None,
        }
        Some(())
    }

    #[inline(always)]
    pub(super) fn set_int(&mut self, row: usize, int: i64) -> Option<()> {
        match self {
            Cells::Number(Numbers { values, kinds, .. }) => {
                values[row] = int;
                kinds[row] = WHOLE;
            }
            Cells::Truth(bytes) if int == 0 || int == 1 => bytes[row] = int as u8,
            Cells::Any(values) => values[row] = Value::Int(int),
            _ => return None,
        }
        Some(())
    }

    #[inline(always)]
    pub(super) fn set_real(&mut self, row: usize, number: f64) -> Option<()> {
        match self {
            Cells::Number(Numbers { only: true, .. }) => return None,
            Cells::Number(Numbers { values, kinds, .. }) => {
                values[row] = number.to_bits() as i64;
                kinds[row] = REAL;
            }
            Cells::Any(values) => values[row] = Value::Real(number),
            _ => return None,
        }
        Some(())
    }

    pub(super) fn set_text(&mut self, row: usize, text: &[u8]) -> Option<()> {
        match self {
            Cells::Text(texts) => texts.ids[row] = texts.id(text)?,
            Cells::Any(values) => values[row] = Value::text(std::str::from_utf8(text).ok()?),
            _ => return None,
        }
        Some(())
    }

    /// Stores a value where null is.
    pub(super) fn set_value(&mut self, row: usize, value: &Value) -> Option<()> {
        match value {
            Value::Null => Some(()),
            Value::Bool(bool) => self.set_bool(row, *bool),
            Value::Int(int) => self.set_int(row, *int),
            Value::Real(real) => self.set_real(row, *real),
            Value::Str(text) => self.set_text(row, text.as_bytes()),
            Value::List(_) | Value::Object(_) => match self {
                Cells::Any(values) => {
                    values[row] = value.clone();
                    Some(())
                }
                _ => None,
            },
        }
    }

    /// The column of the rows in `kept`, in that order.
    pub(super) fn finish(self, kept: &[Range<usize>]) -> Column {
        match self {
            Cells::Truth(bytes) => Column::Truth(pack(&keep(bytes, kept))),
            Cells::Number(Numbers { values, kinds, .. }) => numbers(keep(values, kept), keep(kinds, kept)),
            Cells::Text(Texts { ids, entries, .. }) => {
                let mut ids = keep(ids, kept);
                let valid: Vec<u8> = ids.iter().map(|&id| u8::from(id != NULL)).collect();
                ids.iter_mut().filter(|id| **id == NULL).for_each(|id| *id = 0);
                Column::Text { ids, dictionary: Dictionary { entries }, valid: pack(&valid) }
            }
            Cells::Any(values) => Column::of_values(keep(values, kept)),
        }
    }
}

/// Whole numbers, or reals, or both as they are.
fn numbers(values: Vec<i64>, kinds: Vec<u8>) -> Column {
    let real = |bits: i64| f64::from_bits(bits as u64);
    match kinds.iter().fold(0, |all, kind| all | kind) {
        0 | WHOLE => Column::Int { values, valid: pack(&kinds) },
        REAL => {
            let valid: Vec<u8> = kinds.iter().map(|kind| kind / REAL).collect();
            Column::Real { values: values.into_iter().map(real).collect(), valid: pack(&valid) }
        }
        _ => {
            let value = |(value, kind): (i64, u8)| match kind {
                WHOLE => Value::Int(value),
                REAL => Value::Real(real(value)),
                _ => Value::Null,
            };
            Column::Any(values.into_iter().zip(kinds).map(value).collect())
        }
    }
}

impl Texts {
    /// Stores the text from `at` to `end`.
    #[inline(always)]
    pub(super) fn set_in_place<L: Lanes>(
        &mut self,
        row: usize,
        bytes: Bytes,
        at: usize,
        end: usize,
    ) -> Option<()> {
        self.ids[row] = match self.names.get::<L>(bytes, at, end) {
            Some(id) => id,
            None => self.new_id(bytes, at, end)?,
        };
        Some(())
    }

    #[inline(never)]
    fn new_id(&mut self, bytes: Bytes, at: usize, end: usize) -> Option<u32> {
        let id = self.id(bytes.slice(at, end))?;
        self.names.put(bytes, at, end, id);
        Some(id)
    }

    fn id(&mut self, text: &[u8]) -> Option<u32> {
        // The block is valid UTF-8 and was cut at ASCII quotes; checking again costs little where texts are new anyway.
        let text = std::str::from_utf8(text).ok()?;
        if let Some(&id) = self.index.get(text) {
            return Some(id);
        }
        let id = u32::try_from(self.entries.len()).ok().filter(|&id| id != NULL)?;
        let shared: Arc<str> = text.into();
        self.entries.push(shared.clone());
        self.index.insert(shared, id);
        Some(id)
    }
}

/// The elements of the rows in `kept`: usually a prefix; with blank lines in between, several stretches.
pub(super) fn keep<T>(mut values: Vec<T>, kept: &[Range<usize>]) -> Vec<T> {
    let mut len = 0;
    for range in kept {
        if range.start == len {
            len = range.end;
            continue;
        }
        for index in range.clone() {
            values.swap(len, index);
            len += 1;
        }
    }
    values.truncate(len);
    values
}

/// Bytes that are 0 or 1 as bits.
pub(super) fn pack(bytes: &[u8]) -> Bits {
    let eight = |chunk: [u8; 8]| u64::from_le_bytes(chunk).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    let words = bytes.chunks(64).map(|chunk| {
        let (whole, rest) = chunk.as_chunks::<8>();
        let mut word = 0;
        for (index, &chunk) in whole.iter().enumerate() {
            word |= eight(chunk) << (8 * index);
        }
        for (index, &byte) in rest.iter().enumerate() {
            word |= u64::from(byte) << (8 * whole.len() + index);
        }
        word
    });
    Bits::from_words(words.collect(), bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_bits() {
        for len in [0, 1, 7, 8, 9, 63, 64, 65, 200] {
            let bytes: Vec<u8> = (0..len).map(|i: usize| (i * 7 % 5 % 2) as u8).collect();
            let expected: Bits = bytes.iter().map(|&byte| byte == 1).collect();
            assert_eq!(pack(&bytes), expected, "{len}");
        }
    }

    #[test]
    fn kept_rows_close_ranks() {
        for (kept, expected) in [
            (vec![0..3, 3..5], vec![0, 1, 2, 3, 4]),
            (vec![0..2, 4..6], vec![0, 1, 4, 5]),
            (vec![1..2, 2..2, 5..8], vec![1, 5, 6, 7]),
            (vec![], vec![]),
        ] {
            assert_eq!(keep((0..8).collect::<Vec<i32>>(), &kept), expected);
        }
    }
}
