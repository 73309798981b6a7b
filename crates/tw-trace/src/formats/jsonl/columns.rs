//! Columns filled by position: every cell starts as null, so an absent key costs nothing, and cursors can fill different
//! stretches of one column. What a cell means is the business of [`crate::ColumnBuilder`]; whatever it would refuse is
//! refused here by `None`, and the block is then read by the definition.

use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;
use tw_core::{Bits, Column, Dictionary, Value};
use tw_ir::Expect;

/// One column.
pub(super) enum Cells {
    /// Truth values.
    Truth(Vec<u64>),
    /// Numbers: integers, and the bits of reals where `reals` says so.
    Number {
        values: Vec<i64>,
        valid: Vec<u64>,
        reals: Vec<u64>,
        /// Declared `int`.
        only: bool,
    },
    /// Text.
    Text(Texts),
    /// Anything.
    Any(Vec<Value>),
}

/// Cells of text.
pub(super) struct Texts {
    ids: Vec<u32>,
    valid: Vec<u64>,
    index: FxHashMap<Arc<str>, u32>,
    entries: Vec<Arc<str>>,
    /// The entry stored last: logs repeat themselves.
    last: u32,
}

impl Cells {
    /// `rows` nulls.
    pub(super) fn new(expect: Expect, rows: usize) -> Self {
        let words = rows.div_ceil(64);
        match expect {
            Expect::Bool => Cells::Truth(vec![0; words]),
            Expect::Number | Expect::Int => Cells::Number {
                values: vec![0; rows],
                valid: vec![0; words],
                reals: vec![0; words],
                only: expect == Expect::Int,
            },
            Expect::Text => Cells::Text(Texts {
                ids: vec![0; rows],
                valid: vec![0; words],
                index: FxHashMap::default(),
                entries: Vec::new(),
                last: 0,
            }),
            Expect::Any => Cells::Any(vec![Value::Null; rows]),
        }
    }

    pub(super) fn set_null(&mut self, row: usize) {
        match self {
            Cells::Truth(bits) => set(bits, row, false),
            Cells::Number { valid, .. } => set(valid, row, false),
            Cells::Text(texts) => set(&mut texts.valid, row, false),
            Cells::Any(values) => values[row] = Value::Null,
        }
    }

    pub(super) fn set_bool(&mut self, row: usize, bool: bool) -> Option<()> {
        match self {
            Cells::Truth(bits) => set(bits, row, bool),
            Cells::Any(values) => values[row] = Value::Bool(bool),
            _ => return None,
        }
        Some(())
    }

    #[inline(always)]
    pub(super) fn set_int(&mut self, row: usize, int: i64) -> Option<()> {
        match self {
            Cells::Number { values, valid, .. } => {
                values[row] = int;
                set(valid, row, true);
            }
            Cells::Truth(bits) if int == 0 || int == 1 => set(bits, row, int == 1),
            Cells::Any(values) => values[row] = Value::Int(int),
            _ => return None,
        }
        Some(())
    }

    #[inline(always)]
    pub(super) fn set_real(&mut self, row: usize, number: f64) -> Option<()> {
        match self {
            Cells::Number { only: true, .. } => return None,
            Cells::Number { values, valid, reals, .. } => {
                values[row] = number.to_bits() as i64;
                set(valid, row, true);
                set(reals, row, true);
            }
            Cells::Any(values) => values[row] = Value::Real(number),
            _ => return None,
        }
        Some(())
    }

    #[inline(always)]
    pub(super) fn set_text(&mut self, row: usize, text: &[u8]) -> Option<()> {
        match self {
            Cells::Text(texts) => texts.set(row, text)?,
            Cells::Any(values) => values[row] = Value::text(std::str::from_utf8(text).ok()?),
            _ => return None,
        }
        Some(())
    }

    pub(super) fn set_value(&mut self, row: usize, value: &Value) -> Option<()> {
        match value {
            Value::Null => {
                self.set_null(row);
                Some(())
            }
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
            Cells::Truth(bits) => Column::Truth(keep_bits(bits, kept)),
            Cells::Number { values, valid, reals, .. } => {
                let (values, valid, reals) = (keep(values, kept), keep_bits(valid, kept), keep_bits(reals, kept));
                let real = |bits: i64| f64::from_bits(bits as u64);
                match reals.count_ones() {
                    0 => Column::Int { values, valid },
                    all if all == valid.count_ones() => {
                        Column::Real { values: values.into_iter().map(real).collect(), valid }
                    }
                    // Whole numbers stay whole: what they are worth must not depend on where blocks are cut.
                    _ => Column::Any(
                        (0..values.len())
                            .map(|at| match (valid.get(at), reals.get(at)) {
                                (false, _) => Value::Null,
                                (true, false) => Value::Int(values[at]),
                                (true, true) => Value::Real(real(values[at])),
                            })
                            .collect(),
                    ),
                }
            }
            Cells::Text(Texts { ids, valid, entries, .. }) => Column::Text {
                ids: keep(ids, kept),
                dictionary: Dictionary { entries },
                valid: keep_bits(valid, kept),
            },
            Cells::Any(values) => Column::Any(keep(values, kept)),
        }
    }
}

impl Texts {
    #[inline(always)]
    fn set(&mut self, row: usize, text: &[u8]) -> Option<()> {
        let same = self.entries.get(self.last as usize).is_some_and(|last| last.as_bytes() == text);
        if !same {
            self.last = self.id(text)?;
        }
        self.ids[row] = self.last;
        set(&mut self.valid, row, true);
        Some(())
    }

    #[inline(never)]
    fn id(&mut self, text: &[u8]) -> Option<u32> {
        // The block is valid UTF-8 and was cut at ASCII quotes; checking again costs little where texts are new anyway.
        let text = std::str::from_utf8(text).ok()?;
        if let Some(&id) = self.index.get(text) {
            return Some(id);
        }
        let id = u32::try_from(self.entries.len()).ok()?;
        let shared: Arc<str> = text.into();
        self.entries.push(shared.clone());
        self.index.insert(shared, id);
        Some(id)
    }
}

#[inline(always)]
pub(super) fn set(bits: &mut [u64], row: usize, value: bool) {
    let word = &mut bits[row / 64];
    *word = *word & !(1 << (row % 64)) | u64::from(value) << (row % 64);
}

/// The elements of the rows in `kept`: usually a prefix; with blank lines in between, several stretches.
pub(super) fn keep<T>(mut values: Vec<T>, kept: &[Range<usize>]) -> Vec<T> {
    let mut len = 0;
    for range in kept {
        for index in range.clone() {
            if len != index {
                values.swap(len, index);
            }
            len += 1;
        }
    }
    values.truncate(len);
    values
}

fn keep_bits(words: Vec<u64>, kept: &[Range<usize>]) -> Bits {
    if let [range] = kept
        && range.start == 0
    {
        return Bits::from_words(words, range.end);
    }
    kept.iter().cloned().flatten().map(|index| words[index / 64] >> (index % 64) & 1 == 1).collect()
}
