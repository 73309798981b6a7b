//! What OpenTelemetry exports, as positions: one meaning for files of JSON ([`crate::formats::otlp_json`]) and for requests in
//! JSON and protobuf.
//!
//! A span is two positions, the events `span_start` and `span_end`, and one `span_event` for each event in it; a log record is
//! one, the event `log`. [`json`] and [`protobuf`] read what was exported, [`Span`] and [`Record`] are what both have in common,
//! and what a position has is said here alone ([`Span::tell`], [`Record::tell`]). [`Lines`] writes positions as lines of JSON.

mod any;
pub mod json;
mod lines;
pub mod protobuf;
mod wire;

pub use any::{Any, Attributes};
pub use lines::Lines;

use tw_core::Time;

/// Takes what is exported, in the order in which it stands there. What cannot be a position comes with the reason.
pub trait Export<F> {
    /// A span.
    fn span(&mut self, service: &Any<'_>, span: Result<Span<'_>, F>);
    /// A log record.
    fn record(&mut self, service: &Any<'_>, record: Result<Record<'_>, F>);
}

/// Takes positions.
pub trait Positions {
    /// When, which event, and its fields in order, those that are nothing included.
    fn position(&mut self, time: Time, event: &'static str, fields: &[(&'static str, &Any<'_>)]);
}

/// A span.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Span<'a> {
    /// The trace that it belongs to.
    pub trace: Any<'a>,
    /// Its own id.
    pub id: Any<'a>,
    /// That of the span in which it began.
    pub parent: Any<'a>,
    /// Its name.
    pub name: Any<'a>,
    /// Which side of a call it is.
    pub kind: Kind,
    /// When it began.
    pub start: Time,
    /// When it ended; 0 as long as it has not.
    pub end: Time,
    /// What came of it.
    pub status: Status,
    /// Why, in words.
    pub message: Any<'a>,
    /// Its attributes.
    pub attributes: Any<'a>,
    /// What happened in it.
    pub events: Vec<Moment<'a>>,
}

/// Something that happened in a span.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moment<'a> {
    /// When.
    pub time: Time,
    /// What.
    pub name: Any<'a>,
    /// Its attributes.
    pub attributes: Any<'a>,
}

/// A log record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record<'a> {
    /// When it was written; 0 if nobody said.
    pub time: Time,
    /// When it was seen; 0 if nobody said.
    pub observed: Time,
    /// Its name, if it is an event.
    pub name: Any<'a>,
    /// How severe it is, in a word.
    pub severity: Any<'a>,
    /// The same as a number from 1 (trace) to 24 (fatal).
    pub severity_number: Any<'a>,
    /// What it says.
    pub body: Any<'a>,
    /// Its attributes.
    pub attributes: Any<'a>,
    /// The trace that it belongs to.
    pub trace: Any<'a>,
    /// The span that it belongs to.
    pub span: Any<'a>,
}

/// Which side of a call a span is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kind(pub u8);

impl Kind {
    const NAMES: [&'static str; 6] = ["", "internal", "server", "client", "producer", "consumer"];

    /// In a word.
    fn word(self) -> Any<'static> {
        Any::text(Self::NAMES.get(usize::from(self.0)).copied().unwrap_or_default())
    }
}

/// What came of a span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// Nobody said.
    #[default]
    Unset,
    /// It is known to be well.
    Ok,
    /// It failed.
    Error,
}

impl Status {
    /// By its number in the protocol.
    pub(crate) fn numbered(code: u64) -> Self {
        match code {
            1 => Status::Ok,
            2 => Status::Error,
            _ => Status::Unset,
        }
    }

    fn word(self) -> Any<'static> {
        Any::Text(match self {
            Status::Unset => "unset",
            Status::Ok => "ok",
            Status::Error => "error",
        })
    }
}

impl Span<'_> {
    /// Its positions, in the order of its own times.
    pub fn tell(&self, service: &Any<'_>, to: &mut dyn Positions) {
        let (status, kind) = (self.status.word(), self.kind.word());
        let seconds = match self.end {
            0 => Any::Null,
            end => Any::Real((end - self.start) as f64 / 1e9),
        };
        let mut tell = |event, time, duration| {
            let fields = [
                ("name", &self.name),
                ("service", service),
                ("trace_id", &self.trace),
                ("span_id", &self.id),
                ("attributes", &self.attributes),
                ("parent_id", &self.parent),
                ("duration", duration),
                ("status", &status),
                ("kind", &kind),
                ("message", &self.message),
            ];
            to.position(time, event, &fields);
        };
        tell("span_start", self.start, &Any::Null);
        // A span that is still running has no end.
        if self.end > 0 {
            tell("span_end", self.end, &seconds);
        }
        for moment in &self.events {
            let fields = [
                ("name", &moment.name),
                ("service", service),
                ("trace_id", &self.trace),
                ("span_id", &self.id),
                ("attributes", &moment.attributes),
                ("span", &self.name),
            ];
            to.position(moment.time, "span_event", &fields);
        }
    }

    /// How many positions it is.
    pub fn positions(&self) -> usize {
        1 + usize::from(self.end > 0) + self.events.len()
    }
}

impl Record<'_> {
    /// When it was, as far as somebody said.
    pub fn when(&self) -> Option<Time> {
        [self.time, self.observed].into_iter().find(|time| *time > 0)
    }

    /// Its position; without a time it is at `else_at`.
    pub fn tell(&self, service: &Any<'_>, else_at: Time, to: &mut dyn Positions) {
        let fields = [
            ("name", &self.name),
            ("service", service),
            ("trace_id", &self.trace),
            ("span_id", &self.span),
            ("attributes", &self.attributes),
            ("severity", &self.severity),
            ("severity_number", &self.severity_number),
            ("body", &self.body),
        ];
        to.position(self.when().unwrap_or(else_at), "log", &fields);
    }
}

/// What messages call a time that is none.
pub(crate) fn no_time(key: &str, found: &str) -> String {
    format!("`{key}`: found {}, expected nanoseconds since 1970", crate::quote(found))
}
