//! A file that grows, and is rotated: renamed while another takes its name, or copied and emptied.
//!
//! A file is told from another by its identity, not by its name. It is read to its end before the one that took its
//! name, and that one not before it holds something: until then the writer may not have noticed. Files that had the
//! name in between are read where they still are beside it, by the names that rotation gives (`log.1`,
//! `log-20260131`). What is known to be lost is said.

use super::feed::{Gone, LATER, Message, Pump, Resume, SOON, continue_at, fault, is_compressed};
use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

/// The last bytes read, by which a file is recognised that was written anew and has grown beyond.
const TAIL: usize = 256;

const WRITTEN_ANEW: &str = "was written anew; what it held last may be lost; reading it from its start";

/// Times of files may be as coarse as this: two writes within it can bear the same one.
const COARSE: Duration = Duration::from_secs(2);

/// A file that is followed.
pub(super) struct Followed {
    path: String,
    file: File,
    /// Bytes of it that were read, and the last of them.
    offset: u64,
    tail: Vec<u8>,
    /// When it was last written to, as of the last time that what was read was found to be still there.
    seen: Option<SystemTime>,
    /// The file that had the name before, and how much of it was read.
    former: Option<(File, u64)>,
    /// What is handed over first, where the file is not read from its beginning: its header, and what was left out.
    before: Vec<Message>,
}

impl Followed {
    /// This file, which stands where a checkpoint left off.
    pub fn new(path: &str, file: File, resume: &Resume) -> Self {
        let (offset, tail) = (resume.offset, resume.tail.clone());
        Self { path: path.into(), file, offset, tail, seen: None, former: None, before: Vec::new() }
    }

    /// This file from its last whole line on; what it holds before is counted, and left out but for a header.
    pub fn from_end(path: &str, mut file: File, header: bool) -> io::Result<Self> {
        let mut first = Vec::new();
        if header {
            BufReader::new(&mut file).read_until(b'\n', &mut first)?;
        }
        // One that is still being written comes with what follows.
        if !first.ends_with(b"\n") {
            first.clear();
        }
        file.rewind()?;
        let (mut lines, mut end, mut read) = (0, 0, 0u64);
        let mut buffer = vec![0; 1 << 16];
        loop {
            let count = match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            for at in memchr::memchr_iter(b'\n', &buffer[..count]) {
                lines += 1;
                end = read + at as u64 + 1;
            }
            read += count as u64;
        }
        file.seek(SeekFrom::Start(end))?;
        let skipped =
            Message::Skipped { bytes: end - first.len() as u64, lines: lines - u64::from(!first.is_empty()) };
        let mut followed = Self::new(path, file, &Resume { offset: end, tail: Vec::new() });
        followed.before = vec![Message::Bytes(first), skipped];
        Ok(followed)
    }

    /// The file that had this name when the checkpoint was taken, if it was rotated since.
    pub fn rotated(path: &str, resume: &Resume) -> Option<Self> {
        let mut beside = rotated(Path::new(path)).into_iter().filter_map(|(_, path)| File::open(path).ok());
        let found =
            beside.find_map(|mut file| continue_at(&mut file, path, resume).is_ok().then_some(file))?;
        Some(Self::new(path, found, resume))
    }

    /// Hands over what is there and what comes, until nobody wants more.
    pub fn read_on(mut self, pump: &Pump) {
        for message in std::mem::take(&mut self.before) {
            if pump.send(message).is_err() {
                return;
            }
        }
        let mut still = 0u32;
        loop {
            let step = match self.read(pump) {
                Ok(0) => self.look_around(pump),
                Ok(count) => Ok(count > 0),
                Err(gone) => Err(gone),
            };
            match step {
                Err(Gone) => return,
                Ok(_) if pump.over.load(Ordering::SeqCst) => return,
                Ok(true) => still = 0,
                Ok(false) => {
                    still = still.saturating_add(1);
                    std::thread::sleep(if still < 200 { SOON } else { LATER });
                }
            }
        }
    }

    fn read(&mut self, pump: &Pump) -> Result<usize, Gone> {
        let mut buffer = pump.buffer();
        loop {
            match self.file.read(&mut buffer) {
                Ok(0) => return Ok(0),
                Ok(count) => {
                    if !self.is_the_same() {
                        self.start_over(pump, WRITTEN_ANEW)?;
                        return Ok(count);
                    }
                    buffer.truncate(count);
                    self.offset += count as u64;
                    self.tail.extend_from_slice(&buffer[count.saturating_sub(TAIL)..]);
                    self.tail.drain(..self.tail.len().saturating_sub(TAIL));
                    pump.send(Message::Bytes(buffer))?;
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    pump.send(Message::Fault(fault(&self.path, &error)))?;
                    return Err(Gone);
                }
            }
        }
    }

    /// Whether what was read before is still there.
    fn is_the_same(&mut self) -> bool {
        let mut before = vec![0; self.tail.len()];
        let Ok(here) = self.file.stream_position() else { return true };
        let start = SeekFrom::Start(self.offset - self.tail.len() as u64);
        let read = self.file.seek(start).and_then(|_| self.file.read_exact(&mut before));
        let back = self.file.seek(SeekFrom::Start(here));
        // One that has become shorter is found out at its end.
        read.is_err() || back.is_err() || before == self.tail
    }

