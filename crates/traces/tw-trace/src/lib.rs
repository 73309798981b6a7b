//! Traces: bytes in, batches of slots out; and rows in and out for `convert` and `inspect`.
//!
//! Each format is one module in [`formats`] and one row in [`FORMATS`]. A format says how to read **rows**: that is
//! its definition. A format that matters for speed also reads **blocks**: stretches of whole records, in parallel,
//! straight into the columns of the slots a program asked for. A format whose files have columns, and records in memory,
//! deliver **parts** ([`Part`]). [`scan`] drives any of them and delivers batches in order.

mod adapt;
mod compress;
mod error;
mod format;
mod input;
mod live;
mod locate;
mod look;
mod options;
mod order;
mod parts;
mod place;
mod row;
mod scan;
mod settle;
mod slots;
mod stamp;
mod templates;
mod times;

pub mod formats;
pub mod otlp;

pub use compress::compress;
pub use error::{TraceError, TraceErrorKind, TraceWarning, TraceWarningKind};
pub use format::{
    Block, BlockBatch, BlockReader, BlockStart, Bytes, FORMATS, FastPath, FormatCard, Outline, Reading,
    States, TraceFormat, Writing,
};
pub use formats::{is_number, push_csv_cell};
pub use input::Input;
pub use live::{Arrival, Live, Progress, Receiver, Unreadable};
pub use locate::{Located, Locator, LocatorBuilder};
pub use look::{Likeness, detect, is_ambiguous, recognise};
pub use options::{Exact, Key, Projection, ReadOptions};
pub use order::Order;
pub use parts::{Part, PartBatch, PartFormat, PartSource, Parts, Table};
pub use place::TimePlace;
pub use row::{Arguments, Event, Mark, Row, RowSink, RowSource};
pub use scan::{LeftOut, Summary, read_rows, scan};
pub use settle::Settled;
pub use slots::{
    CellError, ColumnBuilder, Others, SlotBuilder, Vocabulary, describe, equals, expect_of, quote, value_at,
};
pub use stamp::{Stamp, Stamps, TimeStyle, parse_stamp};
pub use templates::{Templates, find_template};
pub use times::{Calendar, Form, Miss, Months, Written};
