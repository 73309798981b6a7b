//! Blocks of `events` lines into bit columns.
//!
//! Chunks of 64 bytes give, as words, the newlines, the end of each line's name (its first comma, found for all lines of
//! a chunk by one addition) and the lines with a quote in them. What is left to do per line is one look-up of its name,
//! and the comparison of arguments where a pattern of that name has constants; nothing is allocated. Lines with quotes
//! are cut by the same function that rows use.
//!
//! Anything wrong ends the attempt, and the block is read by rows, which also words the error.

use super::Source;
use crate::formats::fields::{cell, is_blank, trim};
use crate::formats::lines::{Lines, time_of};
#[cfg(target_arch = "x86_64")]
use crate::formats::masks::{Avx2, has_avx2};
use crate::formats::masks::{Lanes, Portable, any_before, chunk, words_for};
use crate::formats::wanted::{SAMPLE, Wanted};
use crate::{Block, BlockBatch, BlockReader, Projection, ReadOptions, TraceError, TraceWarning, Vocabulary};
use std::ops::Range;
use tw_core::{Bits, Time, Value};
use tw_ir::{ArgumentKey, What};

/// Reads blocks of `events`.
pub(super) struct Reader {
    wanted: Wanted,
    /// For each name: the slots that also look at arguments.
    patterns: Vec<Vec<usize>>,
    options: ReadOptions,
}

impl Reader {
    pub(super) fn new(projection: &Projection, options: &ReadOptions) -> Self {
        let wanted = Wanted::new(projection);
        let mut patterns = vec![Vec::new(); wanted.names.names().len()];
        for (slot, name) in wanted.name_of_slot.iter().enumerate() {
            if let (Some(name), true) = (name, looks_at_arguments(&projection.slots[slot].what)) {
                patterns[*name].push(slot);
            }
        }
        Self { wanted, patterns, options: options.clone() }
    }

    fn attempt(&self, bytes: &[u8]) -> Option<BlockBatch> {
        if self.wanted.projection.has_tuples() {
            return None;
        }
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
        self.wanted.note(len, &job.seen, |note| {
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
        let batch = self.wanted.batch(len, times, |slot| {
            let words = match (&mut job.by_slot[slot], self.wanted.name_of_slot[slot]) {
                (Some(words), _) => std::mem::take(words),
                (None, Some(name)) => job.by_name[name].clone(),
                (None, None) => Vec::new(),
            };
            Bits::from_words(words, len)
        });
        Some(BlockBatch { batch, time_range, lines: lines as u64, open_from: None })
    }
}

fn looks_at_arguments(what: &What) -> bool {
    matches!(what, What::Event { arguments, arity, .. } if !arguments.is_empty() || arity.is_some())
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
    /// For each name a bit per position, and for each slot that looks at arguments.
    by_name: Vec<Vec<u64>>,
    by_slot: Vec<Option<Vec<u64>>>,
    seen: Vec<bool>,
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
        let names = reader.wanted.names.names().len();
        let slots = &reader.wanted.projection.slots;
        Self {
            reader,
            text,
            by_name: (0..names).map(|_| words_for(lines)).collect(),
            by_slot: slots
                .iter()
                .map(|slot| looks_at_arguments(&slot.what).then(|| words_for(lines)))
                .collect(),
            seen: vec![false; names],
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
            self.found(name, &Bare { text: &self.text[arguments] })?;
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
            self.found(name, &rest)?;
        }
        self.position += 1;
        Some(())
    }

    /// Notes an event of a wanted name.
    #[inline(always)]
    fn found(&mut self, name: usize, arguments: &impl Arguments) -> Option<()> {
        let (word, bit) = (self.position / 64, 1 << (self.position % 64));
        self.seen[name] = true;
        self.by_name[name][word] |= bit;
        for &slot in &self.reader.patterns[name] {
            if matches(&self.reader.wanted.projection.slots[slot].what, arguments)?
                && let Some(words) = &mut self.by_slot[slot]
            {
                words[word] |= bit;
            }
        }
        Some(())
    }

    #[inline(always)]
    fn stamp(&mut self, text: &[u8]) -> Option<()> {
        let time = time_of(text, self.reader.options.unit)?;
        if self.times.last().is_some_and(|last| time < *last) {
            return None;
        }
        self.times.push(time);
        Some(())
    }
}

/// The arguments of an event.
trait Arguments {
    fn len(&self) -> usize;
    /// The text of one, and whether it was in quotes.
    fn get(&self, index: usize) -> Option<(&str, bool)>;
}

/// Arguments without quotes: each begins with a comma.
struct Bare<'l> {
    text: &'l str,
}

