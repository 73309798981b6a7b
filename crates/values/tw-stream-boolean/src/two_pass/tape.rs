//! The tape between the passes: written forwards, read backwards; its older parts in a file where it grows large.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};

/// Numbers per part: a megabyte.
const PART: usize = 1 << 18;

pub(super) struct Tape {
    parts: Vec<Vec<u32>>,
    /// How many parts, the first ones, are in the file.
    written: usize,
    file: Option<File>,
    /// Parts in memory, at most.
    most: usize,
}

impl Tape {
    pub(super) fn new(bytes: usize) -> Self {
        Tape { parts: Vec::new(), written: 0, file: None, most: (bytes / (4 * PART)).max(2) }
    }

    /// Room for more numbers: a part to push to, which takes so many at least.
    pub(super) fn part(&mut self, room: usize) -> io::Result<&mut Vec<u32>> {
        if self.parts.last().is_none_or(|part| part.len() + room > PART) {
            if self.parts.len() - self.written >= self.most {
                self.write_first()?;
            }
            self.parts.push(Vec::with_capacity(PART));
        }
        let last = self.parts.len() - 1;
        Ok(&mut self.parts[last])
    }

    fn write_first(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(temporary()?),
        };
        let part = std::mem::take(&mut self.parts[self.written]);
        let bytes: Vec<u8> = part.iter().flat_map(|number| number.to_le_bytes()).collect();
        // Parts but the last are as long as they were filled; their lengths stand before them.
        file.seek(SeekFrom::Start((self.written * (8 + 4 * PART)) as u64))?;
        file.write_all(&(part.len() as u64).to_le_bytes())?;
        file.write_all(&bytes)?;
        self.written += 1;
        Ok(())
    }

    /// The last part, taken off.
    pub(super) fn pop(&mut self) -> io::Result<Option<Vec<u32>>> {
        let Some(part) = self.parts.pop() else { return Ok(None) };
        if self.parts.len() >= self.written {
            return Ok(Some(part));
        }
        self.written = self.parts.len();
        let Some(file) = &mut self.file else { return Ok(Some(part)) };
        file.seek(SeekFrom::Start((self.written * (8 + 4 * PART)) as u64))?;
        let mut len = [0; 8];
        file.read_exact(&mut len)?;
        let mut bytes = vec![0; 4 * u64::from_le_bytes(len) as usize];
        file.read_exact(&mut bytes)?;
        let numbers =
            bytes.chunks_exact(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]));
        Ok(Some(numbers.collect()))
    }
}

/// A file without a name: it goes when it is closed.
fn temporary() -> io::Result<File> {
    let folder = std::env::temp_dir();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let mut number = u64::from(std::process::id()) << 32 ^ now.map_or(0, |now| now.as_nanos() as u64);
    for _ in 0..1000 {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let path = folder.join(format!("tracewise-tape-{number:016x}"));
        match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
            Ok(file) => {
                std::fs::remove_file(&path)?;
                return Ok(file);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("no name for a temporary file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back_in_the_other_order_from_memory_and_from_the_file() {
        for bytes in [0, 3 << 20, 1 << 30] {
            let mut tape = Tape::new(bytes);
            let all = 7 * PART as u32 + 1234;
            for number in 0..all {
                tape.part(1).unwrap().push(number);
            }
            assert_eq!(tape.file.is_some(), bytes < 1 << 30);
            let mut expected = all;
            while let Some(part) = tape.pop().unwrap() {
                for number in part.into_iter().rev() {
                    expected -= 1;
                    assert_eq!(number, expected);
                }
            }
            assert_eq!(expected, 0);
        }
    }
}
