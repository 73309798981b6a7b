//! `watch`: verdicts on a trace that is still being written, the moment they are settled.
//!
//! Threads deliver bytes in the order of their arrival (`feed`, `listen`); one thread reads the lines that they
//! complete (`receive`), steps the monitor and tells the sink (`judge`). When no event comes, watermarks or the wall
//! clock say how far time has come (`clock`), and what was due by then is settled (`passing`). Kept are the monitor's state and the line that is still
//! open: for untimed properties memory does not grow with the stream. A checkpoint holds the same, so that another
//! process goes on exactly there (`checkpoint`).

mod apart;
mod checkpoint;
mod clock;
mod control;
mod feed;
mod filled;
mod follow;
pub(crate) mod halt;
mod judge;
mod keyed;
mod lines;
mod listen;
mod lock;
mod parametric;
mod passing;
mod push;
mod queries;
mod receive;
pub(crate) mod run;
mod settings;
mod single;
mod sorter;
mod state;
mod stepped;
mod telling;
mod timers;
mod times;
mod told;
mod untimed;
mod waiting;
pub(crate) mod watcher;

use crate::check::{LogLine, Violation};
use crate::diag::Diagnostic;
use crate::findings::Severity;
use crate::require::Required;
use crate::{Error, Verdict};
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use tw_core::{Position, Value};
use tw_monitor::Telling;
use tw_trace::Stamp;

pub use crate::live::Ended;
pub use control::Control;
pub use push::{Pushed, WatchOver, WatchSender, watch_channel};
pub(crate) use run::watch;
pub use stepped::{PartState, Prepared, Stepped};

/// Where a live trace comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchSource {
    /// Standard input.
    Stdin,
    /// A file, to its end.
    File(String),
    /// A file that grows.
    Follow(String),
    /// Connections to a socket; the lines of all of them are one stream, in the order of their arrival.
    Listen(Address),
    /// Bytes that the program has itself ([`watch_channel`]).
    Push(Pushed),
}

impl WatchSource {
    /// Its file, if it is one.
    pub(crate) fn files(&self) -> &[String] {
        match self {
            WatchSource::File(path) | WatchSource::Follow(path) => std::slice::from_ref(path),
            _ => &[],
        }
    }

    /// As reports name it.
    pub fn name(&self) -> &str {
        match self {
            WatchSource::Stdin => "<stdin>",
            WatchSource::File(path) | WatchSource::Follow(path) => path,
            WatchSource::Listen(Address::Tcp(address)) => address,
            WatchSource::Listen(Address::Unix(path)) => path.to_str().unwrap_or("<socket>"),
            WatchSource::Push(pushed) => &pushed.name,
        }
    }
}

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// `HOST:PORT`; port 0 takes any that is free.
    Tcp(String),
    /// A Unix domain socket.
    Unix(PathBuf),
}

impl Address {
    /// `tcp:HOST:PORT`, `HOST:PORT` or `unix:PATH`.
    pub fn parse(text: &str) -> Result<Address, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            return match path {
                "" => Err("expected a path after `unix:`".into()),
                path => Ok(Address::Unix(path.into())),
            };
        }
        let address = text.strip_prefix("tcp:").unwrap_or(text);
        match address.rsplit_once(':').map(|(_, port)| port.parse::<u16>()) {
            Some(Ok(_)) => Ok(Address::Tcp(address.to_string())),
            _ => Err(format!("found `{text}`, expected tcp:HOST:PORT, HOST:PORT or unix:PATH")),
        }
    }
}

/// How often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// After so many positions.
    Positions(u64),
    /// After so much time.
    Time(Duration),
}

/// Where the state is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoints {
    /// The file.
    pub path: PathBuf,
    /// How often it is written, beside after every settled verdict and at the end.
    pub every: Option<Every>,
    /// Go on from what it holds.
    pub resume: bool,
}