impl Arguments for Bare<'_> {
    fn len(&self) -> usize {
        self.text.bytes().filter(|&byte| byte == b',').count()
    }

    fn get(&self, index: usize) -> Option<(&str, bool)> {
        // Most are a few bytes away: not worth a search by chunks.
        let bytes = self.text.as_bytes();
        let mut start = 0;
        for _ in 0..index {
            start += 1 + bytes.get(start + 1..)?.iter().position(|&byte| byte == b',')?;
        }
        let rest = bytes.get(start + 1..)?;
        let end = rest.iter().position(|&byte| byte == b',').unwrap_or(rest.len());
        Some((self.text[start + 1..start + 1 + end].trim_matches([' ', '\t']), false))
    }
}

impl Arguments for Vec<crate::formats::fields::Cell<'_>> {
    fn len(&self) -> usize {
        self.len()
    }

    fn get(&self, index: usize) -> Option<(&str, bool)> {
        self.as_slice().get(index).map(|cell| (&*cell.text, cell.quoted))
    }
}

/// Whether the arguments meet a pattern; `None` if the pattern names arguments, which have no names here.
fn matches(what: &What, arguments: &impl Arguments) -> Option<bool> {
    let What::Event { arguments: pattern, arity, .. } = what else { return Some(false) };
    let fits = arity.is_none_or(|arity| arity == arguments.len());
    for (key, constant) in pattern {
        let (ArgumentKey::Index(index) | ArgumentKey::Declared { index, .. }) = key else { return None };
        if !fits || !arguments.get(*index).is_some_and(|(text, quoted)| equals(text, quoted, constant)) {
            return Some(false);
        }
    }
    Some(fits)
}

/// [`crate::equals`] for a cell without a type, without making a value of it.
fn equals(text: &str, quoted: bool, constant: &Value) -> bool {
    if text.is_empty() {
        return quoted && matches!(constant, Value::Str(constant) if constant.is_empty());
    }
    let number = || matches!(text.as_bytes()[0], b'0'..=b'9' | b'-' | b'+' | b'.');
    match constant {
        Value::Str(constant) => **constant == *text,
        Value::Bool(constant) => match text {
            "true" => *constant,
            "false" => !*constant,
            _ => number() && text.parse() == Ok(i64::from(*constant)),
        },
        Value::Int(constant) => match text.parse::<i64>() {
            Ok(int) => int == *constant,
            Err(_) => {
                number() && text.parse::<f64>().is_ok_and(|real| real.is_finite() && *constant as f64 == real)
            }
        },
        Value::Real(constant) => match text.parse::<i64>() {
            Ok(int) => int as f64 == *constant,
            Err(_) => number() && text.parse::<f64>().is_ok_and(|real| real.is_finite() && *constant == real),
        },
        Value::Null | Value::List(_) | Value::Object(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equality_is_that_of_rows() {
        let texts = [
            "", "0", "1", "-1", "+1", "1.0", "1e0", "true", "false", "nan", "inf", "-inf", "1e999", "bob",
            "10.0.0.1",
        ];
        let constants = [
            Value::Null,
            Value::Bool(true),
            Value::Bool(false),
            Value::Int(0),
            Value::Int(1),
            Value::Int(-1),
            Value::Real(1.0),
            Value::Real(0.5),
            Value::text(""),
            Value::text("1"),
            Value::text("bob"),
            Value::List(vec![]),
        ];
        for text in texts {
            for quoted in [false, true] {
                let value = if text.is_empty() && !quoted { Value::Null } else { Value::text(text) };
                for constant in &constants {
                    let expected = crate::equals(&value, constant, false);
                    assert_eq!(equals(text, quoted, constant), expected, "{text} {quoted} {constant:?}");
                }
            }
        }
    }
}
