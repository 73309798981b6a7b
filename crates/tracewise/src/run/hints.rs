//! What a trace has instead: names inside nested data, columns that look like time. Looked up only when something is
//! wrong, from the first positions.

use super::open::Opened;
use crate::error::Setting;
use std::collections::BTreeMap;
use tw_core::Value;
use tw_trace::{Row, TraceError, TraceErrorKind};

/// Positions looked at.
const LOOKED_AT: usize = 200;
/// Names that a timestamp often has, in small letters.
const NAMES: &[&str] = &[
    "timestamp",
    "ts",
    "@timestamp",
    "datetime",
    "date",
    "when",
    "at",
    "created_at",
    "creationtimestamp",
    "eventtime",
];

/// The paths of the first positions, each with a value that is not null if there is one.
fn paths(opened: &Opened) -> BTreeMap<String, Value> {
    let mut found: BTreeMap<String, Value> = BTreeMap::new();
    // What came through a pipe is gone.
    if opened.input.names().any(|name| name == "<stdin>") {
        return found;
    }
    let mut left = LOOKED_AT;
    let _ = tw_trace::read_rows(&opened.input, opened.format, &opened.read, &mut |row: &Row| {
        let mut stack: Vec<(String, &Value)> =
            row.variables.iter().map(|(name, value)| (name.to_string(), value)).collect();
        while let Some((path, value)) = stack.pop() {
            if let Value::Object(fields) = value {
                stack.extend(fields.iter().map(|(key, value)| (format!("{path}.{key}"), value)));
            }
            let known = found.entry(path).or_insert(Value::Null);
            if known.is_null() && !matches!(value, Value::Object(_)) {
                *known = value.clone();
            }
        }
        left -= 1;
        Ok(left > 0)
    });
    found
}

/// An unknown name, with a nested one that may be meant: `status` for `http.status`, `http.stauts`.
pub(crate) fn nested(opened: &Opened, name: &str, mut error: TraceError) -> TraceError {
    if error.kind != TraceErrorKind::UnknownName || error.message.contains("did you mean") {
        return error;
    }
    let paths = paths(opened);
    let dotted = || paths.keys().filter(|path| path.contains('.'));
    fn last(path: &str) -> &str {
        path.rsplit('.').next().unwrap_or(path)
    }
    let own = last(name);
    let inside: Vec<&String> = dotted().filter(|path| last(path) == own).collect();
    let near = match inside.as_slice() {
        [] => tw_core::suggest(name, dotted().map(String::as_str)).map(str::to_string).or_else(|| {
            let near = tw_core::suggest(own, dotted().map(|path| last(path)))?;
            dotted().find(|path| last(path) == near).cloned()
        }),
        [one, ..] => Some(one.to_string()),
    };
    if let Some(near) = near {
        error.message = format!("unknown variable {}: did you mean `{near}`?", tw_trace::quote(name));
    }
    error
}

/// A column that looks like the time of its positions.
pub(crate) fn time_like(opened: &Opened) -> Option<String> {
    let paths = paths(opened);
    let dated = |value: &Value| match value {
        Value::Str(text) => {
            text.parse::<f64>().is_err() && tw_trace::parse_stamp(text, opened.read.unit).is_ok()
        }
        _ => false,
    };
    let number = |value: &Value| match value {
        Value::Int(_) | Value::Real(_) => true,
        Value::Str(text) => text.parse::<f64>().is_ok(),
        _ => false,
    };
    let named = |path: &str| {
        let last = path.rsplit('.').next().unwrap_or(path).to_ascii_lowercase();
        NAMES.contains(&last.as_str()) || last.ends_with("time") || last.ends_with("_at")
    };
    let mut candidates: Vec<(&String, &Value)> = paths.iter().filter(|(_, value)| dated(value)).collect();
    candidates.sort_by_key(|(path, _)| !named(path));
    let first = candidates.first().copied();
    let first = first.or_else(|| paths.iter().find(|(path, value)| named(path) && number(value)));
    first.map(|(path, _)| path.clone())
}

/// The same as a half-sentence: ` (`ts` looks like time: `⟨time: ts⟩`)`.
pub(crate) fn proposed_time(opened: &Opened) -> String {
    time_like(opened).map_or(String::new(), |name| {
        let quoted = if name.contains(' ') { format!("'{name}'") } else { name.clone() };
        format!(" (`{name}` looks like time: `{}`)", Setting::Time.to(&quoted))
    })
}
