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
/// let projection = Projection::new(&[], None, true);
/// let mut reader = Reader::new(&projection, &records.schema(), &ReadOptions::default()).unwrap();
/// let batch = reader.read(&records).unwrap();
/// assert_eq!(batch.times, Some(vec![1_000_000_000, 2_000_000_000]));
/// ```
///
/// Lines in errors are numbers of rows, counted from 1 over all batches. Timestamps must not decrease within a batch
/// or from batch to batch, unless `ReadOptions::any_order` leaves that to somebody else; all rows have one or none has.
/// After an error the batch counts as not read: the next one goes on from where the one before it ended.
pub struct Reader {
    mapper: Mapper,
    schema: SchemaRef,
    order: tw_trace::Order,
    seen: Vocabulary,
    rows: u64,
}

impl Reader {
    /// A reader that has read nothing. `options` name the time and event columns and the unit of timestamps.
    pub fn new(
        projection: &Projection,
        schema: &SchemaRef,
        options: &ReadOptions,
    ) -> Result<Self, TraceError> {
        let layout = Arc::new(Layout::new(schema, options)?);
        let mut seen = Vocabulary::new(projection.slots.len());
        seen.has_events = layout.has_events();
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

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, Float64Array, Int64Array, StringArray};
    use tw_core::Value;
    use tw_ir::{Expect, Path, Slot, What};

    fn records(times: &[i64], reals: &[f64], names: &[&str]) -> RecordBatch {
        let columns: [(&str, ArrayRef); 3] = [
            ("time", Arc::new(Int64Array::from(times.to_vec()))),
            ("x", Arc::new(Float64Array::from(reals.to_vec()))),
            ("event", Arc::new(StringArray::from(names.to_vec()))),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    fn slot(what: What) -> Slot {
        Slot { what, declared: false, span: Default::default() }
    }

    #[test]
    fn batches_go_on_from_one_another() {
        let slots = [
            slot(What::Variable(Path::field("x"), Expect::Number)),
            slot(What::Event { name: "stop".into(), arguments: Vec::new(), arity: None }),
        ];
        let projection = Projection::new(&slots, Some("x"), true);
        let first = records(&[1, 2], &[0.5, 1.5], &["go", "go"]);
        let mut reader = Reader::new(&projection, &first.schema(), &ReadOptions::default()).unwrap();
        assert_eq!(reader.judge().unwrap(), []);
        let batch = reader.read(&first).unwrap();
        assert_eq!(batch.times, Some(vec![1_000_000_000, 2_000_000_000]));
        assert_eq!(
            (batch.slots[0].value(1), batch.slots[2].value(0)),
            (Value::Real(1.5), Value::text("0.5"))
        );
        assert!(reader.judge().unwrap()[0].message.contains("`stop` never occurs"));

        let message = |result: Result<Batch, TraceError>| result.unwrap_err().in_file("f").to_string();
        let back = message(reader.read(&records(&[1], &[0.0], &["go"])));
        assert!(back.starts_with("f:3:1: the timestamp `1` is earlier than `2`"), "{back}");
        let nan = message(reader.read(&records(&[2, 3], &[0.0, f64::NAN], &["go", "go"])));
        assert_eq!(nan, "f:4:2: `x`: found `NaN`, expected a finite number");
        // What was refused was not read: neither its times nor its rows count.
        assert_eq!(reader.rows(), 2);
        let batch = reader.read(&records(&[2], &[0.0], &["stop"])).unwrap();
        assert_eq!(batch.slots[1].value(0), Value::Bool(true));
        assert_eq!((reader.rows(), reader.judge().unwrap().len()), (3, 0));
        let empty = reader.read(&first.slice(0, 0)).unwrap();
        assert_eq!((empty.len, empty.slots.len()), (0, 3));
    }

    #[test]
    fn other_columns_than_those_of_the_schema_are_refused() {
        let first = records(&[1], &[0.5], &["go"]);
        let options = ReadOptions::default();
        let mut reader = Reader::new(&Projection::default(), &first.schema(), &options).unwrap();
        let fewer = reader.read(&first.project(&[0]).unwrap()).unwrap_err();
        assert_eq!(fewer.message, "found 1 columns, expected 3 by the schema");
        let swapped = reader.read(&first.project(&[1, 0, 2]).unwrap()).unwrap_err();
        assert_eq!(
            swapped.message,
            "found the column `x` of type Float64, expected `time` of type Int64 by the schema"
        );
    }
}
