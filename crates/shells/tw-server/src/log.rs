//! A stream's log: lines that were taken, in segments on disk, each record with its length and its checksum.
//!
//! One thread writes ([`writer`]), any number read: readers find the latest records in memory, the older ones in their
//! files ([`Reader`]). Lines are numbered from 0 over the whole life of a log, whatever was deleted since; the number of lines
//! before a record is what everything else refers to.

mod line;
mod reader;
mod record;
mod segment;
mod writer;

pub use reader::Reader;
pub use record::{Marks, Record};
pub use writer::{Commit, Mark, Receipt, Refused};

use segment::Segment;
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How a log is kept.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes after which a segment is closed and the next begun.
    pub segment: u64,
    /// Bytes that closed segments may take in all; the oldest are deleted. `None` keeps them.
    pub size: Option<u64>,
    /// How long lines are kept at least; segments that are older as a whole are deleted. `None` keeps them.
    pub age: Option<Duration>,
    /// Bytes of the latest records that are kept in memory for readers.
    pub recent: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { segment: 64 << 20, size: None, age: None, recent: 8 << 20 }
    }
}

/// A log. Copies share it.
#[derive(Clone)]
pub struct Log(Arc<Shared>);

struct Shared {
    folder: PathBuf,
    limits: Limits,
    state: Mutex<State>,
    /// More was written, or somebody asked readers to look up.
    news: Condvar,
}

struct State {
    /// The oldest first; the last one is written to.
    segments: Vec<Segment>,
    /// Lines before the end of what is written.
    end: u64,
    /// Lines that are on disk for good.
    synced: u64,
    recent: VecDeque<Record>,
    recent_bytes: usize,
    /// Counts calls of [`Log::wake`].
    wakes: u64,
    /// Lines from here on are still needed.
    needed: u64,
    /// How far sources have been read at the end of what is written.
    marks: Marks,
    /// Where lines are looked up.
    index: line::Index,
}

/// What was found when a log was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// What was cut off, in words: nothing after a clean end.
    pub cut: Option<String>,
    /// How far sources have been read.
    marks: Marks,
}

impl Log {
    /// Opens the log in a folder, which is made if it is not there. What follows the last good record is cut off.
    pub fn open(folder: &Path, limits: Limits) -> io::Result<(Log, Found)> {
        std::fs::create_dir_all(folder)?;
        let (segments, found) = segment::open_all(folder)?;
        let end = segments.last().map_or(0, |last| last.end);
        let (recent, recent_bytes, wakes) = (VecDeque::new(), 0, 0);
        let marks = found.marks.clone();
        let state = State {
            segments,
            end,
            synced: end,
            recent,
            recent_bytes,
            wakes,
            needed: 0,
            marks,
            index: line::Index::default(),
        };
        let folder = folder.to_path_buf();
        Ok((Log(Arc::new(Shared { folder, limits, state: Mutex::new(state), news: Condvar::new() })), found))
    }

    /// Begins a log in a new folder, whose first line will be the one after so many.
    pub fn begin(folder: &Path, after: u64) -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        Segment::create(folder, after).map(drop)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lines before the end of what is written.
    pub fn end(&self) -> u64 {
        self.state().end
    }

    /// Lines that were deleted, or never there: the number of the first line that can be read.
    pub fn start(&self) -> u64 {
        let state = self.state();
        state.segments.first().map_or(state.end, |first| first.start)
    }

    /// How far a source has been read: the position of the last of its messages whose lines are here.
    pub fn mark(&self, source: &str) -> Option<Arc<str>> {
        self.state().marks.get(source).cloned()
    }

    /// Bytes on disk.
    pub fn bytes(&self) -> u64 {
        self.state().segments.iter().map(|segment| segment.bytes).sum()
    }

    /// Lines before this one are not needed any more; what is kept of them is for the limits to say.
    pub fn may_delete(&self, before: u64) {
        let mut state = self.state();
        state.needed = state.needed.max(before);
    }

    /// Forces what is written to disk; says up to which line that is.
    pub fn sync(&self) -> io::Result<u64> {
        let (file, end) = {
            let state = self.state();
            if state.synced >= state.end {
                return Ok(state.end);
            }
            let file = state.segments.last().map(Segment::handle).transpose()?;
            (file, state.end)
        };
        if let Some(file) = file {
            file.sync_data()?;
        }
        let mut state = self.state();
        state.synced = state.synced.max(end);
        Ok(end)
    }

    /// Has those who wait for more look up.
    pub fn wake(&self) {
        self.state().wakes += 1;
        self.0.news.notify_all();
    }

    /// Waits until there is more than `line` lines, somebody calls [`Log::wake`] or `patience` is over.
    pub fn wait_beyond(&self, line: u64, patience: Duration) {
        let until = Instant::now() + patience;
        let mut state = self.state();
        let wakes = state.wakes;
        while state.end <= line && state.wakes == wakes {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.0.news.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Reads from a line on: from the beginning of the record that holds it, or from what is left.
    pub fn read_from(&self, line: u64) -> Reader {
        Reader::new(self.clone(), line)
    }
}

#[cfg(test)]
mod tests;
