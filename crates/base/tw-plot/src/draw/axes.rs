//! Axes, grid and the labels of ticks.

use super::measure::Measures;
use super::plot::Plot;
use super::{LEFT, SMALL, fitting, pixels, text};
use crate::Scale;
use crate::axis::{Tick, Ticks};
use crate::text::{columns, cut, shared, without};
use std::fmt::Write;
use tw_core::xml;

/// How far labels of a horizontal axis stay apart, and from the border of the picture.
const APART: f64 = 12.0;
const BORDER: f64 = 5.0;
/// The turn of labels that do not fit side by side, and its sine and cosine.
const TURN: f64 = 35.0;
const SINE: f64 = 0.574;
const COSINE: f64 = 0.819;
/// Longest turned label in characters.
const TURNED: usize = 24;

/// The labels below the plot.
pub(super) struct Below {
    pub ticks: Ticks,
    turned: bool,
    height: f64,
    /// The width of the picture.
    wide: f64,
}

impl Below {
    /// As many labels as fit below the plot, whose height is not known yet.
    pub fn new(measures: &Measures, plot: &Plot, wide: f64, high: f64) -> Self {
        let scale = &measures.scale;
        if measures.x.is_empty() {
            return Below { ticks: Ticks::default(), turned: false, height: 20.0, wide };
        }
        if let Scale::Category(names) = scale {
            return Below::names(scale, names, plot, wide, high);
        }
        let most = ((plot.width / 60.0) as usize).clamp(1, 30);
        let fits = |ticks: &Ticks| {
            let ends = ticks.ticks.iter().map(|tick| ends(plot, tick, wide));
            let mut before = f64::NEG_INFINITY;
            let mut fits = true;
            for (start, end) in ends {
                fits &= start >= before + APART;
                before = end;
            }
            fits
        };
        let plans = (1..=most).rev().map(|most| Ticks::new(scale, &plot.x, most));
        let mut ticks = plans.into_iter().find(fits).unwrap_or_else(|| {
            let mut ticks = Ticks::new(scale, &plot.x, 1);
            ticks.ticks.truncate(1);
            ticks
        });
        settle(&mut ticks.ticks, plot, wide);
        let second = ticks.ticks.iter().any(|tick| !tick.below.is_empty());
        Below { ticks, turned: false, height: if second { 34.0 } else { 20.0 }, wide }
    }

    fn names(scale: &Scale, names: &[String], plot: &Plot, wide: f64, high: f64) -> Self {
        let band = plot.width / (plot.x.high - plot.x.low);
        let longest = names.iter().map(|name| columns(name)).max().unwrap_or(0);
        if pixels(longest, SMALL) + APART <= band {
            let ticks = Ticks::new(scale, &plot.x, names.len());
            return Below { ticks, turned: false, height: 20.0, wide };
        }
        let most = ((plot.width / 16.0) as usize).max(1);
        let mut ticks = Ticks::new(scale, &plot.x, most);
        // Neither too high for the picture, nor over its left border.
        let room = fitting(high * 0.28 / SINE, SMALL).min(TURNED);
        let shared = if longest > room { shared(names) } else { 0 };
        let mut height: f64 = 0.0;
        for tick in &mut ticks.ticks {
            let left = plot.across(tick.at).unwrap_or(plot.left) - BORDER;
            let shown = cut(&without(&tick.label, shared), room.min(fitting(left / COSINE, SMALL)).max(2));
            height = height.max(pixels(columns(&shown), SMALL) * SINE);
            // The cut label is drawn, the full one on pointing at it.
            tick.below = std::mem::replace(&mut tick.label, shown);
        }
        Below { ticks, turned: true, height: height + 20.0, wide }
    }

    pub fn height(&self) -> f64 {
        self.height
    }

    /// The same ticks without a word, for a plot that stands above another.
    pub fn without_labels(&self) -> Below {
        let mut ticks = self.ticks.clone();
        for tick in &mut ticks.ticks {
            tick.label.clear();
            tick.below.clear();
        }
        Below { ticks, turned: false, height: 0.0, wide: self.wide }
    }
}

/// Where the label of a tick begins and ends: in the middle below it, unless the border of the picture is near.
fn ends(plot: &Plot, tick: &Tick, wide: f64) -> (f64, f64) {
    span(plot, tick.at, &tick.label, wide)
}

fn span(plot: &Plot, at: f64, label: &str, wide: f64) -> (f64, f64) {
    let width = pixels(columns(label), SMALL);
    let start = plot.across(at).unwrap_or(plot.left) - width / 2.0;
    let start = start.min(wide - BORDER - width).max(BORDER);
    (start, start + width)
}

