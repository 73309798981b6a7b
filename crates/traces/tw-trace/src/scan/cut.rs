//! Cuts a file into blocks of whole lines.

use crate::input::Source;
use crate::{ReadOptions, TraceError, TraceErrorKind};
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

    fn piece(&self, base: u64, start: usize, end: usize) -> Piece {
        let end = end.max(start);
        let last = base + end as u64 == self.len;
        Piece { start, end, offset: base + start as u64, last, too_long: false, next: None }
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
}

impl<'a> StreamCut<'a> {
    pub fn new(source: &'a Source, skip: u64, options: &ReadOptions) -> Result<Self, TraceError> {
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
        })
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
            if let Some(found) = memrchr(b'\n', buffer) {
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
    use crate::Input;

    #[test]
    fn blocks_of_any_size_put_together_are_the_file() {
        let texts =
            ["", "a", "h\n", "h\n1\n22\n333\n4444", "h\n\n\n", "head\nlonger than any block by far\nx\ny\n"];
        for text in texts {
            let skip = memchr(b'\n', text.as_bytes()).map_or(text.len(), |found| found + 1);
            for block in 1..20 {
                let input = Input::from_bytes("t", text.as_bytes());
                let source = input.source(0).unwrap();
                let grid =
                    Grid { source, len: text.len() as u64, skip: skip as u64, block, max_record: 1000 };
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
                let mut stream = StreamCut::new(source, skip as u64, &options).unwrap();
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
        let grid = Grid { source, len: text.len() as u64, skip: 0, block: 64, max_record: 100 };
        let piece = grid.read(0, &mut Buffer::default()).unwrap();
        assert!(piece.too_long);
        assert_eq!(piece.end, 4);
        let options = ReadOptions { block: 64, max_record: 100, ..ReadOptions::default() };
        let mut stream = StreamCut::new(source, 0, &options).unwrap();
        let mut buffer = Vec::new();
        assert_eq!(stream.read(&mut buffer).unwrap().map(|piece| piece.end), Some(4));
        assert!(stream.read(&mut buffer).unwrap().is_some_and(|piece| piece.too_long));
    }
}
