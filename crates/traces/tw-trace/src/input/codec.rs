//! Compressed bytes, and what is wrong with them.

use std::io::{self, BufRead, BufReader, Read};

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Codec {
    Gzip,
    Zstd,
}

impl Codec {
    pub(super) const ALL: [(Codec, &'static str, &'static [u8]); 2] =
        [(Codec::Gzip, "gzip", b"\x1F\x8B"), (Codec::Zstd, "zstd", b"\x28\xB5\x2F\xFD")];

    pub(super) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(codec, ..)| *codec == self).map_or("", |(_, name, _)| name)
    }

    /// Decodes one member after the other, until the bytes end.
    pub(super) fn decode<'a>(self, raw: impl Read + Send + 'a) -> Box<dyn Read + Send + 'a> {
        let raw = Ahead { head: [0; HEAD], start: 0, end: 0, inner: BufReader::with_capacity(BUFFER, raw) };
        Box::new(Members { codec: self, decoder: Decoder::Between(raw), any: false })
    }

    /// Whether a member begins with these bytes. Zstd has frames that say nothing and are skipped.
    fn begins(self, head: &[u8]) -> bool {
        match self {
            Codec::Gzip => head.starts_with(b"\x1F\x8B"),
            Codec::Zstd => {
                head.starts_with(b"\x28\xB5\x2F\xFD")
                    || matches!(head, [first, b'\x2A', b'\x4D', b'\x18'] if first & 0xF0 == 0x50)
            }
        }
    }
}

const BUFFER: usize = 64 << 10;

/// As many bytes as are looked at to tell a member from what is none.
const HEAD: usize = 4;

/// A reader of which a few bytes were looked at.
struct Ahead<R> {
    head: [u8; HEAD],
    start: usize,
    end: usize,
    inner: BufReader<R>,
}

impl<R: Read> Ahead<R> {
    /// The next bytes, without taking them; fewer at the end.
    fn look(&mut self) -> io::Result<&[u8]> {
        self.head.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        while self.end < HEAD {
            match self.inner.read(&mut self.head[self.end..]) {
                Ok(0) => break,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(&self.head[..self.end])
    }
}

impl<R: Read> Read for Ahead<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.fill_buf()?;
        let count = bytes.len().min(buffer.len());
        buffer[..count].copy_from_slice(&bytes[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl<R: Read> BufRead for Ahead<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start < self.end { Ok(&self.head[self.start..self.end]) } else { self.inner.fill_buf() }
    }

    fn consume(&mut self, count: usize) {
        if self.start < self.end { self.start += count } else { self.inner.consume(count) }
    }
}

enum Decoder<R: Read> {
    /// Before the first member, or after one.
    Between(Ahead<R>),
    Gzip(Box<flate2::bufread::GzDecoder<Ahead<R>>>),
    Zstd(zstd::stream::read::Decoder<'static, Ahead<R>>),
    /// At the end, or after an error.
    Done,
}

/// A decoder whose errors say what is wrong with the file.
struct Members<R: Read> {
    codec: Codec,
    decoder: Decoder<R>,
    any: bool,
}

impl<R: Read> Members<R> {
    /// Starts the next member; at the end of the bytes nothing is left to decode.
    fn next(&mut self, mut raw: Ahead<R>) -> io::Result<()> {
        let head = raw.look()?;
        if head.is_empty() && self.any {
            return Ok(());
        }
        if self.any && !self.codec.begins(head) {
            // Some archivers fill up blocks with zeros, and gzip says nothing about them.
            let mut padding = true;
            let mut count = 0u64;
            loop {
                let bytes = raw.fill_buf()?;
                if bytes.is_empty() {
                    break;
                }
                padding &= bytes.iter().all(|byte| *byte == 0);
                let length = bytes.len();
                count += length as u64;
                raw.consume(length);
            }
            let name = self.codec.name();
            return match padding && self.codec == Codec::Gzip {
                true => Ok(()),
                false => Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("{count} bytes follow the end of the {name} data that are no {name} data"),
                )),
            };
        }
        self.any = true;
        self.decoder = match self.codec {
            Codec::Gzip => Decoder::Gzip(Box::new(flate2::bufread::GzDecoder::new(raw))),
            Codec::Zstd => Decoder::Zstd(zstd::stream::read::Decoder::with_buffer(raw)?.single_frame()),
        };
        Ok(())
    }

    fn describe(&self, error: io::Error) -> io::Error {
        let name = self.codec.name();
        let message = match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                format!("the {name} data ends too early: the file is truncated")
            }
            _ => format!("the {name} data is damaged: {error}"),
        };
        io::Error::new(io::ErrorKind::InvalidData, message)
    }
}

impl<R: Read> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let read = match &mut self.decoder {
                Decoder::Done => return Ok(0),
                Decoder::Between(_) => Ok(0),
                Decoder::Gzip(decoder) => decoder.read(buffer),
                Decoder::Zstd(decoder) => decoder.read(buffer),
            };
            match read {
                Ok(0) => match std::mem::replace(&mut self.decoder, Decoder::Done) {
                    Decoder::Between(raw) => self.next(raw)?,
                    Decoder::Gzip(decoder) => self.next(decoder.into_inner())?,
                    Decoder::Zstd(decoder) => self.next(decoder.finish())?,
                    Decoder::Done => return Ok(0),
                },
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
                Err(error) => return Err(self.describe(error)),
            }
        }
    }
}
