//! Traces: formats, rows, records in memory, and how far the reading is.

mod gate;

pub use gate::{Arrived, Gate, Times};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[cfg(feature = "parquet")]
pub use tw_arrow::{Reader as RecordReader, Records, arrow};
pub use tw_core::duration;
pub use tw_trace::{
    Arguments, Event, Outline, Projection, Row, Stamp, States, Table, TimeStyle, TraceError, TraceErrorKind,
    TraceFormat, compress, detect, otlp, parse_stamp, push_csv_cell,
};

/// Every trace format of this build.
pub fn formats() -> Vec<&'static dyn TraceFormat> {
    #[allow(unused_mut)]
    let mut formats = tw_trace::FORMATS.to_vec();
    #[cfg(feature = "parquet")]
    formats.extend_from_slice(tw_arrow::ARROW_FORMATS);
    formats
}

/// The format called `name`.
pub fn format_named(name: &str) -> Option<&'static dyn TraceFormat> {
    formats().into_iter().find(|format| format.name() == name)
}

/// The format that was meant by a name that is none, perhaps.
pub(crate) fn nearest_format(name: &str) -> Option<&'static str> {
    let all = formats();
    let names = || all.iter().map(|format| format.name());
    let begins = || names().find(|known| known.starts_with(name) && !name.is_empty());
    tw_core::suggest(name, names()).or_else(begins)
}

/// How far the reading of a trace is; another thread may watch.
#[derive(Debug, Default)]
pub struct Progress {
    read: AtomicU64,
    total: AtomicU64,
    stopped: Arc<AtomicBool>,
}

impl Progress {
    /// Bytes read so far, and bytes in all if that is known (files, not streams).
    pub fn get(&self) -> (u64, Option<u64>) {
        let total = self.total.load(Ordering::Relaxed);
        (self.read.load(Ordering::Relaxed), (total > 0).then_some(total))
    }

    /// Asks the verb to end: reading ends with an error soon, and so does an engine that looks whether somebody still waits.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// What engines look at.
    pub(crate) fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stopped)
    }

    pub(crate) fn set(&self, read: u64, total: Option<u64>) {
        self.read.store(read, Ordering::Relaxed);
        self.total.store(total.unwrap_or(0), Ordering::Relaxed);
    }
}

/// Whether a pattern (`%d.%m.%y %H:%M`) can say how timestamps are written; `Err` says what is wrong with it.
pub fn check_time_format(pattern: &str) -> Result<(), String> {
    tw_trace::Form::of(pattern).map(drop)
}
