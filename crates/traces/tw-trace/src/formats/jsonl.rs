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
use crate::{
    BlockStart, Bytes, FastPath, FormatCard, Likeness, Outline, Projection, ReadOptions, Reading, States,
    TraceFormat, Writing,
};
use std::io::Write;

/// The format.
pub struct Jsonl;

impl TraceFormat for Jsonl {
    fn card(&self) -> FormatCard {
        FormatCard {
            name: "jsonl",
            extensions: &["jsonl", "ndjson"],
            about: "one JSON object a line; `time` and `event` are keys",
            open_vocabulary: false,
        }
    }

    fn rows<'a>(&self, input: Bytes<'a>, options: &ReadOptions) -> Reading<'a> {
        Ok(Box::new(rows::Rows::new(input, Keys::new(options)?, None, options.max_record)))
    }

    fn look(&self, head: &[u8]) -> Likeness {
        match crate::look::lines(head).next() {
            Some(line) if line.trim_ascii_start().starts_with(b"{") => Likeness::Sure,
            _ => Likeness::No,
        }
    }

    fn blocks(&self, head: &[u8], projection: &Projection, options: &ReadOptions) -> FastPath {
        // Sorting needs the timestamps as they come, with the rows they belong to.
        if options.sort.is_some() {
            return Ok(None);
        }
        let keys = Keys::new(options)?;
        let Some(timed) = rows::first_is_timed(head, &keys) else { return Ok(None) };
        let reader = reader::Reader::new(projection.clone(), keys, timed, options);
        Ok(Some(BlockStart { skip: 0, skip_lines: 0, reader: Box::new(reader) }))
    }

    fn blocks_adapt(&self) -> bool {
        true
    }

    /// A blank line is no record that could say whether records have timestamps.
    fn can_begin(&self, head: &[u8], _options: &ReadOptions) -> bool {
        !head.iter().all(u8::is_ascii_whitespace)
    }

    fn lines_are_objects(&self) -> bool {
        true
    }

    fn writer<'a>(&self, out: Box<dyn Write + 'a>, outline: Outline<'_>) -> Writing<'a> {
        Ok(Box::new(JsonSink::new(out, Layout::Lines, &outline)))
    }

    fn states(&self) -> Option<States> {
        Some(States::Objects)
    }
}

#[cfg(test)]
mod tests;
