//! OpenTelemetry: from what was exported to lines of streams. What a span is, in positions, says [`tracewise::trace::otlp`], for
//! files and for requests alike.

use crate::intake::{How, Intake, NotTaken};
use crate::log::Refused;
use crate::names;
use crate::server::{NoStream, Shared};
use crate::tokens::{Rights, Role};
use std::borrow::Cow;
use std::time::{SystemTime, UNIX_EPOCH};
use tracewise::trace::otlp::{Any, Export, Lines, Record, Span, json, protobuf};

/// Stands for the name of the service in the name of a stream.
pub const SERVICE: &str = "{service}";
/// Bytes above which a body is read on a thread that may take its time.
const LARGE: usize = 256 << 10;
/// Bytes of a body in JSON: read as a whole, it takes many times as much memory.
const JSON: usize = 16 << 20;

/// What is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Spans.
    Traces,
    /// Log records.
    Logs,
}

/// Where lines go.
#[derive(Clone, Debug)]
pub struct To {
    /// The stream; [`SERVICE`] in it stands for the service.
    pub stream: String,
    /// They are acknowledged when they are on disk, not when they are in memory.
    pub durable: bool,
    /// What who sends them may do; nothing, where nobody looked.
    pub rights: Option<Rights>,
}

/// What became of an export.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Spans or records that were not taken, and will not be.
    pub rejected: u64,
    /// Why, if there are some.
    pub why: Option<String>,
}

/// Why nothing was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// It is not what it says.
    Unread(String),
    /// It is of a kind that is not read.
    Kind(String),
    /// It is too large.
    TooLarge(String),
    /// It did not come in time.
    Slow(String),
    /// No stream can have this name.
    Stream(String),
    /// There are too many streams.
    TooMany(String),
    /// The token does not go so far.
    Forbidden(String),
    /// There is too much to do: again, later.
    Busy(String),
    /// It cannot be kept now: again, later.
    Later(String),
}

impl Wrong {
    /// In words.
    pub fn why(&self) -> &str {
        match self {
            Wrong::Unread(why) | Wrong::Kind(why) | Wrong::TooLarge(why) | Wrong::Slow(why) => why,
            Wrong::Stream(why)
            | Wrong::TooMany(why)
            | Wrong::Forbidden(why)
            | Wrong::Busy(why)
            | Wrong::Later(why) => why,
        }
    }

    /// As gRPC numbers it.
    pub fn code(&self) -> u64 {
        match self {
            Wrong::Unread(_) | Wrong::Stream(_) => 3,
            Wrong::Slow(_) => 4,
            Wrong::Forbidden(_) => 7,
            Wrong::TooMany(_) => 9,
            Wrong::Kind(_) => 12,
            // Without a time to wait this is not tried again.
            Wrong::TooLarge(_) => 8,
            Wrong::Busy(_) | Wrong::Later(_) => 14,
        }
    }

    /// A `google.rpc.Status`.
    pub fn protobuf(&self) -> Vec<u8> {
        message(self.code(), self.why())
    }
}

impl Outcome {
    /// The answer to an export: partial success, if it is one.
    pub fn protobuf(&self) -> Vec<u8> {
        let Some(why) = &self.why else { return Vec::new() };
        let partial = message(self.rejected, why);
        let mut answer = vec![0x0a];
        varint(partial.len() as u64, &mut answer);
        answer.extend_from_slice(&partial);
        answer
    }
}

/// A message of a number and a text, as both kinds of answers are.
fn message(number: u64, text: &str) -> Vec<u8> {
    let mut message = Vec::new();
    if number > 0 {
        message.push(0x08);
        varint(number, &mut message);
    }
    message.push(0x12);
    varint(text.len() as u64, &mut message);
    message.extend_from_slice(text.as_bytes());
    message
}

fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes an export, of `size` bytes as it came.
pub async fn take<'b>(
    shared: &Shared,
    signal: Signal,
    json: bool,
    to: &To,
    size: usize,
    unpack: impl FnOnce() -> Result<Cow<'b, [u8]>, Wrong>,
) -> Result<Outcome, Wrong> {
    let work = || {
        let mut sorting = Sorting::new(shared, to);
        sorting.read(signal, json, &unpack()?)?;
        sorting.offer(shared)
    };
    // What takes long does not hold up others.
    let (mut outcome, given) = if size > LARGE { tokio::task::block_in_place(work) } else { work() }?;
    let (mut lost, mut kept) = (None, 0);
    for given in given {
        let count = given.things;
        match given.given.written().await {
            Ok(_) => kept += 1,
            Err(why) => {
                outcome.rejected += count;
                lost = Some(NotTaken::Refused(why));
            }
        }
    }
    match lost {
        Some(why) if kept == 0 => Err(later(why)),
        Some(why) => {
            outcome.why.get_or_insert(why.to_string());
            Ok(outcome)
        }
        None => Ok(outcome),
    }
}

fn later(why: NotTaken) -> Wrong {
    let text = why.to_string();
    match why {
        NotTaken::Behind(_) | NotTaken::Refused(Refused::Busy) => Wrong::Busy(text),
        NotTaken::Refused(_) => Wrong::Later(text),
        NotTaken::Bad(_) | NotTaken::Unread(_) => Wrong::Unread(text),
    }
}

/// Lines on their way to the disk.
struct OnTheWay {
    given: crate::intake::Given,
    /// Spans or records that they are of.
    things: u64,
}

/// The lines of one stream.
struct Part {
    service: Option<String>,
    stream: String,
    lines: Lines,
    things: u64,
}

/// Puts what is exported where it goes.
struct Sorting<'t> {
    to: &'t To,
    parts: Vec<Part>,
    /// The part of the service that came last.
    current: Option<usize>,
    outcome: Outcome,
    /// Bytes that one line may have, and all together.
    line: usize,
    most: usize,
    all: usize,
    now: i64,
}

