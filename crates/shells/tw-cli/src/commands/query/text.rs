//! Answers for people.

use super::Answers;
use super::table::{divided, edge};
use crate::report::Outlet;
use crate::style::{Ink, Style};
use crate::words::{self, value as shown};
use std::io;
use tracewise::findings::{Detail, Report};
use tracewise::query::{Group, Origin, QueryResult};
use tracewise::{Value, Verdict};

/// Parts of a divided query that are listed; the rest is for CSV.
const LISTED: usize = 20;
/// Stretches of `--at all` that are listed.
const STRETCHES: usize = 1000;

pub fn write(answers: &Answers, style: Style, out: &mut dyn Outlet) -> io::Result<()> {
    let scalar = |result: &QueryResult| result.everywhere.is_none() && !divided(result);
    let tabular =
        answers.reports.len() > 1 && answers.reports.iter().all(|report| report.values().all(scalar));
    if tabular {
        table(answers, style, out)?;
    }
    for report in &answers.reports {
        if !tabular || answers.witness {
            if answers.reports.len() > 1 {
                writeln!(out, "{}", style.paint(Ink::Strong, words::printable(&report.subject)))?;
            }
            queries(report, style, out)?;
        }
        required(report, style, out)?;
        if !tabular {
            footer(report, style, out)?;
        }
    }
    Ok(())
}

/// Requirements, each with its verdict and its value.
fn required(report: &Report, style: Style, out: &mut dyn Outlet) -> io::Result<()> {
    for item in &report.items {
        let Detail::Required(found) = &item.detail else { continue };
        let (ink, mark) = match item.verdict {
            Some(Verdict::Satisfied) => (Ink::Good, "✓"),
            Some(Verdict::Violated) => (Ink::Bad, "✗"),
            _ => (Ink::Open, "?"),
        };
        let title =
            item.title.as_ref().map_or(String::new(), |title| format!("  {}", words::printable(title)));
        let value = words::printable(&words::required(found));
        writeln!(out, "{} {}{title}  {value}", style.paint(ink, mark), words::printable(&item.name))?;
    }
    Ok(())
}

fn queries(report: &Report, style: Style, out: &mut dyn Outlet) -> io::Result<()> {
    let width = report.values().map(|result| result.name.chars().count()).max().unwrap_or(0).min(40);
    for result in report.values() {
        if let Some(values) = &result.everywhere {
            everywhere(result, values, style, out)?;
        } else if divided(result) {
            parts(result, style, out)?;
        } else {
            for group in &result.groups {
                one(result, group, width, style, out)?;
            }
        }
        for approximation in &result.approximate {
            let text = format!("  {} is approximate: {}", approximation.part, approximation.bound);
            writeln!(out, "{}", style.paint(Ink::Faint, text))?;
        }
        if out.closed() {
            break;
        }
    }
    Ok(())
}

/// A value on a line, and below it what is to be said about it.
fn one(
    result: &QueryResult,
    group: &Group,
    width: usize,
    style: Style,
    out: &mut dyn Outlet,
) -> io::Result<()> {
    let name = words::printable(&result.name);
    let pad = " ".repeat(width.saturating_sub(name.chars().count()));
    let bins = bins(&group.value);
    let value = if bins.is_some() { String::new() } else { words::printable(&shown(&group.value)) };
    let sign = if result.approximate.is_empty() { "" } else { "≈ " };
    let title = result.title.as_ref().map(|title| style.paint(Ink::Faint, format!("   {title}")));
    writeln!(out, "{name}{pad}  {sign}{}{}", style.paint(Ink::Strong, value), title.unwrap_or_default())?;
    if let Some(rows) = bins {
        for row in tracewise::plot::bars(&rows, style.width.unwrap_or(80).min(100)) {
            writeln!(out, "  {row}")?;
        }
    }
    if let Some(missing) = &group.missing {
        writeln!(out, "{}", style.paint(Ink::Faint, format!("  no value: {missing}")))?;
    }
    for origin in group.witness.iter().flat_map(|witness| &witness.origins) {
        writeln!(out, "{}", style.paint(Ink::Faint, format!("  {}", told(origin, &name))))?;
    }
    Ok(())
}

