//! Arrow data in and out, by the PyCapsule interface: pointers change hands, columns are not copied.

use crate::error::refused;
use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchReader, StructArray, make_array};
use arrow::array::{AsArray, Float64Array};
use arrow::datatypes::{DataType, Float64Type, SchemaRef};
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::Arc;

/// A schema, and record batches of it.
pub type Batches = (SchemaRef, Vec<RecordBatch>);

fn arrow_error(error: impl std::fmt::Display) -> PyErr {
    refused(format!("the Arrow data cannot be read: {error}"))
}

/// The stream of an object that has one.
fn stream(object: &Bound<'_, PyAny>) -> PyResult<ArrowArrayStreamReader> {
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name holds a stream of the C interface; it is moved out, and its release callback with it,
    // as the interface asks of a consumer.
    unsafe { ArrowArrayStreamReader::from_raw(pointer.as_ptr().cast()) }.map_err(arrow_error)
}

/// The array of an object that has one.
fn array(object: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let pair = object.call_method0("__arrow_c_array__")?;
    let (schema, array) = pair.extract::<(Bound<'_, PyCapsule>, Bound<'_, PyCapsule>)>()?;
    let schema = schema.pointer_checked(Some(c"arrow_schema"))?;
    let array = array.pointer_checked(Some(c"arrow_array"))?;
    // SAFETY: capsules of these names hold what the C interface says; the array is moved out with its release callback, the
    // schema is looked at and stays the capsule's.
    let data = unsafe {
        let array = FFI_ArrowArray::from_raw(array.as_ptr().cast());
        from_ffi(array, &*schema.as_ptr().cast::<FFI_ArrowSchema>())
    };
    Ok(make_array(data.map_err(arrow_error)?))
}

/// Whether an object offers Arrow data.
pub fn offers(object: &Bound<'_, PyAny>) -> bool {
    ["__arrow_c_stream__", "__arrow_c_array__"].iter().any(|name| object.hasattr(*name).unwrap_or(false))
}

/// The record batches of a table, data frame, relation or record batch.
pub fn batches(object: &Bound<'_, PyAny>) -> PyResult<Batches> {
    if object.hasattr("__arrow_c_stream__")? {
        let reader = stream(object)?;
        let schema = reader.schema();
        let DataType::Struct(_) = DataType::Struct(schema.fields().clone()) else {
            return Err(refused("expected a table"));
        };
        // A stream may compute what it delivers, and may need the GIL for that.
        let batches = object.py().detach(|| reader.collect::<Result<Vec<_>, _>>());
        return Ok((schema, batches.map_err(arrow_error)?));
    }
    let array = array(object)?;
    match array.as_any().downcast_ref::<StructArray>() {
        Some(rows) => {
            let batch = RecordBatch::from(rows.clone());
            Ok((batch.schema(), vec![batch]))
        }
        None => Err(refused(format!("found an Arrow array of type {}, expected a table", array.data_type()))),
    }
}

/// One column of an object that is an array or a chunked array.
pub fn column(object: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    if object.hasattr("__arrow_c_array__")? {
        return array(object);
    }
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: as in `stream`; what it delivers are arrays of its schema, whatever type that is.
    let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr().cast()) };
    let (Some(get_schema), Some(get_next)) = (stream.get_schema, stream.get_next) else {
        return Err(arrow_error("the stream was released"));
    };
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: the stream is not released, and its own callbacks are called with it.
    if unsafe { get_schema(&mut stream, &mut schema) } != 0 {
        return Err(arrow_error("it has no schema"));
    }
    let mut chunks: Vec<ArrayRef> = Vec::new();
    loop {
        let mut chunk = FFI_ArrowArray::empty();
        // SAFETY: as above.
        if unsafe { get_next(&mut stream, &mut chunk) } != 0 {
            return Err(arrow_error("it ended with an error"));
        }
        if chunk.is_released() {
            break;
        }
        // SAFETY: the stream says that its arrays have this schema.
        let data = unsafe { from_ffi(chunk, &schema) };
        chunks.push(make_array(data.map_err(arrow_error)?));
    }
    let kind = DataType::try_from(&schema).map_err(arrow_error)?;
    match chunks.len() {
        0 => Ok(arrow::array::new_empty_array(&kind)),
        1 => Ok(chunks.remove(0)),
        _ => {
            let chunks: Vec<&dyn Array> = chunks.iter().map(AsRef::as_ref).collect();
            arrow::compute::concat(&chunks).map_err(arrow_error)
        }
    }
}

/// A table as a stream that others take.
pub fn export<'py>(
    py: Python<'py>,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let reader = arrow::array::RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
}

/// The schema of a table.
pub fn export_schema<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema.as_ref()).map_err(arrow_error)?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

/// The batches with timestamps that are on the grid of nanoseconds. A binary number is hardly ever the decimal that was meant
/// (`0.1 + 0.2`), so that it stands for the nearest one; the columns are left alone if all are on the grid.
pub fn on_grid((schema, mut batches): Batches, time: &str, digits: usize) -> PyResult<Batches> {
    let found = schema.fields().iter().position(|field| field.name() == time);
    let Some(column) = found.filter(|&at| *schema.field(at).data_type() == DataType::Float64) else {
        return Ok((schema, batches));
    };
    for batch in &mut batches {
        let times = batch.column(column).as_primitive::<Float64Type>();
        if times.iter().flatten().all(|time| rounded(time, digits) == time) {
            continue;
        }
        let mut columns = batch.columns().to_vec();
        columns[column] = Arc::new(
            times.iter().map(|time| time.map(|time| rounded(time, digits))).collect::<Float64Array>(),
        );
        *batch = RecordBatch::try_new(batch.schema(), columns).map_err(arrow_error)?;
    }
    Ok((schema, batches))
}

/// The nearest number with so many digits behind the point.
pub fn rounded(number: f64, digits: usize) -> f64 {
    let scale = 10f64.powi(digits as i32);
    // Products up to here are whole numbers that a float holds exactly.
    if number.abs() * scale < 1e15 {
        return (number * scale).round() / scale;
    }
    format!("{number:.digits$}").parse().unwrap_or(number)
}
