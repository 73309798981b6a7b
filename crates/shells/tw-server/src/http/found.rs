//! What was found: violations, states of properties, streams.

use super::answer::{Answer, asked, error, json};
use super::body::{busy, holding};
use crate::judge::PropertyState;
use crate::server::Shared;
use crate::tokens::{Rights, Role};
use crate::verdicts::Filter;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tracewise::findings::json::{Object, array};

/// Violations in one answer, where nobody says.
const LIMIT: usize = 100;
/// The most of them.
const MOST: usize = 10_000;
/// Bytes of events in one answer, about.
const PIECE: usize = 8 << 20;
/// Lines that need no leave.
const FEW: usize = 10;
/// How long to wait for a stream to say what is pending.
const PATIENCE: Duration = Duration::from_millis(200);

/// What a query asks for.
pub fn filter(query: Option<&str>, rights: Rights) -> Filter {
    Filter { stream: asked(query, "stream"), property: asked(query, "property"), rights: Some(rights) }
}

/// A number of a query, if it has one of that name.
pub fn number(query: Option<&str>, name: &str) -> Result<Option<u64>, Box<Answer>> {
    let Some(text) = asked(query, name) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| {
        Box::new(error(StatusCode::BAD_REQUEST, &format!("{name}: found `{text}`, expected a number")))
    })
}

/// From which number on, and how many.
fn stretch(query: Option<&str>) -> Result<(u64, usize), Box<Answer>> {
    let limit = number(query, "limit")?.unwrap_or(LIMIT as u64).clamp(1, MOST as u64);
    Ok((number(query, "since")?.unwrap_or(0), limit as usize))
}

/// `GET /v1/violations`.
pub async fn violations(
    State(shared): State<Arc<Shared>>,
    RawQuery(query): RawQuery,
    rights: Rights,
) -> Answer {
    let query = query.as_deref();
    let (since, limit) = match stretch(query) {
        Ok(stretch) => stretch,
        Err(answer) => return *answer,
    };
    let filter = filter(query, rights);
    let end = shared.verdicts.end();
    let held = shared.budget.hold();
    let list = move || shared.verdicts.list(&filter, since.min(end), limit);
    match tokio::task::spawn_blocking(list).await {
        Ok(Ok((found, next))) => {
            let all = array(found.iter().map(|told| told.json.clone()));
            let text = Object::new().raw("violations", &all).field("next", next).field("end", end).end();
            holding("application/json", text.into(), held)
        }
        Ok(Err(why)) => {
            error(StatusCode::INTERNAL_SERVER_ERROR, &format!("violations cannot be read: {why}"))
        }
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "violations cannot be read"),
    }
}

/// `GET /v1/properties`.
pub async fn properties(
    State(shared): State<Arc<Shared>>,
    RawQuery(query): RawQuery,
    rights: Rights,
) -> Answer {
    let filter = filter(query.as_deref(), rights);
    let held = shared.budget.hold();
    let gather = move || {
        let mut all = Vec::new();
        let streams = shared.streams();
        for stream in
            streams.iter().filter(|own| filter.stream.as_deref().is_none_or(|name| *own.name == *name))
        {
            let current = stream.judge.ask_pending(PATIENCE);
            for watched in stream.judge.watched() {
                let stopped = watched.stopped();
                for own in watched.properties().iter().filter(|own| filter.takes(&stream.name, &own.name)) {
                    let object = Object::new()
                        .field("property", own.name.as_str())
                        .maybe("title", own.title.as_deref())
                        .field("kind", own.kind)
                        .field("text", own.text.as_str())
                        .field("spec", &*watched.spec)
                        .field("stream", &*stream.name);
                    let object = state(object, own, stopped.as_deref());
                    let left_out = watched.left_out.load(Ordering::Relaxed);
                    let object = object
                        .field("positions", watched.positions.load(Ordering::Relaxed))
                        .maybe("left_out", (left_out > 0).then_some(left_out))
                        .maybe("last_left_out", watched.last_left_out())
                        .field("current", current && stream.behind() == 0);
                    all.push(object.end());
                }
            }
        }
        Object::new().raw("properties", &array(all)).end()
    };
    match tokio::task::spawn_blocking(gather).await {
        Ok(text) => holding("application/json", text.into(), held),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "the states cannot be read"),
    }
}

/// What a property has come to.
pub fn state(object: Object, own: &PropertyState, stopped: Option<&str>) -> Object {
    let stopped = stopped.or(own.stopped.as_deref());
    let state = if stopped.is_some() { "stopped" } else { own.state() };
    let object = object.field("state", state).maybe("stopped", stopped).field("bytes", own.bytes);
    if own.kind == "query" {
        return object.raw("value", own.value.as_deref().unwrap_or("null"));
    }
    object
        .field("violations", own.violations)
        .raw("last", own.last.as_deref().unwrap_or("null"))
        .raw("pending", &array(own.pending.iter().cloned()))
        .field("pending_count", own.pending_count)
}

/// `GET /v1/streams`.
pub async fn streams(State(shared): State<Arc<Shared>>, rights: Rights) -> Answer {
    let mut all = shared.streams();
    all.retain(|stream| rights.may(Role::Read, &stream.name));
    let one = |stream: &Arc<crate::stream::Stream>| {
        let specs = stream.judge.watched().iter().map(|own| format!("\"{}\"", own.spec)).collect::<Vec<_>>();
        Object::new()
            .field("stream", &*stream.name)
            .field("lines", stream.log.end())
            .field("first_line", stream.log.start() + 1)
            .field("bytes", stream.log.bytes())
            .field("behind", stream.behind())
            .raw("specs", &array(specs))
            .end()
    };
    json(StatusCode::OK, Object::new().raw("streams", &array(all.iter().map(one))).end())
}

/// `GET /v1/streams/NAME/events`: lines of the log, after so many.
pub async fn events(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
) -> Answer {
    let (since, limit) = match stretch(query.as_deref()) {
        Ok(stretch) => stretch,
        Err(answer) => return *answer,
    };
    let Some(stream) = shared.known(&name) else {
        return error(StatusCode::NOT_FOUND, "there is no stream of that name");
    };
    let mut held = shared.budget.hold();
    // The lines, and the record that the last of them is in.
    if limit > FEW && !held.grow(2 * PIECE) {
        return busy();
    }
    let read = move || -> std::io::Result<(Vec<u8>, Option<u64>)> {
        let (mut reader, mut out, mut left) = (stream.log.read_from(since), Vec::new(), limit);
        let mut first = None;
        while left > 0
            && out.len() < PIECE
            && let Some(record) = reader.next()?
        {
            let skip = since.saturating_sub(record.before) as usize;
            first.get_or_insert(record.before.max(since) + 1);
            let lines = record.bytes.split_inclusive(|&byte| byte == b'\n').skip(skip).take(left);
            lines.for_each(|line| {
                out.extend_from_slice(line);
                left -= 1;
            });
        }
        Ok((out, first))
    };
    match tokio::task::spawn_blocking(read).await {
        Ok(Ok((lines, first))) => {
            let mut answer = holding("application/x-ndjson", lines, held);
            // Lines before it may be gone.
            if let Some(first) = first {
                answer.headers_mut().insert("tracewise-first-line", first.into());
            }
            answer
        }
        Ok(Err(why)) => error(StatusCode::INTERNAL_SERVER_ERROR, &format!("the log cannot be read: {why}")),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "the log cannot be read"),
    }
}
