//! Panels over one another: one horizontal axis, a vertical one each.

use super::axes::{self, Below};
use super::levels;
use super::measure::Measures;
use super::palette::{self, colour, line};
use super::plot::Plot;
use super::series::{lines, thinned};
use super::{LARGE, LEAST, MARGIN, MOST, NORMAL, SMALL, STYLE, beside, fitting, pixels, text};
use crate::axis::{Extent, Range, Ticks};
use crate::text::{columns, cut};
use crate::{Panel, Panels, Scale, Series};
use std::fmt::Write;
use tw_core::xml;

/// Lines in pixels.
pub(super) type Lines = Vec<Vec<(f64, Option<f64>)>>;

/// Between a panel and the label of the next, and from a label to its panel.
const APART: f64 = 16.0;
const LABEL: f64 = 20.0;
/// The least height of a panel; a picture that is lower is laid out higher and shrunk.
const LOWEST: f64 = 50.0;

const OWN_STYLE: &str = "\
.band { fill: #dc2626; fill-opacity: 0.1; }
.under { fill: #dc2626; fill-opacity: 0.3; }
.joint { fill: none; stroke-width: 1; stroke-opacity: 0.7; }
.level { fill: none; stroke-width: 1.2; stroke-dasharray: 6 4; stroke-opacity: 0.75; }
.mark { stroke: #b91c1c; stroke-width: 1; stroke-dasharray: 3 3; fill: none; }
.ring { stroke: #b91c1c; stroke-width: 1.8; fill: none; }
.point { fill: #b91c1c; stroke: #ffffff; stroke-width: 3px; paint-order: stroke; }
@media (prefers-color-scheme: dark) {
.band { fill: #f87171; fill-opacity: 0.16; }
.under { fill: #f87171; }
.mark { stroke: #f87171; }
.ring { stroke: #f87171; }
.point { fill: #fca5a5; stroke: #0f172a; }
}
";

/// A picture of panels, in pixels. The same panels give the same text.
pub fn svg_panels(panels: &Panels, width: u32, height: u32) -> String {
    let (width, height) = (width.clamp(1, MOST), height.clamp(1, MOST));
    let wide = f64::from(width).max(LEAST.0);
    let least = 120.0 + panels.panels.len() as f64 * (LOWEST + LABEL + APART);
    let high = f64::from(height).max(LEAST.1).max(least);
    let content = content(panels, wide, high);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {wide:.0} \
         {high:.0}\" role=\"img\">\n<title>{}</title>\n<style>\n{STYLE}{OWN_STYLE}</style>\n<rect class=\"ground\" \
         width=\"{wide:.0}\" height=\"{high:.0}\"/>\n{content}</svg>\n",
        xml(&panels.title)
    )
}

fn content(panels: &Panels, wide: f64, high: f64) -> String {
    let mut out = String::new();
    let mut top = MARGIN;
    for (class, size, shown) in
        [("title", LARGE, &panels.title), ("note", SMALL, panels.subtitle.as_ref().unwrap_or(&String::new()))]
    {
        if !shown.trim().is_empty() {
            top += size + 2.0;
            let fitted = cut(shown, fitting(wide - 2.0 * MARGIN, size));
            text(&mut out, class, "start", MARGIN, top - 2.0, &fitted, Some(shown));
            top += 5.0;
        }
    }
    let label = match &panels.x.scale {
        Scale::Time { .. } if !panels.x.label.contains("UTC") => format!("{} (UTC)", panels.x.label),
        _ => panels.x.label.clone(),
    };
    let measures = across(panels);
    let count = panels.panels.len().max(1) as f64;
    // The labels below the last panel take their height from all; how much depends on the width alone.
    let bottom = high - MARGIN - if label.trim().is_empty() { 0.0 } else { 20.0 };
    let each = |below: f64| (bottom - below - top) / count - LABEL - APART;
    let upward: Vec<(Range, Ticks)> = panels.panels.iter().map(|panel| upward(panel, each(20.0))).collect();
    let left = upward.iter().map(|(_, ticks)| beside(ticks)).fold(MARGIN + 20.0, f64::max);
    let named = |(panel, (range, _)): (&Panel, &(Range, Ticks))| levels::room(panel, range, each(20.0), wide);
    let named: Vec<f64> = panels.panels.iter().zip(&upward).map(named).collect();
    let right = named.iter().copied().fold(0.0, f64::max);
    let x = Range::new(&panels.x.scale, &measures.x, false);
    let mut plot = Plot {
        left,
        top,
        width: wide - left - MARGIN - 4.0 - right,
        height: 0.0,
        x,
        y: Range { low: 0.0, high: 1.0, log: false, whole: false },
    };
    let below = Below::new(&measures, &plot, wide, high);
    plot.height = each(below.height()).max(LOWEST);
    let bare = below.without_labels();
    let mut first = 0;
    let last = panels.panels.len().saturating_sub(1);
    for (index, (panel, (range, ticks))) in panels.panels.iter().zip(upward).enumerate() {
        plot.y = range;
        // A strip stands alone, so that its line need not be told from those above by dashes.
        let own = if panel.signed && panel.series.len() == 1 { first.min(palette::last()) } else { first };
        heading(&mut out, panel, own, plot.top + APART, wide);
        plot.top += APART + LABEL;
        let below = if index == last { &below } else { &bare };
        axes::draw(&mut out, &plot, &ticks, below, &measures, false);
        bands(&mut out, &plot, &panels.bands);
        bands(&mut out, &plot, &panel.bands);
        let names = (named[index] > 0.0).then_some(wide - MARGIN);
        let drawn = draw(&mut out, &plot, panel, (own, index), names);
        if let Some((x, said)) = &panels.mark {
            mark(&mut out, &plot, *x, if index == last { said } else { "" }, &drawn);
        }
        rings(&mut out, &plot, panel);
        first += panel.series.len();
        plot.top += plot.height;
    }
    if !label.trim().is_empty() {
        let shown = cut(&label, fitting(plot.width, NORMAL));
        let middle = plot.left + plot.width / 2.0;
        text(&mut out, "label", "middle", middle, high - MARGIN + 2.0, &shown, Some(&label));
    }
    out
}

/// From where to where all lines go.
fn across(panels: &Panels) -> Measures {
    let mut x = Extent::new(&panels.x.scale);
    let series = panels.panels.iter().flat_map(|panel| &panel.series);
    series.flat_map(|series| &series.points).for_each(|point| x.add(point.0));
    let (y, scale) = (Extent::new(&Scale::Linear), panels.x.scale.clone());
    Measures { x, y, scale, zero: false, legend: Vec::new(), notes: Vec::new() }
}

/// The range and the ticks of a panel.
fn upward(panel: &Panel, height: f64) -> (Range, Ticks) {
    let mut extent = Extent::new(&Scale::Linear);
    let values = panel.series.iter().flat_map(|series| &series.points).filter_map(|point| point.1);
    values.chain(panel.levels.iter().map(|level| level.value)).for_each(|value| extent.add(value));
    if panel.signed && !extent.is_empty() {
        extent.add(0.0);
    }
    let most = (height / 34.0).clamp(2.0, 6.0) as usize;
    // Numbers that nothing was measured by would be made up.
    if extent.is_empty() {
        return (Range::new(&Scale::Linear, &extent, false), Ticks::default());
    }
    let (low, high, pad) = (extent.low, extent.high, (extent.high - extent.low) * 0.06);
    let at_border = panel.levels.iter().any(|level| level.value == low || level.value == high);
    if at_border && pad > 0.0 && pad.is_finite() {
        // A level on the border would be taken for it.
        extent.add(low - pad);
        extent.add(high + pad);
        let range = Range::new(&Scale::Linear, &extent, false);
        // One number alone says nothing of the scale.
        let plans = (most..=3 * most).map(|most| Ticks::new(&Scale::Linear, &range, most));
        let ticks = plans.into_iter().find(|ticks| ticks.ticks.len() > 1);
        return (range, ticks.unwrap_or_else(|| Ticks::new(&Scale::Linear, &range, most)));
    }
    let mut range = Range::new(&Scale::Linear, &extent, false);
    let ticks = Ticks::round(&Scale::Linear, &mut range, most);
    (range, ticks)
}

/// The panel's label, and which line is which.
fn heading(out: &mut String, panel: &Panel, first: usize, y: f64, wide: f64) {
    let y = y + LABEL - 8.0;
    let mut x = MARGIN;
    let room = wide - 2.0 * MARGIN;
    if !panel.label.is_empty() {
        let shown = cut(&panel.label, fitting(room, NORMAL));
        text(out, "label", "start", x, y, &shown, Some(&panel.label));
        x += pixels(columns(&shown), NORMAL) + 18.0;
    }
    for (index, series) in panel.series.iter().enumerate().filter(|(_, series)| !series.name.is_empty()) {
        let end = x + 24.0;
        let left = fitting(wide - MARGIN - end - 6.0, SMALL);
        if left < 6 {
            break;
        }
        let style = line(first + index);
        let up = y - 4.0;
        let _ =
            writeln!(out, "<path class=\"line\" stroke-width=\"2\" {style} d=\"M{x:.1} {up:.1}H{end:.1}\"/>");
        let shown = cut(&series.name, left.min(60));
        text(out, "", "start", end + 6.0, y, &shown, Some(&series.name));
        x = end + 6.0 + pixels(columns(&shown), SMALL) + 18.0;
    }
}

/// Shades where something is wrong. Stretches less than a pixel apart are one.
fn bands(out: &mut String, plot: &Plot, bands: &[(f64, f64)]) {
    let (top, bottom) = (plot.top, plot.bottom());
    let mut d = String::new();
    let mut open: Option<(f64, f64)> = None;
    let places = bands.iter().filter_map(|&(from, to)| Some((plot.across(from)?, plot.across(to)?)));
    for (from, to) in places.map(Some).chain([None]).map(|place| place.unwrap_or((f64::INFINITY, 0.0))) {
        match &mut open {
            Some((_, end)) if from <= *end + 1.0 => *end = end.max(to),
            _ => {
                if let Some((start, end)) = open.take() {
                    // The shortest stretch is seen.
                    let end = end.max(start + 1.5);
                    let _ = write!(d, "M{start:.1} {top:.1}H{end:.1}V{bottom:.1}H{start:.1}Z");
                }
                open = Some((from, to));
            }
        }
    }
    if !d.is_empty() {
        let _ = writeln!(out, "<path class=\"band\" d=\"{d}\"/>");
    }
}

/// Lines and levels, whose names stand at the right up to a place or at the levels; gives the lines in pixels.
fn draw(
    out: &mut String,
    plot: &Plot,
    panel: &Panel,
    (first, index): (usize, usize),
    names: Option<f64>,
) -> Lines {
    let points: Lines = panel.series.iter().map(|series| thinned(plot, series)).collect();
    if points.iter().flatten().all(|point| point.1.is_none()) {
        let (x, y) = (plot.left + plot.width / 2.0, plot.top + plot.height / 2.0 + 5.0);
        text(out, "value none", "middle", x, y, "no finite value", None);
    }
    if panel.signed && panel.series.len() == 1 {
        under(out, plot, &points[0], panel.series[0].step, index);
    }
    for level in &panel.levels {
        let Some(y) = plot.up(level.value) else { continue };
        let (left, right, stroke) = (plot.left, plot.right(), colour(first + level.series));
        let _ =
            writeln!(out, "<path class=\"level\" stroke=\"{stroke}\" d=\"M{left:.1} {y:.1}H{right:.1}\"/>");
    }
    for (series, (one, points)) in panel.series.iter().zip(&points).enumerate().rev() {
        lined(out, one, points, first + series);
    }
    levels::label(out, plot, panel, &points, (first, names));
    points
}

/// How far lines stay away from a text between two places: enough is enough.
fn room(lines: &Lines, from: f64, to: f64, y: f64) -> f64 {
    let near = lines.iter().flatten().filter(|point| (from..=to).contains(&point.0));
    near.filter_map(|point| point.1).map(|at| (at - (y - 4.0)).abs()).fold(20.0, f64::min)
}

fn lined(out: &mut String, series: &Series, points: &[(f64, Option<f64>)], index: usize) {
    let (drawn, single) = lines(points, series.step);
    let style = line(index);
    let _ = writeln!(out, "<g><title>{}</title>", xml(&series.name));
    if !drawn.is_empty() {
        // A line that fills its columns is an area: what stands behind it shines through.
        let wide = points.first().zip(points.last()).map_or(0.0, |(first, last)| last.0 - first.0);
        let thin = points.len() as f64 > 2.0 * wide.max(60.0);
        let pen = if thin { "stroke-width=\"1\" stroke-opacity=\"0.45\"" } else { "stroke-width=\"1.6\"" };
        let _ = writeln!(out, "<path class=\"line\" {pen} {style} d=\"{drawn}\"/>");
    }
    let mut dots = String::new();
    for (x, y) in single {
        let _ = write!(dots, "M{x:.1} {y:.1}h0");
    }
    if !dots.is_empty() {
        let stroke = colour(index);
        let _ = writeln!(
            out,
            "<path class=\"line\" stroke=\"{stroke}\" stroke-width=\"3.4\" stroke-linecap=\"round\" d=\"{dots}\"/>"
        );
    }
    out.push_str("</g>\n");
}

/// Fills between the line and zero where it is below zero.
fn under(out: &mut String, plot: &Plot, points: &[(f64, Option<f64>)], step: bool, index: usize) {
    let (zero, bottom, left, width) = (plot.base(), plot.bottom(), plot.left, plot.width);
    if zero >= bottom {
        return;
    }
    let mut d = String::new();
    let mut open: Option<f64> = None;
    for &(x, value) in points.iter().chain(&[(f64::NAN, None)]) {
        match (value, open) {
            (Some(y), None) => {
                let _ = write!(d, "M{x:.1} {zero:.1}V{y:.1}");
                open = Some(x);
            }
            (Some(y), Some(_)) => {
                let _ = if step { write!(d, "H{x:.1}V{y:.1}") } else { write!(d, "L{x:.1} {y:.1}") };
                open = Some(x);
            }
            (None, Some(end)) => {
                if step && x > end {
                    let _ = write!(d, "H{x:.1}");
                }
                let _ = write!(d, "V{zero:.1}Z");
                open = None;
            }
            (None, None) => {}
        }
    }
    let height = bottom - zero;
    let _ = writeln!(
        out,
        "<clipPath id=\"below{index}\"><rect x=\"{left:.1}\" y=\"{zero:.1}\" width=\"{width:.1}\" \
         height=\"{height:.1}\"/></clipPath>\n<path class=\"under\" clip-path=\"url(#below{index})\" d=\"{d}\"/>"
    );
}

/// A line through the panel at a place, and what is said of it.
fn mark(out: &mut String, plot: &Plot, x: f64, said: &str, lines: &Lines) {
    let Some(x) = plot.across(x) else { return };
    let (top, bottom) = (plot.top, plot.bottom());
    let _ = writeln!(out, "<path class=\"mark\" d=\"M{x:.1} {top:.1}V{bottom:.1}\"/>");
    if said.is_empty() {
        return;
    }
    // On the side that has more place, at the height that lines leave most room at.
    let left = x - plot.left > plot.width / 2.0;
    let place = if left { x - plot.left } else { plot.right() - x } - 10.0;
    let shown = cut(said, fitting(place, SMALL));
    let (anchor, x) = if left { ("end", x - 6.0) } else { ("start", x + 6.0) };
    let width = pixels(columns(&shown), SMALL);
    let from = if left { x - width } else { x };
    let heights = (0..8).map(|part| top + 12.0 + (bottom - top - 20.0) * f64::from(part) / 7.0);
    let free = |y: f64| room(lines, from, from + width, y);
    let y = heights.reduce(|a, b| if free(b) > free(a) { b } else { a }).unwrap_or(top + 12.0);
    text(out, "point", anchor, x, y, &shown, Some(said));
}

fn rings(out: &mut String, plot: &Plot, panel: &Panel) {
    for &(x, y) in &panel.rings {
        if let Some((x, y)) = plot.across(x).zip(plot.up(y)) {
            let _ = writeln!(out, "<circle class=\"ring\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\"/>");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Level};

    fn panels() -> Panels {
        let line = |name: &str, values: &[f64]| Series {
            name: name.into(),
            points: values.iter().enumerate().map(|(at, &value)| (at as f64, Some(value))).collect(),
            step: false,
        };
        let signal = Panel {
            label: "speed".into(),
            series: vec![line("speed", &[90.0, 110.0, 125.0, 100.0])],
            levels: vec![Level { value: 120.0, label: "speed < 120".into(), series: 0 }],
            rings: vec![(2.0, 125.0)],
            ..Panel::default()
        };
        let robustness = Panel {
            label: "robustness".into(),
            series: vec![line("", &[30.0, 10.0, -5.0, 20.0])],
            signed: true,
            ..Panel::default()
        };
        Panels {
            title: "T".into(),
            x: Axis { label: "time (s)".into(), ..Axis::default() },
            panels: vec![signal, robustness],
            bands: vec![(1.5, 2.5)],
            mark: Some((2.0, "weakest".into())),
            ..Panels::default()
        }
    }

    fn count(text: &str, part: &str) -> usize {
        text.matches(part).count()
    }

    #[test]
    fn every_part_is_there_once_in_each_panel() {
        let picture = svg_panels(&panels(), 960, 510);
        for (part, times) in [
            ("class=\"band\"", 2),
            ("class=\"mark\"", 2),
            ("class=\"ring\"", 1),
            ("class=\"level\"", 1),
            ("class=\"under\"", 1),
            (">weakest</text>", 1),
            (">speed &lt; 120</text>", 1),
            (">time (s)</text>", 1),
        ] {
            assert_eq!(count(&picture, part), times, "{part}\n{picture}");
        }
        resvg::usvg::roxmltree::Document::parse(&picture).unwrap();
    }

    #[test]
    fn names_of_close_levels_stand_at_the_right() {
        let mut close = panels();
        let level = |value, label: &str| Level { value, label: label.into(), series: 0 };
        close.panels[0].levels = [119.0, 121.0].map(|value| level(value, "abs(speed - 120) < 1")).to_vec();
        close.panels[0].levels.push(level(122.0, "speed < 122"));
        let picture = svg_panels(&close, 960, 510);
        // Two bounds of one predicate have one name.
        assert_eq!(count(&picture, "class=\"joint\""), 2, "{picture}");
        assert_eq!(count(&picture, ">abs(speed - 120) &lt; 1</text>"), 1, "{picture}");
        assert_eq!(count(&svg_panels(&panels(), 960, 510), "class=\"joint\""), 0);
        // A picture that is too low for all of them does not panic.
        close.panels[0].levels = (0..60).map(|at| level(f64::from(at), &format!("speed < {at}"))).collect();
        svg_panels(&close, 300, 200);
    }

    #[test]
    fn an_axis_has_more_than_one_number() {
        for (low, high, level) in
            [(28.0, 31.9, 33.0), (0.12, 0.53, 0.7), (-3.0, 4.0, 6.0), (99.7, 100.2, 100.4)]
        {
            let points = vec![(0.0, Some(low)), (1.0, Some(high))];
            let series = vec![Series { name: "x".into(), points, step: false }];
            let levels = vec![Level { value: level, label: "x < 1".into(), series: 0 }];
            let panel = Panel { series, levels, ..Panel::default() };
            for height in [70.0, 100.0, 140.0, 400.0] {
                let (range, ticks) = upward(&panel, height);
                let inside = ticks.ticks.iter().filter(|tick| (range.low..=range.high).contains(&tick.at));
                assert!((2..=7).contains(&inside.count()), "{low} {high} {height}: {:?}", ticks.ticks);
            }
        }
    }

    #[test]
    fn only_the_last_panel_has_labels_below() {
        let picture = svg_panels(&panels(), 960, 510);
        // The ticks 0 to 3 stand once, below; zero also stands at the left of both panels or of one.
        assert_eq!(count(&picture, ">3</text>"), 1, "{picture}");
        assert_eq!(count(&picture, ">2</text>"), 1, "{picture}");
    }

    #[test]
    fn close_stretches_are_one_and_short_ones_are_seen() {
        let plot = Plot {
            left: 0.0,
            top: 0.0,
            width: 100.0,
            height: 10.0,
            x: Range { low: 0.0, high: 100.0, log: false, whole: false },
            y: Range { low: 0.0, high: 1.0, log: false, whole: false },
        };
        let drawn = |stretches: &[(f64, f64)]| {
            let mut out = String::new();
            bands(&mut out, &plot, stretches);
            out
        };
        assert_eq!(
            drawn(&[(10.0, 20.0), (20.5, 30.0), (50.0, 50.0)]),
            "<path class=\"band\" d=\"M10.0 0.0H30.0V10.0H10.0ZM50.0 0.0H51.5V10.0H50.0Z\"/>\n"
        );
        assert_eq!(drawn(&[]), "");
    }

    #[test]
    fn a_line_that_fills_its_columns_shines_through() {
        let mut dense = panels();
        let points = (0..20_000).map(|at| (f64::from(at), Some(f64::from(at * 7919 % 1000)))).collect();
        dense.panels[0].series[0].points = points;
        assert_eq!(count(&svg_panels(&dense, 960, 510), "stroke-opacity=\"0.45\""), 1);
        assert_eq!(count(&svg_panels(&panels(), 960, 510), "stroke-opacity=\"0.45\""), 0);
    }

    #[test]
    fn nothing_to_draw_is_said_and_does_not_panic() {
        let mut empty = panels();
        empty.panels.iter_mut().flat_map(|panel| &mut panel.series).for_each(|series| series.points.clear());
        empty.panels[0].levels.clear();
        let picture = svg_panels(&empty, 960, 510);
        assert_eq!(count(&picture, ">no finite value</text>"), 2, "{picture}");
        for (width, height) in [(0, 0), (100, 100), (3000, 50)] {
            assert!(svg_panels(&panels(), width, height).starts_with("<svg"));
            assert!(svg_panels(&Panels::default(), width, height).starts_with("<svg"));
        }
    }
}
