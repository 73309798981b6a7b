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
mod plan;
mod record;
mod rows;
mod structure;
mod write;

#[cfg(test)]
mod tests;

use crate::{BlockStart, Projection, ReadOptions, RowSink, RowSource, TraceError, TraceFormat};
use std::io::{BufRead, Write};
use std::sync::Arc;

/// The format.
pub struct Csv;

impl TraceFormat for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["csv"]
    }

    fn about(&self) -> &'static str {
        "comma-separated values with a header row; columns `time` and `event` are the timestamp and the event name"
    }

    fn open_vocabulary(&self) -> bool {
        false
    }

    fn rows<'a>(
        &self,
        input: Box<dyn BufRead + Send + 'a>,
        options: &ReadOptions,
    ) -> Result<Box<dyn RowSource + Send + 'a>, TraceError> {
        Ok(Box::new(rows::Rows::new(input, options)?))
    }

    fn blocks(
        &self,
        head: &[u8],
        projection: &Projection,
        options: &ReadOptions,
    ) -> Result<Option<BlockStart>, TraceError> {
        if projection.has_tuples() {
            return Ok(None);
        }
        block::start(head, projection, options)
    }

    fn writer<'a>(
        &self,
        out: Box<dyn Write + 'a>,
        columns: &[Arc<str>],
        has_time: bool,
        has_event: bool,
    ) -> Result<Box<dyn RowSink + 'a>, TraceError> {
        Ok(Box::new(write::Writer::new(out, columns, has_time, has_event)?))
    }
}
