//! Blocks of `props` lines into bit columns, 64 bytes at a time.
//!
//! A chunk is turned into words that say where newlines, spaces and token starts are. A wanted name is then a word of the
//! places where a token begins, the name's bytes follow and a space follows those; one addition carries each such place
//! to the newline that ends its line ([`any_before`]), and compressing at the newlines yields one bit per line. No branch
//! depends on the lengths of lines or tokens. With many names, tokens are looked up one by one instead.
//!
//! Anything wrong or unusual ends the attempt, and the block is read by rows, which also words the error.

use super::Source;
use crate::formats::line::{Lines, time_of};
#[cfg(target_arch = "x86_64")]
use crate::formats::masks::{Avx2, has_avx2};
use crate::formats::masks::{Lanes, Portable, any_before, chunk, or_bits, words_for};
use crate::formats::wanted::{SAMPLE, Wanted};
use crate::{
    Block, BlockBatch, BlockReader, Projection, ReadOptions, Stamps, TraceError, TraceWarning, Vocabulary,
};
use std::ops::Range;
use tw_core::{Bits, Column, Time};
use tw_ir::{ArgumentKey, What};

/// Bytes of a name compared a chunk at a time; the rest of a longer one is compared where these match.
const COMPARED: usize = 16;
/// Names beyond which looking up each token is cheaper than searching for each name.
const SEARCHED: usize = 12;

/// What a slot is at a position where its name holds.
#[derive(Clone, Copy, PartialEq)]
enum Use {
    /// True.
    Truth,
    /// Still false: propositions have no arguments to meet the pattern's.
    Never,
    /// An error: the pattern names arguments, and propositions have none to name.
    Refused,
}

/// Reads blocks of `props`.
pub(super) struct Reader {
    wanted: Wanted,
    uses: Vec<Use>,
    options: ReadOptions,
    timed: bool,
}

impl Reader {
    pub(super) fn new(projection: &Projection, options: &ReadOptions, timed: bool) -> Self {
        let uses = projection
            .slots
            .iter()
            .map(|slot| match &slot.what {
                What::Event { arguments, .. } => match arguments.first() {
                    None => Use::Truth,
                    Some((ArgumentKey::Name(_), _)) => Use::Refused,
                    Some(_) => Use::Never,
                },
                _ => Use::Truth,
            })
            .collect();
        Self { wanted: Wanted::new(projection), uses, options: options.clone(), timed }
    }

