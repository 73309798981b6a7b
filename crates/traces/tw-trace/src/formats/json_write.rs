//! Writing positions as JSON objects: the time, the event, then the variables.

use super::json_value::is_number;
use crate::{Arguments, Outline, Row, RowSink, Stamp, TimeStyle, TraceError, TraceErrorKind, quote};
use rustc_hash::FxHashSet;
use std::io::Write;
use std::sync::Arc;
use tw_core::Value;

/// How objects are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One a line.
    Lines,
    /// One array.
    Array,
}

/// Writes objects.
pub(crate) struct JsonSink<'a> {
    out: Box<dyn Write + 'a>,
    layout: Layout,
    buffer: Vec<u8>,
    rows: u64,
    texts: Texts,
}

/// Names of the columns whose untyped cells are texts.
pub(crate) type Texts = FxHashSet<Arc<str>>;

/// Bytes gathered before they are written.
const FLUSH: usize = 1 << 16;

impl<'a> JsonSink<'a> {
    pub(crate) fn new(out: Box<dyn Write + 'a>, layout: Layout, outline: &Outline<'_>) -> Self {
        let texts = outline.texts.iter().cloned().collect();
        Self { out, layout, buffer: Vec::with_capacity(2 * FLUSH), rows: 0, texts }
    }

    fn flush(&mut self) -> Result<(), TraceError> {
        let result = self.out.write_all(&self.buffer);
        self.buffer.clear();
        result.map_err(|error| TraceError::new(TraceErrorKind::Io, error.to_string()))
    }
}

impl RowSink for JsonSink<'_> {
    fn write(&mut self, row: &Row) -> Result<(), TraceError> {
        if self.layout == Layout::Array {
            self.buffer.extend_from_slice(if self.rows == 0 { b"[\n" } else { b",\n" });
        }
        self.rows += 1;
        write_row(&mut self.buffer, row, &self.texts)?;
        if self.layout == Layout::Lines {
            self.buffer.push(b'\n');
        }
        if self.buffer.len() >= FLUSH { self.flush() } else { Ok(()) }
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        if self.layout == Layout::Array {
            self.buffer.extend_from_slice(if self.rows == 0 { b"[]\n" } else { b"\n]\n" });
        }
        self.flush()?;
        self.out.flush().map_err(|error| TraceError::new(TraceErrorKind::Io, error.to_string()))
    }
}

pub(crate) fn write_row(out: &mut Vec<u8>, row: &Row, texts: &Texts) -> Result<(), TraceError> {
    let usage = |message: String| Err(TraceError::new(TraceErrorKind::Usage, message).at(row.line, 1));
    if row.events.len() > 1 {
        return usage(format!(
            "found {} events at one position, which one JSON object cannot hold; convert to `monpoly` instead",
            row.events.len()
        ));
    }
    out.push(b'{');
    let mut first = true;
    let mut field = |out: &mut Vec<u8>, name: &str| {
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        write_text(out, name);
        out.push(b':');
    };
    if let Some(stamp @ Stamp { style, .. }) = row.time {
        field(out, "time");
        match style {
            TimeStyle::Number(_) => out.extend_from_slice(stamp.format().as_bytes()),
            TimeStyle::Text => write_text(out, &stamp.format()),
        }
    }
    let mut arguments: &[Value] = &[];
    if let [event] = row.events.as_slice() {
        field(out, "event");
        write_text(out, &event.name);
        if let Arguments::Positional(values) = &event.arguments {
            arguments = values;
        }
    }
    let argument_of = |name: &str| {
        name.strip_prefix("arg")
            .and_then(|n| n.parse::<usize>().ok())
            .is_some_and(|n| (1..=arguments.len()).contains(&n))
    };
    for (index, value) in arguments.iter().enumerate() {
        let name = format!("arg{}", index + 1);
        field(out, &name);
        write_cell(out, value, row, texts.contains(&*name))?;
    }
    for (name, value) in &row.variables {
        if matches!(&**name, "time" | "event") || argument_of(name) {
            return usage(format!(
                "the variable {} would be read back as something else; rename it first",
                quote(name)
            ));
        }
        field(out, name);
        write_cell(out, value, row, texts.contains(name))?;
    }
    out.push(b'}');
    Ok(())
}

/// A value under its own type, or a cell as a person would read it, unless its column is a text: what looks like a JSON
/// number is written as it stands, so that neither digits nor leading zeros (then it is text) are lost.
fn write_cell(out: &mut Vec<u8>, value: &Value, row: &Row, is_text: bool) -> Result<(), TraceError> {
    match value {
        Value::Str(text) if !row.typed && is_text && !text.is_empty() => write_text(out, text),
        Value::Str(text) if !row.typed => match &**text {
            "" => out.extend_from_slice(b"null"),
            "true" | "false" => out.extend_from_slice(text.as_bytes()),
            number if is_number(number) => out.extend_from_slice(text.as_bytes()),
            _ => write_text(out, text),
        },
        other => write_value(out, other, row)?,
    }
    Ok(())
}

