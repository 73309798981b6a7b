//! Traces that have columns of their own: record batches of files (Parquet, Arrow) and of memory.
//!
//! A part is some positions that lie together, decoded but not yet read as what a program asks for. Parts are delivered
//! one after the other and read on several threads. What a part holds is defined by its rows; where reading it by
//! columns meets anything that is wrong, its rows are read instead, and they say what.

use crate::{Projection, ReadOptions, RowSource, Stamp, TraceError, Vocabulary};
use std::io::BufRead;
use tw_core::Batch;

/// Positions that lie together.
pub trait Part: Send {
    /// How many; at least one.
    fn positions(&self) -> usize;

    /// One column per slot, and the names noted in `seen`. `None` if the rows hold an error, or timestamps that decrease
    /// or are missing at some: then the rows say what it is.
    fn read(&self, seen: &mut Vocabulary) -> Option<PartBatch>;

    /// The same as rows: the definition. Lines are numbered from 1.
    fn rows(&self) -> Box<dyn RowSource + '_>;
}

/// What a part held.
#[derive(Debug)]
pub struct PartBatch {
    /// One column per slot of the projection (and the key's), and timestamps if wanted.
    pub batch: Batch,
    /// First and last timestamp, if the positions have them: `scan` checks order across parts.
    pub times: Option<(Stamp, Stamp)>,
}

/// Delivers the parts of a file in order.
pub trait PartSource<'a> {
    /// The next one, decoded.
    fn next(&mut self) -> Result<Option<Box<dyn Part + 'a>>, TraceError>;
}

/// A file as parts.
pub struct Parts<'a> {
    /// Whether it has a vocabulary of events even if none occurs (an event column).
    pub has_events: bool,
    /// The parts.
    pub source: Box<dyn PartSource<'a> + Send + 'a>,
}

/// The door of a format whose files have columns.
pub trait PartFormat: Sync {
    /// Opens a file.
    fn parts<'a>(
        &self,
        input: Box<dyn BufRead + Send + 'a>,
        projection: &Projection,
        options: &ReadOptions,
    ) -> Result<Parts<'a>, TraceError>;
}

/// Records in memory, which take the place of a file ([`Input::from_table`](crate::Input::from_table)).
pub trait Table: std::fmt::Debug + Send + Sync {
    /// Bytes they take, about.
    fn bytes(&self) -> u64;

    /// As rows: the definition.
    fn rows<'a>(&'a self, options: &ReadOptions) -> Result<Box<dyn RowSource + Send + 'a>, TraceError>;

    /// As parts.
    fn parts<'a>(&'a self, projection: &Projection, options: &ReadOptions) -> Result<Parts<'a>, TraceError>;
}
