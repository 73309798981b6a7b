//! The messages of a basic chart, and the cut.

use super::arrange::{Frame, Placed};
use super::columns::{LOOP, SHORT, SIZE, shown};
use super::{Happening, Line, Sequence, State};
use crate::draw::{pixels, text};
use crate::text::columns;
use std::fmt::Write;

/// Draws the messages of one basic chart.
pub(super) struct Painter<'a> {
    pub sequence: &'a Sequence,
    pub placed: &'a Placed,
    pub frame: &'a Frame,
    pub lines: &'a [Line],
    /// The class of labels: what is around their letters has the colour of the ground.
    pub label: &'static str,
}

impl Painter<'_> {
    fn x(&self, lifeline: usize) -> Option<f64> {
        Some(self.placed.left + self.placed.columns.x(lifeline)?)
    }

    /// Draws the message of a number.
    pub fn message(&self, out: &mut String, at: usize) {
        let line = &self.lines[at];
        let y = self.frame.rows[at];
        let label = shown(&line.label);
        let [sent, received] = &line.events;
        if line.from == line.to && sent.is_some() && received.is_some() {
            return self.own(out, line, y, &label);
        }
        match (sent, received) {
            (Some(sent), None) if self.later(at).is_some() => {
                // Received below: the arrow goes down to there.
                let Some(other) = self.later(at) else { return };
                let (Some(from), Some(to)) = (self.x(line.from), self.x(line.to)) else { return };
                let (end, received) = (self.frame.rows[other], self.lines[other].events[1].as_ref());
                self.arrow(out, (from, y), (to, end), worst(Some(sent), received));
                // At its beginning, where the arrow is not among the others yet.
                let (anchor, lx) = if to > from { ("start", from + 12.0) } else { ("end", from - 12.0) };
                text(out, self.label, anchor, lx, y - 6.0, &label, Some(&line.label));
                self.dot(out, from, y, sent, to > from);
                if let Some(received) = received {
                    self.dot(out, to, end, received, from > to);
                }
            }
            (None, Some(_)) if self.earlier(at) => {}
            (Some(sent), None) => self.half(out, line, y, &label, sent, true),
            (None, Some(received)) => self.half(out, line, y, &label, received, false),
            (Some(sent), Some(received)) => {
                let (Some(from), Some(to)) = (self.x(line.from), self.x(line.to)) else { return };
                self.arrow(out, (from, y), (to, y), worst(Some(sent), Some(received)));
                text(out, self.label, "middle", (from + to) / 2.0, y - 6.0, &label, Some(&line.label));
                self.dot(out, from, y, sent, to > from);
                self.dot(out, to, y, received, from > to);
            }
            (None, None) => {}
        }
    }

    /// The line below that has the receipt of a message whose sending alone is in this one.
    fn later(&self, at: usize) -> Option<usize> {
        let line = &self.lines[at];
        let same = |other: &usize| {
            let other = &self.lines[*other];
            other.label == line.label
                && (other.from, other.to) == (line.from, line.to)
                && other.events[0].is_none()
                && other.events[1].is_some()
        };
        let both = line.from != line.to && line.events[0].is_some() && line.events[1].is_none();
        both.then(|| (at + 1..self.lines.len()).find(same)).flatten()
    }

    fn earlier(&self, at: usize) -> bool {
        (0..at).any(|before| self.later(before) == Some(at))
    }

    /// A message to itself: out, down and back.
    fn own(&self, out: &mut String, line: &Line, y: f64, label: &str) {
        let Some(x) = self.x(line.from) else { return };
        let [Some(sent), Some(received)] = &line.events else { return };
        let state = worst(Some(sent), Some(received));
        let (end, down) = (x + LOOP, y + 18.0);
        let _ = writeln!(
            out,
            "<path class=\"message{}\" d=\"M{x:.1} {y:.1}H{end:.1}V{down:.1}H{:.1}\"/>",
            shade(state),
            x + 8.0
        );
        point(out, (x, down), (-1.0, 0.0), state);
        text(out, self.label, "start", end + 7.0, y + 13.0, label, Some(&line.label));
        self.dot(out, x, y, sent, true);
        self.dot(out, x, down, received, true);
    }

    /// A message of which one end alone is an event: its other end is a dot.
    fn half(&self, out: &mut String, line: &Line, y: f64, label: &str, event: &Happening, sends: bool) {
        let (own, other) = if sends { (line.from, line.to) } else { (line.to, line.from) };
        let Some(x) = self.x(own) else { return };
        let name = self.sequence.lifelines.get(other).map_or(String::new(), |name| shown(name));
        let (right, far, named) = match self.x(other) {
            Some(far) if own != other => (far > x, far + if far > x { -SHORT } else { SHORT }, false),
            _ => {
                let right = other > own;
                let room = pixels(columns(label).max(columns(&name)), SIZE) + 24.0;
                (right, x + if right { room } else { -room }, true)
            }
        };
        let state = event.state;
        if sends {
            self.arrow(out, (x, y), (far, y), state);
        } else {
            self.arrow(out, (far, y), (x, y), state);
        }
        let lost = if sends { far + if right { 5.0 } else { -5.0 } } else { far };
        let _ = writeln!(out, "<circle class=\"point\" cx=\"{lost:.1}\" cy=\"{y:.1}\" r=\"4.5\"/>");
        text(out, self.label, "middle", (x + far) / 2.0, y - 6.0, label, Some(&line.label));
        if named && own != other {
            let anchor = if right { "end" } else { "start" };
            let at = lost + if right { 4.0 } else { -4.0 };
            text(
                out,
                "small",
                anchor,
                at,
                y + 15.0,
                &name,
                self.sequence.lifelines.get(other).map(String::as_str),
            );
        }
        self.dot(out, x, y, event, right);
    }

    fn arrow(&self, out: &mut String, from: (f64, f64), to: (f64, f64), state: State) {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy).max(1.0);
        let (ux, uy) = (dx / length, dy / length);
        let (x, y) = (to.0 - 8.0 * ux, to.1 - 8.0 * uy);
        let _ = writeln!(
            out,
            "<path class=\"message{}\" d=\"M{:.1} {:.1}L{x:.1} {y:.1}\"/>",
            shade(state),
            from.0,
            from.1
        );
        point(out, to, (ux, uy), state);
    }

    /// An event that a trace was asked about, with its note below the line.
    fn dot(&self, out: &mut String, x: f64, y: f64, event: &Happening, right: bool) {
        let class = match event.state {
            State::Unknown => return,
            State::Happened => "happened-point",
            State::Missing => "missing-point",
            State::Broke => "broke-point",
        };
        if event.state == State::Broke {
            let _ = writeln!(
                out,
                "<path class=\"broke\" d=\"M{:.1} {:.1}l12 12m0 -12l-12 12\"/>",
                x - 6.0,
                y - 6.0
            );
        } else {
            let _ = writeln!(out, "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>");
        }
        if !event.note.is_empty() {
            let (anchor, at) = if right { ("start", x + 9.0) } else { ("end", x - 11.0) };
            let class = if event.state == State::Broke { "small bad" } else { "small" };
            text(out, class, anchor, at, y + 13.0, &shown(&event.note), Some(&event.note));
        }
    }

    /// How far the chart got: a line across the lifelines, below what happened and above what did not.
    pub fn cut(&self, out: &mut String) {
        let mut heights = vec![None::<f64>; self.placed.columns.lifelines.len()];
        let (mut some, mut all) = (false, true);
        for (at, line) in self.lines.iter().enumerate() {
            let y = self.frame.rows[at];
            let down = if line.from == line.to { 18.0 } else { 0.0 };
            for (event, lifeline, y) in
                [(&line.events[0], line.from, y), (&line.events[1], line.to, y + down)]
            {
                let Some(event) = event else { continue };
                let drawn = self.placed.columns.drawn.get(lifeline).copied().flatten();
                let Some(drawn) = drawn else { continue };
                match event.state {
                    State::Happened => {
                        some = true;
                        let below = y + if event.note.is_empty() { 10.0 } else { 18.0 };
                        heights[drawn] = Some(heights[drawn].map_or(below, |own| own.max(below)));
                    }
                    State::Unknown => return,
                    State::Missing | State::Broke => all = false,
                }
            }
        }
        // Between a whole prechart and a main chart of which nothing happened it lies at the top of the latter; all or nothing needs no
        // line otherwise.
        let whole = |line: &Line| line.events.iter().flatten().all(|event| event.state == State::Happened);
        let begins = std::ptr::eq(self.frame, &self.placed.main) && self.sequence.pre.iter().all(whole);
        if all || !some && !begins {
            return;
        }
        let (left, right) = (self.placed.left, self.placed.left + self.placed.columns.width);
        let height = |own: &Option<f64>| own.unwrap_or(self.frame.top + 9.0);
        let mut d = String::new();
        for (lifeline, own) in self.placed.columns.lifelines.iter().zip(&heights) {
            let (x, y) = (self.placed.left + lifeline.x, height(own));
            let _ = match d.is_empty() {
                true => write!(d, "M{:.1} {y:.1}H{:.1}", left + 4.0, x + 12.0),
                false => write!(d, "L{:.1} {y:.1}H{:.1}", x - 12.0, x + 12.0),
            };
        }
        let _ = writeln!(
            out,
            "<path class=\"cut\" d=\"{d}H{:.1}\"><title>how far the chart got</title></path>",
            right - 4.0
        );
    }
}

