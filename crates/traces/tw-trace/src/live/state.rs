//! What another process needs to read on where this one stopped.
//!
//! By blocks: the beginning of the stream (a header, whether records have timestamps), how far it was read, the last
//! timestamp and the names seen. A row source keeps state of its own, so a stream that is read by rows is read again
//! from its start, and the positions that were delivered are left out.

use super::{Blocks, Live, Mode, Order, Progress};
use crate::{Calendar, Form, ReadOptions, TraceError, Vocabulary, Written};
use std::collections::BTreeSet;
use std::sync::Arc;
use tw_core::codec::{Corrupt, put_word, take_byte, take_part, take_word};
use tw_core::{Time, TimeUnit};

/// What was saved cannot be read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(pub String);

impl From<TraceError> for Unreadable {
    fn from(error: TraceError) -> Self {
        Unreadable(error.to_string())
    }
}

impl From<Corrupt> for Unreadable {
    fn from(corrupt: Corrupt) -> Self {
        Unreadable(corrupt.0)
    }
}

impl Live {
    /// Whether what follows [`Progress::bytes`] is enough to read on; otherwise the stream is needed from its start.
    pub fn reads_on(&self) -> bool {
        !matches!(self.mode, Mode::Rows(..))
    }

    /// Appends what [`Live::restore`] needs.
    pub fn save(&self, out: &mut Vec<u8>) {
        let Progress { positions, bytes, lines } = self.progress;
        for number in [positions, bytes, lines] {
            put_word(number, out);
        }
        bytes_out(&self.tail, out);
        if let Some(derivation) = &self.derivation {
            out.extend(derivation.matched().into_iter().map(u8::from));
        }
        out.push(self.options.numbers.map_or(0, unit_number));
        forms_out(&self.options, out);
        match &self.mode {
            Mode::Start => out.push(0),
            Mode::Rows(..) => out.push(1),
            Mode::Blocks(blocks) => {
                out.push(2);
                bytes_out(&blocks.head, out);
                put_word(self.order.previous.map_or(0, |time| time as u64), out);
                out.push(u8::from(self.order.previous.is_some()));
                out.push(self.order.timed.map_or(2, u8::from));
                out.push(u8::from(self.header_again));
                vocabulary_out(&blocks.reader.seen(), out);
            }
        }
    }

    /// How much had been read, of what [`Live::save`] wrote.
    pub fn progress_of(mut saved: &[u8]) -> Result<Progress, Unreadable> {
        let from = &mut saved;
        Ok(Progress { positions: take_word(from)?, bytes: take_word(from)?, lines: take_word(from)? })
    }

    /// Continues from what [`Live::save`] wrote for a stream of the same format and options. What is pushed next are
    /// the bytes that follow, or all of them again unless [`Live::reads_on`].
    pub fn restore(&mut self, from: &mut &[u8]) -> Result<(), Unreadable> {
        let mut numbers = [0; 3];
        for number in &mut numbers {
            *number = take_word(from)?;
        }
        let [positions, bytes, lines] = numbers;
        let tail = bytes_in(from)?.to_vec();
        if let Some(derivation) = &self.derivation {
            let matched = take_part(derivation.matched().len(), from)?;
            derivation.note_matched(matched.iter().map(|&flag| flag == 1));
        }
        if let (number @ 1.., None) = (take_byte(from)?, self.options.numbers) {
            let unit = TimeUnit::ALL.get(usize::from(number) - 1);
            self.options.numbers = unit.map(|(_, unit)| *unit);
        }
        forms_in(&mut self.options, from)?;
        match take_byte(from)? {
            0 => {}
            1 => {
                self.repeated = positions;
                self.progress = Progress { positions, bytes: 0, lines: 0 };
                self.read_rows()?;
                return Ok(());
            }
            2 => {
                let head = bytes_in(from)?;
                let time = take_word(from)? as Time;
                let previous = (take_byte(from)? == 1).then_some(time);
                let timed = match take_byte(from)? {
                    0 => Some(false),
                    1 => Some(true),
                    _ => None,
                };
                self.order = Order { previous, timed };
                self.header_again = take_byte(from)? == 1;
                let seen = vocabulary_in(self.projection.slots.len(), from)?;
                let blocks = Blocks::new(self.format, head, &self.projection, &self.options)?;
                let lost = || Unreadable("the beginning of the stream cannot be read again".into());
                let blocks = blocks.ok_or_else(lost)?;
                blocks.reader.absorb(&seen);
                self.mode = Mode::Blocks(blocks);
            }
            other => return Err(Unreadable(format!("found a way of reading numbered {other}"))),
        }
        self.progress = Progress { positions, bytes, lines };
        self.tail = tail;
        Ok(())
    }
}

