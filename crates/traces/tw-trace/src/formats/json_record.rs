//! From one JSON object to one position: what the keys `time` and `event` mean, and which keys may not occur twice.

use super::json_value::{Fault, Parser, Seen, place};
use crate::{
    Arguments, Event, Mark, Projection, ReadOptions, Row, Stamp, Stamps, TimePlace, TraceError,
    TraceErrorKind, quote,
};
use std::sync::Arc;
use tw_core::Value;
use tw_ir::{ArgumentKey, Path, PathStep, What};

/// The keys with a meaning of their own, and the limits of a record.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    pub(crate) time: String,
    pub(crate) event: String,
    pub(crate) stamps: Stamps,
    /// `--time` names the key: a trace without it is an error.
    time_named: bool,
    /// Where they may stand instead, unless a key has the very name: inside nested data, or under several keys.
    time_place: Option<TimePlace>,
    event_path: Option<Path>,
    max_columns: usize,
}

impl Keys {
    pub(crate) fn new(options: &ReadOptions) -> Result<Self, TraceError> {
        let keys = Self {
            time: options.time.clone().unwrap_or_else(|| "time".to_string()),
            event: options.event.clone().unwrap_or_else(|| "event".to_string()),
            stamps: options.stamps(),
            time_named: options.time.is_some(),
            time_place: options.time.as_deref().and_then(TimePlace::of),
            event_path: nested(&options.event),
            max_columns: options.max_columns,
        };
        if keys.time == keys.event {
            let message = format!("the key `{}` cannot be the timestamp and the event at once", keys.time);
            return Err(TraceError::new(TraceErrorKind::Usage, message));
        }
        Ok(keys)
    }

    /// Whether the time or the event may stand elsewhere than under a key of its own.
    pub(crate) fn are_elsewhere(&self) -> bool {
        self.time_place.is_some() || self.event_path.is_some()
    }
}

/// The path of a name with dots.
fn nested(name: &Option<String>) -> Option<Path> {
    name.as_deref().filter(|name| name.contains('.')).map(Path::parse)
}

/// Reads records into rows.
pub(crate) struct RecordReader {
    keys: Keys,
    /// Whether the trace has timestamps: its first position decides, and the others have to agree.
    pub(crate) timed: Option<bool>,
    /// Names of the keys by their place in the object; records mostly repeat the one before.
    names: Vec<Arc<str>>,
    /// Where the last record's timestamp was.
    time_at: usize,
    /// The last record's variables, and where their values were.
    values_at: Vec<(Arc<str>, usize)>,
}

impl RecordReader {
    pub(crate) fn new(keys: Keys, timed: Option<bool>) -> Self {
        Self { keys, timed, names: Vec::new(), time_at: 0, values_at: Vec::new() }
    }

    /// Reads `text`, which must be one object and nothing else and starts at a line and a column, into `row`. `end` is
    /// what ends the text, in messages.
    pub(crate) fn read(
        &mut self,
        text: &str,
        (line, column): (u64, u64),
        end: &'static str,
        row: &mut Row,
    ) -> Result<(), TraceError> {
        row.line = line;
        let mut parser = Parser::new(text, end);
        self.record(&mut parser, end, row).map_err(|fault| fault.place(text, line, column))?;
        let mark = |(at, found)| Mark { text: found, place: place(text, at, line, column) };
        row.repeated = parser.repeated.into_iter().map(mark).collect();
        row.distinct = row.repeated.is_empty();
        row.unfit = parser.unfit.into_iter().map(mark).collect();
        Ok(())
    }

