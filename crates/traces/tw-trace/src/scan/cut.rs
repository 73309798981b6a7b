//! Cuts a file into blocks of whole lines.

use crate::input::Source;
use crate::{BlockReader, ReadOptions, TraceError, TraceErrorKind};
use memchr::{memchr, memrchr};
use std::io::{BufRead, Read};
use std::sync::Mutex;

/// A block: its bytes in the buffer, and where they are in the file.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct Piece {
    /// First byte in the buffer.
    pub start: usize,
    /// One past the last.
    pub end: usize,
    /// Offset of the first byte in the file.
    pub offset: u64,
    /// Whether the file ends here.
    pub last: bool,
    /// The line after the block is too long to be read.
    pub too_long: bool,
    /// The byte after the block, where it is known.
    pub next: Option<u8>,
}

/// Where blocks come from.
pub(super) enum Cutter<'a> {
    Grid(Grid<'a>),
    /// Only one thread at a time can read a stream.
    Stream(Mutex<StreamCut<'a>>),
}

/// Cuts a file that can be read anywhere: block `k` is what lies between the first line start after byte `k × block`
/// and the first after `(k + 1) × block`, so that any thread can find any block on its own.
pub(super) struct Grid<'a> {
    pub source: &'a Source,
    pub len: u64,
    /// Bytes of header.
    pub skip: u64,
    pub block: u64,
    pub max_record: usize,
    /// Says where records begin.
    pub reader: &'a dyn BlockReader,
}

/// Memory for one block, at the start of a page: the kernel copies much faster between pages that are aligned alike.
#[derive(Default)]
pub(super) struct Buffer {
    memory: Vec<u8>,
    shift: usize,
}

const PAGE: usize = 4096;

impl Buffer {
    /// At least `len` bytes; keeps what was there.
    fn grow(&mut self, len: usize) -> &mut [u8] {
        if self.memory.len() < self.shift + len {
            let mut memory = vec![0; len + PAGE];
            let shift = memory.as_ptr().align_offset(PAGE).min(PAGE);
            let kept = self.memory.get(self.shift..).unwrap_or(&[]);
            memory[shift..shift + kept.len()].copy_from_slice(kept);
            (self.memory, self.shift) = (memory, shift);
        }
        &mut self.memory[self.shift..self.shift + len]
    }

    pub fn bytes(&self, piece: Piece) -> &[u8] {
        &self.memory[self.shift + piece.start..self.shift + piece.end]
    }
}

