//! OpenTelemetry (OTLP) over HTTP: `POST /v1/traces` and `/v1/logs`, in protobuf and in JSON.

use super::answer::{Answer, of_kind};
use super::body::{self, Unread};
use crate::ingest::{Packing, Unusable};
use crate::otlp::{self, Outcome, Signal, To, Wrong};
use crate::server::Shared;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, Request, StatusCode, header};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use tracewise::findings::json::Object;

const PROTOBUF: &str = "application/x-protobuf";
const JSON: &str = "application/json";

/// `POST /v1/traces`.
pub async fn traces(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Answer {
    answer(&shared, Signal::Traces, None, request).await
}

/// `POST /v1/logs`.
pub async fn logs(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Answer {
    answer(&shared, Signal::Logs, None, request).await
}

/// The same into a stream of a name.
pub async fn traces_of(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    request: Request<Body>,
) -> Answer {
    answer(&shared, Signal::Traces, Some(name), request).await
}

/// The same into a stream of a name.
pub async fn logs_of(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    request: Request<Body>,
) -> Answer {
    answer(&shared, Signal::Logs, Some(name), request).await
}

/// Where the lines of a request go, as its path, its headers and its query say.
pub fn to(shared: &Shared, name: Option<String>, request: &Request<Body>) -> To {
    let (headers, query) = (request.headers(), request.uri().query());
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_string);
    let stream = name.or_else(|| header("tracewise-stream"));
    let ack = super::answer::asked(query, "ack").or_else(|| header("tracewise-ack"));
    To {
        stream: stream.unwrap_or_else(|| shared.config.otlp.to_string()),
        durable: ack.as_deref() != Some("memory"),
        rights: request.extensions().get().cloned(),
    }
}

async fn answer(
    shared: &Arc<Shared>,
    signal: Signal,
    name: Option<String>,
    request: Request<Body>,
) -> Answer {
    let began = Instant::now();
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
    let json = kind.eq_ignore_ascii_case(JSON);
    let taken = match json || kind.eq_ignore_ascii_case(PROTOBUF) {
        true => take(shared, signal, name, json, request).await,
        false => {
            let why = format!("Content-Type: found `{kind}`, expected {PROTOBUF} or {JSON}");
            Err(Wrong::Kind(why))
        }
    };
    if matches!(taken, Err(Wrong::Later(_) | Wrong::Busy(_))) {
        shared.figures.turned_away.fetch_add(1, Ordering::Relaxed);
    }
    shared.figures.ingested(began.elapsed());
    told(signal, json, taken)
}

async fn take(
    shared: &Arc<Shared>,
    signal: Signal,
    name: Option<String>,
    json: bool,
    request: Request<Body>,
) -> Result<Outcome, Wrong> {
    let to = to(shared, name, &request);
    let limits = shared.config.limits;
    let encoding = request.headers().get(header::CONTENT_ENCODING).map(|value| value.to_str().unwrap_or("?"));
    let Some(packing) = Packing::named(encoding) else {
        let found = encoding.unwrap_or_default();
        return Err(Wrong::Kind(format!("Content-Encoding: found `{found}`, expected gzip, zstd or none")));
    };
    let (body, mut held) = body::gather(shared, request.into_body(), limits.body).await.map_err(unread)?;
    let unpack = || packing.unpack(&body, limits.unpacked, &mut held).map_err(unusable);
    otlp::take(shared, signal, json, &to, body.len(), unpack).await
}

/// Why there is no body.
pub fn unread(why: Unread) -> Wrong {
    let text = why.to_string();
    match why {
        Unread::TooLong(_) => Wrong::TooLarge(text),
        Unread::Cut => Wrong::Unread(text),
        Unread::TooSlow => Wrong::Slow(text),
        Unread::Busy => Wrong::Later(text),
    }
}

/// Why a body cannot be unpacked.
pub fn unusable(why: Unusable) -> Wrong {
    match why {
        Unusable::TooLarge(limit) => {
            Wrong::TooLarge(format!("the body holds more than {limit} bytes when it is unpacked"))
        }
        Unusable::Busy => unread(Unread::Busy),
        Unusable::Damaged(why) => Wrong::Unread(format!("the body is not packed as it says: {why}")),
    }
}

/// The answer, in the encoding of the question.
fn told(signal: Signal, json: bool, taken: Result<Outcome, Wrong>) -> Answer {
    let (status, body) = match &taken {
        Ok(outcome) => (StatusCode::OK, if json { in_json(signal, outcome) } else { outcome.protobuf() }),
        Err(wrong) => {
            let status = match wrong {
                Wrong::Unread(_) | Wrong::Stream(_) => StatusCode::BAD_REQUEST,
                Wrong::Kind(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
                Wrong::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
                Wrong::Slow(_) => StatusCode::REQUEST_TIMEOUT,
                Wrong::TooMany(_) | Wrong::Forbidden(_) => StatusCode::FORBIDDEN,
                Wrong::Busy(_) => StatusCode::TOO_MANY_REQUESTS,
                Wrong::Later(_) => StatusCode::SERVICE_UNAVAILABLE,
            };
            let body = match json {
                true => Object::new().field("code", wrong.code()).field("message", wrong.why()).end().into(),
                false => wrong.protobuf(),
            };
            (status, body)
        }
    };
    let mut answer = of_kind(status, if json { JSON } else { PROTOBUF }, body);
    if matches!(taken, Err(Wrong::Busy(_) | Wrong::Later(_))) {
        answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    answer
}

fn in_json(signal: Signal, outcome: &Outcome) -> Vec<u8> {
    let Some(why) = &outcome.why else { return b"{}".to_vec() };
    let rejected = match signal {
        Signal::Traces => "rejectedSpans",
        Signal::Logs => "rejectedLogRecords",
    };
    // Numbers of 64 bits are texts in this protocol.
    let partial =
        Object::new().field(rejected, outcome.rejected.to_string()).field("errorMessage", why.as_str());
    Object::new().raw("partialSuccess", &partial.end()).end().into()
}
