//! Arrays of texts, plain or by dictionary, as numbered texts: memory is taken once for each different text.

use super::leaf;
use crate::cell::value;
use arrow::array::{Array, AsArray};
use arrow::datatypes::DataType;
use std::fmt::Write;
use tw_core::{Bits, Column};
use tw_ir::Expect;
use tw_trace::ColumnBuilder;

fn is_plain(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Whether an array holds texts, or numbers of texts.
pub(super) fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_plain(values),
        kind => is_plain(kind),
    }
}

/// A cell of a plain array that is not null.
fn plain(array: &dyn Array, at: usize) -> Option<&str> {
    match array.data_type() {
        DataType::Utf8 => Some(array.as_string::<i32>().value(at)),
        DataType::LargeUtf8 => Some(array.as_string::<i64>().value(at)),
        DataType::Utf8View => Some(array.as_string_view().value(at)),
        _ => None,
    }
}

/// The texts where `valid`; null also where a dictionary says so.
pub(super) fn column(array: &dyn Array, valid: Bits) -> Option<Column> {
    let mut texts = ColumnBuilder::new(Expect::Text);
    if let DataType::Dictionary(..) = array.data_type() {
        return coded(array, valid);
    }
    texts.reserve(array.len());
    macro_rules! each {
        ($array:expr) => {{
            let array = $array;
            for at in 0..array.len() {
                if valid.get(at) {
                    texts.push_text(array.value(at)).ok()?;
                } else {
                    texts.push_null();
                }
            }
        }};
    }
    match array.data_type() {
        DataType::Utf8 => each!(array.as_string::<i32>()),
        DataType::LargeUtf8 => each!(array.as_string::<i64>()),
        DataType::Utf8View => each!(array.as_string_view()),
        _ => return None,
    }
    Some(texts.finish())
}

/// Texts by a dictionary: each of its texts is looked up once, when it first occurs.
fn coded(array: &dyn Array, mut valid: Bits) -> Option<Column> {
    let dictionary = array.as_any_dictionary();
    let values = dictionary.values();
    // An empty dictionary has no keys to be made fit.
    if values.is_empty() {
        return Some(super::nulls(Expect::Text, array.len()));
    }
    const UNSEEN: u32 = u32::MAX;
    const NULL: u32 = u32::MAX - 1;
    let mut numbers = vec![UNSEEN; values.len()];
    let mut texts = ColumnBuilder::new(Expect::Text);
    let mut ids = vec![0; array.len()];
    for (at, key) in dictionary.normalized_keys().into_iter().enumerate() {
        if !valid.get(at) {
            continue;
        }
        if numbers[key] == UNSEEN {
            numbers[key] = match values.is_null(key) {
                true => NULL,
                false => {
                    texts.push_text(plain(values, key)?).ok()?;
                    let ColumnBuilder::Text { ids, .. } = &texts else { return None };
                    *ids.last()?
                }
            };
        }
        match numbers[key] {
            NULL => valid.set(at, false),
            number => ids[at] = number,
        }
    }
    let Column::Text { dictionary, .. } = texts.finish() else { return None };
    Some(leaf::texts(ids, dictionary, valid))
}

/// The text of one cell: `None` if the array is not of texts, nothing within if the cell is null.
pub(super) fn at(array: &dyn Array, at: usize) -> Option<Option<&str>> {
    if array.is_null(at) && is_text(array.data_type()) {
        return Some(None);
    }
    match array.data_type() {
        DataType::Dictionary(_, values) if is_plain(values) => {
            let dictionary = array.as_any_dictionary();
            let Ok(tw_core::Value::Int(key)) = value(dictionary.keys(), at, 0) else { return None };
            let (key, values) = (usize::try_from(key).ok()?, dictionary.values());
            match key < values.len() && !values.is_null(key) {
                true => plain(values, key).map(Some),
                false => Some(None),
            }
        }
        _ => plain(array, at).map(Some),
    }
}

/// The keys of an array of any kind, as texts, and whether any is there. An empty text is no key.
pub(super) fn keys(array: &dyn Array, present: Option<&Bits>) -> Option<(Column, bool)> {
    let mut found = false;
    let mut column = ColumnBuilder::new(Expect::Text);
    column.reserve(array.len());
    let mut buffer = String::new();
    for cell in 0..array.len() {
        if present.is_some_and(|present| !present.get(cell)) {
            column.push_null();
            continue;
        }
        let text = match at(array, cell) {
            Some(text) => text,
            None => match value(array, cell, 0).ok()? {
                tw_core::Value::Null => None,
                value => {
                    buffer.clear();
                    write!(buffer, "{value}").ok()?;
                    Some(buffer.as_str())
                }
            },
        };
        found |= text.is_some();
        match text.filter(|text| !text.is_empty()) {
            Some(text) => column.push_text(text).ok()?,
            None => column.push_null(),
        }
    }
    Some((column.finish(), found))
}
