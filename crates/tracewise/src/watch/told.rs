//! Lines that were told, as a run that resumes has to tell them again.

use super::state::{number, put_bytes, put_time, text, time};
use std::collections::BTreeMap;
use tw_core::codec::put;
use tw_core::codec::{put_value, take_value};
use tw_core::{Position, Time, Value};
use tw_monitor::{Bindings, Obligation, Settled};

/// A verdict that was told.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Told {
    pub root: usize,
    pub position: Position,
    pub holds: bool,
    pub line: Option<(u64, String)>,
    /// The time of that position, or to which time had come when that settled it.
    pub time: Option<Time>,
    /// What came due, if time settled it.
    pub due: Option<Obligation>,
    /// Where `G φ` failed first, of what was settled together.
    pub failure: Option<Failure>,
    /// How many positions were found to fail together.
    pub failures: u64,
    /// Whose trace it is about, where a stream holds several: names and values.
    pub key: Vec<(String, Value)>,
}

/// A position where φ of a property `G φ` is false.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Failure {
    pub position: Position,
    pub time: Option<Time>,
    pub line: Option<(u64, String)>,
    /// What quantified variables are there.
    pub bindings: Bindings,
}

/// Where and when something was settled.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    pub line: Option<(u64, String)>,
    pub time: Option<Time>,
    pub due: Option<Obligation>,
    /// Time and line of the earliest position that failed.
    pub failed: (Option<Time>, Option<(u64, String)>),
}

/// What was told of each property: its first line, and how many there were. That is all that is kept of the lines of a
/// stream, which may be millions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Record {
    /// First lines, in the order in which they were told.
    pub first: Vec<Told>,
    /// How many lines were told of each property (root) that has one.
    pub lines: BTreeMap<usize, u64>,
}

impl Record {
    /// Whether a line was told of a property.
    pub fn has(&self, root: usize) -> bool {
        self.lines.contains_key(&root)
    }

    /// A line is told.
    pub fn note(&mut self, told: Told) {
        let lines = self.lines.entry(told.root).or_default();
        *lines += 1;
        if *lines == 1 {
            self.first.push(told);
        }
    }

    /// How many lines were told in all.
    pub fn total(&self) -> u64 {
        self.lines.values().sum()
    }

    pub fn save(&self, out: &mut Vec<u8>) {
        put(self.first.len() as u64, out);
        for told in &self.first {
            told.save(out);
            put(self.lines.get(&told.root).copied().unwrap_or(1), out);
        }
    }

    pub fn load(from: &mut &[u8]) -> Result<Self, String> {
        let mut record = Self::default();
        for _ in 0..number(from)? {
            let told = Told::load(from)?;
            if record.lines.insert(told.root, number(from)?).is_some() {
                return Err("it has two first verdicts of a property".into());
            }
            record.first.push(told);
        }
        Ok(record)
    }
}

impl Told {
    fn save(&self, out: &mut Vec<u8>) {
        put(self.root as u64, out);
        put(self.position as u64, out);
        put(u64::from(self.holds), out);
        put_line(self.line.as_ref(), out);
        put_time(self.time, out);
        put(u64::from(self.due.is_some()), out);
        if let Some(due) = &self.due {
            put(due.since as u64, out);
            put_bytes(due.residual.as_bytes(), out);
            put_time(due.deadline, out);
            due.bindings.save(out);
        }
        put(u64::from(self.failure.is_some()), out);
        if let Some(failure) = &self.failure {
            put(failure.position as u64, out);
            put_time(failure.time, out);
            put_line(failure.line.as_ref(), out);
            failure.bindings.save(out);
        }
        put(self.failures, out);
        put(self.key.len() as u64, out);
        for (name, value) in &self.key {
            put_bytes(name.as_bytes(), out);
            put_value(value, out);
        }
    }

    fn load(from: &mut &[u8]) -> Result<Self, String> {
        let (root, position) = (number(from)? as usize, number(from)? as Position);
        let holds = number(from)? == 1;
        let (line, time) = (line(from)?, time(from)?);
        let due = match number(from)? {
            0 => None,
            _ => Some(due(root, from)?),
        };
        let failure = match number(from)? {
            0 => None,
            _ => Some(failure(from)?),
        };
        let (failures, mut key) = (number(from)?, Vec::new());
        for _ in 0..number(from)? {
            let name = text(from)?;
            key.push((name, take_value(from).map_err(|corrupt| corrupt.to_string())?));
        }
        Ok(Self { root, position, holds, line, time, due, failure, failures, key })
    }
}

fn put_line(line: Option<&(u64, String)>, out: &mut Vec<u8>) {
    put(line.map_or(0, |(line, _)| *line), out);
    put_bytes(line.map_or(b"", |(_, text)| text.as_bytes()), out);
}

fn line(from: &mut &[u8]) -> Result<Option<(u64, String)>, String> {
    let (line, words) = (number(from)?, text(from)?);
    Ok((line > 0).then_some((line, words)))
}

fn due(root: usize, from: &mut &[u8]) -> Result<Obligation, String> {
    let since = number(from)? as Position;
    let (residual, deadline) = (text(from)?, time(from)?);
    let bindings = Bindings::load(from).map_err(|corrupt| corrupt.to_string())?;
    Ok(Obligation { root, since, residual, deadline, bindings })
}

fn failure(from: &mut &[u8]) -> Result<Failure, String> {
    let (position, time, line) = (number(from)? as Position, time(from)?, line(from)?);
    let bindings = Bindings::load(from).map_err(|corrupt| corrupt.to_string())?;
    Ok(Failure { position, time, line, bindings })
}

/// The parts that one event, or one passing of time, settled of one property.
pub(super) fn together(settled: &[Settled]) -> impl Iterator<Item = &[Settled]> {
    settled.chunk_by(|a, b| (a.root, a.at) == (b.root, b.at))
}

/// The earliest position that failed, of what was settled together.
pub(super) fn earliest(group: &[Settled]) -> Option<&Settled> {
    group.iter().filter(|found| found.about.is_some() && found.fails()).min_by_key(|found| found.about)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_keeps_first_lines_and_counts_the_rest() {
        let mut record = Record::default();
        let told = |root, position| Told { root, position, ..Told::default() };
        for position in 0..1000 {
            record.note(told(1, position));
            record.note(told(0, position));
        }
        assert_eq!(record.first, [told(1, 0), told(0, 0)]);
        assert_eq!((record.total(), record.has(1), record.has(2)), (2000, true, false));
        let mut saved = Vec::new();
        record.save(&mut saved);
        let mut from = saved.as_slice();
        assert_eq!(Record::load(&mut from), Ok(record));
        assert!(from.is_empty());
        for cut in 0..saved.len() {
            assert!(Record::load(&mut &saved[..cut]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn what_one_event_settles_is_one_group() {
        let of = |root, about, at| Settled::truth(root, about, at, false);
        let settled =
            [of(0, None, 5), of(0, Some(4), 5), of(0, Some(2), 5), of(1, None, 5), of(0, Some(6), 6)];
        let groups: Vec<(usize, Option<usize>)> = together(&settled)
            .map(|group| (group.len(), earliest(group).and_then(|found| found.about)))
            .collect();
        assert_eq!(groups, [(3, Some(2)), (1, None), (1, Some(6))]);
    }
}
