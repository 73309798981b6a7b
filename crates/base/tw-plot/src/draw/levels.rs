//! What the levels of a panel are: at the lines themselves, or, where levels are so close that a name would stand on another's line,
//! at the right of the panel, each joined to its lines.

use super::palette::colour;
use super::panels::Lines;
use super::plot::Plot;
use super::{SMALL, fitting, pixels, text};
use crate::Panel;
use crate::axis::Range;
use crate::text::{columns, cut};
use std::fmt::Write;

/// Levels that are closer have no room for a name between them.
const CLOSE: f64 = 18.0;
/// From one name to the next, at the right.
const APART: f64 = 13.0;
/// What joins a level and its name takes so much.
const JOINT: f64 = 16.0;
/// The most that names at the right take of the picture.
const MOST: f64 = 0.25;

/// Whether levels of a panel are so close that their names stand at its right.
fn close(panel: &Panel, range: &Range, height: f64) -> bool {
    let named = || panel.levels.iter().filter(|level| !level.label.is_empty());
    let places: Vec<f64> = named().filter_map(|level| Some(range.place(level.value)? * height)).collect();
    let near = |one: &f64| places.iter().any(|other| (1.0..CLOSE).contains(&(one - other)));
    places.iter().any(near)
}

/// Pixels at the right of all panels that the names of one need.
pub fn room(panel: &Panel, range: &Range, height: f64, wide: f64) -> f64 {
    if !close(panel, range, height) {
        return 0.0;
    }
    let widths = panel.levels.iter().map(|level| pixels(columns(&level.label), SMALL));
    JOINT + widths.fold(0.0, f64::max).min(wide * MOST)
}

/// Names the levels: where there is room at the right, up to this place, there. The first line has this number.
pub fn label(
    out: &mut String,
    plot: &Plot,
    panel: &Panel,
    lines: &Lines,
    (first, right): (usize, Option<f64>),
) {
    match right {
        Some(right) => beside(out, plot, panel, first, right),
        None => within(out, plot, panel, lines),
    }
}

/// A name and what it joins.
struct Name<'n> {
    label: &'n str,
    series: usize,
    levels: Vec<f64>,
    y: f64,
}

/// At the right of the panel; the two bounds of one predicate have one name.
fn beside(out: &mut String, plot: &Plot, panel: &Panel, first: usize, right: f64) {
    let mut names: Vec<Name<'_>> = Vec::new();
    for level in panel.levels.iter().filter(|level| !level.label.is_empty()) {
        let Some(y) = plot.up(level.value) else { continue };
        match names.iter_mut().find(|name| (name.label, name.series) == (&*level.label, level.series)) {
            Some(name) => name.levels.push(y),
            None => names.push(Name { label: &level.label, series: level.series, levels: vec![y], y }),
        }
    }
    for name in &mut names {
        name.y = name.levels.iter().sum::<f64>() / name.levels.len() as f64;
    }
    names.sort_by(|a, b| a.y.total_cmp(&b.y));
    spread(&mut names, plot.top + 4.0, plot.bottom() - 4.0);
    let (from, to) = (plot.right(), plot.right() + JOINT - 4.0);
    for name in &names {
        let stroke = colour(first + name.series);
        let mut d = String::new();
        for level in &name.levels {
            let _ = write!(d, "M{from:.1} {level:.1}L{to:.1} {:.1}", name.y);
        }
        let _ = writeln!(out, "<path class=\"joint\" stroke=\"{stroke}\" d=\"{d}\"/>");
        let shown = cut(name.label, fitting(right - to - 3.0, SMALL));
        text(out, "value", "start", to + 3.0, name.y + 4.0, &shown, Some(name.label));
    }
}

/// Moves names apart, each as little as the others let it, within the panel.
fn spread(names: &mut [Name<'_>], top: f64, bottom: f64) {
    let mut least = top;
    for name in names.iter_mut() {
        name.y = name.y.max(least);
        least = name.y + APART;
    }
    let mut most = bottom;
    for name in names.iter_mut().rev() {
        name.y = name.y.min(most);
        most = name.y - APART;
    }
}

/// At the end of each level that lines leave more room at.
fn within(out: &mut String, plot: &Plot, panel: &Panel, lines: &Lines) {
    let mut taken: Vec<(bool, f64)> = Vec::new();
    for level in panel.levels.iter().filter(|level| !level.label.is_empty()) {
        let Some(y) = plot.up(level.value) else { continue };
        // Above the line, unless the panel ends there; two labels do not stand on one another.
        let y = if y - 15.0 < plot.top { y + 13.0 } else { y - 4.0 };
        let shown = cut(&level.label, fitting(plot.width * 0.45, SMALL));
        let width = pixels(columns(&shown), SMALL) + 8.0;
        let free =
            |right: bool| taken.iter().all(|&(side, other)| side != right || (other - y).abs() >= 12.0);
        let room = |right: bool| {
            let ends =
                if right { plot.right() - width..=plot.right() } else { plot.left..=plot.left + width };
            let near = lines.iter().flatten().filter(|point| ends.contains(&point.0));
            let away = near.filter_map(|point| point.1).map(|at| (at - (y - 4.0)).abs());
            // What is well away is as good as nothing.
            away.fold(24.0, f64::min)
        };
        let sides = [true, false].into_iter().filter(|&right| free(right));
        let Some(right) = sides.reduce(|a, b| if room(b) > room(a) { b } else { a }) else { continue };
        taken.push((right, y));
        let (anchor, x) = if right { ("end", plot.right() - 4.0) } else { ("start", plot.left + 5.0) };
        text(out, "value", anchor, x, y, &shown, Some(&level.label));
    }
}
