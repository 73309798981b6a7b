//! Which line or bar is which.

use super::palette::{area, line};
use super::{MARGIN, SMALL, fitting, pixels, text};
use crate::text::{columns, cut, shared, without};
use std::fmt::Write;

/// Height of a row, width of the sample of a line, and what is kept free after it and after the name.
const ROW: f64 = 17.0;
const SAMPLE: f64 = 24.0;
const GAP: f64 = 6.0;
const APART: f64 = 18.0;
/// Longest name in characters.
const NAME: usize = 32;

/// Names in columns.
pub(super) struct Legend<'a> {
    names: &'a [String],
    /// Bytes that are left out of all names.
    shared: usize,
    shown: usize,
    columns: usize,
    column: f64,
}

impl<'a> Legend<'a> {
    /// For a place of this width, and of at most this height if that is possible.
    pub fn new(names: &'a [String], width: f64, height: f64) -> Self {
        let most = fitting(width - SAMPLE - GAP, SMALL).clamp(1, NAME);
        let longest = names.iter().map(|name| columns(name)).max().unwrap_or(0);
        let shared = if longest > most { shared(names) } else { 0 };
        let widths = names.iter().map(|name| columns(&without(name, shared)).min(most));
        let places = widths.clone().map(|width| SAMPLE + GAP + pixels(width, SMALL) + APART);
        if places.sum::<f64>() <= width + APART {
            // All in one row, each as wide as it is.
            return Legend { names, shared, shown: names.len(), columns: names.len(), column: 0.0 };
        }
        let longest = widths.max().unwrap_or(0);
        let column = SAMPLE + GAP + pixels(longest, SMALL) + APART;
        let columns = (((width + APART) / column) as usize).clamp(1, names.len().max(1));
        let rows = ((height / ROW) as usize).max(1);
        let room = rows * columns;
        // The last place says how many are missing.
        let shown = if names.len() <= room { names.len() } else { room - 1 };
        Legend { names, shared, shown, columns, column }
    }

    fn rows(&self) -> usize {
        let more = usize::from(self.shown < self.names.len());
        (self.shown + more).div_ceil(self.columns.max(1))
    }

    pub fn height(&self) -> f64 {
        if self.names.is_empty() { 0.0 } else { self.rows() as f64 * ROW + 6.0 }
    }

    pub fn draw(&self, out: &mut String, top: f64, areas: bool) {
        let rows = self.rows();
        let place = |index: usize| {
            // Down the columns: neighbours in order are neighbours in the eye.
            let (row, column) = (index % rows, index / rows);
            (MARGIN + column as f64 * self.column, top + row as f64 * ROW + ROW / 2.0)
        };
        let room = fitting(self.column - SAMPLE - GAP - APART + 0.5, SMALL);
        let mut flow = MARGIN;
        for (index, name) in self.names[..self.shown].iter().enumerate() {
            let (mut x, y) = place(index);
            let name = without(name, self.shared);
            let mut shown = cut(&name, room);
            if self.column == 0.0 {
                (x, shown) = (flow, cut(&name, NAME));
                flow += SAMPLE + GAP + pixels(columns(&shown), SMALL) + APART - if areas { 8.0 } else { 0.0 };
            }
            let _ = if areas {
                let style = area(index);
                let (left, top) = (x, y - 5.0);
                writeln!(out, "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"14\" height=\"10\" {style}/>")
            } else {
                let (style, end) = (line(index), x + SAMPLE);
                writeln!(
                    out,
                    "<path class=\"line\" stroke-width=\"2\" {style} d=\"M{x:.1} {y:.1}H{end:.1}\"/>"
                )
            };
            let after = if areas { SAMPLE - 8.0 } else { SAMPLE };
            text(out, "", "start", x + after + GAP, y + 4.0, &shown, Some(&self.names[index]));
        }
        if self.shown < self.names.len() {
            let (x, y) = place(self.shown);
            let missing = format!("… {} more", self.names.len() - self.shown);
            text(out, "note", "start", x, y + 4.0, &missing, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_names_take_columns_and_say_what_is_missing() {
        let names: Vec<String> = (0..50).map(|index| format!("series {index}")).collect();
        let legend = Legend::new(&names, 900.0, 200.0);
        assert_eq!((legend.shown, legend.columns), (50, 8));
        assert_eq!(legend.rows(), 7);
        let legend = Legend::new(&names, 300.0, 40.0);
        assert_eq!((legend.shown, legend.columns), (3, 2));
        let mut out = String::new();
        legend.draw(&mut out, 0.0, false);
        assert!(out.contains("… 47 more"), "{out}");
        assert_eq!(Legend::new(&[], 300.0, 40.0).height(), 0.0);
    }
}
