//! Answers as a chart: what is asked decides its kind.

use super::Answers;
use super::table::divided;
use super::text::{histogram, number};
use crate::words::value as shown;
use std::collections::HashMap;
use std::path::Path;
use tracewise::findings::Report;
use tracewise::plot::{self, Axis, Body, Chart, HEIGHT, Panel, Panels, Scale, Series, WIDTH};
use tracewise::query::{Edge, Group, QueryResult};
use tracewise::trace::TimeStyle;

/// A query on a trace.
type Asked<'a> = (&'a Report, &'a QueryResult);
/// A line, and the query that it belongs to.
type Line = (String, Series);

/// What is drawn of answers.
pub struct Picture {
    drawn: Drawn,
    /// Queries whose values are not of its kind.
    pub left_out: Vec<String>,
}

enum Drawn {
    Chart(Chart),
    Panels(Panels),
}

impl Picture {
    /// As SVG.
    pub fn svg(&self) -> String {
        match &self.drawn {
            Drawn::Chart(chart) => plot::svg(chart, WIDTH, HEIGHT),
            Drawn::Panels(panels) => plot::svg_panels(panels, WIDTH, HEIGHT),
        }
    }

    /// Writes it to a file, as its name says.
    pub fn write(&self, path: &Path) -> Result<(), plot::Error> {
        match &self.drawn {
            Drawn::Chart(chart) => plot::write(chart, path),
            Drawn::Panels(panels) => plot::write_panels(panels, path),
        }
    }
}

/// Values at every position or per window are lines, one panel for each query; a histogram is one, everything else is bars. What is
/// not of the kind that is drawn is named.
pub fn picture(answers: &Answers) -> Picture {
    let results: Vec<Asked<'_>> =
        answers.reports.iter().flat_map(|report| report.values().map(move |r| (&**report, r))).collect();
    let kind = results.iter().map(|(_, result)| kind(result)).min();
    let (drawn, other): (Vec<_>, Vec<_>) =
        results.into_iter().partition(|(_, result)| Some(self::kind(result)) == kind);
    let (drawn, mut other) = match kind {
        // One query per key, one histogram.
        Some(Kind::Histogram | Kind::Key) => {
            let first = drawn[0].1.name.clone();
            let (own, more): (Vec<_>, Vec<_>) =
                drawn.into_iter().partition(|(_, result)| result.name == first);
            (own, [more, other].concat())
        }
        _ => (drawn, other),
    };
    if kind == Some(Kind::Histogram) {
        // Of several traces the first is drawn, as its heading says.
        other.retain(|(_, result)| result.name != drawn[0].1.name);
    }
    let mut left_out: Vec<String> = Vec::new();
    for (_, result) in other {
        let name = heading(result);
        if !left_out.contains(&name) {
            left_out.push(name);
        }
    }
    let drawn = match kind {
        Some(Kind::Everywhere) => lined(answers, &drawn, everywhere),
        Some(Kind::Windows) => lined(answers, &drawn, windows),
        Some(Kind::Histogram) => Drawn::Chart(binned(drawn[0])),
        Some(Kind::Key) => Drawn::Chart(by_key(answers, drawn[0].1, &drawn)),
        _ => Drawn::Chart(bars(answers, &drawn)),
    };
    Picture { drawn, left_out }
}

/// Kinds of values, those that are drawn first where there are several.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Everywhere,
    Windows,
    Histogram,
    Key,
    Single,
}

fn kind(result: &QueryResult) -> Kind {
    match () {
        () if result.everywhere.is_some() => Kind::Everywhere,
        () if result.every.is_some() => Kind::Windows,
        () if result.groups.iter().any(|group| histogram(&group.value).is_some()) => Kind::Histogram,
        () if divided(result) => Kind::Key,
        () => Kind::Single,
    }
}

