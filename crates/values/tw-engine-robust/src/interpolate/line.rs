//! Straight lines, and the greater of two of them.

use crate::lattice::{max, min, negate};

/// The line through two points; a constant has both at time 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
}

impl Line {
    pub(super) fn constant(value: f64) -> Self {
        Self { from: 0.0, to: 0.0, start: value, end: value }
    }

    /// From `start` at time `from` to `end` at `to`; holds the start if one of them is not finite.
    pub(super) fn new(from: f64, start: f64, to: f64, end: f64) -> Self {
        match start != end && start.is_finite() && end.is_finite() {
            true => Self { from, to, start, end },
            false => Self::constant(start),
        }
    }

    pub(super) fn rises(self) -> bool {
        self.start < self.end
    }

    fn is_constant(self) -> bool {
        self.start == self.end
    }

    /// The value at a time between the points: theirs exactly at these.
    pub(super) fn at(self, time: f64) -> f64 {
        if self.is_constant() {
            return self.start;
        }
        let part = (time - self.from) / (self.to - self.from);
        // Never beyond the two, whatever the rounding; 0.0 is added because none is −0.0.
        let value = self.start * (1.0 - part) + self.end * part;
        max(min(value, max(self.start, self.end)), min(self.start, self.end)) + 0.0
    }

    /// What comes `by` later, now.
    pub(super) fn ahead(self, by: f64) -> Self {
        match self.is_constant() {
            true => self,
            false => Self { from: self.from - by, to: self.to - by, ..self },
        }
    }

    pub(super) fn negate(self) -> Self {
        Self { start: negate(self.start), end: negate(self.end), ..self }
    }

    pub(super) fn mirrored(self) -> Self {
        match self.is_constant() {
            true => self,
            false => Self { from: -self.to, to: -self.from, start: self.end, end: self.start },
        }
    }

    /// Where the two cross strictly between two times.
    pub(super) fn crosses(self, other: Line, from: f64, to: f64) -> Option<f64> {
        if self == other || (self.is_constant() && other.is_constant()) {
            return None;
        }
        let (before, after) = (self.at(from) - other.at(from), self.at(to) - other.at(to));
        // One of the two may be infinite, and a constant then.
        if !(before < 0.0 && after > 0.0 || before > 0.0 && after < 0.0) || !(before - after).is_finite() {
            return None;
        }
        let time = from + (to - from) * (before / (before - after));
        (time > from && time < to).then_some(time)
    }
}

/// A stretch on which a function is one line, up to `to`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub line: Line,
    pub to: f64,
}

/// The greater of two lines (or the smaller) between two times, in one piece or two.
pub(super) fn extreme(
    from: f64,
    to: f64,
    a: Line,
    b: Line,
    greater: bool,
) -> impl Iterator<Item = Piece> + Clone {
    let first = |from: f64, to: f64| {
        // The ends tell, and if they are equal in one, the other does.
        let difference = (a.at(from) - b.at(from)) + (a.at(to) - b.at(to));
        // Both infinite: the difference is NaN or the two are the same.
        let a_greater = difference > 0.0 || (difference.is_nan() && a.at(from) >= b.at(from));
        if a_greater == greater { a } else { b }
    };
    let crossing = a.crosses(b, from, to);
    let middle = crossing.unwrap_or(to);
    let second = crossing.map(|time| Piece { line: first(time, to), to });
    [Piece { line: first(from, middle), to: middle }].into_iter().chain(second)
}