    fn record(&mut self, parser: &mut Parser<'_>, end: &'static str, row: &mut Row) -> Result<(), Fault> {
        row.time = None;
        row.variables.clear();
        row.events.clear();
        row.typed = true;
        self.values_at.clear();
        parser.skip_blank();
        let start = parser.at;
        parser.expect(b'{', "a JSON object (`{`)")?;
        parser.skip_blank();
        let (mut seen_time, mut seen_event) = (false, false);
        let mut columns = 0;
        let mut seen = Seen::default();
        if parser.peek() == Some(b'}') {
            parser.at += 1;
        } else {
            loop {
                let key_at = parser.at;
                let key = parser.key(if columns == 0 {
                    "a key in double quotes or `}`"
                } else {
                    "a key in double quotes"
                })?;
                if columns == self.keys.max_columns {
                    let message = format!("found more than {columns} keys in one record");
                    return Err(Fault::new(key_at, TraceErrorKind::Budget, message));
                }
                columns += 1;
                let time = *key == *self.keys.time;
                if time || *key == *self.keys.event {
                    if std::mem::replace(if time { &mut seen_time } else { &mut seen_event }, true) {
                        return Err(Fault::new(key_at, TraceErrorKind::Syntax, crate::row::twice(&key)));
                    }
                    if time {
                        self.time_at = parser.at;
                        row.time = self.stamp(parser)?;
                    } else if let Some(name) = self.event(parser)? {
                        row.events.push(Event { name, arguments: Arguments::OfRow });
                    }
                } else {
                    let name = self.name(columns - 1, &key);
                    if seen.has(&row.variables, &name) {
                        parser.repeated.push((key_at, name.clone()));
                    }
                    self.values_at.push((name.clone(), parser.at));
                    row.variables.push((name, parser.value(1)?));
                }
                parser.skip_blank();
                match parser.peek() {
                    Some(b',') => parser.at += 1,
                    Some(b'}') => break,
                    _ => return Err(parser.fail("`,` or `}`")),
                }
                parser.skip_blank();
            }
            parser.at += 1;
        }
        parser.skip_blank();
        if parser.peek().is_some() {
            return Err(parser.fail(end));
        }
        if !seen_time && let Some(place) = &self.keys.time_place {
            let stamp = place.stamp(row, self.keys.stamps);
            row.time = stamp.map_err(|message| Fault::new(start, TraceErrorKind::Time, message))?;
            place.take_out(row);
        }
        if !seen_event && let Some(path) = &self.keys.event_path {
            match crate::value_at(row, path) {
                Value::Null => {}
                Value::Str(name) => row.events.push(Event { name, arguments: Arguments::OfRow }),
                other => {
                    let message = format!(
                        "`{}`: found {}, expected the event's name as text, or null",
                        self.keys.event,
                        other.kind()
                    );
                    return Err(Fault::new(start, TraceErrorKind::Type, message));
                }
            }
        }
        self.check_timed(row.time.is_some(), if seen_time { self.time_at } else { start })
    }

    /// Where the value of a variable of the last record starts.
    pub(crate) fn value_at(&self, variable: &str) -> Option<usize> {
        self.values_at.iter().find(|(name, _)| **name == *variable).map(|(_, at)| *at)
    }

    fn check_timed(&mut self, has: bool, at: usize) -> Result<(), Fault> {
        let key = &self.keys.time;
        let message = match (self.timed, has) {
            (None, false) if self.keys.time_named => {
                let message = format!("found no timestamp, expected the key `{key}` that `⟨time⟩` names");
                let name = Some(key.as_str().into());
                return Err(Fault { name, ..Fault::new(at, TraceErrorKind::Time, message) });
            }
            (Some(true), false) => {
                "found no timestamp, expected one because earlier positions have them".to_string()
            }
            (Some(false), true) => {
                "found a timestamp, expected none because earlier positions have none".to_string()
            }
            _ => {
                self.timed = Some(has);
                return Ok(());
            }
        };
        Err(Fault::new(at, TraceErrorKind::Time, message))
    }

    fn name(&mut self, index: usize, key: &str) -> Arc<str> {
        match self.names.get_mut(index) {
            Some(name) if **name == *key => name.clone(),
            Some(name) => {
                *name = key.into();
                name.clone()
            }
            None => {
                let name: Arc<str> = key.into();
                // Past a gap (the time or the event) the place is filled with the same name; it is only a guess.
                self.names.resize(index + 1, name.clone());
                name
            }
        }
    }

