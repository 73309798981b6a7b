//! Where the bytes of a trace come from: one or several files, compressed or not, or standard input.
//!
//! Plain files are read at offsets, never mapped: a file that is cut off while it is read is an error message then,
//! not a crash, and memory stays that of the blocks in flight. What cannot be read a second time (a pipe) keeps its
//! first bytes, so that an explanation can still show the lines it speaks of.

mod codec;

use crate::{Parts, Projection, ReadOptions, RowSource, Table, TraceError, TraceErrorKind, TraceFormat};
use codec::Codec;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes kept of a stream that cannot be read again.
const SPOOL: usize = 64 << 20;
/// Buffer of sequential readers.
const BUFFER: usize = 256 << 10;
const UTF8_BOM: &[u8] = b"\xEF\xBB\xBF";

/// One trace: one file, several that continue one another (rotated logs), or standard input.
pub struct Input {
    sources: Vec<Source>,
    read: Arc<AtomicU64>,
}

/// One file of a trace.
pub(crate) struct Source {
    name: String,
    kind: Kind,
    read: Arc<AtomicU64>,
}

enum Kind {
    /// A regular file, and its length when it was opened.
    Plain(File, u64),
    /// In memory.
    Bytes(Arc<[u8]>),
    /// A compressed regular file, opened anew for each reading.
    Compressed(PathBuf, Codec, u64),
    /// Read once.
    Stream(Mutex<Stream>),
    /// Records in memory, without bytes.
    Table(Arc<dyn Table>),
}

impl Input {
    /// Opens files that together are one trace; `-` is standard input.
    pub fn open(paths: &[String]) -> Result<Input, TraceError> {
        let mut input = Input { sources: Vec::new(), read: Arc::default() };
        for path in paths {
            let source = if path == "-" {
                Source::stream("<stdin>", Box::new(io::stdin()), &input.read)
            } else {
                Source::open(path, &input.read)
            };
            input.sources.push(source?);
        }
        if input.sources.is_empty() {
            return Err(TraceError::new(TraceErrorKind::Usage, "no trace was given"));
        }
        Ok(input)
    }

    /// A trace in memory.
    pub fn from_bytes(name: &str, bytes: impl Into<Arc<[u8]>>) -> Input {
        let read = Arc::default();
        let source =
            Source { name: name.to_string(), kind: Kind::Bytes(bytes.into()), read: Arc::clone(&read) };
        Input { sources: vec![source], read }
    }

    /// A trace from something that can be read once.
    pub fn from_reader(name: &str, reader: Box<dyn Read + Send>) -> Result<Input, TraceError> {
        let read = Arc::default();
        Ok(Input { sources: vec![Source::stream(name, reader, &read)?], read })
    }

    /// A trace of records in memory. It is read by rows and parts; it has no bytes for a format to read.
    pub fn from_table(name: &str, table: Arc<dyn Table>) -> Input {
        let read = Arc::default();
        let source = Source { name: name.to_string(), kind: Kind::Table(table), read: Arc::clone(&read) };
        Input { sources: vec![source], read }
    }

    /// This trace continued by another.
    #[must_use]
    pub fn followed_by(mut self, other: Input) -> Input {
        self.sources.extend(other.sources);
        self
    }

    /// Its name in messages and output: the files' names.
    pub fn name(&self) -> String {
        self.names().collect::<Vec<_>>().join(" + ")
    }

