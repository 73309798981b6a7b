//! `otlp-json`: export files of OpenTelemetry, one JSON document after another.
//!
//! A span is two positions, the events `span_start` and `span_end`; a log record is one, the event `log`. Variables are
//! `name`, `service`, `trace_id`, `span_id`, `parent_id`, `duration` (seconds, at the end), `status` (`unset`, `ok`, `error`)
//! and `attributes`; of a log record also `severity` and `body`. Spans are exported when they end, so all of the file is
//! read before its positions are put in the order of time.

use super::line::reset;
use super::writing::inexpressible;
use crate::{
    Arguments, Bytes, Event, FormatCard, Outline, ReadOptions, Reading, Row, RowSink, RowSource, Stamp,
    TimeStyle, TraceError, TraceErrorKind, TraceFormat, Writing, quote,
};
use serde_json::Value as Json;
use std::io::{Read, Write};
use std::sync::Arc;
use tw_core::{Time, Value};

/// The format.
pub struct OtlpJson;

impl TraceFormat for OtlpJson {
    fn card(&self) -> FormatCard {
        FormatCard {
            name: "otlp-json",
            extensions: &[],
            about: "OpenTelemetry export files: events span_start, span_end and log, in the order of time",
            open_vocabulary: true,
        }
    }

    fn rows<'a>(&self, mut input: Bytes<'a>, _options: &ReadOptions) -> Reading<'a> {
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes).map_err(|error| crate::input::describe(&error))?;
        let mut rows = Vec::new();
        let mut stream = serde_json::Deserializer::from_slice(&bytes).into_iter::<Json>();
        loop {
            let start = stream.byte_offset();
            let blank = bytes[start..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let line = 1 + lines(&bytes[..start + blank]);
            match stream.next() {
                None => break,
                Some(Ok(document)) => {
                    let text = &bytes[start..stream.byte_offset()];
                    let placed = |error| placed(error, text, 1 + lines(&bytes[..start]));
                    export(&document, line, &mut rows).map_err(placed)?;
                }
                Some(Err(error)) => {
                    // Positions of the library count from the start of what it was given.
                    let found = error.to_string();
                    let found = found.split(" at line").next().unwrap_or_default();
                    let message =
                        format!("found no JSON: {found}; expected export documents of OpenTelemetry");
                    let error_line = error.line().max(1) as u64;
                    return Err(TraceError::new(TraceErrorKind::Syntax, message)
                        .at(error_line, error.column().max(1) as u64));
                }
            }
        }
        rows.sort_by_key(|row: &Row| row.time.map_or(0, |stamp| stamp.time));
        Ok(Box::new(Source { rows: rows.into_iter() }))
    }

    fn writer<'a>(&self, out: Box<dyn Write + 'a>, _outline: Outline<'_>) -> Writing<'a> {
        drop(out);
        Ok(Box::new(Sink))
    }

    fn lines_end_records(&self) -> bool {
        false
    }

    fn lines_tell(&self) -> bool {
        false
    }
}

fn lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// An error about a value of a document, where that value stands in its text, which begins on `line`.
fn placed(error: Box<Misread>, text: &[u8], line: u64) -> TraceError {
    let Misread { key, value, mut error } = *error;
    let (key, value) = (format!("\"{key}\""), value.to_string());
    let blank = |at: usize| text[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let found = memchr::memmem::find_iter(text, &key).find_map(|at| {
        let mut at = at + key.len();
        at += blank(at);
        at += text[at..].starts_with(b":").then_some(1)?;
        at += blank(at);
        text[at..].starts_with(value.as_bytes()).then_some(at)
    });
    if let Some(at) = found {
        let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1);
        let column = String::from_utf8_lossy(&text[start..at]).chars().count() as u64 + 1;
        error = error.at(line + lines(&text[..at]), column);
    }
    error
}

/// A value that is no timestamp, and under which key it stands.
struct Misread {
    key: String,
    value: Json,
    error: TraceError,
}

impl From<TraceError> for Box<Misread> {
    fn from(error: TraceError) -> Self {
        Box::new(Misread { key: String::new(), value: Json::Null, error })
    }
}

struct Source {
    rows: std::vec::IntoIter<Row>,
}

