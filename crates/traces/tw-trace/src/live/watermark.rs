//! Lines that are no positions and only say how far time has come.
//!
//! Under the name `N` such a line is, where lines are objects (`jsonl`), one with a key `N`, whose value is the time; in
//! every format whose records have events, an event `N`, whose time is that of its record. Few lines hold the name at all: only those
//! are looked at more closely than every line is.

use super::{Blocks, Live, Mode, Receiver};
use crate::{ReadOptions, Row, Stamp, TraceError, TraceErrorKind, TraceFormat};
use std::io::Read;
use std::ops::Range;

/// A line that says how far time has come, or tries to.
struct Mark {
    line: Range<usize>,
    stamp: Result<Stamp, TraceError>,
}

impl Live {
    /// Lines with a time under this name are no positions: they say that no position from then on is earlier.
    #[must_use]
    pub fn watermark(mut self, name: Option<String>) -> Self {
        self.watermark = name;
        self
    }

    /// Reads whole lines; says how many bytes of records they held.
    pub(super) fn read_lines<R: Receiver>(
        &mut self,
        bytes: &[u8],
        last: bool,
        receiver: &mut R,
    ) -> Result<usize, R::Error> {
        let mut at = 0;
        while at < bytes.len() {
            let Some(mark) = self.next_mark(&bytes[at..]) else {
                return Ok(at + self.read_blocks(&bytes[at..], last, receiver)?);
            };
            let start = at + mark.line.start;
            at += self.read_blocks(&bytes[at..start], false, receiver)?;
            if at < start {
                break;
            }
            let end = start + mark.line.len();
            self.pass(&bytes[start..end], mark.stamp, receiver)?;
            at = end;
        }
        Ok(at)
    }

    /// Takes lines with watermarks at the beginning of a stream, whose first position says how it is read; how many
    /// bytes they are.
    pub(super) fn first_marks<R: Receiver>(
        &mut self,
        bytes: &[u8],
        receiver: &mut R,
    ) -> Result<usize, R::Error> {
        let mut at = 0;
        while let Some(mark) = self.next_mark(&bytes[at..])
            && bytes[at..at + mark.line.start].iter().all(u8::is_ascii_whitespace)
        {
            let end = at + mark.line.end;
            self.pass(&bytes[at..end], mark.stamp, receiver)?;
            at = end;
        }
        Ok(at)
    }

    /// Counts a watermark's lines as read, and tells of it.
    fn pass<R: Receiver>(
        &mut self,
        bytes: &[u8],
        stamp: Result<Stamp, TraceError>,
        receiver: &mut R,
    ) -> Result<(), R::Error> {
        let lines = memchr::memchr_iter(b'\n', bytes).count().max(1) as u64;
        self.skip(bytes, lines);
        match stamp {
            Ok(stamp) => receiver.watermark(stamp, self.progress.lines),
            Err(mut error) => {
                error.line = Some(self.progress.lines);
                receiver.bad_line(error.in_file(&self.name))
            }
        }
    }

    /// The first watermark in whole lines that begin where a record does.
    fn next_mark(&self, bytes: &[u8]) -> Option<Mark> {
        let name = self.watermark.as_deref()?;
        let header = match &self.mode {
            Mode::Blocks(blocks) => Blocks::header(blocks),
            _ => &[],
        };
        let objects = self.format.lines_are_objects();
        let quoted = if objects { format!("\"{name}\"") } else { name.to_string() };
        let find = |from: usize| {
            let name = memchr::memmem::find(&bytes[from..], quoted.as_bytes());
            // A key may be written with escapes.
            let escape = if objects { memchr::memchr(b'\\', &bytes[from..]) } else { None };
            name.into_iter().chain(escape).min().map(|hit| from + hit)
        };
        let mut from = 0;
        while let Some(hit) = find(from) {
            let start = memchr::memrchr(b'\n', &bytes[..hit]).map_or(0, |at| at + 1);
            let end = memchr::memchr(b'\n', &bytes[hit..]).map_or(bytes.len(), |at| hit + at + 1);
            // Inside quotes a line is part of a record.
            let whole = objects || memchr::memchr_iter(b'"', &bytes[..start]).count().is_multiple_of(2);
            if whole && let Some(stamp) = stamp(self.format, header, &bytes[start..end], name, &self.options)
            {
                return Some(Mark { line: start..end, stamp });
            }
            from = end;
        }
        None
    }
}

/// The time that a line gives under `name`, if it does.
fn stamp(
    format: &dyn TraceFormat,
    header: &[u8],
    line: &[u8],
    name: &str,
    options: &ReadOptions,
) -> Option<Result<Stamp, TraceError>> {
    let read = |options: &ReadOptions| {
        let mut row = Row::default();
        let mut rows = format.rows(Box::new(header.chain(line)), options)?;
        rows.next(&mut row).map(|some| some.then_some(row))
    };
    // What cannot be read is for the reader of positions to judge.
    let row = read(options).ok()??;
    if let Some(stamp) = of_event(&row, name) {
        return Some(stamp);
    }
    let is_key = |(key, value): &(std::sync::Arc<str>, tw_core::Value)| {
        **key == *name && !matches!(value, tw_core::Value::Null)
    };
    if !format.lines_are_objects() || !row.variables.iter().any(is_key) {
        return None;
    }
    // As a timestamp it is read exactly.
    let options = ReadOptions { time: Some(name.to_string()), ..options.clone() };
    Some(read(&options).and_then(|row| row.and_then(|row| row.time).ok_or_else(no_time)))
}

