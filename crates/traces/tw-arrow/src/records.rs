//! Record batches in memory as a trace.

use crate::parts;
use crate::rows::{Layout, Source};
use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use tw_trace::{Parts, Projection, ReadOptions, RowSource, Table, TraceError, TraceErrorKind, quote};

/// Record batches of one schema, one after the other: one row is one position, as in a file of format `arrow`. They are not
/// copied.
#[derive(Clone, Debug)]
pub struct Records {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Vec<RecordBatch>,
}

impl Records {
    /// Of batches that have the columns of `schema`, by name and in its order.
    pub fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Result<Self, TraceError> {
        for (number, batch) in batches.iter().enumerate() {
            fits(&schema, batch).map_err(|mut error| {
                error.message = format!("batch {}: {}", number + 1, error.message);
                error
            })?;
        }
        Ok(Self { schema, batches })
    }
}

/// Whether a batch has the columns of a schema.
pub(crate) fn fits(schema: &Schema, batch: &RecordBatch) -> Result<(), TraceError> {
    let own = batch.schema();
    let (found, expected) = (own.fields(), schema.fields());
    let usage = |message| Err(TraceError::new(TraceErrorKind::Usage, message));
    if found.len() != expected.len() {
        return usage(format!("found {} columns, expected {} by the schema", found.len(), expected.len()));
    }
    for (found, expected) in found.iter().zip(expected) {
        if found.name() != expected.name() || found.data_type() != expected.data_type() {
            return usage(format!(
                "found the column {} of type {}, expected {} of type {} by the schema",
                quote(found.name()),
                found.data_type(),
                quote(expected.name()),
                expected.data_type()
            ));
        }
    }
    Ok(())
}

impl Table for Records {
    fn bytes(&self) -> u64 {
        self.batches.iter().map(|batch| batch.get_array_memory_size() as u64).sum()
    }

    fn rows<'a>(&'a self, options: &ReadOptions) -> Result<Box<dyn RowSource + Send + 'a>, TraceError> {
        let layout = Layout::new(&self.schema, options)?;
        Ok(Box::new(Source::new(self.batches.clone().into_iter(), layout)))
    }

    fn parts<'a>(&'a self, projection: &Projection, options: &ReadOptions) -> Result<Parts<'a>, TraceError> {
        let layout = Layout::new(&self.schema, options)?;
        Ok(parts::parts(self.batches.clone().into_iter(), layout, projection, options))
    }
}
