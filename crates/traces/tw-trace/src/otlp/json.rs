//! Documents in JSON, with keys in either spelling.

use super::any::DEPTH;
use super::{Any, Attributes, Export, Kind, Moment, Record, Span, Status, no_time};
use serde_json::Value as Json;
use tw_core::Time;

/// A value that is not what it should be.
#[derive(Clone, Debug, PartialEq)]
pub struct Misread {
    /// The key under which it stands; none, where it is not one value that is wrong.
    pub key: Option<String>,
    /// The value.
    pub value: Json,
    /// What was found and what was expected.
    pub message: String,
}

impl From<String> for Misread {
    fn from(message: String) -> Self {
        Self { key: None, value: Json::Null, message }
    }
}

/// Whether a document is an export: it may be one of metrics, which are no events.
pub fn is_export(document: &Json) -> bool {
    let known = ["resourceSpans", "resourceLogs", "resourceMetrics", "resource_spans", "resource_logs"];
    known.iter().any(|key| document.get(key).is_some())
}

/// What of a document is not where an export has lists of objects, if something is: nothing of it would be found.
pub fn misshapen(document: &Json) -> Option<String> {
    const LEVELS: [&[&str]; 3] = [
        &["resourceSpans", "resource_spans", "resourceLogs", "resource_logs"],
        &["scopeSpans", "scope_spans", "scopeLogs", "scope_logs"],
        &["spans", "logRecords", "log_records"],
    ];
    let mut level = vec![document];
    for keys in LEVELS {
        let mut next = Vec::new();
        for object in level {
            let Json::Object(fields) = object else {
                return Some(format!("found {}, expected an object", kind_of(object)));
            };
            for (key, value) in keys.iter().filter_map(|key| fields.get_key_value(*key)) {
                match value {
                    Json::Array(items) => next.extend(items),
                    Json::Null => {}
                    other => return Some(format!("`{key}`: found {}, expected a list", kind_of(other))),
                }
            }
        }
        level = next;
    }
    let other = level.into_iter().find(|one| !one.is_object())?;
    Some(format!("found {}, expected an object: a span or a record", kind_of(other)))
}

fn kind_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a truth value",
        Json::Number(_) => "a number",
        Json::String(_) => "a text",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

/// What a document exports.
pub fn export(document: &Json, to: &mut dyn Export<Misread>) {
    for resource in list(document, ["resourceSpans", "resource_spans"]) {
        let service = service(resource);
        for scope in list(resource, ["scopeSpans", "scope_spans"]) {
            list(scope, ["spans", "spans"]).iter().for_each(|one| to.span(&service, span(one)));
        }
    }
    for resource in list(document, ["resourceLogs", "resource_logs"]) {
        let service = service(resource);
        for scope in list(resource, ["scopeLogs", "scope_logs"]) {
            list(scope, ["logRecords", "log_records"])
                .iter()
                .for_each(|one| to.record(&service, record(one)));
        }
    }
}

/// The elements of a list below a key, in either spelling; none if it is not there.
fn list<'j>(json: &'j Json, keys: [&str; 2]) -> &'j [Json] {
    let found = keys.iter().find_map(|key| json.get(key)).and_then(Json::as_array);
    found.map_or(&[], Vec::as_slice)
}

fn span(span: &Json) -> Result<Span<'_>, Misread> {
    let status = span.get("status");
    let of_status = |key| status.and_then(|status| status.get(key));
    let events = list(span, ["events", "events"]).iter().map(|moment| {
        Ok(Moment {
            time: nanoseconds(moment, &["timeUnixNano", "time_unix_nano"])?,
            name: text(moment, &["name"]),
            attributes: attributes(moment)?,
        })
    });
    Ok(Span {
        trace: text(span, &["traceId", "trace_id"]),
        id: text(span, &["spanId", "span_id"]),
        parent: text(span, &["parentSpanId", "parent_span_id"]),
        name: text(span, &["name"]),
        kind: kind(span.get("kind")),
        start: nanoseconds(span, &["startTimeUnixNano", "start_time_unix_nano"])?,
        end: nanoseconds(span, &["endTimeUnixNano", "end_time_unix_nano"])?,
        status: match of_status("code") {
            Some(Json::String(name)) if name == "STATUS_CODE_OK" => Status::Ok,
            Some(Json::String(name)) if name == "STATUS_CODE_ERROR" => Status::Error,
            code => Status::numbered(code.and_then(Json::as_u64).unwrap_or(0)),
        },
        message: of_status("message").and_then(Json::as_str).map_or(Any::Null, Any::text),
        attributes: attributes(span)?,
        events: events.collect::<Result<_, Misread>>()?,
    })
}

fn record(record: &Json) -> Result<Record<'_>, Misread> {
    let number = ["severityNumber", "severity_number"].iter().find_map(|key| record.get(key));
    let number = number.and_then(Json::as_i64).filter(|number| *number > 0);
    Ok(Record {
        time: nanoseconds(record, &["timeUnixNano", "time_unix_nano"])?,
        observed: nanoseconds(record, &["observedTimeUnixNano", "observed_time_unix_nano"])?,
        name: text(record, &["name", "eventName", "event_name"]),
        severity: text(record, &["severityText", "severity_text"]),
        severity_number: number.map_or(Any::Null, Any::Int),
        body: record.get("body").map_or(Ok(Any::Null), |body| any(body, 0))?,
        attributes: attributes(record)?,
        trace: text(record, &["traceId", "trace_id"]),
        span: text(record, &["spanId", "span_id"]),
    })
}

