//! Live traces: bytes are pushed as they arrive, and every record is read the moment its line is complete.
//!
//! A format with a fast path is read by blocks that end at the last newline of what has arrived, so nothing waits for
//! a block to fill. What a block held does not depend on where it was cut: of a block with a bad line, the lines
//! before it are delivered first. Formats without a fast path are read row by row on a thread of their own ([`rows`]).
//!
//! With `ReadOptions::any_order` positions are delivered in the order of their arrival, for a receiver that sorts them
//! because it knows how far time has come; with `ReadOptions::sort` they are sorted here, row by row.
//!
//! Kept: the bytes of the record that is still open, the last timestamp, the names seen, and a few kilobytes to
//! recognise the stream by when it is resumed ([`state`]).

mod blocks;
mod left_out;
mod order;
mod rows;
mod state;
#[cfg(test)]
mod tests;
mod watermark;

use crate::input::byte_order_mark;
use crate::templates::Derivation;
use crate::{
    Projection, ReadOptions, Settled, Stamp, TimeStyle, TraceError, TraceErrorKind, TraceFormat,
    TraceWarning, Vocabulary,
};
use blocks::Blocks;
use order::Order;
use rows::RowThread;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;
use tw_core::{Batch, Position};

pub use state::Unreadable;

/// Bytes after which a header is no longer waited for.
const HEAD: usize = 64 << 10;
/// Positions of a block whose lines are looked for one by one.
const SEARCHED: usize = 256;
/// Bytes of the stream that are remembered, to recognise it by.
const TAIL: usize = 4 << 10;

/// Takes what a live trace holds.
pub trait Receiver {
    /// What a batch is turned into before it counts as read.
    type Mapped;
    /// What ends the reading.
    type Error: From<TraceError>;

    /// Looks at a batch; the index of the first position that cannot be used, and why.
    fn map(&mut self, batch: Batch) -> Result<Self::Mapped, (usize, TraceError)>;

    /// Takes positions, in order.
    fn take(&mut self, mapped: Self::Mapped, arrival: &Arrival<'_>) -> Result<(), Self::Error>;

    /// A line that cannot be read. `Ok` leaves it out and goes on.
    fn bad_line(&mut self, error: TraceError) -> Result<(), Self::Error> {
        Err(error.into())
    }

    /// Lines, from this one on, that continue a record which is complete already, and belong to no other.
    fn left_over(&mut self, lines: u64, first: u64) {
        let _ = (lines, first);
    }

    /// A line that is no position ([`Live::watermark`]): no position from now on is earlier than this.
    fn watermark(&mut self, stamp: Stamp, line: u64) -> Result<(), Self::Error> {
        let _ = (stamp, line);
        Ok(())
    }
}

/// How much of a stream has been read: whole records alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Positions delivered.
    pub positions: u64,
    /// Bytes of the file or stream, to its first byte that has not been read.
    pub bytes: u64,
    /// Lines of it.
    pub lines: u64,
}

/// Positions that arrived together.
pub struct Arrival<'b> {
    /// How many.
    pub len: usize,
    /// What had been read before them.
    pub before: Progress,
    /// How the stream writes timestamps, if it has some.
    pub style: Option<TimeStyle>,
    lines: LinesOf<'b>,
}

enum LinesOf<'b> {
    Block(BlockLines<'b>),
    Kept(&'b [u64], &'b [Box<str>]),
}

/// A block, whose lines are looked up.
struct BlockLines<'b> {
    reader: &'b dyn crate::BlockReader,
    bytes: &'b [u8],
    /// Where each line ends, if each is one position; found when it is asked for.
    ends: OnceCell<Option<Vec<u32>>>,
}

impl<'b> BlockLines<'b> {
    fn new(reader: &'b dyn crate::BlockReader, bytes: &'b [u8]) -> Self {
        Self { reader, bytes, ends: OnceCell::new() }
    }

