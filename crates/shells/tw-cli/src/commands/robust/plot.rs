//! Robustness as a picture: the signals that predicates read above, a panel for each scale; below, over the same time, the robustness
//! of each property in a strip of its own.

use super::super::query::plot::time_axis;
use crate::context::{Failure, usage};
use crate::words;
use crate::words::number;
use std::path::Path;
use tracewise::plot::{Axis, Level, Panel, Panels, Series, Thinner, WIDTH};
use tracewise::robust::{Reason, RobustReport, Signal};

/// Panels of signals that a picture has at most; more would be too low to read.
const PANELS: usize = 5;
/// Strips of properties, likewise.
const STRIPS: usize = 12;

/// What cannot be drawn, before the work.
pub fn refuse(path: &Path, traces: usize) -> Result<(), Failure> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
    if !["svg", "png"].contains(&extension.to_ascii_lowercase().as_str()) {
        return Err(usage(tracewise::plot::Error::Extension(path.to_owned()).to_string()));
    }
    match traces {
        1 => Ok(()),
        several => Err(usage(format!(
            "--plot draws one trace, but {several} were given; draw them one by one, or read them as one with --concat"
        ))),
    }
}

/// The picture of a trace; with `steps`, samples hold until the next.
pub fn panels(report: &RobustReport, steps: bool) -> Panels {
    let first = report.times.as_ref().and_then(|(times, _)| times.first().copied()).unwrap_or(0);
    let (x, place) = time_axis(report.times.as_ref().map(|(_, style)| *style), first);
    let len = report.positions as usize;
    let at = |position: usize| match &report.times {
        Some((times, _)) => place(times[position]),
        None => position as f64,
    };
    let series = |name: String, values: &[f64]| {
        // Long signals are thinned before they are copied.
        let mut thinner = Thinner::new(2 * WIDTH as usize);
        thinner.extend(values.iter().enumerate().map(|(position, &value)| (at(position), Some(value))));
        Series { name, points: thinner.finish(), step: steps }
    };
    let mut panels: Vec<Panel> = Vec::new();
    let mut left_out = 0;
    for group in groups(&report.signals) {
        if panels.len() == PANELS {
            left_out += group.len();
            continue;
        }
        let mut levels: Vec<Level> = Vec::new();
        for (index, signal) in group.iter().enumerate() {
            let twins = report.signals.iter().filter(|twin| twin.name == signal.name);
            for level in twins.flat_map(|twin| &twin.levels) {
                if !levels.iter().any(|known| (known.series, known.value) == (index, level.value)) {
                    let label = level.formula.clone();
                    levels.push(Level { value: level.value, label, series: index });
                }
            }
        }
        panels.push(Panel {
            levels,
            series: group.iter().map(|signal| series(signal.name.clone(), &signal.values)).collect(),
            ..Panel::default()
        });
    }
    let weakest = match report.properties.as_slice() {
        [one] => one.weakest.as_ref().filter(|link| link.position < len),
        _ => None,
    };
    let drawn = || report.properties.iter().filter_map(|one| Some((one, one.curve.as_ref()?))).take(STRIPS);
    let several = report.properties.len() > 1;
    let mut strips: Vec<Panel> = Vec::new();
    for (property, (formula, values)) in drawn() {
        let below = |position: usize| values.get(position).copied().unwrap_or(f64::INFINITY);
        strips.push(Panel {
            label: match several {
                true => format!("{}: {}", property.name, number(property.value)),
                false => "robustness".into(),
            },
            signed: true,
            series: vec![series(formula.clone(), values)],
            bands: if several { stretches(len, &at, &below, steps) } else { Vec::new() },
            ..Panel::default()
        });
    }
    let unshown = report.properties.len().saturating_sub(STRIPS);
    let mut mark = None;
    if let Some(link) = weakest {
        let x = at(link.position);
        mark = Some((x, said(link)));
        // The signals that the predicate reads, where it decides.
        let grouped = groups(&report.signals).into_iter().zip(&mut panels);
        for (group, panel) in grouped.filter(|_| link.reason == Reason::Predicate) {
            let read = group.iter().filter(|signal| link.values.iter().any(|(name, _)| *name == signal.name));
            panel.rings.extend(read.map(|signal| (x, signal.values[link.position])));
        }
        // Where the curve has the property's value.
        let value = report.properties[0].value;
        let there =
            drawn().next().and_then(|(_, (_, values))| values.iter().position(|&other| other == value));
        let rings = there.filter(|_| value.is_finite()).map(|position| (at(position), value));
        strips.iter_mut().take(1).for_each(|strip| strip.rings.extend(rings));
    }
    panels.extend(strips);
    // One property's stretches are shaded in its signals, too; those of several in the strip of each.
    let bands = match drawn().next().filter(|_| !several) {
        Some((_, (_, values))) => {
            let below = |position: usize| values.get(position).copied().unwrap_or(f64::INFINITY);
            stretches(len, &at, &below, steps)
        }
        None => Vec::new(),
    };
    let title = match report.properties.as_slice() {
        [one] => one.title.clone().unwrap_or_else(|| one.name.clone()),
        several => format!("robustness of {}", words::counted(several.len() as u64, "property")),
    };
    let mut subtitle = report.trace.clone();
    if let [one] = report.properties.as_slice() {
        subtitle.push_str(&format!(": robustness {}", number(one.value)));
    }
    if left_out > 0 {
        subtitle.push_str(&format!("; {} not drawn", words::counted(left_out as u64, "more signal")));
    }
    if unshown > 0 {
        subtitle.push_str(&format!("; {} not drawn", words::counted(unshown as u64, "more property")));
    }
    let x = Axis { label: x.label, scale: x.scale };
    Panels { title, subtitle: Some(subtitle), x, panels, bands, mark }
}

