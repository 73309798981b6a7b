//! Piecewise linear functions of time, which may jump: points with values, and lines between them.

use super::line::{Line, Piece, extreme};
use super::{Signal, Window};
use crate::lattice::{max, min, negate};

/// Points and, between neighbours, lines that say nothing about the points themselves.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    /// Ascending; never none.
    pub times: Vec<f64>,
    pub values: Vec<f64>,
    /// One less than points.
    pub lines: Vec<Line>,
}

/// A place of the common refinement of two curves: a point, and the lines before it.
struct Both {
    to: f64,
    values: (f64, f64),
    lines: (Line, Line),
}

impl Curve {
    pub(super) fn starting(time: f64, value: f64) -> Self {
        Self { times: vec![time], values: vec![value], lines: Vec::new() }
    }

    /// Goes on with a line, up to a point. A point that only continues a line is dropped.
    pub(super) fn add(&mut self, line: Line, to: f64, value: f64) {
        if let (Some(&last), Some(&time), Some(&at)) =
            (self.lines.last(), self.times.last(), self.values.last())
            && last == line
            && at == line.at(time)
        {
            self.times.pop();
            self.values.pop();
            self.lines.pop();
        }
        self.times.push(to);
        self.values.push(value);
        self.lines.push(line);
    }

    /// Goes on with pieces, the last of which ends in a point of this value; the others end where they meet.
    pub(super) fn extend(&mut self, pieces: impl Iterator<Item = Piece>, value: f64) {
        let mut pieces = pieces.peekable();
        while let Some(Piece { line, to }) = pieces.next() {
            let value = if pieces.peek().is_some() { line.at(to) } else { value };
            self.add(line, to, value);
        }
    }

    fn both(&self, other: &Curve) -> Vec<Both> {
        let mut all = Vec::with_capacity(self.times.len() + other.times.len());
        let (mut i, mut j) = (1, 1);
        while i < self.times.len() && j < other.times.len() {
            let (a, b) = (self.times[i], other.times[j]);
            let to = if a < b { a } else { b };
            let (left, right) = (self.lines[i - 1], other.lines[j - 1]);
            let values = (
                if a == to { self.values[i] } else { left.at(to) },
                if b == to { other.values[j] } else { right.at(to) },
            );
            all.push(Both { to, values, lines: (left, right) });
            i += usize::from(a == to);
            j += usize::from(b == to);
        }
        all
    }

    fn zip(&self, other: &Curve, greater: bool) -> Curve {
        let of = |a: f64, b: f64| if greater { max(a, b) } else { min(a, b) };
        let mut from = self.times[0];
        let mut out = Curve::starting(from, of(self.values[0], other.values[0]));
        for Both { to, values, lines } in self.both(other) {
            let value = of(values.0, values.1);
            out.extend(extreme(from, to, lines.0, lines.1, greater), value);
            from = to;
        }
        out
    }

    /// Until over everything ahead. Between two points, with ψ and what follows worth no more than K at the end of the
    /// stretch, it is ψ or, if that is more, the least of K and what φ is worth from here to that end.
    fn unbounded(hold: &Curve, goal: &Curve) -> Curve {
        let all = hold.both(goal);
        let start = goal.times[0];
        // From the last stretch to the first: the pieces, the last with the point at its end.
        let mut found: Vec<(Piece, f64)> = Vec::new();
        let mut stretch: Vec<Piece> = Vec::new();
        let mut worth = all.last().map_or(goal.values[0], |last| last.values.1);
        for at in (0..all.len()).rev() {
            let Both { to, lines: (phi, psi), .. } = all[at];
            let from = if at > 0 { all[at - 1].to } else { start };
            // Where they cross, the way to a goal changes.
            let crossing = phi.crosses(psi, from, to);
            let parts = match crossing {
                None => [None, Some((from, to, phi, psi))],
                Some((time, value)) => [
                    Some((time, to, phi.since(time, value), psi.since(time, value))),
                    Some((from, time, phi.until(time, value), psi.until(time, value))),
                ],
            };
            let meet = crossing.map(|(time, _)| time);
            for (from, to, phi, psi) in parts.into_iter().flatten() {
                let best = max(psi.at(to), worth);
                let held = if phi.rises() { phi } else { Line::constant(phi.at(to)) };
                stretch.clear();
                let mut begin = from;
                for Piece { line, to } in extreme(from, to, held, Line::constant(best), false) {
                    stretch.extend(extreme(begin, to, psi, line, true));
                    begin = to;
                }
                // The last piece ends in the point that is known, the others where they meet.
                for (place, &piece) in stretch.iter().enumerate().rev() {
                    let known = place + 1 == stretch.len();
                    found.push((piece, if known { worth } else { piece.line.at(piece.to) }));
                }
                // At the beginning: at once, or by holding there and in a part of the stretch, and going on.
                let after = min(phi.at(from), stretch[0].line.at(from));
                let (phi, psi) = match at {
                    _ if Some(from) == meet => (phi.at(from), psi.at(from)),
                    0 => (hold.values[0], goal.values[0]),
                    _ => all[at - 1].values,
                };
                worth = max(psi, min(phi, after));
            }
        }
        let mut out = Curve::starting(start, worth);
        found.into_iter().rev().for_each(|(piece, value)| out.add(piece.line, piece.to, value));
        out
    }