impl RowSource for Source {
    fn next(&mut self, row: &mut Row) -> Result<bool, TraceError> {
        match self.rows.next() {
            Some(next) => {
                *row = next;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    fn has_events(&self) -> bool {
        true
    }
}

/// Spans have identities and resources that rows do not.
struct Sink;

impl RowSink for Sink {
    fn write(&mut self, row: &Row) -> Result<(), TraceError> {
        Err(inexpressible(row, "what is no span", "otlp-json", "csv` or `jsonl"))
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        Ok(())
    }
}

/// The elements of a list below a key, in either spelling; none if it is not there.
fn list<'j>(json: &'j Json, keys: [&str; 2]) -> &'j [Json] {
    let found = keys.iter().find_map(|key| json.get(key)).and_then(Json::as_array);
    found.map_or(&[], Vec::as_slice)
}

/// The positions of a document.
fn export(document: &Json, line: u64, rows: &mut Vec<Row>) -> Result<(), Box<Misread>> {
    let known = ["resourceSpans", "resourceLogs", "resourceMetrics", "resource_spans", "resource_logs"];
    if !known.iter().any(|key| document.get(key).is_some()) {
        let message = "found a document without `resourceSpans` and `resourceLogs`, expected an export of OpenTelemetry";
        return Err(TraceError::new(TraceErrorKind::Syntax, message).at(line, 1).into());
    }
    for resource in list(document, ["resourceSpans", "resource_spans"]) {
        let service = service(resource);
        for scope in list(resource, ["scopeSpans", "scope_spans"]) {
            for span in list(scope, ["spans", "spans"]) {
                let start = nanoseconds(span, &["startTimeUnixNano", "start_time_unix_nano"], line)?;
                let end = nanoseconds(span, &["endTimeUnixNano", "end_time_unix_nano"], line)?;
                let status = status(span);
                let mut add = |event: &str, time: Time, duration: Value| {
                    let mut row = position(event, time, line, span, &service);
                    field(&mut row, "parent_id", text(span, &["parentSpanId", "parent_span_id"]));
                    field(&mut row, "duration", duration);
                    field(&mut row, "status", Value::text(status));
                    rows.push(row);
                };
                add("span_start", start, Value::Null);
                // A span that is still running has no end.
                if end > 0 {
                    add("span_end", end, Value::Real((end - start) as f64 / 1e9));
                }
            }
        }
    }
    for resource in list(document, ["resourceLogs", "resource_logs"]) {
        let service = service(resource);
        for scope in list(resource, ["scopeLogs", "scope_logs"]) {
            for record in list(scope, ["logRecords", "log_records"]) {
                let keys = ["timeUnixNano", "time_unix_nano"];
                let time = match nanoseconds(record, &keys, line) {
                    Ok(time) if time > 0 => time,
                    _ => nanoseconds(record, &["observedTimeUnixNano", "observed_time_unix_nano"], line)?,
                };
                let mut row = position("log", time, line, record, &service);
                field(&mut row, "severity", text(record, &["severityText", "severity_text"]));
                field(&mut row, "body", record.get("body").map_or(Value::Null, any));
                rows.push(row);
            }
        }
    }
    Ok(())
}

fn position(event: &str, time: Time, line: u64, of: &Json, service: &Value) -> Row {
    let mut row = Row::default();
    reset(&mut row, line);
    row.typed = true;
    row.time = Some(Stamp { time, style: TimeStyle::Text });
    row.events.push(Event { name: event.into(), arguments: Arguments::OfRow });
    field(&mut row, "name", text(of, &["name", "eventName"]));
    field(&mut row, "service", service.clone());
    field(&mut row, "trace_id", text(of, &["traceId", "trace_id"]));
    field(&mut row, "span_id", text(of, &["spanId", "span_id"]));
    field(&mut row, "attributes", attributes(of));
    row
}

fn field(row: &mut Row, name: &str, value: Value) {
    row.variables.push((name.into(), value));
}

fn text(json: &Json, keys: &[&str]) -> Value {
    let found = keys.iter().find_map(|key| json.get(key)).and_then(Json::as_str);
    found.filter(|text| !text.is_empty()).map_or(Value::Null, Value::text)
}

fn service(resource: &Json) -> Value {
    let attributes =
        resource.get("resource").map_or(&[][..], |inner| list(inner, ["attributes", "attributes"]));
    let named = attributes.iter().find(|one| one.get("key").and_then(Json::as_str) == Some("service.name"));
    named.and_then(|one| one.get("value")).map_or(Value::Null, any)
}

fn status(span: &Json) -> &'static str {
    match span.get("status").and_then(|status| status.get("code")) {
        Some(code) if code == 1 || code == "STATUS_CODE_OK" => "ok",
        Some(code) if code == 2 || code == "STATUS_CODE_ERROR" => "error",
        _ => "unset",
    }
}

/// Nanoseconds since 1970, as a number or in a text; nothing is 0.
fn nanoseconds(json: &Json, keys: &[&str], line: u64) -> Result<Time, Box<Misread>> {
    let found = match keys.iter().find_map(|key| json.get(key)) {
        None | Some(Json::Null) => return Ok(0),
        Some(found) => found,
    };
    let time = match found {
        Json::String(text) => text.parse().ok(),
        other => other.as_i64(),
    };
    time.filter(|time| *time >= 0).ok_or_else(|| {
        let key = keys.iter().copied().find(|key| json.get(key).is_some()).unwrap_or(keys[0]).to_string();
        let shown = match found {
            Json::String(text) => quote(text),
            other => quote(&other.to_string()),
        };
        let message = format!("`{key}`: found {shown}, expected nanoseconds since 1970");
        let error = TraceError::new(TraceErrorKind::Time, message).at(line, 1);
        Box::new(Misread { key, value: found.clone(), error })
    })
}

