//! One record: lines that were written together.
//!
//! ```text
//! bytes (u32) │ lines (u32) │ written, ms since 1970 (u64) │ checksum (8 bytes) │ the lines
//! ```

use std::io::{self, Read};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Bytes before the lines of a record.
pub const HEADER: usize = 24;
/// Longest record that is read; what is written is far shorter.
const LONGEST: u32 = 1 << 30;

/// Lines that were written together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Lines before it in the log.
    pub before: u64,
    /// How many there are.
    pub lines: u64,
    /// When they were written.
    pub written: SystemTime,
    /// The lines, each with its end.
    pub bytes: Arc<[u8]>,
}

impl Record {
    /// Lines before what follows it.
    pub fn after(&self) -> u64 {
        self.before + self.lines
    }
}

/// The header of a record with these lines.
pub fn header(bytes: &[u8], lines: u32, written: SystemTime) -> [u8; HEADER] {
    let millis = written.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
    let mut header = [0; HEADER];
    header[..4].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
    header[4..8].copy_from_slice(&lines.to_le_bytes());
    header[8..16].copy_from_slice(&millis.to_le_bytes());
    let sum = checksum(&header[..16], bytes);
    header[16..].copy_from_slice(&sum);
    header
}

fn checksum(head: &[u8], bytes: &[u8]) -> [u8; 8] {
    let mut hash = blake3::Hasher::new();
    hash.update(head);
    hash.update(bytes);
    let mut sum = [0; 8];
    sum.copy_from_slice(&hash.finalize().as_bytes()[..8]);
    sum
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
    let (len, lines) = (number(0), number(4));
    if len > LONGEST {
        return Ok(Next::Bad("a record says that it is longer than a gigabyte"));
    }
    let mut bytes = Vec::new();
    if from.take(u64::from(len)).read_to_end(&mut bytes)? != len as usize {
        return Ok(Next::Bad("a record is cut short"));
    }
    if checksum(&header[..16], &bytes) != header[16..] {
        return Ok(Next::Bad("a record does not have its checksum"));
    }
    let millis = u64::from(number(8)) | u64::from(number(12)) << 32;
    let written = UNIX_EPOCH.checked_add(Duration::from_millis(millis)).unwrap_or(UNIX_EPOCH);
    Ok(Next::Record(Record { before, lines: lines.into(), written, bytes: bytes.into() }))
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