    /// Where the `index`-th of `len` positions is, and how many lines stand before it.
    fn locate(&self, index: Position, len: usize) -> Option<(Range<usize>, u64)> {
        let ends = self.ends.get_or_init(|| {
            let bytes = self.bytes;
            if len < 2 || u32::try_from(bytes.len()).is_err() || lines_in(bytes) != len {
                return None;
            }
            let open = bytes.last().is_some_and(|&byte| byte != b'\n').then_some(bytes.len() as u32);
            Some(memchr::memchr_iter(b'\n', bytes).map(|at| at as u32 + 1).chain(open).collect())
        });
        match ends {
            None => self.reader.locate(self.bytes, index),
            Some(ends) => {
                let end = *ends.get(index)? as usize;
                let start = index.checked_sub(1).map_or(0, |before| ends[before] as usize);
                Some((start..end, index as u64))
            }
        }
    }
}

impl<'b> Arrival<'b> {
    /// Positions with these lines (0 is not known) and texts, which are read again elsewhere than where they came from.
    pub fn kept(
        before: Progress,
        style: Option<TimeStyle>,
        (lines, texts): (&'b [u64], &'b [Box<str>]),
    ) -> Self {
        Self { len: lines.len(), before, style, lines: LinesOf::Kept(lines, texts) }
    }
}

impl Arrival<'_> {
    /// The line of every position, from 1, as far as that is known without looking at each: 0 where it is not.
    pub fn lines(&self) -> Vec<u64> {
        match self.lines {
            LinesOf::Kept(numbers, _) => numbers.to_vec(),
            LinesOf::Block(ref block) => {
                let lines = lines_in(block.bytes);
                let first = self.before.lines + 1;
                if lines == self.len {
                    return (first..first + self.len as u64).collect();
                }
                let line = |index| if self.len <= SEARCHED { self.line(index).0.unwrap_or(0) } else { 0 };
                (0..self.len).map(line).collect()
            }
        }
    }

    /// The first characters of the lines, as many as this, where [`lines`](Self::lines) knows them: nothing where it does not.
    pub fn texts(&self, characters: usize) -> Vec<Box<str>> {
        let first = |text: &str| text.chars().take(characters).collect::<String>().into_boxed_str();
        match self.lines {
            LinesOf::Kept(_, texts) if texts.len() == self.len => texts.to_vec(),
            LinesOf::Kept(..) => vec![Box::default(); self.len],
            LinesOf::Block(ref block) if self.len <= SEARCHED || lines_in(block.bytes) == self.len => {
                (0..self.len).map(|index| first(&self.line(index).1.unwrap_or_default())).collect()
            }
            LinesOf::Block(..) => vec![Box::default(); self.len],
        }
    }

    /// What has been read with them; its bytes are those before them.
    pub fn after(&self) -> Progress {
        let lines = match self.lines {
            LinesOf::Kept(numbers, _) => numbers.last().copied().unwrap_or(self.before.lines),
            LinesOf::Block(ref block) => self.before.lines + lines_in(block.bytes) as u64,
        };
        Progress { positions: self.before.positions + self.len as u64, lines, ..self.before }
    }

    /// Line (from 1) and text of the `index`-th position, as far as known.
    pub fn line(&self, index: Position) -> (Option<u64>, Option<Cow<'_, str>>) {
        match self.lines {
            LinesOf::Kept(numbers, texts) => {
                let text = texts.get(index).filter(|text| !text.is_empty());
                let text = text.map(|text| Cow::Borrowed(&**text));
                (numbers.get(index).copied().filter(|line| *line > 0), text)
            }
            LinesOf::Block(ref block) => match block.locate(index, self.len) {
                None => (None, None),
                Some((range, line)) => {
                    let text = without_end(block.bytes.get(range).unwrap_or_default());
                    (Some(self.before.lines + line + 1), Some(String::from_utf8_lossy(text)))
                }
            },
        }
    }
}

/// A line without what ends it.
fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Lines that begin in `bytes`; the last may lack its end.
fn lines_in(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count() + usize::from(bytes.last().is_some_and(|&byte| byte != b'\n'))
}

