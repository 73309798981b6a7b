//! NATS JetStream, by its text protocol.
//!
//! A stream numbers its messages, and the number of the last one that is in our log is the mark. A consumer is made anew at every
//! connection, to begin behind the mark: then messages come in their order, and none is left over from a consumer that was interrupted.
//! They are acknowledged one by one once they are on disk, so that a stream that keeps work until it is done may forget it.

mod connection;

pub use connection::{Connection, Message};

use super::wire::LOOK;
use super::{BATCH, Batch, Client, SourceConfig};
use serde_json::{Value as Json, json};
use std::time::{Duration, Instant};

/// Messages asked for at once.
const PULL: u64 = 5000;
/// How long such a wish stands.
const EXPIRES: Duration = Duration::from_secs(5);
/// How long after that it is taken to be forgotten.
const LATE: Duration = Duration::from_secs(1);
/// After how long an unacknowledged message comes again, in nanoseconds.
const ACK_WAIT: u64 = 60_000_000_000;

/// Reads a stream.
pub struct Reader {
    config: SourceConfig,
    work: Option<Work>,
}

/// What is known while there is a connection.
struct Work {
    connection: Connection,
    /// Where messages are asked for, and where they come to.
    pull: (String, String),
    /// Messages that were asked for and have not come, …
    asked: u64,
    /// … and when that was.
    since: Instant,
    /// The last message.
    last: Place,
    /// When the stream was made.
    created: String,
    /// How many deliveries there were of this consumer.
    deliveries: u64,
    /// Where to acknowledge what came.
    acknowledge: Vec<String>,
}

/// A message in its stream: its number, and when it was stored, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    number: u64,
    time: u64,
}

/// `number@time@when the stream was made`.
fn position(text: &str) -> Option<(Place, &str)> {
    let mut parts = text.splitn(3, '@');
    let place = Place { number: parts.next()?.parse().ok()?, time: parts.next()?.parse().ok()? };
    Some((place, parts.next()?))
}

impl Reader {
    pub(super) fn new(config: &SourceConfig) -> Self {
        Self { config: config.clone(), work: None }
    }
}

/// An answer of JetStream, or its error.
pub fn answer(message: &Message) -> Result<Json, String> {
    if message.status == Some(503) {
        return Err("the server has no JetStream".into());
    }
    let json: Json = serde_json::from_slice(&message.payload)
        .map_err(|error| format!("found an answer that is no JSON: {error}"))?;
    match &json["error"] {
        Json::Null => Ok(json),
        error => Err(error["description"].as_str().unwrap_or("it refuses").to_string()),
    }
}

/// A message's place in its stream, and the number of its delivery, as the subject says on which it is acknowledged.
fn places(reply: &str) -> Option<(Place, u64)> {
    let parts: Vec<&str> = reply.strip_prefix("$JS.ACK.")?.split('.').collect();
    // `stream.consumer.delivered.number.delivery.time.pending`, in newer servers behind a domain and an account.
    let from = if parts.len() >= 9 { 5 } else { 3 };
    let number = |at: usize| parts.get(from + at)?.parse::<u64>().ok();
    Some((Place { number: number(0)?, time: number(2)? }, number(1)?))
}

/// Why a position says nothing: its stream is another one, or its server lost what it had acknowledged.
fn another(stream: &str, number: u64) -> String {
    format!(
        "stream {stream} was made anew since message {number} was read, or its server has lost messages: give the source another \
         `name` to read it from its beginning"
    )
}

