//! Record batches as parts of a trace.

use crate::columns::Mapper;
use crate::rows::{Batches, Layout, Source};
use arrow::array::RecordBatch;
use std::sync::Arc;
use tw_trace::{
    Part, PartBatch, PartSource, Parts, Projection, ReadOptions, RowSource, TraceError, Vocabulary,
};

/// Most rows read at a time.
const MOST: usize = 1 << 16;

/// How many rows of so many columns are read at a time: about a block of numbers.
pub(crate) fn rows(columns: usize, options: &ReadOptions) -> usize {
    (options.block / 8 / columns.max(1)).clamp(1, MOST)
}

/// Parts of batches.
pub(crate) fn parts<'a>(
    batches: impl Batches + 'a,
    layout: Layout,
    projection: &Projection,
    options: &ReadOptions,
) -> Parts<'a> {
    let most = rows(layout.names.len(), options);
    let mapper = Arc::new(Mapper::new(Arc::new(layout), projection, options));
    Parts {
        has_events: mapper.layout.has_events(),
        source: Box::new(Cut { batches, mapper, most, batch: None, at: 0 }),
    }
}

/// Cuts batches that are long.
struct Cut<B> {
    batches: B,
    mapper: Arc<Mapper>,
    most: usize,
    batch: Option<RecordBatch>,
    at: usize,
}

impl<'a, B: Batches> PartSource<'a> for Cut<B> {
    fn next(&mut self) -> Result<Option<Box<dyn Part + 'a>>, TraceError> {
        loop {
            match &self.batch {
                Some(batch) if self.at < batch.num_rows() => {
                    let len = self.most.min(batch.num_rows() - self.at);
                    let batch = batch.slice(self.at, len);
                    self.at += len;
                    return Ok(Some(Box::new(Records { batch, mapper: Arc::clone(&self.mapper) })));
                }
                _ => {
                    self.batch = self.batches.next()?;
                    self.at = 0;
                    if self.batch.is_none() {
                        return Ok(None);
                    }
                }
            }
        }
    }
}

/// Rows that lie together.
struct Records {
    batch: RecordBatch,
    mapper: Arc<Mapper>,
}

impl Part for Records {
    fn positions(&self) -> usize {
        self.batch.num_rows()
    }

    fn read(&self, seen: &mut Vocabulary) -> Option<PartBatch> {
        self.mapper.read(&self.batch, seen)
    }

    fn rows(&self) -> Box<dyn RowSource + '_> {
        Box::new(Source::new(vec![self.batch.clone()].into_iter(), self.mapper.layout.clone()))
    }
}
