//! `combined`: access logs of Apache and nginx, with or without the two last fields.
//!
//! ```text
//! 10.0.0.9 - bob [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 2326 "http://from.example/" "agent"
//! ```

use super::line::Lines;
use super::text::{self, LineFormat, Source, With, push};
use crate::{
    Bytes, FastPath, Form, FormatCard, Likeness, Outline, Projection, ReadOptions, Reading, Row, TraceError,
    TraceErrorKind, TraceFormat, Writing, quote,
};
use std::borrow::Cow;
use std::io::Write;

/// The format.
pub struct Combined;

const FORM: &str = "%d/%b/%Y:%H:%M:%S%.f%?z";

impl TraceFormat for Combined {
    fn card(&self) -> FormatCard {
        FormatCard {
            name: "combined",
            extensions: &[],
            about: "access logs of web servers: host, user, request, status, bytes, referer, agent",
            open_vocabulary: false,
        }
    }

    fn rows<'a>(&self, input: Bytes<'a>, options: &ReadOptions) -> Reading<'a> {
        Ok(Box::new(Source::new(Lines::new(input, options), &Combined, options)))
    }

    fn blocks(&self, _head: &[u8], projection: &Projection, options: &ReadOptions) -> FastPath {
        text::Reader::start(&Combined, projection, options)
    }

    fn resolves_years(&self) -> bool {
        true
    }

    fn writer<'a>(&self, out: Box<dyn Write + 'a>, _outline: Outline<'_>) -> Writing<'a> {
        text::writer(out, "combined")
    }

    fn look(&self, head: &[u8]) -> Likeness {
        let (mut lines, mut good) = (0, 0);
        for line in crate::look::lines(head) {
            lines += 1;
            let parsed = std::str::from_utf8(line).ok().and_then(|line| Access::parse(line).ok());
            good += usize::from(parsed.is_some());
        }
        if good * 2 > lines { Likeness::Sure } else { Likeness::No }
    }
}

/// The pieces of a line.
struct Access<'l> {
    plain: [&'l str; 3],
    time: &'l str,
    request: Cow<'l, str>,
    numbers: [&'l str; 2],
    quoted: [Option<Cow<'l, str>>; 2],
}

impl<'l> Access<'l> {
    /// `Err` is where the line differs, and what was expected there.
    fn parse(line: &'l str) -> Result<Self, (&'l str, &'static str)> {
        let mut rest = line;
        let mut word = |expected| {
            let (word, after) = rest.split_once(' ').ok_or((rest, expected))?;
            rest = after;
            if word.is_empty() { Err((rest, expected)) } else { Ok(word) }
        };
        let plain = [word("a host")?, word("an identity or `-`")?, word("a user or `-`")?];
        let (mut user, mut rest) = (plain[2], rest);
        // Users may have blanks in their names.
        while !rest.starts_with('[') {
            let (_, after) = rest.split_once(' ').ok_or((rest, "a time in brackets"))?;
            let from = user.as_ptr() as usize - line.as_ptr() as usize;
            user = &line[from..after.as_ptr() as usize - line.as_ptr() as usize - 1];
            rest = after;
        }
        let (time, after) = rest[1..].split_once("] ").ok_or((rest, "a time in brackets"))?;
        let (request, after) = quoted(after, "a request in quotes")?;
        let after = after.strip_prefix(' ').ok_or((after, "a status"))?;
        let (status, after) = after.split_once(' ').ok_or((after, "a status and a number of bytes"))?;
        let (bytes, mut after) = after.split_once(' ').unwrap_or((after, ""));
        let is_number =
            |text: &str| text == "-" || !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !is_number(status) {
            return Err((status, "a status"));
        }
        if !is_number(bytes) {
            return Err((bytes, "a number of bytes or `-`"));
        }
        let mut more = [None, None];
        for field in &mut more {
            if after.starts_with('"') {
                let (text, left) = quoted(after, "a field in quotes")?;
                *field = Some(text);
                after = left.strip_prefix(' ').unwrap_or(left);
            }
        }
        Ok(Self { plain: [plain[0], plain[1], user], time, request, numbers: [status, bytes], quoted: more })
    }
}

/// The text in quotes that `text` begins with, and what follows it.
fn quoted<'l>(
    text: &'l str,
    expected: &'static str,
) -> Result<(Cow<'l, str>, &'l str), (&'l str, &'static str)> {
    let inner = text.strip_prefix('"').ok_or((text, expected))?;
    let bytes = inner.as_bytes();
    let mut at = 0;
    while at < bytes.len() && bytes[at] != b'"' {
        at += 1 + usize::from(bytes[at] == b'\\');
    }
    if at >= bytes.len() {
        return Err((text, expected));
    }
    let found = &inner[..at];
    let plain = match found.contains('\\') {
        true => Cow::Owned(found.replace("\\\"", "\"").replace("\\\\", "\\")),
        false => Cow::Borrowed(found),
    };
    Ok((plain, &inner[at + 1..]))
}

impl LineFormat for Combined {
    fn fields(&self, line: &str, row: &mut Row, with: &mut With) -> Result<(), TraceError> {
        let access = Access::parse(line).map_err(|(found, expected)| {
            let shown = if found.is_empty() { "the end of the line".to_string() } else { quote(found) };
            TraceError::syntax(row.line, With::place(line, found), shown, expected)
        })?;
        let form = with.options.form.map_or_else(|| Form::of(FORM), Ok);
        let time = form.ok().and_then(|form| Some((form.has_year, form.whole(access.time.as_bytes()).ok()?)));
        let (has_year, time) = time.ok_or_else(|| {
            let message =
                format!("found {}, expected a time like `10/Oct/2000:13:55:36 -0700`", quote(access.time));
            TraceError::new(TraceErrorKind::Time, message).at(row.line, With::place(line, access.time))
        })?;
        row.time = Some(with.stamp(has_year, time, row, 1)?);
        for (name, value) in ["host", "ident", "user"].into_iter().zip(access.plain) {
            push(row, with, name, value);
        }
        let mut request = access.request.splitn(2, ' ');
        let method = request.next().unwrap_or_default();
        // What is no request at all (`-`, bytes of another protocol) is all path.
        let (method, path, protocol) = match request.next() {
            None => ("", method, ""),
            Some(rest) => match rest.rsplit_once(' ') {
                Some((path, protocol)) if protocol.starts_with("HTTP/") => (method, path, protocol),
                _ => (method, rest, ""),
            },
        };
        for (name, value) in [("method", method), ("path", path), ("protocol", protocol)] {
            push(row, with, name, value);
        }
        for (name, value) in ["status", "bytes"].into_iter().zip(access.numbers) {
            push(row, with, name, value);
        }
        for (name, value) in ["referer", "agent"].into_iter().zip(&access.quoted) {
            push(row, with, name, value.as_deref().unwrap_or_default());
        }
        Ok(())
    }

    fn continues(&self) -> bool {
        false
    }

    fn names(&self) -> &'static [&'static str] {
        &["host", "ident", "user", "method", "path", "protocol", "status", "bytes", "referer", "agent"]
    }
}
