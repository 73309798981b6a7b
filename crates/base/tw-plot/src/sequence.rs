//! Sequence charts as pictures: lifelines with their heads, a hexagon around the prechart, a rectangle around the main chart, messages
//! from top to bottom, and arrows between charts.
//!
//! The outline of the hexagon tells what the prechart is, as "Monitoring Systems with Extended Live Sequence Charts" draws it: dashed
//! and hatched where it is necessary, solid and filled where it is sufficient, dashed twice where it is both.

mod arrange;
mod columns;
mod connect;
mod messages;
mod paint;
#[cfg(test)]
mod tests;

use crate::draw::MARGIN;
use arrange::Placed;
use connect::Bus;
use std::fmt::Write;
use tw_core::xml;

/// Charts, one below the other, and what may come only after what.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sequences {
    /// What the picture is called.
    pub title: String,
    /// The charts.
    pub charts: Vec<Sequence>,
    /// Arrows between them.
    pub after: Vec<After>,
}

/// A universal chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sequence {
    /// Its name.
    pub name: String,
    /// The sentence below it.
    pub title: Option<String>,
    /// What its prechart is.
    pub hexagon: Hexagon,
    /// Whether it is repeated.
    pub iterate: bool,
    /// Names of lifelines from left to right. Those without an event of their own are not drawn.
    pub lifelines: Vec<String>,
    /// Lines of the prechart, from top to bottom.
    pub pre: Vec<Line>,
    /// Lines of the main chart.
    pub main: Vec<Line>,
    /// What a trace says about it.
    pub verdict: Option<Verdict>,
}

/// What the prechart is to the main chart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hexagon {
    /// The main chart has to follow.
    #[default]
    Necessary,
    /// The main chart comes only behind it.
    Sufficient,
    /// Both.
    Iff,
}

/// A message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// The number of the lifeline that sends.
    pub from: usize,
    /// The number of the lifeline that receives.
    pub to: usize,
    /// What is sent.
    pub label: String,
    /// The sending and the receipt; `None` where that is no event of the chart.
    pub events: [Option<Happening>; 2],
    /// The number of its coregion: neighbours of one number stand in one.
    pub coregion: Option<usize>,
}

/// What a trace says about an event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Happening {
    /// Whether it happened.
    pub state: State,
    /// Where: a line of a log.
    pub note: String,
}

/// Whether an event happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// No trace was looked at.
    #[default]
    Unknown,
    /// Within the cut.
    Happened,
    /// Not yet, or never.
    Missing,
    /// It came when it should not have.
    Broke,
}

/// What a trace says about a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// In words, shown below the name.
    pub text: String,
    /// Whether it is good news; `None` if nothing is known yet.
    pub holds: Option<bool>,
}

/// One part of a chart, by number: the main chart, or the prechart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartOf {
    /// The number of the chart.
    pub chart: usize,
    /// Whether its main chart is meant.
    pub main: bool,
}

/// The later ones may come only after the first.
#[derive(Clone, Debug, PartialEq)]
pub struct After {
    /// What comes first.
    pub first: PartOf,
    /// What may only come then.
    pub then: Vec<PartOf>,
    /// Of each of those whether a trace has it too early.
    pub broken: Vec<bool>,
}

/// Between two charts.
const BETWEEN: f64 = 30.0;
/// Longest name that is written out, in characters.
const LONGEST: usize = 60;

