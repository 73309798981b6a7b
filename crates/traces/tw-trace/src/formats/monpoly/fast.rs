//! Blocks of `monpoly` entries into bit columns and tuples.
//!
//! One pass over the bytes: a look-up for the name of each event, and for those that a slot asks for the places of the
//! values, which go to their columns as they stand. Nothing is allocated per event.
//!
//! An entry ends where the next begins. The last one of a block has ended if an `@` follows the block; else it is open,
//! and `scan` gives its lines again together with what follows. Anything wrong ends the attempt, and the block is read by
//! rows, which also words the error.

use super::Source;
use super::tuple::{Stop, Tuple};
use super::walk::{begins_line, entry, name_end, pass_space, quoted};
use crate::formats::found::Found;
use crate::formats::line::{by_rows, time_of};
use crate::formats::wanted::{SAMPLE, Wanted};
use crate::{
    Block, BlockBatch, BlockReader, Projection, ReadOptions, Row, RowSource, TraceError, TraceWarning,
    Vocabulary,
};
use std::ops::Range;
use std::sync::Arc;
use tw_core::Time;

/// Reads blocks of `monpoly`.
pub(super) struct Reader {
    wanted: Wanted,
    options: ReadOptions,
}

impl Reader {
    pub(super) fn new(projection: &Projection, options: &ReadOptions) -> Self {
        Self { wanted: Wanted::new(projection), options: options.clone() }
    }

    /// Reads a block: `None` if rows must.
    fn attempt(&self, block: &Block<'_>, seen: &mut Vocabulary) -> Option<BlockBatch> {
        if block.bytes.len() > self.options.max_record {
            return None;
        }
        let text = simdutf8::basic::from_utf8(block.bytes).ok()?;
        let mut job = Job::new(self, text, block.last || block.next == Some(b'@'));
        let mut open_from = None;
        match job.run() {
            Ok(()) => {}
            Err(Stop::Open) if !block.last => {
                // What was read of the open entry is in the columns: without it, the block is read again.
                let from = job.line;
                job = Job::new(self, &text[..from], true);
                job.run().ok()?;
                open_from = Some(from);
            }
            Err(_) => return None,
        }
        Some(job.finish(open_from, seen))
    }

    /// As [`Reader::attempt`], by rows.
    fn by_rows(&self, block: &Block<'_>, seen: &mut Vocabulary) -> Result<BlockBatch, TraceError> {
        let open_from = if block.last { None } else { self.open_from(block) };
        let bytes = &block.bytes[..open_from.unwrap_or(block.bytes.len())];
        let mut source = Source::of_block(bytes, &self.options);
        let (batch, vocabulary) =
            by_rows(&mut source, &self.wanted.projection, true, self.options.any_order)?;
        seen.merge(&vocabulary);
        let starts = (0..).scan(0, |at, _: usize| {
            let (range, next) = entry(bytes, *at)?;
            *at = next;
            Some(range.start)
        });
        let shared_lines = starts.into_iter().any(|start| begins_line(bytes, start).is_none());
        Ok(BlockBatch { lines: lines_of(bytes, open_from.is_none()), shared_lines, open_from, ..batch })
    }

    /// Where the lines of an entry begin that is open at the end of a block.
    fn open_from(&self, block: &Block<'_>) -> Option<usize> {
        let mut source = Source::of_block(block.bytes, &self.options);
        let mut row = Row::default();
        let (mut at, mut line) = (0, 0);
        loop {
            let read = source.next(&mut row);
            let (range, next) = entry(block.bytes, at)?;
            at = next;
            line = begins_line(block.bytes, range.start).unwrap_or(line);
            let whole = read.is_ok() && block.next == Some(b'@');
            if source.scanner.ended {
                return (!whole).then_some(line);
            }
            read.ok()?;
        }
    }
}

/// Lines in a part of a block: a line that lacks its end counts if the part is all of it.
fn lines_of(bytes: &[u8], whole: bool) -> u64 {
    let newlines = memchr::memchr_iter(b'\n', bytes).count() as u64;
    newlines + u64::from(whole && bytes.last().is_some_and(|&last| last != b'\n'))
}

impl BlockReader for Reader {
    fn read(&self, block: Block<'_>) -> Result<BlockBatch, TraceError> {
        let mut seen = Vocabulary::new(self.wanted.name_of_slot.len());
        let batch = self.read_noting(block, &mut seen)?;
        self.absorb(&seen);
        Ok(batch)
    }

    fn read_noting(&self, block: Block<'_>, seen: &mut Vocabulary) -> Result<BlockBatch, TraceError> {
        match self.attempt(&block, seen) {
            Some(batch) => Ok(batch),
            None => self.by_rows(&block, seen),
        }
    }

    /// Whole lines, where no other entry stands on them.
    fn locate(&self, block: &[u8], index: usize) -> Option<(Range<usize>, u64)> {
        let mut at = 0;
        for _ in 0..index {
            at = entry(block, at)?.1;
        }
        let (Range { start, end }, next) = entry(block, at)?;
        let limit = pass_space(block, next);
        let line_end = memchr::memchr(b'\n', &block[end..]).map_or(block.len(), |length| end + length);
        let start = begins_line(block, start).unwrap_or(start);
        Some((start..line_end.min(limit), memchr::memchr_iter(b'\n', &block[..start]).count() as u64))
    }