impl Grid<'_> {
    /// How many blocks there are; some may be empty.
    pub fn blocks(&self) -> u64 {
        if self.skip >= self.len { 0 } else { self.len.div_ceil(self.block) }
    }

    /// Reads block `index`.
    pub fn read(&self, index: u64, buffer: &mut Buffer) -> Result<Piece, TraceError> {
        if !self.reader.lines_are_records() {
            return self.read_records(index, buffer);
        }
        let base = index * self.block;
        let inner = self.block.min(self.len - base) as usize;
        // Most lines end soon after the block does.
        let margin = (self.block as usize / 64).clamp(16, PAGE);
        let mut have = (inner + margin).min((self.len - base) as usize);
        self.source.read_exact_at(buffer.grow(have), base)?;
        let skip = self.skip.saturating_sub(base) as usize;
        let start = match index {
            0 => 0,
            _ => memchr(b'\n', &buffer.grow(have)[..inner]).map_or(have, |found| found + 1),
        };
        if start.max(skip) >= have {
            let at = start.max(skip);
            return Ok(Piece { start: 0, end: 0, offset: base + at as u64, ..Piece::default() });
        }
        let mut searched = inner;
        loop {
            let bytes = buffer.grow(have);
            if let Some(found) = memchr(b'\n', &bytes[searched..have]) {
                let end = searched + found + 1;
                let mut piece = self.piece(base, start.max(skip), end);
                if !piece.last {
                    let mut next = [0];
                    match bytes.get(end) {
                        Some(&byte) => next[0] = byte,
                        None => self.source.read_exact_at(&mut next, base + end as u64)?,
                    }
                    piece.next = Some(next[0]);
                }
                return Ok(piece);
            }
            if base + have as u64 == self.len {
                return Ok(self.piece(base, start.max(skip), have));
            }
            let start = start.max(skip);
            let line = memrchr(b'\n', &bytes[start..have]).map_or(start, |found| start + found + 1);
            if have - line > self.max_record {
                return Ok(Piece { too_long: true, ..self.piece(base, start, line) });
            }
            searched = have;
            let more = (have - inner).max(margin) * 2;
            let next = (have + more).min((self.len - base) as usize);
            self.source.read_exact_at(&mut buffer.grow(next)[have..], base + have as u64)?;
            have = next;
        }
    }

    /// As [`Grid::read`], where a record may go on over several lines: blocks are cut where one begins.
    fn read_records(&self, index: u64, buffer: &mut Buffer) -> Result<Piece, TraceError> {
        let base = index * self.block;
        let left = (self.len - base) as usize;
        let inner = self.block.min(left as u64) as usize;
        let mut have = 0;
        self.extend(base, inner + PAGE, &mut have, buffer)?;
        let skip = self.skip.saturating_sub(base) as usize;
        let start = match index {
            0 => Some(0),
            _ => self.boundary(base, 0, inner, &mut have, buffer)?,
        };
        let Some(start) = start.filter(|start| (*start).max(skip) < left) else {
            return Ok(Piece { offset: base, ..Piece::default() });
        };
        if index > 0 && start > inner {
            // The block before goes on to where this one would begin.
            return Ok(Piece { offset: base + start as u64, ..Piece::default() });
        }
        let start = start.max(skip);
        match self.boundary(base, inner, inner + self.max_record, &mut have, buffer)? {
            Some(end) => Ok(self.piece(base, start, end)),
            None => Ok(Piece { too_long: true, ..self.piece(base, start, start) }),
        }
    }

    /// Where the first record begins behind a newline at `from` or later, or the end of the file. `None`: further than
    /// `limit`.
    fn boundary(
        &self,
        base: u64,
        from: usize,
        limit: usize,
        have: &mut usize,
        buffer: &mut Buffer,
    ) -> Result<Option<usize>, TraceError> {
        let left = (self.len - base) as usize;
        let mut at = from.min(left);
        loop {
            let bytes = buffer.grow(*have);
            let newline = memchr(b'\n', &bytes[at.min(*have)..*have]).map(|found| at + found + 1);
            match newline {
                Some(next) if next == left => return Ok(Some(left)),
                Some(next) => match begins(self.reader, &bytes[next..*have], *have == left) {
                    Some(true) => return Ok(Some(next)),
                    Some(false) => at = next,
                    None => self.extend(base, *have + PAGE, have, buffer)?,
                },
                None if *have == left => return Ok(Some(left)),
                None => {
                    at = *have;
                    self.extend(base, *have * 2, have, buffer)?;
                }
            }
            if at > limit {
                return Ok(None);
            }
        }
    }

    /// Reads more of the file, so that `buffer` has `want` bytes from `base` on, or all there are.
    fn extend(
        &self,
        base: u64,
        want: usize,
        have: &mut usize,
        buffer: &mut Buffer,
    ) -> Result<(), TraceError> {
        let want = want.min((self.len - base) as usize);
        if want > *have {
            self.source.read_exact_at(&mut buffer.grow(want)[*have..want], base + *have as u64)?;
            *have = want;
        }
        Ok(())
    }

    fn piece(&self, base: u64, start: usize, end: usize) -> Piece {
        let end = end.max(start);
        let last = base + end as u64 == self.len;
        Piece { start, end, offset: base + start as u64, last, too_long: false, next: None }
    }
}

/// Bytes of a line that show whether it begins a record.
const SHOWN: usize = 512;

/// Whether the line at the start of `bytes` begins a record; `None` if more of it has to be seen.
fn begins(reader: &dyn BlockReader, bytes: &[u8], all: bool) -> Option<bool> {
    let shown = &bytes[..bytes.len().min(SHOWN)];
    match memchr(b'\n', shown) {
        Some(end) => Some(reader.begins_record(&shown[..end])),
        None if all || shown.len() == SHOWN => Some(reader.begins_record(shown)),
        None => None,
    }
}

/// Cuts a stream.
pub(super) struct StreamCut<'a> {
    reader: Box<dyn BufRead + Send + 'a>,
    /// Offset of `rest` in the stream.
    offset: u64,
    /// Bytes after the last whole line.
    rest: Vec<u8>,
    ended: bool,
    block: usize,
    max_record: usize,
    name: &'a str,
    reader_of_records: &'a dyn BlockReader,
}

