//! Arrow data in and out, by the PyCapsule interface: pointers change hands, columns are not copied.

use crate::error::refused;
use arrow::array::{
    Array, ArrayRef, AsArray, Float64Array, RecordBatch, RecordBatchOptions, StructArray, make_array,
};
use arrow::datatypes::{DataType, Float64Type, Schema, SchemaRef};
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow::ffi_stream::FFI_ArrowArrayStream;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::Arc;

/// A schema, and record batches of it.
pub type Batches = (SchemaRef, Vec<RecordBatch>);

fn arrow_error(error: impl std::fmt::Display) -> PyErr {
    refused(format!("the Arrow data cannot be read: {error}"))
}

/// What a stream is of, and what it delivers.
fn chunks(object: &Bound<'_, PyAny>) -> PyResult<(FFI_ArrowSchema, Vec<ArrayRef>)> {
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name holds a stream of the C interface; it is moved out, and its release callback with it,
    // as the interface asks of a consumer.
    let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr().cast()) };
    let (Some(get_schema), Some(get_next)) = (stream.get_schema, stream.get_next) else {
        return Err(arrow_error("the stream was released"));
    };
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: the stream is not released, and its own callbacks are called with it.
    if unsafe { get_schema(&mut stream, &mut schema) } != 0 {
        return Err(stopped(&mut stream));
    }
    let mut delivered = Vec::new();
    loop {
        let mut chunk = FFI_ArrowArray::empty();
        // A stream may compute what it delivers, and may need the GIL for that.
        let mut ready = Ready(&mut stream, &mut chunk);
        // SAFETY: as above.
        let code = object.py().detach(move || unsafe { ready.next(get_next) });
        if code != 0 {
            return Err(stopped(&mut stream));
        }
        if chunk.is_released() {
            return Ok((schema, delivered));
        }
        without_null_buffers(&mut chunk, &schema);
        // SAFETY: the stream says that its arrays have this schema.
        let data = unsafe { from_ffi(chunk, &schema) };
        delivered.push(make_array(data.map_err(arrow_error)?));
    }
}

/// A stream and where its next array goes: used by one thread at a time.
struct Ready<'a>(&'a mut FFI_ArrowArrayStream, &'a mut FFI_ArrowArray);

// SAFETY: the C interface lets a stream be used from any thread, if not from two at once; whoever holds this holds it alone.
unsafe impl Send for Ready<'_> {}

/// Asks a stream for its next array.
type GetNext = unsafe extern "C" fn(*mut FFI_ArrowArrayStream, *mut FFI_ArrowArray) -> std::ffi::c_int;

impl Ready<'_> {
    /// # Safety
    /// The function is the stream's own, which is not released.
    unsafe fn next(&mut self, get_next: GetNext) -> std::ffi::c_int {
        // SAFETY: as the caller promises.
        unsafe { get_next(self.0, self.1) }
    }
}

/// Why a stream ended.
fn stopped(stream: &mut FFI_ArrowArrayStream) -> PyErr {
    let Some(get_last_error) = stream.get_last_error else { return arrow_error("it ended with an error") };
    // SAFETY: the stream is not released; what it says lives until it is used again.
    let text = unsafe {
        let text = get_last_error(stream);
        (!text.is_null()).then(|| std::ffi::CStr::from_ptr(text).to_string_lossy().into_owned())
    };
    arrow_error(text.unwrap_or_else(|| "it ended with an error".into()))
}

/// The first fields of the C interface's array, as it lays them out.
#[repr(C)]
struct Layout {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const std::ffi::c_void,
    children: *mut *mut FFI_ArrowArray,
    dictionary: *mut FFI_ArrowArray,
}

/// Arrays of nulls alone have no buffers, but some producers (polars) count one, which the import refuses.
fn without_null_buffers(array: &mut FFI_ArrowArray, schema: &FFI_ArrowSchema) {
    // SAFETY: the layout is fixed by the C interface; only the number of buffers is written, of arrays whose buffers nobody reads.
    // Release callbacks go by their private data.
    unsafe {
        let own = &mut *std::ptr::from_mut(array).cast::<Layout>();
        if schema.format() == "n" {
            own.n_buffers = 0;
        }
        for (at, child) in schema.children().enumerate().take(usize::try_from(own.n_children).unwrap_or(0)) {
            if let Some(array) = own.children.add(at).read().as_mut() {
                without_null_buffers(array, child);
            }
        }
    }
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
        let mut array = FFI_ArrowArray::from_raw(array.as_ptr().cast());
        let schema = &*schema.as_ptr().cast::<FFI_ArrowSchema>();
        without_null_buffers(&mut array, schema);
        from_ffi(array, schema)
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
        let (schema, chunks) = chunks(object)?;
        if !schema.format().starts_with("+s") {
            let kind = DataType::try_from(&schema).map_err(arrow_error)?;
            return Err(refused(format!("found an Arrow stream of type {kind}, expected a table")));
        }
        let schema = Arc::new(Schema::try_from(&schema).map_err(arrow_error)?);
        let rows = |chunk: ArrayRef| {
            let rows = chunk.as_struct();
            let columns = rows.columns().to_vec();
            let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
            RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &options)
        };
        let batches = chunks.into_iter().map(rows).collect::<Result<Vec<_>, _>>();
        return Ok((Arc::clone(&schema), batches.map_err(arrow_error)?));
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
    let (schema, mut chunks) = chunks(object)?;
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
