//! Charts as pictures that a browser shows.
//!
//! A picture is laid out from the outside: title, notes and legend take what they need at the top, the labels of the
//! axes at the left and below, and the plot the rest. The font has a fixed width, so that what fits is known without
//! measuring. Colours are readable on light and on dark ground.

mod axes;
mod bars;
mod legend;
mod levels;
mod measure;
mod palette;
mod panels;
mod plot;
mod series;
#[cfg(test)]
mod tests;

pub use panels::svg_panels;

use crate::axis::{Range, Ticks};
use crate::text::{columns, cut};
use crate::{Body, Chart, Scale};
use axes::Below;
use legend::Legend;
use measure::Measures;
use plot::Plot;
use std::fmt::Write;
use tw_core::xml;

/// Width of a character in pixels, as part of the size of the font.
pub(super) const ADVANCE: f64 = 0.6021;
/// Around the picture.
pub(super) const MARGIN: f64 = 16.0;
/// Sizes of fonts: labels of ticks, and titles of axes.
pub(super) const SMALL: f64 = 11.0;
const NORMAL: f64 = 12.0;
const LARGE: f64 = 14.0;
/// Smaller pictures are laid out at this size and shrunk; larger ones are not made.
const LEAST: (f64, f64) = (300.0, 220.0);
const MOST: u32 = 20_000;
/// The least height and width of a plot.
const LOWEST: f64 = 60.0;
/// Longest label at the left in characters.
pub(super) const LEFT: usize = 30;

