//! Writes models as JSON.

use super::super::Digits;
use super::key;
use crate::{Cells, Domain, Model, ModelError, Place, Seen, State};
use std::io::Write;
use tw_core::Value;

/// Written out when this full.
const BUFFER: usize = 1 << 16;

/// Writes a model.
pub fn write(model: &Model, to: &mut dyn Write) -> Result<(), ModelError> {
    for (at, variable) in model.variables.iter().enumerate() {
        if model.variable(&variable.name) != Some(at) {
            return Err(ModelError::Unfit(format!("two variables are called `{}`", variable.name)));
        }
    }
    let mut out = Vec::with_capacity(BUFFER + 4096);
    out.extend_from_slice(b"{\"model\": \"tracewise\", \"version\": 1,\n");
    if let Some(merged) = &model.merged {
        out.extend_from_slice(b"\"merged\": {\"keep\": ");
        string(&merged.keep, &mut out);
        out.extend_from_slice(b", \"ends\": ");
        string(&merged.ends, &mut out);
        out.extend_from_slice(b", \"options\": [");
        for (at, (name, option)) in merged.options.iter().enumerate() {
            out.extend_from_slice(if at > 0 { b", [" } else { b"[" });
            string(name, &mut out);
            out.extend_from_slice(b", ");
            string(option, &mut out);
            out.push(b']');
        }
        out.extend_from_slice(b"]},\n");
    }
    list("variables", 0..model.variables.len(), &mut out, to, |at, out| variable(model, at, out))?;
    if !model.specifications.is_empty() {
        out.extend_from_slice(b",\n");
        list("specifications", model.specifications.iter(), &mut out, to, |written, out| {
            out.extend_from_slice(if written.linear {
                b"{\"logic\": \"ltl\""
            } else {
                b"{\"logic\": \"ctl\""
            });
            out.extend_from_slice(b", \"text\": ");
            string(&written.text, out);
            field("line", written.line, out);
            out.push(b'}');
        })?;
    }
    if !model.fairness.is_empty() {
        out.extend_from_slice(b",\n");
        list("fairness", model.fairness.iter(), &mut out, to, |text, out| string(text, out))?;
    }
    if let Some(record) = &model.record {
        out.extend_from_slice(b",\n");
        list("traces", record.traces.iter(), &mut out, to, |name, out| string(name, out))?;
    }
    out.extend_from_slice(b",\n");
    states(model, &mut out, to)?;
    out.extend_from_slice(b",\n");
    let seen = |edge: usize| model.record.as_ref().map(|record| &record.edges[edge]);
    list("edges", model.graph.iter().enumerate(), &mut out, to, |(edge, (from, into)), out| {
        out.extend_from_slice(b"{\"from\": ");
        out.number(i64::from(from));
        field("to", u64::from(into), out);
        if let Some(seen) = seen(edge) {
            self::seen(seen, out);
        }
        out.push(b'}');
    })?;
    out.extend_from_slice(b"}\n");
    to.write_all(&out)?;
    Ok(())
}

fn variable(model: &Model, at: usize, out: &mut Vec<u8>) {
    let variable = &model.variables[at];
    out.extend_from_slice(b"{\"name\": ");
    string(&variable.name, out);
    match &variable.domain {
        Domain::Boolean => out.extend_from_slice(b", \"boolean\": true"),
        Domain::Range(low, high) => {
            out.extend_from_slice(format!(", \"range\": [{low}, {high}]").as_bytes());
        }
        Domain::Values(values) => {
            out.extend_from_slice(b", \"values\": [");
            for (at, value) in values.iter().enumerate() {
                out.extend_from_slice(if at > 0 { b", " } else { b"" });
                self::value(value, out);
            }
            out.push(b']');
        }
    }
    if let Cells::Of(other, codes) = &variable.cells {
        out.extend_from_slice(b", \"of\": ");
        string(&model.variables[*other].name, out);
        match codes.others() {
            None => {
                out.extend_from_slice(b", \"codes\": [");
                for (at, code) in codes.iter().enumerate() {
                    out.extend_from_slice(if at > 0 { b", " } else { b"" });
                    out.number(i64::from(code));
                }
            }
            Some((common, others)) => {
                out.extend_from_slice(format!(", \"common\": {common}, \"others\": [").as_bytes());
                for (at, (place, code)) in others.iter().enumerate() {
                    let comma = if at > 0 { ", " } else { "" };
                    out.extend_from_slice(format!("{comma}[{place}, {code}]").as_bytes());
                }
            }
        }
        out.push(b']');
    }
    out.push(b'}');
}

