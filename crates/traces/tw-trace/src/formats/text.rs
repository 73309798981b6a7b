//! What the formats of text logs share: a record is a line, with the lines that continue it; it has a timestamp near its
//! start, the variable `text`, and the fields that its format finds in it.

mod fast;
#[cfg(test)]
mod tests;

use super::line::{Lines, Names, by_rows, column, reset, too_long};
use super::writing::{Lined, inexpressible};
use crate::adapt::no_leap_day;
use crate::times::Place;
use crate::{
    Block, BlockBatch, BlockReader, BlockStart, Calendar, FastPath, Miss, Months, Projection, ReadOptions,
    Row, RowSink, RowSource, Stamp, TimeStyle, TraceError, TraceErrorKind, TraceWarning, Vocabulary, Writing,
    Written, quote,
};
use std::io::Write;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tw_core::{Time, Value};

/// How a format of text logs reads a line.
pub(super) trait LineFormat: Sync + Send {
    /// Puts the fields of a record into `row`, and its timestamp if the format knows where that is. `line` is the first
    /// of its lines.
    fn fields(&self, line: &str, row: &mut Row, with: &mut With) -> Result<(), TraceError>;

    /// Bytes at the start of a line that stand before what is searched for a timestamp.
    fn lead(&self, line: &[u8]) -> usize {
        let _ = line;
        0
    }

    /// Whether the timestamp is found by looking ([`ReadOptions::written`]), and lines without one continue others.
    fn continues(&self) -> bool;

    /// Whether a record is its text and nothing else.
    fn is_plain(&self) -> bool {
        false
    }

    /// Its fields, which every record has.
    fn names(&self) -> &'static [&'static str];

    /// Whether its records are events.
    fn has_events(&self) -> bool {
        false
    }
}

/// What the reading of fields needs and changes.
pub(super) struct With {
    /// Names, each kept once.
    pub names: Names,
    /// How it is read.
    pub options: ReadOptions,
    calendar: Calendar,
    months: Option<Months>,
}

impl With {
    /// A timestamp that was found at a place; its year is settled.
    pub fn stamp(&mut self, has_year: bool, time: Time, row: &Row, at: u64) -> Result<Stamp, TraceError> {
        if has_year {
            return Ok(Stamp { time, style: TimeStyle::Text });
        }
        let before = self.calendar;
        let time = self.calendar.resolve(time).map_err(|year| no_leap_day(year).at(row.line, at))?;
        match &mut self.months {
            Some(months) => months.after = self.calendar,
            None => self.months = Some(Months { before, first: self.calendar.month, after: self.calendar }),
        }
        Ok(Stamp { time, style: TimeStyle::Text })
    }

    /// The column (from 1) where `part` of `line` stands.
    pub fn place(line: &str, part: &str) -> u64 {
        column(line.as_bytes(), (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize))
    }
}

/// Adds a field; nothing and `-` are null.
pub(super) fn push(row: &mut Row, with: &mut With, name: &str, value: &str) {
    let value = if value.is_empty() || value == "-" { Value::Null } else { Value::text(value) };
    row.variables.push((with.names.get(name), value));
}

/// A record in the making.
struct Pending {
    line: u64,
    text: String,
    time: Option<Stamp>,
    /// Bytes of its first line.
    first: usize,
}

/// Rows of text.
pub(super) struct Source<'a> {
    lines: Lines<'a>,
    format: &'static dyn LineFormat,
    with: With,
    written: Option<Written>,
    own: bool,
    pending: Option<Pending>,
    /// What is wrong with a line behind the record delivered last.
    failed: Option<TraceError>,
    text: Arc<str>,
}

impl<'a> Source<'a> {
    pub(super) fn new(lines: Lines<'a>, format: &'static dyn LineFormat, options: &ReadOptions) -> Self {
        let written = options.written.clone().filter(|_| format.continues());
        let calendar = options.calendar.unwrap_or_else(|| Calendar::new(options.year));
        let with = With { names: Names::default(), options: options.clone(), calendar, months: None };
        Self {
            lines,
            format,
            with,
            written,
            own: options.own_lines,
            pending: None,
            failed: None,
            text: "text".into(),
        }
    }