/// Lines of one query in one chart; of several, which may have units of their own, in a panel each.
fn lined(
    answers: &Answers,
    results: &[Asked<'_>],
    lines: fn(&Answers, &[Asked<'_>]) -> (Axis, Vec<Line>),
) -> Drawn {
    let (x, series) = lines(answers, results);
    let mut panels: Vec<Panel> = Vec::new();
    for (label, one) in &series {
        match panels.iter_mut().find(|panel| panel.label == *label) {
            Some(panel) => panel.series.push(one.clone()),
            None => {
                panels.push(Panel { label: label.clone(), series: vec![one.clone()], ..Panel::default() })
            }
        }
    }
    let (title, subtitle) = (title(results), subtitle(answers));
    if panels.len() > 1 {
        // The panel says which query it is.
        for panel in panels.iter_mut().filter(|panel| panel.series.len() == 1) {
            panel.series[0].name.clear();
        }
        return Drawn::Panels(Panels { title, subtitle, x, panels, ..Panels::default() });
    }
    let y = Axis { label: "value".into(), ..Axis::default() };
    let series = series.into_iter().map(|(_, series)| series).collect();
    Drawn::Chart(Chart { title, subtitle, x, y, body: Body::Series { series } })
}

fn binned((report, result): Asked<'_>) -> Chart {
    let bins = result.groups.iter().find_map(|group| histogram(&group.value)).unwrap_or_default();
    let (x, y) = (Axis { label: "value".into(), ..Axis::default() }, counts());
    let title = heading(result);
    Chart { title, subtitle: Some(report.subject.clone()), x, y, body: Body::Histogram { bins } }
}

fn counts() -> Axis {
    Axis { label: "count".into(), ..Axis::default() }
}

fn heading(result: &QueryResult) -> String {
    result.title.clone().unwrap_or_else(|| result.name.clone())
}

fn title(results: &[Asked<'_>]) -> String {
    let mut names: Vec<String> = Vec::new();
    for (_, result) in results {
        let name = heading(result);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

fn subtitle(answers: &Answers) -> Option<String> {
    match answers.reports.as_slice() {
        [one] => Some(one.subject.clone()),
        several => Some(format!("{} traces", several.len())),
    }
}

/// The name of a line: what tells it from the others.
fn name(answers: &Answers, report: &Report, result: &QueryResult, key: Option<String>) -> String {
    let mut parts = Vec::new();
    if report.items.len() > 1 || (answers.reports.len() == 1 && key.is_none()) {
        parts.push(result.name.clone());
    }
    if answers.reports.len() > 1 {
        parts.push(report.subject.clone());
    }
    parts.extend(key);
    parts.join(" · ")
}

/// The axis of instants: dates if the trace writes dates, else numbers in its own unit.
pub fn time_axis(style: Option<TimeStyle>, first: i64) -> (Axis, Box<dyn Fn(i64) -> f64>) {
    match style {
        Some(TimeStyle::Text) => {
            let scale = Scale::Time { origin: first };
            let since = move |time: i64| (i128::from(time) - i128::from(first)) as f64;
            (Axis { label: "time (UTC)".into(), scale }, Box::new(since))
        }
        Some(TimeStyle::Number(unit)) => {
            let per = unit.nanoseconds() as f64;
            let axis = Axis { label: format!("time ({})", unit.name()), scale: Scale::Linear };
            (axis, Box::new(move |time| time as f64 / per))
        }
        None => {
            (Axis { label: "position".into(), scale: Scale::Linear }, Box::new(|position| position as f64))
        }
    }
}

fn everywhere(answers: &Answers, results: &[Asked<'_>]) -> (Axis, Vec<Line>) {
    let first = results.iter().find_map(|(_, result)| result.times.as_ref().and_then(|times| times.first()));
    let (x, place) = time_axis(first.map(|stamp| stamp.style), first.map_or(0, |stamp| stamp.time));
    let line = |(report, result): &Asked<'_>| {
        let values = result.everywhere.as_deref().unwrap_or_default();
        let at = |position: usize| match (&result.times, first) {
            (Some(times), Some(_)) => place(times[position].time),
            _ => position as f64,
        };
        let points = values.iter().enumerate().map(|(position, value)| (at(position), number(value)));
        let name = name(answers, report, result, None);
        (heading(result), Series { name, points: points.collect(), step: true })
    };
    let series = results.iter().map(line).collect();
    (x, series)
}

fn windows(answers: &Answers, results: &[Asked<'_>]) -> (Axis, Vec<Line>) {
    let edges = results.iter().flat_map(|(_, result)| &result.groups).filter_map(|group| group.window);
    let first = edges.map(|(from, _)| from).find_map(|edge| match edge {
        Edge::Time(stamp) => Some(stamp),
        Edge::Position(_) => None,
    });
    let (x, place) = time_axis(first.map(|stamp| stamp.style), first.map_or(0, |stamp| stamp.time));
    let at = |edge: Edge| match edge {
        Edge::Time(stamp) => place(stamp.time),
        Edge::Position(position) => position as f64,
    };
    let mut series: Vec<Line> = Vec::new();
    let mut lines: HashMap<String, usize> = HashMap::new();
    for (report, result) in results {
        for group in &result.groups {
            let name = name(answers, report, result, group.key.as_ref().map(shown));
            let Some((from, to)) = group.window else { continue };
            let index = *lines.entry(name.clone()).or_insert_with(|| {
                series.push((heading(result), Series { name, points: Vec::new(), step: true }));
                series.len() - 1
            });
            let points = &mut series[index].1.points;
            // A value holds to the end of its window; where no window follows, nothing does.
            if points.last().is_some_and(|(end, _)| *end == at(from)) {
                points.pop();
            }
            points.extend([(at(from), number(&group.value)), (at(to), None)]);
        }
    }
    (x, series)
}

fn bars(answers: &Answers, results: &[Asked<'_>]) -> Chart {
    let y = Axis { label: "value".into(), ..Axis::default() };
    let chart = |groups: Vec<String>, series| Chart {
        title: title(results),
        subtitle: subtitle(answers),
        x: Axis { label: String::new(), scale: Scale::Category(groups.clone()) },
        y: y.clone(),
        body: Body::Bars { groups, series },
    };
    let value = |result: &QueryResult| result.groups.first().and_then(|group| number(&group.value));
    if answers.reports.len() > 1 {
        let traces = answers.reports.iter().map(|report| report.subject.clone()).collect();
        let queries = answers.reports[0].values().enumerate();
        let series = queries.map(|(index, query)| {
            let values = answers.reports.iter().map(|report| report.values().nth(index).and_then(value));
            (query.name.clone(), values.collect())
        });
        return chart(traces, series.collect());
    }
    let names = results.iter().map(|(_, result)| result.name.clone()).collect();
    chart(names, vec![("value".into(), results.iter().map(|(_, result)| value(result)).collect())])
}

/// Keys with the largest values that are drawn; more would not be told apart.
const KEYS: usize = 40;

/// One query per key, side by side for several traces.
fn by_key(answers: &Answers, query: &QueryResult, results: &[Asked<'_>]) -> Chart {
    let drawn: Vec<_> = results.iter().collect();
    let label = |group: &Group| group.key.as_ref().map(shown).unwrap_or_default();
    let mut keys: HashMap<String, f64> = HashMap::new();
    for group in drawn.iter().flat_map(|(_, result)| &result.groups) {
        let size = number(&group.value).unwrap_or(f64::NEG_INFINITY);
        keys.entry(label(group)).and_modify(|most| *most = most.max(size)).or_insert(size);
    }
    let all = keys.len();
    let mut keys: Vec<(String, f64)> = keys.into_iter().collect();
    keys.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
    keys.truncate(KEYS);
    let series = drawn.iter().map(|(report, result)| {
        let values: HashMap<String, Option<f64>> =
            result.groups.iter().map(|group| (label(group), number(&group.value))).collect();
        let values = keys.iter().map(|(key, _)| values.get(key).copied().flatten()).collect();
        (if answers.reports.len() > 1 { report.subject.clone() } else { result.name.clone() }, values)
    });
    let groups: Vec<String> = keys.iter().map(|(key, _)| key.clone()).collect();
    let traces = subtitle(answers).unwrap_or_default();
    let subtitle = match all > KEYS {
        true => format!("{traces}, the {KEYS} largest of {all}"),
        false => traces,
    };
    Chart {
        title: heading(query),
        subtitle: Some(subtitle),
        x: Axis { label: query.by.clone().unwrap_or_default(), scale: Scale::Category(groups.clone()) },
        y: Axis { label: "value".into(), ..Axis::default() },
        body: Body::Bars { groups, series: series.collect() },
    }
}
