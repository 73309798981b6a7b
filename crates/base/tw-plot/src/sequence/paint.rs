//! What is drawn of one chart, from the back to the front: frames, lifelines, messages, the cut.

use super::arrange::{POINT, Placed, sentence, shown_long};
use super::columns::shown;
use super::messages::Painter;
use super::{Hexagon, Line, Sequence};
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
        let class = match verdict.holds {
            Some(true) => "good",
            Some(false) => "bad",
            None => "kind",
        };
        for line in sentence(&verdict.text) {
            y += 16.0;
            text(out, class, "start", x, y, &line, Some(&verdict.text));
        }
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
