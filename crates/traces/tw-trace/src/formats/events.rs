//! `events`: one line `name,arg1,arg2,…` is one event and one position, without a header (the log form of DejaVu).
//!
//! Arguments are known by position. A field may stand in double quotes, with `""` for a quote inside; bare ones end at the
//! comma, and spaces around either are left out. With `--timed` the last field is the timestamp. Blank lines are
//! skipped.

mod fast;
#[cfg(test)]
mod tests;

use super::fields::{cell, is_blank, push_cell};
use super::line::{BYTE_ORDER_MARK, Lines, Names, column, reset, stamp_at, too_many};
use super::writing::{Lined, cell_text, inexpressible, positional, stamp_of};
use crate::{
    Arguments, BlockStart, Bytes, Event, FastPath, FormatCard, Outline, Projection, ReadOptions, Reading,
    Row, RowSink, RowSource, TraceError, TraceFormat, Writing, quote,
};
use std::io::Write;

/// The format.
pub struct Events;

impl TraceFormat for Events {
    fn card(&self) -> FormatCard {
        FormatCard {
            name: "events",
            extensions: &["events"],
            about: "one event per line, name,arg1,arg2,… without a header; ⟨timed⟩: the last field is the time",
            open_vocabulary: true,
        }
    }

    fn rows<'a>(&self, input: Bytes<'a>, options: &ReadOptions) -> Reading<'a> {
        Ok(Box::new(Source::new(Lines::new(input, options), options)))
    }

    fn blocks(&self, head: &[u8], projection: &Projection, options: &ReadOptions) -> FastPath {
        let skip = if head.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        // Sorting needs the positions one by one.
        if options.timed && options.sort.is_some() {
            return Ok(None);
        }
        Ok(Some(BlockStart { skip, skip_lines: 0, reader: Box::new(fast::Reader::new(projection, options)) }))
    }

    fn writer<'a>(&self, out: Box<dyn Write + 'a>, outline: Outline<'_>) -> Writing<'a> {
        Ok(Box::new(Sink { out: Lined::new(out), has_time: outline.has_time }))
    }
}

/// Rows of lines.
struct Source<'a> {
    lines: Lines<'a>,
    names: Names,
    options: ReadOptions,
}

impl<'a> Source<'a> {
    fn new(lines: Lines<'a>, options: &ReadOptions) -> Self {
        Self { lines, names: Names::default(), options: options.clone() }
    }
}

impl RowSource for Source<'_> {
    fn next(&mut self, row: &mut Row) -> Result<bool, TraceError> {
        loop {
            if !self.lines.advance()? {
                return Ok(false);
            }
            if !is_blank(self.lines.text()?.as_bytes()) {
                break;
            }
        }
        let (number, line) = (self.lines.number(), self.lines.text()?);
        reset(row, number);
        let mut values = Vec::new();
        let first = cell(line, number, 0, Some(b','))?;
        if first.text.is_empty() {
            return Err(TraceError::syntax(
                number,
                column(line.as_bytes(), first.start),
                "nothing",
                "an event name",
            ));
        }
        let mut at = first.end;
        let mut last = None;
        while at < line.len() {
            if values.len() >= self.options.max_columns {
                return Err(too_many(self.options.max_columns, "arguments", number));
            }
            let next = cell(line, number, at + 1, Some(b','))?;
            at = next.end;
            values.push(next.value());
            last = Some(next);
        }
        if self.options.timed {
            let Some(last) = last else {
                return Err(TraceError::syntax(
                    number,
                    column(line.as_bytes(), line.len()),
                    "the end of the line",
                    "`,` and a timestamp as the last field, because of `⟨timed⟩`",
                ));
            };
            let place = column(line.as_bytes(), last.start + usize::from(last.quoted));
            row.time = Some(stamp_at(&last.text, self.options.stamps(), number, place)?);
            values.pop();
        }
        row.events
            .push(Event { name: self.names.get(&first.text), arguments: Arguments::Positional(values) });
        Ok(true)
    }
}

/// Writes a line per event. Arguments that have names lose them.
struct Sink<'a> {
    out: Lined<'a>,
    has_time: bool,
}

impl RowSink for Sink<'_> {
    fn write(&mut self, row: &Row) -> Result<(), TraceError> {
        let event = match row.events.as_slice() {
            [event] => event,
            [] => return Err(inexpressible(row, "a position without an event", "events", "csv` or `jsonl")),
            _ => {
                return Err(inexpressible(row, "several events at one position", "events", "monpoly"));
            }
        };
        let mut variables = row.variables.iter().filter(|(_, value)| !value.is_null());
        if let (Arguments::Positional(_), Some((name, _))) = (&event.arguments, variables.next()) {
            let what = format!("variable {} beside an event", quote(name));
            return Err(inexpressible(row, &what, "events", "jsonl"));
        }
        if event.name.is_empty() {
            return Err(inexpressible(row, "an event without a name", "events", "jsonl"));
        }
        push_text(&mut self.out.line, row, &event.name)?;
        for value in positional(row, event, "events")? {
            self.out.line.push(',');
            let place = || format!("an argument of {}", quote(&event.name));
            if let Some(text) = cell_text(row, value, place, "events")? {
                push_text(&mut self.out.line, row, &text)?;
            }
        }
        if self.has_time {
            self.out.line.push(',');
            self.out.line.push_str(&stamp_of(row)?.format());
        }
        self.out.end()
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        self.out.finish()
    }
}

/// Appends a field, which must fit on the line.
fn push_text(line: &mut String, row: &Row, text: &str) -> Result<(), TraceError> {
    if text.contains(['\n', '\r']) {
        let what = format!("the line break in {}", quote(text));
        return Err(inexpressible(row, &what, "events", "monpoly` or `jsonl"));
    }
    push_cell(line, text, b",");
    Ok(())
}
