//! Histograms and bars that compare.

use super::palette::area;
use super::plot::Plot;
use super::{SMALL, pixels, text};
use crate::Chart;
use crate::axis::show;
use crate::number::number;
use crate::text::columns;
use std::fmt::Write;
use tw_core::xml;

/// Bars that tell their numbers on pointing at them; in a picture with more nobody points at one.
const HINTS: usize = 5_000;

/// A bar: from left to right, its end, what it tells, and what is written at its end.
struct Bar {
    left: f64,
    right: f64,
    end: f64,
    hint: String,
    label: String,
}

/// Draws the bins, each as wide as its interval.
pub(super) fn histogram(out: &mut String, plot: &Plot, chart: &Chart, bins: &[(f64, f64, u64)]) {
    let total: u128 = bins.iter().map(|bin| u128::from(bin.2)).sum();
    let mut bars = Vec::new();
    for &(low, high, count) in bins.iter().filter(|bin| bin.2 > 0) {
        let places = (|| Some((plot.across(low)?, plot.across(high)?, plot.up(count as f64)?)))();
        let Some((mut left, mut right, end)) = places else { continue };
        if low == high {
            let half = plot.width / 24.0;
            (left, right) = ((left - half).max(plot.left), (right + half).min(plot.right()));
        }
        let share = number((count as f64 / total as f64 * 1_000.0).round() / 10.0);
        let scale = &chart.x.scale;
        let hint =
            format!("{} to {}: {} ({share} %)", show(scale, low), show(scale, high), number(count as f64));
        bars.push(Bar {
            left: left.min(right),
            right: left.max(right),
            end,
            hint,
            label: number(count as f64),
        });
    }
    if bars.len() as f64 > plot.width {
        return columns_of(out, plot, &bars);
    }
    // A hair of ground between bars that have the width for it.
    let hair = if bars.iter().all(|bar| bar.right - bar.left >= 5.0) { 0.5 } else { 0.0 };
    bars.iter_mut().for_each(|bar| (bar.left, bar.right) = (bar.left + hair, bar.right - hair));
    // Bars side by side show no seams.
    let crisp = if hair == 0.0 { " shape-rendering=\"crispEdges\"" } else { "" };
    draw(out, plot, &bars, &format!("{}{crisp}", area(0)));
    labels(out, plot, &bars);
}

/// Draws bars with the names of groups below.
pub(super) fn bars(
    out: &mut String,
    plot: &Plot,
    chart: &Chart,
    groups: &[String],
    series: &[(String, Vec<Option<f64>>)],
) {
    let band = plot.width / groups.len().max(1) as f64;
    let each = band * if series.len() > 1 { 0.82 } else { 0.66 } / series.len().max(1) as f64;
    let hair = if each >= 5.0 && series.len() > 1 { 0.5 } else { 0.0 };
    let mut all = Vec::new();
    for (index, (name, values)) in series.iter().enumerate() {
        let mut bars = Vec::new();
        for (place, group) in groups.iter().enumerate() {
            let middle = plot.left + (place as f64 + 0.5) * band;
            let left = middle + (index as f64 - series.len() as f64 / 2.0) * each;
            let value = values.get(place).copied().flatten().filter(|value| value.is_finite());
            let who = if name.is_empty() { group.clone() } else { format!("{group}, {name}") };
            let Some(value) = value else {
                if each >= 7.0 {
                    let (x, y) = (left + each / 2.0, plot.base() - 4.0);
                    text(out, "note", "middle", x, y, "⊥", Some(&format!("{who}: no value")));
                }
                continue;
            };
            let Some(end) = plot.up(value) else { continue };
            let shown = show(&chart.y.scale, value);
            let hint = format!("{who}: {shown}");
            bars.push(Bar { left: left + hair, right: left + each - hair, end, hint, label: shown });
        }
        draw(out, plot, &bars, &area(index));
        all.extend(bars);
    }
    // The space between groups belongs to the only bar of a group.
    let spare = if series.len() == 1 { band - each } else { 0.0 };
    if all.iter().all(|bar| pixels(columns(&bar.label), SMALL) + 2.0 <= each + spare) {
        write_labels(out, plot, &all);
    }
}

fn draw(out: &mut String, plot: &Plot, bars: &[Bar], style: &str) {
    let base = plot.base();
    for bar in bars {
        let (x, width) = (bar.left, (bar.right - bar.left).max(0.1));
        // The least value above zero is seen.
        let end = if (base - bar.end).abs() < 0.7 && bar.end < base { base - 0.7 } else { bar.end };
        let (y, height) = (end.min(base), (base - end).abs());
        let _ = write!(
            out,
            "<rect {style} x=\"{x:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{height:.1}\""
        );
        let _ = if bars.len() <= HINTS {
            writeln!(out, "><title>{}</title></rect>", xml(&bar.hint))
        } else {
            writeln!(out, "/>")
        };
    }
}

/// More bars than pixels: the outline of the highest bar in each column.
fn columns_of(out: &mut String, plot: &Plot, bars: &[Bar]) {
    let base = plot.base();
    let mut highest = vec![base; plot.width as usize + 1];
    for bar in bars {
        let column = |x: f64| ((x - plot.left) as usize).min(highest.len() - 1);
        let (from, to) = (column(bar.left), column(bar.right));
        highest[from..=to].iter_mut().for_each(|end| *end = end.min(bar.end));
    }
    let mut d = format!("M{:.1} {base:.1}", plot.left);
    for (column, end) in highest.iter().enumerate() {
        let right = (plot.left + column as f64 + 1.0).min(plot.right());
        let _ = write!(d, "V{end:.1}H{right:.1}");
    }
    let _ = writeln!(out, "<path {} d=\"{d}V{base:.1}Z\"/>", area(0));
}

/// Numbers at the ends of the bars, if all have room.
fn labels(out: &mut String, plot: &Plot, bars: &[Bar]) {
    let apart = bars.windows(2).all(|pair| pair[0].right <= pair[1].left + 1.0);
    if apart && bars.iter().all(|bar| pixels(columns(&bar.label), SMALL) + 2.0 <= bar.right - bar.left) {
        write_labels(out, plot, bars);
    }
}

fn write_labels(out: &mut String, plot: &Plot, bars: &[Bar]) {
    for bar in bars {
        let middle = (bar.left + bar.right) / 2.0;
        // Below a negative bar, unless the labels of the axis are there.
        let above = bar.end <= plot.base() || bar.end + 13.0 > plot.bottom();
        let y = if above { bar.end - 4.0 } else { bar.end + 12.0 };
        text(out, "value", "middle", middle, y, &bar.label, None);
    }
}