    fn absorb(&self, seen: &Vocabulary) {
        self.wanted.absorb(seen);
    }

    fn seen(&self) -> Vocabulary {
        self.wanted.seen()
    }

    fn finish(&self) -> Result<Vec<TraceWarning>, TraceError> {
        self.wanted.finish()
    }
}

/// One block under way.
struct Job<'b> {
    reader: &'b Reader,
    text: &'b str,
    /// Whether the last entry ends with the text.
    whole: bool,
    found: Found,
    times: Vec<Time>,
    tuple: Tuple<'b>,
    /// Where the lines of the current entry begin.
    line: usize,
    shared_lines: bool,
    /// Names before this byte are noted, to suggest them for those that never occur.
    sample: usize,
    noted: Vocabulary,
}

impl<'b> Job<'b> {
    fn new(reader: &'b Reader, text: &'b str, whole: bool) -> Self {
        let entries = memchr::memchr_iter(b'@', text.as_bytes()).count();
        Self {
            reader,
            text,
            whole,
            found: Found::new(&reader.wanted, entries),
            times: Vec::with_capacity(entries),
            tuple: Tuple::new(text),
            line: 0,
            shared_lines: false,
            sample: if reader.wanted.misses() { SAMPLE } else { 0 },
            noted: Vocabulary::new(0),
        }
    }

    fn run(&mut self) -> Result<(), Stop> {
        let bytes = self.text.as_bytes();
        let mut at = pass_space(bytes, 0);
        while let Some(&byte) = bytes.get(at) {
            if byte != b'@' {
                return Err(Stop::Odd);
            }
            match begins_line(bytes, at) {
                Some(line) => self.line = line,
                None => self.shared_lines = true,
            }
            at = self.entry(at)?;
        }
        Ok(())
    }

    /// Reads the entry whose `@` stands at `start`; where the next begins.
    #[inline(always)]
    fn entry(&mut self, start: usize) -> Result<usize, Stop> {
        let bytes = self.text.as_bytes();
        let from = pass_space(bytes, start + 1);
        let mut at = name_end(bytes, from);
        let time = time_of(&bytes[from..at], self.reader.options.stamps()).ok_or(Stop::Odd)?;
        if self.times.last().is_some_and(|last| time < *last) {
            return Err(Stop::Odd);
        }
        let mut room = self.reader.options.max_columns;
        loop {
            at = pass_space(bytes, at);
            match bytes.get(at) {
                None if !self.whole => return Err(Stop::Open),
                None | Some(b'@') => break,
                Some(b';') => {
                    at = pass_space(bytes, at + 1);
                    break;
                }
                Some(b'(' | b')' | b',' | b'>') => return Err(Stop::Odd),
                Some(_) => at = self.events(at, &mut room)?,
            }
        }
        self.times.push(time);
        Ok(at)
    }

    /// Reads the name at `at` and its tuples; `room` is how many more events the entry may have.
    #[inline(always)]
    fn events(&mut self, at: usize, room: &mut usize) -> Result<usize, Stop> {
        let bytes = self.text.as_bytes();
        let (name, mut at) = match bytes[at] {
            b'"' => {
                let (text, doubled) = quoted(bytes, at).ok_or(Stop::Open)?;
                // A name of nothing is wrong, and one with quotes in it rare.
                if doubled || text.is_empty() {
                    return Err(Stop::Odd);
                }
                let end = text.end + 1;
                (text, end)
            }
            _ => {
                let end = name_end(bytes, at);
                (at..end, end)
            }
        };
        let wanted = self.reader.wanted.names.find(bytes, name.start, name.len());
        if name.start < self.sample {
            self.note(&self.text[name]);
        }
        let mut tuples = 0;
        loop {
            at = pass_space(bytes, at);
            let given = bytes.get(at) == Some(&b'(');
            if !given && tuples > 0 {
                return Ok(at);
            }
            *room = room.checked_sub(1).ok_or(Stop::Odd)?;
            self.tuple.clear();
            if given {
                at = self.tuple.read(at + 1, self.reader.options.max_columns)?;
                tuples += 1;
            }
            if let Some(name) = wanted {
                let position = self.times.len();
                self.found.event(&self.reader.wanted, name, position, &self.tuple).ok_or(Stop::Odd)?;
            }
            if !given {
                return Ok(at);
            }
        }
    }

    #[cold]
    fn note(&mut self, name: &str) {
        if !self.noted.events.contains(name) {
            self.noted.events.insert(Arc::from(name));
        }
    }

    fn finish(mut self, open_from: Option<usize>, seen: &mut Vocabulary) -> BlockBatch {
        let wanted = &self.reader.wanted;
        let len = self.times.len();
        seen.merge(&wanted.noted(len, self.found.noted()));
        seen.merge(&self.noted);
        let time_range = self.times.first().copied().zip(self.times.last().copied());
        let batch = wanted.batch(len, Some(self.times), |slot| self.found.column(wanted, slot, len));
        let lines = lines_of(self.text.as_bytes(), open_from.is_none());
        BlockBatch { batch, time_range, lines, shared_lines: self.shared_lines, open_from, months: None }
    }
}
