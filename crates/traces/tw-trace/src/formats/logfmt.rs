//! `logfmt`: `key=value` pairs, `key="a value with blanks"`; a key alone is true.
//!
//! ```text
//! time=2024-05-01T12:00:00Z level=info msg="request done" status=200 cached
//! ```

use super::line::Lines;
use super::text::{self, LineFormat, Source, With};
use crate::{
    Arguments, Bytes, Event, FastPath, FormatCard, Likeness, Outline, Projection, ReadOptions, Reading, Row,
    TraceError, TraceErrorKind, TraceFormat, Writing, quote,
};
use std::borrow::Cow;
use std::io::Write;
use tw_core::Value;

/// The format.
pub struct Logfmt;

impl TraceFormat for Logfmt {
    fn card(&self) -> FormatCard {
        FormatCard {
            name: "logfmt",
            extensions: &["logfmt"],
            about: "pairs `key=value` in each line; keys `time` and `event` as in csv",
            open_vocabulary: false,
        }
    }

    fn rows<'a>(&self, input: Bytes<'a>, options: &ReadOptions) -> Reading<'a> {
        Ok(Box::new(Source::new(Lines::new(input, options), &Logfmt, options)))
    }

    fn blocks(&self, _head: &[u8], projection: &Projection, options: &ReadOptions) -> FastPath {
        text::Reader::start(&Logfmt, projection, options)
    }

    fn resolves_years(&self) -> bool {
        true
    }

    fn writer<'a>(&self, out: Box<dyn Write + 'a>, _outline: Outline<'_>) -> Writing<'a> {
        text::writer(out, "logfmt")
    }

    fn look(&self, head: &[u8]) -> Likeness {
        let (mut lines, mut good) = (0, 0);
        for line in crate::look::lines(head).filter_map(|line| std::str::from_utf8(line).ok()) {
            lines += 1;
            let all: Result<Vec<_>, _> = Pairs(line).collect();
            // At least two pairs, and nothing else.
            good += usize::from(
                all.is_ok_and(|all| all.len() > 1 && all.iter().all(|(_, value)| value.is_some())),
            );
        }
        if lines > 0 && good * 10 >= lines * 8 { Likeness::Sure } else { Likeness::No }
    }
}

/// The pairs of what is left of a line.
struct Pairs<'l>(&'l str);

type Pair<'l> = (&'l str, Option<Cow<'l, str>>);

impl<'l> Iterator for Pairs<'l> {
    type Item = Result<Pair<'l>, (&'l str, &'static str)>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.0.trim_start_matches([' ', '\t']);
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(['=', ' ', '\t']).unwrap_or(rest.len());
        let key = &rest[..end];
        if key.is_empty() || key.contains('"') {
            self.0 = "";
            return Some(Err((rest, "a key, as in `key=value`")));
        }
        let Some(value) = rest[end..].strip_prefix('=') else {
            self.0 = &rest[end..];
            return Some(Ok((key, None)));
        };
        if !value.starts_with('"') {
            let end = value.find([' ', '\t']).unwrap_or(value.len());
            self.0 = &value[end..];
            return Some(Ok((key, Some(Cow::Borrowed(&value[..end])))));
        }
        let bytes = value.as_bytes();
        let mut at = 1;
        while at < bytes.len() && bytes[at] != b'"' {
            at += 1 + usize::from(bytes[at] == b'\\');
        }
        if at >= bytes.len() {
            self.0 = "";
            return Some(Err((value, "a closing quote")));
        }
        self.0 = &value[at + 1..];
        let plain = &value[1..at];
        let text = match plain.contains('\\') {
            true => Cow::Owned(unescape(plain)),
            false => Cow::Borrowed(plain),
        };
        Some(Ok((key, Some(text))))
    }
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some(other) => out.push(other),
                None => out.push('\\'),
            },
            other => out.push(other),
        }
    }
    out
}

impl LineFormat for Logfmt {
    fn fields(&self, line: &str, row: &mut Row, with: &mut With) -> Result<(), TraceError> {
        let time = with.options.time.clone();
        let time = time.as_deref().unwrap_or("time");
        let event = with.options.event.clone();
        let event = event.as_deref().unwrap_or("event");
        let most = with.options.max_columns;
        for pair in Pairs(line) {
            let (key, value) = pair.map_err(|(found, expected)| {
                TraceError::syntax(row.line, With::place(line, found), quote(found), expected)
            })?;
            let value = value.unwrap_or(Cow::Borrowed("true"));
            if row.variables.len() > most {
                return Err(super::line::too_many(most, "keys", row.line));
            }
            if key == time && !value.is_empty() {
                let place = With::place(line, key);
                let (stamps, calendar) = (with.options.stamps(), &mut *with);
                let stamp = super::line::stamp_at(&value, stamps, row.line, place)?;
                let has_year = stamps.form.is_none_or(|form| form.has_year);
                let style = stamp.style;
                row.time = Some(match has_year {
                    true => stamp,
                    false => crate::Stamp { style, ..calendar.stamp(false, stamp.time, row, place)? },
                });
                continue;
            }
            if key == event && !value.is_empty() {
                row.events.push(Event { name: with.names.get(&value), arguments: Arguments::OfRow });
                continue;
            }
            let name = with.names.get(key);
            let own_text = row.variables.first_mut().filter(|(first, _)| **first == *key && key == "text");
            let text = if value.is_empty() { Value::Null } else { Value::text(&value) };
            if let Some((_, whole)) = own_text {
                // A key of that name is what its writer meant.
                *whole = text;
                continue;
            }
            if row.variables.iter().any(|(known, _)| **known == *key) {
                let message =
                    format!("found the key {} for the second time in one line, expected it once", quote(key));
                return Err(
                    TraceError::new(TraceErrorKind::Syntax, message).at(row.line, With::place(line, key))
                );
            }
            row.variables.push((name, text));
        }
        // Keys have no blanks, so a name that has some lists them.
        if row.time.is_none()
            && let Some(place) = crate::TimePlace::of(time)
        {
            let stamps = with.options.stamps();
            let stamp = place
                .stamp(row, stamps)
                .map_err(|message| TraceError::new(TraceErrorKind::Time, message).at(row.line, 1))?;
            place.take_out(row);
            let has_year = stamps.form.is_none_or(|form| form.has_year);
            row.time = match stamp {
                Some(stamp) if !has_year => {
                    Some(crate::Stamp { style: stamp.style, ..with.stamp(false, stamp.time, row, 1)? })
                }
                other => other,
            };
        }
        Ok(())
    }

    fn continues(&self) -> bool {
        false
    }

    fn names(&self) -> &'static [&'static str] {
        &[]
    }
}