impl Client for Reader {
    fn connect(&mut self, after: Option<&str>, told: &dyn Fn(String)) -> Result<(), String> {
        self.work = None;
        let (stream, name) = (&self.config.from, &self.config.name);
        let mut connection = Connection::connect(&self.config.address)?;
        let mut ask = |what: &str, subject: String, payload: Json| {
            let payload = if payload.is_null() { String::new() } else { payload.to_string() };
            let message = connection.request(&subject, payload.as_bytes())?;
            answer(&message).map_err(|why| format!("{what}: {why}"))
        };
        let info = ask(&format!("stream {stream}"), format!("$JS.API.STREAM.INFO.{stream}"), Json::Null)?;
        let created = info["created"].as_str().unwrap_or("").to_string();
        let (first, end) = (info["state"]["first_seq"].as_u64(), info["state"]["last_seq"].as_u64());
        let retention = info["config"]["retention"].as_str().unwrap_or("limits");
        let last = match after {
            None => Place::default(),
            Some(after) => {
                let (last, own) =
                    position(after).ok_or_else(|| format!("the position {after} is none of NATS"))?;
                if own != created || last.number > end.unwrap_or(0) {
                    return Err(another(stream, last.number));
                }
                last
            }
        };
        let policy = match retention {
            "interest" => {
                return Err(format!(
                    "stream {stream} keeps messages by interest, and would forget them whenever we connect: let it keep \
                     them by limits, or as a work queue"
                ));
            }
            "workqueue" => json!({"deliver_policy": "all"}),
            _ => {
                let next = last.number + 1;
                if let Some(first) = first.filter(|first| next > 1 && *first > next) {
                    told(format!(
                        "stream {stream}: messages {next} to {} were deleted before they were read",
                        first - 1
                    ));
                }
                // The last one again, to see whether it is the one that we know.
                json!({"deliver_policy": "by_start_sequence", "opt_start_seq": last.number.max(1)})
            }
        };
        let consumer = self
            .config
            .setting("consumer")
            .map_or(format!("tracewise-{}", name.replace('.', "_")), str::to_string);
        let mut settings = json!({
            "durable_name": consumer, "ack_policy": "explicit", "ack_wait": ACK_WAIT, "max_ack_pending": 4 * PULL,
            "replay_policy": "instant",
        });
        let merge = |into: &mut Json, from: Json| {
            if let (Json::Object(into), Json::Object(from)) = (into, from) {
                into.extend(from);
            }
        };
        merge(&mut settings, policy);
        if self.config.setting("member").is_some() {
            // Nobody takes it away when another member goes on.
            merge(&mut settings, json!({"inactive_threshold": ACK_WAIT}));
        }
        if let Some(subject) = self.config.setting("subject") {
            merge(&mut settings, json!({"filter_subject": subject}));
        }
        // That there is none is no error.
        let _ = ask("", format!("$JS.API.CONSUMER.DELETE.{stream}.{consumer}"), Json::Null);
        ask(
            &format!("consumer {consumer}"),
            format!("$JS.API.CONSUMER.DURABLE.CREATE.{stream}.{consumer}"),
            json!({"stream_name": stream, "config": settings}),
        )?;
        let pull = (format!("$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}"), connection.inbox("pulled"));
        self.work = Some(Work {
            connection,
            pull,
            asked: 0,
            since: Instant::now(),
            last,
            created,
            deliveries: 0,
            acknowledge: Vec::new(),
        });
        Ok(())
    }

    fn next(&mut self) -> Result<Batch, String> {
        let mut batch = Batch::default();
        let Some(work) = &mut self.work else { return Ok(batch) };
        // The server says when a wish expires; some do not if a message comes at that moment.
        if work.asked == 0 || work.since.elapsed() > EXPIRES + LATE {
            let wish = json!({"batch": PULL, "expires": EXPIRES.as_nanos() as u64}).to_string();
            work.connection.publish(&work.pull.0, Some(&work.pull.1), "", wish.as_bytes())?;
            (work.asked, work.since) = (PULL, Instant::now());
        }
        while let Some(message) = work.connection.next(LOOK)? {
            if message.subject != work.pull.1 && message.status.is_some() {
                continue;
            }
            match message.status {
                None => {}
                Some(100) => continue,
                // Nothing more came in time.
                Some(404 | 408) => {
                    work.asked = 0;
                    break;
                }
                Some(_) => return Err(format!("the consumer: {}", message.said())),
            }
            let Some(reply) = message.reply else { continue };
            let Some((place, delivery)) = places(&reply) else { continue };
            work.deliveries += 1;
            if delivery != work.deliveries {
                return Err(
                    "another program reads from the same consumer: give one of them another `consumer`"
                        .into(),
                );
            }
            work.asked -= work.asked.min(1);
            work.acknowledge.push(reply);
            if place.number == work.last.number && place.time != work.last.time {
                return Err(another(&self.config.from, place.number));
            }
            // What comes again is there.
            if place.number > work.last.number {
                work.last = place;
                batch.add(&message.payload);
            }
            if work.asked == 0 || batch.lines.len() >= BATCH || !work.connection.has_more() {
                break;
            }
        }
        let Place { number, time } = work.last;
        batch.position = (batch.messages > 0).then(|| format!("{number}@{time}@{}", work.created));
        Ok(batch)
    }

    fn kept(&mut self) -> Result<(), String> {
        let Some(work) = &mut self.work else { return Ok(()) };
        work.connection.acknowledge(&std::mem::take(&mut work.acknowledge))
    }
}

#[cfg(test)]
mod tests {
    use super::{Place, places, position};

    #[test]
    fn acknowledgements_say_which_message() {
        let place = Place { number: 40, time: 1699 };
        assert_eq!(places("$JS.ACK.EVENTS.us.1.40.17.1699.3"), Some((place, 17)));
        assert_eq!(places("$JS.ACK._.hash.EVENTS.us.1.40.17.1699.3.token"), Some((place, 17)));
        assert_eq!(places("$JS.ACK.EVENTS"), None);
        assert_eq!(places("inbox.1"), None);
        assert_eq!(position("40@1699@2026-01-01T00:00:00Z"), Some((place, "2026-01-01T00:00:00Z")));
        assert_eq!(position("40@x@y"), None);
    }
}
