//! What the clock said where no events came: before a line, time had passed by so much since the one before it.
//!
//! A verdict that time brings about is to be found again where the log is judged again, and a line that came too late then is too
//! late again. So what the clock says is kept before anything follows from it, beside the log, by the number of the line before
//! which it was said: `line (u64) │ nanoseconds (u64) │ checksum (CRC-32, u32)`, one entry for each line, the latest.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// Bytes of an entry.
const ENTRY: usize = 20;
/// How often the clock is asked at most …
const SOON: Duration = Duration::from_millis(400);
/// … and at least, where nothing has come for long.
const SELDOM: Duration = Duration::from_secs(60);
/// Of a silence, the part after which it is asked again.
const PART: u32 = 20;

/// The clock of a stream, and what it has said.
pub struct Ticks {
    /// How late lines may come; `None` is no clock.
    late: Option<Duration>,
    /// Where it is kept, if there is a clock, or was one.
    file: Option<File>,
    /// Lines, in their order, and by how much time had passed before each.
    said: Vec<(u64, Duration)>,
    /// Of these, so many have been heard by who judges.
    heard: usize,
    /// When the latest line was judged.
    latest: Instant,
    /// When the clock is asked next.
    next: Instant,
}

impl Ticks {
    /// Those of a stream whose log ends after so many lines, of which so many are judged.
    pub fn open(folder: &Path, late: Option<Duration>, judged: u64, end: u64) -> io::Result<Self> {
        let path = folder.join("ticks");
        let bytes = crate::pack::read(&path)?;
        if late.is_none() && bytes.is_none() {
            return Ok(Self::none());
        }
        let mut ticks = Self { late, ..Self::none() };
        ticks.file = Some(OpenOptions::new().write(true).create(true).truncate(false).open(path)?);
        for (line, passed) in bytes.unwrap_or_default().chunks_exact(ENTRY).map_while(read) {
            // Of lines that the log has lost nothing is known.
            if !(judged..=end).contains(&line) {
                continue;
            }
            match ticks.said.last_mut() {
                Some((last, before)) if *last == line => *before = passed.max(*before),
                // What was left behind when all was written anew.
                Some((last, _)) if *last > line => {}
                _ => ticks.said.push((line, passed)),
            }
        }
        let now = Instant::now();
        // A clock that was stopped goes on where it stood.
        let stood = ticks.said.last().filter(|(line, _)| *line == end).map(|(_, passed)| *passed);
        if let (Some(late), Some(stood)) = (late, stood) {
            ticks.latest = now.checked_sub(late + stood).unwrap_or(now);
        }
        ticks.rewrite()?;
        Ok(ticks)
    }

    /// No clock that has said nothing.
    pub fn none() -> Self {
        let now = Instant::now();
        Self { late: None, file: None, said: Vec::new(), heard: 0, latest: now, next: now }
    }

    /// Whether there is a clock.
    pub fn runs(&self) -> bool {
        self.late.is_some()
    }

    /// Whether something was said between two lines, before the second.
    pub fn between(&self, from: u64, to: u64) -> bool {
        self.said[self.heard..].iter().any(|(line, _)| (from + 1..=to).contains(line))
    }

    /// What was said before a line, and not heard yet.
    pub fn before(&mut self, line: u64) -> Option<Duration> {
        let mut found = None;
        while let Some((at, passed)) = self.said.get(self.heard).filter(|(at, _)| *at <= line) {
            found = Some(*passed).filter(|_| *at == line);
            self.heard += 1;
        }
        found
    }

    /// A line has come.
    pub fn come(&mut self) {
        self.latest = Instant::now();
        self.next = self.latest;
    }

    /// How long nothing need be asked.
    pub fn patience(&self, most: Duration) -> Duration {
        match self.late {
            None => most,
            Some(late) => {
                let next = self.next.max(self.latest + late);
                next.saturating_duration_since(Instant::now()).clamp(Duration::from_millis(1), most)
            }
        }
    }

    /// By how much time has passed before a line that has not come yet, if that is to be known now. It is kept when this returns.
    pub fn ask(&mut self, line: u64) -> io::Result<Option<Duration>> {
        let now = Instant::now();
        let silence = now.duration_since(self.latest);
        let Some(passed) = self.late.and_then(|late| silence.checked_sub(late)) else { return Ok(None) };
        if now < self.next || passed.is_zero() {
            return Ok(None);
        }
        self.next = now + (silence / PART).clamp(SOON, SELDOM);
        let before = self.said.pop_if(|(at, _)| *at == line);
        // A clock that was set anew does not take back what it said.
        if let Some(before) = before.filter(|(_, before)| passed <= *before) {
            self.said.push(before);
            return Ok(None);
        }
        self.said.push((line, passed));
        let written = self.write(self.said.len() - 1);
        if written.is_err() {
            // What is not kept was not said.
            self.said.pop();
            self.said.extend(before);
        }
        self.heard = self.said.len();
        written.map(|()| Some(passed))
    }

