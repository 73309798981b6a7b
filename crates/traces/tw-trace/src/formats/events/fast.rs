//! Blocks of `events` lines into bit columns and tuples.
//!
//! Chunks of 64 bytes give, as words, the newlines, the end of each line's name (its first comma, found for all lines of
//! a chunk by one addition) and the lines with a quote in them. What is left to do per line is one look-up of its name,
//! and the comparison of arguments where a pattern of that name has constants or variables; nothing is allocated. Lines with quotes
//! are cut by the same function that rows use.
//!
//! Anything wrong ends the attempt, and the block is read by rows, which also words the error.

use super::Source;
use crate::formats::fields::{cell, is_blank, trim};
use crate::formats::found::Found;
use crate::formats::line::{Lines, time_of};
#[cfg(target_arch = "x86_64")]
use crate::formats::masks::{Avx2, has_avx2};
use crate::formats::masks::{Lanes, Portable, any_before, chunk};
use crate::formats::wanted::{SAMPLE, Wanted};
use crate::slots::Cells;
use crate::{Block, BlockBatch, BlockReader, Projection, ReadOptions, TraceError, TraceWarning, Vocabulary};
use std::ops::Range;
use tw_core::Time;

/// Reads blocks of `events`.
pub(super) struct Reader {
    wanted: Wanted,
    options: ReadOptions,
}

impl Reader {
    pub(super) fn new(projection: &Projection, options: &ReadOptions) -> Self {
        Self { wanted: Wanted::new(projection), options: options.clone() }
    }

    fn attempt(&self, bytes: &[u8]) -> Option<BlockBatch> {
        // Only then could a line have too many arguments.
        if bytes.len() >= self.options.max_columns
            && memchr::memchr_iter(b',', bytes).count() >= self.options.max_columns
        {
            return None;
        }
        let text = simdutf8::basic::from_utf8(bytes).ok()?;
        let newlines = memchr::memchr_iter(b'\n', bytes).count();
        let lines = newlines + usize::from(!bytes.is_empty() && bytes.last() != Some(&b'\n'));
        let mut job = Job::new(self, text, lines);
        job.run()?;
        let len = job.position;
        self.wanted.note(len, job.found.noted(), |note| {
            let mut end = bytes.len().min(SAMPLE);
            if end < bytes.len() {
                end = memchr::memrchr(b'\n', &bytes[..end]).unwrap_or(0);
            }
            let lines = text[..end].split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
            for line in lines.filter(|line| !is_blank(line.as_bytes())) {
                // Every line was read before, so its name can be read again.
                if let Ok(name) = cell(line, 1, 0, Some(b',')) {
                    note(&name.text);
                }
            }
        });
        let time_range = job.times.first().copied().zip(job.times.last().copied());
        let times = self.options.timed.then_some(job.times);
        let batch = self.wanted.batch(len, times, |slot| job.found.column(&self.wanted, slot, len));
        Some(BlockBatch { batch, time_range, lines: lines as u64, ..BlockBatch::default() })
    }
}

impl BlockReader for Reader {
    fn read(&self, block: Block<'_>) -> Result<BlockBatch, TraceError> {
        if let Some(batch) = self.attempt(block.bytes) {
            return Ok(batch);
        }
        let lines = Lines::of_block(block.bytes, &self.options);
        let mut batch = self.wanted.by_rows(
            &mut Source::new(lines, &self.options),
            self.options.timed,
            self.options.any_order,
        )?;
        let newlines = memchr::memchr_iter(b'\n', block.bytes).count();
        batch.lines = newlines as u64 + u64::from(block.bytes.last().is_some_and(|&last| last != b'\n'));
        Ok(batch)
    }

