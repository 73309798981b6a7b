//! One array as the column of a slot.

use super::text;
use crate::cell::value;
use arrow::array::{Array, AsArray};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::*;
use std::fmt::Write;
use tw_core::{Bits, Column, Dictionary, Value};
use tw_ir::Expect;
use tw_trace::ColumnBuilder;

/// Arrow's bits as ours.
pub(super) fn bits(buffer: &BooleanBuffer) -> Bits {
    let chunks = buffer.bit_chunks();
    let mut words: Vec<u64> = chunks.iter().collect();
    if chunks.remainder_len() > 0 {
        words.push(chunks.remainder_bits());
    }
    Bits::from_words(words, buffer.len())
}

/// Where both are set.
pub(super) fn both(mut one: Bits, other: &Bits) -> Bits {
    one.words_mut().iter_mut().zip(other.words()).for_each(|(one, other)| *one &= other);
    one
}

/// Where an array has a value, as far as its own mask says, and the structures around it do.
pub(super) fn valid(array: &dyn Array, present: Option<&Bits>) -> Bits {
    let own = match array.nulls() {
        _ if *array.data_type() == DataType::Null => Bits::repeat(false, array.len()),
        Some(nulls) => bits(nulls.inner()),
        None => Bits::repeat(true, array.len()),
    };
    match present {
        Some(present) => both(own, present),
        None => own,
    }
}

/// Whole numbers of up to 64 bits, unchecked where null.
pub(super) fn ints(array: &dyn Array) -> Option<Vec<i64>> {
    macro_rules! of {
        ($kind:ty) => {
            array.as_primitive::<$kind>().values().iter().map(|&number| number.into()).collect()
        };
    }
    Some(match array.data_type() {
        DataType::Int8 => of!(Int8Type),
        DataType::Int16 => of!(Int16Type),
        DataType::Int32 => of!(Int32Type),
        DataType::Int64 => array.as_primitive::<Int64Type>().values().to_vec(),
        DataType::UInt8 => of!(UInt8Type),
        DataType::UInt16 => of!(UInt16Type),
        DataType::UInt32 => of!(UInt32Type),
        // Numbers beyond are found before, by `sound`.
        DataType::UInt64 => {
            array.as_primitive::<UInt64Type>().values().iter().map(|&number| number as i64).collect()
        }
        DataType::Duration(TimeUnit::Second) => array.as_primitive::<DurationSecondType>().values().to_vec(),
        DataType::Duration(TimeUnit::Millisecond) => {
            array.as_primitive::<DurationMillisecondType>().values().to_vec()
        }
        DataType::Duration(TimeUnit::Microsecond) => {
            array.as_primitive::<DurationMicrosecondType>().values().to_vec()
        }
        DataType::Duration(TimeUnit::Nanosecond) => {
            array.as_primitive::<DurationNanosecondType>().values().to_vec()
        }
        _ => return None,
    })
}

/// Other numbers; `sound` has found those that are not finite.
pub(super) fn reals(array: &dyn Array) -> Option<Vec<f64>> {
    Some(match array.data_type() {
        DataType::Float64 => array.as_primitive::<Float64Type>().values().to_vec(),
        DataType::Float16 => {
            array.as_primitive::<Float16Type>().values().iter().map(|&real| real.into()).collect()
        }
        // By way of their shortest text, as single cells are.
        DataType::Float32 => {
            let mut text = String::new();
            let mut wide = |real: f32| {
                if real.fract() == 0.0 && real.abs() < 16_777_216.0 {
                    return f64::from(real);
                }
                text.clear();
                let written = write!(text, "{real}");
                written.ok().and_then(|()| text.parse().ok()).unwrap_or(f64::from(real))
            };
            array.as_primitive::<Float32Type>().values().iter().map(|&real| wide(real)).collect()
        }
        _ => return None,
    })
}

/// A sound array's column; `None` if a cell does not fit its use.
pub(super) fn column(array: &dyn Array, expect: Expect, present: Option<&Bits>) -> Option<Column> {
    let valid = valid(array, present);
    let len = array.len();
    if valid.count_ones() == 0 {
        return Some(super::nulls(expect, len));
    }
    if text::is_text(array.data_type()) {
        return match expect {
            Expect::Text | Expect::Line => text::column(array, valid),
            // A dictionary may hold nulls of its own, so it is not known yet whether any is a text.
            Expect::Any => match text::column(array, valid)? {
                Column::Text { dictionary, .. } if dictionary.entries.is_empty() => {
                    Some(Column::Any(vec![Value::Null; len]))
                }
                column => Some(column),
            },
            _ => cells(array, expect, present),
        };
    }
    if *array.data_type() == DataType::Boolean {
        let values = bits(array.as_boolean().values());
        return match expect {
            Expect::Bool => Some(Column::Truth(both(values, &valid))),
            Expect::Any => Some(any(&valid, |at| Value::Bool(values.get(at)))),
            _ => None,
        };
    }
    if let Some(values) = ints(array) {
        return match expect {
            Expect::Number | Expect::Real | Expect::Int => Some(Column::Int { values, valid }),
            Expect::Any => Some(any(&valid, |at| Value::Int(values[at]))),
            Expect::Bool => {
                let truth: Bits = values.iter().map(|&value| value == 1).collect();
                let fits = valid.iter_ones().all(|at| (0..=1).contains(&values[at]));
                fits.then(|| Column::Truth(both(truth, &valid)))
            }
            Expect::Text | Expect::Line => None,
        };
    }
    if let Some(values) = reals(array) {
        return match expect {
            Expect::Number | Expect::Real => Some(Column::Real { values, valid }),
            Expect::Any => Some(any(&valid, |at| Value::Real(values[at]))),
            _ => None,
        };
    }
    cells(array, expect, present)
}

fn any(valid: &Bits, value: impl Fn(usize) -> Value) -> Column {
    let cell = |at| if valid.get(at) { value(at) } else { Value::Null };
    Column::Any((0..valid.len()).map(cell).collect())
}

/// Cell by cell: what each is, and what that is worth in its use.
fn cells(array: &dyn Array, expect: Expect, present: Option<&Bits>) -> Option<Column> {
    let mut column = ColumnBuilder::new(expect);
    column.reserve(array.len());
    for at in 0..array.len() {
        match present.is_none_or(|present| present.get(at)) {
            true => column.push_value(&value(array, at, 0).ok()?).ok()?,
            false => column.push_null(),
        }
    }
    Some(column.finish())
}

/// Texts by number.
pub(super) fn texts(ids: Vec<u32>, dictionary: Dictionary, valid: Bits) -> Column {
    Column::Text { ids, dictionary, valid }
}
