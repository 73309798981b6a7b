//! What a trace has instead: names inside nested data, columns that look like time. Looked up only when something is
//! wrong, from the first positions.

use super::open::Opened;
use crate::Reading;
use crate::error::Setting;
use std::collections::BTreeMap;
use tw_core::Value;
use tw_trace::Row;

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

/// What the first positions of a trace have.
#[derive(Default)]
pub(crate) struct Looked {
    /// Paths, each with a value that is not null if there is one.
    pub paths: BTreeMap<String, Value>,
    /// A path that holds the text that was looked for.
    pub holder: Option<String>,
    /// Whether there are timestamps and events.
    pub timed: bool,
    pub has_events: bool,
}

impl Looked {
    /// The first positions as these options read them; `text` is looked for among their values.
    pub fn at(opened: &Opened, read: &Reading, text: Option<&str>) -> Self {
        let mut looked = Self::default();
        // What came through a pipe is gone.
        if opened.input.names().any(|name| name == "<stdin>") {
            return looked;
        }
        let mut left = LOOKED_AT;
        let read = Reading { sort: None, any_order: true, skip_bad_lines: true, ..read.clone() };
        let _ = tw_trace::read_rows(&opened.input, opened.format, &read, &mut |row: &Row| {
            looked.note(row, text);
            left -= 1;
            Ok(left > 0)
        });
        looked
    }

    fn note(&mut self, row: &Row, text: Option<&str>) {
        self.timed |= row.time.is_some();
        self.has_events |= !row.events.is_empty();
        let mut stack: Vec<(String, &Value)> =
            row.variables.iter().map(|(name, value)| (name.to_string(), value)).collect();
        while let Some((path, value)) = stack.pop() {
            if let Value::Object(fields) = value {
                stack.extend(fields.iter().map(|(key, value)| (format!("{path}.{key}"), value)));
            }
            if self.holder.is_none()
                && matches!((value, text), (Value::Str(own), Some(text)) if **own == *text)
            {
                self.holder = Some(path.clone());
            }
            let known = self.paths.entry(path).or_insert(Value::Null);
            if known.is_null() && !matches!(value, Value::Object(_)) {
                *known = value.clone();
            }
        }
    }

    /// Whether something has this name.
    pub fn has(&self, name: &str) -> bool {
        self.paths.contains_key(name)
    }

    /// The path that a name is most likely meant for: `http.status` for `status`, for `http.stauts`.
    pub fn near(&self, name: &str) -> Option<String> {
        let paths = || self.paths.keys().map(String::as_str);
        let last = |path: &str| path.rsplit('.').next().unwrap_or(path).to_string();
        let own = last(name);
        let inside = || paths().filter(|path| path.contains('.'));
        let near = || inside().find(|path| last(path) == own && *path != name).map(str::to_string);
        let nearly = || {
            let lasts: Vec<String> = inside().map(last).collect();
            let near = tw_core::suggest(&own, lasts.iter().map(String::as_str))?;
            inside().find(|path| last(path) == near).map(str::to_string)
        };
        let usual = [("time", self.timed), ("event", self.has_events)];
        let usual = usual.into_iter().filter_map(|(name, there)| there.then_some(name));
        tw_core::suggest(name, paths().chain(usual)).map(str::to_string).or_else(near).or_else(nearly)
    }
}

/// A column that looks like the time of its positions.
pub(crate) fn time_like(opened: &Opened) -> Option<String> {
    time_among(&Looked::at(opened, &opened.read, None).paths, opened)
}

/// The same among these paths.
pub(crate) fn time_among(paths: &BTreeMap<String, Value>, opened: &Opened) -> Option<String> {
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
    in_two(paths, opened).or_else(|| first.map(|(path, _)| path.clone()))
}

/// A column of days beside one of times, together a timestamp.
fn in_two(paths: &BTreeMap<String, Value>, opened: &Opened) -> Option<String> {
    let named = |word: &str| {
        let is = move |path: &&String| path.to_ascii_lowercase().ends_with(word);
        paths.keys().filter(is).cloned().collect::<Vec<_>>()
    };
    let (days, times) = (named("date"), named("time"));
    let pair = days.first().zip(times.first()).map(|(day, time)| format!("{day} {time}"))?;
    let read = Reading { time: Some(pair.clone()), ..opened.read.clone() };
    let looked = Looked::at(opened, &read, None);
    looked.timed.then_some(pair)
}

/// The same as a half-sentence: ` (`ts` looks like time: `⟨time: ts⟩`)`.
pub(crate) fn proposed_time(opened: &Opened) -> String {
    time_like(opened)
        .map_or(String::new(), |name| format!(" (`{name}` looks like time: `{}`)", Setting::Time.to(&name)))
}
