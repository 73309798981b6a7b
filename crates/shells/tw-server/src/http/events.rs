//! `POST /v1/streams/NAME/events`.

use super::answer::{Answer, asked, error, json, later};
use super::body;
use crate::ingest::{Form, Packing, Unusable};
use crate::intake::How;
use crate::log::Refused;
use crate::names;
use crate::server::{NoStream, Shared};
use crate::stream::{Failed, Taken, would_begin};
use crate::words;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Request, StatusCode, header};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use tracewise::findings::json::{Object, array};
use tracewise::trace::{Arrived, TraceError};

/// Bytes above which a body is read on a thread that may take its time.
const LARGE: usize = 256 << 10;

/// What a query asks of lines.
pub fn how(query: Option<&str>) -> Result<How, Box<Answer>> {
    let bad = |what: &str, found: &str, expected: &str| {
        let why = format!("{what}: found `{found}`, expected {expected}");
        Err(Box::new(error(StatusCode::BAD_REQUEST, &why)))
    };
    let durable = match asked(query, "ack").as_deref() {
        None | Some("disk") => true,
        Some("memory") => false,
        Some(other) => return bad("ack", other, "`disk` or `memory`"),
    };
    let skip = match asked(query, "on-bad").as_deref() {
        None | Some("refuse") => false,
        Some("skip") => true,
        Some(other) => return bad("on-bad", other, "`refuse` or `skip`"),
    };
    Ok(How { durable, skip })
}

/// The answer where there is no stream.
pub fn without(why: NoStream) -> Answer {
    match why {
        NoStream::Name(why) => error(StatusCode::BAD_REQUEST, &why),
        NoStream::TooMany(limit) => {
            let why = format!("there are {limit} streams already, the most there may be");
            error(StatusCode::FORBIDDEN, &why)
        }
        NoStream::Io(why) => {
            later(StatusCode::SERVICE_UNAVAILABLE, &format!("the stream cannot be opened: {why}"))
        }
    }
}

/// What is asked of the lines of a body, and how they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Asked {
    how: How,
    packing: Packing,
    form: Form,
}

impl Asked {
    fn of(headers: &HeaderMap, query: Option<&str>) -> Result<Self, Box<Answer>> {
        let how = how(query)?;
        let encoding = headers.get(header::CONTENT_ENCODING).map(|value| value.to_str().unwrap_or("?"));
        let Some(packing) = Packing::named(encoding) else {
            let why = format!(
                "Content-Encoding: found `{}`, expected gzip, zstd or none",
                encoding.unwrap_or_default()
            );
            return Err(Box::new(error(StatusCode::UNSUPPORTED_MEDIA_TYPE, &why)));
        };
        let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        Ok(Self { how, packing, form: Form::named(kind) })
    }
}

/// Why no line of a body was taken.
enum NotTaken {
    Unusable(Unusable),
    NoStream(NoStream),
    Failed(Failed),
}

impl From<Unusable> for NotTaken {
    fn from(why: Unusable) -> Self {
        NotTaken::Unusable(why)
    }
}

impl From<NoStream> for NotTaken {
    fn from(why: NoStream) -> Self {
        NotTaken::NoStream(why)
    }
}

impl From<Failed> for NotTaken {
    fn from(why: Failed) -> Self {
        NotTaken::Failed(why)
    }
}

/// Takes events.
pub async fn post(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    request: Request<Body>,
) -> Answer {
    let began = Instant::now();
    let answer = taken(&shared, &name, request).await;
    if matches!(answer.status(), StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
        shared.figures.turned_away.fetch_add(1, Ordering::Relaxed);
    }
    shared.figures.ingested(began.elapsed());
    answer
}