impl<'a> StreamCut<'a> {
    pub fn new(
        source: &'a Source,
        skip: u64,
        options: &ReadOptions,
        records: &'a dyn BlockReader,
    ) -> Result<Self, TraceError> {
        let (mut reader, mark) = source.reader()?;
        let fault = |error| crate::input::describe(&error).in_file(source.name());
        let header = skip.saturating_sub(mark as u64);
        std::io::copy(&mut (&mut reader).take(header), &mut std::io::sink()).map_err(fault)?;
        Ok(StreamCut {
            reader,
            offset: skip,
            rest: Vec::new(),
            ended: false,
            block: options.block.max(1),
            max_record: options.max_record,
            name: source.name(),
            reader_of_records: records,
        })
    }

    /// The last newline behind which a record begins.
    fn cut(&self, buffer: &[u8]) -> Option<usize> {
        let mut end = buffer.len();
        while let Some(found) = memrchr(b'\n', &buffer[..end]) {
            if self.reader_of_records.lines_are_records()
                || begins(self.reader_of_records, &buffer[found + 1..], false) == Some(true)
            {
                return Some(found);
            }
            end = found;
        }
        None
    }

    /// The next block into `buffer`, which holds nothing else; `None` at the end.
    pub fn read(&mut self, buffer: &mut Vec<u8>) -> Result<Option<Piece>, TraceError> {
        buffer.clear();
        buffer.append(&mut self.rest);
        let mut goal = self.block;
        while !self.ended {
            if buffer.len() < goal {
                let want = (goal - buffer.len()) as u64;
                let fault = |error| crate::input::describe(&error).in_file(self.name);
                let count = (&mut self.reader).take(want).read_to_end(buffer).map_err(fault)?;
                self.ended = (count as u64) < want;
                continue;
            }
            if let Some(found) = self.cut(buffer) {
                self.rest.extend_from_slice(&buffer[found + 1..]);
                buffer.truncate(found + 1);
                break;
            }
            if buffer.len() > self.max_record {
                let piece = Piece { offset: self.offset, too_long: true, ..Piece::default() };
                return Ok(Some(piece));
            }
            goal = buffer.len() * 2;
        }
        if buffer.is_empty() {
            return Ok(None);
        }
        let offset = self.offset;
        self.offset += buffer.len() as u64;
        let last = self.ended && self.rest.is_empty();
        let next = self.rest.first().copied();
        Ok(Some(Piece { start: 0, end: buffer.len(), offset, last, too_long: false, next }))
    }
}

