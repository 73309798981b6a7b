//! Comma-separated values (RFC 4180) under a header row.
//!
//! Column `time` (or `--time COL`) is the timestamp, column `event` (or `--event COL`) the name of an event whose
//! arguments are the other cells of the row that are not empty; all other columns are variables. Lines end with LF or
//! CRLF. An empty line is skipped, except in a file of one column, where it is a row whose cell is empty. A quoted
//! cell may hold commas, line ends and doubled quotes; quoting does not change what a cell is (`"1"` is `1`, `""` is
//! null). Every row has as many cells as the header. A file without a header has neither columns nor rows.
//!
//! `rows` is the definition. `block` reads blocks straight into slot columns.

mod block;
mod decode;
mod header;
mod layout;
mod look;
mod plan;
mod record;
mod rows;
mod structure;
mod write;

#[cfg(test)]
mod tests;

use crate::{
    Bytes, FastPath, FormatCard, Likeness, Outline, Projection, ReadOptions, Reading, States, TraceFormat,
    Writing,
};
use std::io::Write;
pub use write::push_csv_cell;

/// The format.
pub struct Csv;

impl TraceFormat for Csv {
    fn card(&self) -> FormatCard {
        FormatCard {
            name: "csv",
            extensions: &["csv", "tsv"],
            about: "comma-separated values with a header row; columns `time` and `event` are the timestamp and the event name",
            open_vocabulary: false,
        }
    }

    fn has_header(&self) -> bool {
        true
    }

    fn rows<'a>(&self, input: Bytes<'a>, options: &ReadOptions) -> Reading<'a> {
        Ok(Box::new(rows::Rows::new(input, options)?))
    }

    fn look(&self, head: &[u8]) -> Likeness {
        look::look(head)
    }

    fn blocks(&self, head: &[u8], projection: &Projection, options: &ReadOptions) -> FastPath {
        block::start(head, projection, options)
    }

    fn blocks_adapt(&self) -> bool {
        true
    }

    /// A header whose quotes are open goes on in the lines to come.
    fn can_begin(&self, head: &[u8], _options: &ReadOptions) -> bool {
        memchr::memchr_iter(b'"', head).count().is_multiple_of(2)
    }

    fn writer<'a>(&self, out: Box<dyn Write + 'a>, outline: Outline<'_>) -> Writing<'a> {
        Ok(Box::new(write::Writer::new(out, outline)?))
    }

    fn states(&self) -> Option<States> {
        Some(States::Cells)
    }
}
