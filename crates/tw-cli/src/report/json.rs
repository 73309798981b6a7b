//! `--output json`: one object per property and trace, one per line. The first ten fields and their order are fixed.

use super::{Checked, Reporter, guarantee, statistics};
use crate::json::{self, Object, array};
use std::io::{self, Write};
use tracewise::{CheckReport, PropertyReport, Violation};

/// Writes each line as soon as it is known.
pub struct Json;

impl Reporter for Json {
    fn trace(&mut self, checked: &Checked<'_>, out: &mut dyn Write) -> io::Result<()> {
        for property in &checked.report.properties {
            writeln!(out, "{}", object(checked.report, property))?;
        }
        // A program at the other end of a pipe gets each trace when it is done.
        out.flush()
    }
}

fn object(report: &CheckReport, property: &PropertyReport) -> String {
    let mut object = Object::new()
        .field("property", property.name.as_str())
        .field("trace", report.trace.as_str())
        .field("verdict", property.verdict.as_str())
        .field("position", property.position)
        .raw("time", &json::time(property.time))
        .raw("violations", &array(property.violations.iter().map(violation)))
        .field("violation_count", property.violation_count)
        .field("engine", report.engine)
        .field("semantics", report.semantics)
        .field("events", report.positions)
        .maybe("title", property.title.as_deref());
    if let Some((column, values)) = &report.by {
        object =
            object.raw("by", &Object::new().field("column", column.as_str()).field("values", *values).end());
    }
    if let Some(explanation) = &property.explanation {
        object = object.raw("explanation", &json::step(explanation));
    }
    if let Some(statistic) = &property.statistic {
        object = object.raw("stat", &statistics::json(statistic));
    }
    if let Some(found) = &property.guarantee {
        object = guarantee::json(object, found);
    }
    object.end()
}

fn violation(violation: &Violation) -> String {
    let object = Object::new()
        .field("position", violation.position)
        .raw("time", &json::time(violation.time))
        .raw("bindings", &json::bindings(&violation.bindings));
    match &violation.line {
        Some(line) => object.raw("line", &json::line(line)).end(),
        None => object.end(),
    }
}