/// How to watch.
#[derive(Clone, Debug)]
pub struct WatchOptions {
    /// Where the trace comes from.
    pub source: WatchSource,
    /// Watch every property once per value of this column.
    pub by: Option<String>,
    /// With a key: the trace of a value is over with a position where this formula holds; the same value later is another.
    pub until: Option<String>,
    /// With a key: the trace of a value is over when no position of it came for longer than this, by the stream's time.
    pub idle: Option<Duration>,
    /// Begin at the end that a followed file has now.
    pub from_end: bool,
    /// Tell the first violation of a property `G φ` alone, not each event that settles some.
    pub first: bool,
    /// Tell the verdict about every position: of φ for `G φ`, of the property otherwise.
    pub each_position: bool,
    /// Tell about every position, for each property, what can be said at once (satisfied, violated or unknown) and, as
    /// soon as it is settled, the exact verdict.
    pub observers: bool,
    /// When no event comes for so long, time goes on with the wall clock.
    pub heartbeat: Option<Duration>,
    /// Lines with a time under this name are no positions, they say that no position from then on is earlier.
    pub watermark: Option<String>,
    /// Leave out lines that cannot be read, instead of ending with the first.
    pub skip_bad_lines: bool,
    /// Connections that a socket serves at once; a client beyond is told, and let go.
    pub connections: usize,
    /// A line that a connection leaves open counts as one.
    pub last_line: bool,
    /// End with the first violation.
    pub stop_on_violation: bool,
    /// List what is pending, how often.
    pub pending_every: Option<Every>,
    /// Tell the values of queries, how often (beside at the end).
    pub values_every: Option<Every>,
    /// Keep the state in a file.
    pub checkpoints: Option<Checkpoints>,
}

impl WatchOptions {
    /// The verdicts of the properties, nothing more.
    pub fn new(source: WatchSource) -> Self {
        Self {
            source,
            by: None,
            until: None,
            idle: None,
            from_end: false,
            first: false,
            each_position: false,
            observers: false,
            heartbeat: None,
            watermark: None,
            skip_bad_lines: false,
            connections: 256,
            last_line: false,
            stop_on_violation: false,
            pending_every: None,
            values_every: None,
            checkpoints: None,
        }
    }

    /// Whether there is something to be told about each position.
    pub(crate) fn tells_each(&self) -> bool {
        self.each_position || self.observers
    }

    /// What the monitor is to tell.
    pub(crate) fn telling(&self) -> Telling {
        if self.tells_each() { Telling::Positions } else { Telling::Violations }
    }
}

/// A verdict on its way out.
#[derive(Clone, Debug)]
pub struct WatchVerdict<'w> {
    /// The property's name; with `-e` the formula's text.
    pub property: &'w str,
    /// The sentence in quotes after the name.
    pub title: Option<&'w str>,
    /// The position that the verdict is about, when each is told; `None` is the property itself.
    pub about: Option<Position>,
    /// The verdict.
    pub verdict: Verdict,
    /// The position that settled it, or the last one of the stream.
    pub position: Position,
    /// The time of that position, or to which time had come when that settled the verdict; of the position that the
    /// verdict is about, when each is told. Only where time is read.
    pub time: Option<Stamp>,
    /// What came due, if the passing of time settled it, where that is known.
    pub due: Option<Due>,
    /// Whether the passing of time settled it, rather than a position.
    pub overdue: bool,
    /// Whether no continuation changes it. Otherwise the stream ended, and this is its finite verdict.
    pub settled: bool,
    /// The line of that position.
    pub line: Option<LogLine>,
    /// What was still owed when the stream ended, and since when; the most urgent of several.
    pub pending: Option<Pending<'w>>,
    /// How many more there are.
    pub more_pending: usize,
    /// For a violation of `G φ`: the earliest position that failed, of those that were settled together.
    pub violation: Option<Violation>,
    /// How many positions were found to fail together.
    pub violation_count: u64,
    /// How much a violation weighs: that of a monitor may be less than an error.
    pub severity: Severity,
    /// Whose trace it is about, where a stream holds several: names and values.
    pub bindings: Vec<(String, Value)>,
    /// Why that trace is over though the stream is not, if it is that which settled the verdict.
    pub ended: Option<Ended>,
    /// Of a requirement: its value, and what is required of it.
    pub required: Option<Required>,
}

