//! Answers as tables for other programs and for documents: CSV and Markdown.

use super::Answers;
use crate::report::Outlet;
use crate::words::{self, value as shown};
use std::io;
use tracewise::Value;
use tracewise::findings::{Detail, Item, Report, json};
use tracewise::query::{Approximation, Edge, Group, QueryResult};
use tracewise::require::Required;
use tracewise::trace::push_csv_cell;

/// One line per value: `trace,query,key,from,to,position,time,value,verdict,required`, with the columns that have something in
/// them; the last two are those of requirements.
pub fn csv(answers: &Answers, out: &mut dyn Outlet) -> io::Result<()> {
    let guard = answers.csv_guard;
    let (cell, value) = (|text: &str| cell(text, guard), |one: &Value| value(one, guard));
    let results = || answers.reports.iter().flat_map(|report| report.values());
    let everywhere = results().any(|result| result.everywhere.is_some());
    let timed = results().any(|result| result.times.is_some());
    let demands = || answers.reports.iter().flat_map(|report| requirements(report));
    let required = demands().next().is_some();
    let keyed = results().any(|result| result.by.is_some()) && !everywhere
        || demands().any(|(_, found)| found.by.is_some());
    let windowed = results().any(|result| result.every.is_some()) && !everywhere
        || demands().any(|(_, found)| found.window.is_some());
    let mut head = vec!["trace", "query"];
    head.extend(keyed.then_some("key"));
    head.extend(windowed.then_some(["from", "to"]).into_iter().flatten());
    head.extend(everywhere.then_some("position"));
    head.extend((everywhere && timed).then_some("time"));
    head.push("value");
    let rough = results().any(|result| !result.approximate.is_empty());
    head.extend(rough.then_some("approximate"));
    head.extend(required.then_some(["verdict", "required"]).into_iter().flatten());
    writeln!(out, "{}", head.join(","))?;
    let after = if required { ",," } else { "" };
    let bounds = |parts: &[Approximation]| match rough {
        true => format!(",{}{after}", cell(&words::bounds(parts))),
        false => after.to_string(),
    };
    // Values at positions are divided no further, but requirements beside them may be.
    let blank = ",".repeat(if everywhere { usize::from(keyed) + 2 * usize::from(windowed) } else { 0 });
    for report in &answers.reports {
        for result in report.values() {
            let start = format!("{},{}", cell(&report.subject), cell(&result.name));
            if let Some(values) = &result.everywhere {
                for (position, one) in values.iter().enumerate() {
                    write!(out, "{start}{blank},{position}")?;
                    if timed {
                        let stamp = result.times.as_ref().map(|times| times[position].format());
                        write!(out, ",{}", stamp.unwrap_or_default())?;
                    }
                    writeln!(out, ",{}{}", value(&result.tabled(one)), bounds(&result.approximate))?;
                    if out.closed() {
                        return Ok(());
                    }
                }
                continue;
            }
            for group in &result.groups {
                write!(out, "{start}")?;
                if keyed {
                    write!(out, ",{}", group.key.as_ref().map(value).unwrap_or_default())?;
                }
                if windowed {
                    let (from, to) = group.window.map(|(a, b)| (edge(a), edge(b))).unwrap_or_default();
                    write!(out, ",{from},{to}")?;
                }
                writeln!(out, ",{}{}", value(&result.tabled(&group.value)), bounds(&result.approximate))?;
            }
        }
        for (item, found) in requirements(report) {
            write!(out, "{},{}", cell(&report.subject), cell(&item.name))?;
            if keyed {
                write!(out, ",{}", found.by.as_ref().map(|(_, key)| value(key)).unwrap_or_default())?;
            }
            if windowed {
                let (from, to) = found.window.map(|(a, b)| (edge(a), edge(b))).unwrap_or_default();
                write!(out, ",{from},{to}")?;
            }
            let nowhere = ",".repeat(usize::from(everywhere) + usize::from(everywhere && timed));
            let rough = if rough { "," } else { "" };
            let verdict = item.verdict.map_or("", |verdict| verdict.as_str());
            writeln!(out, "{nowhere},{}{rough},{verdict},{}", value(&found.value), cell(&found.relation))?;
        }
    }
    if let Some(totals) = answers.totals() {
        let names = answers.reports.first().into_iter().flat_map(|report| report.values());
        let empty = ",".repeat(usize::from(keyed) + 2 * usize::from(windowed));
        for (result, total) in names.zip(totals) {
            let Some((total, rough)) = total else { continue };
            if !everywhere {
                writeln!(out, "total,{}{empty},{}{}", cell(&result.name), value(total), bounds(rough))?;
            }
        }
    }
    Ok(())
}

