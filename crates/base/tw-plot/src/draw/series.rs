//! Lines with gaps.

use super::palette::{colour, line};
use super::plot::Plot;
use crate::axis::show;
use crate::{Chart, Series, Thinner};
use std::borrow::Cow;
use std::fmt::Write;
use tw_core::xml;

/// Lines with at most this many points have a dot at each, which tells its numbers on pointing at it.
const DOTTED: usize = 60;
/// Dots in the whole picture.
const DOTS: usize = 600;

/// Draws the lines, the first on top.
pub(super) fn series(out: &mut String, plot: &Plot, chart: &Chart, series: &[Series]) {
    let points: usize = series.iter().map(|line| line.points.len()).sum();
    let thick = if series.len() > 12 { 1.2 } else { 1.7 };
    for (index, one) in series.iter().enumerate().rev() {
        let (drawn, single) = lines(&thinned(plot, one), one.step);
        let style = line(index);
        let _ = writeln!(out, "<g><title>{}</title>", xml(&one.name));
        if !drawn.is_empty() {
            let _ = writeln!(out, "<path class=\"line\" stroke-width=\"{thick}\" {style} d=\"{drawn}\"/>");
        }
        if one.points.len() <= DOTTED && points <= DOTS {
            for &(x, value) in &one.points {
                let places = value.and_then(|value| Some((plot.across(x)?, plot.up(value)?, value)));
                if let Some((across, up, value)) = places {
                    let hint = format!("{}: {}", show(&chart.x.scale, x), show(&chart.y.scale, value));
                    let name =
                        if one.name.is_empty() { String::new() } else { format!("{}\u{2002}", one.name) };
                    dot(out, across, up, index, &format!("{name}{hint}"));
                }
            }
        } else {
            // A value alone between gaps has no line.
            let mut dots = String::new();
            for (x, y) in single {
                let _ = write!(dots, "M{x:.1} {y:.1}h0");
            }
            if !dots.is_empty() {
                let colour = colour(index);
                let _ = writeln!(
                    out,
                    "<path class=\"line\" stroke=\"{colour}\" stroke-width=\"3.4\" stroke-linecap=\"round\" d=\"{dots}\"/>"
                );
            }
        }
        out.push_str("</g>\n");
    }
}

fn dot(out: &mut String, x: f64, y: f64, index: usize, hint: &str) {
    let (fill, hint) = (colour(index), xml(hint));
    let _ = writeln!(
        out,
        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.6\" fill=\"{fill}\"><title>{hint}</title></circle>"
    );
}

/// The points in pixels, from left to right, at most some for each column. What has no place is a gap.
pub(super) fn thinned(plot: &Plot, series: &Series) -> Vec<(f64, Option<f64>)> {
    let points = if series.points.is_sorted_by(|a, b| a.0 <= b.0) {
        Cow::Borrowed(&series.points)
    } else {
        let mut points = series.points.clone();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Cow::Owned(points)
    };
    let mut thinner = Thinner::new(plot.width as usize);
    thinner.extend(points.iter().filter_map(|&(x, value)| {
        let x = plot.across(x)?;
        Some((x, value.and_then(|value| plot.up(value))))
    }));
    thinner.finish()
}

/// The path through the points, and those that are alone between gaps. With `step`, a value holds until the next place.
pub(super) fn lines(points: &[(f64, Option<f64>)], step: bool) -> (String, Vec<(f64, f64)>) {
    let mut out = String::new();
    let mut single = Vec::new();
    // The point before, and whether the path has left it or come to it.
    let mut open: Option<(f64, f64, bool)> = None;
    for &(x, value) in points.iter().chain(&[(f64::NAN, None)]) {
        let Some(y) = value else {
            if let Some((from, level, drawn)) = open.take() {
                // A value holds until the gap begins; what follows the last is not known.
                if step && x > from {
                    let _ = if drawn {
                        write!(out, "H{x:.1}")
                    } else {
                        write!(out, "M{from:.1} {level:.1}H{x:.1}")
                    };
                } else if !drawn {
                    single.push((from, level));
                }
            }
            continue;
        };
        if let Some((from, level, drawn)) = open {
            if !drawn {
                let _ = write!(out, "M{from:.1} {level:.1}");
            }
            let _ = match step {
                true if y == level => write!(out, "H{x:.1}"),
                true => write!(out, "H{x:.1}V{y:.1}"),
                false => write!(out, "L{x:.1} {y:.1}"),
            };
        }
        open = Some((x, y, open.is_some()));
    }
    (out, single)
}
