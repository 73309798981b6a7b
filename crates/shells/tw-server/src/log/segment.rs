//! The files of a log: `00000000000000001234.log` holds the records after 1,234 lines.

use super::Found;
use super::record::{self, Marks, Next};
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What every file begins with; the number of lines before it follows.
const MAGIC: &[u8; 16] = b"tracewise log 2\n";
/// What those of all versions begin with.
const FAMILY: &[u8] = b"tracewise log ";
/// Bytes before the first record.
pub const PREFIX: u64 = MAGIC.len() as u64 + 8;

/// A file of a log.
pub struct Segment {
    /// Where it is.
    pub path: PathBuf,
    /// Lines before it …
    pub start: u64,
    /// … and before what follows it.
    pub end: u64,
    /// Bytes of good records, and what stands before them.
    pub bytes: u64,
    /// When its first record was written, if it has one and is the last.
    pub first: Option<SystemTime>,
    /// When its latest record was written, if it has one.
    pub latest: Option<SystemTime>,
    /// What it is written by, if it is the last.
    file: Option<File>,
}

impl Segment {
    /// Begins a file after so many lines.
    pub fn create(folder: &Path, start: u64) -> io::Result<Self> {
        let path = folder.join(format!("{start:020}.log"));
        // Whoever failed to begin it before left at most its first bytes.
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path)?;
        file.write_all(MAGIC)?;
        file.write_all(&start.to_le_bytes())?;
        File::open(folder)?.sync_all()?;
        Ok(Self { path, start, end: start, bytes: PREFIX, first: None, latest: None, file: Some(file) })
    }

    /// Whether no record was written to it.
    pub fn is_empty(&self) -> bool {
        self.bytes <= PREFIX
    }

    /// The file, to be forced to disk.
    pub fn handle(&self) -> io::Result<File> {
        match &self.file {
            Some(file) => file.try_clone(),
            None => OpenOptions::new().write(true).open(&self.path),
        }
    }

    /// Nothing is written to it any more.
    pub fn close(&mut self) -> io::Result<()> {
        if let Some(file) = self.file.take() {
            file.sync_data()?;
        }
        Ok(())
    }

    /// Appends a record, or nothing.
    pub fn append(&mut self, header: &[u8], bytes: &[u8], lines: u64, written: SystemTime) -> io::Result<()> {
        if self.file.is_none() {
            self.file = Some(OpenOptions::new().read(true).write(true).open(&self.path)?);
        }
        let Some(file) = &mut self.file else { return Err(io::ErrorKind::NotFound.into()) };
        let appended = file
            .seek(SeekFrom::Start(self.bytes))
            .and_then(|_| file.write_all(header))
            .and_then(|()| file.write_all(bytes));
        if let Err(error) = appended {
            // What was written of it is no record. If it cannot be cut off either, it is written over.
            let _ = file.set_len(self.bytes);
            return Err(error);
        }
        self.bytes += (header.len() + bytes.len()) as u64;
        self.end += lines;
        self.first.get_or_insert(written);
        self.latest = Some(written);
        Ok(())
    }
}

impl Segment {
    /// Takes the last record back.
    pub fn take_back(&mut self, bytes: u64, lines: u64) {
        self.bytes -= bytes;
        self.end -= lines;
        if let Some(file) = &self.file {
            // What is left is written over.
            let _ = file.set_len(self.bytes);
        }
    }
}

#[cfg(test)]
impl Segment {
    /// Writes by another handle.
    pub fn replace(&mut self, file: File) {
        self.file = Some(file);
    }
}

/// Opens the file of a segment to read its records; says how many lines stand before them.
pub fn open(path: &Path) -> io::Result<(BufReader<File>, u64)> {
    let mut file = BufReader::with_capacity(256 << 10, File::open(path)?);
    let mut prefix = [0; PREFIX as usize];
    file.read_exact(&mut prefix)?;
    if prefix.starts_with(FAMILY) && !prefix.starts_with(MAGIC) {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("{} was written by another version", path.display()),
        ));
    }
    let start = prefix.strip_prefix(MAGIC).and_then(|start| Some(u64::from_le_bytes(start.try_into().ok()?)));
    match start {
        Some(start) => Ok((file, start)),
        None => Err(io::Error::new(io::ErrorKind::InvalidData, "this is no segment of a log")),
    }
}

/// The segments of a folder, the last one read through: what follows its last good record is cut off.
pub fn open_all(folder: &Path) -> io::Result<(Vec<Segment>, Found)> {
    let mut starts = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".log")).map(str::parse::<u64>);
        starts.extend(number.and_then(Result::ok));
    }
    starts.sort_unstable();
    let (mut segments, mut found) = (Vec::<Segment>::new(), Found::default());
    for (index, &start) in starts.iter().enumerate() {
        let path = folder.join(format!("{start:020}.log"));
        let bytes = std::fs::metadata(&path)?.len();
        match starts.get(index + 1) {
            Some(&end) => {
                let latest = std::fs::metadata(&path)?.modified().ok();
                segments.push(Segment { path, start, end, bytes, first: None, latest, file: None });
            }
            None => segments.extend(last(path, start, bytes, &mut found)?),
        }
    }
    // The first record of a segment has the marks of all before it; a segment without one leaves them to the segment before.
    if let [.., before, last] = segments.as_slice()
        && last.is_empty()
    {
        found.marks = marks(&before.path)?;
    }
    Ok((segments, found))
}

/// The latest marks of a segment that was closed.
fn marks(path: &Path) -> io::Result<Marks> {
    let (mut file, mut at) = open(path)?;
    let mut marks = Marks::new();
    while let Next::Record(record) = record::read(&mut file, at)? {
        at = record.after();
        marks.extend(record.marks);
    }
    Ok(marks)
}

/// The last segment, after what is no record was cut off.
fn last(path: PathBuf, start: u64, bytes: u64, found: &mut Found) -> io::Result<Option<Segment>> {
    let mut segment =
        Segment { path, start, end: start, bytes: PREFIX, first: None, latest: None, file: None };
    let mut cut = |at: u64, why: &str| {
        found.cut = Some(format!(
            "{}: {why}, at byte {at}; the {} bytes from there on were cut off, the log goes on after line {}",
            segment.path.display(),
            bytes - at.min(bytes),
            segment.end
        ));
    };
    let (mut file, own) = match open(&segment.path) {
        Ok(opened) => opened,
        Err(error) if matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData) => {
            cut(0, "the file does not begin as a segment does");
            // Nothing good is lost with it.
            let aside = segment.path.with_extension("damaged");
            std::fs::rename(&segment.path, aside)?;
            return Ok(Some(Segment::create(segment.path.parent().unwrap_or(Path::new(".")), start)?));
        }
        Err(error) => return Err(error),
    };
    if own != start {
        let why = format!("{} says that it begins after line {own}", segment.path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    loop {
        match record::read(&mut file, segment.end)? {
            Next::Record(record) => {
                segment.bytes += record.stored();
                segment.end = record.after();
                segment.first.get_or_insert(record.written);
                segment.latest = Some(record.written);
                found.marks.extend(record.marks);
            }
            Next::End => break,
            Next::Bad(why) => {
                found.cut = Some(format!(
                    "{}: {why}, at byte {}; the {} bytes from there on were cut off, the log goes on after line {}",
                    segment.path.display(),
                    segment.bytes,
                    bytes - segment.bytes.min(bytes),
                    segment.end
                ));
                let file = OpenOptions::new().write(true).open(&segment.path)?;
                file.set_len(segment.bytes)?;
                file.sync_all()?;
                break;
            }
        }
    }
    Ok(Some(segment))
}
