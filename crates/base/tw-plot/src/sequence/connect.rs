//! Arrows between charts: one line for each `after`, in a lane left of the charts, so that none runs through a chart.

use super::{Placed, Sequences};
use std::fmt::Write;

/// Width of a lane.
const LANE: f64 = 18.0;

/// A line from one part to others.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bus {
    pub first: (usize, bool),
    pub then: Vec<(usize, bool)>,
    /// Which of those came too early.
    pub broken: Vec<bool>,
    /// Its lane, 0 next to the charts.
    pub lane: usize,
}

/// Room that lanes take.
pub(super) fn room(lanes: usize) -> f64 {
    if lanes == 0 { 0.0 } else { 12.0 + lanes as f64 * LANE }
}

/// Every line with its lane: short ones next to the charts, and two of one lane beside different charts.
pub(super) fn buses(sequences: &Sequences) -> Vec<Bus> {
    let count = sequences.charts.len();
    let mut buses: Vec<Bus> = Vec::new();
    for after in &sequences.after {
        let part = |own: &super::PartOf| (own.chart, own.main);
        let (first, then): (_, Vec<_>) = (part(&after.first), after.then.iter().map(part).collect());
        let there = first.0 < count && !then.is_empty() && then.iter().all(|own| own.0 < count);
        if there {
            buses.push(Bus { first, then, broken: after.broken.clone(), lane: 0 });
        }
    }
    let mut order: Vec<usize> = (0..buses.len()).collect();
    order.sort_by_key(|&at| buses[at].reach().1 - buses[at].reach().0);
    let mut taken: Vec<Vec<(usize, usize)>> = Vec::new();
    for at in order {
        let (low, high) = buses[at].reach();
        let free = |lane: &Vec<(usize, usize)>| lane.iter().all(|own| own.1 < low || high < own.0);
        let lane = taken.iter().position(free).unwrap_or_else(|| {
            taken.push(Vec::new());
            taken.len() - 1
        });
        taken[lane].push((low, high));
        buses[at].lane = lane;
    }
    buses
}

impl Bus {
    /// The uppermost and the lowest part, counted from the top.
    fn reach(&self) -> (usize, usize) {
        let place = |own: &(usize, bool)| 2 * own.0 + usize::from(own.1);
        let all = || std::iter::once(&self.first).chain(&self.then).map(place);
        (all().min().unwrap_or(0), all().max().unwrap_or(0))
    }

    /// Draws it; `left` is where the charts begin.
    pub fn draw(&self, out: &mut String, placed: &[Placed], left: f64) {
        let x = left - 12.0 - LANE * self.lane as f64;
        let (begin, mut start) = placed[self.first.0].side(self.first.1);
        // What ends at a rectangle where others begin stands a little higher; a hexagon has its point.
        start += if self.first.1 { 5.0 } else { 0.0 };
        let mut ends = vec![start];
        let _ = writeln!(out, "<path class=\"after\" d=\"M{begin:.1} {start:.1}H{x:.1}\"/>");
        let _ = writeln!(out, "<circle class=\"after-point\" cx=\"{begin:.1}\" cy=\"{start:.1}\" r=\"3\"/>");
        for (at, &(chart, main)) in self.then.iter().enumerate() {
            let (end, y) = placed[chart].side(main);
            let y = y - if main { 5.0 } else { 0.0 };
            ends.push(y);
            let broken = self.broken.get(at) == Some(&true);
            let (line, point) =
                if broken { ("after broke", "broke-point") } else { ("after", "after-point") };
            let _ = writeln!(out, "<path class=\"{line}\" d=\"M{x:.1} {y:.1}H{:.1}\"/>", end - 8.0);
            let (back, up, down) = (end - 10.0, y - 4.5, y + 4.5);
            let _ = writeln!(
                out,
                "<path class=\"{point}\" d=\"M{end:.1} {y:.1}L{back:.1} {up:.1}V{down:.1}Z\"/>"
            );
        }
        let (low, high) =
            ends.iter().fold((f64::MAX, f64::MIN), |(low, high), y| (low.min(*y), high.max(*y)));
        let _ = writeln!(out, "<path class=\"after\" d=\"M{x:.1} {low:.1}V{high:.1}\"/>");
        // The word stands beside the longest part that nothing ends at.
        ends.sort_by(f64::total_cmp);
        let pairs = ends.windows(2).map(|pair| (pair[1] - pair[0], (pair[0] + pair[1]) / 2.0));
        if let Some((_, y)) = pairs.max_by(|a, b| a.0.total_cmp(&b.0)) {
            let at = x - 4.0;
            let _ = writeln!(
                out,
                "<text class=\"after-word\" text-anchor=\"middle\" x=\"{at:.1}\" y=\"{y:.1}\" \
                 transform=\"rotate(-90 {at:.1} {y:.1})\">after</text>"
            );
        }
    }
}
