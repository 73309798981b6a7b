//! What a watch says, as JSON: an object on a line of its own each.

use super::check::divided;
use super::write::{self as json, Object};
use crate::trace::Stamp;
use crate::watch::{Deadline, Observation, Pending, WatchValue, WatchVerdict};

/// A timestamp, where there is one.
fn with_time(object: Object, key: &str, time: Option<Stamp>) -> Object {
    match time {
        Some(_) => object.raw(key, &json::time(time)),
        None => object,
    }
}

/// When something is settled at the latest, if that is known.
fn with_deadline(object: Object, deadline: Option<Deadline>) -> Object {
    match deadline {
        Some(Deadline::Time(stamp)) => with_time(object, "deadline", Some(stamp)),
        Some(Deadline::Position(position)) => object.field("deadline_position", position),
        None => object,
    }
}

/// A value.
pub fn value(value: &WatchValue) -> String {
    let object = Object::new().field("query", value.query.as_str());
    let object = match value.bindings.as_slice() {
        [] => object,
        key => object.raw("bindings", &json::bindings(key)),
    }
    .raw("value", &json::value(&value.value))
    .field("position", value.position)
    .maybe("ended", value.ended.map(|ended| ended.name()))
    .maybe("error", value.fault.as_deref());
    match value.approximate.as_slice() {
        [] => object.end(),
        bounds => {
            let bounds = bounds.iter().map(|bound| serde_json::Value::from(bound.as_str()).to_string());
            object.raw("approximate", &json::array(bounds)).end()
        }
    }
}

/// A verdict; with `observers`, that of an asynchronous one.
pub fn verdict(verdict: &WatchVerdict<'_>, observers: bool) -> String {
    let deadline = verdict.due.as_ref().map(|due| due.deadline);
    let mut object = Object::new().field("property", verdict.property);
    if !verdict.bindings.is_empty() {
        object = object.raw("bindings", &json::bindings(&verdict.bindings));
    }
    if observers {
        object = object.field("observer", "settled");
    }
    object = object
        .field("verdict", verdict.verdict.as_str())
        .field("position", verdict.about.unwrap_or(verdict.position));
    object = with_time(object, "time", verdict.time);
    if observers {
        object = object.field("at", verdict.position);
    }
    object = with_time(object, "deadline", deadline).field("settled", verdict.settled);
    object = object.maybe("ended", verdict.ended.map(|ended| ended.name()));
    if let Some(found) = &verdict.required {
        object = divided(object, found);
        object = object.raw("value", &json::value(&found.value)).field("required", found.relation.as_str());
    }
    if verdict.about.is_some() {
        return if observers { object.end() } else { object.field("by", verdict.position).end() };
    }
    if verdict.settled {
        // A deadline that time passed has no line of its own: that of the position that failed stands for it.
        let line = verdict.line.as_ref().or(verdict.violation.as_ref().and_then(|found| found.line.as_ref()));
        object = object.raw("line", &line.map_or("null".into(), json::line));
    }
    if let Some(violation) = &verdict.violation {
        let found = Object::new()
            .field("position", violation.position)
            .raw("time", &json::time(violation.time))
            .raw("bindings", &json::bindings(&violation.bindings))
            .maybe("infinite", violation.infinite.then_some(true))
            .maybe("category", violation.category.as_deref())
            .maybe("severity", violation.category.as_ref().map(|_| verdict.severity.name()))
            .maybe("text", violation.text.as_deref());
        // That of the settling position stands above.
        let other = violation.line.as_ref().filter(|_| violation.position != Some(verdict.position));
        let found = match other {
            Some(line) => found.raw("line", &json::line(line)),
            None => found,
        };
        object = object.raw("violation", &found.end()).field("violation_count", verdict.violation_count);
    }
    if let Some(due) = &verdict.due {
        object = object.field("owed", due.owed.as_str()).field("since", due.since);
    }
    if let Some(pending) = &verdict.pending {
        object = object.field("pending", pending.owed.as_str()).field("since", pending.since);
        object = with_deadline(object, pending.deadline);
        if verdict.more_pending > 0 {
            object = object.field("more_pending", verdict.more_pending);
        }
    }
    object.end()
}

/// What a synchronous observer says.
pub fn observation(seen: &Observation<'_>) -> String {
    let object = Object::new()
        .field("property", seen.property)
        .field("observer", "now")
        .field("verdict", seen.verdict.as_str())
        .field("position", seen.position);
    with_time(object, "time", seen.time).end()
}

/// That nothing is pending.
pub fn nothing_pending(positions: u64) -> String {
    Object::new().raw("pending", "null").field("positions", positions).end()
}

/// What the user should know.
pub fn note(note: &str) -> String {
    Object::new().field("note", note).end()
}

/// What a property waits for.
pub fn pending(owed: &Pending<'_>, positions: u64) -> String {
    let object = Object::new()
        .field("pending", owed.owed.as_str())
        .field("property", owed.property)
        .field("since", owed.since)
        .field("line", owed.line);
    with_deadline(object, owed.deadline).field("positions", positions).end()
}
