//! A live trace by blocks.

use super::{Arrival, BlockLines, LinesOf, Live, Mode, Order, Receiver};
use crate::{
    Block, BlockBatch, BlockReader, Projection, ReadOptions, Row, Stamp, TimeStyle, TraceError,
    TraceErrorKind, TraceFormat, Vocabulary,
};
use std::io::Read;

/// Bytes read at a time after a bad line: the next is often near, and what stands before it is read twice.
const CAREFUL: usize = 4 << 10;
/// Open records longer than this are not read again for every few bytes that arrive.
const LONG: usize = 1 << 20;

/// A format's block reader and the beginning of the stream, which made it.
pub(super) struct Blocks {
    pub reader: Box<dyn BlockReader>,
    /// The header and the first record.
    pub head: Vec<u8>,
    skip: usize,
    skip_lines: u64,
}

impl Blocks {
    /// The reader of a stream that begins with `head`, if the format has one.
    pub fn new(
        format: &dyn TraceFormat,
        head: &[u8],
        projection: &Projection,
        options: &ReadOptions,
    ) -> Result<Option<Self>, TraceError> {
        if crate::adapt::is_beyond_blocks(format, options) {
            return Ok(None);
        }
        let Some(start) = format.blocks(head, projection, options)? else { return Ok(None) };
        let record = head[start.skip..].iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
        let from = start.skip + record;
        let end = memchr::memchr(b'\n', &head[from..]).map_or(head.len(), |at| from + at + 1);
        let head = head[..end].to_vec();
        Ok(Some(Self { reader: start.reader, head, skip: start.skip, skip_lines: start.skip_lines }))
    }

    pub fn header(&self) -> &[u8] {
        &self.head[..self.skip]
    }

    pub fn header_lines(&self) -> u64 {
        self.skip_lines
    }

    /// The timestamp of the first position of a block.
    fn first_stamp(&self, bytes: &[u8], format: &dyn TraceFormat, options: &ReadOptions) -> Option<Stamp> {
        let (range, _) = self.reader.locate(bytes, 0)?;
        let mut row = Row::default();
        let mut rows = format.rows(Box::new(self.header().chain(bytes.get(range)?)), options).ok()?;
        if rows.next(&mut row).ok()? { row.time } else { None }
    }
}

/// A block that was read and found good.
struct Good<T> {
    read: BlockBatch,
    mapped: Option<T>,
    order: Order,
    len: usize,
}

impl Live {
    /// Reads whole lines; says how many bytes of records they held.
    pub(super) fn read_blocks<R: Receiver>(
        &mut self,
        bytes: &[u8],
        last: bool,
        receiver: &mut R,
    ) -> Result<usize, R::Error> {
        let mut at = 0;
        let mut stride = bytes.len();
        while at < bytes.len() {
            let end = line_end(bytes, at.saturating_add(stride));
            let block = Block {
                bytes: &bytes[at..end],
                last: last && end == bytes.len(),
                next: bytes.get(end).copied(),
            };
            match self.read_block(block, receiver) {
                Ok(good) => {
                    let (used, open) = self.deliver(&bytes[at..end], good, receiver)?;
                    at += used;
                    stride = stride.saturating_mul(2);
                    if open && end == bytes.len() {
                        break;
                    }
                }
                Err(error) => {
                    at += self.leave_out(&bytes[at..end], error, receiver)?;
                    stride = CAREFUL;
                }
            }
        }
        Ok(at)
    }

    /// Reads a block without counting it as read. Lines in errors are relative to the block.
    fn read_block<R: Receiver>(
        &self,
        block: Block<'_>,
        receiver: &mut R,
    ) -> Result<Good<R::Mapped>, TraceError> {
        let Mode::Blocks(blocks) = &self.mode else {
            return Err(TraceError::new(TraceErrorKind::Usage, "this stream is read by rows"));
        };
        let bytes = block.bytes;
        let mut seen = Vocabulary::new(self.projection.slots.len());
        let read = blocks.reader.read_noting(block, &mut seen);
        let mut read = read.map_err(|error| match &self.derivation {
            Some(derivation) => derivation.error(error),
            None => error,
        })?;
        if !self.projection.bare.is_empty() {
            // Some readers note what they see themselves.
            seen.hidden(&self.projection).and_then(|()| blocks.reader.seen().hidden(&self.projection))?;
        }
        let line = |index| blocks.reader.locate(bytes, index).map_or(1, |(_, line)| line + 1);
        let mut good =
            Good { mapped: None, order: self.order, len: read.batch.len, read: BlockBatch::default() };
        if good.len > 0 {
            let number = |time| Stamp { time, style: TimeStyle::Number(self.options.unit) };
            let first = || {
                let time = read.time_range.map_or(0, |(first, _)| first);
                blocks.first_stamp(bytes, self.format, &self.options).unwrap_or(number(time))
            };
            let order = self.order.check(read.time_range, self.options.any_order, first);
            good.order = order.map_err(|error| error.at(line(0), 1))?;
            let mut batch = std::mem::take(&mut read.batch);
            if let Some(derivation) = &self.derivation {
                batch = derivation.derive(batch);
            }
            let mapped = receiver.map(batch).map_err(|(index, mut error)| {
                error.line = Some(line(index));
                error
            })?;
            good.mapped = Some(mapped);
        }
        blocks.reader.absorb(&seen);
        good.read = read;
        Ok(good)
    }