/// Depth is that of values, which readers bound.
fn write_value(out: &mut Vec<u8>, value: &Value, row: &Row) -> Result<(), TraceError> {
    match value {
        Value::Str(text) => write_text(out, text),
        Value::Real(real) if !real.is_finite() => {
            let message = format!("found `{real}`, expected a finite number: JSON has no others");
            return Err(TraceError::new(TraceErrorKind::Type, message).at(row.line, 1));
        }
        Value::List(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_value(out, item, row)?;
            }
            out.push(b']');
        }
        Value::Object(fields) => {
            out.push(b'{');
            for (index, (key, item)) in fields.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_text(out, key);
                out.push(b':');
                write_value(out, item, row)?;
            }
            out.push(b'}');
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Real(_) => {
            out.extend_from_slice(value.to_string().as_bytes());
        }
    }
    Ok(())
}

pub(crate) fn write_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    // Most texts have nothing to escape, which is seen without looking at bytes one by one.
    if text.bytes().fold(true, |plain, byte| plain & (byte >= 0x20) & (byte != b'"') & (byte != b'\\')) {
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
        return;
    }
    let mut start = 0;
    for (index, byte) in text.bytes().enumerate() {
        let short = match byte {
            b'"' | b'\\' => byte,
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0x8 => b'b',
            0xC => b'f',
            0..0x20 => 0,
            _ => continue,
        };
        out.extend_from_slice(&text.as_bytes()[start..index]);
        start = index + 1;
        if short == 0 {
            out.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
        } else {
            out.extend_from_slice(&[b'\\', short]);
        }
    }
    out.extend_from_slice(&text.as_bytes()[start..]);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Event;
    use tw_core::TimeUnit;

    fn written(row: &Row) -> Result<String, String> {
        let mut out = Vec::new();
        write_row(&mut out, row, &Texts::default()).map_err(|error| error.message)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn cells_lose_nothing() {
        for (cell, expected) in [
            ("", "null"),
            ("true", "true"),
            ("1", "1"),
            ("-1.50", "-1.50"),
            ("1e5", "1e5"),
            ("007", "\"007\""),
            ("+1", "\"+1\""),
            (".5", "\".5\""),
            ("1.", "\"1.\""),
            ("nan", "\"nan\""),
            ("1e400", "\"1e400\""),
            ("18446744073709551616", "\"18446744073709551616\""),
            ("a\"b\\\n\u{1}é", "\"a\\\"b\\\\\\n\\u0001é\""),
        ] {
            let row = Row { variables: vec![("x".into(), Value::text(cell))], ..Row::default() };
            assert_eq!(written(&row).unwrap(), format!("{{\"x\":{expected}}}"), "{cell}");
        }
    }

    #[test]
    fn time_event_and_arguments_come_first() {
        let event = |values| Event { name: "login".into(), arguments: Arguments::Positional(values) };
        let mut row = Row {
            line: 3,
            time: Some(Stamp { time: 1_500_000_000, style: TimeStyle::Number(TimeUnit::Seconds) }),
            variables: vec![("n".into(), Value::List(vec![Value::Real(1.0), Value::Null]))],
            events: vec![event(vec![Value::text("bob"), Value::Int(2)])],
            typed: true,
            ..Row::default()
        };
        assert_eq!(
            written(&row).unwrap(),
            r#"{"time":1.5,"event":"login","arg1":"bob","arg2":2,"n":[1.0,null]}"#
        );
        row.variables.push(("arg2".into(), Value::Null));
        assert!(written(&row).unwrap_err().contains("arg2"));
        row.variables.clear();
        row.events.push(event(vec![]));
        assert!(written(&row).unwrap_err().contains("monpoly"));
        row.events.clear();
        row.variables.push(("x".into(), Value::Real(f64::INFINITY)));
        assert!(written(&row).unwrap_err().contains("finite"));
    }

    #[test]
    fn an_array_is_an_array() {
        for (rows, expected) in [(0, "[]\n"), (1, "[\n{}\n]\n"), (2, "[\n{},\n{}\n]\n")] {
            let mut out = Vec::new();
            let mut sink = JsonSink::new(Box::new(&mut out), Layout::Array, &Outline::default());
            for _ in 0..rows {
                sink.write(&Row::default()).unwrap();
            }
            sink.finish().unwrap();
            drop(sink);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}
