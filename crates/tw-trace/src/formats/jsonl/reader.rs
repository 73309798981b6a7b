//! Blocks of `jsonl`.

use super::rows::{END, too_long};
use crate::formats::json_record::{Keys, RecordReader, decreasing};
use crate::formats::json_value::{is_blank, place, utf8};
use crate::{
    Block, BlockBatch, BlockReader, Projection, Row, SlotBuilder, Stamp, TraceError, TraceErrorKind,
    TraceWarning, Vocabulary,
};
use std::ops::Range;
use std::sync::Mutex;

/// Reads blocks.
pub(super) struct Reader<'a> {
    projection: Projection<'a>,
    keys: Keys,
    timed: bool,
    max_record: usize,
    vocabulary: Mutex<Vocabulary>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(projection: Projection<'a>, keys: Keys, timed: bool, max_record: usize) -> Self {
        let vocabulary = Mutex::new(Vocabulary::new(projection.slots.len()));
        Self { projection, keys, timed, max_record, vocabulary }
    }

    /// Reads a block by the definition.
    fn read_rows(&self, bytes: &[u8]) -> Result<BlockBatch, TraceError> {
        let mut builder = SlotBuilder::new(&self.projection);
        let mut vocabulary = Vocabulary::new(self.projection.slots.len());
        let mut records = RecordReader::new(self.keys.clone(), Some(self.timed));
        let mut row = Row::default();
        let mut times: Option<(Stamp, Stamp)> = None;
        for (index, line) in lines(bytes).enumerate() {
            row.line = index as u64 + 1;
            if line.len() > self.max_record {
                return Err(too_long(row.line, self.max_record));
            }
            let text = utf8(line, row.line, 1)?;
            if text.bytes().all(is_blank) {
                continue;
            }
            records.read(text, END, &mut row).map_err(|fault| fault.place(text, row.line, 1))?;
            if let Some(stamp) = row.time {
                if let Some((_, before)) = times
                    && before.time > stamp.time
                {
                    let (line, column) = place(text, records.time_at, row.line, 1);
                    return Err(
                        TraceError::new(TraceErrorKind::Time, decreasing(stamp, before)).at(line, column)
                    );
                }
                times = Some((times.map_or(stamp, |(first, _)| first), stamp));
            }
            builder.push(&row, &mut vocabulary)?;
        }
        self.note(&vocabulary);
        Ok(BlockBatch {
            batch: builder.finish(self.timed),
            time_range: times.map(|(first, last)| (first.time, last.time)),
            lines: lines(bytes).count() as u64,
            open_from: None,
        })
    }

    fn note(&self, vocabulary: &Vocabulary) {
        self.vocabulary.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).merge(vocabulary);
    }
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

impl BlockReader for Reader<'_> {
    fn read(&self, block: Block<'_>) -> Result<BlockBatch, TraceError> {
        self.read_rows(block.bytes)
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

    fn finish(&self) -> Result<Vec<TraceWarning>, TraceError> {
        self.vocabulary.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).judge(&self.projection, false)
    }
}
