//! `csrv-csv`: one line `name, field = value, field = value` per event, every line naming its own fields.
//!
//! A name, field or value may stand in double quotes, with `""` for a quote inside; bare ones end at the comma (the field
//! at `=`) and are trimmed. Blank lines are skipped.

use super::csrv::{Assembler, FIELD, one_line, parts};
use super::fields::{Cell, cell, is_blank, push_cell, skip_blank};
use super::line::{Lines, column};
use super::writing::Lined;
use crate::{
    Bytes, FormatCard, Outline, ReadOptions, Reading, Row, RowSink, RowSource, TraceError, TraceFormat,
    Writing, quote,
};
use std::io::Write;

/// The format.
pub struct CsrvCsv;

impl TraceFormat for CsrvCsv {
    fn card(&self) -> FormatCard {
        FormatCard {
            name: "csrv-csv",
            extensions: &[],
            about: "competition form: one event per line, name, field = value, …",
            open_vocabulary: true,
        }
    }

    fn rows<'a>(&self, input: Bytes<'a>, options: &ReadOptions) -> Reading<'a> {
        Ok(Box::new(Source { lines: Lines::new(input, options), assembler: Assembler::new(options) }))
    }

    fn writer<'a>(&self, out: Box<dyn Write + 'a>, outline: Outline<'_>) -> Writing<'a> {
        Ok(Box::new(Sink { out: Lined::new(out), has_time: outline.has_time }))
    }
}

struct Source<'a> {
    lines: Lines<'a>,
    assembler: Assembler,
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
        let bytes = line.as_bytes();
        self.assembler.begin(row, number);
        let name = cell(line, number, 0, Some(b','))?;
        if name.text.is_empty() || (!name.quoted && name.text.contains('=')) {
            let found = if name.text.is_empty() { "nothing".to_string() } else { quote(&name.text) };
            return Err(TraceError::syntax(number, column(bytes, name.start), found, "an event name"));
        }
        self.assembler.name(row, &name.text);
        let mut at = name.end;
        while at < line.len() {
            let field = cell_before_equals(line, number, at + 1)?;
            let value = cell(line, number, field.end + 1, Some(b','))?;
            at = value.end;
            let place = (number, column(bytes, value.start + usize::from(value.quoted)));
            self.assembler.field(row, &field.text, value.value(), place)?;
        }
        Ok(true)
    }
}

/// The field name from `from` up to its `=`, which must come before the next comma.
fn cell_before_equals(line: &str, number: u64, from: usize) -> Result<Cell<'_>, TraceError> {
    match cell(line, number, from, Some(b'=')) {
        Ok(field)
            if field.end < line.len()
                && !field.text.is_empty()
                && (field.quoted || !field.text.contains(',')) =>
        {
            Ok(field)
        }
        _ => {
            let start = skip_blank(line.as_bytes(), from);
            let end = cell(line, number, from, Some(b',')).map_or(line.len(), |cell| cell.end);
            let text = line[start..end].trim_end_matches([' ', '\t']);
            let found = if text.is_empty() { "nothing".to_string() } else { quote(text) };
            Err(TraceError::syntax(number, column(line.as_bytes(), start), found, FIELD))
        }
    }
}

struct Sink<'a> {
    out: Lined<'a>,
    has_time: bool,
}

impl RowSink for Sink<'_> {
    fn write(&mut self, row: &Row) -> Result<(), TraceError> {
        let (name, fields) = parts(row, self.has_time, "csrv-csv")?;
        let line = &mut self.out.line;
        push_cell(line, one_line(row, name, "csrv-csv")?, b",=");
        for (field, value) in &fields {
            line.push_str(", ");
            push_cell(line, one_line(row, field, "csrv-csv")?, b",=");
            line.push_str(" =");
            if let Some(value) = value {
                line.push(' ');
                push_cell(line, one_line(row, value, "csrv-csv")?, b",");
            }
        }
        self.out.end()
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        self.out.finish()
    }
}