    /// Turns a whole record into a row.
    fn deliver(&mut self, record: &Pending, row: &mut Row) -> Result<(), TraceError> {
        reset(row, record.line);
        row.time = record.time;
        let own = self.own && record.time.is_some() && record.first == usize::MAX;
        row.variables.push((self.text.clone(), Value::text(&record.text)));
        if !own {
            let first = &record.text[..record.first.min(record.text.len())];
            self.format.fields(first, row, &mut self.with)?;
        } else {
            for name in self.format.names() {
                push(row, &mut self.with, name, "");
            }
        }
        Ok(())
    }
}

impl Source<'_> {
    /// Reads on to the end of a record.
    fn record(&mut self) -> Result<Option<Pending>, TraceError> {
        loop {
            if !self.lines.advance()? {
                return Ok(self.pending.take());
            }
            let (number, line) = (self.lines.number(), self.lines.text()?);
            let record = |time, first| Pending { line: number, text: line.to_string(), time, first };
            let Some(written) = &self.written else {
                if self.format.continues() || !line.trim_ascii().is_empty() {
                    return Ok(Some(record(None, line.len())));
                }
                continue;
            };
            let lead = self.format.lead(line.as_bytes());
            match written.place(&line.as_bytes()[lead..]) {
                Place::Stamp(at, found) => {
                    let place = Row { line: number, ..Row::default() };
                    let at = column(line.as_bytes(), lead + at);
                    let time = Some(self.with.stamp(written.form.has_year, found.time, &place, at)?);
                    if let Some(before) = self.pending.replace(record(time, line.len())) {
                        return Ok(Some(before));
                    }
                }
                Place::Wrong(at, len, miss) => {
                    return Err(wrong(line, number, lead + at, len, miss, written));
                }
                Place::Nothing => match &mut self.pending {
                    // Before the first timestamp: skipped, as is said when the trace is opened.
                    None => {}
                    Some(before) if self.own => {
                        let next = record(before.time, usize::MAX);
                        return Ok(Some(std::mem::replace(before, next)));
                    }
                    Some(before) => {
                        if before.text.len() + line.len() > self.with.options.max_record {
                            return Err(too_long(self.with.options.max_record, before.line));
                        }
                        before.text.push('\n');
                        before.text.push_str(line);
                    }
                },
            }
        }
    }
}

impl RowSource for Source<'_> {
    fn next(&mut self, row: &mut Row) -> Result<bool, TraceError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let record = match self.record() {
            Ok(Some(record)) => record,
            Ok(None) => return Ok(false),
            // The record before the bad line comes first.
            Err(error) => match self.pending.take() {
                None => return Err(error),
                Some(before) => {
                    self.failed = Some(error);
                    before
                }
            },
        };
        self.deliver(&record, row).map(|()| true)
    }

    fn header(&self) -> Option<Vec<Arc<str>>> {
        let names = self.format.names().iter().map(|name| Arc::from(*name));
        (!self.format.names().is_empty() || self.format.continues())
            .then(|| std::iter::once(self.text.clone()).chain(names).collect())
    }

    fn has_events(&self) -> bool {
        self.format.has_events()
    }

    fn calendar(&self) -> Option<Calendar> {
        self.with.months.map(|months| months.after)
    }
}

/// The error for a line whose timestamp is not written like the others, or is none.
fn wrong(line: &str, number: u64, at: usize, len: usize, miss: Miss, written: &Written) -> TraceError {
    let end = (at..=(at + len).min(line.len())).rev().find(|&end| line.is_char_boundary(end)).unwrap_or(at);
    let found = quote(line.get(at..end).unwrap_or_default());
    let message = match miss {
        Miss::Other => format!(
            "found {found}, expected a timestamp written like {}, as on other lines (`⟨time_format⟩` says the form)",
            quote(&written.example)
        ),
        Miss::NoSuchDay => format!("found {found}, expected a day that there is"),
        Miss::OutOfRange => {
            format!("found {found}, expected a time that can be held in nanoseconds: between 1678 and 2262")
        }
    };
    TraceError::new(TraceErrorKind::Time, message).at(number, column(line.as_bytes(), at))
}

/// Blocks of text, read by way of rows.
pub(super) struct Reader {
    format: &'static dyn LineFormat,
    projection: Projection,
    options: ReadOptions,
    vocabulary: Mutex<Vocabulary>,
    calendar: Mutex<Calendar>,
}

