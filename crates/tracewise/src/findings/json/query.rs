//! The objects of queries: one per part of a trace, per position, and per total.

use super::write::{Object, array, line, time, value};
use super::{Outlet, Rest};
use crate::Value;
use crate::findings::Report;
use crate::query::{Approximation, Edge, Group, Origin, QueryResult};
use std::io;

/// The value at each position, a line each. What does not change is written once.
pub(super) fn everywhere(
    report: &Report,
    result: &QueryResult,
    values: &[Value],
    rest: &Rest<'_>,
    out: &mut dyn Outlet,
) -> io::Result<()> {
    let head = Object::new().field("query", result.name.as_str()).field("trace", report.subject.as_str());
    let head = head.open();
    let mut tail = rest.tail(true);
    for (position, one) in values.iter().enumerate() {
        let value = value(one);
        match &result.times {
            Some(times) => {
                let time = time(Some(times[position]));
                writeln!(out, "{head},\"position\":{position},\"time\":{time},\"value\":{value}{tail}}}")?;
            }
            None => writeln!(out, "{head},\"position\":{position},\"value\":{value}{tail}}}")?,
        }
        if position == 0 {
            tail = rest.tail(false);
        }
        if out.closed() {
            break;
        }
    }
    Ok(())
}

/// The value over several traces.
pub(super) fn total(name: &str, traces: usize, total: &Value, bounds: &[Approximation]) -> Object {
    let object = Object::new()
        .field("query", name)
        .field("total", true)
        .field("traces", traces)
        .raw("value", &value(total));
    match bounds {
        [] => object,
        bounds => object.raw("approximate", &array(bounds.iter().map(approximation))),
    }
}

pub(super) fn object(report: &Report, result: &QueryResult, group: &Group) -> Object {
    let mut object =
        Object::new().field("query", result.name.as_str()).field("trace", report.subject.as_str());
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
    object
}

pub(super) fn edge(edge: Edge) -> String {
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
