//! Positions that wait for earlier ones, with `sort`: what the monitor reads of each, ordered by time, then by arrival.

use super::queries::Read;
use super::state::{number, number_out, signed, signed_out};
use crate::run::beside::Beside;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};
use tw_core::{Position, Time};

/// Lines of positions kept, for those who ask later.
const KEPT: usize = 4096;

/// One of them.
pub(super) struct Waiting {
    pub time: Time,
    ordinal: u64,
    /// From 1; 0 is not known.
    pub line: u64,
    /// Atoms, 64 to a word.
    pub atoms: Vec<u64>,
    /// What the monitor reads beside them.
    pub beside: Option<Beside>,
    /// What queries read of it.
    pub read: Option<Read>,
    /// What monitors read of it.
    pub monitors: Option<Beside>,
}

/// What is read of a position beside its atoms: by properties, by queries and by monitors.
pub(super) type Also = (Option<Beside>, Option<Read>, Option<Beside>);

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    // The earliest is the greatest, as the heap wants it.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.time, other.ordinal).cmp(&(self.time, self.ordinal))
    }
}

impl Waiting {
    fn bytes(&self) -> usize {
        self.beside.iter().chain(&self.monitors).map(Beside::heap_bytes).sum()
    }
}

/// All of them.
#[derive(Default)]
pub(super) struct Sorter {
    waiting: BinaryHeap<Waiting>,
    ordinal: u64,
    /// Words of each position.
    width: usize,
    /// Whether properties read more of them, and whether monitors do.
    more: (bool, bool),
    /// Bytes of what is read more.
    bytes: usize,
    /// Lines of the positions handed out last, and how many positions were handed out.
    lines: VecDeque<u64>,
    out: u64,
}

impl Sorter {
    pub fn new(width: usize, more: (bool, bool)) -> Self {
        Self { width, more, ..Self::default() }
    }

    pub fn push(&mut self, time: Time, line: u64, atoms: Vec<u64>, (beside, read, monitors): Also) {
        let next = Waiting { time, ordinal: self.ordinal, line, atoms, beside, read, monitors };
        self.bytes += next.bytes();
        self.waiting.push(next);
        self.ordinal += 1;
    }

    /// The next position that none can come before any more: up to this time, or any at the end.
    pub fn pop(&mut self, up_to: Option<Time>) -> Option<Waiting> {
        let first = self.waiting.peek()?;
        if up_to.is_some_and(|up_to| first.time > up_to) {
            return None;
        }
        let next = self.waiting.pop()?;
        self.bytes -= next.bytes();
        if self.lines.len() == KEPT {
            self.lines.pop_front();
        }
        self.lines.push_back(next.line);
        self.out += 1;
        Some(next)
    }

    /// The line of a position that was handed out, if it is known.
    pub fn line(&self, position: Position) -> Option<u64> {
        let first = self.out - self.lines.len() as u64;
        let index = (position as u64).checked_sub(first)?;
        self.lines.get(index as usize).copied().filter(|&line| line > 0)
    }

    /// Bytes held, about.
    pub fn heap_bytes(&self) -> usize {
        self.waiting.len() * (size_of::<Waiting>() + self.width * 8) + self.bytes
    }

    pub fn save(&self, out: &mut Vec<u8>) {
        number_out(self.ordinal, out);
        number_out(self.out, out);
        number_out(self.waiting.len() as u64, out);
        for row in &self.waiting {
            signed_out(row.time, out);
            number_out(row.ordinal, out);
            number_out(row.line, out);
            row.atoms.iter().for_each(|&word| number_out(word, out));
            row.beside.iter().chain(&row.monitors).for_each(|beside| beside.save(out));
        }
    }

    pub fn load(&mut self, from: &mut &[u8]) -> Result<(), String> {
        (self.ordinal, self.out) = (number(from)?, number(from)?);
        for _ in 0..number(from)? {
            let time = signed(from)?;
            let (ordinal, line) = (number(from)?, number(from)?);
            let atoms = (0..self.width).map(|_| number(from)).collect::<Result<_, _>>()?;
            let mut load = |more: bool| more.then(|| Beside::load(from)).transpose();
            let beside = load(self.more.0).map_err(|corrupt| corrupt.0)?;
            let monitors = load(self.more.1).map_err(|corrupt| corrupt.0)?;
            let waiting = Waiting { time, ordinal, line, atoms, beside, read: None, monitors };
            self.bytes += waiting.bytes();
            self.waiting.push(waiting);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_comes_first_and_equals_as_they_came() {
        let mut sorter = Sorter::new(1, (false, false));
        for (line, time) in [5, 3, 4, 3, 9].into_iter().enumerate() {
            sorter.push(time, line as u64 + 1, vec![line as u64], (None, None, None));
        }
        let mut saved = Vec::new();
        sorter.save(&mut saved);
        let mut again = Sorter::new(1, (false, false));
        again.load(&mut saved.as_slice()).unwrap();
        for sorter in [&mut sorter, &mut again] {
            let lines: Vec<u64> = std::iter::from_fn(|| sorter.pop(Some(5)).map(|row| row.line)).collect();
            assert_eq!(lines, [2, 4, 3, 1]);
            assert_eq!((sorter.line(1), sorter.line(4)), (Some(4), None));
            assert_eq!(sorter.pop(None).map(|row| row.atoms), Some(vec![4]));
        }
    }
}
