//! Finding the timestamp of a line: near its start, at the word where lines of this trace have it.

use super::{Form, Found, KNOWN, Miss, is_epoch};
use std::sync::Arc;

/// Words of a line among which its timestamp may begin.
const WORDS: usize = 6;
/// Lines that are looked at to find out how timestamps are written.
const LINES: usize = 512;

/// How the lines of a trace write their timestamps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The form.
    pub form: &'static Form,
    /// The word at which it begins, from 0; `None` if that differs from line to line.
    pub word: Option<u8>,
    /// The first one.
    pub example: Arc<str>,
}

impl Eq for Form {}

impl PartialEq for Form {
    fn eq(&self, other: &Self) -> bool {
        self.pattern == other.pattern
    }
}

/// Where the first words of a line begin, behind opening brackets and quotes.
#[inline]
fn words(line: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let is_space = |byte: u8| matches!(byte, b' ' | b'\t' | b'|');
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < line.len() && is_space(line[at]) {
            at += 1;
        }
        let mut start = at;
        while at < line.len() && !is_space(line[at]) {
            at += 1;
        }
        if start == at {
            return None;
        }
        while start + 1 < at && matches!(line[start], b'[' | b'(' | b'<' | b'{' | b'"' | b'\'') {
            start += 1;
        }
        Some(start)
    })
    .take(WORDS)
}

/// Where the word of a number begins, from 1 on; brackets and quotes before it are part of it.
#[inline]
pub(super) fn skip_to_word(line: &[u8], number: usize) -> Option<usize> {
    let is_space = |byte: u8| matches!(byte, b' ' | b'\t' | b'|');
    let mut at = 0;
    while at < line.len() && is_space(line[at]) {
        at += 1;
    }
    for _ in 0..number {
        at += line[at..].iter().position(|&byte| is_space(byte))?;
        at += line[at..].iter().position(|&byte| !is_space(byte))?;
    }
    Some(at)
}

/// What a line has in the place of a timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A timestamp that begins at this byte.
    Stamp(usize, Found),
    /// None.
    Nothing,
    /// What looks like one, at these bytes, and is none of this trace.
    Wrong(usize, usize, Miss),
}

impl Written {
    /// How lines of a trace that begins with `head` write their timestamps, by `form` if that is given.
    pub(crate) fn find(head: &[u8], form: Option<&'static Form>) -> Option<Written> {
        let mut tally: Vec<Tally> = Vec::new();
        let mut lines = 0;
        for line in crate::look::all_lines(head).take(LINES) {
            lines += 1;
            for (word, start) in words(line).enumerate() {
                let here = &line[start..];
                let found = match form {
                    Some(form) => form.start(here).ok().map(|found| (form, found)),
                    None => any(here),
                };
                if let Some((form, found)) = found {
                    let example = &here[..found.len];
                    match tally.iter_mut().find(|one| one.form == form && one.word == word) {
                        Some(one) => one.lines += 1,
                        None => tally.push(Tally {
                            form,
                            word,
                            lines: 1,
                            first: lines,
                            example: example.to_vec(),
                        }),
                    }
                }
            }
        }
        // A number or date somewhere in the text of a few lines is no timestamp.
        let usual = |one: &&Tally| {
            form.is_some()
                || one.word == 0 && !is_epoch(one.form)
                || one.lines * 2 >= lines
                || !is_epoch(one.form) && one.lines > 1 && one.lines * 10 >= lines
        };
        let rank = |one: &Tally| {
            let dated = one.form.has_year && !is_epoch(one.form);
            // Of forms that are mixed, the first; of several in one line, one with a year.
            (one.lines, std::cmp::Reverse(one.first), dated, std::cmp::Reverse(one.word))
        };
        let best = tally.iter().filter(usual).max_by_key(|one| rank(one));
        let Some(best) = best else {
            let none = |form| Written { form, word: None, example: form.pattern.as_str().into() };
            return form.map(none);
        };
        // The same form at other words, in lines that have none here, means that words differ.
        let elsewhere: usize = tally
            .iter()
            .filter(|one| one.form == best.form && one.word != best.word)
            .map(|one| one.lines)
            .sum();
        let word = (elsewhere * 4 <= best.lines).then_some(best.word as u8);
        let example = String::from_utf8_lossy(&best.example).into();
        Some(Written { form: best.form, word, example })
    }

    /// Whether a line of `head` has a timestamp of a form.
    pub(crate) fn occurs(head: &[u8], form: &'static Form) -> bool {
        let any = Written { form, word: None, example: "".into() };
        crate::look::all_lines(head).any(|line| matches!(any.place(line), Place::Stamp(..)))
    }

    /// The timestamp of a line.
    pub(crate) fn place(&self, line: &[u8]) -> Place {
        let mut wrong = None;
        for (word, start) in words(line).enumerate() {
            if self.word.is_some_and(|wanted| word != usize::from(wanted)) {
                continue;
            }
            let here = &line[start..];
            match self.form.start(here) {
                Ok(found) => return Place::Stamp(start, found),
                Err(Miss::Other) => {
                    if self.word.is_some()
                        && !is_epoch(self.form)
                        && let Some((form, found)) = any(here)
                        && !is_epoch(form)
                    {
                        wrong = wrong.or(Some(Place::Wrong(start, found.len, Miss::Other)));
                    }
                }
                Err(miss) => {
                    let len = here.iter().position(|byte| matches!(byte, b']' | b'|')).unwrap_or(here.len());
                    wrong = wrong.or(Some(Place::Wrong(start, len.min(24), miss)));
                }
            }
        }
        wrong.unwrap_or(Place::Nothing)
    }

    /// Whether the line begins a record: it has a timestamp, or what looks like one.
    pub(crate) fn begins(&self, line: &[u8]) -> bool {
        self.place(line) != Place::Nothing
    }

    /// Where it stands, in words.
    pub fn whereabouts(&self) -> String {
        match self.word {
            Some(0) => "at the start of each line".into(),
            Some(word) => format!("at word {} of each line", word + 1),
            None => "near the start of each line".into(),
        }
    }
}

struct Tally {
    form: &'static Form,
    word: usize,
    lines: usize,
    /// The first line that has it.
    first: usize,
    example: Vec<u8>,
}

/// A timestamp of any known form at the start of a text.
fn any(text: &[u8]) -> Option<(&'static Form, Found)> {
    let first = *text.first()?;
    if !first.is_ascii_alphanumeric() {
        return None;
    }
    let read = |form: &&'static Form| {
        if !form.begins_with(first) {
            return None;
        }
        form.start(text).ok().map(|found| (*form, found))
    };
    KNOWN.iter().find_map(read)
}