    fn locate(&self, block: &[u8], index: usize) -> Option<(Range<usize>, u64)> {
        let (mut start, mut number, mut left) = (0, 0, index);
        while start < block.len() {
            let end = memchr::memchr(b'\n', &block[start..]).map_or(block.len(), |length| start + length);
            let line = &block[start..end];
            if !is_blank(line.strip_suffix(b"\r").unwrap_or(line)) {
                if left == 0 {
                    return Some((start..end, number));
                }
                left -= 1;
            }
            number += 1;
            start = end + 1;
        }
        None
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
    found: Found,
    times: Vec<Time>,
    position: usize,
    // What one chunk hands to the next.
    start: usize,
    name_end: Option<usize>,
    naming: u64,
    quoting: u64,
    after_newline: u64,
    after_carriage: u64,
}

impl<'b> Job<'b> {
    fn new(reader: &'b Reader, text: &'b str, lines: usize) -> Self {
        Self {
            reader,
            text,
            found: Found::new(&reader.wanted, lines),
            times: Vec::new(),
            position: 0,
            start: 0,
            name_end: None,
            naming: 0,
            quoting: 0,
            after_newline: 1,
            after_carriage: 0,
        }
    }

    /// Reads the text; `None` if it must be read by rows.
    fn run(&mut self) -> Option<()> {
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            // SAFETY: the features were just found to be present.
            return unsafe { self.run_avx2() };
        }
        self.run_on::<Portable>()
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    unsafe fn run_avx2(&mut self) -> Option<()> {
        self.run_on::<Avx2>()
    }

    #[inline(always)]
    fn run_on<L: Lanes>(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        let mut base = 0;
        while base + 64 <= bytes.len() {
            self.chunk::<L>(chunk(bytes, base), base)?;
            base += 64;
        }
        // In the copy of what is left, a newline ends the last line; spaces behind it begin a line that never ends.
        let mut tail = [b' '; 64];
        let left = &bytes[base..];
        tail[..left.len()].copy_from_slice(left);
        if bytes.last().is_some_and(|&last| last != b'\n') {
            tail[left.len()] = b'\n';
        }
        self.chunk::<L>(&tail, base)
    }

    #[inline(always)]
    fn chunk<L: Lanes>(&mut self, chunk: &[u8; 64], base: usize) -> Option<()> {
        let mut newline = L::equal(chunk, b'\n');
        let comma = L::equal(chunk, b',');
        let carriage = L::equal(chunk, b'\r');
        let stray = (carriage << 1 | self.after_carriage) & !newline;
        if stray != 0 {
            return None;
        }
        // The start of a line carries to the first comma or newline at or behind it.
        let ends = newline | comma;
        let (sum, over) = (!ends).overflowing_add(newline << 1 | self.after_newline);
        let (sum, more) = sum.overflowing_add(self.naming);
        self.naming = u64::from(over | more);
        let mut name_ends = sum & ends;
        let quoted = any_before(newline, L::equal(chunk, b'"'), &mut self.quoting);
        self.after_newline = newline >> 63;
        self.after_carriage = carriage >> 63;
        while newline != 0 {
            let bit = newline.trailing_zeros();
            let name_end = match self.name_end.take() {
                Some(end) => end,
                None => {
                    let end = base + name_ends.trailing_zeros() as usize;
                    name_ends &= name_ends.wrapping_sub(1);
                    end
                }
            };
            self.line(name_end, base + bit as usize, quoted >> bit & 1 == 1)?;
            newline &= newline - 1;
        }
        if name_ends != 0 {
            self.name_end = Some(base + name_ends.trailing_zeros() as usize);
        }
        Some(())
    }

