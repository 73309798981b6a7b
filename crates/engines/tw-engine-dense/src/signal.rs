//! Truth over a stretch of continuous time, run-length encoded.
//!
//! Truth changes at whole nanoseconds only, but the instants between them count as well, so a run has ends that belong
//! to it or not: `[2,5)`, `(5,9]`, the lone instant `[7,7]`. Time is therefore cut into *cells*: cell 2t is the instant
//! t alone, cell 2t + 1 all instants strictly between t and t + 1. Truth is constant on each cell, a run is a range of
//! cells, and the bit of an end says whether it is open. Everything below is exact arithmetic on such numbers.

use std::fmt;
use tw_core::Time;

/// The instants from `start` to `end`, both inside, at which anything can be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    start: Time,
    end: Time,
}

impl Span {
    /// `None` if the end comes before the start, or more than 2⁶³ − 2 nanoseconds (292 years) after it.
    pub fn new(start: Time, end: Time) -> Option<Span> {
        let length = end.checked_sub(start)?;
        (0..i64::MAX).contains(&length).then_some(Span { start, end })
    }

    /// The first instant.
    pub fn start(self) -> Time {
        self.start
    }

    /// The last instant.
    pub fn end(self) -> Time {
        self.end
    }

    /// Whether the instant lies inside.
    pub fn contains(self, time: Time) -> bool {
        self.start <= time && time <= self.end
    }

    /// Number of cells.
    pub(crate) fn cells(self) -> u64 {
        2 * self.end.abs_diff(self.start) + 1
    }

    /// The cell of an instant inside.
    pub(crate) fn cell(self, time: Time) -> u64 {
        2 * time.abs_diff(self.start)
    }

    /// The instants of a range of cells.
    pub(crate) fn run(self, from: u64, to: u64) -> Run {
        let time = |cell: u64| self.start.saturating_add_unsigned(cell / 2);
        Run {
            low: End { time: time(from), open: from % 2 == 1 },
            high: End { time: time(to), open: to.is_multiple_of(2) },
        }
    }

    /// The cells of a run, cut at the ends of the span.
    fn range(self, run: Run) -> (u64, u64) {
        let from = if run.low.time < self.start {
            0
        } else if run.low.time > self.end {
            self.cells()
        } else {
            self.cell(run.low.time) + u64::from(run.low.open)
        };
        let to = if run.high.time < self.start {
            0
        } else if run.high.time > self.end {
            self.cells()
        } else {
            self.cell(run.high.time) + u64::from(!run.high.open)
        };
        (from, to)
    }
}

/// One end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Where.
    pub time: Time,
    /// Whether the instant itself lies outside.
    pub open: bool,
}

/// The instants between two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Lower end.
    pub low: End,
    /// Upper end.
    pub high: End,
}

impl Run {
    /// `[low,high]`.
    pub fn closed(low: Time, high: Time) -> Run {
        Run { low: End { time: low, open: false }, high: End { time: high, open: false } }
    }

    /// Whether the instant lies inside.
    pub fn contains(self, time: Time) -> bool {
        (self.low.time < time || self.low.time == time && !self.low.open)
            && (time < self.high.time || time == self.high.time && !self.high.open)
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = (if self.low.open { '(' } else { '[' }, if self.high.open { ')' } else { ']' });
        write!(f, "{low}{},{}{high}", self.low.time, self.high.time)
    }
}

/// A truth value at every instant of a [`Span`].
///
/// Kept as the cells at which truth changes, between 0 and the number of cells, both included: the stretches between
/// neighbours are alternately true and false. So the complement is a flag, and 8 bytes are kept per change.
#[derive(Clone, PartialEq, Eq)]
pub struct Signal {
    span: Span,
    /// Whether the first stretch is true.
    first: bool,
    /// Ascending, at least two.
    cuts: Vec<u64>,
}

impl Signal {
    /// The same truth throughout.
    pub fn constant(span: Span, value: bool) -> Signal {
        Signal { span, first: value, cuts: vec![0, span.cells()] }
    }

    /// True in the given runs, which may overlap, lie in any order, be empty or reach beyond the span.
    pub fn new(span: Span, runs: impl IntoIterator<Item = Run>) -> Signal {
        Signal::from_ranges(span, runs.into_iter().map(|run| span.range(run)).collect())
    }

    /// True in the given ranges of cells, in any order.
    pub(crate) fn from_ranges(span: Span, mut ranges: Vec<(u64, u64)>) -> Signal {
        ranges.retain(|(from, to)| from < to);
        ranges.sort_unstable();
        let mut union = Union::new(span, Vec::new(), ranges.len());
        let mut reach = 0;
        for (from, to) in ranges {
            // A range may lie inside one before it.
            reach = to.max(reach);
            union.add(from, reach);
        }
        union.finish()
    }