const STYLE: &str = "\
text { font-family: ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; font-size: 11px; fill: #475569; }
.ground { fill: #ffffff; }
.title { font-size: 14px; font-weight: bold; fill: #0f172a; }
.note { fill: #64748b; }
.value { fill: #475569; stroke: #ffffff; stroke-width: 3px; paint-order: stroke; }
.label { font-size: 12px; fill: #334155; }
.none { font-size: 14px; }
.axis { stroke: #64748b; stroke-width: 1.2; fill: none; }
.grid { stroke: #e2e8f0; stroke-width: 1; fill: none; }
.minor { stroke: #f1f5f9; stroke-width: 1; fill: none; }
.line { fill: none; stroke-linejoin: round; }
@media (prefers-color-scheme: dark) {
text { fill: #cbd5e1; }
.ground { fill: #0f172a; }
.title { fill: #f1f5f9; }
.note { fill: #94a3b8; }
.value { fill: #cbd5e1; stroke: #0f172a; }
.label { fill: #e2e8f0; }
.axis { stroke: #94a3b8; }
.grid { stroke: #334155; }
.minor { stroke: #1e293b; }
}
";

/// A picture of the chart, in pixels. The same chart gives the same text.
pub fn svg(chart: &Chart, width: u32, height: u32) -> String {
    let (width, height) = (width.clamp(1, MOST), height.clamp(1, MOST));
    let (mut wide, mut high) = (f64::from(width).max(LEAST.0), f64::from(height).max(LEAST.1));
    let measures = Measures::new(chart);
    // Where titles and labels leave no place, all is laid out larger and shrunk.
    let content = loop {
        match content(chart, &measures, wide, high) {
            Some(content) => break content,
            None => (wide, high) = ((wide * 1.2).ceil(), (high * 1.2).ceil()),
        }
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {wide:.0} \
         {high:.0}\" role=\"img\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n<rect class=\"ground\" \
         width=\"{wide:.0}\" height=\"{high:.0}\"/>\n{content}</svg>\n",
        xml(&chart.title)
    )
}

/// What is drawn; `None` if the picture is too low for it.
fn content(chart: &Chart, measures: &Measures, wide: f64, high: f64) -> Option<String> {
    let mut out = String::new();
    let top = header(&mut out, chart, measures, wide, high);
    let plot = frame(&mut out, chart, measures, top, wide, high)?;
    if measures.x.is_empty() || measures.y.is_empty() {
        let (x, y) = (plot.left + plot.width / 2.0, plot.top + plot.height / 2.0);
        text(&mut out, "value none", "middle", x, y, "no value", None);
    } else {
        match &chart.body {
            Body::Histogram { bins } => bars::histogram(&mut out, &plot, chart, bins),
            Body::Series { series } => series::series(&mut out, &plot, chart, series),
            Body::Bars { groups, series } => bars::bars(&mut out, &plot, chart, groups, series),
        }
    }
    Some(out)
}

/// Title, notes, legend and the label of the vertical axis. Gives the place below them.
fn header(out: &mut String, chart: &Chart, measures: &Measures, wide: f64, high: f64) -> f64 {
    let room = wide - 2.0 * MARGIN;
    let mut top = MARGIN;
    let mut line = |out: &mut String, class: &str, size: f64, content: &str| {
        if !content.trim().is_empty() {
            top += size + 2.0;
            let shown = cut(content, fitting(room, size));
            text(out, class, "start", MARGIN, top - 2.0, &shown, Some(content));
            top += 5.0;
        }
    };
    line(out, "title", LARGE, &chart.title);
    line(out, "note", SMALL, chart.subtitle.as_deref().unwrap_or(""));
    measures.notes.iter().for_each(|note| line(out, "note", SMALL, note));
    let legend = Legend::new(&measures.legend, room, (high * 0.32).min(high - top - 150.0));
    legend.draw(out, top + 4.0, matches!(chart.body, Body::Bars { .. }));
    top += legend.height();
    if !chart.y.label.trim().is_empty() {
        top += 18.0;
        let shown = cut(&chart.y.label, fitting(room, NORMAL));
        text(out, "label", "start", MARGIN, top, &shown, Some(&chart.y.label));
    }
    top + if measures.zero { 20.0 } else { 16.0 }
}

/// Axes, grid and labels. Gives the place for the values, if there is one.
fn frame(
    out: &mut String,
    chart: &Chart,
    measures: &Measures,
    top: f64,
    wide: f64,
    high: f64,
) -> Option<Plot> {
    let label = match measures.scale {
        Scale::Time { .. } if chart.x.label.contains("UTC") => chart.x.label.clone(),
        Scale::Time { .. } if chart.x.label.trim().is_empty() => "UTC".into(),
        Scale::Time { .. } => format!("{} (UTC)", chart.x.label),
        _ => chart.x.label.clone(),
    };
    let label_room = if label.trim().is_empty() { 0.0 } else { 20.0 };
    let room = high - top - MARGIN - label_room;
    // Labels at the left take width from those below, which take height from those at the left: planned twice.
    let x = Range::new(&measures.scale, &measures.x, false);
    let (y, mut ticks) = upward(chart, measures, room - 20.0);
    let mut plot = Plot { left: beside(&ticks), top, width: 0.0, height: 0.0, x, y };
    plot.width = wide - plot.left - MARGIN - 4.0;
    let mut below = Below::new(measures, &plot, wide, high);
    if room - below.height() < LOWEST || plot.width < LOWEST {
        return None;
    }
    (plot.y, ticks) = upward(chart, measures, room - below.height());
    if beside(&ticks) > plot.left {
        plot.left = beside(&ticks);
        plot.width = wide - plot.left - MARGIN - 4.0;
        below = Below::new(measures, &plot, wide, high);
    }
    plot.height = room - below.height();
    axes::draw(out, &plot, &ticks, &below, measures, matches!(chart.y.scale, Scale::Category(_)));
    if label_room > 0.0 {
        let shown = cut(&label, fitting(plot.width, NORMAL));
        text(out, "label", "middle", plot.left + plot.width / 2.0, high - MARGIN + 2.0, &shown, Some(&label));
    }
    Some(plot)
}

/// Where a plot begins beside these labels.
fn beside(ticks: &Ticks) -> f64 {
    let longest = ticks.ticks.iter().map(|tick| columns(&cut(&tick.label, LEFT))).max().unwrap_or(0);
    (MARGIN + pixels(longest, SMALL) + 8.0).max(MARGIN + 20.0)
}

/// The range and the ticks of the vertical axis for a plot of this height.
fn upward(chart: &Chart, measures: &Measures, height: f64) -> (Range, Ticks) {
    let mut range = Range::new(&chart.y.scale, &measures.y, measures.zero);
    let named = matches!(chart.y.scale, Scale::Category(_));
    let most = if named { (height / 16.0).max(1.0) } else { (height / 36.0).clamp(2.0, 10.0) };
    let mut ticks = Ticks::round(&chart.y.scale, &mut range, most as usize);
    // Below a label is the next one: dates stand before the times.
    for tick in ticks.ticks.iter_mut().filter(|tick| !tick.below.is_empty()) {
        let between = if tick.below.contains(':') { ":" } else { " " };
        tick.label = format!("{}{between}{}", std::mem::take(&mut tick.below), tick.label);
    }
    // Numbers that nothing was measured by would be made up.
    if measures.y.is_empty() && !named { (range, Ticks::default()) } else { (range, ticks) }
}

/// Characters that fit.
pub(super) fn fitting(room: f64, size: f64) -> usize {
    (room / (size * ADVANCE)).max(0.0) as usize
}

/// Width of so many characters.
pub(super) fn pixels(columns: usize, size: f64) -> f64 {
    columns as f64 * size * ADVANCE
}

/// A line of text, with the full text on pointing at it if something was cut.
pub(super) fn text(
    out: &mut String,
    class: &str,
    anchor: &str,
    x: f64,
    y: f64,
    shown: &str,
    full: Option<&str>,
) {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    let anchor = if anchor == "start" { String::new() } else { format!(" text-anchor=\"{anchor}\"") };
    let _ = write!(out, "<text{class}{anchor} x=\"{x:.1}\" y=\"{y:.1}\">");
    if let Some(full) = full.filter(|full| *full != shown) {
        let _ = write!(out, "<title>{}</title>", xml(full));
    }
    let _ = writeln!(out, "{}</text>", xml(shown));
}
