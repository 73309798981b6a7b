//! Plain lines without rows: lines are found, their timestamps read and their texts handed to the columns. What is odd is
//! left to rows.
//!
//! Most timestamps differ from the one before in seconds alone, so the rest is compared as bytes ([`Near`]).

use crate::times::{Near, Place};
use crate::{
    BlockBatch, Calendar, ColumnBuilder, Months, Projection, ReadOptions, Vocabulary, Written, expect_of,
};
use std::borrow::Cow;
use tw_core::{Batch, Time};
use tw_ir::{Expect, PathStep, What};

/// Reads a block, if nothing about it is odd.
pub(super) fn read(
    bytes: &[u8],
    projection: &Projection,
    options: &ReadOptions,
    calendar: Calendar,
) -> Option<(BlockBatch, Vocabulary)> {
    if options.own_lines
        || projection.key.is_some()
        || !projection.slots.iter().all(|slot| is_text(&slot.what))
    {
        return None;
    }
    let text = simdutf8::basic::from_utf8(bytes).ok()?;
    let mut returns = false;
    for at in memchr::memchr_iter(b'\r', bytes) {
        // Inside a line it is an error, which rows word.
        if !matches!(bytes.get(at + 1), None | Some(b'\n')) {
            return None;
        }
        returns = true;
    }
    let mut job = Job {
        text,
        returns,
        columns: projection.slots.iter().map(|slot| ColumnBuilder::new(expect_of(&slot.what))).collect(),
        times: Vec::new(),
        positions: 0,
        calendar,
        months: None,
    };
    let lines = match &options.written {
        Some(written) => job.stamped(written, options)?,
        None => job.plain(options)?,
    };
    let Job { columns, times, positions, months, .. } = job;
    let time_range = times.first().copied().zip(times.last().copied());
    let slots: Vec<_> = columns.into_iter().map(ColumnBuilder::finish).collect();
    let times = Some(times).filter(|_| projection.times && time_range.is_some());
    let mut seen = Vocabulary::new(projection.slots.len());
    seen.positions = positions as u64;
    if positions > 0 {
        seen.variable.iter_mut().for_each(|seen| *seen = true);
        seen.variables.insert("text".into());
    }
    let batch = Batch { len: positions, slots, times };
    Some((BlockBatch { batch, time_range, lines, months, ..BlockBatch::default() }, seen))
}

/// Whether a slot is the line, as text.
fn is_text(what: &What) -> bool {
    match what {
        What::Variable(path, Expect::Text | Expect::Line | Expect::Any) => {
            matches!(path.steps.as_slice(), [PathStep::Field(name)] if name == "text")
        }
        _ => false,
    }
}

struct Job<'b> {
    text: &'b str,
    /// Whether some lines may end with a carriage return, which is no part of them.
    returns: bool,
    columns: Vec<ColumnBuilder>,
    times: Vec<Time>,
    positions: usize,
    calendar: Calendar,
    months: Option<Months>,
}

impl Job<'_> {
    /// Takes the record between two bytes.
    #[inline]
    fn record(&mut self, from: usize, to: usize) -> Option<()> {
        self.positions += 1;
        let text = &self.text[from..to];
        if self.returns {
            return self.without_returns(text);
        }
        for column in &mut self.columns {
            column.push_text(text).ok()?;
        }
        Some(())
    }

    /// The same, where lines may end with carriage returns.
    fn without_returns(&mut self, text: &str) -> Option<()> {
        let text = text.strip_suffix('\r').unwrap_or(text);
        let inner = match text.contains("\r\n") {
            true => Cow::Owned(text.replace("\r\n", "\n")),
            false => Cow::Borrowed(text),
        };
        for column in &mut self.columns {
            column.push_text(&inner).ok()?;
        }
        Some(())
    }

    /// Every line is a position.
    fn plain(&mut self, options: &ReadOptions) -> Option<u64> {
        let bytes = self.text.as_bytes();
        let mut from = 0;
        for end in
            memchr::memchr_iter(b'\n', bytes).chain((bytes.last() != Some(&b'\n')).then_some(bytes.len()))
        {
            if from == bytes.len() {
                break;
            }
            if end - from >= options.max_record {
                return None;
            }
            self.record(from, end)?;
            from = end + 1;
        }
        Some(self.positions as u64)
    }

    /// Lines with timestamps, and those that continue them.
    fn stamped(&mut self, written: &Written, options: &ReadOptions) -> Option<u64> {
        let bytes = self.text.as_bytes();
        let (mut from, mut lines) = (0, 0);
        let mut open: Option<usize> = None;
        let mut near = Near::default();
        while from < bytes.len() {
            let end = memchr::memchr(b'\n', &bytes[from..]).map_or(bytes.len(), |found| from + found);
            let mut line = &bytes[from..end];
            lines += 1;
            if line.len() >= options.max_record {
                return None;
            }
            if self.returns {
                line = line.strip_suffix(b"\r").unwrap_or(line);
            }
            let time = match near.read(line, written) {
                Some(time) => Some(time),
                None => match written.place(line) {
                    Place::Stamp(at, found) => {
                        near.learn(&line[at..], found, written);
                        Some(found.time)
                    }
                    Place::Nothing => None,
                    Place::Wrong(..) => return None,
                },
            };
            if let Some(time) = time {
                if let Some(start) = open.replace(from) {
                    self.record(start, from - 1)?;
                }
                self.stamp(time, written.form.has_year, options.any_order)?;
            } else if open.is_some_and(|start| end - start > options.max_record) {
                return None;
            }
            from = end + 1;
        }
        if let Some(start) = open {
            let end = bytes.len() - usize::from(bytes.last() == Some(&b'\n'));
            self.record(start, end)?;
        }
        Some(lines)
    }

    #[inline]
    fn stamp(&mut self, time: Time, has_year: bool, any_order: bool) -> Option<()> {
        let mut time = time;
        if !has_year {
            let before = self.calendar;
            time = self.calendar.resolve(time).ok()?;
            match &mut self.months {
                Some(months) => months.after = self.calendar,
                None => {
                    self.months = Some(Months { before, first: self.calendar.month, after: self.calendar });
                }
            }
        }
        if !any_order && self.times.last().is_some_and(|last| time < *last) {
            return None;
        }
        self.times.push(time);
        Some(())
    }
}