    /// Names of the files, in order; `<stdin>` for standard input.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().map(|source| source.name.as_str())
    }

    /// Number of files.
    pub fn files(&self) -> usize {
        self.sources.len()
    }

    /// Bytes on disk, if all are regular files: the whole of a progress bar.
    pub fn size(&self) -> Option<u64> {
        self.sources.iter().map(Source::size).sum()
    }

    /// Bytes read so far of [`Input::size`] (several readings add up).
    pub fn bytes_read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// Reads one of the files from its beginning, decompressed, without a byte order mark.
    pub fn reader(&self, file: usize) -> Result<Box<dyn BufRead + Send + '_>, TraceError> {
        let source = self.source(file)?;
        source.reader().map(|(reader, _)| reader)
    }

    /// The beginning of one of the files: at least its first 64 KiB or all of it, decompressed, without a byte order
    /// mark. A stream keeps what was read of it.
    pub fn head(&self, file: usize) -> Result<Vec<u8>, TraceError> {
        match &self.source(file)?.kind {
            Kind::Table(_) => Ok(Vec::new()),
            _ => crate::scan::head_of(self.source(file)?).map(|(head, _)| head),
        }
    }

    /// One of the files as rows. `counted` is given its bytes.
    pub(crate) fn rows<'a>(
        &'a self,
        file: usize,
        format: &dyn TraceFormat,
        options: &ReadOptions,
        counted: &'a AtomicU64,
    ) -> Result<Box<dyn RowSource + Send + 'a>, TraceError> {
        match &self.source(file)?.kind {
            Kind::Table(table) => {
                counted.fetch_add(table.bytes(), Ordering::Relaxed);
                table.rows(options)
            }
            _ => {
                let rows =
                    format.rows(Box::new(Counting { inner: self.reader(file)?, bytes: counted }), options);
                crate::adapt::adapted(format, rows, options)
            }
        }
    }

    /// One of the files as parts, if it has columns of its own.
    pub(crate) fn parts<'a>(
        &'a self,
        file: usize,
        format: &dyn TraceFormat,
        projection: &Projection,
        options: &ReadOptions,
        counted: &'a AtomicU64,
    ) -> Result<Option<Parts<'a>>, TraceError> {
        if let Kind::Table(table) = &self.source(file)?.kind {
            counted.fetch_add(table.bytes(), Ordering::Relaxed);
            return table.parts(projection, options).map(Some);
        }
        let Some(parted) = format.parted() else { return Ok(None) };
        let reader = Counting { inner: self.reader(file)?, bytes: counted };
        parted.parts(Box::new(reader), projection, options).map(Some)
    }

    /// Whether all files have columns of their own.
    pub(crate) fn has_parts(&self, format: &dyn TraceFormat) -> bool {
        let table = |source: &Source| matches!(source.kind, Kind::Table(_));
        format.parted().is_some() || self.sources.iter().all(table)
    }

    pub(crate) fn source(&self, file: usize) -> Result<&Source, TraceError> {
        let missing =
            || TraceError::new(TraceErrorKind::Usage, format!("the trace has no file number {file}"));
        self.sources.get(file).ok_or_else(missing)
    }
}

impl Source {
    fn open(path: &str, read: &Arc<AtomicU64>) -> Result<Source, TraceError> {
        let fault = |error: io::Error| describe(&error).in_file(path);
        let file = File::open(path).map_err(fault)?;
        let meta = file.metadata().map_err(fault)?;
        if meta.is_dir() {
            let message = "this is a directory, expected a trace file";
            return Err(TraceError::new(TraceErrorKind::Io, message).in_file(path));
        }
        if !meta.is_file() {
            // A named pipe or a device.
            return Source::stream(path, Box::new(file), read);
        }
        let mut head = [0; 4];
        let mut have = 0;
        while have < head.len() {
            match read_at(&file, &mut head[have..], have as u64) {
                Ok(0) => break,
                Ok(count) => have += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(fault(error)),
            }
        }
        let codec =
            Codec::ALL.iter().find(|(_, _, magic)| head[..have].starts_with(magic)).map(|(codec, ..)| *codec);
        let named =
            [(".gz", Codec::Gzip), (".zst", Codec::Zstd)].into_iter().find(|(end, _)| path.ends_with(end));
        let kind = match (codec, named) {
            (Some(codec), _) => Kind::Compressed(PathBuf::from(path), codec, meta.len()),
            (None, Some((_, named))) => {
                let message =
                    format!("found no {0} data, expected a {0} file because of its name", named.name());
                return Err(TraceError::new(TraceErrorKind::Io, message).in_file(path));
            }
            (None, None) if meta.len() == 0 => {
                // Files of /proc say that they are empty and are not.
                return if have == 0 {
                    Ok(Source { name: path.to_string(), kind: Kind::Plain(file, 0), read: Arc::clone(read) })
                } else {
                    Source::stream(path, Box::new(file), read)
                };
            }
            (None, None) => Kind::Plain(file, meta.len()),
        };
        Ok(Source { name: path.to_string(), kind, read: Arc::clone(read) })
    }