    /// The maximal range of true cells around a cell.
    pub(crate) fn around(&self, cell: u64) -> Option<(u64, u64)> {
        let pairs = self.pairs(true);
        let [from, to] = *pairs.get(pairs.partition_point(|pair| pair[1] <= cell))?;
        (from <= cell).then_some((from, to))
    }

    /// When it is defined.
    pub fn span(&self) -> Span {
        self.span
    }

    /// Whether it is true at an instant; never outside the span.
    pub fn at(&self, time: Time) -> bool {
        self.span.contains(time) && self.at_cell(self.span.cell(time))
    }

    pub(crate) fn at_cell(&self, cell: u64) -> bool {
        self.first ^ (self.cuts.partition_point(|&cut| cut <= cell) % 2 == 0)
    }

    /// Number of maximal stretches of equal truth.
    pub fn stretches(&self) -> usize {
        self.cuts.len() - 1
    }

    /// The maximal runs in which it is `value`, ascending.
    pub fn runs(&self, value: bool) -> impl Iterator<Item = Run> + '_ {
        self.ranges(value).map(|(from, to)| self.span.run(from, to))
    }

    /// All maximal stretches with their truth, ascending.
    pub fn pieces(&self) -> impl Iterator<Item = (Run, bool)> + '_ {
        self.cuts.windows(2).enumerate().map(|(index, pair)| {
            let (from, to) = (pair[0], pair[1]);
            (self.span.run(from, to), self.first ^ (index % 2 == 1))
        })
    }

    /// The runs in which it is `value` as ranges of cells, the end excluded.
    pub(crate) fn ranges(&self, value: bool) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.pairs(value).iter().map(|&[from, to]| (from, to))
    }

    /// The same as a slice: neighbours among the changes.
    pub(crate) fn pairs(&self, value: bool) -> &[[u64; 2]] {
        self.cuts[usize::from(self.first != value)..].as_chunks().0
    }

    /// The changes, see [`Signal`].
    pub(crate) fn cuts(&self) -> &[u64] {
        &self.cuts
    }

    /// Whether the first stretch is true.
    pub(crate) fn first(&self) -> bool {
        self.first
    }

    /// From changes, see [`Signal`].
    pub(crate) fn from_cuts(span: Span, first: bool, cuts: Vec<u64>) -> Signal {
        debug_assert!(cuts.len() > 1 && cuts[0] == 0 && cuts[cuts.len() - 1] == span.cells());
        debug_assert!(cuts.is_sorted_by(|a, b| a < b), "{cuts:?}");
        Signal { span, first, cuts }
    }

    /// Its buffer, to be filled anew.
    pub(crate) fn into_buffer(self) -> Vec<u64> {
        self.cuts
    }

    /// Bytes held on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.cuts.capacity() * 8
    }

    /// True where this is not.
    #[must_use]
    pub fn complement(mut self) -> Signal {
        self.first = !self.first;
        self
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", Run::closed(self.span.start, self.span.end))?;
        self.runs(true).try_for_each(|run| write!(f, " {run}"))
    }
}

/// Collects ranges of cells whose beginnings and ends both never decrease; what touches becomes one.
pub(crate) struct Union {
    span: Span,
    cuts: Vec<u64>,
    /// The last range, to which more may be joined; at first [0,0).
    from: u64,
    to: u64,
}

impl Union {
    /// For at most that many ranges.
    pub(crate) fn new(span: Span, mut buffer: Vec<u64>, ranges: usize) -> Union {
        buffer.clear();
        buffer.reserve(2 * ranges + 3);
        Union { span, cuts: buffer, from: 0, to: 0 }
    }

    #[inline]
    pub(crate) fn add(&mut self, from: u64, to: u64) {
        debug_assert!(self.from <= from && self.to <= to && from < to && to <= self.span.cells());
        if from > self.to {
            self.cuts.extend_from_slice(&[self.from, self.to]);
            self.from = from;
        }
        self.to = to;
    }

    pub(crate) fn finish(mut self) -> Signal {
        self.cuts.extend_from_slice(&[self.from, self.to]);
        let cells = self.span.cells();
        if self.to < cells {
            self.cuts.push(cells);
        }
        // The range it began with is still there if nothing was joined to it: then truth begins false.
        let first = self.cuts[1] > 0;
        if !first {
            self.cuts.remove(0);
        }
        Signal::from_cuts(self.span, first, self.cuts)
    }
}
