//! `csrv-block`: an event's name on a line of its own, each `field = value` on the next ones, a blank line between events.
//!
//! This is what the competition's report prints for its "JSON" form. A name, field or value may stand in double quotes,
//! with `""` for a quote inside; a bare value goes to the end of its line and is trimmed.

use super::csrv::{Assembler, FIELD, one_line, parts};
use super::fields::{cell, is_blank, push_cell, skip_blank};
use super::line::{Lines, column};
use super::writing::Lined;
use crate::{
    Bytes, FormatCard, Outline, ReadOptions, Reading, Row, RowSink, RowSource, TraceError, TraceFormat,
    Writing, quote,
};
use std::io::Write;

/// The format.
pub struct CsrvBlock;

impl TraceFormat for CsrvBlock {
    fn card(&self) -> FormatCard {
        FormatCard {
            name: "csrv-block",
            extensions: &[],
            about: "competition form: an event's name and its field = value lines, blank lines between events",
            open_vocabulary: true,
        }
    }

    fn rows<'a>(&self, input: Bytes<'a>, options: &ReadOptions) -> Reading<'a> {
        Ok(Box::new(Source { lines: Lines::new(input, options), assembler: Assembler::new(options) }))
    }

    fn writer<'a>(&self, out: Box<dyn Write + 'a>, outline: Outline<'_>) -> Writing<'a> {
        Ok(Box::new(Sink { out: Lined::new(out), has_time: outline.has_time, first: true }))
    }
}

struct Source<'a> {
    lines: Lines<'a>,
    assembler: Assembler,
}

impl RowSource for Source<'_> {
    fn next(&mut self, row: &mut Row) -> Result<bool, TraceError> {
        let mut named = false;
        while self.lines.advance()? {
            let (number, line) = (self.lines.number(), self.lines.text()?);
            let bytes = line.as_bytes();
            if is_blank(bytes) {
                if named {
                    return Ok(true);
                }
            } else if named {
                let field = cell(line, number, 0, Some(b'='))
                    .ok()
                    .filter(|field| field.end < line.len() && !field.text.is_empty());
                let Some(field) = field else {
                    let found = quote(line.trim_matches([' ', '\t']));
                    return Err(TraceError::syntax(
                        number,
                        column(bytes, skip_blank(bytes, 0)),
                        found,
                        FIELD,
                    ));
                };
                let value = cell(line, number, field.end + 1, None)?;
                let place = (number, column(bytes, value.start + usize::from(value.quoted)));
                self.assembler.field(row, &field.text, value.value(), place)?;
            } else {
                self.assembler.begin(row, number);
                let name = cell(line, number, 0, None)?;
                if name.text.is_empty() || (!name.quoted && name.text.contains('=')) {
                    let found = if name.text.is_empty() { "nothing".to_string() } else { quote(&name.text) };
                    let expected = "an event name on a line of its own";
                    return Err(TraceError::syntax(number, column(bytes, name.start), found, expected));
                }
                self.assembler.name(row, &name.text);
                named = true;
            }
        }
        Ok(named)
    }
}

struct Sink<'a> {
    out: Lined<'a>,
    has_time: bool,
    first: bool,
}

impl RowSink for Sink<'_> {
    fn write(&mut self, row: &Row) -> Result<(), TraceError> {
        let (name, fields) = parts(row, self.has_time, "csrv-block")?;
        if !std::mem::take(&mut self.first) {
            self.out.end()?;
        }
        push_cell(&mut self.out.line, one_line(row, name, "csrv-block")?, b"=");
        self.out.end()?;
        for (field, value) in &fields {
            push_cell(&mut self.out.line, one_line(row, field, "csrv-block")?, b"=");
            self.out.line.push_str(" =");
            if let Some(value) = value {
                self.out.line.push(' ');
                push_cell(&mut self.out.line, one_line(row, value, "csrv-block")?, b"");
            }
            self.out.end()?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        self.out.finish()
    }
}
