//! What a node has emitted and its readers have not taken yet.
//!
//! Entries stand at their positions: the first is at a multiple of 64, so that the words of all streams line up and
//! truth is combined word by word whatever the sizes of the chunks that the trace arrives in.

use std::sync::Arc;
use tw_core::Value;

/// What an experiment is worth at a position: a value, null for none, or why it cannot be computed.
pub(crate) type Cell = Result<Value, Arc<str>>;

/// Values in trace order, from which readers take in that order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stream {
    /// Position of the first entry, a multiple of 64.
    pub(crate) base: usize,
    /// The first position that a reader still needs.
    pub(crate) live: usize,
    /// One past the position of the last entry.
    pub(crate) end: usize,
    pub(crate) data: Data,
}

/// Entries of one kind; `Any` if they are mixed, no numbers, or hold errors.
#[derive(Clone, Debug)]
pub(crate) enum Data {
    /// `true` where the bit is set, no value elsewhere.
    Truth(Vec<u64>),
    Int {
        values: Vec<i64>,
        valid: Vec<u64>,
    },
    Real {
        values: Vec<f64>,
        valid: Vec<u64>,
    },
    Any(Vec<Cell>),
}

impl Default for Data {
    fn default() -> Self {
        Data::Truth(Vec::new())
    }
}

/// The kinds of [`Data`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Truth,
    Int,
    Real,
    Any,
}

impl Kind {
    fn of(cell: &Cell) -> Kind {
        match cell {
            Ok(Value::Bool(true)) => Kind::Truth,
            Ok(Value::Int(_)) => Kind::Int,
            Ok(Value::Real(_)) => Kind::Real,
            _ => Kind::Any,
        }
    }
}

/// The words that hold the positions `from..to`: index, and which of their bits.
pub(crate) fn spans(from: usize, to: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    (from / 64..to.div_ceil(64))
        .filter(move |_| from < to)
        .map(move |word| (word, from.max(word * 64) - word * 64, (to - word * 64).min(64)))
}

/// The bits `lo..hi`.
#[inline]
pub(crate) fn mask(lo: usize, hi: usize) -> u64 {
    debug_assert!(lo < hi && hi <= 64);
    (u64::MAX >> (64 - (hi - lo))) << lo
}

/// Appends the `count` lowest bits of `word` to bits of which there are `len`.
#[inline]
fn append(words: &mut Vec<u64>, len: usize, word: u64, count: usize) {
    if count == 0 {
        return;
    }
    let (word, offset) = (word & mask(0, count), len % 64);
    if offset == 0 {
        words.push(word);
    } else {
        let last = words.len() - 1;
        words[last] |= word << offset;
        if offset + count > 64 {
            words.push(word >> (64 - offset));
        }
    }
}

fn append_run(words: &mut Vec<u64>, mut len: usize, value: bool, mut count: usize) {
    let word = if value { u64::MAX } else { 0 };
    while count > 0 {
        let step = count.min(64 - len % 64);
        append(words, len, word, step);
        (len, count) = (len + step, count - step);
    }
}

impl Stream {
    fn held(&self) -> usize {
        self.end - self.base
    }

    pub(crate) fn kind(&self) -> Kind {
        match self.data {
            Data::Truth(_) => Kind::Truth,
            Data::Int { .. } => Kind::Int,
            Data::Real { .. } => Kind::Real,
            Data::Any(_) => Kind::Any,
        }
    }

    /// Which positions of a word have a value and which an error; positions not yet emitted have neither.
    #[inline]
    pub(crate) fn masks(&self, word: usize) -> (u64, u64) {
        let index = word - self.base / 64;
        match &self.data {
            Data::Truth(words) => (words[index], 0),
            Data::Int { valid, .. } | Data::Real { valid, .. } => (valid[index], 0),
            Data::Any(cells) => {
                let (mut valid, mut errors) = (0, 0);
                for (bit, cell) in cells[index * 64..].iter().take(64).enumerate() {
                    match cell {
                        Ok(Value::Null) => {}
                        Ok(_) => valid |= 1 << bit,
                        Err(_) => errors |= 1 << bit,
                    }
                }
                (valid, errors)
            }
        }
    }