/// A unit as a byte that is not zero.
fn unit_number(unit: TimeUnit) -> u8 {
    TimeUnit::ALL.iter().position(|(_, other)| *other == unit).map_or(0, |at| at as u8 + 1)
}

/// How timestamps are written, as far as the stream showed it, and the year they have come to.
fn forms_out(options: &ReadOptions, out: &mut Vec<u8>) {
    let pattern = |form: Option<&'static Form>| form.map_or("", |form| form.pattern.as_str());
    bytes_out(pattern(options.form).as_bytes(), out);
    bytes_out(pattern(options.written.as_ref().map(|written| written.form)).as_bytes(), out);
    let written = options.written.as_ref();
    bytes_out(written.map_or("", |written| &written.example).as_bytes(), out);
    out.push(written.and_then(|written| written.word).map_or(u8::MAX, |word| word));
    out.push(options.calendar.map_or(0, |calendar| calendar.month));
    put_word(options.calendar.map_or(0, |calendar| calendar.year as u64), out);
}

fn forms_in(options: &mut ReadOptions, from: &mut &[u8]) -> Result<(), Unreadable> {
    let mut form = || -> Result<Option<&'static Form>, Unreadable> {
        let pattern = String::from_utf8_lossy(bytes_in(from)?).into_owned();
        if pattern.is_empty() { Ok(None) } else { Form::of(&pattern).map(Some).map_err(Unreadable) }
    };
    let (column, line) = (form()?, form()?);
    let example: Arc<str> = String::from_utf8_lossy(bytes_in(from)?).into();
    let word = Some(take_byte(from)?).filter(|word| *word != u8::MAX);
    let (month, year) = (take_byte(from)?, take_word(from)? as i64);
    options.form = column;
    options.written = line.map(|form| Written { form, word, example });
    options.calendar = (month > 0).then_some(Calendar { year, month });
    Ok(())
}

fn bytes_out(bytes: &[u8], out: &mut Vec<u8>) {
    put_word(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

fn bytes_in<'b>(from: &mut &'b [u8]) -> Result<&'b [u8], Unreadable> {
    let len = usize::try_from(take_word(from)?).unwrap_or(usize::MAX);
    Ok(take_part(len, from)?)
}

fn vocabulary_out(seen: &Vocabulary, out: &mut Vec<u8>) {
    for flags in [&seen.variable, &seen.event] {
        out.extend(flags.iter().map(|&flag| u8::from(flag)));
    }
    out.extend([u8::from(seen.key), u8::from(seen.has_events)]);
    put_word(seen.positions, out);
    for names in [&seen.variables, &seen.events] {
        put_word(names.len() as u64, out);
        names.iter().for_each(|name| bytes_out(name.as_bytes(), out));
    }
}

fn vocabulary_in(slots: usize, from: &mut &[u8]) -> Result<Vocabulary, Unreadable> {
    let mut seen = Vocabulary::new(slots);
    seen.variable = take_part(slots, from)?.iter().map(|&flag| flag == 1).collect();
    seen.event = take_part(slots, from)?.iter().map(|&flag| flag == 1).collect();
    (seen.key, seen.has_events) = (take_byte(from)? == 1, take_byte(from)? == 1);
    seen.positions = take_word(from)?;
    let mut names = || -> Result<BTreeSet<Arc<str>>, Unreadable> {
        let mut names = BTreeSet::new();
        for _ in 0..take_word(from)? {
            names.insert(String::from_utf8_lossy(bytes_in(from)?).into());
        }
        Ok(names)
    };
    (seen.variables, seen.events) = (names()?, names()?);
    Ok(seen)
}
