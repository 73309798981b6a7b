//! One record: lines that were written together.
//!
//! ```text
//! bytes (u32) │ lines (u32) │ written, ms since 1970 (u64) │ checksum (CRC-32, u32) │ the lines
//! ```
//!
//! Lines that came from elsewhere bring *marks*: how far each source has been read when these lines are taken. They are part of the
//! record and of its checksum, so that there is no moment at which one is there without the other. The highest bit of the first
//! number says that there are some; they stand before the lines, after their length (u32), as `name TAB position` on a line each.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Bytes before the lines of a record.
pub const HEADER: usize = 20;
/// Longest record that is read; what is written is far shorter.
const LONGEST: u32 = 1 << 30;
/// Says, in the length of a record, that it has marks.
const MARKED: u32 = 1 << 31;

/// How far sources have been read: names, and positions as their brokers count them.
pub type Marks = BTreeMap<Arc<str>, Arc<str>>;

/// Lines that were written together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Lines before it in the log.
    pub before: u64,
    /// How many there are.
    pub lines: u64,
    /// When they were written.
    pub written: SystemTime,
    /// How far sources have been read with these lines.
    pub marks: Marks,
    /// The lines, each with its end.
    pub bytes: Arc<[u8]>,
}

impl Record {
    /// Lines before what follows it.
    pub fn after(&self) -> u64 {
        self.before + self.lines
    }

    /// Bytes of its file that it takes.
    pub fn stored(&self) -> u64 {
        let marks: usize = self.marks.iter().map(|(name, position)| name.len() + position.len() + 2).sum();
        let preface = if self.marks.is_empty() { 0 } else { marks + 4 };
        (HEADER + preface + self.bytes.len()) as u64
    }
}

/// What stands before the lines of a record: its header, and its marks.
pub fn head(bytes: &[u8], lines: u32, written: SystemTime, marks: &Marks) -> Vec<u8> {
    let millis = written.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
    let mut preface = Vec::new();
    let mut length = bytes.len() as u32;
    if !marks.is_empty() {
        let text: String = marks.iter().flat_map(|(name, position)| [name, "\t", position, "\n"]).collect();
        preface.extend_from_slice(&(text.len() as u32).to_le_bytes());
        preface.extend_from_slice(text.as_bytes());
        length = (bytes.len() + preface.len()) as u32 | MARKED;
    }
    let mut head = Vec::with_capacity(HEADER + preface.len());
    head.extend_from_slice(&length.to_le_bytes());
    head.extend_from_slice(&lines.to_le_bytes());
    head.extend_from_slice(&millis.to_le_bytes());
    let sum = checksum(&head, &preface, bytes);
    head.extend_from_slice(&sum);
    head.extend_from_slice(&preface);
    head
}

fn checksum(head: &[u8], preface: &[u8], bytes: &[u8]) -> [u8; 4] {
    let mut sum = crc32fast::Hasher::new();
    sum.update(head);
    sum.update(preface);
    sum.update(bytes);
    sum.finalize().to_le_bytes()
}

/// The marks that stand before the lines, and the lines.
fn unmarked(bytes: &[u8]) -> Option<(Marks, &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (text, lines) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    let pair = |line: &str| line.split_once('\t').map(|(name, position)| (name.into(), position.into()));
    let marks = std::str::from_utf8(text).ok()?.lines().map(pair).collect::<Option<Marks>>()?;
    Some((marks, lines))
}

/// What comes next in a file.
pub enum Next {
    /// A record.
    Record(Record),
    /// Nothing.
    End,
    /// Something that is none, for this reason.
    Bad(&'static str),
}

/// Reads the next record, before which there are so many lines.
pub fn read(from: &mut impl Read, before: u64) -> io::Result<Next> {
    let mut header = [0; HEADER];
    match fill(from, &mut header)? {
        0 => return Ok(Next::End),
        HEADER => {}
        _ => return Ok(Next::Bad("the header of a record is cut short")),
    }
    let number = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let (len, lines) = (number(0) & !MARKED, number(4));
    if len > LONGEST {
        return Ok(Next::Bad("a record says that it is longer than a gigabyte"));
    }
    let mut bytes = Vec::new();
    if from.take(u64::from(len)).read_to_end(&mut bytes)? != len as usize {
        return Ok(Next::Bad("a record is cut short"));
    }
    if checksum(&header[..16], &[], &bytes) != header[16..] {
        return Ok(Next::Bad("a record does not have its checksum"));
    }
    let millis = u64::from(number(8)) | u64::from(number(12)) << 32;
    let written = UNIX_EPOCH.checked_add(Duration::from_millis(millis)).unwrap_or(UNIX_EPOCH);
    let (marks, own) = match number(0) & MARKED {
        0 => (Marks::new(), &bytes[..]),
        _ => match unmarked(&bytes) {
            Some(found) => found,
            None => return Ok(Next::Bad("the marks of a record cannot be read")),
        },
    };
    Ok(Next::Record(Record { before, lines: lines.into(), written, marks, bytes: own.into() }))
}

/// Reads as much as there is, at most the buffer.
fn fill(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
