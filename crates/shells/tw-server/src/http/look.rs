//! A second look at what a stream's log has: why something is violated, how far signals are from violating, which traces fail alike, what the behaviour looks like as a model.
//!
//! Each reads a bounded part of the log and runs the library's own verb over it, not more than [`AT_ONCE`] at a time, beside
//! the judges and not in their way.

mod classes;
mod explanation;
mod model;
mod robustness;
mod text;

use super::answer::{Answer, asked, error, json, later};
use super::found::number;
use crate::server::Shared;
use crate::specs::Spec;
use crate::stream::Stream;
use crate::tokens::Rights;
use crate::words;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use std::sync::Arc;
use tokio::sync::Semaphore;
use tracewise::{Error, Session};

/// Looks at one time.
const AT_ONCE: usize = 2;
/// How many may wait for that.
const WAITING: usize = 16;
/// Bytes of the log that a look reads.
const BYTES: usize = 32 << 20;
/// Bytes that it may take to judge them.
const MEMORY: usize = 512 << 20;

static LOOKS: Semaphore = Semaphore::const_new(AT_ONCE);
static PLACES: Semaphore = Semaphore::const_new(AT_ONCE + WAITING);

/// All paths.
pub fn router() -> Router<Arc<Shared>> {
    Router::new()
        .route("/v1/history", get(history))
        .route("/v1/explanation", get(explanation::get))
        .route("/v1/robustness", get(robustness::get))
        .route("/v1/classes", get(classes::get))
        .route("/v1/model", get(model::get))
        .route("/v1/words", get(text::words))
        .route("/v1/check", post(text::check))
}

/// `GET /v1/history`: lines and values, each second.
async fn history(State(shared): State<Arc<Shared>>, RawQuery(query): RawQuery, rights: Rights) -> Answer {
    match number(query.as_deref(), "since") {
        Ok(since) => json(StatusCode::OK, shared.history.since(since.unwrap_or(0), &rights)),
        Err(answer) => *answer,
    }
}

/// Does what takes a while on a thread that may take its time, when it is its turn.
async fn look(work: impl FnOnce() -> Answer + Send + 'static) -> Answer {
    let Ok(_place) = PLACES.try_acquire() else {
        return later(StatusCode::TOO_MANY_REQUESTS, "too many are looking at logs");
    };
    let Ok(_turn) = LOOKS.acquire().await else {
        return later(StatusCode::SERVICE_UNAVAILABLE, "the server is ending");
    };
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|_| error(StatusCode::INTERNAL_SERVER_ERROR, "the log could not be looked at"))
}

/// Looks at what a request names: a property of a specification on a stream.
async fn look_at(shared: &Arc<Shared>, query: Option<&str>, work: fn(&Subject) -> Answer) -> Answer {
    match Subject::of(shared, query) {
        Ok(subject) => look(move || work(&subject)).await,
        Err(answer) => *answer,
    }
}

/// Part of a log.
struct Part {
    /// Lines before it.
    from: u64,
    /// How many it has.
    lines: u64,
    /// The lines.
    bytes: Vec<u8>,
}

/// The lines between two places that are still there, the latest that fit.
fn part(stream: &Stream, from: u64, to: u64, most: u64) -> std::io::Result<Part> {
    let from = from.max(stream.log.start()).max(to.saturating_sub(most));
    let mut reader = stream.log.read_from(from);
    let mut pieces = std::collections::VecDeque::new();
    let (mut held, mut at) = (0, from);
    while at < to
        && let Some(record) = reader.next()?
    {
        for (before, line) in (record.before..).zip(record.bytes.split_inclusive(|&byte| byte == b'\n')) {
            if before >= from && before < to {
                held += line.len();
                pieces.push_back(line.to_vec());
                while held > BYTES {
                    held -= pieces.pop_front().map_or(0, |gone: Vec<u8>| gone.len());
                }
            }
        }
        at = record.after();
    }
    let lines = pieces.len() as u64;
    Ok(Part { from: at.min(to).saturating_sub(lines), lines, bytes: pieces.into_iter().flatten().collect() })
}

/// What is looked at: a specification on a stream.
struct Subject {
    stream: Arc<Stream>,
    spec: Arc<Spec>,
    /// Lines before the first that it judges.
    since: u64,
    property: String,
}

impl Subject {
    /// What a query names by `stream`, `spec` and `property`.
    fn of(shared: &Shared, query: Option<&str>) -> Result<Self, Box<Answer>> {
        let stream = stream_of(shared, query)?;
        let name = asked(query, "spec").unwrap_or_default();
        let assigned =
            stream.judge.latest().and_then(|now| now.specs.into_iter().find(|own| *own.spec.name == *name));
        let Some(assigned) = assigned else {
            return Err(Box::new(error(
                StatusCode::NOT_FOUND,
                "no specification of that name watches this stream now",
            )));
        };
        let property = asked(query, "property").unwrap_or_default();
        Ok(Self { stream, since: assigned.since, spec: assigned.spec, property })
    }

    /// The specification with this property alone, as it was written.
    fn alone(&self) -> Result<tracewise::Specification, Error> {
        self.spec.specification.only(std::slice::from_ref(&self.property)).map(std::borrow::Cow::into_owned)
    }

    /// A session that reads a part of the log under the stream's name.
    fn session(&self, part: &[u8]) -> (Session, Vec<String>) {
        let name = self.stream.name.to_string();
        (self.spec.session(MEMORY).text(name.clone(), part.to_vec()), vec![name])
    }

    /// The latest lines that the specification has judged.
    fn latest(&self, most: u64) -> std::io::Result<Part> {
        part(&self.stream, self.since, self.stream.log.end(), most)
    }
}

fn stream_of(shared: &Shared, query: Option<&str>) -> Result<Arc<Stream>, Box<Answer>> {
    let name = asked(query, "stream").unwrap_or_default();
    shared
        .known(&name)
        .ok_or_else(|| Box::new(error(StatusCode::NOT_FOUND, "there is no stream of that name")))
}

/// The library cannot answer this, and says why.
fn unfit(why: &Error) -> Answer {
    error(StatusCode::UNPROCESSABLE_ENTITY, &words::error(why))
}

fn unread(why: &std::io::Error) -> Answer {
    error(StatusCode::INTERNAL_SERVER_ERROR, &format!("the log cannot be read: {why}"))
}
