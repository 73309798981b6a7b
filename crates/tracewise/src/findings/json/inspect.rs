//! The object of `inspect`.

use super::write::{Object, array, bindings, time, value};
use crate::inspect::{ColumnSummary, InspectReport};
use tw_core::Value;
use tw_trace::{Arguments, Event, Row};

/// What a trace has.
pub fn inspect(report: &InspectReport) -> String {
    let column = |column: &ColumnSummary| {
        Object::new()
            .field("name", column.name.as_str())
            .field("type", column.kind.as_str())
            .field("present", column.present)
            .field("min", column.range.map(|(low, _)| low))
            .field("max", column.range.map(|(_, high)| high))
            .field("distinct", column.distinct)
            .field("examples", column.examples.clone())
            .end()
    };
    let event = |(name, times): &(String, u64)| {
        Object::new().field("name", name.as_str()).field("count", *times).end()
    };
    let span = report.span.as_ref().map(|(first, last)| vec![first.clone(), last.clone()]);
    Object::new()
        .field("trace", report.trace.as_str())
        .field("format", report.format)
        .field("positions", report.positions)
        .field("time", report.written.as_ref().map(|(example, place)| format!("`{example}` {place}")))
        .field("span", span)
        .raw("columns", &array(report.columns.iter().map(column)))
        .raw("events", &array(report.events.iter().map(event)))
        .raw("sample", &array(report.sample.iter().map(row_json)))
        .field("suggestions", report.suggestions.clone())
        .end()
}

fn row_json(row: &Row) -> String {
    let event = |event: &Event| {
        let object = Object::new().field("name", event.name.as_ref());
        match &event.arguments {
            Arguments::Positional(arguments) => {
                object.raw("arguments", &array(arguments.iter().map(value))).end()
            }
            Arguments::OfRow => object.end(),
        }
    };
    let variables: Vec<(String, Value)> =
        row.variables.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
    Object::new()
        .field("line", row.line)
        .raw("time", &time(row.time))
        .raw("variables", &bindings(&variables))
        .raw("events", &array(row.events.iter().map(event)))
        .end()
}