    /// The truth of a formula at the positions of a word.
    #[inline]
    pub(crate) fn word(&self, word: usize) -> u64 {
        self.masks(word).0
    }

    /// Which of the `count` positions from `from` have a value.
    #[inline]
    pub(crate) fn bits(&self, from: usize, count: usize) -> u64 {
        let (word, offset) = (from / 64, from % 64);
        let low = self.word(word) >> offset;
        let all = if offset + count > 64 { low | self.word(word + 1) << (64 - offset) } else { low };
        all & mask(0, count)
    }

    /// What stands at a position.
    #[inline]
    pub(crate) fn cell(&self, at: usize) -> Cell {
        let index = at - self.base;
        let set = |words: &[u64]| words[index / 64] >> (index % 64) & 1 == 1;
        match &self.data {
            Data::Truth(words) if set(words) => Ok(Value::Bool(true)),
            Data::Int { values, valid } if set(valid) => Ok(Value::Int(values[index])),
            Data::Real { values, valid } if set(valid) => Ok(Value::Real(values[index])),
            Data::Any(cells) => cells[index].clone(),
            _ => Ok(Value::Null),
        }
    }

    /// Makes ready for entries of a kind. False if the entries held do not allow it: then they are `Any` from now on.
    pub(crate) fn want(&mut self, kind: Kind) -> bool {
        if self.kind() == kind {
            return true;
        }
        if self.live == self.end {
            self.forget();
        }
        let held = self.held();
        let nothing = match &self.data {
            Data::Truth(valid) | Data::Int { valid, .. } | Data::Real { valid, .. } => {
                self.live == self.end || valid.iter().all(|word| *word == 0)
            }
            Data::Any(_) => self.live == self.end,
        };
        let words = vec![0; held.div_ceil(64)];
        self.data = match kind {
            Kind::Truth if nothing => Data::Truth(words),
            Kind::Int if nothing => Data::Int { values: vec![0; held], valid: words },
            Kind::Real if nothing => Data::Real { values: vec![0.0; held], valid: words },
            _ => {
                if self.kind() != Kind::Any {
                    let cells = (self.base..self.end).map(|at| self.cell(at)).collect();
                    self.data = Data::Any(cells);
                }
                return kind == Kind::Any;
            }
        };
        true
    }

    /// Appends truth values, the lowest `count` bits.
    pub(crate) fn push_bits(&mut self, word: u64, count: usize) {
        let held = self.held();
        if self.want(Kind::Truth)
            && let Data::Truth(words) = &mut self.data
        {
            append(words, held, word, count);
            self.end += count;
        } else {
            for bit in 0..count {
                self.push(Ok(if word >> bit & 1 == 1 { Value::Bool(true) } else { Value::Null }));
            }
        }
    }

    /// Appends truth values that stand at the bits `lo..hi` of a word, which is the next.
    #[inline]
    pub(crate) fn push_span(&mut self, lo: usize, hi: usize, word: u64) {
        debug_assert!(self.end % 64 == lo);
        match &mut self.data {
            Data::Truth(words) => {
                let word = word & mask(lo, hi);
                if lo == 0 {
                    words.push(word);
                } else if let Some(last) = words.last_mut() {
                    *last |= word;
                }
                self.end += hi - lo;
            }
            _ => self.push_bits(word >> lo, hi - lo),
        }
    }

    /// Appends one entry.
    #[inline]
    pub(crate) fn push(&mut self, cell: Cell) {
        let held = self.held();
        match (&mut self.data, &cell) {
            (Data::Int { values, valid }, Ok(Value::Int(value))) => {
                values.push(*value);
                append(valid, held, 1, 1);
            }
            (Data::Int { values, valid }, Ok(Value::Null)) => {
                values.push(0);
                append(valid, held, 0, 1);
            }
            (Data::Real { values, valid }, Ok(Value::Real(value))) => {
                values.push(*value);
                append(valid, held, 1, 1);
            }
            (Data::Real { values, valid }, Ok(Value::Null)) => {
                values.push(0.0);
                append(valid, held, 0, 1);
            }
            (Data::Truth(words), Ok(Value::Bool(true))) => append(words, held, 1, 1),
            (Data::Truth(words), Ok(Value::Null)) => append(words, held, 0, 1),
            (Data::Any(cells), _) => cells.push(cell),
            _ => {
                self.want(Kind::of(&cell));
                return self.push(cell);
            }
        }
        self.end += 1;
    }

