//! Values of queries, whole, divided or at each position.

use super::super::escape::content;
use crate::words;
use std::fmt::Write as _;
use tracewise::Value;
use tracewise::query::{Edge, QueryResult};

/// Parts or positions shown in a table.
const ROWS: usize = 200;

/// The value of a query: a number to be seen from afar, or a table of its parts.
pub fn query(result: &QueryResult) -> String {
    let mut text = String::new();
    let divided = result.by.is_some() || result.every.is_some();
    match (&result.everywhere, result.groups.as_slice()) {
        (Some(values), _) => {
            let times = result.times.as_deref();
            let time = |at: usize| times.and_then(|times| times.get(at)).map(|stamp| stamp.format());
            let rows = values.iter().enumerate();
            let rows = rows
                .map(|(at, value)| vec![at.to_string(), time(at).unwrap_or_default(), words::value(value)]);
            text.push_str(&table(&["position", "time", "value"], rows.take(ROWS), values.len()));
        }
        (None, groups) if divided => {
            let edges = |(from, to): (Edge, Edge)| format!("{} to {}", edge(from), edge(to));
            let rows = groups.iter().map(|group| {
                let key = group.key.as_ref().map(words::value);
                let value = words::value(&group.value);
                let missing = group.missing.as_ref().map(|missing| format!(" ({missing})"));
                vec![
                    key.unwrap_or_default(),
                    group.window.map(edges).unwrap_or_default(),
                    format!("{value}{}", missing.unwrap_or_default()),
                ]
            });
            let by = result.by.as_deref().unwrap_or("");
            text.push_str(&table(&[by, "window", "value"], rows.take(ROWS), groups.len()));
        }
        (None, groups) => {
            for group in groups {
                let about = if result.approximate.is_empty() { "" } else { "≈ " };
                if let Some(bins) = bins(&group.value) {
                    text.push_str(&table(&["from", "to", "count"], bins.iter().cloned(), bins.len()));
                    continue;
                }
                let value = content(&words::printable(&words::value(&group.value)));
                let _ = write!(text, "<p class=\"value\">{about}{value}</p>");
                if let Some(missing) = &group.missing {
                    let _ = write!(text, "<p class=\"soft\">no value: {}</p>", content(missing));
                }
            }
        }
    }
    for part in &result.approximate {
        let said = format!("{} is approximate: {}", part.part, part.bound);
        let _ = write!(text, "<p class=\"soft\">{}</p>", content(&said));
    }
    text
}

/// A table without the columns that have nothing in them.
fn table(heads: &[&str], rows: impl Iterator<Item = Vec<String>>, all: usize) -> String {
    let rows: Vec<Vec<String>> = rows.collect();
    let used = |column: usize| rows.iter().any(|row| !row[column].is_empty());
    let columns: Vec<usize> = (0..heads.len()).filter(|&column| used(column)).collect();
    let mut text = String::from("<div class=\"wide\"><table><tr>");
    for &column in &columns {
        let _ = write!(text, "<th>{}</th>", content(heads[column]));
    }
    text.push_str("</tr>");
    for row in &rows {
        text.push_str("<tr>");
        for &column in &columns {
            let _ = write!(text, "<td>{}</td>", content(&words::printable(&row[column])));
        }
        text.push_str("</tr>");
    }
    text.push_str("</table></div>");
    if all > rows.len() {
        let more = words::count((all - rows.len()) as u64);
        let _ = write!(text, "<p class=\"soft\">… and {more} more</p>");
    }
    text
}

/// The rows of a histogram: from, to, count.
fn bins(value: &Value) -> Option<Vec<Vec<String>>> {
    let Value::List(rows) = value else { return None };
    let cell = |value: &Value| match value {
        Value::Real(real) => words::number(*real),
        other => words::value(other),
    };
    let row = |row: &Value| match row {
        Value::List(cells) if cells.len() == 3 => Some(cells.iter().map(cell).collect()),
        _ => None,
    };
    let rows: Option<Vec<Vec<String>>> = rows.iter().map(row).collect();
    rows.filter(|rows| !rows.is_empty())
}

fn edge(edge: Edge) -> String {
    match edge {
        Edge::Time(stamp) => stamp.format(),
        Edge::Position(position) => position.to_string(),
    }
}
