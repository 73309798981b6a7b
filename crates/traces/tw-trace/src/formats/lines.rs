//! `lines`: plain text. A position is a line, its variable `text` is the line, and its timestamp is found near the start.
//!
//! ```text
//! 2015-10-18 18:01:47,978 ERROR request failed
//! java.io.IOException: closed
//!     at Socket.read(Socket.java:12)
//! 2015-10-18 18:01:48,112 INFO retrying
//! ```
//!
//! is two positions: a line without a timestamp, where others have one, continues the line before it, and is part of its
//! text. Lines before the first timestamp are skipped. Without any timestamps every line is a position.

use super::line::Lines;
use super::text::{self, LineFormat, Source, With};
use crate::{
    Bytes, FastPath, Form, FormatCard, Likeness, Outline, Projection, ReadOptions, Reading, Row, TraceError,
    TraceFormat, Writing, Written,
};
use std::io::Write;

/// The format.
pub struct PlainLines;

/// A stream of so many lines without a timestamp has none.
const UNSTAMPED: usize = 16;

impl TraceFormat for PlainLines {
    fn card(&self) -> FormatCard {
        FormatCard {
            name: "lines",
            extensions: &[],
            about: "plain text: the variable `text` is the line, its timestamp is found near the start",
            open_vocabulary: false,
        }
    }

    fn rows<'a>(&self, input: Bytes<'a>, options: &ReadOptions) -> Reading<'a> {
        Ok(Box::new(Source::new(Lines::new(input, options), &PlainLines, options)))
    }

    fn blocks(&self, _head: &[u8], projection: &Projection, options: &ReadOptions) -> FastPath {
        text::Reader::start(&PlainLines, projection, options)
    }

    fn resolves_years(&self) -> bool {
        true
    }

    fn writer<'a>(&self, out: Box<dyn Write + 'a>, _outline: Outline<'_>) -> Writing<'a> {
        text::writer(out, "lines")
    }

    fn look(&self, head: &[u8]) -> Likeness {
        // Bytes that are no text are no log; a line among others that is none is told of by its number. The last line may be cut.
        let whole = memchr::memrchr(b'\n', head).map_or(head, |end| &head[..end]);
        let is_text =
            |line: &[u8]| !line.iter().any(|&byte| byte < 9) && simdutf8::basic::from_utf8(line).is_ok();
        let (mut lines, mut texts) = (0, 0);
        for line in whole.split(|byte| *byte == b'\n') {
            lines += 1;
            texts += usize::from(is_text(line));
        }
        if texts * 4 >= lines * 3 { Likeness::Perhaps } else { Likeness::No }
    }

    fn written(&self, head: &[u8], form: Option<&'static Form>) -> Option<Written> {
        Written::find(head, form)
    }

    fn can_begin(&self, head: &[u8], options: &ReadOptions) -> bool {
        let stamped = match options.given_form() {
            Some(form) => Written::occurs(head, form),
            None => Written::find(head, None).is_some(),
        };
        stamped || crate::look::all_lines(head).count() >= UNSTAMPED
    }
}

impl LineFormat for PlainLines {
    fn fields(&self, _line: &str, row: &mut Row, _with: &mut With) -> Result<(), TraceError> {
        // The line is text, whatever it looks like.
        row.typed = true;
        Ok(())
    }

    fn continues(&self) -> bool {
        true
    }

    fn is_plain(&self) -> bool {
        true
    }

    fn names(&self) -> &'static [&'static str] {
        &[]
    }
}