/// Attributes as an object; dots in their keys lead further in, where nothing else stands in the way.
fn attributes(of: &Json) -> Value {
    let mut fields: Vec<(Arc<str>, Value)> = Vec::new();
    for attribute in list(of, ["attributes", "attributes"]) {
        if let (Some(key), Some(value)) =
            (attribute.get("key").and_then(Json::as_str), attribute.get("value"))
        {
            put(&mut fields, key, any(value));
        }
    }
    if fields.is_empty() { Value::Null } else { Value::Object(fields) }
}

fn put(fields: &mut Vec<(Arc<str>, Value)>, key: &str, value: Value) {
    if let Some((first, rest)) = key.split_once('.')
        && !first.is_empty()
        && !rest.is_empty()
    {
        let at = fields.iter().position(|(known, _)| **known == *first);
        match at.map(|at| &mut fields[at].1) {
            Some(Value::Object(inner)) => {
                let mut more = inner.to_vec();
                put(&mut more, rest, value);
                *inner = more;
                return;
            }
            None => {
                let mut inner = Vec::new();
                put(&mut inner, rest, value);
                fields.push((first.into(), Value::Object(inner)));
                return;
            }
            Some(_) => {}
        }
    }
    if !fields.iter().any(|(known, _)| **known == *key) {
        fields.push((key.into(), value));
    }
}

/// A value of the protocol, which says its type beside it.
fn any(value: &Json) -> Value {
    let Some((kind, inner)) = value.as_object().and_then(|object| object.iter().next()) else {
        return Value::Null;
    };
    match (kind.as_str(), inner) {
        ("intValue" | "int_value", Json::String(text)) => text.parse().map_or(Value::text(text), Value::Int),
        ("arrayValue" | "array_value", list_of) => {
            Value::List(list(list_of, ["values", "values"]).iter().map(any).collect())
        }
        ("kvlistValue" | "kvlist_value", pairs) => {
            let mut fields = Vec::new();
            for pair in list(pairs, ["values", "values"]) {
                if let (Some(key), Some(value)) = (pair.get("key").and_then(Json::as_str), pair.get("value"))
                {
                    put(&mut fields, key, any(value));
                }
            }
            Value::Object(fields)
        }
        (_, Json::String(text)) => Value::text(text),
        (_, Json::Bool(bool)) => Value::Bool(*bool),
        (_, Json::Number(number)) => match (number.as_i64(), number.as_f64()) {
            (Some(int), _) => Value::Int(int),
            (None, Some(real)) => Value::Real(real),
            _ => Value::Null,
        },
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{check_errors, rows_of};

    #[test]
    fn spans_are_two_events_in_the_order_of_time() {
        let text = r#"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},
            "scopeSpans":[{"spans":[
              {"traceId":"t","spanId":"b","parentSpanId":"a","name":"query","startTimeUnixNano":"2000000000","endTimeUnixNano":"2500000000","status":{"code":2},
               "attributes":[{"key":"http.status","value":{"intValue":"500"}},{"key":"http.path","value":{"stringValue":"/"}}]},
              {"traceId":"t","spanId":"a","name":"GET","startTimeUnixNano":1000000000,"endTimeUnixNano":"4000000000","status":{}}]}]}]}
            {"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"3000000000","severityText":"WARN","body":{"stringValue":"late"}}]}]}]}"#;
        let rows = rows_of(&OtlpJson, text.as_bytes(), &ReadOptions::default()).unwrap();
        let shown: Vec<(String, i64)> = rows
            .iter()
            .map(|row| (row.events[0].name.to_string(), row.time.unwrap().time / 100_000_000))
            .collect();
        let expected =
            [("span_start", 10), ("span_start", 20), ("span_end", 25), ("log", 30), ("span_end", 40)];
        assert_eq!(shown, expected.map(|(name, time)| (name.to_string(), time)));
        let get = |row: usize, name: &str| {
            rows[row]
                .variables
                .iter()
                .find(|(known, _)| &**known == name)
                .map(|(_, value)| value.clone())
                .unwrap()
        };
        assert_eq!((get(2, "duration"), get(1, "duration")), (Value::Real(0.5), Value::Null));
        assert_eq!((get(2, "status"), get(4, "status")), (Value::text("error"), Value::text("unset")));
        assert_eq!((get(2, "parent_id"), get(2, "service")), (Value::text("a"), Value::text("shop")));
        assert_eq!(get(3, "body"), Value::text("late"));
        let http: Vec<(Arc<str>, Value)> =
            vec![("status".into(), Value::Int(500)), ("path".into(), Value::text("/"))];
        assert_eq!(get(2, "attributes"), Value::Object(vec![("http".into(), Value::Object(http))]));
        assert_eq!(rows[3].line, 6);
    }

    #[test]
    fn errors_name_their_place() {
        check_errors(
            &OtlpJson,
            &ReadOptions::default(),
            &[
                (
                    "{}\n",
                    "1:1: found a document without `resourceSpans` and `resourceLogs`, expected an export of OpenTelemetry",
                ),
                (
                    "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"startTimeUnixNano\":\"soon\"}]}]}]}",
                    "1:65: `startTimeUnixNano`: found `soon`, expected nanoseconds since 1970",
                ),
            ],
        );
        assert!(rows_of(&OtlpJson, b"{\"resourceSpans\":", &ReadOptions::default()).is_err());
    }
}