/// A trace that is still being written.
pub struct Live {
    format: &'static dyn TraceFormat,
    projection: Projection,
    /// Fills the slots of templates, which the projection is without.
    derivation: Option<Derivation>,
    options: ReadOptions,
    name: String,
    mode: Mode,
    /// Bytes after the last whole record.
    rest: Vec<u8>,
    /// Length of `rest` when it was last found to end inside a record.
    open: usize,
    /// Bytes of `rest` in which no record begins but the first.
    continued: usize,
    progress: Progress,
    order: Order,
    /// The last bytes read.
    tail: Vec<u8>,
    /// A file that continues another may begin with the same header again.
    header_again: bool,
    /// Positions that another process has read already; rows are read again from the start.
    repeated: u64,
    /// The name under which lines say how far time has come.
    watermark: Option<String>,
    style: Option<TimeStyle>,
    /// A line that is left out and has not ended.
    overlong: Option<left_out::Overlong>,
    /// What its beginning showed.
    settled: Option<Settled>,
    /// Whether `rest` is read although more may belong to it: nothing has come for a while.
    silent: bool,
}

enum Mode {
    /// Not enough has arrived to tell.
    Start,
    Blocks(Blocks),
    Rows(RowThread, Vocabulary),
}

impl Live {
    /// A stream called `name` of which nothing has arrived.
    pub fn new(
        name: &str,
        format: &'static dyn TraceFormat,
        projection: &Projection,
        options: &ReadOptions,
    ) -> Self {
        let derivation = Derivation::of(projection);
        let projection = derivation.as_ref().map_or(projection, |derivation| &derivation.reading);
        Self {
            format,
            projection: projection.clone(),
            derivation,
            options: options.clone(),
            name: name.to_string(),
            mode: Mode::Start,
            rest: Vec::new(),
            open: 0,
            continued: 0,
            progress: Progress::default(),
            order: Order::default(),
            tail: Vec::new(),
            header_again: false,
            repeated: 0,
            watermark: None,
            style: None,
            overlong: None,
            settled: None,
            silent: false,
        }
    }

    /// What the beginning of the stream showed, once.
    pub fn take_settled(&mut self) -> Option<Settled> {
        self.settled.take()
    }

    /// Whether the first line of the stream says how the others are read.
    pub fn has_header(&self) -> bool {
        self.format.has_header()
    }

    /// How much has been read.
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// The last bytes read, at most 4 KiB.
    pub fn tail(&self) -> &[u8] {
        &self.tail
    }

    /// Takes bytes. Their last line waits for its end, unless they are the last.
    pub fn push<R: Receiver>(
        &mut self,
        mut bytes: &[u8],
        last: bool,
        receiver: &mut R,
    ) -> Result<(), R::Error> {
        bytes = &bytes[self.pass_overlong(bytes)..];
        // Without the end of a line nothing is complete, and a long line is not looked at again and again.
        if !last
            && !self.silent
            && !self.rest.is_empty()
            && !matches!(self.mode, Mode::Rows(..))
            && memchr::memchr(b'\n', bytes).is_none()
        {
            self.rest.extend_from_slice(bytes);
            return self.within_limits(receiver);
        }
        let result = if self.rest.is_empty() {
            // Most often all before the last newline is read from where it is.
            self.offer(bytes, last, receiver).map(|used| self.rest.extend_from_slice(&bytes[used..]))
        } else {
            let mut all = std::mem::take(&mut self.rest);
            all.extend_from_slice(bytes);
            let result = self.offer(&all, last, receiver);
            result.map(|used| {
                all.drain(..used);
                self.rest = all;
            })
        };
        result?;
        self.within_limits(receiver)
    }

    fn within_limits<R: Receiver>(&mut self, receiver: &mut R) -> Result<(), R::Error> {
        if self.rest.len() <= self.options.max_record {
            return Ok(());
        }
        // Whole lines that wait are not what is too long.
        if !self.silent && self.waits() {
            self.silence(receiver)?;
        }
        match self.rest.len() > self.options.max_record {
            true => self.give_up_line(receiver),
            false => Ok(()),
        }
    }

