//! `props`: one line is one position, the space-separated propositions on it are those that hold there.
//!
//! ```text
//! req
//! req busy
//!
//! ack
//! ```
//!
//! is four positions, none holding at the third. A line may begin with `@TIME`; then all lines do. A name is any run of
//! characters other than space and tab, and is delivered as an event without arguments.

mod fast;
#[cfg(test)]
mod tests;

use super::line::{BYTE_ORDER_MARK, Lines, Names, column, reset, stamp_at, too_many};
use super::writing::{Lined, inexpressible, stamp_of, truth};
use crate::{
    Arguments, BlockStart, Bytes, Event, FastPath, FormatCard, Outline, Projection, ReadOptions, Reading,
    Row, RowSink, RowSource, Stamps, States, TraceError, TraceFormat, Writing, quote,
};
use std::io::Write;

/// The format.
pub struct Props;

impl TraceFormat for Props {
    fn card(&self) -> FormatCard {
        FormatCard {
            name: "props",
            extensions: &["props"],
            about: "the propositions that hold, one line per position, optionally after @TIME",
            open_vocabulary: true,
        }
    }

    fn rows<'a>(&self, input: Bytes<'a>, options: &ReadOptions) -> Reading<'a> {
        Ok(Box::new(Source::new(Lines::new(input, options), options, None)))
    }

    fn blocks(&self, head: &[u8], projection: &Projection, options: &ReadOptions) -> FastPath {
        let skip = if head.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        let text = &head[skip..];
        let first = text.iter().find(|byte| !matches!(byte, b' ' | b'\t'));
        let timed = first == Some(&b'@');
        // Sorting needs the positions one by one.
        if timed && options.sort.is_some() {
            return Ok(None);
        }
        let reader = Box::new(fast::Reader::new(projection, options, timed));
        Ok(Some(BlockStart { skip, skip_lines: 0, reader }))
    }

    fn writer<'a>(&self, out: Box<dyn Write + 'a>, outline: Outline<'_>) -> Writing<'a> {
        Ok(Box::new(Sink { out: Lined::new(out), has_time: outline.has_time }))
    }

    fn states(&self) -> Option<States> {
        Some(States::Names)
    }
}

/// Rows of lines.
struct Source<'a> {
    lines: Lines<'a>,
    names: Names,
    stamps: Stamps,
    most: usize,
    /// Whether lines begin with `@TIME`, once the first is known.
    timed: Option<bool>,
}

impl<'a> Source<'a> {
    fn new(lines: Lines<'a>, options: &ReadOptions, timed: Option<bool>) -> Self {
        Self { lines, names: Names::default(), stamps: options.stamps(), most: options.max_columns, timed }
    }
}

impl RowSource for Source<'_> {
    fn next(&mut self, row: &mut Row) -> Result<bool, TraceError> {
        if !self.lines.advance()? {
            return Ok(false);
        }
        let (number, line) = (self.lines.number(), self.lines.text()?);
        reset(row, number);
        let mut tokens = line.split([' ', '\t']).filter(|token| !token.is_empty()).peekable();
        let stamp = tokens.next_if(|token| token.starts_with('@'));
        let place = |token: &str| column(line.as_bytes(), token.as_ptr() as usize - line.as_ptr() as usize);
        match (stamp, *self.timed.get_or_insert(stamp.is_some())) {
            (Some(token), true) => {
                row.time = Some(stamp_at(&token[1..], self.stamps, number, place(token) + 1)?);
            }
            (None, true) => {
                let (found, at) = match tokens.peek() {
                    Some(token) => (quote(token), place(token)),
                    None => ("an empty line".to_string(), 1),
                };
                return Err(TraceError::syntax(
                    number,
                    at,
                    found,
                    "`@TIME` at the start of the line, as on the lines before",
                ));
            }
            (Some(token), false) => {
                return Err(TraceError::syntax(
                    number,
                    place(token),
                    quote(token),
                    "a proposition: the lines before have no `@TIME`, and either all lines have one or none",
                ));
            }
            (None, false) => {}
        }
        for token in tokens {
            if row.events.len() == self.most {
                return Err(too_many(self.most, "propositions", number));
            }
            row.events
                .push(Event { name: self.names.get(token), arguments: Arguments::Positional(Vec::new()) });
        }
        Ok(true)
    }
}

/// Writes a line per row. Variables that are true become propositions and those that are false or null are left out,
/// which is what they mean to a formula that uses them as propositions; any other variable is refused.
struct Sink<'a> {
    out: Lined<'a>,
    has_time: bool,
}

impl RowSink for Sink<'_> {
    fn write(&mut self, row: &Row) -> Result<(), TraceError> {
        let out = &mut self.out.line;
        if self.has_time {
            out.push('@');
            out.push_str(&stamp_of(row)?.format());
        }
        let mut push = |name: &str| {
            let first = out.is_empty();
            if name.is_empty() || name.contains([' ', '\t', '\n', '\r']) || (first && name.starts_with('@')) {
                let what = format!("the name {}", quote(name));
                return Err(inexpressible(row, &what, "props", "csv` or `jsonl"));
            }
            if !first {
                out.push(' ');
            }
            out.push_str(name);
            Ok(())
        };
        for event in &row.events {
            if let Arguments::Positional(values) = &event.arguments
                && !values.is_empty()
            {
                let what = format!("the arguments of event {}", quote(&event.name));
                return Err(inexpressible(row, &what, "props", "events` or `monpoly"));
            }
            push(&event.name)?;
        }
        for (name, value) in &row.variables {
            match truth(value, row.typed) {
                Some(true) => push(name)?,
                Some(false) => {}
                None => {
                    let what = format!("column {}, which holds {}", quote(name), quote(&value.to_string()));
                    return Err(inexpressible(row, &what, "props", "csv` or `jsonl"));
                }
            }
        }
        self.out.end()
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        self.out.finish()
    }
}
