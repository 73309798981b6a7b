//! From columns to cells and back.

use super::ops::{BLOCK, Cell, NULL, SMALL, TRUE};
use super::{At, Val};
use tw_core::{Bits, Column, Value};

/// Reals, with nulls as cells; false if a value is no number although it is there.
pub(super) fn reals(cells: &mut [Cell], values: &[f64], valid: &Bits, from: usize) -> bool {
    let mut odd = false;
    for (cell, number) in cells.iter_mut().zip(values) {
        *cell = number.to_bits();
        odd |= number.is_nan();
    }
    let word = bits(valid, from, cells.len());
    if word == ones(cells.len()) {
        return !odd;
    }
    let mut strange = false;
    for (at, cell) in cells.iter_mut().enumerate() {
        if word >> at & 1 == 0 {
            *cell = NULL;
        } else {
            strange |= f64::from_bits(*cell).is_nan();
        }
    }
    !strange
}

/// The lowest `count` bits.
fn ones(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// Up to 64 bits from a position on.
fn bits(bits: &Bits, from: usize, count: usize) -> u64 {
    let words = bits.words();
    let (word, shift) = (from / 64, from % 64);
    let low = words.get(word).copied().unwrap_or(0) >> shift;
    let high = if shift == 0 { 0 } else { words.get(word + 1).copied().unwrap_or(0) << (64 - shift) };
    (low | high) & ones(count)
}

/// Bits as cells.
pub(super) fn spread(cells: &mut [Cell], from: &Bits, at: usize) {
    let word = bits(from, at, cells.len());
    for (at, cell) in cells.iter_mut().enumerate() {
        *cell = (word >> at & 1).wrapping_neg();
    }
}

/// Cells as bits: the highest of each.
fn packed(cells: &[Cell], test: impl Fn(Cell) -> bool) -> u64 {
    let mut bytes = [0u8; BLOCK];
    for (byte, &cell) in bytes.iter_mut().zip(cells) {
        *byte = u8::from(test(cell));
    }
    let mut word = 0;
    for (at, eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
        // Byte j holds bit 8j; the factor moves each to bit 56 + j.
        word |= (u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * at);
    }
    word
}

/// A value as cells; `None` if it is of another kind.
pub(super) fn cells(val: Val, value: &Value) -> Option<impl Iterator<Item = (At, Cell)> + use<>> {
    let (first, second) = match (val, value) {
        // A truth value that is not there is false.
        (Val::Truth(at), Value::Null) => ((at, 0), None),
        (Val::Truth(at), Value::Bool(truth)) => ((at, if *truth { TRUE } else { 0 }), None),
        (Val::Int { value: at, valid }, Value::Int(number)) => ((at, *number as u64), Some((valid, TRUE))),
        (Val::Int { value: at, valid }, Value::Null) => ((at, 0), Some((valid, 0))),
        (Val::Real { value: at, .. }, Value::Real(number)) if !number.is_nan() => {
            ((at, number.to_bits()), None)
        }
        (Val::Real { value: at, .. }, Value::Null) => ((at, NULL), None),
        (Val::Real { value: at, whole: Some(_) }, Value::Int(number)) if number.unsigned_abs() <= SMALL => {
            ((at, (*number as f64).to_bits()), None)
        }
        _ => return None,
    };
    Some(std::iter::once(first).chain(second))
}

/// A column under construction.
pub(super) enum Building {
    Truth(Bits),
    Int(Vec<i64>, Bits),
    Real(Vec<f64>, Bits),
}

impl Building {
    pub fn new(val: Val, len: usize, old: Column) -> Self {
        match (val, old) {
            (Val::Int { .. }, Column::Int { mut values, .. }) => {
                values.clear();
                Building::Int(values, Bits::with_capacity(len))
            }
            (Val::Real { .. }, Column::Real { mut values, .. }) => {
                values.clear();
                Building::Real(values, Bits::with_capacity(len))
            }
            (Val::Int { .. }, _) => Building::Int(Vec::with_capacity(len), Bits::with_capacity(len)),
            (Val::Real { .. }, _) => Building::Real(Vec::with_capacity(len), Bits::with_capacity(len)),
            (Val::Truth(_) | Val::Null, _) => Building::Truth(Bits::with_capacity(len)),
        }
    }

    pub fn push(&mut self, file: &[Cell], val: Val, place: impl Fn(At) -> usize, count: usize) {
        let cells = |at: At| &file[place(at)..place(at) + count];
        match (self, val) {
            (Building::Truth(bits), Val::Truth(at)) => {
                bits.push_word(packed(cells(at), |cell| cell != 0), count);
            }
            (Building::Int(values, bits), Val::Int { value, valid }) => {
                values.extend(cells(value).iter().map(|&cell| cell as i64));
                bits.push_word(packed(cells(valid), |cell| cell != 0), count);
            }
            (Building::Real(values, bits), Val::Real { value, .. }) => {
                let cells = cells(value);
                values.extend(cells.iter().map(|&cell| f64::from_bits(cell)));
                bits.push_word(packed(cells, |cell| !f64::from_bits(cell).is_nan()), count);
            }
            _ => {}
        }
    }

    pub fn finish(self) -> Column {
        match self {
            Building::Truth(bits) => Column::Truth(bits),
            Building::Int(values, valid) => Column::Int { values, valid },
            Building::Real(values, valid) => Column::Real { values, valid },
        }
    }
}
