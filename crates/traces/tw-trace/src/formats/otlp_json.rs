//! `otlp-json`: export files of OpenTelemetry, one JSON document after another.
//!
//! What a position has is said in [`crate::otlp`], for files and for requests alike. Variables are `name`, `service`,
//! `trace_id`, `span_id` and `attributes`; of a span `parent_id`, `duration` (seconds, at the end), `status` (`unset`, `ok`,
//! `error`), `kind` and `message`; of what happened in one, `span`, its name; of a log record `severity`, `severity_number`
//! and `body`. Spans are exported when they end, so all of the file is read before its positions are put in the order of time.

use super::line::reset;
use super::writing::inexpressible;
use crate::otlp::json::{self, Misread};
use crate::otlp::{Any, Export, Positions, Record, Span};
use crate::{
    Arguments, Bytes, Event, FormatCard, Outline, ReadOptions, Reading, Row, RowSink, RowSource, Stamp,
    TimeStyle, TraceError, TraceErrorKind, TraceFormat, Writing,
};
use serde_json::Value as Json;
use std::io::{Read, Write};
use tw_core::Time;

/// The format.
pub struct OtlpJson;

impl TraceFormat for OtlpJson {
    fn card(&self) -> FormatCard {
        FormatCard {
            name: "otlp-json",
            extensions: &[],
            about: "OpenTelemetry export files: events span_start, span_end, span_event and log, in the order of time",
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
                    if !json::is_export(&document) {
                        let message = "found a document without `resourceSpans` and `resourceLogs`, expected an export of OpenTelemetry";
                        return Err(TraceError::new(TraceErrorKind::Syntax, message).at(line, 1));
                    }
                    let mut found = Rows { rows: &mut rows, line, wrong: None };
                    json::export(&document, &mut found);
                    if let Some(wrong) = found.wrong {
                        let text = &bytes[start..stream.byte_offset()];
                        return Err(placed(wrong, text, 1 + lines(&bytes[..start]), line));
                    }
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
fn placed(wrong: Misread, text: &[u8], line: u64, document: u64) -> TraceError {
    let Misread { key, value, message } = wrong;
    let Some(key) = key else {
        return TraceError::new(TraceErrorKind::Budget, message).at(document, 1);
    };
    let error = TraceError::new(TraceErrorKind::Time, message).at(document, 1);
    let (key, value) = (format!("\"{key}\""), value.to_string());
    let blank = |at: usize| text[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let found = memchr::memmem::find_iter(text, &key).find_map(|at| {
        let mut at = at + key.len();
        at += blank(at);
        at += text[at..].starts_with(b":").then_some(1)?;
        at += blank(at);
        text[at..].starts_with(value.as_bytes()).then_some(at)
    });
    let Some(at) = found else { return error };
    let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1);
    let column = String::from_utf8_lossy(&text[start..at]).chars().count() as u64 + 1;
    error.at(line + lines(&text[..at]), column)
}

/// What a document exports, as rows.
struct Rows<'r> {
    rows: &'r mut Vec<Row>,
    /// Where it begins.
    line: u64,
    /// What cannot be read, the first of it.
    wrong: Option<Misread>,
}

impl Export<Misread> for Rows<'_> {
    fn span(&mut self, service: &Any<'_>, span: Result<Span<'_>, Misread>) {
        match span {
            Ok(span) => span.tell(service, self),
            Err(wrong) => drop(self.wrong.get_or_insert(wrong)),
        }
    }

    fn record(&mut self, service: &Any<'_>, record: Result<Record<'_>, Misread>) {
        match record {
            Ok(record) => record.tell(service, 0, self),
            Err(wrong) => drop(self.wrong.get_or_insert(wrong)),
        }
    }
}

impl Positions for Rows<'_> {
    fn position(&mut self, time: Time, event: &'static str, fields: &[(&'static str, &Any<'_>)]) {
        let mut row = Row::default();
        reset(&mut row, self.line);
        row.typed = true;
        row.time = Some(Stamp { time, style: TimeStyle::Text });
        row.events.push(Event { name: event.into(), arguments: Arguments::OfRow });
        // What few exporters say is there where it is said.
        let rare = |name: &str| matches!(name, "kind" | "message" | "severity_number");
        let told = fields.iter().filter(|(name, value)| !value.is_nothing() || !rare(name));
        row.variables.extend(told.map(|(name, value)| ((*name).into(), value.to_value())));
        self.rows.push(row);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{check_errors, rows_of};
    use std::sync::Arc;
    use tw_core::Value;

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