    /// Appends an entry several times.
    pub(crate) fn push_run(&mut self, cell: &Cell, count: usize) {
        if count == 0 {
            return;
        }
        self.push(cell.clone());
        if count == 1 {
            return;
        }
        let (held, count) = (self.held(), count - 1);
        let set = !matches!(cell, Ok(Value::Null));
        match (&mut self.data, cell) {
            (Data::Truth(words), _) => append_run(words, held, set, count),
            (Data::Int { values, valid }, _) => {
                values.resize(held + count, if let Ok(Value::Int(value)) = cell { *value } else { 0 });
                append_run(valid, held, set, count);
            }
            (Data::Real { values, valid }, _) => {
                values.resize(held + count, if let Ok(Value::Real(value)) = cell { *value } else { 0.0 });
                append_run(valid, held, set, count);
            }
            (Data::Any(cells), _) => cells.resize(held + count, cell.clone()),
        }
        self.end += count;
    }

    /// Appends whole numbers; `valid` tells of each position of a span, given as in [`spans`], which has one.
    pub(crate) fn push_ints(&mut self, more: &[i64], valid: impl Fn(usize, usize, usize) -> u64) {
        let end = self.end + more.len();
        if self.want(Kind::Int)
            && let Data::Int { values, valid: bits } = &mut self.data
        {
            values.extend_from_slice(more);
            push_valid(bits, self.base, self.end, end, valid);
            self.end = end;
        } else {
            self.push_each(end, |index| Value::Int(more[index]), valid);
        }
    }

    /// As [`Stream::push_ints`], of reals.
    pub(crate) fn push_reals(&mut self, more: &[f64], valid: impl Fn(usize, usize, usize) -> u64) {
        let end = self.end + more.len();
        if self.want(Kind::Real)
            && let Data::Real { values, valid: bits } = &mut self.data
        {
            values.extend_from_slice(more);
            push_valid(bits, self.base, self.end, end, valid);
            self.end = end;
        } else {
            self.push_each(end, |index| Value::Real(more[index]), valid);
        }
    }

    /// Appends whole numbers to be filled in, of which the first `known` count; nothing if other kinds are held.
    pub(crate) fn push_known(&mut self, count: usize, known: usize) -> Option<&mut [i64]> {
        if !self.want(Kind::Int) {
            return None;
        }
        let held = self.held();
        let Data::Int { values, valid } = &mut self.data else { return None };
        values.resize(held + count, 0);
        append_run(valid, held, true, known);
        append_run(valid, held + known, false, count - known);
        self.end += count;
        Some(&mut values[held..])
    }

    fn push_each(
        &mut self,
        end: usize,
        value: impl Fn(usize) -> Value,
        valid: impl Fn(usize, usize, usize) -> u64,
    ) {
        let from = self.end;
        for (word, lo, hi) in spans(from, end) {
            let bits = valid(word, lo, hi);
            for bit in lo..hi {
                let set = bits >> bit & 1 == 1;
                self.push(Ok(if set { value(word * 64 + bit - from) } else { Value::Null }));
            }
        }
    }

    /// Readers need nothing before `live` any more.
    pub(crate) fn trim(&mut self, live: usize) {
        self.live = live;
        if live == self.end {
            self.forget();
            return;
        }
        // Moving what is left costs as much as it is long: only when as much can go.
        let gone = (live & !63) - self.base;
        if gone == 0 || gone < self.held() / 2 {
            return;
        }
        match &mut self.data {
            Data::Truth(words) => drop(words.drain(..gone / 64)),
            Data::Int { values, valid } => {
                values.drain(..gone);
                valid.drain(..gone / 64);
            }
            Data::Real { values, valid } => {
                values.drain(..gone);
                valid.drain(..gone / 64);
            }
            Data::Any(cells) => drop(cells.drain(..gone)),
        }
        self.base += gone;
    }