    fn stream(name: &str, reader: Box<dyn Read + Send>, read: &Arc<AtomicU64>) -> Result<Source, TraceError> {
        let stream = Stream { raw: Some(reader), spool: Vec::new(), limit: SPOOL, position: 0, ended: false };
        Ok(Source { name: name.to_string(), kind: Kind::Stream(Mutex::new(stream)), read: Arc::clone(read) })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn size(&self) -> Option<u64> {
        match &self.kind {
            Kind::Plain(_, len) | Kind::Compressed(_, _, len) => Some(*len),
            Kind::Bytes(bytes) => Some(bytes.len() as u64),
            Kind::Table(table) => Some(table.bytes()),
            Kind::Stream(_) => None,
        }
    }

    /// Length in bytes if any part can be read at any time, from several threads.
    pub(crate) fn random_access(&self) -> Option<u64> {
        match &self.kind {
            Kind::Plain(_, len) => Some(*len),
            Kind::Bytes(bytes) => Some(bytes.len() as u64),
            _ => None,
        }
    }

    /// Fills `buffer` from `offset`, which must lie within [`Source::random_access`].
    pub(crate) fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), TraceError> {
        match &self.kind {
            Kind::Bytes(bytes) => {
                let part =
                    usize::try_from(offset).ok().and_then(|start| bytes.get(start..start + buffer.len()));
                buffer.copy_from_slice(part.ok_or_else(|| self.shrunk())?);
            }
            Kind::Plain(file, _) => {
                let mut have = 0;
                while have < buffer.len() {
                    match read_at(file, &mut buffer[have..], offset + have as u64) {
                        Ok(0) => return Err(self.shrunk()),
                        Ok(count) => have += count,
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(describe(&error).in_file(&self.name)),
                    }
                }
            }
            _ => return Err(self.shrunk()),
        }
        self.read.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn shrunk(&self) -> TraceError {
        let message = "the file became shorter while it was read";
        TraceError::new(TraceErrorKind::Io, message).in_file(&self.name)
    }

    /// Bytes from `offset` on, as many as asked for or as there are; `None` if they are gone (a stream).
    pub(crate) fn reread(&self, offset: u64, len: usize) -> Result<Option<Vec<u8>>, TraceError> {
        if let Some(size) = self.random_access() {
            let mut bytes = vec![0; len.min(size.saturating_sub(offset) as usize)];
            self.read_exact_at(&mut bytes, offset)?;
            return Ok(Some(bytes));
        }
        if let Kind::Stream(stream) = &self.kind {
            let stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
            let end = (offset as usize + len).min(stream.spool.len());
            let gone = offset as usize >= end || (end < offset as usize + len && !stream.complete());
            return Ok((!gone).then(|| stream.spool[offset as usize..end].to_vec()));
        }
        let mut reader = self.decoded().map_err(|error| describe(&error).in_file(&self.name))?;
        let fault = |error: io::Error| describe(&error).in_file(&self.name);
        io::copy(&mut (&mut reader).take(offset), &mut io::sink()).map_err(fault)?;
        let mut bytes = Vec::new();
        reader.take(len as u64).read_to_end(&mut bytes).map_err(fault)?;
        Ok(Some(bytes))
    }

    fn decoded(&self) -> io::Result<Box<dyn Read + Send + '_>> {
        Ok(match &self.kind {
            Kind::Plain(file, _) => Box::new(Sequential { file, position: 0, read: &self.read }),
            Kind::Bytes(bytes) => Box::new(Cursor::new(Arc::clone(bytes))),
            Kind::Compressed(path, codec, _) => {
                codec.decode(Counted { file: File::open(path)?, read: Arc::clone(&self.read) })
            }
            Kind::Stream(stream) => Box::new(StreamReader { stream, position: 0 }),
            Kind::Table(_) => {
                return Err(io::Error::other("these are records in memory, which have no bytes"));
            }
        })
    }

    /// The bytes from the beginning, without a byte order mark, and the length of the mark.
    pub(crate) fn reader(&self) -> Result<(Box<dyn BufRead + Send + '_>, usize), TraceError> {
        let fault = |error: io::Error| describe(&error).in_file(&self.name);
        let mut raw = self.decoded().map_err(fault)?;
        let head = sniff(&mut raw, &[UTF8_BOM, b"\xFF\xFE", b"\xFE\xFF"]).map_err(fault)?;
        if let Some(error) = utf16(&head) {
            return Err(error.in_file(&self.name));
        }
        let mark = if head == UTF8_BOM { head.len() } else { 0 };
        Ok((
            Box::new(BufReader::with_capacity(
                BUFFER,
                Cursor::new(head.get(mark..).unwrap_or(&[]).to_vec()).chain(raw),
            )),
            mark,
        ))
    }
}

