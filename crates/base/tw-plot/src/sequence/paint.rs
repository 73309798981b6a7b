//! What is drawn of one chart, from the back to the front: frames, lifelines, messages, the cut.

use super::arrange::{Frame, POINT, Placed, shown_long};
use super::columns::{LOOP, SHORT, SIZE, shown};
use super::{Happening, Hexagon, Line, Sequence, State};
use crate::draw::{pixels, text};
use crate::text::columns;
use std::fmt::Write;
use tw_core::xml;

/// Draws a chart.
pub(super) fn chart(out: &mut String, sequence: &Sequence, placed: &Placed) {
    out.push_str("<g>\n");
    headings(out, sequence, placed);
    hexagon(out, sequence, placed);
    let (left, width) = (placed.left, placed.columns.width);
    let main = &placed.main;
    let _ = writeln!(
        out,
        "<rect class=\"main\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\"/>",
        main.top,
        main.bottom - main.top
    );
    lifelines(out, sequence, placed);
    for (lines, frame) in [(&sequence.pre, &placed.pre), (&sequence.main, &placed.main)] {
        let filled = sequence.hexagon == Hexagon::Sufficient && std::ptr::eq(frame, &placed.pre);
        let label = if filled { "label on-filled" } else { "label" };
        let painter = Painter { sequence, placed, frame, lines, label };
        painter.cut(out);
        (0..lines.len()).for_each(|at| painter.message(out, at));
    }
    out.push_str("</g>\n");
}

fn headings(out: &mut String, sequence: &Sequence, placed: &Placed) {
    let (x, mut y) = (placed.left, placed.top + 14.0);
    let name = shown(&sequence.name);
    text(out, "name", "start", x, y, &name, Some(&sequence.name));
    let word = match sequence.hexagon {
        Hexagon::Necessary => "necessary",
        Hexagon::Sufficient => "sufficient",
        Hexagon::Iff => "iff",
    };
    let word = if sequence.iterate { format!("{word}, iterated") } else { word.to_owned() };
    text(out, "kind", "start", x + pixels(columns(&name), 15.0) + 10.0, y, &word, None);
    if let Some(title) = &sequence.title {
        y += 16.0;
        text(out, "kind", "start", x, y, &shown_long(title), Some(title));
    }
    if let Some(verdict) = &sequence.verdict {
        y += 16.0;
        let class = match verdict.holds {
            Some(true) => "good",
            Some(false) => "bad",
            None => "kind",
        };
        text(out, class, "start", x, y, &shown_long(&verdict.text), Some(&verdict.text));
    }
}

fn hexagon(out: &mut String, sequence: &Sequence, placed: &Placed) {
    let outline = |inset: f64| {
        let (top, bottom) = (placed.pre.top + inset, placed.pre.bottom - inset);
        let (left, right) = (placed.left, placed.left + placed.columns.width);
        // The corners move along, so that both lines are equally far from each other.
        let (point, corner) = (POINT - 1.35 * inset, inset * 0.35);
        let middle = (top + bottom) / 2.0;
        format!(
            "M{:.1} {middle:.1}L{:.1} {top:.1}H{:.1}L{:.1} {middle:.1}L{:.1} {bottom:.1}H{:.1}Z",
            left - point,
            left + corner,
            right - corner,
            right + point,
            right - corner,
            left + corner
        )
    };
    let mut path = |class: &str, d: &str, more: &str| {
        let _ = writeln!(out, "<path class=\"{class}\" d=\"{d}\"{more}/>");
    };
    match sequence.hexagon {
        Hexagon::Necessary => {
            path("hatching", &outline(0.0), " fill=\"url(#hatched)\"");
            path("hexagon necessary", &outline(0.0), "");
        }
        Hexagon::Sufficient => path("hexagon sufficient", &outline(0.0), ""),
        Hexagon::Iff => {
            path("hexagon iff", &outline(0.0), "");
            path("hexagon iff", &outline(4.5), "");
        }
    }
    if sequence.iterate {
        // An arrow that goes round, and the sign of repetition.
        let (x, y) = (placed.left + placed.columns.width + POINT + 8.0, placed.pre.top + 12.0);
        let _ = writeln!(
            out,
            "<path class=\"hexagon\" d=\"M{:.1} {:.1}a7 7 0 1 1 -5 -2.2\"/><path class=\"iterate\" \
             d=\"M{:.1} {:.1}l-1 -6l6.5 2.6z\"/>",
            x + 11.0,
            y - 4.0,
            x + 5.2,
            y - 3.2
        );
        text(out, "name", "start", x + 16.0, y + 2.0, "+", None);
    }
}