    fn stamp(&self, parser: &mut Parser<'_>) -> Result<Option<Stamp>, Fault> {
        let at = parser.at;
        let stamps = self.keys.stamps;
        let (found, error) = match parser.peek() {
            Some(b'-' | b'0'..=b'9') => {
                let text = parser.number()?;
                match stamps.number(text) {
                    // A message is put together for what is wrong alone.
                    Ok(stamp) => return Ok(Some(stamp)),
                    Err(error) => (quote(text), error.to_string()),
                }
            }
            Some(b'"') => {
                let text = parser.string("text")?;
                match stamps.parse(&text) {
                    Ok(stamp) => return Ok(Some(stamp)),
                    Err(error) => (quote(&text), error.to_string()),
                }
            }
            _ => match parser.value(1)? {
                Value::Null => return Ok(None),
                Value::Bool(bool) => (format!("`{bool}`"), "not a time".to_string()),
                other => (other.kind().to_string(), "not a time".to_string()),
            },
        };
        let expected = match stamps.form {
            Some(_) => stamps.expected(),
            None => format!("a timestamp: a number of `{}` or RFC 3339 text", stamps.numbers.name()),
        };
        let message = format!("`{}`: found {found} ({error}), expected {expected}", self.keys.time);
        Err(Fault::new(at, TraceErrorKind::Time, message))
    }

    fn event(&self, parser: &mut Parser<'_>) -> Result<Option<Arc<str>>, Fault> {
        let at = parser.at;
        let found = match parser.value(1)? {
            Value::Null => return Ok(None),
            Value::Str(_) if parser.is_number_at(at) => "a number".to_string(),
            Value::Str(name) => return Ok(Some(name)),
            Value::Bool(bool) => format!("`{bool}`"),
            Value::Int(int) => format!("`{int}`"),
            other => other.kind().to_string(),
        };
        let message =
            format!("`{}`: found {found}, expected the event's name as text, or null", self.keys.event);
        Err(Fault::new(at, TraceErrorKind::Type, message))
    }
}

/// A key that occurs twice in an object where the projection reads it. Other keys may repeat: loggers do that, and
/// nobody asks which one counts.
pub(crate) fn duplicate_key(row: &Row, projection: &Projection) -> Option<String> {
    let variable = |name: &str| row.variables.iter().filter(|(key, _)| **key == *name).nth(1).is_some();
    let duplicate = |key: &ArgumentKey| match key {
        ArgumentKey::Name(name) | ArgumentKey::Declared { name, .. } => variable(name).then(|| name.clone()),
        ArgumentKey::Index(_) => None,
    };
    for slot in &*projection.slots {
        let name = match &slot.what {
            What::Proposition(path) | What::Variable(path, _) => duplicate_in_row(row, path),
            What::Event { name, arguments, .. } if row.events.iter().any(|event| *event.name == **name) => {
                arguments.iter().map(|(key, _)| key).find_map(duplicate)
            }
            What::Tuples { name, constants, arguments, .. }
                if row.events.iter().any(|event| *event.name == **name) =>
            {
                constants.iter().map(|(key, _)| key).chain(arguments).find_map(duplicate)
            }
            What::Timing(_)
            | What::Stream { .. }
            | What::Shift(_)
            | What::Window(_)
            | What::Event { .. }
            | What::Tuples { .. } => None,
        };
        if name.is_some() {
            return name;
        }
    }
    projection.key.as_ref().and_then(|key| duplicate_in_row(row, &key.path))
}

fn duplicate_in_row(row: &Row, path: &Path) -> Option<String> {
    let PathStep::Field(first) = path.steps.first()? else { return None };
    let mut whole = String::new();
    if path.steps.len() > 1 {
        whole = path.to_string();
    }
    let (mut wholes, mut firsts) = (0, 0);
    let mut value = None;
    for (key, candidate) in &row.variables {
        wholes += usize::from(**key == *whole && path.steps.len() > 1);
        if **key == **first {
            firsts += 1;
            value.get_or_insert(candidate);
        }
    }
    match (wholes, firsts) {
        (2.., _) => Some(whole),
        (1, _) => None,
        (_, 2..) => Some(first.clone()),
        _ => duplicate_in(value?, &path.steps[1..]),
    }
}

/// A key that occurs twice on the way of `steps` into `value`.
pub(crate) fn duplicate_in(value: &Value, steps: &[PathStep]) -> Option<String> {
    let mut current = vec![value];
    for step in steps {
        let mut next = Vec::new();
        for value in current {
            match (step, value) {
                (PathStep::Field(name), Value::Object(fields)) => {
                    let mut found = fields.iter().filter(|(key, _)| **key == **name).map(|(_, value)| value);
                    next.extend(found.next());
                    if found.next().is_some() {
                        return Some(name.clone());
                    }
                }
                (PathStep::Each, Value::List(items)) => next.extend(items),
                _ => {}
            }
        }
        current = next;
    }
    None
}