async fn taken(shared: &Arc<Shared>, name: &str, request: Request<Body>) -> Answer {
    let asked = Asked::of(request.headers(), request.uri().query());
    let body = request.into_body();
    let Asked { how, packing, form } = match asked {
        Ok(asked) => asked,
        Err(answer) => return body::unread(shared, body, *answer).await,
    };
    let limits = shared.config.limits;
    let known = shared.known(name);
    if let (None, Err(why)) = (&known, names::check("stream", name)) {
        return body::unread(shared, body, without(NoStream::Name(why))).await;
    }
    if known.as_ref().is_some_and(|stream| stream.behind() > limits.behind) {
        let why = format!("more than {} lines wait to be judged", limits.behind);
        let answer = later(StatusCode::TOO_MANY_REQUESTS, &why);
        return body::unread(shared, body, answer).await;
    }
    let (body, mut held) = match body::read(shared, body, limits.body).await {
        Ok(read) => read,
        Err(answer) => return *answer,
    };
    let (mut receipt, mut waits) = (None, None);
    if how.durable {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        // Who asked may be gone.
        let send = move |written| drop(sender.send(written));
        receipt = Some(Box::new(send) as crate::log::Receipt);
        waits = Some(receiver);
    }
    let large = body.len() > LARGE;
    let work = move || -> Result<(Taken, u64), NotTaken> {
        let unpacked = packing.unpack(&body, limits.unpacked, &mut held)?;
        let (lines, left_out) = form.lines(unpacked, how.skip).map_err(Failed::Unread)?;
        // A stream begins with its first line, not with one that cannot be read.
        let stream = match known {
            Some(stream) => stream,
            None => match would_begin(&lines, limits.line, how.skip)? {
                None => shared.stream(name)?,
                Some(taken) => {
                    receipt.into_iter().for_each(|receipt| receipt(Ok(())));
                    return Ok((taken, left_out));
                }
            },
        };
        Ok((stream.take(&lines, how.skip, receipt)?, left_out))
    };
    // What takes long does not hold up others.
    let taken = if large { tokio::task::block_in_place(work) } else { work() };
    let (arrived, left_out) = match taken {
        Err(NotTaken::Unusable(Unusable::TooLarge(limit))) => {
            let why = format!("the body holds more than {limit} bytes when it is unpacked");
            return error(StatusCode::PAYLOAD_TOO_LARGE, &why);
        }
        Err(NotTaken::Unusable(Unusable::Busy)) => return body::busy(),
        Err(NotTaken::Unusable(Unusable::Damaged(why))) => {
            return error(StatusCode::BAD_REQUEST, &format!("the body is not packed as it says: {why}"));
        }
        Err(NotTaken::NoStream(why)) => return without(why),
        Err(NotTaken::Failed(Failed::Refused(why))) => return refused(&why),
        Err(NotTaken::Failed(Failed::Unread(why))) => {
            return error(StatusCode::BAD_REQUEST, &words::error(&why));
        }
        Ok((Taken::Bad(arrived), _)) => return bad_lines(&arrived),
        Ok((Taken::Lines(arrived), left_out)) => (arrived, left_out),
    };
    let mut status = StatusCode::ACCEPTED;
    if let Some(written) = waits {
        match written.await {
            Ok(Ok(())) => status = StatusCode::OK,
            Ok(Err(why)) => return refused(&why),
            Err(_) => return refused(&Refused::Closing),
        }
    }
    let left_out = (left_out > 0).then_some(left_out);
    json(status, told(&arrived, arrived.positions).maybe("left_out", left_out).end())
}

fn refused(why: &Refused) -> Answer {
    match why {
        Refused::Busy => later(StatusCode::TOO_MANY_REQUESTS, "too much waits to be written"),
        Refused::Closing => later(StatusCode::SERVICE_UNAVAILABLE, "the server is ending"),
        Refused::Disk(why) => {
            later(StatusCode::SERVICE_UNAVAILABLE, &format!("the events cannot be written to disk: {why}"))
        }
    }
}

fn told(arrived: &Arrived, taken: u64) -> Object {
    let object = Object::new().field("taken", taken);
    if arrived.bad.is_empty() {
        return object;
    }
    let line = |error: &TraceError| {
        let object = Object::new().field("line", error.line).maybe("column", error.column);
        object.field("message", error.message.as_str()).end()
    };
    let lines = array(arrived.errors.iter().map(line));
    object.field("bad_lines", arrived.bad.len()).raw("bad", &lines)
}

fn bad_lines(arrived: &Arrived) -> Answer {
    let first = arrived.errors.first();
    let place = first.map_or(String::new(), |first| match (first.line, first.column) {
        (Some(line), Some(column)) => format!("line {line}, column {column}: {}", first.message),
        (Some(line), None) => format!("line {line}: {}", first.message),
        _ => first.message.clone(),
    });
    let why = format!("{place}; no line was taken (`?on-bad=skip` takes the others)");
    let object = Object::new().field("error", why).end();
    let rest = told(arrived, 0).end();
    json(StatusCode::BAD_REQUEST, format!("{},{}", &object[..object.len() - 1], &rest[1..]))
}
