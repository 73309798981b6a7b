//! Columns of plain Python as record batches: lists, arrays of numpy, Arrow arrays.

use crate::arrow_data;
use crate::error::refused;
use arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, NullArray, RecordBatch, StringArray,
    TimestampNanosecondArray,
};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::datatypes::{Field, Schema};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyString};
use std::sync::Arc;

/// The columns as one record batch; `None` if one of them holds what Arrow has no plain type for (nested or mixed values), so
/// that rows are the better way.
pub fn batch(columns: &Bound<'_, PyDict>) -> PyResult<Option<arrow_data::Batches>> {
    let (mut fields, mut arrays): (Vec<Field>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    for (name, values) in columns.iter() {
        let name = name.str()?.to_string();
        let Some(array) = column(&values)? else { return Ok(None) };
        if let Some(first) = arrays.first().filter(|first| first.len() != array.len()) {
            return Err(refused(format!(
                "the column `{name}` has {} values, but `{}` has {}",
                array.len(),
                fields[0].name(),
                first.len()
            )));
        }
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    }
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays);
    let batch = batch.map_err(|error| refused(format!("the columns are no table: {error}")))?;
    Ok(Some((schema, vec![batch])))
}

fn column(values: &Bound<'_, PyAny>) -> PyResult<Option<ArrayRef>> {
    if arrow_data::offers(values) {
        return arrow_data::column(values).map(Some);
    }
    if values.hasattr("dtype")? && values.hasattr("tobytes")? {
        return of_numpy(values);
    }
    of_objects(values)
}

/// An array of numpy, by its kind.
fn of_numpy(values: &Bound<'_, PyAny>) -> PyResult<Option<ArrayRef>> {
    let kind: String = values.getattr("dtype")?.getattr("kind")?.extract()?;
    let bytes = |kind: &str| -> PyResult<Vec<u8>> {
        let array = values.call_method1("astype", (kind,))?;
        Ok(array.call_method0("tobytes")?.cast::<PyBytes>()?.as_bytes().to_vec())
    };
    let words = |bytes: Vec<u8>| {
        bytes.chunks_exact(8).map(|word| word.try_into().unwrap_or_default()).collect::<Vec<[u8; 8]>>()
    };
    Ok(Some(match kind.as_str() {
        "f" => {
            Arc::new(Float64Array::from_iter_values(words(bytes("<f8")?).into_iter().map(f64::from_le_bytes)))
        }
        "i" => {
            Arc::new(Int64Array::from_iter_values(words(bytes("<i8")?).into_iter().map(i64::from_le_bytes)))
        }
        "b" => {
            let bytes = bytes("?")?;
            Arc::new(BooleanArray::new(BooleanBuffer::collect_bool(bytes.len(), |at| bytes[at] != 0), None))
        }
        "M" => {
            let stamps =
                values.call_method1("astype", ("datetime64[ns]",))?.call_method1("astype", ("<i8",))?;
            let bytes = stamps.call_method0("tobytes")?.cast::<PyBytes>()?.as_bytes().to_vec();
            let stamps: Vec<i64> = words(bytes).into_iter().map(i64::from_le_bytes).collect();
            // "Not a time" is the least number.
            let valid =
                NullBuffer::new(BooleanBuffer::collect_bool(stamps.len(), |at| stamps[at] != i64::MIN));
            Arc::new(TimestampNanosecondArray::new(stamps.into(), Some(valid)))
        }
        _ => return of_objects(&values.call_method0("tolist")?),
    }))
}

/// What the values of a column have been so far.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Nothing,
    Truth,
    Whole,
    Real,
    Text,
}

/// Any sequence, by the values in it.
fn of_objects(values: &Bound<'_, PyAny>) -> PyResult<Option<ArrayRef>> {
    if values.is_instance_of::<PyString>() {
        return Err(refused("a column is a list of values, but found a text"));
    }
    let items = values.try_iter().map_err(|_| refused("a column is a list of values, or an array"))?;
    let items = items.collect::<PyResult<Vec<_>>>()?;
    let mut kind = Kind::Nothing;
    for item in &items {
        let own = if item.is_none() {
            continue;
        } else if item.is_instance_of::<PyBool>() {
            Kind::Truth
        } else if item.is_instance_of::<PyInt>() {
            // What 64 bits do not hold is the reader's to refuse.
            if item.extract::<i64>().is_err() {
                return Ok(None);
            }
            Kind::Whole
        } else if item.is_instance_of::<PyFloat>() {
            Kind::Real
        } else if item.is_instance_of::<PyString>() {
            Kind::Text
        } else {
            return Ok(None);
        };
        kind = match (kind, own) {
            (Kind::Nothing, own) => own,
            (kind, own) if kind == own => own,
            // 1 and 1.5 in one column: rows keep each as it is.
            _ => return Ok(None),
        };
    }
    let some = |item: &Bound<'_, PyAny>| !item.is_none();
    Ok(Some(match kind {
        Kind::Nothing => Arc::new(NullArray::new(items.len())),
        Kind::Truth => {
            let truths = items.iter().map(|item| some(item).then(|| item.is_truthy()).transpose());
            Arc::new(truths.collect::<PyResult<BooleanArray>>()?)
        }
        Kind::Whole => {
            let numbers = items.iter().map(|item| some(item).then(|| item.extract::<i64>()).transpose());
            Arc::new(numbers.collect::<PyResult<Int64Array>>()?)
        }
        Kind::Real => {
            let numbers = items.iter().map(|item| some(item).then(|| item.extract::<f64>()).transpose());
            Arc::new(numbers.collect::<PyResult<Float64Array>>()?)
        }
        Kind::Text => {
            let texts = items.iter().map(|item| some(item).then(|| item.extract::<String>()).transpose());
            Arc::new(texts.collect::<PyResult<StringArray>>()?)
        }
    }))
}