fn said(link: &tracewise::robust::WeakestLink) -> String {
    match link.reason {
        Reason::Predicate => format!("weakest link: {} is worth {}", link.formula, number(link.value)),
        Reason::Constant => format!("weakest link: {}", link.formula),
        Reason::Empty => format!("weakest link: {}, no sample in its interval", link.formula),
    }
}

/// Signals that share a scale.
fn groups(signals: &[Signal]) -> Vec<Vec<&Signal>> {
    let mut groups: Vec<Vec<&Signal>> = Vec::new();
    // One column may be read in two ways; it is drawn once, with what it is compared with in either.
    let mut same: Vec<(usize, usize)> = Vec::new();
    for (at, signal) in signals.iter().enumerate() {
        if let Some(before) = signals[..at].iter().find(|before| before.name == signal.name) {
            same.push((signal.group, before.group));
        }
    }
    let group_of = |signal: &Signal| {
        let known = same.iter().find(|(group, _)| *group == signal.group);
        known.map_or(signal.group, |(_, before)| *before)
    };
    for signal in signals {
        let twice = groups.iter().flatten().any(|other| other.name == signal.name);
        if twice {
            continue;
        }
        match groups.iter_mut().find(|group| group_of(group[0]) == group_of(signal)) {
            Some(group) => group.push(signal),
            None => groups.push(vec![signal]),
        }
    }
    groups
}

/// The stretches where a value is negative. They begin and end where the straight line between two samples is zero, or
/// with `steps` at the samples.
fn stretches(
    len: usize,
    at: &dyn Fn(usize) -> f64,
    value: &dyn Fn(usize) -> f64,
    steps: bool,
) -> Vec<(f64, f64)> {
    // Where the value changes its sign before a position.
    let change = |position: usize| {
        if position == 0 || position == len || steps {
            return at(position.min(len - 1));
        }
        let (before, after) = (value(position - 1).abs(), value(position).abs());
        let part = before / (before + after);
        let part = if part.is_finite() { part } else { 0.5 };
        at(position - 1) * (1.0 - part) + at(position) * part
    };
    let mut found: Vec<(f64, f64)> = Vec::new();
    let mut start = None;
    for position in 0..=len {
        let negative = position < len && value(position) < 0.0;
        match (negative, start) {
            (true, None) => start = Some(change(position)),
            (false, Some(from)) => {
                found.push((from, change(position)));
                start = None;
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_end_where_the_line_is_zero() {
        let values = [-1.0, 1.0, 3.0, -1.0, f64::NEG_INFINITY, 2.0, -5.0];
        let found = |steps| {
            stretches(values.len(), &|position| position as f64 * 2.0, &|position| values[position], steps)
        };
        assert_eq!(found(false), [(0.0, 1.0), (5.5, 9.0), (10.0 + 4.0 / 7.0, 12.0)]);
        assert_eq!(found(true), [(0.0, 2.0), (6.0, 10.0), (12.0, 12.0)]);
        assert_eq!(stretches(0, &|_| 0.0, &|_| -1.0, false), []);
    }
}