    /// Whether something waits that only what follows, or silence, shows to be whole.
    pub fn waits(&self) -> bool {
        let open = match &self.mode {
            Mode::Start => true,
            Mode::Blocks(blocks) => !blocks.reader.lines_are_records(),
            Mode::Rows(..) => false,
        };
        open && memchr::memchr(b'\n', &self.rest).is_some()
    }

    /// Nothing has come for a while: whole lines that wait for what follows wait no longer.
    pub fn silence<R: Receiver>(&mut self, receiver: &mut R) -> Result<(), R::Error> {
        if !self.waits() {
            return Ok(());
        }
        self.silent = true;
        let result = self.push(&[], false, receiver);
        self.silent = false;
        result
    }

    /// The file was replaced or emptied: what is pushed next is read as one that continues this one.
    pub fn restart<R: Receiver>(&mut self, receiver: &mut R) -> Result<(), R::Error> {
        if !self.rest.is_empty() {
            self.push(b"\n", false, receiver)?;
            // What waits for lines that may continue it has them all.
            self.silence(receiver)?;
        }
        self.rest.clear();
        self.continued = 0;
        self.overlong = None;
        self.tail.clear();
        (self.progress.bytes, self.progress.lines) = (0, 0);
        self.header_again = true;
        Ok(())
    }

    /// As [`Live::restart`], with a file of another name.
    pub(crate) fn restart_as<R: Receiver>(&mut self, name: &str, receiver: &mut R) -> Result<(), R::Error> {
        self.silence(receiver)?;
        self.restart(receiver)?;
        self.name = name.to_string();
        Ok(())
    }

    /// What is pushed next stands so much further on in the file; all before it but a header was left out.
    pub fn begin_at(&mut self, bytes: u64, lines: u64) {
        self.progress.bytes += bytes;
        self.progress.lines += lines;
        self.tail.clear();
    }

    /// This much has been read by another reader, which saw other columns; before anything has come.
    pub fn begin_after(&mut self, read: Progress) {
        self.progress = read;
        self.tail.clear();
    }

    /// Names that have not occurred so far: errors or warnings, as at the end of a stored trace.
    pub fn judge(&self) -> Result<Vec<TraceWarning>, TraceError> {
        let judged = match &self.mode {
            Mode::Start => Ok(Vec::new()),
            Mode::Blocks(blocks) => blocks.reader.finish(),
            Mode::Rows(_, seen) => seen.judge(&self.projection, self.format.card().open_vocabulary),
        };
        let judged = match &self.derivation {
            Some(derivation) => judged
                .map(|warnings| derivation.warnings(warnings, self.progress.positions))
                .map_err(|error| derivation.error(error)),
            None => judged,
        };
        judged.map_err(|error| error.in_file(&self.name))
    }