impl Reader {
    /// The reader of a format's blocks.
    pub(super) fn start(
        format: &'static dyn LineFormat,
        projection: &Projection,
        options: &ReadOptions,
    ) -> FastPath {
        let calendar = options.calendar.unwrap_or_else(|| Calendar::new(options.year));
        let reader = Self {
            format,
            projection: projection.clone(),
            options: options.clone(),
            vocabulary: Mutex::new(Vocabulary::new(projection.slots.len())),
            calendar: Mutex::new(calendar),
        };
        Ok(Some(BlockStart { skip: 0, skip_lines: 0, reader: Box::new(reader) }))
    }

    fn vocabulary(&self) -> MutexGuard<'_, Vocabulary> {
        self.vocabulary.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn written(&self) -> Option<&Written> {
        self.options.written.as_ref().filter(|_| self.format.continues())
    }
}

impl BlockReader for Reader {
    fn read(&self, block: Block<'_>) -> Result<BlockBatch, TraceError> {
        let calendar = *self.calendar.lock().unwrap_or_else(PoisonError::into_inner);
        if self.format.is_plain()
            && let Some((batch, seen)) = fast::read(block.bytes, &self.projection, &self.options, calendar)
        {
            self.vocabulary().merge(&seen);
            return Ok(batch);
        }
        let options = ReadOptions { calendar: Some(calendar), ..self.options.clone() };
        let mut source = Source::new(Lines::of_block(block.bytes, &options), self.format, &options);
        let (mut batch, seen) =
            by_rows(&mut source, &self.projection, self.projection.times, self.options.any_order)?;
        if batch.time_range.is_none() {
            batch.batch.times = None;
        }
        batch.lines = source.lines.number();
        batch.months = source.with.months;
        self.vocabulary().merge(&seen);
        Ok(batch)
    }

    fn absorb(&self, seen: &Vocabulary) {
        self.vocabulary().merge(seen);
    }

    fn seen(&self) -> Vocabulary {
        self.vocabulary().clone()
    }

    fn locate(&self, block: &[u8], index: usize) -> Option<(Range<usize>, u64)> {
        let (mut at, mut line, mut position) = (0, 0, 0);
        let mut begun = false;
        while at < block.len() {
            let end = memchr::memchr(b'\n', &block[at..]).map_or(block.len(), |found| at + found);
            let text = &block[at..end];
            let is_position = match self.written() {
                None => self.format.continues() || !text.trim_ascii().is_empty(),
                Some(_) if self.begins_record(text) => true,
                Some(_) => self.options.own_lines && begun,
            };
            begun |= is_position;
            if is_position && position == index {
                return Some((at..end, line));
            }
            position += usize::from(is_position);
            line += 1;
            at = end + 1;
        }
        None
    }

    fn finish(&self) -> Result<Vec<TraceWarning>, TraceError> {
        self.vocabulary().judge(&self.projection, self.format.has_events())
    }

    fn lines_are_records(&self) -> bool {
        self.written().is_none()
    }

    fn begins_record(&self, line: &[u8]) -> bool {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        self.written().is_none_or(|written| written.begins(&line[self.format.lead(line)..]))
    }

    fn turn(&self, calendar: Calendar) {
        *self.calendar.lock().unwrap_or_else(PoisonError::into_inner) = calendar;
    }
}

/// Writes the variable `text` of each row, which must hold all there is to say.
struct Sink<'a> {
    out: Lined<'a>,
    format: &'static str,
}

/// The writer of a format of text logs.
pub(super) fn writer<'a>(out: Box<dyn Write + 'a>, format: &'static str) -> Writing<'a> {
    Ok(Box::new(Sink { out: Lined::new(out), format }))
}

impl RowSink for Sink<'_> {
    fn write(&mut self, row: &Row) -> Result<(), TraceError> {
        match row.variables.iter().find(|(name, _)| &**name == "text") {
            Some((_, Value::Str(text))) => self.out.line.push_str(text),
            _ => return Err(inexpressible(row, "a position without `text`", self.format, "csv` or `jsonl")),
        }
        self.out.end()
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        self.out.finish()
    }
}
