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

    /// Where the two cross strictly between two times, and their value there.
    pub(super) fn crosses(self, other: Line, from: f64, to: f64) -> Option<(f64, f64)> {
        let time = self.meets(other, from, to)?;
        (time > from && time < to).then(|| (time, self.shared(other, time, from, to)))
    }

    /// Where the two cross between two times; close to one of them, that is where it is rounded to.
    fn meets(self, other: Line, from: f64, to: f64) -> Option<f64> {
        if self == other || (self.is_constant() && other.is_constant()) {
            return None;
        }
        let (before, after) = (self.at(from) - other.at(from), self.at(to) - other.at(to));
        // One of the two may be infinite, and a constant then.
        if !(before < 0.0 && after > 0.0 || before > 0.0 && after < 0.0) || !(before - after).is_finite() {
            return None;
        }
        let time = from + (to - from) * (before / (before - after));
        Some(max(min(time, to), from))
    }

    /// The value of two lines that cross at a time between two others: that of the line halfway between them, which is exactly 0
    /// where one is the negation of the other, whatever either of them is rounded to.
    fn shared(self, other: Line, time: f64, from: f64, to: f64) -> f64 {
        match (self.is_constant(), other.is_constant()) {
            (true, _) => self.start,
            (_, true) => other.start,
            _ => {
                let halfway = |at: f64| 0.5 * self.at(at) + 0.5 * other.at(at);
                let value = Line::new(from, halfway(from), to, halfway(to)).at(time);
                // Within both, as far as they go.
                [self, other].into_iter().fold(value, |value, line| {
                    let (a, b) = (line.at(from), line.at(to));
                    max(min(value, max(a, b)), min(a, b)) + 0.0
                })
            }
        }
    }

    /// The same line up to a time, when it has this value.
    pub(super) fn until(self, time: f64, value: f64) -> Self {
        match self.is_constant() {
            true => self,
            false => Self::new(self.from, self.start, time, value),
        }
    }

    /// The same line from a time on, when it has this value.
    pub(super) fn since(self, time: f64, value: f64) -> Self {
        match self.is_constant() {
            true => self,
            false => Self::new(time, value, self.to, self.end),
        }
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
    let extreme = |at: f64| if greater { max(a.at(at), b.at(at)) } else { min(a.at(at), b.at(at)) };
    // They meet in one value, so that what is left of them begins where the other ends.
    let pieces = match a.meets(b, from, to) {
        None => [Some(Piece { line: first(from, to), to }), None],
        Some(time) if time <= from => {
            [Some(Piece { line: first(from, to).since(from, extreme(from)), to }), None]
        }
        Some(time) if time >= to => [Some(Piece { line: first(from, to).until(to, extreme(to)), to }), None],
        Some(time) => {
            let value = a.shared(b, time, from, to);
            [
                Some(Piece { line: first(from, time).until(time, value), to: time }),
                Some(Piece { line: first(time, to).since(time, value), to }),
            ]
        }
    };
    pieces.into_iter().flatten()
}