/// The error of a [`Piece`] that is followed by a line too long.
pub(super) fn too_long(max_record: usize) -> TraceError {
    let message = format!("this record is longer than {max_record} bytes, the most that is accepted");
    TraceError::new(TraceErrorKind::Budget, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Block, BlockBatch, Input, TraceWarning, Vocabulary};

    /// Every line is a record; or, of those that say so, the ones that begin with `>`.
    struct Any;
    struct Marked;

    impl BlockReader for Any {
        fn read(&self, _: Block<'_>) -> Result<BlockBatch, TraceError> {
            Ok(BlockBatch::default())
        }
        fn absorb(&self, _: &Vocabulary) {}
        fn seen(&self) -> Vocabulary {
            Vocabulary::new(0)
        }
        fn locate(&self, _: &[u8], _: usize) -> Option<(std::ops::Range<usize>, u64)> {
            None
        }
        fn finish(&self) -> Result<Vec<TraceWarning>, TraceError> {
            Ok(Vec::new())
        }
    }

    impl BlockReader for Marked {
        fn read(&self, block: Block<'_>) -> Result<BlockBatch, TraceError> {
            Any.read(block)
        }
        fn absorb(&self, _: &Vocabulary) {}
        fn seen(&self) -> Vocabulary {
            Any.seen()
        }
        fn locate(&self, _: &[u8], _: usize) -> Option<(std::ops::Range<usize>, u64)> {
            None
        }
        fn finish(&self) -> Result<Vec<TraceWarning>, TraceError> {
            Any.finish()
        }
        fn lines_are_records(&self) -> bool {
            false
        }
        fn begins_record(&self, line: &[u8]) -> bool {
            line.starts_with(b">")
        }
    }

    #[test]
    fn blocks_of_records_begin_with_one() {
        let texts = ["", "a", "\n", ">a\n", ">a\n1\n>b\n\n\n>c\n2\n3", "x\ny\n>a\n\n>b\n>c\n", "x\ny\nz\n"];
        for text in texts {
            for block in 1..20 {
                let input = Input::from_bytes("t", text.as_bytes());
                let source = input.source(0).unwrap();
                let (len, reader) = (text.len() as u64, &Marked);
                let grid = Grid { source, len, skip: 0, block, max_record: 1000, reader };
                let (mut joined, mut buffer) = (Vec::new(), Buffer::default());
                for index in 0..grid.blocks() {
                    let piece = grid.read(index, &mut buffer).unwrap();
                    let bytes = buffer.bytes(piece);
                    if !bytes.is_empty() {
                        assert_eq!(piece.offset, joined.len() as u64, "{text:?} by {block}");
                        assert_eq!(piece.last, joined.len() + bytes.len() == text.len());
                        assert!(joined.is_empty() || bytes.starts_with(b">"), "{text:?} by {block}");
                    }
                    joined.extend_from_slice(bytes);
                }
                assert_eq!(joined, text.as_bytes(), "{text:?} by {block}");
                let options = ReadOptions { block: block as usize, ..ReadOptions::default() };
                let mut stream = StreamCut::new(source, 0, &options, &Marked).unwrap();
                let (mut joined, mut buffer) = (Vec::new(), Vec::new());
                while let Some(piece) = stream.read(&mut buffer).unwrap() {
                    let bytes = &buffer[piece.start..piece.end];
                    assert!(joined.is_empty() || bytes.starts_with(b">"), "{text:?} by {block}");
                    joined.extend_from_slice(bytes);
                }
                assert_eq!(joined, text.as_bytes(), "{text:?} as a stream by {block}");
            }
        }
    }

    #[test]
    fn blocks_of_any_size_put_together_are_the_file() {
        let texts =
            ["", "a", "h\n", "h\n1\n22\n333\n4444", "h\n\n\n", "head\nlonger than any block by far\nx\ny\n"];
        for text in texts {
            let skip = memchr(b'\n', text.as_bytes()).map_or(text.len(), |found| found + 1);
            for block in 1..20 {
                let input = Input::from_bytes("t", text.as_bytes());
                let source = input.source(0).unwrap();
                let grid = Grid {
                    source,
                    len: text.len() as u64,
                    skip: skip as u64,
                    block,
                    max_record: 1000,
                    reader: &Any,
                };
                let (mut joined, mut buffer) = (Vec::new(), Buffer::default());
                for index in 0..grid.blocks() {
                    let piece = grid.read(index, &mut buffer).unwrap();
                    let bytes = buffer.bytes(piece);
                    if !bytes.is_empty() {
                        assert_eq!(piece.offset, (skip + joined.len()) as u64, "{text:?} by {block}");
                        assert_eq!(piece.last, skip + joined.len() + bytes.len() == text.len());
                        assert!(piece.last || bytes.ends_with(b"\n"));
                        assert_eq!(
                            piece.next,
                            text.as_bytes().get(skip + joined.len() + bytes.len()).copied()
                        );
                    }
                    joined.extend_from_slice(bytes);
                }
                assert_eq!(joined, &text.as_bytes()[skip..], "{text:?} by {block}");

                let options = ReadOptions { block: block as usize, ..ReadOptions::default() };
                let mut stream = StreamCut::new(source, skip as u64, &options, &Any).unwrap();
                let (mut joined, mut buffer) = (Vec::new(), Vec::new());
                while let Some(piece) = stream.read(&mut buffer).unwrap() {
                    assert_eq!(piece.offset, (skip + joined.len()) as u64);
                    joined.extend_from_slice(&buffer[piece.start..piece.end]);
                }
                assert_eq!(joined, &text.as_bytes()[skip..], "{text:?} as a stream by {block}");
            }
        }
    }

    #[test]
    fn a_line_beyond_the_limit_is_said_to_be() {
        let text = format!("1\n2\n{}\n3\n", "x".repeat(500));
        let input = Input::from_bytes("t", text.as_bytes());
        let source = input.source(0).unwrap();
        let grid = Grid { source, len: text.len() as u64, skip: 0, block: 64, max_record: 100, reader: &Any };
        let piece = grid.read(0, &mut Buffer::default()).unwrap();
        assert!(piece.too_long);
        assert_eq!(piece.end, 4);
        let options = ReadOptions { block: 64, max_record: 100, ..ReadOptions::default() };
        let mut stream = StreamCut::new(source, 0, &options, &Any).unwrap();
        let mut buffer = Vec::new();
        assert_eq!(stream.read(&mut buffer).unwrap().map(|piece| piece.end), Some(4));
        assert!(stream.read(&mut buffer).unwrap().is_some_and(|piece| piece.too_long));
    }
}
