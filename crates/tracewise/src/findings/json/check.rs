//! The object of a property. The first ten fields and their order are fixed.

use super::query::edge;
use super::statistic::statistic;
use super::write::{Object, array, bindings, line, same_line, step, time, value};
use crate::findings::{Detail, Item, Report, Severity, Violation};
use crate::imprecise::{ClockError, Guarantee, Stretch};
use crate::require::Required;

pub(super) fn object(report: &Report, item: &Item) -> Object {
    let statistics = &report.statistics;
    let mut object = Object::new()
        .field("property", item.name.as_str())
        .field("trace", report.subject.as_str())
        .field("verdict", item.verdict.map(|verdict| verdict.as_str()))
        .field("position", item.position)
        .raw("time", &time(item.time))
        .list("violations", violations(&item.violations, item.severity))
        .field("violation_count", item.violation_count)
        .field("engine", item.engine.or(statistics.engine))
        .field("semantics", statistics.semantics)
        .field("events", statistics.positions)
        .maybe("title", item.title.as_deref());
    // Whatever is not said otherwise is an error.
    if item.severity != Severity::Error {
        object = object.field("severity", item.severity.name());
    }
    if let Detail::Required(found) = &item.detail {
        object = divided(object, found);
        object = object.raw("value", &value(&found.value)).field("required", found.relation.as_str());
        object = object.maybe("missing", found.missing.as_deref());
    } else if let Some((column, values)) = &statistics.by {
        object =
            object.raw("by", &Object::new().field("column", column.as_str()).field("values", *values).end());
    }
    if let Some(explanation) = &item.explanation {
        object = object.raw("explanation", &step(explanation));
    }
    if let Some(found) = &item.statistic {
        object = object.raw("stat", &statistic(found));
    }
    if let Some(found) = &item.guarantee {
        object = guarantee(object, found);
    }
    object
}

/// Which part of the trace a requirement is about.
pub(super) fn divided(mut object: Object, found: &Required) -> Object {
    if let Some((column, key)) = &found.by {
        object = object.raw("by", &Object::new().raw(column, &value(key)).end());
    }
    match found.window {
        Some((from, to)) => object.raw("window", &array([edge(from), edge(to)])),
        None => object,
    }
}

/// Bytes of a line that are said again with every violation on it.
const SHORT: usize = 256;

/// The violations, in their order. Of those on one long line, the first has its text: there may be a million.
fn violations(all: &[Violation], severity: Severity) -> impl Iterator<Item = String> + '_ {
    all.iter().enumerate().map(move |(at, own)| {
        let before = at.checked_sub(1).and_then(|at| all[at].line.as_ref());
        let told = own.line.as_ref().zip(before).is_some_and(|(log, before)| {
            log.text.len() > SHORT && (log.line, &log.file) == (before.line, &before.file)
        });
        violation(own, severity, told)
    })
}

fn violation(violation: &Violation, severity: Severity, told: bool) -> String {
    let mut object = Object::new()
        .field("position", violation.position)
        .raw("time", &time(violation.time))
        .raw("bindings", &bindings(&violation.bindings))
        .maybe("infinite", violation.infinite.then_some(true))
        .maybe("category", violation.category.as_deref())
        .maybe("severity", violation.category.as_ref().map(|_| severity.name()))
        .maybe("text", violation.text.as_deref());
    if let Some(log) = &violation.line {
        object = object.raw("line", &if told { same_line(log) } else { line(log) });
    }
    object.end()
}

/// The fields behind those that every property has.
fn guarantee(object: Object, found: &Guarantee) -> Object {
    let mut object = object.field("guarantee", found.kind.name());
    object = match &found.clock_error {
        ClockError::Same(_) => object.field("clock_error", found.clock_error.to_string()),
        ClockError::Column(name) => {
            object.raw("clock_error", &Object::new().field("column", name.as_str()).end())
        }
    };
    if let Some(due_to) = &found.due_to {
        object = object.raw("due_to", &bindings(std::slice::from_ref(due_to)));
    }
    if let Some(blocked) = &found.blocked {
        object = object.field("blocked_by", blocked.formula.as_str()).field("why", blocked.why);
        object = object.field("blocked_by_negation", blocked.negated);
        if let Some((file, line, column)) = &blocked.place {
            let place = Object::new().field("file", file.as_str()).field("line", *line);
            object = object.raw("blocked_at", &place.field("column", *column).end());
        }
    }
    if found.instant_count > 0 {
        object = object.raw("instants", &array(found.instants.iter().map(stretch)));
        object = object.field("instant_count", found.instant_count);
    }
    object
}

fn stretch(stretch: &Stretch) -> String {
    Object::new()
        .raw("from", &time(Some(stretch.from.0)))
        .field("from_open", stretch.from.1)
        .raw("to", &time(Some(stretch.to.0)))
        .field("to_open", stretch.to.1)
        .end()
}