/// Where a value comes from, in a sentence.
fn told(origin: &Origin, name: &str) -> String {
    let what =
        if origin.part == name { String::new() } else { format!("{} = ", words::printable(&origin.part)) };
    let value =
        if what.is_empty() { String::new() } else { format!("{} ", words::printable(&shown(&origin.value))) };
    let range = |from: usize, to: usize| {
        if from == to {
            words::count(from as u64)
        } else {
            format!("{}–{}", words::count(from as u64), words::count(to as u64))
        }
    };
    let positions = || {
        let noun = if origin.from == origin.to { "position" } else { "positions" };
        format!("{noun} {}", range(origin.from, origin.to))
    };
    let place = match &origin.lines {
        Some((first, last)) if first.file == last.file => {
            let lines = range(first.line as usize, last.line as usize);
            let noun = if first.line == last.line { "line" } else { "lines" };
            format!("at {noun} {lines} ({})", positions())
        }
        Some((first, last)) => {
            let ends = format!("from {}:{} to {}:{}", first.file, first.line, last.file, last.line);
            format!("{} ({})", words::printable(&ends), positions())
        }
        None => format!("at {}", positions()),
    };
    let mut text = format!("{what}{value}{place}");
    if origin.from == origin.to {
        if let Some((line, _)) = &origin.lines {
            text.push_str(&format!(": {}", words::clip(&words::printable(&line.text), 60)));
        }
    } else {
        let listed: Vec<String> = origin.positions.iter().map(|at| words::count(*at as u64)).collect();
        let more = if origin.count > listed.len() { " …" } else { "" };
        text.push_str(&format!(
            ", {} collected: {}{more}",
            words::count(origin.count as u64),
            listed.join(" ")
        ));
    }
    text
}

/// A value per part.
fn parts(result: &QueryResult, style: Style, out: &mut dyn Outlet) -> io::Result<()> {
    let mut head = words::printable(&result.name);
    for (word, what) in [("by", &result.by), ("every", &result.every)] {
        // With `-e` the name is the query's text, which says it already.
        let said =
            what.as_ref().map(|what| format!(" {word} {what}")).filter(|said| !head.contains(said.as_str()));
        head.push_str(&said.unwrap_or_default());
    }
    let windows = result.by.is_none();
    let numbers: Vec<Option<f64>> = result.groups.iter().map(|group| number(&group.value)).collect();
    let spark = windows && numbers.iter().any(Option::is_some);
    let line = if spark { tracewise::plot::sparkline_between(&numbers, 40) } else { String::new() };
    let gap = if line.is_empty() { "" } else { "  " };
    writeln!(out, "{}{gap}{}", style.paint(Ink::Strong, head), style.paint(Ink::Faint, line))?;
    let mut order: Vec<usize> = (0..result.groups.len()).collect();
    if !windows && result.every.is_none() {
        // The largest first: that is what one looks for.
        let key = |index: usize| numbers[index].unwrap_or(f64::NEG_INFINITY);
        order.sort_by(|a, b| key(*b).total_cmp(&key(*a)));
    }
    let label = |group: &Group| {
        let key = group.key.as_ref().map(|key| words::printable(&shown(key)));
        let window = group.window.map(|(from, _)| edge(from));
        [key, window].into_iter().flatten().collect::<Vec<_>>().join("  ")
    };
    let width =
        order.iter().take(LISTED).map(|i| label(&result.groups[*i]).chars().count()).max().unwrap_or(0);
    for &index in order.iter().take(LISTED) {
        let group = &result.groups[index];
        let label = label(group);
        let pad = " ".repeat(width.saturating_sub(label.chars().count()));
        writeln!(out, "  {label}{pad}  {}", words::printable(&shown(&result.tabled(&group.value))))?;
        for origin in group.witness.iter().flat_map(|witness| &witness.origins) {
            writeln!(out, "{}", style.paint(Ink::Faint, format!("    {}", told(origin, &result.name))))?;
        }
    }
    if result.groups.len() > LISTED {
        let more = words::count((result.groups.len() - LISTED) as u64);
        writeln!(
            out,
            "{}",
            style.paint(Ink::Faint, format!("  … and {more} more (--output csv has them all)"))
        )?;
    }
    Ok(())
}

/// Stretches of positions with the same value.
fn everywhere(result: &QueryResult, values: &[Value], style: Style, out: &mut dyn Outlet) -> io::Result<()> {
    let numbers: Vec<Option<f64>> = values.iter().map(number).collect();
    let line = if numbers.iter().any(Option::is_some) {
        tracewise::plot::sparkline_between(&numbers, 60)
    } else {
        String::new()
    };
    let name = style.paint(Ink::Strong, words::printable(&result.name));
    writeln!(out, "{name}  {}", style.paint(Ink::Faint, line))?;
    let last = values.len().saturating_sub(1).to_string().len();
    let (mut from, mut stretches) = (0, 0);
    while from < values.len() && !out.closed() {
        let end = (from..values.len()).find(|&at| values[at] != values[from]).unwrap_or(values.len());
        if stretches == STRETCHES {
            let more =
                format!("  … (--output csv has every position of {})", words::count(values.len() as u64));
            writeln!(out, "{}", style.paint(Ink::Faint, more))?;
            break;
        }
        let range = if end - from == 1 { from.to_string() } else { format!("{from}–{}", end - 1) };
        let value = words::printable(&shown(&values[from]));
        writeln!(out, "{range:>width$}  {value}", width = 2 * last + 1)?;
        (from, stretches) = (end, stretches + 1);
    }
    Ok(())
}

