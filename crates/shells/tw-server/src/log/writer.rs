//! Writing a log: what many clients send goes to disk together, and one fsync serves all who wait for it.

use super::record::{self, Marks, Record};
use super::segment::Segment;
use super::{Log, State};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// Bytes that wait to be written, above which nothing more is taken.
const WAITING: usize = 32 << 20;
/// Bytes of waiting memory that are kept for the next time.
const KEPT: usize = 4 << 20;
/// A segment is closed after this part of the time that lines are kept, so that none is kept much longer.
const PARTS: u32 = 4;
/// How long a writer waits for lines where it has nothing else to do.
const SELDOM: Duration = Duration::from_secs(3600);
/// How long after a record what was acknowledged from memory waits for more, to be written with it: every record has its price, for
/// who writes it, who judges it and who is told. What comes alone does not wait.
const TOGETHER: Duration = Duration::from_micros(300);
/// How long a writer whose disk failed waits before it tries again what nobody else can send again.
const AGAIN: Duration = Duration::from_millis(200);
/// How long after a failure lines are taken into memory again, to see whether they can be written.
const TRY: Duration = Duration::from_secs(1);
/// How long who was refused may take to come again.
const LATELY: Duration = Duration::from_secs(60);

/// Why lines were not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Too much waits to be written: again, later.
    Busy,
    /// They could not be written, for this reason.
    Disk(Arc<str>),
    /// The server is ending.
    Closing,
}

/// How far a source has been read when lines of it are taken: its name, and the position of their last message.
pub type Mark = (Arc<str>, Arc<str>);

/// Told when lines are on disk for good, or cannot be.
pub type Receipt = Box<dyn FnOnce(Result<(), Refused>) + Send>;

/// What waits to be written to a log. Copies share it.
#[derive(Clone)]
pub struct Commit(Arc<Queue>);

struct Queue {
    waiting: Mutex<Waiting>,
    news: Condvar,
}

#[derive(Default)]
struct Waiting {
    bytes: Vec<u8>,
    /// What each of those who sent them sent, in this order.
    parts: Vec<Part>,
    /// Lines before the end of what waits.
    end: u64,
    closing: bool,
    /// Somebody waits for the disk.
    urgent: bool,
    /// Why the last attempt failed, while it has not succeeded since.
    failing: Option<(Arc<str>, Instant)>,
}

/// What came at once.
struct Part {
    bytes: usize,
    lines: u64,
    /// Who waits for it; lines without it were acknowledged already.
    receipt: Option<Receipt>,
    /// How far its source has been read with it.
    mark: Option<Mark>,
}

