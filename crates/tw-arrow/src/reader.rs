//! Record batches as they come, for a program that feeds a monitor.

use crate::columns::Mapper;
use crate::records::fits;
use crate::rows::{Layout, Source};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use std::sync::Arc;
use tw_core::Batch;
use tw_trace::{Projection, ReadOptions, Row, RowSource, SlotBuilder, TraceError, TraceWarning, Vocabulary};

/// Turns record batches of one schema, one after the other, into the batches that a projection asks for.
///
/// ```
/// use arrow::array::{Int64Array, RecordBatch};
/// use std::sync::Arc;
/// use tw_arrow::Reader;
/// use tw_trace::{Projection, ReadOptions};
///
/// let column = Arc::new(Int64Array::from(vec![1, 2])) as _;
/// let records = RecordBatch::try_from_iter([("time", column)]).unwrap();
/// let projection = Projection { times: true, ..Projection::default() };
/// let mut reader = Reader::new(&projection, &records.schema(), &ReadOptions::default()).unwrap();
/// let batch = reader.read(&records).unwrap();
/// assert_eq!(batch.times, Some(vec![1_000_000_000, 2_000_000_000]));
/// ```
///
/// Lines in errors are numbers of rows, counted from 1 over all batches. Timestamps must not decrease within a batch
/// or from batch to batch, unless `ReadOptions::any_order` leaves that to somebody else; all rows have one or none has.
/// After an error the batch counts as not read: the next one goes on from where the one before it ended.
pub struct Reader<'a> {
    mapper: Mapper<'a>,
    schema: SchemaRef,
    order: tw_trace::Order,
    seen: Vocabulary,
    rows: u64,
}

impl<'a> Reader<'a> {
    /// A reader that has read nothing. `options` name the time and event columns and the unit of timestamps.
    pub fn new(
        projection: &Projection<'a>,
        schema: &SchemaRef,
        options: &ReadOptions,
    ) -> Result<Self, TraceError> {
        let layout = Arc::new(Layout::new(schema, options)?);
        let mut seen = Vocabulary::new(projection.slots.len());
        seen.has_events = layout.event.is_some();
        Ok(Self {
            mapper: Mapper::new(layout, projection, options),
            schema: schema.clone(),
            order: tw_trace::Order::new(options),
            seen,
            rows: 0,
        })
    }

    /// One column per slot of the projection (and the key's), and timestamps if it asks for them and the rows have them.
    pub fn read(&mut self, records: &RecordBatch) -> Result<Batch, TraceError> {
        fits(&self.schema, records)?;
        if records.num_rows() == 0 {
            return Ok(SlotBuilder::new(&self.mapper.projection).finish(false));
        }
        let mut seen = Vocabulary::new(self.mapper.projection.slots.len());
        if let Some(read) = self.mapper.read(records, &mut seen) {
            let mut order = self.order.clone();
            if order.takes(read.times) {
                self.order = order;
                self.seen.merge(&seen);
                self.rows += records.num_rows() as u64;
                return Ok(read.batch);
            }
        }
        self.by_rows(records)
    }

    /// The same by the definition, which finds what is wrong.
    fn by_rows(&mut self, records: &RecordBatch) -> Result<Batch, TraceError> {
        let before = self.rows;
        let absolute = |mut error: TraceError| {
            error.line = error.line.map(|line| line + before);
            error
        };
        let (mut order, mut seen) = (self.order.clone(), self.seen.clone());
        let mut builder = SlotBuilder::new(&self.mapper.projection);
        let mut source = Source::new(vec![records.clone()].into_iter(), self.mapper.layout.clone());
        let mut row = Row::default();
        while source.next(&mut row).map_err(absolute)? {
            order.check(&row).map_err(absolute)?;
            builder.push(&row, &mut seen).map_err(absolute)?;
        }
        (self.order, self.seen) = (order, seen);
        self.rows += records.num_rows() as u64;
        Ok(builder.finish(row.time.is_some()))
    }

    /// Rows read so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Judges the names asked for by what was read so far: those that never occurred are errors or warnings. While no row
    /// was read there is nothing to judge.
    pub fn judge(&self) -> Result<Vec<TraceWarning>, TraceError> {
        self.seen.judge(&self.mapper.projection, false)
    }
}