/// Keeps the second line of the first label and of those where it changes, as far as they fit.
fn settle(ticks: &mut [Tick], plot: &Plot, wide: f64) {
    let mut before = String::new();
    for tick in ticks.iter_mut() {
        if tick.below == before {
            tick.below.clear();
        } else {
            before.clone_from(&tick.below);
        }
    }
    let spans: Vec<_> = ticks.iter().map(|tick| span(plot, tick.at, &tick.below, wide)).collect();
    let kept: Vec<usize> = (0..ticks.len()).filter(|&index| !ticks[index].below.is_empty()).collect();
    // What changes soon after the first label says more than the first.
    if let [first, second, ..] = kept[..]
        && spans[second].0 < spans[first].1 + APART
    {
        ticks[first].below.clear();
    }
    let mut end = f64::NEG_INFINITY;
    for (tick, span) in ticks.iter_mut().zip(spans).filter(|(tick, _)| !tick.below.is_empty()) {
        if span.0 < end + APART {
            tick.below.clear();
        } else {
            end = span.1;
        }
    }
}

/// Grid, axes and labels.
pub(super) fn draw(
    out: &mut String,
    plot: &Plot,
    y_ticks: &Ticks,
    below: &Below,
    measures: &Measures,
    named_y: bool,
) {
    let (left, right, top, bottom) = (plot.left, plot.right(), plot.top, plot.bottom());
    let named = matches!(measures.scale, Scale::Category(_));
    let mut lines = String::new();
    y_ticks.minor.iter().filter_map(|&at| plot.up(at)).for_each(|y| {
        let _ = write!(lines, "M{left:.1} {y:.1}H{right:.1}");
    });
    below.ticks.minor.iter().filter_map(|&at| plot.across(at)).for_each(|x| {
        let _ = write!(lines, "M{x:.1} {top:.1}V{bottom:.1}");
    });
    path(out, "minor", &lines);
    lines.clear();
    y_ticks.ticks.iter().filter_map(|tick| plot.up(tick.at)).for_each(|y| {
        let _ = write!(lines, "M{left:.1} {y:.1}H{right:.1}");
    });
    if !named && !measures.zero {
        below.ticks.ticks.iter().filter_map(|tick| plot.across(tick.at)).for_each(|x| {
            let _ = write!(lines, "M{x:.1} {top:.1}V{bottom:.1}");
        });
    }
    path(out, "grid", &lines);
    let mut axes = format!("M{left:.1} {bottom:.1}H{right:.1}");
    if plot.y.low < 0.0 && plot.y.high > 0.0 && !named_y {
        let zero = plot.base();
        let _ = write!(axes, "M{left:.1} {zero:.1}H{right:.1}");
    }
    below.ticks.ticks.iter().filter_map(|tick| plot.across(tick.at)).for_each(|x| {
        let _ = write!(axes, "M{x:.1} {bottom:.1}v4");
    });
    path(out, "axis", &axes);
    for tick in &y_ticks.ticks {
        if let Some(y) = plot.up(tick.at) {
            let shown = cut(&tick.label, LEFT);
            text(out, "", "end", left - 7.0, y + 4.0, &shown, Some(&tick.label));
        }
    }
    below_labels(out, plot, below);
}

fn path(out: &mut String, class: &str, d: &str) {
    if !d.is_empty() {
        let _ = writeln!(out, "<path class=\"{class}\" d=\"{d}\"/>");
    }
}

fn below_labels(out: &mut String, plot: &Plot, below: &Below) {
    let y = plot.bottom() + 17.0;
    for tick in &below.ticks.ticks {
        let Some(x) = plot.across(tick.at) else { continue };
        if below.turned {
            let (x, y) = (x + 3.0, y - 3.0);
            let _ = write!(
                out,
                "<text text-anchor=\"end\" transform=\"translate({x:.1} {y:.1}) rotate(-{TURN:.0})\">"
            );
            if tick.below != tick.label {
                let _ = write!(out, "<title>{}</title>", xml(&tick.below));
            }
            let _ = writeln!(out, "{}</text>", xml(&tick.label));
            continue;
        }
        for (line, y) in [(&tick.label, y), (&tick.below, y + 14.0)] {
            if !line.is_empty() {
                let (start, end) = span(plot, tick.at, line, below.wide);
                text(out, "", "middle", (start + end) / 2.0, y, line, None);
            }
        }
    }
}