    /// Hands over what a block held: the bytes used, and whether a record is open after them.
    fn deliver<R: Receiver>(
        &mut self,
        bytes: &[u8],
        good: Good<R::Mapped>,
        receiver: &mut R,
    ) -> Result<(usize, bool), R::Error> {
        let before = self.progress;
        let used = good.read.open_from.unwrap_or(bytes.len());
        if let Mode::Blocks(blocks) = &self.mode
            && !blocks.reader.lines_are_records()
            && before.positions > 0
        {
            let first = blocks.reader.locate(&bytes[..used], 0);
            let lines = first.map_or(good.read.lines, |(_, line)| line);
            if lines > 0 {
                receiver.left_over(lines, before.lines + 1);
            }
        }
        self.order = good.order;
        self.progress.positions += good.len as u64;
        self.skip(&bytes[..used], good.read.lines);
        if let (Some(months), Mode::Blocks(blocks)) = (good.read.months, &self.mode) {
            blocks.reader.turn(months.after);
            self.options.calendar = Some(months.after);
        }
        if let (Some(mapped), Mode::Blocks(blocks)) = (good.mapped, &self.mode) {
            if self.style.is_none() && good.order.timed == Some(true) {
                let first = blocks.first_stamp(bytes, self.format, &self.options);
                self.style = first.map(|stamp| stamp.style);
            }
            let style = self.style;
            let lines = LinesOf::Block(BlockLines::new(&*blocks.reader, &bytes[..used]));
            receiver.take(mapped, &Arrival { len: good.len, before, style, lines })?;
        }
        Ok((used, good.read.open_from.is_some()))
    }

    /// Delivers what stands before a bad line and, if the receiver agrees, leaves the line out; the bytes used.
    fn leave_out<R: Receiver>(
        &mut self,
        bytes: &[u8],
        mut error: TraceError,
        receiver: &mut R,
    ) -> Result<usize, R::Error> {
        let line = error.line.unwrap_or(1).max(1);
        let start = match line {
            1 => 0,
            _ => memchr::memchr_iter(b'\n', bytes).nth(line as usize - 2).map_or(0, |at| at + 1),
        };
        error.line = error.line.map(|line| self.progress.lines + line);
        let error = error.in_file(&self.name);
        // A record of several lines may be bad in a later one: it starts where those before it end.
        let mut from = 0;
        if start > 0 {
            let good = self.read_block(
                Block { bytes: &bytes[..start], last: false, next: bytes.get(start).copied() },
                receiver,
            );
            let good = good.map_err(|mut first| {
                first.line = first.line.map(|line| self.progress.lines + line);
                first.in_file(&self.name)
            })?;
            (from, _) = self.deliver(&bytes[..start], good, receiver)?;
        }
        if !error.is_about_a_line() || error.line.is_none() {
            return Err(error.into());
        }
        receiver.bad_line(error)?;
        let end = line_end(bytes, start + 1);
        let lines = memchr::memchr_iter(b'\n', &bytes[from..end]).count() as u64;
        self.skip(&bytes[from..end], lines);
        Ok(end)
    }
}

/// Whether a record that was still open after `known` bytes may be complete with what has arrived since.
pub(super) fn may_be_complete(known: usize, news: &[u8]) -> bool {
    memchr::memchr(b'"', news).is_some() && (known < LONG || news.len() * 2 > known)
}

/// The end of the line that holds byte `at - 1`.
fn line_end(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at.saturating_sub(1)..) {
        None => bytes.len(),
        Some(rest) => {
            memchr::memchr(b'\n', rest).map_or(bytes.len(), |found| at.saturating_sub(1) + found + 1)
        }
    }
}
