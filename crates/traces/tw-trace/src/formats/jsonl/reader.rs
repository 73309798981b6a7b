//! Blocks of `jsonl`.

use super::leads::Learner;
use super::plan::Plan;
use super::rows::Rows;
use super::walk;
use crate::formats::json_record::Keys;
use crate::formats::json_value::is_blank;
use crate::{
    Block, BlockBatch, BlockReader, Projection, ReadOptions, Row, RowSource, SlotBuilder, Stamp, TraceError,
    TraceWarning, Vocabulary,
};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Reads blocks.
pub(super) struct Reader {
    projection: Projection,
    keys: Keys,
    timed: bool,
    any_order: bool,
    max_record: usize,
    max_columns: usize,
    /// A text that stands for nothing.
    null: Option<Arc<str>>,
    /// What the walker does, unless the projection is beyond it.
    plan: Option<Plan>,
    /// What walkers have learned; one is taken for each block.
    learners: Mutex<Vec<Learner>>,
    /// What the definition has seen, where it had to step in.
    vocabulary: Mutex<Vocabulary>,
}

impl Reader {
    pub(super) fn new(projection: Projection, keys: Keys, timed: bool, options: &ReadOptions) -> Self {
        // The walker knows keys of the object itself, and the usual forms of timestamps.
        let walks = !keys.are_elsewhere() && options.null.is_none() && options.form.is_none();
        let mut plan = walks.then(|| Plan::new(&projection, keys.clone(), timed)).flatten();
        if let Some(plan) = &mut plan {
            plan.any_order = options.any_order;
        }
        let vocabulary = Mutex::new(Vocabulary::new(projection.slots.len()));
        Self {
            projection,
            keys,
            timed,
            any_order: options.any_order,
            max_record: options.max_record,
            max_columns: options.max_columns,
            null: options.null.as_deref().map(Arc::from),
            plan,
            learners: Mutex::default(),
            vocabulary,
        }
    }

    /// Reads a block by the walker; `None` if it is not for it.
    fn walk(&self, bytes: &[u8]) -> Option<BlockBatch> {
        let plan = self.plan.as_ref()?;
        // The shortest key and value take five bytes, so only a long line can have too many.
        let limit = self.max_record.min(self.max_columns.saturating_mul(5));
        if bytes.len() > limit && lines(bytes).any(|line| line.len() > limit) {
            return None;
        }
        simdutf8::basic::from_utf8(bytes).ok()?;
        let mut learner = lock(&self.learners).pop().unwrap_or_else(|| Learner::new(plan, walk::CURSORS));
        let batch = walk::read(plan, &mut learner, bytes);
        lock(&self.learners).push(learner);
        batch
    }

    /// Reads a block by the definition.
    fn read_rows(&self, bytes: &[u8]) -> Result<BlockBatch, TraceError> {
        let mut builder = SlotBuilder::new(&self.projection);
        let mut vocabulary = Vocabulary::new(self.projection.slots.len());
        let mut rows = Rows::new(Box::new(bytes), self.keys.clone(), Some(self.timed), self.max_record);
        let mut row = Row::default();
        let mut times: Option<(Stamp, Stamp)> = None;
        while rows.next(&mut row)? {
            if let Some(stamp) = row.time {
                if let Some((_, before)) = times
                    && before.time > stamp.time
                    && !self.any_order
                {
                    // The line alone, as where a block ends between the two.
                    return Err(TraceError::decreasing(stamp, before).at(row.line, 1));
                }
                times = Some((times.map_or(stamp, |(first, _)| first), stamp));
            }
            if let Some(null) = &self.null {
                crate::adapt::empty(&mut row, null);
            }
            builder
                .push(&row, &mut vocabulary)
                .map_err(|error| crate::scan::place_error(error, &rows, &self.projection))?;
        }
        lock(&self.vocabulary).merge(&vocabulary);
        Ok(BlockBatch {
            batch: builder.finish(self.timed),
            time_range: times.map(|(first, last)| (first.time, last.time)),
            lines: lines(bytes).count() as u64,
            ..BlockBatch::default()
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Lines without their newline; what follows the last newline counts if it is not empty.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let newline = memchr::memchr(b'\n', rest);
        let line = &rest[..newline.unwrap_or(rest.len())];
        rest = newline.map_or(&[], |newline| &rest[newline + 1..]);
        Some(line)
    })
}

impl BlockReader for Reader {
    fn read(&self, block: Block<'_>) -> Result<BlockBatch, TraceError> {
        match self.walk(block.bytes) {
            Some(batch) => Ok(batch),
            None => self.read_rows(block.bytes),
        }
    }

    fn locate(&self, block: &[u8], index: usize) -> Option<(Range<usize>, u64)> {
        let start = block.as_ptr() as usize;
        lines(block).enumerate().filter(|(_, line)| !line.iter().copied().all(is_blank)).nth(index).map(
            |(number, line)| {
                let from = line.as_ptr() as usize - start;
                (from..from + line.len(), number as u64)
            },
        )
    }

    fn absorb(&self, seen: &Vocabulary) {
        lock(&self.vocabulary).merge(seen);
    }

    fn seen(&self) -> Vocabulary {
        let mut vocabulary = lock(&self.vocabulary).clone();
        if let Some(plan) = &self.plan {
            for learner in lock(&self.learners).iter() {
                vocabulary.merge(&learner.vocabulary(plan));
            }
        }
        vocabulary
    }

    fn finish(&self) -> Result<Vec<TraceWarning>, TraceError> {
        self.seen().judge(&self.projection, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Several senders' lines in one log are the usual case for a server: they are as fast as others.
    #[test]
    fn times_that_go_back_are_walked_where_they_may() {
        let mut text = String::new();
        for number in 0..1_000_u64 {
            text += &format!("{{\"time\": {}, \"a\": {number}}}\n", number * 7919 % 1_000);
        }
        let reader = |any_order: bool| {
            let options = ReadOptions { any_order, ..ReadOptions::default() };
            let keys = Keys::new(&options).expect("keys");
            Reader::new(Projection::new(&[], None, true), keys, true, &options)
        };
        let any = reader(true);
        let walked = any.walk(text.as_bytes()).expect("walked");
        let read = any.read_rows(text.as_bytes()).expect("read");
        assert_eq!(walked.batch.times, read.batch.times);
        assert_eq!((walked.time_range, walked.lines), (read.time_range, read.lines));
        let ordered = reader(false);
        assert!(ordered.walk(text.as_bytes()).is_none() && ordered.read_rows(text.as_bytes()).is_err());
    }
}