fn lifelines(out: &mut String, sequence: &Sequence, placed: &Placed) {
    let bottom = placed.main.bottom + 10.0;
    for (at, lifeline) in placed.columns.lifelines.iter().enumerate() {
        let x = placed.left + lifeline.x;
        let mut y = placed.heads + placed.head;
        let mut line = |from: f64, to: f64, class: &str| {
            if to > from {
                let _ = writeln!(out, "<path class=\"{class}\" d=\"M{x:.1} {from:.1}V{to:.1}\"/>");
            }
        };
        let regions = regions(sequence, placed, at);
        for &(from, to) in &regions {
            line(y, from, "lifeline");
            line(from, to, "region dashes");
            y = to;
        }
        line(y, bottom, "lifeline");
        for y in regions.into_iter().flat_map(|(from, to)| [from, to]) {
            let _ = writeln!(out, "<path class=\"region\" d=\"M{:.1} {y:.1}h14\"/>", x - 7.0);
        }
        let (width, high) = (lifeline.width, placed.head);
        let _ = write!(
            out,
            "<rect class=\"head\" x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{high:.1}\" rx=\"2\">",
            x - width / 2.0,
            placed.heads
        );
        match &lifeline.full {
            Some(full) => out.push_str(&format!("<title>{}</title></rect>\n", xml(full))),
            None => out.push_str("</rect>\n"),
        }
        let lines = lifeline.head.len() as f64;
        let first = placed.heads + high / 2.0 - 15.0 * (lines - 1.0) / 2.0 + 4.0;
        for (number, line) in lifeline.head.iter().enumerate() {
            text(out, "", "middle", x, first + 15.0 * number as f64, line, None);
        }
        let _ = writeln!(
            out,
            "<rect class=\"foot\" x=\"{:.1}\" y=\"{bottom:.1}\" width=\"24\" height=\"4\"/>",
            x - 12.0
        );
    }
}

/// The coregions of a lifeline, from top to bottom.
fn regions(sequence: &Sequence, placed: &Placed, lifeline: usize) -> Vec<(f64, f64)> {
    let own = |other: usize| placed.columns.drawn.get(other).copied().flatten() == Some(lifeline);
    let events = |line: &Line| {
        let [sent, received] = &line.events;
        usize::from(sent.is_some() && own(line.from)) + usize::from(received.is_some() && own(line.to))
    };
    let mut found = Vec::new();
    for (lines, frame) in [(&sequence.pre, &placed.pre), (&sequence.main, &placed.main)] {
        for (from, to, inside) in &frame.regions {
            // One event alone has no order to be free of.
            if lines[inside.clone()].iter().map(events).sum::<usize>() > 1 {
                found.push((*from, *to));
            }
        }
    }
    found
}

struct Painter<'a> {
    sequence: &'a Sequence,
    placed: &'a Placed,
    frame: &'a Frame,
    lines: &'a [Line],
    /// The class of labels: what is around their letters has the colour of the ground.
    label: &'static str,
}

impl Painter<'_> {
    fn x(&self, lifeline: usize) -> Option<f64> {
        Some(self.placed.left + self.placed.columns.x(lifeline)?)
    }

    fn message(&self, out: &mut String, at: usize) {
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
    fn cut(&self, out: &mut String) {
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
        // All or nothing needs no line: dots and colours tell.
        if !some || all {
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
