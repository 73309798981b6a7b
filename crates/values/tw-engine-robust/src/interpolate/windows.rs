//! The supremum of a piecewise linear function over a window that moves.
//!
//! Points and the open stretches between them are numbered in turn: point k is 2k, what follows it 2k + 1. As long as
//! neither edge of the window comes to a point, the supremum is the greatest of the value at each edge, of the ends of
//! the stretches that the edges are in, and of whatever lies wholly between them: at most two lines and a constant.

use super::Window;
use super::curve::Curve;
use super::line::{Line, Piece, extreme};
use crate::lattice::{Joined, Up, max};
use crate::sliding::Sliding;

/// One edge of the window: `by` ahead of now.
struct Edge<'c> {
    curve: &'c Curve,
    /// `None`: beyond the end.
    by: Option<f64>,
    /// The first point that it has not passed.
    next: usize,
}

impl Edge<'_> {
    /// When it comes to point k.
    fn arrival(&self, k: usize) -> Option<f64> {
        Some(self.curve.times.get(k)? - self.by?)
    }

    /// Passes what lies before `now`, and the point that lies there, too, if `now` is over.
    fn pass(&mut self, now: f64, over: bool) {
        let gone = |arrival: f64| arrival < now || (over && arrival == now);
        while self.arrival(self.next).is_some_and(gone) {
            self.next += 1;
        }
        if self.by.is_none() {
            self.next = self.curve.times.len();
        }
    }

    /// Whether it stands at the point `next` at `now`.
    fn stands(&self, now: f64) -> bool {
        self.arrival(self.next) == Some(now)
    }

    fn beyond(&self) -> bool {
        self.next == self.curve.times.len()
    }

    /// The line that it moves along, by the time of the other end: as now.
    fn line(&self) -> Line {
        self.curve.lines[self.next - 1].ahead(self.by.unwrap_or_default())
    }
}

impl Curve {
    /// The supremum over the window ahead, cut at the end.
    pub(super) fn window(&self, window: Window) -> Curve {
        let count = self.times.len();
        let (first, last) = (self.times[0], self.times[count - 1]);
        let span = last - first;
        let edge = |by: Option<f64>| Edge { curve: self, by, next: 0 };
        let mut near = edge(Some(window.low as f64));
        let mut far = edge(window.high.map(|high| high as f64).filter(|&high| high <= span));
        // What points and stretches are worth as a whole.
        let whole = |place: usize| match place % 2 {
            0 => self.values[place / 2],
            _ => {
                let (line, k) = (self.lines[place / 2], place / 2);
                max(line.at(self.times[k]), line.at(self.times[k + 1]))
            }
        };
        let mut sliding = Sliding::<Joined<Up>>::new(0);
        let mut now = first;
        near.pass(now, false);
        far.pass(now, false);
        let mut out = Curve::starting(now, 0.0);
        let mut stretch: Vec<Piece> = Vec::new();
        loop {
            // At the point `now`. Places wholly inside: from..to.
            let value = {
                let (left, from) = match near.stands(now) {
                    true if window.low_open => (f64::NEG_INFINITY, 2 * near.next + 1),
                    true => (self.values[near.next], 2 * near.next + 1),
                    false if near.beyond() => (f64::NEG_INFINITY, 2 * count),
                    false => {
                        let line = self.lines[near.next - 1];
                        (max(near.line().at(now), line.at(self.times[near.next])), 2 * near.next)
                    }
                };
                let (right, to) = match far.stands(now) {
                    true if window.high_open => (f64::NEG_INFINITY, 2 * far.next),
                    true => (self.values[far.next], 2 * far.next),
                    false if far.beyond() => (f64::NEG_INFINITY, 2 * count - 1),
                    false => {
                        let line = self.lines[far.next - 1];
                        (max(line.at(self.times[far.next - 1]), far.line().at(now)), 2 * far.next - 1)
                    }
                };
                let empty = near.beyond() || (near.stands(now) && window.low_open && near.next + 1 == count);
                match (near.stands(now), far.stands(now)) {
                    _ if empty => f64::NEG_INFINITY,
                    // Both edges at one point, or within one stretch.
                    (true, true) if near.next == far.next => left,
                    (false, false) if near.next == far.next => max(near.line().at(now), far.line().at(now)),
                    _ => max(max(left, right), sliding.slide(from, to, whole)),
                }
            };
            let end = out.values.len() - 1;
            out.values[end] = value;
            if now >= last {
                return out;
            }
            near.pass(now, true);
            far.pass(now, true);
            let arrivals = near.arrival(near.next).into_iter().chain(far.arrival(far.next));
            let to = arrivals.fold(last, |a, b| if b < a { b } else { a });
            // Between `now` and `to`.
            stretch.clear();
            if near.beyond() {
                stretch.push(Piece { line: Line::constant(f64::NEG_INFINITY), to });
            } else if near.next == far.next {
                let line = if self.lines[near.next - 1].rises() { far.line() } else { near.line() };
                stretch.push(Piece { line, to });
            } else {
                let mut least = self.lines[near.next - 1].at(self.times[near.next]);
                let inside = if far.beyond() { 2 * count - 1 } else { 2 * far.next - 1 };
                least = max(least, sliding.slide(2 * near.next, inside, whole));
                if far.beyond() {
                    stretch.extend(extreme(now, to, near.line(), Line::constant(least), true));
                } else {
                    least = max(least, self.lines[far.next - 1].at(self.times[far.next - 1]));
                    let mut begin = now;
                    for Piece { line, to } in extreme(now, to, near.line(), far.line(), true) {
                        stretch.extend(extreme(begin, to, line, Line::constant(least), true));
                        begin = to;
                    }
                }
            }
            // The value at the end follows.
            out.extend(stretch.iter().copied(), f64::NAN);
            now = to;
        }
    }
}