/// Length of the byte order mark that `head` starts with; UTF-16 is an error.
pub(crate) fn byte_order_mark(head: &[u8]) -> Result<usize, TraceError> {
    match utf16(head) {
        Some(error) => Err(error),
        None => Ok(if head.starts_with(UTF8_BOM) { UTF8_BOM.len() } else { 0 }),
    }
}

fn utf16(head: &[u8]) -> Option<TraceError> {
    (head.starts_with(b"\xFF\xFE") || head.starts_with(b"\xFE\xFF")).then(|| {
        let message = "found UTF-16 (by its byte order mark), expected UTF-8; convert the file first, for example with `iconv -f UTF-16 -t UTF-8`";
        TraceError { line: Some(1), column: Some(1), ..TraceError::new(TraceErrorKind::Syntax, message) }
    })
}

/// Reads as many bytes as it takes to tell the given beginnings apart: no more than match, so that a person typing
/// at a terminal is not kept waiting.
fn sniff(reader: &mut dyn Read, beginnings: &[&[u8]]) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    while beginnings.iter().any(|beginning| beginning.starts_with(&head) && beginning.len() > head.len()) {
        let mut byte = [0];
        match reader.read(&mut byte) {
            Ok(0) => break,
            Ok(_) => head.push(byte[0]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(head)
}

/// What the operating system or a decoder said, in words.
pub(crate) fn describe(error: &io::Error) -> TraceError {
    let message = match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_string(),
        io::ErrorKind::PermissionDenied => "reading this file is not permitted".to_string(),
        io::ErrorKind::IsADirectory => "this is a directory, expected a trace file".to_string(),
        _ => error.to_string(),
    };
    TraceError::new(TraceErrorKind::Io, message)
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

/// A regular file from its beginning, without a position shared with other readers.
struct Sequential<'a> {
    file: &'a File,
    position: u64,
    read: &'a AtomicU64,
}

impl Read for Sequential<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = read_at(self.file, buffer, self.position)?;
        self.position += count as u64;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Counts what is read, decompressed.
struct Counting<'a> {
    inner: Box<dyn BufRead + Send + 'a>,
    bytes: &'a AtomicU64,
}

impl Read for Counting<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl BufRead for Counting<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        self.inner.consume(count);
    }
}

struct Counted {
    file: File,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Bytes that come once, the first of them kept.
struct Stream {
    raw: Option<Box<dyn Read + Send>>,
    spool: Vec<u8>,
    limit: usize,
    /// Bytes taken so far.
    position: u64,
    ended: bool,
}

impl Stream {
    /// Whether the spool is the whole stream.
    fn complete(&self) -> bool {
        self.ended && self.position == self.spool.len() as u64
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.position == 0
            && let Some(mut raw) = self.raw.take()
        {
            let head = sniff(&mut raw, &Codec::ALL.map(|(_, _, magic)| magic))?;
            let codec = Codec::ALL.iter().find(|(_, _, magic)| *magic == head).map(|(codec, ..)| *codec);
            let whole = Cursor::new(head).chain(raw);
            self.raw = Some(match codec {
                Some(codec) => codec.decode(whole),
                None => Box::new(whole),
            });
        }
        let Some(raw) = &mut self.raw else { return Ok(0) };
        let count = raw.read(buffer)?;
        self.ended |= count == 0 && !buffer.is_empty();
        if self.position == self.spool.len() as u64 {
            let keep = count.min(self.limit - self.spool.len());
            self.spool.extend_from_slice(&buffer[..keep]);
        }
        self.position += count as u64;
        Ok(count)
    }
}

/// A stream from its beginning: what was kept, then what is still to come.
struct StreamReader<'a> {
    stream: &'a Mutex<Stream>,
    position: u64,
}

impl Read for StreamReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let count = if let Some(kept) =
            stream.spool.get(self.position as usize..).filter(|kept| !kept.is_empty())
        {
            let count = kept.len().min(buffer.len());
            buffer[..count].copy_from_slice(&kept[..count]);
            count
        } else if self.position == stream.position {
            if stream.ended { 0 } else { stream.read(buffer)? }
        } else {
            let message = "a stream of more than 64 MB cannot be read a second time; save it to a file first";
            return Err(io::Error::other(message));
        };
        self.position += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests;