    fn attempt(&self, bytes: &[u8]) -> Option<BlockBatch> {
        if self.wanted.projection.has_tuples() {
            return None;
        }
        // Only a line of more than two bytes for each could have too many propositions.
        if bytes.len() / 2 >= self.options.max_columns {
            return None;
        }
        let text = simdutf8::basic::from_utf8(bytes).ok()?;
        let newlines = memchr::memchr_iter(b'\n', bytes).count();
        let lines = newlines + usize::from(!bytes.is_empty() && bytes.last() != Some(&b'\n'));
        let mut job = Job::new(bytes, lines, self.timed, self.options.stamps(), self.wanted.names.names());
        job.run(&self.wanted)?;
        let seen: Vec<bool> = job.found.iter().map(|words| words.iter().any(|&word| word != 0)).collect();
        let refused = |(slot, name): (usize, &Option<usize>)| {
            self.uses[slot] == Use::Refused && name.is_some_and(|name| seen[name])
        };
        if self.wanted.name_of_slot.iter().enumerate().any(refused) {
            return None;
        }
        // Propositions have no arguments; how often somebody asks for some is counted by rows.
        if self.wanted.arities.iter().zip(&seen).any(|(asked, seen)| *seen && asked & 1 == 0) {
            return None;
        }
        self.wanted.note(lines, (&seen, &[]), |note| {
            let mut end = text.len().min(SAMPLE);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            // The name cut in two at the sample's end would be one that never occurs.
            let whole = if end == text.len() { end } else { text[..end].rfind('\n').unwrap_or(0) };
            for line in text[..whole].split('\n') {
                let tokens = line.split([' ', '\t', '\r']).filter(|token| !token.is_empty());
                tokens.skip(usize::from(self.timed)).for_each(&mut *note);
            }
        });
        let time_range = job.times.first().copied().zip(job.times.last().copied());
        let times = self.timed.then_some(job.times);
        let batch = self.wanted.batch(lines, times, |slot| {
            Column::Truth(match (self.uses[slot], self.wanted.name_of_slot[slot]) {
                (Use::Truth, Some(name)) => Bits::from_words(job.found[name].clone(), lines),
                _ => Bits::repeat(false, lines),
            })
        });
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
            &mut Source::new(lines, &self.options, Some(self.timed)),
            self.timed,
            self.options.any_order,
        )?;
        batch.lines = batch.batch.len as u64;
        Ok(batch)
    }

    fn locate(&self, block: &[u8], index: usize) -> Option<(Range<usize>, u64)> {
        let start = match index.checked_sub(1) {
            None => 0,
            Some(before) => memchr::memchr_iter(b'\n', block).nth(before)? + 1,
        };
        if start >= block.len() {
            return None;
        }
        let end = memchr::memchr(b'\n', &block[start..]).map_or(block.len(), |length| start + length);
        Some((start..end, index as u64))
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

/// Words about a chunk.
#[derive(Clone, Copy)]
struct Classes {
    newline: u64,
    space: u64,
    carriage: u64,
}

impl Classes {
    #[inline(always)]
    fn of<L: Lanes>(chunk: &[u8; 64]) -> Self {
        let newline = L::equal(chunk, b'\n');
        let carriage = L::equal(chunk, b'\r');
        let space = newline | carriage | L::equal(chunk, b' ') | L::equal(chunk, b'\t');
        Self { newline, space, carriage }
    }
}

/// One block under way.
struct Job<'b> {
    text: &'b [u8],
    timed: bool,
    stamps: Stamps,
    /// Names to search for, their place in `found`; those with a space in them cannot occur.
    needles: Vec<(&'b [u8], usize)>,
    by_token: bool,
    /// For each name: a bit per line.
    found: Vec<Vec<u64>>,
    times: Vec<Time>,
    // What one chunk hands to the next.
    carries: Vec<u64>,
    line: usize,
    after_space: u64,
    after_newline: u64,
    after_carriage: u64,
    token: usize,
}

impl<'b> Job<'b> {
    fn new(text: &'b [u8], lines: usize, timed: bool, stamps: Stamps, names: &'b [String]) -> Self {
        let needles: Vec<(&[u8], usize)> = names
            .iter()
            .enumerate()
            .filter(|(_, name)| !name.is_empty() && !name.contains([' ', '\t', '\n', '\r']))
            .map(|(index, name)| (name.as_bytes(), index))
            .collect();
        Self {
            text,
            timed,
            stamps,
            by_token: needles.len() > SEARCHED,
            carries: vec![0; needles.len()],
            needles,
            found: names.iter().map(|_| words_for(lines)).collect(),
            times: Vec::with_capacity(if timed { lines } else { 0 }),
            line: 0,
            after_space: 1,
            after_newline: 1,
            after_carriage: 0,
            token: 0,
        }
    }

    /// Reads the text; `None` if it must be read by rows.
    fn run(&mut self, wanted: &Wanted) -> Option<()> {
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            // SAFETY: the features were just found to be present.
            return unsafe { self.run_avx2(wanted) };
        }
        self.run_on::<Portable>(wanted)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    unsafe fn run_avx2(&mut self, wanted: &Wanted) -> Option<()> {
        self.run_on::<Avx2>(wanted)
    }

    #[inline(always)]
    fn run_on<L: Lanes>(&mut self, wanted: &Wanted) -> Option<()> {
        let text = self.text;
        let mut base = 0;
        if text.len() >= 128 {
            let mut now = Classes::of::<L>(chunk(text, 0));
            while base + 128 <= text.len() {
                let next = Classes::of::<L>(chunk(text, base + 64));
                self.chunk::<L>(wanted, &text[base..base + 128], base, now, next)?;
                now = next;
                base += 64;
            }
        }
        // At most 127 bytes are left. In their copy a newline ends the last line, and spaces, which do nothing, follow.
        let mut tail = [b' '; 256];
        let left = &text[base..];
        tail[..left.len()].copy_from_slice(left);
        if !text.is_empty() && text.last() != Some(&b'\n') {
            tail[left.len()] = b'\n';
        }
        for at in [0, 64, 128] {
            if base + at <= text.len() {
                let (now, next) =
                    (Classes::of::<L>(chunk(&tail, at)), Classes::of::<L>(chunk(&tail, at + 64)));
                self.chunk::<L>(wanted, &tail[at..at + 128], base + at, now, next)?;
            }
        }
        // A carriage return that ends the text ends its line.
        Some(())
    }

    /// Reads the chunk at `base`; `window` is its bytes and the 64 behind them.
    #[inline(always)]
    fn chunk<L: Lanes>(
        &mut self,
        wanted: &Wanted,
        window: &[u8],
        base: usize,
        Classes { newline, space, carriage }: Classes,
        next: Classes,
    ) -> Option<()> {
        let stray = (carriage << 1 | self.after_carriage) & !newline;
        self.after_carriage = carriage >> 63;
        if stray != 0 {
            return None;
        }
        let mut starts = !space & (space << 1 | self.after_space);
        let at_sign = L::equal(chunk(window, 0), b'@') & starts;
        if self.timed {
            let inside =
                if base + 64 <= self.text.len() { u64::MAX } else { (1 << (self.text.len() - base)) - 1 };
            let lines = (newline << 1 | self.after_newline) & inside;
            if lines & !at_sign != 0 {
                return None;
            }
            let mut rest = lines;
            while rest != 0 {
                self.stamp(base + rest.trailing_zeros() as usize + 1)?;
                rest &= rest - 1;
            }
            if !self.by_token {
                starts &= !lines;
            }
        } else if at_sign != 0 {
            self.no_stamp(base, at_sign)?;
        }
        if self.by_token {
            self.tokens(wanted, base, newline, space, starts);
        } else {
            self.search::<L>(window, base, newline, space, next.space, starts);
        }
        self.line += newline.count_ones() as usize;
        self.after_space = space >> 63;
        self.after_newline = newline >> 63;
        Some(())
    }

    /// Searches the chunk for each name.
    #[inline(always)]
    fn search<L: Lanes>(
        &mut self,
        window: &[u8],
        base: usize,
        newline: u64,
        space: u64,
        beyond: u64,
        starts: u64,
    ) {
        for (&(name, index), carry) in self.needles.iter().zip(&mut self.carries) {
            let mut places = starts & L::equal(chunk(window, 0), name[0]);
            if name.len() <= COMPARED {
                places &= space >> name.len() | beyond << (64 - name.len());
            }
            // Longer names are often ruled out by now.
            if name.len() > 1 && places != 0 {
                for (offset, &byte) in name[..name.len().min(COMPARED)].iter().enumerate().skip(1) {
                    places &= L::equal(chunk(window, offset), byte);
                }
                if name.len() > COMPARED {
                    places = verify(self.text, base, places, name);
                }
            }
            let held = any_before(newline, places, carry);
            or_bits(&mut self.found[index], self.line, L::compress(held, newline));
        }
    }

    /// Looks up each token that ends in the chunk.
    #[inline(always)]
    fn tokens(&mut self, wanted: &Wanted, base: usize, newline: u64, space: u64, mut starts: u64) {
        let mut ends = space & !(space << 1 | self.after_space);
        // A token that began in an earlier chunk ends first.
        let mut open = self.after_space == 0;
        while ends != 0 {
            let bit = ends.trailing_zeros();
            ends &= ends - 1;
            if !open {
                self.token = base + starts.trailing_zeros() as usize;
                starts &= starts - 1;
            }
            open = false;
            let start = self.token;
            let stamp = self.timed && (start == 0 || self.text[start - 1] == b'\n');
            if !stamp && let Some(name) = wanted.names.find(self.text, start, base + bit as usize - start) {
                let line = self.line + (newline & ((1 << bit) - 1)).count_ones() as usize;
                self.found[name][line / 64] |= 1 << (line % 64);
            }
        }
        if starts != 0 {
            self.token = base + starts.trailing_zeros() as usize;
        }
    }

    /// Reads the timestamp at `at`, just behind its `@`.
    #[inline(always)]
    fn stamp(&mut self, at: usize) -> Option<()> {
        let token = &self.text[at..];
        let end =
            token.iter().position(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).unwrap_or(token.len());
        let time = time_of(&token[..end], self.stamps)?;
        if self.times.last().is_some_and(|last| time < *last) {
            return None;
        }
        self.times.push(time);
        Some(())
    }

    /// In a trace without timestamps, no line's first token may begin with `@`.
    #[cold]
    fn no_stamp(&self, base: usize, mut places: u64) -> Option<()> {
        while places != 0 {
            let before = &self.text[..base + places.trailing_zeros() as usize];
            match before.iter().rfind(|byte| !matches!(byte, b' ' | b'\t')) {
                None | Some(b'\n') => return None,
                _ => places &= places - 1,
            }
        }
        Some(())
    }
}

/// Of the places of the chunk at `base` where the beginning of a long name was found, those where all of it stands.
#[cold]
fn verify(text: &[u8], base: usize, mut places: u64, name: &[u8]) -> u64 {
    let mut verified = 0;
    while places != 0 {
        let bit = places.trailing_zeros();
        let at = base + bit as usize;
        let whole = text.get(at..at + name.len()) == Some(name)
            && text.get(at + name.len()).is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
        verified |= u64::from(whole) << bit;
        places &= places - 1;
    }
    verified
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The portable kernel finds what the chosen one does.
    #[test]
    fn machines_agree() {
        let names: Vec<String> =
            ["a", "b", "abc", "a_name_beyond_sixteen"].iter().map(|n| n.to_string()).collect();
        let text = "a b\nabc a_name_beyond_sixteen\n\n ab\tc b\r\n".repeat(50) + "a_name_beyond_sixteen a";
        let lines = text.lines().count();
        let wanted = Wanted::new(&Projection::default());
        let job = || Job::new(text.as_bytes(), lines, false, Stamps::of(tw_core::TimeUnit::Seconds), &names);
        let (mut chosen, mut portable) = (job(), job());
        chosen.run(&wanted).unwrap();
        portable.run_on::<Portable>(&wanted).unwrap();
        assert_eq!(chosen.found, portable.found);
        assert_eq!(portable.found[3].iter().map(|word| word.count_ones()).sum::<u32>(), 51);
    }
}
