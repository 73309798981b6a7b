//! Reading what is to be judged: small records together, since each push has its price, and so has telling what it found. They
//! gather by themselves where more comes than is judged; what comes alone is judged alone.

use crate::log::{Reader, Record};
use std::io;

/// Bytes of lines that are judged at once, about.
pub const PIECE: usize = 64 << 10;

/// Reads a log.
pub struct Together {
    reader: Reader,
    /// Read, and not handed out: it did not go together with those before, or could not be read.
    ahead: Option<io::Result<Record>>,
}

impl Together {
    /// From where a reader stands.
    pub fn new(reader: Reader) -> Self {
        Self { reader, ahead: None }
    }

    /// What is there, about [`PIECE`] of it, as one record; `same` says whether lines may be judged together.
    pub fn next(&mut self, same: impl Fn(u64, u64) -> bool) -> io::Result<Option<Record>> {
        let first = match self.ahead.take() {
            Some(ahead) => Some(ahead?),
            None => self.reader.next()?,
        };
        let Some(mut all) = first else { return Ok(None) };
        let mut bytes = Vec::new();
        while all.bytes.len().max(bytes.len()) < PIECE {
            let more = match self.reader.next() {
                Ok(Some(more)) if more.before == all.after() && same(all.before, more.before) => more,
                other => {
                    self.ahead = other.transpose();
                    break;
                }
            };
            if bytes.is_empty() {
                bytes.extend_from_slice(&all.bytes);
            }
            bytes.extend_from_slice(&more.bytes);
            all.lines += more.lines;
        }
        if !bytes.is_empty() {
            all.bytes = bytes.into();
        }
        Ok(Some(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{Limits, Log};

    fn read(log: &Log, from: u64, same: impl Fn(u64, u64) -> bool) -> Vec<(u64, u64, usize)> {
        let mut reader = Together::new(log.read_from(from));
        let mut all = Vec::new();
        while let Some(record) = reader.next(&same).unwrap() {
            let count = record.bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
            assert_eq!(count, record.lines);
            all.push((record.before, record.lines, record.bytes.len()));
        }
        all
    }

    #[test]
    fn what_is_small_comes_together_and_all_of_it_once() {
        let folder = std::env::temp_dir().join(format!("tracewise-together-{}", std::process::id()));
        // In memory there is little, the rest is read from files.
        let limits = Limits { segment: 100_000, recent: 50_000, ..Limits::default() };
        let (log, _) = Log::open(&folder, limits).unwrap();
        assert!(read(&log, 0, |_, _| true).is_empty());
        for line in 0..400_u64 {
            log.append(format!("{line:>0$}\n", 600 * (1 + line as usize % 3)).as_bytes(), 1, false).unwrap();
        }
        let all = read(&log, 0, |_, _| true);
        assert!(all.len() < 12 && all.iter().all(|(.., bytes)| *bytes < PIECE + 1900), "{all:?}");
        let mut next = 0;
        for (before, lines, _) in all {
            assert_eq!(before, next);
            next += lines;
        }
        assert_eq!(next, 400);
        // What may not be judged together is not: nothing before line 7 with what is behind it.
        let divided = read(&log, 3, |from, to| (from < 7) == (to < 7));
        assert_eq!((divided[0].0, divided[0].1, divided[1].0), (3, 4, 7));
        assert_eq!(divided.iter().map(|(_, lines, _)| lines).sum::<u64>(), 397);
        // What is large is alone.
        log.append(&[b"x".repeat(PIECE), b"\n".to_vec()].concat(), 1, false).unwrap();
        log.append(b"y\n", 1, false).unwrap();
        assert_eq!(read(&log, 400, |_, _| true), [(400, 1, PIECE + 1), (401, 1, 2)]);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_cannot_be_read_is_not_passed_over() {
        let folder = std::env::temp_dir().join(format!("tracewise-together-bad-{}", std::process::id()));
        let limits = Limits { segment: 400, recent: 100, ..Limits::default() };
        let (log, _) = Log::open(&folder, limits).unwrap();
        for line in 0..40 {
            log.append(format!("line {line:>20}\n").as_bytes(), 1, false).unwrap();
        }
        // The second record of the second segment.
        let mut paths: Vec<_> =
            std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let mut bytes = std::fs::read(&paths[1]).unwrap();
        bytes[24 + 46 + 30] ^= 1;
        std::fs::write(&paths[1], bytes).unwrap();
        let bad: u64 = paths[1].file_stem().unwrap().to_str().unwrap().parse::<u64>().unwrap() + 1;
        let mut reader = Together::new(log.read_from(0));
        let mut next = 0;
        while let Ok(record) = reader.next(|_, _| true) {
            let record = record.unwrap();
            assert_eq!(record.before, next);
            next = record.after();
        }
        assert_eq!(next, bad);
        for _ in 0..3 {
            let error = reader.next(|_, _| true).unwrap_err();
            assert!(error.to_string().contains("checksum"), "{error}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