/// Several traces: one line each, and a total.
fn table(answers: &Answers, style: Style, out: &mut dyn Outlet) -> io::Result<()> {
    let Some(first) = answers.reports.first() else { return Ok(()) };
    let mut rows: Vec<Vec<String>> = Vec::new();
    let names = first.values().map(|result| words::clip(&words::printable(&result.name), 30));
    rows.push(std::iter::once("trace".to_string()).chain(names).collect());
    for report in &answers.reports {
        let values = report.values().map(|result| {
            let sign = if result.approximate.is_empty() { "" } else { "≈ " };
            let value =
                result.groups.first().map_or(String::new(), |group| brief(&result.tabled(&group.value)));
            format!("{sign}{}", words::printable(&value))
        });
        rows.push(std::iter::once(words::printable(&report.subject)).chain(values).collect());
    }
    if let Some(totals) = answers.totals() {
        let totals = totals.map(|total| {
            total.map_or("–".to_string(), |(value, rough)| {
                format!("{}{}", if rough.is_empty() { "" } else { "≈ " }, brief(value))
            })
        });
        rows.push(std::iter::once("total".to_string()).chain(totals).collect());
    }
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    for (index, row) in rows.iter().enumerate() {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let pad = " ".repeat(widths[column].saturating_sub(cell.chars().count()));
            // Names to the left, values to the right.
            match column {
                0 => line.push_str(&format!("{cell}{pad}")),
                _ => line.push_str(&format!("  {pad}{cell}")),
            }
        }
        let strong = index == 0 || (answers.totals.is_some() && index + 1 == rows.len());
        writeln!(out, "{}", if strong { style.paint(Ink::Strong, line) } else { line })?;
    }
    for report in &answers.reports {
        for result in report.values().filter(|result| !result.approximate.is_empty()) {
            let text =
                format!("≈ on {}: {}", words::printable(&report.subject), words::bounds(&result.approximate));
            writeln!(out, "{}", style.paint(Ink::Faint, words::printable(&text)))?;
        }
    }
    Ok(())
}

fn footer(report: &Report, style: Style, out: &mut dyn Outlet) -> io::Result<()> {
    let statistics = &report.statistics;
    let count = report.values().count() as u64;
    let required = report.items.len() as u64 - count;
    let queries = match (count, required) {
        (_, 0) => words::counted(count, "query"),
        (0, _) => words::counted(required, "requirement"),
        _ => format!("{}, {}", words::counted(count, "query"), words::counted(required, "requirement")),
    };
    let positions = words::counted(statistics.positions.unwrap_or(0), "position");
    let text = format!(
        "{queries} on {} ({positions}) in {}; engine {}",
        words::printable(&report.subject),
        words::duration(statistics.elapsed),
        statistics.engine.unwrap_or_default()
    );
    writeln!(out, "{}", style.paint(Ink::Faint, text))
}

/// A value in a cell of a table.
fn brief(value: &Value) -> String {
    histogram(value).map_or_else(|| shown(value), |bins| words::counted(bins.len() as u64, "bin"))
}

/// A value that can be drawn.
pub fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(b) => Some(f64::from(u8::from(*b))),
        Value::Int(i) => Some(*i as f64),
        Value::Real(r) => Some(*r),
        _ => None,
    }
}

/// The bins of a histogram: low end, high end, how many.
pub fn histogram(value: &Value) -> Option<Vec<(f64, f64, u64)>> {
    let Value::List(items) = value else { return None };
    let bin = |item: &Value| match item {
        Value::List(parts) => match parts.as_slice() {
            [Value::Real(low), Value::Real(high), Value::Int(count)] => {
                Some((*low, *high, u64::try_from(*count).ok()?))
            }
            _ => None,
        },
        _ => None,
    };
    items.iter().map(bin).collect::<Option<Vec<_>>>().filter(|bins| !bins.is_empty())
}

fn bins(value: &Value) -> Option<Vec<(String, Option<f64>)>> {
    let row = |(low, high, count)| {
        (format!("{} – {}", tracewise::plot::number(low), tracewise::plot::number(high)), Some(count as f64))
    };
    Some(histogram(value)?.into_iter().map(row).collect())
}