impl<'t> Sorting<'t> {
    fn new(shared: &Shared, to: &'t To) -> Self {
        let limits = shared.config.limits;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64);
        Self {
            to,
            parts: Vec::new(),
            current: None,
            outcome: Outcome::default(),
            line: limits.line,
            most: limits.unpacked,
            all: 0,
            now,
        }
    }

    fn read(&mut self, signal: Signal, json: bool, body: &[u8]) -> Result<(), Wrong> {
        let longest = self.line;
        match (signal, json) {
            (_, true) if body.len() > JSON => {
                return Err(Wrong::TooLarge(format!(
                    "a body in JSON may have {JSON} bytes; protobuf may have more"
                )));
            }
            (_, true) => {
                let document = serde_json::from_slice(body)
                    .map_err(|error| Wrong::Unread(format!("found no JSON: {error}")))?;
                if let Some(why) = json::misshapen(&document) {
                    return Err(Wrong::Unread(why));
                }
                json::export(&document, self);
            }
            (Signal::Traces, false) => {
                protobuf::traces(body, longest, self).map_err(|why| Wrong::Unread(why.to_string()))?;
            }
            (Signal::Logs, false) => {
                protobuf::logs(body, longest, self).map_err(|why| Wrong::Unread(why.to_string()))?;
            }
        }
        match self.all > self.most {
            true => Err(Wrong::TooLarge(format!("the export is more than {} bytes as lines", self.most))),
            false => Ok(()),
        }
    }

    fn reject(&mut self, count: u64, why: impl FnOnce() -> String) {
        self.outcome.rejected += count;
        self.outcome.why.get_or_insert_with(why);
    }

    /// The part that the lines of a service belong to.
    fn part(&mut self, service: &Any<'_>) -> &mut Part {
        let named = self.to.stream.contains(SERVICE);
        let service = match service {
            Any::Text(service) if named => Some(*service),
            _ => None,
        };
        let known = |part: &Part| part.service.as_deref() == service;
        let at = self.current.filter(|at| known(&self.parts[*at]));
        let at = at.or_else(|| self.parts.iter().position(known)).unwrap_or_else(|| {
            let stream = match named {
                true => self.to.stream.replace(SERVICE, &names::made_of(service.unwrap_or("unknown"))),
                false => self.to.stream.clone(),
            };
            let service = service.map(str::to_string);
            self.parts.push(Part { service, stream, lines: Lines::default(), things: 0 });
            self.parts.len() - 1
        });
        self.current = Some(at);
        &mut self.parts[at]
    }

    /// Tells something as lines, unless they are too long.
    fn tell(&mut self, service: &Any<'_>, tell: impl FnOnce(&mut Lines)) {
        let (line, over) = (self.line, self.all > self.most);
        if over {
            return;
        }
        let part = self.part(service);
        let before = (part.lines.count(), part.lines.size());
        tell(&mut part.lines);
        let fits = part.lines.longest_after(before.0) <= line;
        if fits {
            part.things += 1;
            self.all += self.parts[self.current.unwrap_or(0)].lines.size() - before.1;
        } else {
            part.lines.back_to(before.0, before.1);
            self.reject(1, || {
                format!("found a position longer than {line} bytes, the most that is accepted")
            });
        }
    }

    /// Offers the lines to their streams.
    fn offer(mut self, shared: &Shared) -> Result<(Outcome, Vec<OnTheWay>), Wrong> {
        let how = How { durable: self.to.durable, skip: true };
        let (mut given, mut wrong) = (Vec::new(), None);
        for part in std::mem::take(&mut self.parts) {
            let allowed = self.to.rights.as_ref().is_some_and(|rights| rights.may(Role::Write, &part.stream));
            let intake = match allowed {
                true => Intake::new(shared, &part.stream).map_err(unopened),
                false => Err(Wrong::Forbidden("the token has not the right to write this".into())),
            };
            let things = part.things;
            let offered = intake.and_then(|intake| intake.offer(&part.lines.in_order(), how).map_err(later));
            match offered {
                Ok(taken) => {
                    let bad = taken.arrived.bad.len() as u64;
                    if bad > 0 {
                        self.reject(bad.min(things), || crate::intake::first_error(&taken.arrived, 0));
                    }
                    given.push(OnTheWay { given: taken, things });
                }
                Err(why) => {
                    self.reject(things, || why.why().to_string());
                    wrong = Some(why);
                }
            }
        }
        // What can be sent again as a whole is; what is there in part already would be there twice.
        match wrong {
            Some(wrong) if given.is_empty() => Err(wrong),
            _ => Ok((self.outcome, given)),
        }
    }
}

/// Why there is no stream.
fn unopened(why: NoStream) -> Wrong {
    match why {
        NoStream::Name(why) => Wrong::Stream(why),
        NoStream::TooMany(limit) => {
            Wrong::TooMany(format!("there are {limit} streams already, the most there may be"))
        }
        NoStream::Io(why) => Wrong::Later(format!("the stream cannot be opened: {why}")),
    }
}

impl<F: Reason> Export<F> for Sorting<'_> {
    fn span(&mut self, service: &Any<'_>, span: Result<Span<'_>, F>) {
        match span {
            Ok(span) => self.tell(service, |lines| span.tell(service, lines)),
            Err(why) => self.reject(1, || why.words()),
        }
    }

    fn record(&mut self, service: &Any<'_>, record: Result<Record<'_>, F>) {
        let now = self.now;
        match record {
            Ok(record) => self.tell(service, |lines| record.tell(service, now, lines)),
            Err(why) => self.reject(1, || why.words()),
        }
    }
}

/// Why something cannot be told.
trait Reason {
    fn words(self) -> String;
}

impl Reason for String {
    fn words(self) -> String {
        self
    }
}

impl Reason for json::Misread {
    fn words(self) -> String {
        self.message
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_messages() {
        assert_eq!(Outcome::default().protobuf(), b"");
        let outcome = Outcome { rejected: 300, why: Some("ab".into()) };
        assert_eq!(outcome.protobuf(), b"\x0a\x07\x08\xac\x02\x12\x02ab");
        assert_eq!(Wrong::Unread("no".into()).protobuf(), b"\x08\x03\x12\x02no");
    }
}
