//! How to read.

use tw_core::{Time, TimeUnit};
use tw_ir::{Slot, What};

/// How a trace is to be read; the same for every format.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Format by name; `None` goes by the extension.
    pub format: Option<String>,
    /// Column that is the timestamp (`--time`); `None` is `time`, if there is one.
    pub time: Option<String>,
    /// Column that is the event name (`--event`); `None` is `event`, if there is one.
    pub event: Option<String>,
    /// Unit of timestamps that are numbers.
    pub unit: TimeUnit,
    /// In `events`: the last field is the timestamp.
    pub timed: bool,
    /// Accept timestamps out of order by up to this many nanoseconds, and sort them.
    pub sort: Option<Time>,
    /// Deliver positions as they come, whatever the order of their timestamps, for somebody else to sort.
    pub any_order: bool,
    /// Threads.
    pub threads: usize,
    /// Bytes per block; tests vary it.
    pub block: usize,
    /// Longest line (record) accepted, in bytes.
    pub max_record: usize,
    /// Most columns accepted in one record.
    pub max_columns: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            time: None,
            event: None,
            unit: TimeUnit::Seconds,
            timed: false,
            sort: None,
            any_order: false,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            block: 512 << 10,
            max_record: 64 << 20,
            max_columns: 1 << 20,
        }
    }
}

/// What to deliver of each position.
#[derive(Clone, Debug, Default)]
pub struct Projection<'a> {
    /// One column each.
    pub slots: &'a [Slot],
    /// Column whose text is the key of `--by`; delivered as one more `Text` column after the slots
    /// (numbers as written), null where absent.
    pub key: Option<&'a str>,
    /// Deliver timestamps. They are checked for order either way.
    pub times: bool,
}

impl Projection<'_> {
    /// Whether events are asked for with their arguments ([`What::Tuples`]), which fast paths leave to rows.
    pub fn has_tuples(&self) -> bool {
        self.slots.iter().any(|slot| matches!(slot.what, What::Tuples { .. }))
    }
}
