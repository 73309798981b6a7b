//! Where the parts of a chart stand: its name, the heads of its lifelines, the hexagon and the rectangle with their lines.

use super::columns::{Columns, SIZE, SMALL, shown};
use super::{Line, Sequence};
use crate::draw::pixels;
use crate::text::columns;

/// How far the points of the hexagon stand out.
pub(super) const POINT: f64 = 18.0;
/// Between two messages.
const ROW: f64 = 34.0;
/// A message to itself takes more.
const LOOP_ROW: f64 = 50.0;
/// Between two messages of a coregion and what stands around it.
const REGION: f64 = 10.0;

/// The upper and the lower end of a coregion, and the numbers of its lines.
type Region = (f64, f64, std::ops::Range<usize>);

/// A basic chart.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub top: f64,
    pub bottom: f64,
    /// The heights of its messages.
    pub rows: Vec<f64>,
    /// Its coregions.
    pub regions: Vec<Region>,
}

/// A chart and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub columns: Columns,
    /// The left side of the rectangle.
    pub left: f64,
    pub top: f64,
    /// Where the heads begin.
    pub heads: f64,
    /// Height of the heads.
    pub head: f64,
    pub pre: Frame,
    pub main: Frame,
    /// All that is drawn lies within.
    pub right: f64,
    pub bottom: f64,
}

impl Placed {
    pub fn new(sequence: &Sequence, left: f64, top: f64) -> Placed {
        let columns = Columns::new(sequence);
        let left = left + POINT;
        let mut y = top + 16.0;
        y += if sequence.title.is_some() { 16.0 } else { 0.0 };
        y += 16.0 * sequence.verdict.as_ref().map_or(0, |one| sentence(&one.text).len()) as f64;
        let heads = y + 10.0;
        let lines = columns.lifelines.iter().map(|own| own.head.len()).max().unwrap_or(1);
        let head = 12.0 + 15.0 * lines as f64;
        let pre = frame(&sequence.pre, &columns, heads + head + 14.0);
        let main = frame(&sequence.main, &columns, pre.bottom + 16.0);
        let bottom = main.bottom + 18.0;
        let mut right = left + columns.width + POINT;
        if sequence.iterate {
            right += 34.0;
        }
        let kind = 14 + if sequence.iterate { 12 } else { 0 };
        let mut widths = vec![pixels(self::columns(&shown(&sequence.name)), 15.0) + pixels(kind, SIZE)];
        widths.extend(sequence.title.as_ref().map(|title| pixels(self::columns(&shown_long(title)), SIZE)));
        let verdict = sequence.verdict.iter().flat_map(|one| sentence(&one.text));
        widths.extend(verdict.map(|line| pixels(self::columns(&line), SIZE)));
        right = widths.into_iter().map(|width| left + width).fold(right, f64::max);
        Placed { columns, left, top, heads, head, pre, main, right, bottom }
    }

    /// The frame of a part.
    pub fn part(&self, main: bool) -> &Frame {
        if main { &self.main } else { &self.pre }
    }

    /// The left end of a part at half its height: the point of the hexagon, or the side of the rectangle.
    pub fn side(&self, main: bool) -> (f64, f64) {
        let frame = self.part(main);
        let x = if main { self.left } else { self.left - POINT };
        (x, (frame.top + frame.bottom) / 2.0)
    }
}

/// A sentence as far as it is written out.
pub(super) fn shown_long(text: &str) -> String {
    crate::text::cut(text, 110)
}

/// A sentence in lines; of a very long one the beginning.
pub(super) fn sentence(text: &str) -> Vec<String> {
    const WIDE: usize = 64;
    const LINES: usize = 4;
    let mut lines = vec![String::new()];
    for word in crate::text::cut(text, WIDE * LINES).split(' ') {
        let here = lines.last().map_or(0, |line| self::columns(line));
        if here > 0 && here + 1 + self::columns(word) > WIDE && lines.len() < LINES {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    lines.iter().map(|line| shown_long(line)).collect()
}

fn frame(lines: &[Line], columns: &Columns, top: f64) -> Frame {
    let mut y = top + 6.0;
    let (mut rows, mut regions) = (Vec::new(), Vec::<Region>::new());
    for (at, line) in lines.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| lines[before].coregion);
        if line.coregion != before && line.coregion.is_some() {
            y += if at > 0 { REGION } else { 2.0 };
            regions.push((y + 8.0, 0.0, at..at));
        } else if before.is_some() && line.coregion != before {
            y += REGION;
        }
        let own = line.from == line.to && line.events.iter().all(Option::is_some);
        let noted = line.events.iter().flatten().any(|event| !event.note.is_empty());
        // The name of a lifeline that is not drawn stands there too.
        let noted = noted || columns.x(line.from).is_none() || columns.x(line.to).is_none();
        // The label stands above the arrow, notes below it.
        rows.push(y + 24.0);
        y += if own { LOOP_ROW } else { ROW } + if noted { SMALL } else { 0.0 };
        if let (Some(_), Some(region)) = (line.coregion, regions.last_mut()) {
            region.1 = y;
            region.2.end = at + 1;
        }
    }
    Frame { top, bottom: y + 8.0, rows, regions }
}