/// What a message looks like: as the worse of its events.
fn worst(sent: Option<&Happening>, received: Option<&Happening>) -> State {
    let states = [sent, received].map(|event| event.map_or(State::Happened, |event| event.state));
    let has = |state: State| states.contains(&state);
    if has(State::Unknown) {
        State::Unknown
    } else if has(State::Broke) {
        State::Broke
    } else if has(State::Missing) {
        State::Missing
    } else {
        State::Happened
    }
}

fn shade(state: State) -> &'static str {
    match state {
        State::Unknown => "",
        State::Happened => " happened",
        State::Missing => " missing",
        State::Broke => " broke",
    }
}

/// The head of an arrow at a place, in a direction.
fn point(out: &mut String, (x, y): (f64, f64), (ux, uy): (f64, f64), state: State) {
    let class = match state {
        State::Unknown => "point",
        State::Happened => "happened-point",
        State::Missing => "missing-point",
        State::Broke => "broke-point",
    };
    let (bx, by) = (x - 10.0 * ux, y - 10.0 * uy);
    let _ = writeln!(
        out,
        "<path class=\"{class}\" d=\"M{x:.1} {y:.1}L{:.1} {:.1}L{:.1} {:.1}Z\"/>",
        bx - 4.2 * uy,
        by + 4.2 * ux,
        bx + 4.2 * uy,
        by - 4.2 * ux
    );
}
