//! The text of a single line: from memory, or from its file, of which places are remembered now and then.

use super::record::{self, Next, Record};
use super::{Log, segment};
use std::io::{self, Seek, SeekFrom};
use std::time::{Duration, Instant};

/// Characters that are shown of a line.
const SHOWN: usize = 400;
/// Bytes of a file between places that are remembered, about.
const APART: u64 = 256 << 10;
/// Of its time, the part that who judges may spend on looking up lines; what it has not spent, up to this long, it may spend later.
const PART: u32 = 20;
const SAVED: Duration = Duration::from_millis(200);

/// Where records begin.
#[derive(Default)]
pub(super) struct Index {
    /// Lines before a record, lines before its segment, bytes before it there.
    places: Vec<(u64, u64, u64)>,
    /// When a line was last looked up in a file, and how much time could still be spent then.
    looked: Option<(Instant, Duration)>,
}

impl Index {
    /// A record after so many lines begins here.
    pub fn note(&mut self, before: u64, segment: u64, offset: u64) {
        let near = |(_, own, at): &(u64, u64, u64)| *own == segment && offset < at + APART;
        if !self.places.last().is_some_and(near) {
            self.places.push((before, segment, offset));
        }
    }

    /// Segments before this one are gone.
    pub fn forget(&mut self, start: u64) {
        let gone = self.places.partition_point(|(_, segment, _)| *segment < start);
        self.places.drain(..gone);
    }

    /// The place in a segment from where a line is found soonest.
    fn place(&self, line: u64, segment: u64) -> (u64, u64) {
        let after = self.places.partition_point(|(before, ..)| *before <= line);
        let found = after.checked_sub(1).map(|at| self.places[at]).filter(|(_, own, _)| *own == segment);
        found.map_or((segment, segment::PREFIX), |(before, _, offset)| (before, offset))
    }

    /// How long may be spent now.
    fn allowed(&self) -> Duration {
        self.looked.map_or(SAVED, |(at, left)| (left + at.elapsed() / PART).min(SAVED))
    }
}

fn shown(record: &Record, before: u64) -> Option<String> {
    let line = record.bytes.split(|&byte| byte == b'\n').nth((before - record.before) as usize)?;
    Some(String::from_utf8_lossy(line).chars().take(SHOWN).collect())
}

impl Log {
    /// The text of a line after so many, cut to what is shown of one. Nothing where it was deleted, and where so many lines are
    /// asked for that finding them would hold up the rest.
    pub fn line(&self, before: u64) -> Option<String> {
        let (path, at, offset, allowed) = {
            let state = self.state();
            let index = state.recent.partition_point(|record| record.after() <= before);
            if let Some(record) = state.recent.get(index).filter(|record| record.before <= before) {
                let record = record.clone();
                drop(state);
                return shown(&record, before);
            }
            let index = state.segments.partition_point(|segment| segment.end <= before);
            let segment = state.segments.get(index).filter(|segment| segment.start <= before)?;
            let allowed = state.index.allowed();
            if allowed.is_zero() {
                return None;
            }
            let (at, offset) = state.index.place(before, segment.start);
            (segment.path.clone(), at, offset, allowed)
        };
        let began = Instant::now();
        // What cannot be read is said by who judges.
        let found = find(&path, at, offset, before).ok().flatten();
        self.state().index.looked = Some((Instant::now(), allowed.saturating_sub(began.elapsed())));
        found
    }
}

fn find(path: &std::path::Path, mut at: u64, offset: u64, before: u64) -> io::Result<Option<String>> {
    let (mut file, _) = segment::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    while let Next::Record(record) = record::read(&mut file, at)? {
        at = record.after();
        if at > before {
            return Ok(shown(&record, before));
        }
    }
    Ok(None)
}
