//! One event of the observed program.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::sync::Arc;
use tracewise::Value;
use tracing::Metadata;
use tracing::field::{Field, Visit};

/// Fields with their values.
pub(crate) type Fields = Vec<(&'static str, Value)>;

/// One event: what a position of the trace holds.
#[derive(Clone, Debug)]
pub struct Record {
    /// Name of the event.
    pub name: Cow<'static, str>,
    /// Its fields, and those of the spans around it.
    pub fields: Vec<(&'static str, Value)>,
    /// Thread: its name, or `thread-` and its number.
    pub thread: Arc<str>,
    /// Level, target and place in the source.
    pub metadata: &'static Metadata<'static>,
}

impl Record {
    /// Place in the source, `src/main.rs:41`.
    pub fn source(&self) -> Option<String> {
        let (file, line) = (self.metadata.file()?, self.metadata.line()?);
        Some(format!("{file}:{line}"))
    }
}

/// `withdraw(amount: 80, balance: -60)`
impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (index, (name, value)) in self.fields.iter().enumerate() {
            write!(f, "{}{name}: {value}", if index == 0 { "(" } else { ", " })?;
        }
        f.write_str(if self.fields.is_empty() { "" } else { ")" })
    }
}

/// What this thread is called.
pub(crate) fn this_thread() -> Arc<str> {
    thread_local! {
        static NAME: Arc<str> = {
            let thread = std::thread::current();
            match thread.name() {
                Some(name) => name.into(),
                None => {
                    // The number is only to be had from the debug form.
                    let id = format!("{:?}", thread.id());
                    let digits: String = id.chars().filter(char::is_ascii_digit).collect();
                    format!("thread-{digits}").into()
                }
            }
        };
    }
    NAME.with(Arc::clone)
}

/// Longest message that can be a name.
const LONGEST: usize = 64;

/// Finds out what an event is called, and nothing else: most events are passed over after that.
#[derive(Default)]
pub(crate) struct Namer {
    /// The field `event`.
    pub event: Option<String>,
    /// The message, if it is a plain name.
    pub message: Option<String>,
}

impl Visit for Namer {
    fn record_str(&mut self, field: &Field, value: &str) {
        if matches!(field.name(), "event" | "message") {
            self.record_debug(field, &format_args!("{value}"));
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "event" => self.event = Some(format!("{value:?}")),
            "message" => {
                let mut name = PlainName::default();
                // Formatting ends at the first character that no name has.
                let plain = write!(name, "{value:?}").is_ok() && !name.0.is_empty();
                self.message = plain.then_some(name.0);
            }
            _ => {}
        }
    }

    fn record_i64(&mut self, _: &Field, _: i64) {}
    fn record_u64(&mut self, _: &Field, _: u64) {}
    fn record_f64(&mut self, _: &Field, _: f64) {}
    fn record_bool(&mut self, _: &Field, _: bool) {}
}

/// Collects fields; that of a name that is there already replaces it.
pub(crate) struct Collector<'k> {
    /// Which fields to keep.
    pub keep: &'k dyn Fn(&str) -> bool,
    pub fields: Fields,
}

impl Collector<'_> {
    fn put(&mut self, field: &Field, value: impl FnOnce() -> Value) {
        let name = field.name();
        if !(self.keep)(name) {
            return;
        }
        match self.fields.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value(),
            None => self.fields.push((name, value())),
        }
    }
}

impl Visit for Collector<'_> {
    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, || Value::Bool(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, || Value::Int(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        // An identifier of twenty digits keeps them all.
        self.put(field, || i64::try_from(value).map_or_else(|_| Value::text(&value.to_string()), Value::Int));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        // No trace holds a NaN or an infinity.
        self.put(field, || if value.is_finite() { Value::Real(value) } else { Value::Null });
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, || Value::text(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, || Value::text(&format!("{value:?}")));
    }
}

/// Takes text as long as it is a name: letters, digits, `_`, not beginning with a digit.
#[derive(Default)]
struct PlainName(String);

impl fmt::Write for PlainName {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            let first = self.0.is_empty();
            let fits = c == '_' || c.is_alphabetic() || (c.is_numeric() && !first);
            if !fits || self.0.len() >= LONGEST {
                return Err(fmt::Error);
            }
            self.0.push(c);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_messages_are_names() {
        let name = |text: &str| {
            let mut name = PlainName::default();
            write!(name, "{text}").is_ok() && !name.0.is_empty()
        };
        for text in ["withdraw", "_x1", "überweisen"] {
            assert!(name(text), "{text}");
        }
        for text in ["", "paid out", "1st", "a.b", "done!", &"x".repeat(65)] {
            assert!(!name(text), "{text}");
        }
    }
}