    /// As it was before the first position, with its memory.
    pub(crate) fn clear(&mut self) {
        (self.live, self.end) = (0, 0);
        self.forget();
    }

    /// Drops all entries; those that share a word with the next become nothing.
    fn forget(&mut self) {
        self.base = self.end & !63;
        let left = self.end - self.base;
        let words = left.div_ceil(64);
        let blank = |bits: &mut Vec<u64>| {
            bits.clear();
            bits.resize(words, 0);
        };
        match &mut self.data {
            Data::Truth(bits) => blank(bits),
            Data::Int { values, valid } => {
                values.clear();
                values.resize(left, 0);
                blank(valid);
            }
            Data::Real { values, valid } => {
                values.clear();
                values.resize(left, 0.0);
                blank(valid);
            }
            Data::Any(cells) => {
                cells.clear();
                cells.resize(left, Ok(Value::Null));
            }
        }
    }

    /// Bytes of the entries held.
    pub(crate) fn bytes(&self) -> usize {
        let held = self.held();
        match self.data {
            Data::Truth(_) => held.div_ceil(64) * 8,
            Data::Int { .. } | Data::Real { .. } => held * 8 + held.div_ceil(64) * 8,
            Data::Any(_) => held * size_of::<Cell>(),
        }
    }

    /// Bytes of the entries that a reader still needs, in whole words.
    pub(crate) fn pending_bytes(&self) -> usize {
        if self.live == self.end { 0 } else { self.bytes() }
    }
}

fn push_valid(
    bits: &mut Vec<u64>,
    base: usize,
    from: usize,
    to: usize,
    valid: impl Fn(usize, usize, usize) -> u64,
) {
    for (word, lo, hi) in spans(from, to) {
        let set = valid(word, lo, hi) & mask(lo, hi);
        match bits.get_mut(word - base / 64) {
            Some(last) => *last |= set,
            None => bits.push(set),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries come out as they went in, whatever their kinds and however the stream is trimmed.
    #[test]
    fn entries_keep_their_values() {
        let cells: Vec<Cell> = (0..700usize)
            .map(|i| match (i / 100, i % 7) {
                (_, 0) => Ok(Value::Null),
                (0 | 3, _) => Ok(Value::Bool(true)),
                (1 | 4, _) => Ok(Value::Int(i as i64)),
                (2, _) => Ok(Value::Real(i as f64)),
                (5, 3) => Err("no".into()),
                _ => Ok(Value::text("a")),
            })
            .collect();
        for step in [1usize, 3, 64, 65, 100, 150] {
            let (mut stream, mut taken) = (Stream::default(), 0);
            for (at, cell) in cells.iter().enumerate() {
                stream.push(cell.clone());
                assert_eq!(stream.end, at + 1);
                if (at + 1) % step == 0 {
                    for (position, cell) in cells.iter().enumerate().take(stream.end).skip(taken) {
                        assert_eq!(stream.cell(position), *cell, "{position} by {step}");
                    }
                    taken = if at % 2 == 0 { stream.end } else { taken.max(stream.end - step / 2) };
                    stream.trim(taken);
                }
            }
        }
    }

    #[test]
    fn runs_equal_pushing_each() {
        for cell in
            [Ok(Value::Null), Ok(Value::Bool(true)), Ok(Value::Int(7)), Ok(Value::Real(0.5)), Err("e".into())]
        {
            for (before, count) in [(0, 0), (0, 1), (3, 64), (64, 65), (1, 200)] {
                let (mut one, mut all) = (Stream::default(), Stream::default());
                for stream in [&mut one, &mut all] {
                    (0..before).for_each(|_| stream.push(Ok(Value::Int(1))));
                }
                (0..count).for_each(|_| one.push(cell.clone()));
                all.push_run(&cell, count);
                assert_eq!(one.end, all.end);
                assert!((0..one.end).all(|at| one.cell(at) == all.cell(at)), "{cell:?} {before} {count}");
            }
        }
    }
}