    /// The limit from the right in place of each point's value; nothing after the last.
    fn after(&self) -> Curve {
        let limits = self.lines.iter().zip(&self.times).map(|(line, &time)| line.at(time));
        Curve { values: limits.chain([f64::NEG_INFINITY]).collect(), ..self.clone() }
    }
}

impl Signal for Curve {
    const SCALED: bool = true;

    fn new(times: &[i64], values: &[f64]) -> Self {
        let mut out = Curve::starting(times[0] as f64, values[0]);
        for at in 1..times.len() {
            let (from, to) = (times[at - 1] as f64, times[at] as f64);
            out.add(Line::new(from, values[at - 1], to, values[at]), to, values[at]);
        }
        out
    }

    fn constant(times: &[i64], value: f64) -> Self {
        let mut out = Curve::starting(times[0] as f64, value);
        if let [first, .., last] = times
            && first < last
        {
            out.add(Line::constant(value), *last as f64, value);
        }
        out
    }

    fn first(times: &[i64]) -> Self {
        let mut out = Curve::constant(times, f64::NEG_INFINITY);
        out.values[0] = f64::INFINITY;
        out
    }

    fn negate(mut self) -> Self {
        self.values.iter_mut().for_each(|value| *value = negate(*value));
        self.lines.iter_mut().for_each(|line| *line = line.negate());
        self
    }

    fn join(&self, other: &Self) -> Self {
        self.zip(other, true)
    }

    fn meet(&self, other: &Self) -> Self {
        self.zip(other, false)
    }

    fn mirrored(&self) -> Self {
        Curve {
            times: self.times.iter().rev().map(|time| 0.0 - time).collect(),
            values: self.values.iter().rev().copied().collect(),
            lines: self.lines.iter().rev().map(|line| line.mirrored()).collect(),
        }
    }

    fn until(hold: Option<&Self>, goal: &Self, window: Window) -> Self {
        let Some(hold) = hold else { return goal.window(window) };
        let mut all = Curve::unbounded(hold, goal);
        if window.low > 0 || window.low_open {
            let [near, there] = window.reach();
            let held = hold.clone().negate().window(near).negate();
            let inside = if window.low_open { all.meet(hold).after() } else { all };
            all = inside.window(there).meet(&held);
        }
        if window.high.is_some() { all.meet(&goal.window(window)) } else { all }
    }

    fn at(&self, times: &[i64]) -> Vec<f64> {
        let mut point = 0;
        let mut one = |&time: &i64| {
            let time = time as f64;
            while self.times[point] < time && point + 1 < self.times.len() {
                point += 1;
            }
            if self.times[point] == time { self.values[point] } else { self.lines[point - 1].at(time) }
        };
        times.iter().map(&mut one).collect()
    }

    fn bytes(&self) -> usize {
        (self.times.capacity() + self.values.capacity()) * size_of::<f64>()
            + self.lines.capacity() * size_of::<Line>()
    }
}