/// What can be said of a property at once: the verdict of a synchronous observer.
#[derive(Clone, Debug)]
pub struct Observation<'w> {
    /// The property's name.
    pub property: &'w str,
    /// The sentence in quotes after the name.
    pub title: Option<&'w str>,
    /// The verdict about the last position read: of φ for `G φ`, of the property otherwise.
    pub verdict: Verdict,
    /// That position.
    pub position: Position,
    /// Its time.
    pub time: Option<Stamp>,
}

/// An obligation whose deadline has passed.
#[derive(Clone, Debug, PartialEq)]
pub struct Due {
    /// The position that it is about.
    pub since: Position,
    /// What was owed, as a formula.
    pub owed: String,
    /// By when.
    pub deadline: Stamp,
}

/// What a property waits for.
#[derive(Clone, Debug)]
pub struct Pending<'w> {
    /// The property's name.
    pub property: &'w str,
    /// The position after which it has been waiting for just this.
    pub since: Position,
    /// Its line, if that is known.
    pub line: Option<u64>,
    /// What is owed, as a formula.
    pub owed: String,
    /// By when it is settled at the latest, if an interval says so.
    pub deadline: Option<Deadline>,
}

/// When something is settled at the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deadline {
    /// When time has passed beyond this.
    Time(Stamp),
    /// With this position, where intervals count positions.
    Position(Position),
}

/// What a query is worth so far.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchValue {
    /// The query's name; with `-e` its text.
    pub query: String,
    /// The sentence in quotes after the name.
    pub title: Option<String>,
    /// The value, should the trace end here; null if there is none.
    pub value: Value,
    /// Why it cannot be computed.
    pub fault: Option<String>,
    /// How far off it may be, if it is approximate.
    pub approximate: Vec<String>,
    /// The last position that was read.
    pub position: Position,
    /// With a key, whose trace it is about.
    pub bindings: Vec<(String, Value)>,
    /// Why that trace is over though the stream is not.
    pub ended: Option<Ended>,
}

/// Takes what is to be said about a stream that is being read, whatever is read from it.
pub trait LiveSink {
    /// A line that was left out.
    fn bad_line(&mut self, error: &Error);
    /// Something the user should know: where it listens, which engine had to step in.
    fn note(&mut self, note: &str);
    /// Findings about the specification.
    fn warnings(&mut self, warnings: &[Diagnostic]);
    /// Nothing more comes for now.
    fn flush(&mut self) -> io::Result<()>;
    /// Whether nobody listens any more.
    fn closed(&self) -> bool {
        false
    }
}

/// Takes what a watch has to say, as it happens.
pub trait WatchSink: LiveSink {
    /// A verdict.
    fn verdict(&mut self, verdict: &WatchVerdict<'_>) -> io::Result<()>;
    /// What a synchronous observer says.
    fn observation(&mut self, observation: &Observation<'_>) -> io::Result<()> {
        let _ = observation;
        Ok(())
    }
    /// What a query is worth so far.
    fn value(&mut self, value: &WatchValue) -> io::Result<()>;
    /// What is pending after so many positions.
    fn pending(&mut self, positions: u64, pending: &[Pending<'_>]) -> io::Result<()>;
}

/// What a watch came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchReport {
    /// Positions read, those before a checkpoint included.
    pub positions: u64,
    /// Lines left out.
    pub bad_lines: u64,
    /// The engine.
    pub engine: &'static str,
    /// The verdict of each property: settled, or what it is worth if the trace ends here. Empty if no position came.
    pub verdicts: Vec<bool>,
    /// Of each monitor how much its reports weigh, and whether it has none.
    pub monitors: Vec<(Severity, bool)>,
    /// The verdict of each requirement.
    pub requirements: Vec<Verdict>,
}

#[cfg(test)]
mod tests;
