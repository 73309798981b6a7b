//! What was found: violations, states of properties, streams.

use super::answer::{Answer, asked, error, json};
use crate::judge::PropertyState;
use crate::server::Shared;
use crate::verdicts::Filter;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tracewise::findings::json::{Object, array};

/// Violations in one answer, where nobody says.
const LIMIT: usize = 100;
/// The most of them.
const MOST: usize = 10_000;
/// How long to wait for a stream to say what is pending.
const PATIENCE: Duration = Duration::from_millis(200);

/// What a query asks for.
pub fn filter(query: Option<&str>) -> Filter {
    Filter { stream: asked(query, "stream"), property: asked(query, "property") }
}

/// `GET /v1/violations`.
pub async fn violations(State(shared): State<Arc<Shared>>, RawQuery(query): RawQuery) -> Answer {
    let query = query.as_deref();
    let number = |name: &str, default: u64| match asked(query, name) {
        None => Ok(default),
        Some(text) => text.parse::<u64>().map_err(|_| format!("{name}: found `{text}`, expected a number")),
    };
    let (since, limit) = match (number("since", 0), number("limit", LIMIT as u64)) {
        (Ok(since), Ok(limit)) => (since, (limit as usize).clamp(1, MOST)),
        (Err(why), _) | (_, Err(why)) => return error(StatusCode::BAD_REQUEST, &why),
    };
    let filter = filter(query);
    let end = shared.verdicts.end();
    let list = move || shared.verdicts.list(&filter, since.min(end), limit);
    match tokio::task::spawn_blocking(list).await {
        Ok(Ok((found, next))) => {
            let all = array(found.iter().map(|told| told.json.clone()));
            json(StatusCode::OK, Object::new().raw("violations", &all).field("next", next).field("end", end).end())
        }
        Ok(Err(why)) => error(StatusCode::INTERNAL_SERVER_ERROR, &format!("violations cannot be read: {why}")),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "violations cannot be read"),
    }
}

/// `GET /v1/properties`.
pub async fn properties(State(shared): State<Arc<Shared>>, RawQuery(query): RawQuery) -> Answer {
    let filter = filter(query.as_deref());
    let gather = move || {
        let mut all = Vec::new();
        let streams = shared.streams();
        for stream in streams.iter().filter(|own| filter.stream.as_deref().is_none_or(|name| *own.name == *name)) {
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
        Ok(text) => json(StatusCode::OK, text),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "the states cannot be read"),
    }
}

fn state(object: Object, own: &PropertyState, stopped: Option<&str>) -> Object {
    let state = if stopped.is_some() { "stopped" } else { own.state() };
    let object = object.field("state", state).maybe("stopped", stopped);
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
pub async fn streams(State(shared): State<Arc<Shared>>) -> Answer {
    let all = shared.streams();
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