/// The time of a position that is an event `name`.
pub(super) fn of_event(row: &Row, name: &str) -> Option<Result<Stamp, TraceError>> {
    let is_event = row.events.iter().any(|event| *event.name == *name);
    is_event.then(|| row.time.ok_or_else(no_time))
}

fn no_time() -> TraceError {
    TraceError::new(TraceErrorKind::Time, "found no time in this watermark, expected a timestamp")
}

#[cfg(test)]
mod tests {
    use super::super::Arrival;
    use super::*;
    use crate::{FORMATS, Projection};
    use tw_core::{Batch, Time};

    /// What was delivered, in its order.
    #[derive(Debug, PartialEq)]
    enum Heard {
        At(Time, Option<u64>),
        Mark(Time, u64),
        Bad(String),
    }

    #[derive(Default)]
    struct Collect(Vec<Heard>);

    impl Receiver for Collect {
        type Mapped = Vec<Time>;
        type Error = TraceError;

        fn map(&mut self, batch: Batch) -> Result<Vec<Time>, (usize, TraceError)> {
            Ok(batch.times.expect("timestamps"))
        }

        fn take(&mut self, times: Vec<Time>, arrival: &Arrival<'_>) -> Result<(), TraceError> {
            assert!(arrival.style.is_some());
            let lines = arrival.lines();
            for (index, &time) in times.iter().enumerate() {
                assert_eq!(arrival.line(index).0, Some(lines[index]));
                self.0.push(Heard::At(time, arrival.line(index).0));
            }
            Ok(())
        }

        fn bad_line(&mut self, error: TraceError) -> Result<(), TraceError> {
            self.0.push(Heard::Bad(error.to_string()));
            Ok(())
        }

        fn watermark(&mut self, stamp: Stamp, line: u64) -> Result<(), TraceError> {
            self.0.push(Heard::Mark(stamp.time, line));
            Ok(())
        }
    }

    /// Bare numbers are nanoseconds, in any order.
    fn heard(format: &str, text: &str, size: usize, name: Option<&str>) -> Vec<Heard> {
        let format = *FORMATS.iter().find(|known| known.name() == format).expect("a format");
        let projection = Projection::new(&[], None, true);
        let unit = tw_core::TimeUnit::Nanoseconds;
        let options = ReadOptions { any_order: true, unit, timed: true, ..ReadOptions::default() };
        let mut live = Live::new("t", format, &projection, &options).watermark(name.map(str::to_string));
        let mut collect = Collect::default();
        for bytes in text.as_bytes().chunks(size) {
            live.push(bytes, false, &mut collect).expect("it can be read");
        }
        live.push(b"", true, &mut collect).expect("it can be read");
        collect.0
    }

    #[test]
    fn marks_are_no_positions_whatever_the_cut() {
        use Heard::{At, Mark};
        let json = "{\"now\": 1}\n\n{\"time\":3}\n{\"time\":2}\n{\"now\":4,\"time\":9}\n{\"time\":5,\"x\":\"\\\"now\\\"\"}\n\
                    {\"no\\u0077\":\"1970-01-01T00:00:00.000000007Z\"}\n{\"time\":6,\"x\":{\"now\":1},\"now\":null}";
        let events = "time,event\n3,a\n2,now\n\"5\",now\n6,\"\n9,now\n\"\n8,now\n";
        let cases: &[(&str, &str, &[Heard])] = &[
            (
                "jsonl",
                json,
                &[
                    Mark(1, 1),
                    At(3, Some(3)),
                    At(2, Some(4)),
                    Mark(4, 5),
                    At(5, Some(6)),
                    Mark(7, 7),
                    At(6, Some(8)),
                ],
            ),
            // Text inside quotes is no line.
            ("csv", events, &[At(3, Some(2)), Mark(2, 3), Mark(5, 4), At(6, Some(5)), Mark(8, 8)]),
            (
                "props",
                "@3 a\n@2 now\n@4 b nowhere\n@6 c now\n",
                &[At(3, Some(1)), Mark(2, 2), At(4, Some(3)), Mark(6, 4)],
            ),
            ("events", "a,x,3\nnow,7\nnow2,2\n", &[At(3, Some(1)), Mark(7, 2), At(2, Some(3))]),
            ("monpoly", "@3 a ()\n@7 now ()\n@2 b ()\n", &[At(3, Some(1)), Mark(7, 2), At(2, Some(3))]),
        ];
        for (format, text, expected) in cases {
            for size in [1, 2, 3, 7, 1000] {
                assert_eq!(heard(format, text, size, Some("now")), *expected, "{format} by {size}");
            }
        }
        // Without the name they are what they were.
        assert_eq!(heard("props", "@3 now\n@2 now\n", 1000, None), [At(3, Some(1)), At(2, Some(2))]);
    }

    #[test]
    fn a_mark_that_cannot_be_read_is_a_bad_line() {
        let text = "{\"time\":1}\n{\"now\":\"soon\"}\n{\"time\":2}\n";
        for size in [1, 1000] {
            let heard = heard("jsonl", text, size, Some("now"));
            assert_eq!((&heard[0], &heard[2]), (&Heard::At(1, Some(1)), &Heard::At(2, Some(3))), "{heard:?}");
            assert!(matches!(&heard[1], Heard::Bad(error) if error.starts_with("t:2")), "{heard:?}");
        }
    }
}
