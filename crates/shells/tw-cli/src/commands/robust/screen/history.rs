//! The last values of a few lines, as many as a screen shows.

use std::collections::VecDeque;
use std::time::Duration;
use tracewise::plot::Braille;

/// A screenful that passes faster is drawn with more samples to a column.
const SCREENFUL: Duration = Duration::from_secs(15);

/// From where to where values go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub low: f64,
    pub high: f64,
}

impl Range {
    const EMPTY: Range = Range { low: f64::INFINITY, high: f64::NEG_INFINITY };

    pub fn is_empty(self) -> bool {
        self.low > self.high
    }

    /// With this value inside.
    pub fn with(self, value: f64) -> Range {
        match value.is_finite() {
            true => Range { low: self.low.min(value), high: self.high.max(value) },
            false => self,
        }
    }

    /// This and another.
    pub fn joined(self, other: Range) -> Range {
        Range { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The row of dots of a value, from the top.
    pub fn row(self, value: f64, rows: usize) -> usize {
        // Halves, as the span may overflow.
        let part = (self.high / 2.0 - value / 2.0) / (self.high / 2.0 - self.low / 2.0);
        let part = if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.5 };
        (part * (rows - 1) as f64).round() as usize
    }
}

/// The last values of some lines: the least and the greatest of each column.
#[derive(Clone, Debug)]
pub struct History {
    lines: usize,
    columns: usize,
    /// Samples to a column.
    stride: usize,
    /// The first column that is kept.
    base: usize,
    /// By column and line.
    kept: VecDeque<Vec<Range>>,
    /// The newest position, and when columns were last counted from which one.
    newest: usize,
    since: (Duration, usize),
}

impl History {
    /// Nothing yet, of so many lines on so many columns.
    pub fn new(lines: usize, columns: usize) -> Self {
        let columns = columns.max(2);
        let kept = VecDeque::with_capacity(columns + 1);
        History { lines, columns, stride: 1, base: 0, kept, newest: 0, since: (Duration::ZERO, 0) }
    }

    /// The first and the last position on the screen.
    pub fn span(&self) -> (usize, usize) {
        (self.base * self.stride, self.newest)
    }

    /// Time has come to a position.
    pub fn reach(&mut self, position: usize, elapsed: Duration) {
        self.newest = position;
        while position / self.stride >= self.since.1 + self.columns {
            // A screenful has passed since the last look.
            if elapsed.saturating_sub(self.since.0) < SCREENFUL {
                self.double();
            } else {
                self.since = (elapsed, position / self.stride);
            }
        }
        self.grow();
    }

    /// Keeps step with another.
    pub fn follow(&mut self, other: &History) {
        while self.stride < other.stride {
            self.double();
        }
        (self.newest, self.since) = (other.newest, other.since);
        self.grow();
    }

    /// Columns up to the newest, and no more than fit.
    fn grow(&mut self) {
        let column = self.newest / self.stride;
        if self.kept.is_empty() {
            self.base = column;
        }
        while self.base + self.kept.len() <= column {
            self.kept.push_back(vec![Range::EMPTY; self.lines]);
        }
        while self.kept.len() > self.columns {
            self.kept.pop_front();
            self.base += 1;
        }
    }

    /// Twice as many samples to a column.
    fn double(&mut self) {
        let old = std::mem::take(&mut self.kept);
        let base = self.base / 2;
        for (index, column) in old.into_iter().enumerate() {
            let at = (self.base + index) / 2 - base;
            match self.kept.get_mut(at) {
                Some(kept) => kept.iter_mut().zip(column).for_each(|(kept, more)| *kept = kept.joined(more)),
                None => self.kept.push_back(column),
            }
        }
        self.base = base;
        self.stride *= 2;
        self.since.1 /= 2;
    }

    fn column(&mut self, position: usize) -> Option<&mut Vec<Range>> {
        let column = (position / self.stride).checked_sub(self.base)?;
        self.kept.get_mut(column)
    }

    /// A value of a line, at a position that has been reached.
    pub fn add(&mut self, position: usize, line: usize, value: f64) {
        if let Some(column) = self.column(position) {
            column[line] = column[line].with(value);
        }
    }

    /// A value of the first line, in place of what was thought there.
    pub fn replace(&mut self, position: usize, value: f64) {
        let first = position.is_multiple_of(self.stride);
        if let Some(column) = self.column(position) {
            if first {
                column.fill(Range::EMPTY);
            }
            column[0] = column[0].with(value);
        }
    }

    /// The greatest value of a line in each column.
    pub fn greatest(&self, line: usize) -> Vec<Option<f64>> {
        let value = |column: &Vec<Range>| (!column[line].is_empty()).then_some(column[line].high);
        self.kept.iter().map(value).collect()
    }

    /// What a line ranges over.
    pub fn range(&self, line: usize) -> Range {
        self.kept.iter().fold(Range::EMPTY, |range, column| range.joined(column[line]))
    }

    /// Draws a line, in the colour of its values.
    pub fn draw(&self, place: &mut Braille, line: usize, range: Range, colour: impl Fn(f64) -> u8) {
        let rows = place.size().1;
        let mut before: Option<(usize, usize)> = None;
        for (x, column) in self.kept.iter().enumerate() {
            let Range { low, high } = column[line];
            if low > high {
                before = None;
                continue;
            }
            let (top, bottom) = (range.row(high, rows), range.row(low, rows));
            let near = |y: usize| y.clamp(top, bottom);
            if let Some((above, below)) = before {
                // From the nearest end of the last column to the nearest of this one.
                let from = if near(above) == above || above > bottom { above } else { below };
                place.stroke((x - 1, from), (x, near(from)), colour(low));
            }
            place.stroke((x, top), (x, bottom), colour(low));
            before = Some((top, bottom));
        }
    }
}
