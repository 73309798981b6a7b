//! Traces in Parquet and Arrow files: one row is one position, as in `csv`, but values have types.
//!
//! The column `time` (or `--time`) is the timestamp: numbers of `--time-unit`, text, or a timestamp or date type, which is
//! read as UTC where it has no time zone. The column `event` (or `--event`) names an event whose arguments are the row's
//! other values. In messages, the line is the number of the row, from 1.
//!
//! Numbers keep their kind; whole numbers beyond 64 bits with a sign, NaN and infinities are errors. Dates, times of day
//! and timestamps become ISO 8601 text, durations the number of their unit, lists and structures nested values. Decimals are
//! whole numbers if they have no fraction digits, else reals.
//!
//! Arrow files and streams are read a batch at a time. **A Parquet file is read into memory first**, because its layout
//! is written at its end and a trace may come from a pipe; batches are then decoded one at a time.
//!
//! `scan` reads batches column by column, on several threads. Batches that a program holds itself are read the
//! same way: [`Records`] is a whole trace of them, [`Reader`] reads one after the other as they come.
//!
//! Writing needs the type of each column first, so **rows are kept in memory** until the last one is known.

mod cell;
mod columns;
mod ipc;
mod parquet_file;
mod parts;
mod reader;
mod records;
mod rows;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod write;

/// The version of the library whose record batches are taken.
pub use arrow;
pub use ipc::Arrow;
pub use parquet_file::Parquet;
pub use reader::Reader;
pub use records::Records;

use tw_trace::{TraceError, TraceErrorKind, TraceFormat};

/// The formats of this crate, to be put beside [`tw_trace::FORMATS`].
pub static ARROW_FORMATS: &[&dyn TraceFormat] = &[&Parquet, &Arrow];

/// Runs `read` on bytes that may be damaged: the libraries panic on some.
fn guarded<T, E: std::fmt::Display>(
    kind: &str,
    read: impl FnOnce() -> Result<T, E>,
) -> Result<T, TraceError> {
    let damaged = |reason: String| {
        TraceError::new(TraceErrorKind::Syntax, format!("found a damaged file ({reason}), expected {kind}"))
    };
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(read)) {
        Ok(result) => result.map_err(|error| damaged(error.to_string())),
        Err(_) => Err(damaged("its structure contradicts itself".to_string())),
    }
}
