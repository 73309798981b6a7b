//! Where lifelines stand: far enough from each other for their heads and for what is written between them.

use super::{LONGEST, Line, Sequence};
use crate::draw::pixels;
use crate::text::{columns, cut};

/// Size of the font of labels and heads.
pub(super) const SIZE: f64 = 12.0;
/// Size of the font of notes.
pub(super) const SMALL: f64 = 10.0;
/// How far a message to itself goes to the right.
pub(super) const LOOP: f64 = 30.0;
/// How far from a lifeline a message without sending or receipt ends.
pub(super) const SHORT: f64 = 16.0;
/// Characters in a line of a head.
const HEAD: usize = 18;
/// Lines of a head.
const HEAD_LINES: usize = 3;
/// Least distance of two lifelines.
const LEAST: f64 = 84.0;

/// A lifeline that is drawn.
#[derive(Clone, Debug)]
pub(super) struct Lifeline {
    /// The lines of its head.
    pub head: Vec<String>,
    /// Its full name, if the head does not show it.
    pub full: Option<String>,
    /// Width of its head.
    pub width: f64,
    /// Its place, from the left side of the frame.
    pub x: f64,
}

/// The lifelines of a chart.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// Those that are drawn, from left to right.
    pub lifelines: Vec<Lifeline>,
    /// Of each lifeline of the chart its number among those that are drawn.
    pub drawn: Vec<Option<usize>>,
    /// Width of the frame around them.
    pub width: f64,
}

impl Columns {
    pub fn new(sequence: &Sequence) -> Columns {
        let lines: Vec<&Line> = sequence.pre.iter().chain(&sequence.main).collect();
        let has = |at: usize| {
            let own = |line: &&Line| {
                line.events[0].is_some() && line.from == at || line.events[1].is_some() && line.to == at
            };
            lines.iter().any(own)
        };
        let (mut drawn, mut lifelines) = (Vec::new(), Vec::new());
        for (at, name) in sequence.lifelines.iter().enumerate() {
            drawn.push(has(at).then_some(lifelines.len()));
            if has(at) {
                lifelines.push(lifeline(name));
            }
        }
        let mut columns = Columns { lifelines, drawn, width: 0.0 };
        columns.spread(sequence, &lines);
        columns
    }

    /// The place of a lifeline from the left side of the frame; `None` if it is not drawn.
    pub fn x(&self, lifeline: usize) -> Option<f64> {
        let at = self.drawn.get(lifeline).copied().flatten()?;
        Some(self.lifelines[at].x)
    }

    /// Places lifelines: first where neighbours need room, then where messages over several do.
    fn spread(&mut self, sequence: &Sequence, lines: &[&Line]) {
        let count = self.lifelines.len();
        if count == 0 {
            self.width = LEAST;
            return;
        }
        let half = |at: usize| self.lifelines[at].width / 2.0;
        // rooms[0] is left of the first lifeline, rooms[count] right of the last.
        let mut rooms = vec![0.0f64; count + 1];
        for (at, room) in rooms.iter_mut().enumerate().take(count).skip(1) {
            *room = (half(at - 1) + half(at) + 16.0).max(LEAST);
        }
        rooms[0] = half(0) + 14.0;
        rooms[count] = half(count - 1) + 14.0;
        let mut spans: Vec<(usize, usize, f64)> =
            lines.iter().filter_map(|line| self.need(sequence, line)).collect();
        spans.sort_by_key(|(first, last, _)| last - first);
        for (first, last, need) in spans {
            let there: f64 = rooms[first..last].iter().sum();
            let more = (need - there).max(0.0) / (last - first) as f64;
            rooms[first..last].iter_mut().for_each(|room| *room += more);
        }
        let mut x = 0.0;
        for (at, lifeline) in self.lifelines.iter_mut().enumerate() {
            x += rooms[at];
            lifeline.x = x;
        }
        self.width = x + rooms[count];
    }

    /// The rooms that a message lies over, and how wide they have to be together.
    fn need(&self, sequence: &Sequence, line: &Line) -> Option<(usize, usize, f64)> {
        let label = pixels(columns(&shown(&line.label)), SIZE);
        let notes: usize = line.events.iter().flatten().map(|event| columns(&shown(&event.note)) + 3).sum();
        let text = label.max(pixels(notes, SMALL));
        let place = |lifeline: usize| self.drawn.get(lifeline).copied().flatten();
        match (place(line.from), place(line.to)) {
            (Some(from), Some(to)) if from == to => Some((from + 1, from + 2, LOOP + text + 22.0)),
            (Some(from), Some(to)) => Some((from.min(to) + 1, from.max(to) + 1, text + 40.0)),
            (Some(own), None) => Some(self.alone(sequence, own, line.to, line.to > line.from, text)),
            (None, Some(own)) => Some(self.alone(sequence, own, line.from, line.from > line.to, text)),
            (None, None) => None,
        }
    }

    /// The same for a message whose other lifeline is not drawn.
    fn alone(
        &self,
        sequence: &Sequence,
        own: usize,
        other: usize,
        right: bool,
        text: f64,
    ) -> (usize, usize, f64) {
        let name = sequence.lifelines.get(other).map_or(0, |name| columns(&shown(name)));
        let need = text.max(pixels(name, SMALL)) + SHORT + 34.0;
        let room = if right { own + 1 } else { own };
        (room, room + 1, need)
    }
}

/// A name as far as it is written out.
pub(super) fn shown(text: &str) -> String {
    cut(text, LONGEST)
}

fn lifeline(name: &str) -> Lifeline {
    let clean = cut(name, usize::MAX);
    let mut head = wrapped(&clean);
    let whole = head.len() <= HEAD_LINES;
    if !whole {
        head.truncate(HEAD_LINES);
        if let Some(last) = head.last_mut() {
            *last = format!("{}…", cut(last, HEAD - 1).trim_end_matches('…'));
        }
    }
    let widest = head.iter().map(|line| columns(line)).max().unwrap_or(0);
    let width = (pixels(widest, SIZE) + 20.0).max(52.0);
    Lifeline { full: (!whole).then_some(clean), head, width, x: 0.0 }
}

/// The lines of a head: broken behind spaces and signs where there are any.
fn wrapped(name: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut rest = name;
    while !rest.is_empty() {
        let sign = |c: char| !c.is_alphanumeric();
        let end =
            rest.find(sign).map_or(rest.len(), |at| at + rest[at..].chars().next().map_or(0, char::len_utf8));
        let (word, behind) = rest.split_at(end);
        rest = behind;
        let here = lines.last().map_or(0, |line| columns(line));
        if here > 0 && here + columns(word.trim_end()) > HEAD {
            lines.push(String::new());
        }
        for c in word.chars() {
            if lines.last().is_some_and(|line| columns(line) >= HEAD) && c != ' ' {
                lines.push(String::new());
            }
            if let Some(line) = lines.last_mut() {
                line.push(c);
            }
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}