    /// What was said is on disk for good.
    pub fn sync(&self) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), File::sync_data)
    }

    /// A state is kept that has heard all before a line.
    pub fn forget(&mut self, line: u64) -> io::Result<()> {
        let before = self.said.partition_point(|(at, _)| *at < line);
        if before == 0 {
            return Ok(());
        }
        self.said.drain(..before);
        self.heard = self.heard.saturating_sub(before);
        self.rewrite()
    }

    /// Writes all. A crash may leave entries behind it that stand in it as well.
    fn rewrite(&mut self) -> io::Result<()> {
        self.write(0)?;
        let length = (self.said.len() * ENTRY) as u64;
        self.file.as_ref().map_or(Ok(()), |file| file.set_len(length))
    }

    /// Writes what was said from one on.
    fn write(&mut self, from: usize) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let all: Vec<u8> = self.said[from..].iter().flat_map(|said| entry(*said)).collect();
        file.seek(SeekFrom::Start((from * ENTRY) as u64))?;
        file.write_all(&all)
    }
}

fn entry((line, passed): (u64, Duration)) -> [u8; ENTRY] {
    let mut entry = [0; ENTRY];
    entry[..8].copy_from_slice(&line.to_le_bytes());
    entry[8..16].copy_from_slice(&u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX).to_le_bytes());
    let sum = crc32fast::hash(&entry[..16]);
    entry[16..].copy_from_slice(&sum.to_le_bytes());
    entry
}

fn read(entry: &[u8]) -> Option<(u64, Duration)> {
    let (line, rest) = entry.split_first_chunk()?;
    let (passed, sum) = rest.split_first_chunk()?;
    let whole = crc32fast::hash(&entry[..16]).to_le_bytes() == *sum;
    whole.then(|| (u64::from_le_bytes(*line), Duration::from_nanos(u64::from_le_bytes(*passed))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::thread::sleep;

    const NOW: Option<Duration> = Some(Duration::ZERO);

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("tracewise-ticks-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn ask(ticks: &mut Ticks, line: u64) -> Duration {
        ticks.come();
        sleep(Duration::from_millis(2));
        ticks.ask(line).unwrap().unwrap()
    }

    #[test]
    fn what_was_said_is_heard_again_in_its_place() {
        let folder = folder("heard");
        let mut ticks = Ticks::open(&folder, NOW, 0, 0).unwrap();
        let said: Vec<Duration> = [3, 5, 9].map(|line| ask(&mut ticks, line)).into();
        assert!(!ticks.between(0, 100), "it was heard when it was said");
        let written = std::fs::read(folder.join("ticks")).unwrap();
        let crash = || std::fs::write(folder.join("ticks"), &written).unwrap();
        // After a crash, from a state before all that, and from one before the second.
        for (judged, first) in [(0, 0), (4, 1), (5, 1), (6, 2)] {
            crash();
            let mut again = Ticks::open(&folder, NOW, judged, 9).unwrap();
            let heard: Vec<(u64, Duration)> =
                (judged..12).filter_map(|line| Some((line, again.before(line)?))).collect();
            let expected: Vec<(u64, Duration)> =
                [3, 5, 9].into_iter().zip(said.clone()).skip(first).collect();
            assert_eq!(heard, expected, "from {judged}");
        }
        crash();
        let mut again = Ticks::open(&folder, NOW, 5, 9).unwrap();
        assert!(!again.between(5, 8) && again.between(5, 9) && again.between(4, 5) && !again.between(9, 20));
        // The clock goes on where it stood.
        assert_eq!(again.before(5), Some(said[1]));
        sleep(Duration::from_millis(2));
        assert_eq!(again.before(9), Some(said[2]));
        assert!(again.ask(9).unwrap().unwrap() > said[2]);
        // Of what the log has lost it knows nothing, nor of a past that a state has behind it.
        let mut less = Ticks::open(&folder, NOW, 0, 8).unwrap();
        assert_eq!((less.before(7), less.before(9)), (None, None));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_is_kept_in_a_state_is_forgotten() {
        let folder = folder("kept");
        let path = folder.join("ticks");
        let mut ticks = Ticks::open(&folder, NOW, 0, 0).unwrap();
        for line in 1..=6 {
            ask(&mut ticks, line);
        }
        let before = std::fs::read(&path).unwrap();
        ticks.forget(4).unwrap();
        let after = std::fs::read(&path).unwrap();
        assert_eq!(after, before[3 * ENTRY..]);
        ask(&mut ticks, 7);
        // A crash after the entries were written and before the file was cut, and one within an entry.
        let torn = [&after[..], &before[3 * ENTRY..], &[7; 5]].concat();
        for bytes in [torn, [&after[..], &before[..ENTRY - 1]].concat()] {
            std::fs::write(&path, bytes).unwrap();
            let mut again = Ticks::open(&folder, None, 4, 100).unwrap();
            let lines: Vec<u64> = (0..100).filter(|line| again.before(*line).is_some()).collect();
            assert_eq!(lines, [4, 5, 6]);
            assert_eq!(again.ask(100).unwrap(), None, "there is no clock any more");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn lines_may_be_late() {
        let folder = folder("late");
        let late = Duration::from_millis(40);
        let mut ticks = Ticks::open(&folder, Some(late), 0, 0).unwrap();
        ticks.come();
        assert_eq!(ticks.ask(1).unwrap(), None);
        assert!(ticks.patience(Duration::from_secs(9)) <= late);
        sleep(late + Duration::from_millis(5));
        let passed = ticks.ask(1).unwrap().unwrap();
        assert!(passed >= Duration::from_millis(5) && passed < Duration::from_secs(5), "{passed:?}");
        assert_eq!(ticks.ask(1).unwrap(), None, "not so soon");
        assert!(ticks.patience(Duration::from_secs(9)) > Duration::from_millis(300));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
