//! A chart as lines of text: lifelines, messages, and how far it got.

use std::sync::Arc;
use tw_ir::chart::{Check, Direction, Event};

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It happened.
    Done,
    /// It did not.
    Missing,
}

impl Mark {
    fn sign(self) -> char {
        match self {
            Mark::Done => '●',
            Mark::Missing => '○',
        }
    }
}

/// Columns between lifelines at most: longer names of messages are cut.
const WIDEST: usize = 32;

/// A message as it is drawn: what of it is in the chart, by number of its events.
struct Row<'c> {
    from: &'c Arc<str>,
    to: &'c Arc<str>,
    name: &'c str,
    events: [Option<usize>; 2],
}

/// The prechart and the main chart with their events marked; `cut` is said where the chart stopped.
pub fn drawing(check: &Check, marks: &[Mark], cut: Option<&str>) -> Vec<String> {
    let mut lifelines: Vec<&Arc<str>> = Vec::new();
    for event in &check.events {
        let (from, to) = ends(event);
        for name in [from, to] {
            if !lifelines.contains(&name) {
                lifelines.push(name);
            }
        }
    }
    let rows = [rows(check, 0..check.pre), rows(check, check.pre..check.events.len())];
    let widest = rows.iter().flatten().map(|row| row.name.chars().count() + 8);
    let names = lifelines.iter().map(|name| name.chars().count() + 2);
    let step = widest.chain(names).max().unwrap_or(8).clamp(8, WIDEST);
    let margin = lifelines.first().map_or(0, |name| name.chars().count() / 2) + 2;
    let at = |name: &Arc<str>| margin + step * lifelines.iter().position(|own| *own == name).unwrap_or(0);
    let width = margin + step * lifelines.len().saturating_sub(1) + 2;

    let mut head = vec![' '; width + WIDEST];
    for name in &lifelines {
        let start = at(name).saturating_sub(name.chars().count() / 2);
        name.chars().enumerate().for_each(|(offset, c)| put(&mut head, start + offset, c));
    }
    let mut lines = vec![text(head)];
    let last = rows
        .iter()
        .flatten()
        .enumerate()
        .filter(|(_, row)| row.events.iter().flatten().any(|&event| marks.get(event) == Some(&Mark::Done)))
        .map(|(number, _)| number)
        .last();
    let mut number = 0;
    for (side, rows) in rows.iter().enumerate() {
        let (chart, part) = &check.parts[side];
        let title = format!(" {chart}.{part} ");
        let rule = width.saturating_sub(title.chars().count() + 1);
        lines.push(format!("─{title}{}", "─".repeat(rule)));
        for row in rows {
            lines.push(drawn(row, marks, &lifelines, width, at));
            if let Some(cut) = cut.filter(|_| last == Some(number)) {
                let rest = "┄".repeat(width.saturating_sub(cut.chars().count() + 4).max(2));
                lines.push(format!("┄┄ {cut} {rest}"));
            }
            number += 1;
        }
    }
    if let Some(cut) = cut.filter(|_| last.is_none()) {
        lines.push(format!("┄┄ {cut}"));
    }
    lines
}

fn ends(event: &Event) -> (&Arc<str>, &Arc<str>) {
    match event.direction {
        Direction::Send => (&event.lifeline, &event.other),
        Direction::Recv => (&event.other, &event.lifeline),
    }
}

/// The messages of a basic chart, in the order of their first events.
fn rows(check: &Check, own: std::ops::Range<usize>) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for number in own {
        let event = &check.events[number];
        let side = usize::from(event.direction == Direction::Recv);
        match rows.iter_mut().find(|row| row.name == &*event.message && row.events[side].is_none()) {
            Some(row) => row.events[side] = Some(number),
            None => {
                let (from, to) = ends(event);
                let mut row = Row { from, to, name: &event.message, events: [None, None] };
                row.events[side] = Some(number);
                rows.push(row);
            }
        }
    }
    rows
}

fn drawn(
    row: &Row<'_>,
    marks: &[Mark],
    lifelines: &[&Arc<str>],
    width: usize,
    at: impl Fn(&Arc<str>) -> usize,
) -> String {
    let mut line = vec![' '; width + WIDEST];
    lifelines.iter().for_each(|name| put(&mut line, at(name), '│'));
    let (from, to) = (at(row.from), at(row.to));
    let (left, right) = (from.min(to), from.max(to));
    if left == right {
        // To itself: the name stands beside.
        for (offset, c) in format!("↩ {}", row.name).chars().enumerate() {
            put(&mut line, left + 2 + offset, c);
        }
    } else {
        (left + 1..right).for_each(|place| put(&mut line, place, '─'));
        let room = right - left - 5;
        let name: String = row.name.chars().take(room).collect();
        let start = left + 2 + (room.saturating_sub(name.chars().count())) / 2 + usize::from(to < from);
        for (offset, c) in format!(" {name} ").chars().enumerate() {
            put(&mut line, start + offset - 1, c);
        }
        put(&mut line, if to > from { right - 1 } else { left + 1 }, if to > from { '>' } else { '<' });
    }
    for (place, event) in [(from, row.events[0]), (to, row.events[1])] {
        if let Some(event) = event {
            put(&mut line, place, marks.get(event).copied().unwrap_or(Mark::Missing).sign());
        }
    }
    text(line)
}

fn put(line: &mut Vec<char>, at: usize, c: char) {
    if at >= line.len() {
        line.resize(at + 1, ' ');
    }
    line[at] = c;
}

fn text(line: Vec<char>) -> String {
    line.into_iter().collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Specification;

    #[test]
    fn the_cut_is_marked() {
        let text = "chart c necessary { pre { env -> A : go [recv only]; } main { A -> B : ask; B -> A : answer; } }";
        let spec = Specification::from_text("t.tw", text).unwrap();
        let (_, check, _) = spec.program.chart(spec.program.roots[0].node).unwrap();
        use Mark::{Done, Missing};
        let drawn = drawing(check, &[Done, Done, Done, Missing, Missing], Some("the trace ends here"));
        let expected = "
   env           A            B
─ c.pre ──────────────────────────
   │──── go ────>●            │
─ c.main ─────────────────────────
   │            ●─── ask ───>●
┄┄ the trace ends here ┄┄┄┄┄┄┄┄┄┄┄
   │            ○<── answer ─○";
        assert_eq!(drawn.len(), expected.lines().count() - 1, "{}", drawn.join("\n"));
        let signs = |line: &str| line.chars().filter(|c| "●○<>".contains(*c)).collect::<String>();
        for (own, wanted) in drawn.iter().zip(expected.lines().skip(1)) {
            assert_eq!(signs(own), signs(wanted), "{}", drawn.join("\n"));
        }
        // Lifelines stand below each other.
        let place = |line: &str| line.chars().position(|c| "●○".contains(c));
        assert_eq!(place(&drawn[2]), place(&drawn[4]), "{}", drawn.join("\n"));
    }
}
