//! `syslog`: messages as RFC 5424 and RFC 3164 have them, and as daemons write them to files, without a priority.
//!
//! ```text
//! <165>1 2003-08-24T05:14:15.000003-07:00 host app 1234 ID47 [a@1 k="v"] message
//! <34>Oct 11 22:14:15 host su[77]: message
//! Oct 11 22:14:15 host su: message
//! ```
//!
//! `facility` and `severity` are the numbers of the priority. A line without a timestamp continues the line before it.

use super::line::Lines;
use super::text::{self, LineFormat, Source, With, push};
use crate::{
    Bytes, FastPath, Form, FormatCard, Likeness, Outline, Projection, ReadOptions, Reading, Row, TraceError,
    TraceFormat, Writing, Written,
};
use std::io::Write;

/// The format.
pub struct Syslog;

impl TraceFormat for Syslog {
    fn card(&self) -> FormatCard {
        FormatCard {
            name: "syslog",
            extensions: &[],
            about: "system logs (RFC 5424 and 3164): facility, severity, host, app, pid, msgid, message",
            open_vocabulary: false,
        }
    }

    fn rows<'a>(&self, input: Bytes<'a>, options: &ReadOptions) -> Reading<'a> {
        Ok(Box::new(Source::new(Lines::new(input, options), &Syslog, options)))
    }

    fn blocks(&self, _head: &[u8], projection: &Projection, options: &ReadOptions) -> FastPath {
        text::Reader::start(&Syslog, projection, options)
    }

    fn resolves_years(&self) -> bool {
        true
    }

    fn writer<'a>(&self, out: Box<dyn Write + 'a>, _outline: Outline<'_>) -> Writing<'a> {
        text::writer(out, "syslog")
    }

    fn look(&self, head: &[u8]) -> Likeness {
        let Some(written) = self.written(head, None).filter(|written| written.word == Some(0)) else {
            return Likeness::No;
        };
        let (mut lines, mut with_priority, mut tagged) = (0, 0, 0);
        for line in crate::look::lines(head).filter_map(|line| std::str::from_utf8(line).ok()) {
            let lead = Lead::of(line.as_bytes());
            let Some(rest) = behind_stamp(line, lead.len, &written) else { continue };
            lines += 1;
            with_priority += usize::from(lead.priority.is_some());
            let (host, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            tagged += usize::from(is_host(host) && tag(rest).is_some_and(|(app, ..)| is_app(app)));
        }
        match lines {
            0 => Likeness::No,
            _ if with_priority * 2 > lines => Likeness::Sure,
            _ if tagged * 5 >= lines * 4 => Likeness::Likely,
            _ => Likeness::No,
        }
    }

    fn written(&self, head: &[u8], form: Option<&'static Form>) -> Option<Written> {
        // What stands before the timestamp is no part of a line's words.
        let mut bare = Vec::new();
        for line in crate::look::all_lines(head) {
            bare.extend_from_slice(&line[Lead::of(line).len..]);
            bare.push(b'\n');
        }
        Written::find(&bare, form)
    }

    fn can_begin(&self, head: &[u8], options: &ReadOptions) -> bool {
        match options.given_form() {
            Some(form) => Written::occurs(head, form),
            None => self.written(head, None).is_some(),
        }
    }
}

/// What may stand before the timestamp: the priority, and the version of RFC 5424.
#[derive(Clone, Copy, Default)]
struct Lead {
    priority: Option<u32>,
    versioned: bool,
    len: usize,
}

impl Lead {
    fn of(line: &[u8]) -> Self {
        let digits = line.iter().skip(1).take_while(|byte| byte.is_ascii_digit()).count();
        if line.first() != Some(&b'<') || !(1..=3).contains(&digits) || line.get(digits + 1) != Some(&b'>') {
            return Self::default();
        }
        let priority = line[1..=digits].iter().fold(0, |all, byte| all * 10 + u32::from(byte - b'0'));
        let len = digits + 2;
        let versioned = line[len..].starts_with(b"1 ");
        Self { priority: Some(priority), versioned, len: len + 2 * usize::from(versioned) }
    }
}

/// What follows the timestamp of a line, behind a blank.
fn behind_stamp<'l>(line: &'l str, lead: usize, written: &Written) -> Option<&'l str> {
    let rest = line.get(lead..)?;
    match written.place(rest.as_bytes()) {
        crate::times::Place::Stamp(at, found) => Some(rest.get(at + found.len..)?.trim_start()),
        _ => None,
    }
}

fn is_host(word: &str) -> bool {
    !word.is_empty()
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:/%".contains(&byte))
        && !word.ends_with(':')
}

fn is_app(word: &str) -> bool {
    !word.is_empty() && word.len() <= 64 && !word.contains(['=', '"'])
}

/// Program, process and message of what follows the host, if there is a program.
fn tag(rest: &str) -> Option<(&str, &str, &str)> {
    let (tag, message) = rest.split_once(':')?;
    if tag.contains(' ') {
        return None;
    }
    let message = message.strip_prefix(' ').unwrap_or(message);
    match tag.strip_suffix(']').and_then(|tag| tag.rsplit_once('[')) {
        Some((app, pid)) => Some((app, pid, message)),
        None => Some((tag, "", message)),
    }
}

/// What follows the structured data that `rest` begins with.
fn behind_data(rest: &str) -> &str {
    if let Some(after) = rest.strip_prefix('-') {
        return after.strip_prefix(' ').unwrap_or(after);
    }
    let bytes = rest.as_bytes();
    let (mut at, mut open, mut text) = (0, false, false);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if text => at += 1,
            b'"' if open => text = !text,
            b'[' if !text => open = true,
            b']' if !text => open = false,
            b' ' if !open => break,
            _ if !open => return rest,
            _ => {}
        }
        at += 1;
    }
    rest.get(at + 1..).unwrap_or_default()
}

impl LineFormat for Syslog {
    fn fields(&self, line: &str, row: &mut Row, with: &mut With) -> Result<(), TraceError> {
        let lead = Lead::of(line.as_bytes());
        let number = |part: Option<u32>| part.map_or(String::new(), |part| part.to_string());
        push(row, with, "facility", &number(lead.priority.map(|priority| priority / 8)));
        push(row, with, "severity", &number(lead.priority.map(|priority| priority % 8)));
        let written = with.options.written.clone();
        let rest = written.and_then(|written| behind_stamp(line, lead.len, &written));
        let rest = rest.unwrap_or(&line[lead.len..]);
        let (host, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let (app, pid, msgid, message) = if lead.versioned {
            let mut words = rest.splitn(4, ' ');
            let mut word = || words.next().unwrap_or_default();
            let (app, pid, msgid) = (word(), word(), word());
            (app, pid, msgid, behind_data(word()).trim_start_matches('\u{feff}'))
        } else {
            let (app, pid, message) = tag(rest).unwrap_or(("", "", rest));
            (app, pid, "", message)
        };
        for (name, value) in [("host", host), ("app", app), ("pid", pid), ("msgid", msgid)] {
            push(row, with, name, value);
        }
        push(row, with, "message", message);
        Ok(())
    }

    fn lead(&self, line: &[u8]) -> usize {
        Lead::of(line).len
    }

    fn continues(&self) -> bool {
        true
    }

    fn names(&self) -> &'static [&'static str] {
        &["facility", "severity", "host", "app", "pid", "msgid", "message"]
    }
}