fn states(model: &Model, out: &mut Vec<u8>, to: &mut dyn Write) -> Result<(), ModelError> {
    /// A variable of states: its key, its values as text, and their numbers.
    struct Column<'m>(Vec<u8>, Vec<Vec<u8>>, &'m Domain, &'m [u32]);
    let mut columns = Vec::new();
    for variable in &model.variables {
        let Cells::Own(codes) = &variable.cells else { continue };
        let mut name = Vec::new();
        string(&key(&variable.name), &mut name);
        name.extend_from_slice(b": ");
        let values = match &variable.domain {
            Domain::Values(values) => values.iter().map(|value| super::text(value).into_bytes()).collect(),
            _ => Vec::new(),
        };
        columns.push(Column(name, values, &variable.domain, codes));
    }
    let mut initial = model.initial.iter().copied().enumerate().peekable();
    let mut starts = |state: State| initial.next_if(|&(_, next)| next == state).map(|(at, _)| at);
    list("states", 0..model.states() as State, out, to, |state, out| {
        out.push(b'{');
        let begin = out.len();
        for Column(name, values, domain, codes) in &columns {
            comma(begin, out);
            out.extend_from_slice(name);
            let code = codes[state as usize];
            match domain {
                Domain::Boolean => out.extend_from_slice(if code == 0 { b"false" } else { b"true" }),
                Domain::Range(low, _) => out.number(low + i64::from(code)),
                Domain::Values(_) => out.extend_from_slice(&values[code as usize]),
            }
        }
        let start = starts(state);
        match &model.record {
            Some(record) => {
                let (seen, ends) = (&record.states[state as usize], record.ends[state as usize]);
                self::seen(seen, out);
                start.into_iter().for_each(|at| field("initial", record.starts[at], out));
                if ends > 0 {
                    field("ends", ends, out);
                }
            }
            None if start.is_some() => out.extend_from_slice(b", \"initial\": true"),
            None => {}
        }
        // Without variables the first field follows the brace.
        if columns.is_empty() && out.len() > begin {
            out.drain(begin..begin + 2);
        }
        out.push(b'}');
    })
}

fn comma(begin: usize, out: &mut Vec<u8>) {
    if out.len() > begin {
        out.extend_from_slice(b", ");
    }
}

/// What was seen; nothing if that is nothing.
fn seen(seen: &Seen, out: &mut Vec<u8>) {
    if *seen == Seen::default() {
        return;
    }
    field("count", seen.count, out);
    field("traces", u64::from(seen.traces), out);
    place("first", seen.first, out);
    place("last", seen.last, out);
}

fn place(name: &str, place: Place, out: &mut Vec<u8>) {
    out.extend_from_slice(b", \"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\": {\"trace\": ");
    out.number(i64::from(place.trace()));
    out.extend_from_slice(b", \"line\": ");
    out.number(place.line() as i64);
    out.push(b'}');
}

fn field(name: &str, number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b", \"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\": ");
    match i64::try_from(number) {
        Ok(number) => out.number(number),
        Err(_) => out.extend_from_slice(number.to_string().as_bytes()),
    }
}

/// A list with one item a line.
fn list<T>(
    name: &str,
    items: impl Iterator<Item = T>,
    out: &mut Vec<u8>,
    to: &mut dyn Write,
    mut item: impl FnMut(T, &mut Vec<u8>),
) -> Result<(), ModelError> {
    out.extend_from_slice(format!("\"{name}\": [").as_bytes());
    for (at, next) in items.enumerate() {
        out.extend_from_slice(if at > 0 { b",\n" } else { b"\n" });
        item(next, out);
        if out.len() >= BUFFER {
            to.write_all(out)?;
            out.clear();
        }
    }
    out.push(b']');
    Ok(())
}

/// Text in double quotes.
pub(super) fn string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in text.bytes() {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..=31 | 127 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// A value. Values hold their parts, and this goes as deep as they do.
pub(super) fn value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(truth) => out.extend_from_slice(if *truth { b"true" } else { b"false" }),
        Value::Int(number) => out.number(*number),
        // Always with a point or an exponent, which tells it from a whole number.
        Value::Real(real) => out.extend_from_slice(format!("{real:?}").as_bytes()),
        Value::Str(text) => string(text, out),
        Value::List(items) => {
            out.push(b'[');
            for (at, item) in items.iter().enumerate() {
                out.extend_from_slice(if at > 0 { b", " } else { b"" });
                self::value(item, out);
            }
            out.push(b']');
        }
        Value::Object(fields) => {
            out.push(b'{');
            for (at, (key, item)) in fields.iter().enumerate() {
                out.extend_from_slice(if at > 0 { b", " } else { b"" });
                string(key, out);
                out.extend_from_slice(b": ");
                self::value(item, out);
            }
            out.push(b'}');
        }
    }
}