/// Traces down, queries across, a total below; what is divided or asked everywhere has a table of its own.
pub fn markdown(answers: &Answers, out: &mut dyn Outlet) -> io::Result<()> {
    let Some(first) = answers.reports.first() else { return Ok(()) };
    let queries: Vec<&QueryResult> = first.values().collect();
    let plain: Vec<usize> = (0..queries.len())
        .filter(|&index| queries[index].everywhere.is_none() && !divided(queries[index]))
        .collect();
    if !plain.is_empty() {
        let names: Vec<String> = plain.iter().map(|&index| escape(&queries[index].name)).collect();
        writeln!(out, "| trace | {} |", names.join(" | "))?;
        writeln!(out, "|---|{}", "---:|".repeat(plain.len()))?;
        for report in &answers.reports {
            let value = |index: &usize| {
                let result = report.values().nth(*index)?;
                Some(escape(&shown(&result.tabled(&result.groups.first()?.value))))
            };
            let values: Vec<String> = plain.iter().map(|index| value(index).unwrap_or_default()).collect();
            writeln!(out, "| {} | {} |", escape(&report.subject), values.join(" | "))?;
        }
        if let Some(totals) = answers.totals() {
            let totals: Vec<_> = totals.collect();
            let total = |index: &usize| totals.get(*index).copied().flatten();
            let shown = |(value, _): &(Value, _)| escape(&shown(value));
            let totals: Vec<String> =
                plain.iter().map(|index| total(index).map_or("–".into(), shown)).collect();
            writeln!(out, "| **total** | {} |", totals.join(" | "))?;
        }
    }
    for report in &answers.reports {
        for result in report.values() {
            if !result.approximate.is_empty() {
                let (name, bounds) = (escape(&result.name), escape(&words::bounds(&result.approximate)));
                writeln!(out, "\n{name} on {} is approximate: {bounds}", escape(&report.subject))?;
            }
            if let Some(values) = &result.everywhere {
                writeln!(
                    out,
                    "\n**{}** on {}\n\n| position | value |\n|---:|---:|",
                    escape(&result.name),
                    escape(&report.subject)
                )?;
                for (position, one) in values.iter().enumerate() {
                    writeln!(out, "| {position} | {} |", escape(&shown(&result.tabled(one))))?;
                }
            } else if divided(result) {
                parts(result, &report.subject, out)?;
            }
        }
    }
    if answers.reports.iter().any(|report| requirements(report).next().is_some()) {
        let gap = if queries.is_empty() { "" } else { "\n" };
        writeln!(out, "{gap}| trace | requirement | verdict | value |\n|---|---|---|---|")?;
        for report in &answers.reports {
            for (item, found) in requirements(report) {
                let verdict = item.verdict.map_or("", |verdict| verdict.as_str());
                let (trace, name) = (escape(&report.subject), escape(&item.name));
                writeln!(out, "| {trace} | {name} | {verdict} | {} |", escape(&words::required(found)))?;
            }
        }
    }
    Ok(())
}

/// The requirements of a trace, part by part.
fn requirements(report: &Report) -> impl Iterator<Item = (&Item, &Required)> {
    report.items.iter().filter_map(|item| match &item.detail {
        Detail::Required(found) => Some((item, &**found)),
        _ => None,
    })
}

fn parts(result: &QueryResult, trace: &str, out: &mut dyn Outlet) -> io::Result<()> {
    writeln!(out, "\n**{}** on {}\n", escape(&result.name), escape(trace))?;
    let mut head: Vec<String> = result.by.iter().map(|column| escape(column)).collect();
    if result.every.is_some() {
        head.extend(["from".into(), "to".into()]);
    }
    writeln!(out, "| {} | value |", head.join(" | "))?;
    writeln!(out, "|{}---:|", "---|".repeat(head.len()))?;
    for group in &result.groups {
        writeln!(out, "| {} | {} |", label(group).join(" | "), escape(&shown(&result.tabled(&group.value))))?;
    }
    Ok(())
}

fn label(group: &Group) -> Vec<String> {
    let mut cells: Vec<String> = group.key.iter().map(|key| escape(&shown(key))).collect();
    if let Some((from, to)) = group.window {
        cells.extend([edge(from), edge(to)]);
    }
    cells
}

/// Whether there is a value per part of the trace.
pub fn divided(result: &QueryResult) -> bool {
    result.by.is_some() || result.every.is_some()
}

/// An end of a window, as the trace writes time.
pub fn edge(edge: Edge) -> String {
    match edge {
        Edge::Time(stamp) => stamp.format(),
        Edge::Position(position) => position.to_string(),
    }
}

fn value(value: &Value, guard: bool) -> String {
    match value {
        Value::Null => String::new(),
        Value::Str(text) => cell(text, guard),
        other => cell(&json::value(other), false),
    }
}

fn cell(text: &str, guard: bool) -> String {
    let mut out = String::new();
    push_csv_cell(text, guard, &mut out);
    out
}

fn escape(text: &str) -> String {
    let text = words::printable(&text.replace(['\n', '\r'], " "));
    let text = text.replace('\\', "\\\\").replace('|', "\\|");
    text.replace('*', "\\*").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells() {
        assert_eq!(cell("a,b", false), "\"a,b\"");
        assert_eq!(value(&Value::List(vec![Value::Int(1), Value::text("a")]), true), "\"[1,\"\"a\"\"]\"");
        assert_eq!(value(&Value::Null, true), "");
        assert_eq!(value(&Value::text("=a"), true), "'=a");
        assert_eq!(value(&Value::text("=a"), false), "=a");
        assert_eq!(value(&Value::Int(-1), true), "-1");
        assert_eq!(escape("a|b\nc"), "a\\|b c");
    }
}