fn kind(kind: Option<&Json>) -> Kind {
    match kind {
        Some(Json::String(name)) => {
            let word = name.strip_prefix("SPAN_KIND_").unwrap_or_default();
            let found = Kind::NAMES.iter().position(|known| known.eq_ignore_ascii_case(word));
            Kind(found.unwrap_or(0) as u8)
        }
        kind => Kind(kind.and_then(Json::as_u64).and_then(|kind| kind.try_into().ok()).unwrap_or(0)),
    }
}

fn text<'j>(json: &'j Json, keys: &[&str]) -> Any<'j> {
    let found = keys.iter().find_map(|key| json.get(key)).and_then(Json::as_str);
    found.map_or(Any::Null, Any::text)
}

fn service(resource: &Json) -> Any<'_> {
    let attributes =
        resource.get("resource").map_or(&[][..], |inner| list(inner, ["attributes", "attributes"]));
    let named = attributes.iter().find(|one| one.get("key").and_then(Json::as_str) == Some("service.name"));
    let value = named.and_then(|one| one.get("value"));
    value.and_then(|value| any(value, 0).ok()).unwrap_or_default()
}

/// Nanoseconds since 1970, as a number or in a text; nothing is 0.
fn nanoseconds(json: &Json, keys: &[&str]) -> Result<Time, Misread> {
    let Some((key, found)) = keys.iter().find_map(|key| Some((*key, json.get(key)?))) else { return Ok(0) };
    let (time, shown) = match found {
        Json::Null => return Ok(0),
        Json::String(text) => (text.parse().ok(), text.clone()),
        other => (other.as_i64(), other.to_string()),
    };
    time.filter(|time| *time >= 0).ok_or_else(|| Misread {
        key: Some(key.to_string()),
        value: found.clone(),
        message: no_time(key, &shown),
    })
}

fn attributes(of: &Json) -> Result<Any<'_>, Misread> {
    pairs(list(of, ["attributes", "attributes"]), 0).map(Attributes::some)
}

fn pairs(pairs: &[Json], depth: usize) -> Result<Attributes<'_>, Misread> {
    let mut attributes = Attributes::default();
    for pair in pairs {
        if let (Some(key), Some(value)) = (pair.get("key").and_then(Json::as_str), pair.get("value")) {
            attributes.put(key, any(value, depth)?, depth)?;
        }
    }
    Ok(attributes)
}

/// A value of the protocol, which says its type beside it.
fn any(value: &Json, depth: usize) -> Result<Any<'_>, Misread> {
    if depth >= DEPTH {
        return Err(format!("found values nested deeper than {DEPTH} levels").into());
    }
    let Some((kind, inner)) = value.as_object().and_then(|object| object.iter().next()) else {
        return Ok(Any::Null);
    };
    Ok(match (kind.as_str(), inner) {
        ("intValue" | "int_value", Json::String(text)) => text.parse().map_or(Any::Text(text), Any::Int),
        ("arrayValue" | "array_value", items) => {
            let items = list(items, ["values", "values"]).iter().map(|item| any(item, depth + 1));
            Any::List(items.collect::<Result<_, _>>()?)
        }
        ("kvlistValue" | "kvlist_value", inner) => {
            pairs(list(inner, ["values", "values"]), depth + 1)?.fields()
        }
        // As `NaN` is, which is no number that can be told.
        ("doubleValue" | "double_value", Json::String(text)) => text.parse().map_or(Any::Null, Any::Real),
        (_, Json::String(text)) => Any::Text(text),
        (_, Json::Bool(bool)) => Any::Bool(*bool),
        (_, Json::Number(number)) => match (number.as_i64(), number.as_f64()) {
            (Some(int), _) if !kind.starts_with("double") => Any::Int(int),
            (_, Some(real)) => Any::Real(real),
            _ => Any::Null,
        },
        _ => Any::Null,
    })
}

#[cfg(test)]
mod tests {
    use super::misshapen;

    #[test]
    fn what_is_no_list_of_objects_is_named() {
        for (document, expected) in [
            ("{}", None),
            ("{\"resourceSpans\":null,\"more\":3}", None),
            ("{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{}]}]}]}", None),
            ("[1]", Some("found a list, expected an object")),
            ("{\"resourceSpans\":3}", Some("`resourceSpans`: found a number, expected a list")),
            ("{\"resource_logs\":[3]}", Some("found a number, expected an object")),
            (
                "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":\"x\"}]}]}",
                Some("`spans`: found a text, expected a list"),
            ),
            (
                "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[[]]}]}]}",
                Some("found a list, expected an object: a span or a record"),
            ),
        ] {
            let document = serde_json::from_str(document).unwrap();
            assert_eq!(misshapen(&document).as_deref(), expected);
        }
    }
}