const STYLE: &str = "\
text { font-family: ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; font-size: 12px; fill: #334155; }
.ground { fill: #ffffff; }
.name { font-size: 15px; font-weight: bold; fill: #0f172a; }
.kind { font-size: 12px; fill: #64748b; }
.small { font-size: 10px; fill: #64748b; }
.label { fill: #0f172a; stroke: #ffffff; stroke-width: 4px; paint-order: stroke; }
.on-filled { stroke: #eef2ff; }
.head { fill: #f8fafc; stroke: #334155; stroke-width: 1.3; }
.lifeline { stroke: #64748b; stroke-width: 1.2; fill: none; }
.region { stroke: #334155; stroke-width: 1.6; fill: none; }
.dashes { stroke-dasharray: 4 4; }
.foot { fill: #334155; }
.main { fill: none; stroke: #334155; stroke-width: 1.6; }
.hexagon { stroke: #1d4ed8; stroke-width: 1.6; fill: none; }
.necessary, .iff { stroke-dasharray: 8 5; }
.sufficient { fill: #eef2ff; }
.hatch { stroke: #c7d2fe; stroke-width: 1; }
.message { stroke: #0f172a; stroke-width: 1.4; fill: none; }
.point { fill: #0f172a; stroke: none; }
.after { stroke: #7c3aed; stroke-width: 1.6; fill: none; }
.after-point { fill: #7c3aed; stroke: none; }
.after-word { font-size: 10px; fill: #7c3aed; }
.happened { stroke: #15803d; }
.happened-point { fill: #15803d; stroke: none; }
.iterate { fill: #1d4ed8; }
.missing { stroke: #94a3b8; stroke-dasharray: 5 4; }
.missing-point { fill: #ffffff; stroke: #94a3b8; stroke-width: 1.4; }
.broke { stroke: #dc2626; stroke-width: 2; fill: none; }
.broke-point { fill: #dc2626; stroke: none; }
.cut { stroke: #ea580c; stroke-width: 1.6; stroke-dasharray: 2 3; fill: none; }
.good { fill: #15803d; }
.bad { fill: #dc2626; }
@media (prefers-color-scheme: dark) {
text { fill: #cbd5e1; }
.ground { fill: #0f172a; }
.name { fill: #f1f5f9; }
.kind, .small { fill: #94a3b8; }
.label { fill: #f1f5f9; stroke: #0f172a; }
.on-filled { stroke: #1e293b; }
.head { fill: #1e293b; stroke: #cbd5e1; }
.lifeline { stroke: #94a3b8; }
.region, .main { stroke: #cbd5e1; }
.foot { fill: #cbd5e1; }
.hexagon { stroke: #93c5fd; }
.sufficient { fill: #1e293b; }
.iterate { fill: #93c5fd; }
.hatch { stroke: #1e3a8a; }
.message { stroke: #f1f5f9; }
.point { fill: #f1f5f9; }
.after { stroke: #c4b5fd; }
.after-point, .after-word { fill: #c4b5fd; }
.happened { stroke: #4ade80; }
.happened-point, .good { fill: #4ade80; }
.missing { stroke: #64748b; }
.missing-point { fill: #0f172a; stroke: #64748b; }
.broke { stroke: #f87171; }
.broke-point, .bad { fill: #f87171; }
.cut { stroke: #fb923c; }
}
";

/// The charts as one picture, as large as they need. The same charts give the same text.
pub fn svg_sequences(sequences: &Sequences) -> String {
    let buses = connect::buses(sequences);
    let lanes = buses.iter().map(|bus| bus.lane + 1).max().unwrap_or(0);
    let left = MARGIN + connect::room(lanes);
    let mut top = MARGIN;
    let mut placed = Vec::with_capacity(sequences.charts.len());
    for sequence in &sequences.charts {
        let one = Placed::new(sequence, left, top);
        top = one.bottom + BETWEEN;
        placed.push(one);
    }
    let wide = placed.iter().map(|one| one.right).fold(left + 120.0, f64::max) + MARGIN;
    let high = (top - BETWEEN).max(MARGIN) + MARGIN;
    let mut out = String::new();
    for (sequence, placed) in sequences.charts.iter().zip(&placed) {
        paint::chart(&mut out, sequence, placed);
    }
    buses.iter().for_each(|bus| Bus::draw(bus, &mut out, &placed, left));
    let mut picture = String::with_capacity(out.len() + STYLE.len() + 600);
    let _ = write!(
        picture,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide:.0}\" height=\"{high:.0}\" viewBox=\"0 0 {wide:.0} \
         {high:.0}\" role=\"img\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n<defs><pattern id=\"hatched\" width=\"7\" \
         height=\"7\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><path class=\"hatch\" d=\"M0 0V7\"/>\
         </pattern></defs>\n<rect class=\"ground\" width=\"{wide:.0}\" height=\"{high:.0}\"/>\n{out}</svg>\n",
        xml(&sequences.title)
    );
    picture
}