    /// Reads the line that ends before `end`.
    #[inline(always)]
    fn line(&mut self, name_end: usize, mut end: usize, quoted: bool) -> Option<()> {
        let bytes = self.text.as_bytes();
        let start = std::mem::replace(&mut self.start, end + 1);
        if end > start && bytes[end - 1] == b'\r' {
            end -= 1;
        }
        if quoted {
            return self.quoted_line(start, end);
        }
        let name_end = name_end.min(end);
        let (mut from, mut to) = (start, name_end);
        if from < to && (matches!(bytes[from], b' ' | b'\t') || matches!(bytes[to - 1], b' ' | b'\t')) {
            let name = trim(&bytes[from..to]);
            from = name.as_ptr() as usize - bytes.as_ptr() as usize;
            to = from + name.len();
        }
        if from == to {
            // A blank line is skipped; a line without a name is an error.
            return is_blank(&bytes[start..end]).then_some(());
        }
        let mut arguments = name_end..end;
        if self.reader.options.timed {
            let comma = memchr::memrchr(b',', &bytes[name_end..end])? + name_end;
            self.stamp(trim(&bytes[comma + 1..end]))?;
            arguments.end = comma;
        }
        if let Some(name) = self.reader.wanted.names.find(bytes, from, to - from) {
            let cells = Bare::new(&self.text[arguments]);
            self.found.event(&self.reader.wanted, name, self.position, &cells)?;
        }
        self.position += 1;
        Some(())
    }

    /// Reads a line with quotes in it.
    #[cold]
    fn quoted_line(&mut self, start: usize, end: usize) -> Option<()> {
        let line = &self.text[start..end];
        let first = cell(line, 1, 0, Some(b',')).ok()?;
        let mut at = first.end;
        let mut rest = Vec::new();
        while at < line.len() {
            let next = cell(line, 1, at + 1, Some(b',')).ok()?;
            at = next.end;
            rest.push(next);
        }
        if first.text.is_empty() {
            return None;
        }
        if self.reader.options.timed {
            self.stamp(rest.pop()?.text.as_bytes())?;
        }
        if let Some(name) = self.reader.wanted.names.find(first.text.as_bytes(), 0, first.text.len()) {
            self.found.event(&self.reader.wanted, name, self.position, &rest)?;
        }
        self.position += 1;
        Some(())
    }

    #[inline(always)]
    fn stamp(&mut self, text: &[u8]) -> Option<()> {
        let time = time_of(text, self.reader.options.stamps())?;
        if self.times.last().is_some_and(|last| time < *last) {
            return None;
        }
        self.times.push(time);
        Some(())
    }
}

/// Arguments without quotes: each begins with a comma.
struct Bare<'l> {
    text: &'l str,
    /// Where the first of them begin, the comma left out.
    starts: [u32; Bare::FIRST],
    len: usize,
}

impl<'l> Bare<'l> {
    /// Few events have more arguments, which are searched for.
    const FIRST: usize = 6;

    #[inline(always)]
    fn new(text: &'l str) -> Self {
        let (mut starts, mut len) = ([0; Bare::FIRST], 0);
        for (at, &byte) in text.as_bytes().iter().enumerate() {
            if byte == b',' {
                if let Some(start) = starts.get_mut(len) {
                    *start = at as u32 + 1;
                }
                len += 1;
            }
        }
        Self { text, starts, len }
    }
}

impl Cells for Bare<'_> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    fn get(&self, index: usize) -> Option<(&str, bool)> {
        if index >= self.len {
            return None;
        }
        let bytes = self.text.as_bytes();
        let comma = |from: usize| bytes[from..].iter().position(|&byte| byte == b',').map(|at| from + at);
        let mut start = self.starts[index.min(Bare::FIRST - 1)] as usize;
        for _ in Bare::FIRST - 1..index {
            start = comma(start)? + 1;
        }
        let end = match self.starts.get(index + 1) {
            _ if index + 1 == self.len => bytes.len(),
            Some(next) => *next as usize - 1,
            None => comma(start)?,
        };
        let cell = &self.text[start..end];
        let blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
        let bytes = cell.as_bytes();
        if blank(bytes.first()) || blank(bytes.last()) {
            return Some((cell.trim_matches([' ', '\t']), false));
        }
        Some((cell, false))
    }
}

impl Cells for Vec<crate::formats::fields::Cell<'_>> {
    fn len(&self) -> usize {
        self.len()
    }

    fn get(&self, index: usize) -> Option<(&str, bool)> {
        self.as_slice().get(index).map(|cell| (&*cell.text, cell.quoted))
    }
}
