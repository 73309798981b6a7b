//! `jsonl`: one JSON object a line.
//!
//! The key `time` (or `--time`) is the timestamp, `event` (or `--event`) the name of an event whose arguments are the
//! other keys; those are the variables. Blank lines are skipped. Every line is validated in full, needed or not: see
//! `json_value` for what a line may hold and the few limits. Either every position has a timestamp or none has.
//!
//! `rows` is the definition. `reader` reads blocks with a walker that predicts the next key, and goes back to
//! the definition for whatever the walker does not know or does not like, so that errors are the same.

mod columns;
mod lanes;
mod leads;
mod names;
mod plan;
mod reader;
mod rows;
mod scalar;
mod times;
mod walk;

use super::json_record::Keys;
use super::json_write::{JsonSink, Layout};
use crate::{BlockStart, Projection, ReadOptions, RowSink, RowSource, TraceError, TraceFormat};
use std::io::{BufRead, Write};
use std::sync::Arc;

/// The format.
pub struct Jsonl;

impl TraceFormat for Jsonl {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["jsonl", "ndjson"]
    }

    fn about(&self) -> &'static str {
        "one JSON object a line; `time` and `event` are keys"
    }

    fn open_vocabulary(&self) -> bool {
        false
    }

    fn rows<'a>(
        &self,
        input: Box<dyn BufRead + Send + 'a>,
        options: &ReadOptions,
    ) -> Result<Box<dyn RowSource + Send + 'a>, TraceError> {
        Ok(Box::new(rows::Rows::new(input, Keys::new(options)?, None, options.max_record)))
    }

    fn blocks(
        &self,
        head: &[u8],
        projection: &Projection,
        options: &ReadOptions,
    ) -> Result<Option<BlockStart>, TraceError> {
        // Sorting needs the timestamps as they come, with the rows they belong to.
        if options.sort.is_some() {
            return Ok(None);
        }
        let keys = Keys::new(options)?;
        let Some(timed) = rows::first_is_timed(head, &keys) else { return Ok(None) };
        let reader = reader::Reader::new(projection.clone(), keys, timed, options);
        Ok(Some(BlockStart { skip: 0, skip_lines: 0, reader: Box::new(reader) }))
    }

    fn writer<'a>(
        &self,
        out: Box<dyn Write + 'a>,
        _columns: &[Arc<str>],
        _has_time: bool,
        _has_event: bool,
    ) -> Result<Box<dyn RowSink + 'a>, TraceError> {
        Ok(Box::new(JsonSink::new(out, Layout::Lines)))
    }
}

#[cfg(test)]
mod tests;