    /// Reads what can be read of `bytes`, which begin where the last record ended; says how much that was.
    fn offer<R: Receiver>(&mut self, bytes: &[u8], last: bool, receiver: &mut R) -> Result<usize, R::Error> {
        if let Mode::Rows(thread, seen) = &mut self.mode {
            let mut job = rows::Job {
                projection: &self.projection,
                derivation: self.derivation.as_ref(),
                seen,
                progress: &mut self.progress,
                repeated: &mut self.repeated,
                watermark: self.watermark.as_deref(),
                style: &mut self.style,
                name: &self.name,
            };
            job.run(thread, bytes, last, receiver)?;
            return Ok(bytes.len());
        }
        if bytes.is_empty() {
            return Ok(0);
        }
        let end = if last { bytes.len() } else { memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1) };
        let known = self.open.min(end);
        if end == 0 || !last && known > 0 && !blocks::may_be_complete(known, &bytes[known..end]) {
            return Ok(0);
        }
        let mut used = 0;
        if matches!(self.mode, Mode::Start) {
            if self.format.lines_are_objects() {
                let marks = self.first_marks(&bytes[..end], receiver)?;
                if marks > 0 {
                    return Ok(marks + self.offer(&bytes[marks..], last, receiver)?);
                }
                let bad = self.bad_start(&bytes[..end], receiver)?;
                if bad > 0 {
                    return Ok(bad + self.offer(&bytes[bad..], last, receiver)?);
                }
            }
            match self.start(&bytes[..end], last).map_err(|error| error.in_file(&self.name))? {
                Started::Blocks(skipped) => used = skipped,
                Started::Rows => {
                    // Rows are counted from the beginning, the byte order mark included.
                    return self.offer(bytes, last, receiver);
                }
                Started::Later => return Ok(0),
            }
        }
        let Mode::Blocks(blocks) = &self.mode else { return Ok(0) };
        if std::mem::take(&mut self.header_again) && bytes[used..end].starts_with(blocks.header()) {
            let header = blocks.header().len();
            let lines = memchr::memchr_iter(b'\n', blocks.header()).count() as u64;
            self.skip(&bytes[used..used + header], lines);
            used += header;
        }
        let lines = end;
        let mut waits = false;
        let end = match &self.mode {
            Mode::Blocks(blocks) if !last && !self.silent && !blocks.reader.lines_are_records() => {
                waits = true;
                used.max(last_record(&bytes[..end], self.continued, &*blocks.reader))
            }
            _ => end,
        };
        used += self.read_lines(&bytes[used..end], last, receiver)?;
        self.open = end.saturating_sub(used);
        self.continued = if waits { lines - used } else { 0 };
        Ok(used)
    }

    /// Finds out how the stream is to be read.
    fn start(&mut self, head: &[u8], last: bool) -> Result<Started, TraceError> {
        let mark = byte_order_mark(head)?;
        let text = &head[mark..];
        let waits = !last && !self.silent && head.len() < HEAD;
        if waits && !self.format.can_begin(text, &self.options) {
            return Ok(Started::Later);
        }
        if self.options.leaves_open() || self.options.leaves_form_open() {
            // A header alone does not show how timestamps are written.
            if waits && !self.options.has_record(self.format, text) {
                return Ok(Started::Later);
            }
            self.settled = Some(self.options.settle(self.format, text));
        }
        if self.options.sort.is_none()
            && self.format.lines_end_records()
            && let Some(blocks) = Blocks::new(self.format, text, &self.projection, &self.options)?
        {
            let (skip, lines) = (mark + blocks.header().len(), blocks.header_lines());
            self.mode = Mode::Blocks(blocks);
            self.skip(&head[..skip], lines);
            return Ok(Started::Blocks(skip));
        }
        if waits && text.iter().all(u8::is_ascii_whitespace) {
            return Ok(Started::Later);
        }
        self.read_rows()?;
        Ok(Started::Rows)
    }

    fn read_rows(&mut self) -> Result<(), TraceError> {
        let thread = RowThread::spawn(&self.name, self.format, &self.options)?;
        self.mode = Mode::Rows(thread, Vocabulary::new(self.projection.slots.len()));
        Ok(())
    }

    /// Counts bytes as read.
    fn skip(&mut self, bytes: &[u8], lines: u64) {
        self.progress.bytes += bytes.len() as u64;
        self.progress.lines += lines;
        if bytes.len() >= TAIL {
            self.tail.clear();
        } else if self.tail.len() + bytes.len() > TAIL {
            self.tail.drain(..self.tail.len() + bytes.len() - TAIL);
        }
        self.tail.extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL)..]);
    }

    fn too_long(&self) -> TraceError {
        let limit = self.options.max_record;
        let message = format!("this record is longer than {limit} bytes, the most that is accepted");
        TraceError::new(TraceErrorKind::Budget, message).at(self.progress.lines + 1, 1).in_file(&self.name)
    }
}

/// Where the last record begins: it may go on in what follows. In the first `continued` bytes none begins but the first.
fn last_record(lines: &[u8], continued: usize, reader: &dyn crate::BlockReader) -> usize {
    let mut end = lines.len();
    while end > continued {
        let start = memchr::memrchr(b'\n', &lines[..end - 1]).map_or(0, |at| at + 1);
        if reader.begins_record(&lines[start..end - 1]) {
            return start;
        }
        end = start;
    }
    0
}

enum Started {
    /// By blocks, after a header of so many bytes.
    Blocks(usize),
    Rows,
    /// More has to arrive.
    Later,
}
