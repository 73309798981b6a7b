//! The register of an experiment: its values at up to 64 neighbouring positions, those of one word of the columns.

use crate::cell::{Cell, Maybe};
use std::rc::Rc;
use tw_core::Position;
use tw_monitor::Term;

/// The positions of one word that belong to one segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    /// Index of the word.
    pub word: usize,
    /// Its lowest and highest position, as bits of the word.
    pub low: u32,
    pub high: u32,
    /// The bits from `low` to `high`.
    pub mask: u64,
    /// Whether `low` is the first position of the segment.
    pub first: bool,
    /// Whether `high` is its last.
    pub last: bool,
}

impl Chunk {
    /// The chunk of the positions from `start` to before `end` that holds the last of them.
    pub(crate) fn last_of(start: Position, end: Position, last: bool) -> Self {
        let word = (end - 1) / 64;
        let (from, high) = (start.max(word * 64), ((end - 1) % 64) as u32);
        let low = (from % 64) as u32;
        let mask = (u64::MAX >> (63 - high)) & (u64::MAX << low);
        Chunk { word, low, high, mask, first: from == start, last }
    }

    /// The first position of its word, in the chunk or not.
    pub(crate) fn base(self) -> Position {
        self.word * 64
    }
}

/// The set bits of a word, highest first.
pub(crate) fn descending(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let bit = 63 - word.leading_zeros();
            word &= !(1 << bit);
            bit
        })
    })
}

/// Values of an experiment.
#[derive(Debug)]
pub(crate) struct Block {
    /// Where there is a value, and where an error; never both.
    pub some: u64,
    pub errors: u64,
    cells: Box<[Cell]>,
    messages: Vec<(u32, Rc<str>)>,
}

impl Block {
    pub(crate) fn new() -> Self {
        Self { some: 0, errors: 0, cells: vec![Cell::True; 64].into(), messages: Vec::new() }
    }

    pub(crate) fn clear(&mut self) {
        (self.some, self.errors) = (0, 0);
        self.messages.clear();
    }

    #[inline]
    pub(crate) fn put(&mut self, bit: u32, cell: Cell) {
        self.some |= 1 << bit;
        self.cells[bit as usize & 63] = cell;
    }

    pub(crate) fn fail(&mut self, bit: u32, message: Rc<str>) {
        self.errors |= 1 << bit;
        self.messages.push((bit, message));
    }

    #[inline]
    pub(crate) fn set(&mut self, bit: u32, value: Maybe) {
        match value {
            Maybe::None => {}
            Maybe::Some(cell) => self.put(bit, cell),
            Maybe::Error(message) => self.fail(bit, message),
        }
    }

    /// Copies the errors of `from` that are in `mask`.
    pub(crate) fn fail_as(&mut self, from: &View<'_>, mask: u64) {
        for bit in descending(from.errors & mask) {
            self.fail(bit, from.message(bit));
        }
    }

    /// The values of a term where they are wanted.
    pub(crate) fn load(&mut self, number: u32, terms: &[Term], chunk: Chunk, wanted: u64) {
        use tw_core::{Column, Value};
        let term = &terms[number as usize];
        let base = chunk.base();
        match &term.column {
            Column::Int { values, valid } => {
                let there = wanted & valid.words()[chunk.word];
                descending(there).for_each(|bit| self.put(bit, Cell::Int(values[base + bit as usize])));
            }
            Column::Real { values, valid } => {
                let there = wanted & valid.words()[chunk.word];
                descending(there).for_each(|bit| self.put(bit, Cell::Real(values[base + bit as usize])));
            }
            Column::Text { valid, .. } => {
                let there = wanted & valid.words()[chunk.word];
                descending(there).for_each(|bit| self.put(bit, Cell::Term(number, base + bit as usize)));
            }
            Column::Truth(_) | Column::Words(_) | Column::Tuples(_) => {
                descending(wanted).for_each(|bit| self.put(bit, Cell::Term(number, base + bit as usize)));
            }
            Column::Any(values) => {
                for bit in descending(wanted) {
                    let at = base + bit as usize;
                    match &values[at] {
                        Value::Null => {}
                        Value::Bool(true) => self.put(bit, Cell::True),
                        Value::Int(int) => self.put(bit, Cell::Int(*int)),
                        Value::Real(real) => self.put(bit, Cell::Real(*real)),
                        _ => self.put(bit, Cell::Term(number, at)),
                    }
                }
            }
        }
        if !term.errors.is_empty() {
            let from = term.errors.partition_point(|(at, _)| *at < base);
            for (at, message) in term.errors[from..].iter().take_while(|(at, _)| *at < base + 64) {
                let bit = (at - base) as u32;
                if wanted >> bit & 1 == 1 {
                    self.some &= !(1 << bit);
                    self.fail(bit, message.as_str().into());
                }
            }
        }
    }

    /// The register as an operand.
    pub(crate) fn view(&self) -> View<'_> {
        View { some: self.some, errors: self.errors, cells: &self.cells, messages: &self.messages }
    }
}

/// An operand: an experiment, or a formula, which is `true` where it holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'b> {
    pub some: u64,
    pub errors: u64,
    /// Empty for a formula.
    cells: &'b [Cell],
    messages: &'b [(u32, Rc<str>)],
}

impl<'b> View<'b> {
    pub(crate) fn truth(word: u64) -> Self {
        View { some: word, errors: 0, cells: &[], messages: &[] }
    }

    #[inline]
    pub(crate) fn cell(&self, bit: u32) -> &'b Cell {
        const TRUE: &Cell = &Cell::True;
        self.cells.get(bit as usize).unwrap_or(TRUE)
    }

    pub(crate) fn message(&self, bit: u32) -> Rc<str> {
        let found = self.messages.iter().find(|(at, _)| *at == bit);
        found.map_or_else(|| "".into(), |(_, message)| message.clone())
    }

    /// What is at a position.
    #[inline]
    pub(crate) fn at(&self, bit: u32) -> Maybe {
        if self.some >> bit & 1 == 1 {
            Maybe::Some(self.cell(bit).clone())
        } else if self.errors >> bit & 1 == 1 {
            Maybe::Error(self.message(bit))
        } else {
            Maybe::None
        }
    }
}
