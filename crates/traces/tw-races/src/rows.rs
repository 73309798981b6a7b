//! From the rows of a trace to accesses.

use crate::{Access, Action, Analysis, Limits, Place, Report};
use std::fmt::Write as _;
use tw_core::Value;
use tw_trace::{Arguments, Event, Input, ReadOptions, Row, TraceError, TraceErrorKind, TraceFormat};

/// What the keys (columns) of an access are called in traces whose arguments have names. The first that is there counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    /// The thread.
    pub thread: Vec<String>,
    /// The lock of `lock` and `unlock`.
    pub lock: Vec<String>,
    /// The variable of `read` and `write`.
    pub variable: Vec<String>,
    /// The other thread of `fork` and `join`.
    pub child: Vec<String>,
}

impl Default for Fields {
    fn default() -> Self {
        let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        Self {
            thread: names(&["thread", "parent"]),
            lock: names(&["lock", "object"]),
            variable: names(&["variable", "var", "object"]),
            child: names(&["child"]),
        }
    }
}

/// Event names and what they mean.
const EVENTS: [(&str, Action); 8] = [
    ("lock", Action::Lock),
    ("unlock", Action::Unlock),
    ("read", Action::Read),
    ("write", Action::Write),
    ("acquire", Action::Lock),
    ("release", Action::Unlock),
    ("fork", Action::Fork),
    ("join", Action::Join),
];

/// Names listed when a trace has no event to look at.
const NAMES: usize = 8;

/// Reads a trace, of whatever format, and analyses it. Events of other names are passed over; a trace that has none to
/// look at is an error, because nothing found there would be no good news.
pub fn read(
    input: &Input,
    format: &dyn TraceFormat,
    options: &ReadOptions,
    fields: &Fields,
    limits: Limits,
) -> Result<Report, TraceError> {
    read_rows(&mut |each| tw_trace::read_rows(input, format, options, each).map(drop), fields, limits)
}

/// Whoever gives each row to somebody, until that one has enough.
pub type Rows<'r> =
    dyn FnMut(&mut dyn FnMut(&Row) -> Result<bool, TraceError>) -> Result<(), TraceError> + 'r;

/// The same of rows that somebody else reads.
pub fn read_rows(rows: &mut Rows<'_>, fields: &Fields, limits: Limits) -> Result<Report, TraceError> {
    let mut analysis = Analysis::new().limits(limits);
    let mut texts = (String::new(), String::new());
    let (mut position, mut found) = (0, false);
    let mut others: Vec<String> = Vec::new();
    rows(&mut |row: &Row| {
        let place = Place { position, line: row.line };
        position += 1;
        for event in &row.events {
            match EVENTS.iter().find(|(name, _)| **name == *event.name) {
                Some(&(_, action)) => {
                    found = true;
                    let (thread, object) = arguments(row, event, action, fields, &mut texts)
                        .map_err(|message| TraceError::new(TraceErrorKind::Type, message).at(row.line, 1))?;
                    analysis.event(&Access { thread, action, object }, place).map_err(|exceeded| {
                        TraceError::new(TraceErrorKind::Budget, exceeded.to_string()).at(row.line, 1)
                    })?;
                }
                None if !found
                    && others.len() < NAMES
                    && !others.iter().any(|name| **name == *event.name) =>
                {
                    others.push(event.name.to_string());
                }
                None => {}
            }
        }
        Ok(true)
    })?;
    if !found {
        return Err(nothing_to_look_at(&others));
    }
    Ok(analysis.finish())
}

fn nothing_to_look_at(others: &[String]) -> TraceError {
    let has = match others {
        [] => "the trace has no events".to_string(),
        names => {
            let names: Vec<String> = names.iter().map(|name| tw_trace::quote(name)).collect();
            format!("the trace has no such event, but {}", names.join(", "))
        }
    };
    let message = format!(
        "{has}; expected lock(thread, lock), unlock(thread, lock), read(thread, variable) or write(thread, variable) \
         (`⟨event: COL⟩` names the column with the event)"
    );
    TraceError::new(TraceErrorKind::UnknownName, message)
}

/// The thread and the object of an event, as text.
fn arguments<'t>(
    row: &'t Row,
    event: &'t Event,
    action: Action,
    fields: &Fields,
    (first, second): &'t mut (String, String),
) -> Result<(&'t str, &'t str), String> {
    let (object, option) = match action {
        Action::Lock | Action::Unlock => (&fields.lock, "lock"),
        Action::Read | Action::Write => (&fields.variable, "variable"),
        Action::Fork | Action::Join => (&fields.child, "child"),
    };
    match &event.arguments {
        Arguments::Positional(values) => {
            let [thread, object, ..] = values.as_slice() else {
                let count = values.len();
                let plural = if count == 1 { "" } else { "s" };
                return Err(format!(
                    "found {count} argument{plural} of `{name}`, expected {name}(thread, {option})",
                    name = event.name
                ));
            };
            let of = |what: &str| format!("argument `{what}` of `{}`", event.name);
            Ok((text(thread, first, || of("thread"))?, text(object, second, || of(option))?))
        }
        Arguments::OfRow => {
            let thread = named(row, event, &fields.thread, "thread")?;
            let object = named(row, event, object, option)?;
            let of = |what: &str| format!("`{what}` of `{}`", event.name);
            Ok((text(thread, first, || of("thread"))?, text(object, second, || of(option))?))
        }
    }
}

/// The first of the named variables that is there.
fn named<'r>(row: &'r Row, event: &Event, names: &[String], option: &str) -> Result<&'r Value, String> {
    let find = |name: &String| {
        let mut variables = row.variables.iter();
        variables.find(|(variable, value)| **variable == **name && !value.is_null()).map(|(_, value)| value)
    };
    names.iter().find_map(find).ok_or_else(|| {
        let expected: Vec<String> = names.iter().map(|name| tw_trace::quote(name)).collect();
        let there = row.variables.iter().filter(|(_, value)| !value.is_null());
        let there: Vec<String> = there.take(NAMES).map(|(name, _)| tw_trace::quote(name)).collect();
        let found = if there.is_empty() { "nothing".to_string() } else { there.join(", ") };
        format!(
            "found {found} beside the event `{}`, expected {} (`--{option}-field` names another)",
            event.name,
            expected.join(" or ")
        )
    })
}

/// A value as a name: text as it is, numbers as written.
fn text<'t>(value: &'t Value, buffer: &'t mut String, what: impl Fn() -> String) -> Result<&'t str, String> {
    match value {
        Value::Str(text) => Ok(text),
        Value::Int(_) | Value::Real(_) | Value::Bool(_) => {
            buffer.clear();
            let _ = write!(buffer, "{value}");
            Ok(buffer)
        }
        Value::Null | Value::List(_) | Value::Object(_) => {
            Err(format!("found {} as {}, expected text or a number", value.kind(), what()))
        }
    }
}