    /// At the end of the file: whether something changed.
    fn look_around(&mut self, pump: &Pump) -> Result<bool, Gone> {
        let Ok(own) = self.file.metadata() else { return Ok(false) };
        if own.len() < self.offset {
            self.start_over(pump, "became shorter; reading it from its start")?;
            return Ok(true);
        }
        if own.len() > self.offset {
            return Ok(true);
        }
        let written = own.modified().ok();
        if written.is_none() || written != self.seen {
            if !self.is_the_same() {
                self.start_over(pump, WRITTEN_ANEW)?;
                return Ok(true);
            }
            self.seen = written.filter(|written| written.elapsed().is_ok_and(|since| since > COARSE));
        }
        self.tell_of_late_lines(pump)?;
        // While it is gone, another may be about to take its place.
        let Ok(new) = File::open(&self.path) else { return Ok(false) };
        let Ok(named) = new.metadata() else { return Ok(false) };
        if identity(&named) == identity(&own) || named.len() == 0 {
            return Ok(false);
        }
        let (since, named) = (own.modified().ok(), identity(&named));
        let others = rotated(Path::new(&self.path)).into_iter();
        for (_, path) in others.filter(|(modified, _)| since.is_some_and(|since| *modified > since)) {
            let Ok(mut file) = File::open(&path) else { continue };
            let Ok(found) = file.metadata() else { continue };
            if identity(&found) == identity(&own) || identity(&found) == named {
                continue;
            }
            let place = path.display();
            if is_compressed(&mut file).unwrap_or(true) {
                pump.send(Message::Note(format!(
                    "the lines of {place} are lost: it was compressed before they were read"
                )))?;
                continue;
            }
            self.turn_to(file, pump, &format!("was replaced more than once; reading {place}"))?;
            while self.read(pump)? > 0 {}
        }
        self.turn_to(new, pump, "was replaced; reading the new file from its start")?;
        Ok(true)
    }

    fn start_over(&mut self, pump: &Pump, news: &str) -> Result<(), Gone> {
        let _ = self.file.rewind();
        self.offset = 0;
        self.tail.clear();
        self.seen = None;
        pump.send(Message::Restarted(format!("{} {news}", self.path)))
    }

    fn turn_to(&mut self, file: File, pump: &Pump, news: &str) -> Result<(), Gone> {
        let former = std::mem::replace(&mut self.file, file);
        self.former = Some((former, self.offset));
        self.start_over(pump, news)
    }

    /// A writer that had not noticed: its lines would come after later ones.
    fn tell_of_late_lines(&mut self, pump: &Pump) -> Result<(), Gone> {
        let Some((file, read)) = &mut self.former else { return Ok(()) };
        let length = file.metadata().map_or(*read, |meta| meta.len());
        if length <= *read {
            return Ok(());
        }
        let lost = length - *read;
        *read = length;
        let what = format!("{lost} bytes were written to the file that had the name {} before", self.path);
        pump.send(Message::Note(format!("{what}, after it was replaced: their lines are lost")))
    }
}

/// Reads a file from its beginning as soon as there is one.
pub(super) fn wait_for(path: &str, pump: &Pump) {
    while !pump.over.load(Ordering::SeqCst) {
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                std::thread::sleep(LATER);
                continue;
            }
            Err(error) => return pump.send(Message::Fault(fault(path, &error))).unwrap_or_default(),
        };
        if is_compressed(&mut file).unwrap_or(false) {
            let error = io::Error::other("a compressed file cannot be followed while it grows");
            return pump.send(Message::Fault(fault(path, &error))).unwrap_or_default();
        }
        return Followed::new(path, file, &Resume::default()).read_on(pump);
    }
}

/// Files beside `path` that may have had its name, the one last written to last.
fn rotated(path: &Path) -> Vec<(SystemTime, PathBuf)> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let (Some(name), Ok(entries)) =
        (path.file_name().and_then(|name| name.to_str()), std::fs::read_dir(folder))
    else {
        return Vec::new();
    };
    let mut found: Vec<(SystemTime, PathBuf)> = entries
        .flatten()
        .filter(|entry| {
            entry.file_name().to_str().and_then(|other| other.strip_prefix(name)).is_some_and(is_rotation)
        })
        .filter_map(|entry| {
            Some((entry.metadata().ok().filter(Metadata::is_file)?.modified().ok()?, entry.path()))
        })
        .collect();
    found.sort();
    found
}

/// Whether this is what rotation appends to a name: a number or a date, and the name of a codec.
fn is_rotation(suffix: &str) -> bool {
    let suffix =
        [".gz", ".zst", ".bz2", ".xz"].iter().find_map(|codec| suffix.strip_suffix(codec)).unwrap_or(suffix);
    let known = |c: char| c.is_ascii_digit() || ".-_:+TZ".contains(c);
    suffix.chars().any(|c| c.is_ascii_digit()) && suffix.chars().all(known)
}

#[cfg(unix)]
fn identity(meta: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (meta.dev(), meta.ino())
}

/// Elsewhere a file is known by when it was made.
#[cfg(not(unix))]
fn identity(meta: &Metadata) -> Option<SystemTime> {
    meta.created().ok()
}