impl Commit {
    /// For a log.
    pub fn new(log: &Log) -> Self {
        let waiting = Mutex::new(Waiting { end: log.end(), ..Waiting::default() });
        Self(Arc::new(Queue { waiting, news: Condvar::new() }))
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lines before the end of what was taken, written or not.
    pub fn end(&self) -> u64 {
        self.waiting().end
    }

    /// Why nothing can be written, if that is so.
    pub fn failing(&self) -> Option<Arc<str>> {
        self.waiting().failing.as_ref().map(|(why, _)| why.clone())
    }

    /// Whether something is on its way into the log after so many lines, or was refused so lately that it may come again.
    pub fn is_awaited(&self, after: u64) -> bool {
        let waiting = self.waiting();
        waiting.end > after || waiting.failing.as_ref().is_some_and(|(_, at)| at.elapsed() < LATELY)
    }

    /// Takes whole lines, with how far their source has been read, which is kept with them or not at all; with a receipt, for good only
    /// when that says so. Says how many lines stand before them.
    pub fn take(
        &self,
        bytes: &[u8],
        lines: u64,
        mark: Option<Mark>,
        receipt: Option<Receipt>,
    ) -> Result<u64, Refused> {
        let mut waiting = self.waiting();
        if waiting.closing {
            return Err(Refused::Closing);
        }
        if waiting.bytes.len() + bytes.len() > WAITING && !waiting.bytes.is_empty() {
            return Err(Refused::Busy);
        }
        // From memory nothing is promised while the disk is known to fail; now and then somebody has to try.
        if let (Some((why, at)), None) = (&waiting.failing, &receipt)
            && (at.elapsed() < TRY || !waiting.bytes.is_empty())
        {
            return Err(Refused::Disk(why.clone()));
        }
        let before = waiting.end;
        let awaited = waiting.bytes.is_empty() || receipt.is_some() && !waiting.urgent;
        waiting.urgent |= receipt.is_some();
        waiting.bytes.extend_from_slice(bytes);
        waiting.end += lines;
        waiting.parts.push(Part { bytes: bytes.len(), lines, receipt, mark });
        drop(waiting);
        if awaited {
            self.0.news.notify_one();
        }
        Ok(before)
    }

    /// What waits is written, then the writer ends.
    pub fn close(&self) {
        self.waiting().closing = true;
        self.0.news.notify_one();
    }

    /// Writes what comes, until it is closed. `said` is told what people should know.
    pub fn run(&self, log: &Log, said: &dyn Fn(String)) {
        let mut spare = Vec::new();
        let (tidies, mut tidied) = (log.tidies().unwrap_or(SELDOM), Instant::now());
        let mut written = None::<Instant>;
        loop {
            if tidied.elapsed() >= tidies {
                match log.tidy() {
                    Ok(deleted) => deleted.into_iter().for_each(said),
                    Err(error) => said(format!("what is older than is kept cannot be deleted: {error}")),
                }
                tidied = Instant::now();
            }
            let mut waiting = self.waiting();
            if waiting.bytes.is_empty() && !waiting.closing {
                let left = tidies.saturating_sub(tidied.elapsed());
                let waited = self.0.news.wait_timeout(waiting, left);
                waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            if waiting.bytes.is_empty() && !waiting.closing {
                continue;
            }
            if waiting.bytes.is_empty() {
                return;
            }
            if let Some(left) = written.and_then(|at| TOGETHER.checked_sub(at.elapsed())) {
                let more = |waiting: &mut Waiting| !waiting.urgent && !waiting.closing;
                let waited = self.0.news.wait_timeout_while(waiting, left, more);
                waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            spare.clear();
            if spare.capacity() > KEPT {
                spare = Vec::new();
            }
            let bytes = std::mem::replace(&mut waiting.bytes, spare);
            let parts = std::mem::take(&mut waiting.parts);
            let closing = waiting.closing;
            waiting.urgent = false;
            drop(waiting);
            let lines = parts.iter().map(|part| part.lines).sum();
            let durable = parts.iter().any(|part| part.receipt.is_some());
            let marks = parts.iter().filter_map(|part| part.mark.clone()).collect();
            match log.append_marked(&bytes, lines, marks, durable) {
                Ok(deleted) => {
                    written = Some(Instant::now());
                    if self.waiting().failing.take().is_some() {
                        said("the log can be written again".into());
                    }
                    deleted.iter().for_each(|what| said(what.clone()));
                    parts.into_iter().filter_map(|part| part.receipt).for_each(|receipt| receipt(Ok(())));
                }
                Err(error) => {
                    let why: Arc<str> = error.to_string().into();
                    if self.put_back(&bytes, parts, &why) {
                        said(format!("cannot write the log: {why}"));
                    }
                    if closing {
                        said(format!("lines that were acknowledged from memory are lost: {why}"));
                        return;
                    }
                    std::thread::sleep(AGAIN);
                }
            }
            spare = bytes;
        }
    }

    /// What could not be written: who waits is told, what was acknowledged waits again, before all that came since. Whether it
    /// failed for the first time.
    fn put_back(&self, bytes: &[u8], parts: Vec<Part>, why: &Arc<str>) -> bool {
        let (mut again, mut kept, mut at) = (Vec::new(), Vec::new(), 0);
        let mut refused = Vec::new();
        let mut gone = 0;
        for part in parts {
            let own = &bytes[at..at + part.bytes];
            at += part.bytes;
            match part.receipt {
                Some(receipt) => {
                    gone += part.lines;
                    refused.push(receipt);
                }
                None => {
                    again.extend_from_slice(own);
                    kept.push(part);
                }
            }
        }
        let mut waiting = self.waiting();
        again.extend_from_slice(&waiting.bytes);
        kept.append(&mut waiting.parts);
        (waiting.bytes, waiting.parts) = (again, kept);
        // Lines that came meanwhile take the numbers of those that are not there.
        waiting.end -= gone;
        let first = waiting.failing.replace((why.clone(), Instant::now())).is_none();
        drop(waiting);
        refused.into_iter().for_each(|receipt| receipt(Err(Refused::Disk(why.clone()))));
        first
    }
}

impl Log {
    /// Appends lines as one record, on disk for good if that is wanted; says what was deleted.
    pub fn append(&self, bytes: &[u8], lines: u64, durable: bool) -> io::Result<Vec<String>> {
        self.append_marked(bytes, lines, Marks::new(), durable)
    }

    /// The same with how far sources have been read.
    pub fn append_marked(
        &self,
        bytes: &[u8],
        lines: u64,
        marks: Marks,
        durable: bool,
    ) -> io::Result<Vec<String>> {
        let written = SystemTime::now();
        let count = u32::try_from(lines).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        let mut state = self.state();
        let end = state.end;
        let full = state.segments.last().is_none_or(|last| last.bytes >= self.0.limits.segment);
        if full {
            self.roll(&mut state)?;
        }
        let mut all = state.marks.clone();
        all.extend(marks.clone());
        let Some(last) = state.segments.last_mut() else { return Err(io::ErrorKind::NotFound.into()) };
        // The first of a segment says how far all sources are: the segments before it may be deleted.
        let own = if last.is_empty() { &all } else { &marks };
        let header = record::head(bytes, count, written, own);
        let place = (end, last.start, last.bytes);
        last.append(&header, bytes, lines, written)?;
        state.index.note(place.0, place.1, place.2);
        let deleted = if full { state.delete_old(&self.0.limits, written) } else { Vec::new() };
        if durable {
            // Readers may go on with what was there; nobody else writes.
            let file = state.segments.last().map(Segment::handle).transpose()?;
            drop(state);
            if let Some(file) = file
                && let Err(error) = file.sync_data()
            {
                // It may be there or not; nobody was told that it is.
                let mut state = self.state();
                if let Some(last) = state.segments.last_mut() {
                    last.take_back((header.len() + bytes.len()) as u64, lines);
                }
                return Err(error);
            }
            state = self.state();
            state.synced = end + lines;
        }
        state.end = end + lines;
        state.marks = all;
        let record = Record { before: end, lines, written, marks, bytes: bytes.into() };
        state.recent_bytes += record.bytes.len();
        state.recent.push_back(record);
        while state.recent_bytes > self.0.limits.recent && state.recent.len() > 1 {
            let gone = state.recent.pop_front().map_or(0, |record| record.bytes.len());
            state.recent_bytes -= gone;
        }
        drop(state);
        self.0.news.notify_all();
        Ok(deleted)
    }
}

impl Log {
    /// Begins the next segment.
    fn roll(&self, state: &mut State) -> io::Result<()> {
        let end = state.end;
        if let Some(last) = state.segments.last_mut() {
            last.close()?;
        }
        state.synced = state.synced.max(end);
        state.segments.push(Segment::create(&self.0.folder, end)?);
        Ok(())
    }

    /// Deletes what is older, or more, than is kept, whether or not more comes; says what. For who writes the log alone.
    pub fn tidy(&self) -> io::Result<Vec<String>> {
        let now = SystemTime::now();
        let mut state = self.state();
        let since = |at: SystemTime| now.duration_since(at).unwrap_or_default();
        let first = state.segments.last().and_then(|last| last.first);
        // What comes slowly fills no segment.
        if first.zip(self.0.limits.age).is_some_and(|(first, age)| since(first) > age / PARTS) {
            self.roll(&mut state)?;
        }
        Ok(state.delete_old(&self.0.limits, now))
    }

    /// How often [`Log::tidy`] is worth calling.
    pub fn tidies(&self) -> Option<Duration> {
        let most = Duration::from_secs(60);
        let by_size = self.0.limits.size.map(|_| most);
        self.0.limits.age.map(|age| (age / (2 * PARTS)).clamp(Duration::from_millis(100), most)).or(by_size)
    }
}

impl State {
    /// Deletes the segments that the limits do not keep; says which.
    fn delete_old(&mut self, limits: &super::Limits, now: SystemTime) -> Vec<String> {
        let mut deleted = Vec::new();
        while self.segments.len() > 1 {
            let bytes: u64 = self.segments.iter().map(|segment| segment.bytes).sum();
            let first = &self.segments[0];
            if first.end > self.needed {
                break;
            }
            // How far sources have been read stands in the last record.
            if self.segments.len() == 2 && self.segments[1].is_empty() && !self.marks.is_empty() {
                break;
            }
            let old = limits.age.is_some_and(|age| {
                first.latest.and_then(|at| now.duration_since(at).ok()).is_some_and(|since| since > age)
            });
            if !old && limits.size.is_none_or(|size| bytes <= size) {
                break;
            }
            let why = if old { "older than is kept" } else { "more than is kept" };
            let (path, lines) = (first.path.display().to_string(), (first.start + 1, first.end));
            if let Err(error) = std::fs::remove_file(&first.path) {
                deleted.push(format!("cannot delete {path}: {error}"));
                break;
            }
            deleted.push(format!("deleted {path}, lines {} to {}: {why}", lines.0, lines.1));
            self.segments.remove(0);
        }
        // What is in memory is a copy of what is on disk.
        let start = self.segments.first().map_or(0, |first| first.start);
        let recent: VecDeque<Record> = std::mem::take(&mut self.recent);
        self.recent = recent.into_iter().filter(|record| record.before >= start).collect();
        self.index.forget(start);
        self.recent_bytes = self.recent.iter().map(|record| record.bytes.len()).sum();
        deleted
    }
}
