//! Answers as JSON, one object per line.

use super::Answers;
use crate::json::{Object, array, line, time, value};
use crate::output::Output;
use std::io::{self, Write};
use tracewise::{Approximation, Edge, Group, Origin, QueryReport, QueryResult};

pub fn write(answers: &Answers, out: &mut Output) -> io::Result<()> {
    for (report, _) in &answers.reports {
        for result in &report.queries {
            match &result.everywhere {
                Some(values) => {
                    for (position, one) in values.iter().enumerate() {
                        let mut object = Object::new()
                            .field("query", result.name.as_str())
                            .field("trace", report.trace.as_str())
                            .field("position", position);
                        if let Some(times) = &result.times {
                            object = object.raw("time", &time(Some(times[position])));
                        }
                        writeln!(out, "{}", object.raw("value", &value(one)).end())?;
                        if out.closed() {
                            return Ok(());
                        }
                    }
                }
                None => {
                    for group in &result.groups {
                        writeln!(out, "{}", object(report, result, group))?;
                    }
                }
            }
        }
    }
    let queries = answers.reports.first().into_iter().flat_map(|(report, _)| &report.queries);
    for (result, total) in queries.zip(answers.totals.iter().flatten()) {
        let Some((total, bounds)) = total else { continue };
        let mut object = Object::new()
            .field("query", result.name.as_str())
            .field("total", true)
            .field("traces", answers.reports.len())
            .raw("value", &value(total));
        if !bounds.is_empty() {
            object = object.raw("approximate", &array(bounds.iter().map(approximation)));
        }
        writeln!(out, "{}", object.end())?;
    }
    Ok(())
}

fn object(report: &QueryReport, result: &QueryResult, group: &Group) -> String {
    let mut object = Object::new().field("query", result.name.as_str()).field("trace", report.trace.as_str());
    if let (Some(column), Some(key)) = (&result.by, &group.key) {
        object = object.raw("by", &Object::new().raw(column, &value(key)).end());
    }
    if let Some((from, to)) = group.window {
        object = object.raw("window", &array([edge(from), edge(to)]));
    }
    object = object.raw("value", &value(&group.value));
    object = object.maybe("missing", group.missing.as_deref());
    if !result.approximate.is_empty() {
        object = object.raw("approximate", &array(result.approximate.iter().map(approximation)));
    }
    if let Some(witness) = &group.witness {
        object = object.raw("witness", &array(witness.origins.iter().map(origin)));
    }
    object.end()
}

fn edge(edge: Edge) -> String {
    match edge {
        Edge::Time(stamp) => time(Some(stamp)),
        Edge::Position(position) => position.to_string(),
    }
}

fn approximation(approximation: &Approximation) -> String {
    Object::new()
        .field("part", approximation.part.as_str())
        .field("bound", approximation.bound.as_str())
        .end()
}

fn origin(origin: &Origin) -> String {
    let object = Object::new()
        .field("part", origin.part.as_str())
        .raw("value", &value(&origin.value))
        .field("from", origin.from)
        .field("to", origin.to)
        .raw("positions", &array(origin.positions.iter().map(ToString::to_string)))
        .field("count", origin.count);
    match &origin.lines {
        Some((first, last)) if first == last => object.raw("lines", &array([line(first)])).end(),
        Some((first, last)) => object.raw("lines", &array([line(first), line(last)])).end(),
        None => object.end(),
    }
}
