//! Reading a log: its latest records from memory, older ones from their files.

use super::record::{self, Next, Record};
use super::{Log, segment};
use std::fs::File;
use std::io::{self, BufReader};

/// Reads records in their order.
pub struct Reader {
    log: Log,
    /// Lines before the next record.
    at: u64,
    /// The file that holds it, and the lines before what comes next there.
    file: Option<(BufReader<File>, u64)>,
}

impl Reader {
    pub(super) fn new(log: Log, at: u64) -> Self {
        Self { log, at, file: None }
    }

    /// The next record, `None` if nothing more is written. It may begin before the line that was asked for, and after it where
    /// lines were deleted.
    pub fn next(&mut self) -> io::Result<Option<Record>> {
        let next = self.step();
        if next.is_err() {
            // Behind what cannot be read records would be taken for others.
            self.file = None;
        }
        next
    }

    fn step(&mut self) -> io::Result<Option<Record>> {
        loop {
            let path = {
                let state = self.log.state();
                if self.at >= state.end {
                    return Ok(None);
                }
                if state.recent.front().is_some_and(|first| first.before <= self.at) {
                    let index = state.recent.partition_point(|record| record.after() <= self.at);
                    if let Some(record) = state.recent.get(index).cloned() {
                        drop(state);
                        self.file = None;
                        self.at = record.after();
                        return Ok(Some(record));
                    }
                }
                let index = state.segments.partition_point(|segment| segment.end <= self.at);
                match state.segments.get(index) {
                    Some(segment) => {
                        self.at = self.at.max(segment.start);
                        segment.path.clone()
                    }
                    None => return Ok(None),
                }
            };
            if self.file.is_none() {
                match segment::open(&path) {
                    Ok((file, start)) => self.file = Some((file, start)),
                    // Deleted meanwhile.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(error) => return Err(error),
                }
            }
            let Some((file, before)) = &mut self.file else { continue };
            match record::read(file, *before)? {
                Next::Record(record) => {
                    *before = record.after();
                    if record.after() > self.at {
                        self.at = record.after();
                        return Ok(Some(record));
                    }
                }
                // The next segment.
                Next::End if *before >= self.at => self.file = None,
                Next::End => {
                    let message = format!("{} ends before line {}", path.display(), self.at);
                    return Err(io::Error::new(io::ErrorKind::InvalidData, message));
                }
                Next::Bad(why) => {
                    let message = format!("{}: {why}, after line {before}", path.display());
                    return Err(io::Error::new(io::ErrorKind::InvalidData, message));
                }
            }
        }
    }
}
