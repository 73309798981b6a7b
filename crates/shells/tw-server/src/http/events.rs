//! `POST /v1/streams/NAME/events`.

use super::answer::{Answer, asked, error, json, later};
use super::body::{Unread, body_of};
use crate::ingest::{Form, Packing, Unusable};
use crate::intake::{Given, How, Intake, NotTaken, first_error};
use crate::log::Refused;
use crate::server::{NoStream, Shared};
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

/// What is asked of the lines of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Asked {
    /// Acknowledged when they are on disk, not when they are in memory.
    durable: bool,
    /// Bad lines are left out.
    skip: bool,
    packing: Packing,
    form: Form,
}

impl Asked {
    fn of(headers: &HeaderMap, query: Option<&str>) -> Result<Self, Box<Answer>> {
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
        let encoding = headers.get(header::CONTENT_ENCODING).map(|value| value.to_str().unwrap_or("?"));
        let Some(packing) = Packing::named(encoding) else {
            let why = format!(
                "Content-Encoding: found `{}`, expected gzip, zstd or none",
                encoding.unwrap_or_default()
            );
            return Err(Box::new(error(StatusCode::UNSUPPORTED_MEDIA_TYPE, &why)));
        };
        let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        Ok(Self { durable, skip, packing, form: Form::named(kind) })
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
    let how = match Asked::of(request.headers(), request.uri().query()) {
        Ok(how) => how,
        Err(answer) => return *answer,
    };
    let intake = match Intake::new(shared, name) {
        Ok(intake) => intake,
        Err(NoStream::Name(why)) => return error(StatusCode::BAD_REQUEST, &why),
        Err(NoStream::TooMany(limit)) => {
            return error(
                StatusCode::FORBIDDEN,
                &format!("there are {limit} streams already, the most there may be"),
            );
        }
        Err(NoStream::Io(why)) => {
            return later(StatusCode::SERVICE_UNAVAILABLE, &format!("the stream cannot be opened: {why}"));
        }
    };
    if let Some(why) = intake.behind() {
        return not_taken(&why);
    }
    let limits = shared.config.limits;
    let body = match body_of(request.into_body(), limits).await {
        Ok(body) => body,
        Err(Unread::TooLarge(why)) => return error(StatusCode::PAYLOAD_TOO_LARGE, &why),
        Err(Unread::TooSlow(why)) => return error(StatusCode::REQUEST_TIMEOUT, why),
    };
    let work = || -> Result<Result<(Given, u64), NotTaken>, Unusable> {
        let unpacked = how.packing.unpack(&body, limits.unpacked)?;
        let (lines, left_out) = match how.form.lines(unpacked, how.skip) {
            Ok(lines) => lines,
            Err(why) => return Ok(Err(NotTaken::Unread(why))),
        };
        let how = How { durable: how.durable, skip: how.skip };
        Ok(intake.offer(&lines, how).map(|given| (given, left_out)))
    };
    // What takes long does not hold up others.
    let taken = if body.len() > LARGE { tokio::task::block_in_place(work) } else { work() };
    let (given, left_out) = match taken {
        Err(Unusable::TooLarge(limit)) => {
            let why = format!("the body holds more than {limit} bytes when it is unpacked");
            return error(StatusCode::PAYLOAD_TOO_LARGE, &why);
        }
        Err(Unusable::Damaged(why)) => {
            return error(StatusCode::BAD_REQUEST, &format!("the body is not packed as it says: {why}"));
        }
        Ok(Err(why)) => return not_taken(&why),
        Ok(Ok(given)) => given,
    };
    let arrived = match given.written().await {
        Ok(arrived) => arrived,
        Err(why) => return not_taken(&NotTaken::Refused(why)),
    };
    let status = if how.durable { StatusCode::OK } else { StatusCode::ACCEPTED };
    let left_out = (left_out > 0).then_some(left_out);
    json(status, told(&arrived, arrived.positions).maybe("left_out", left_out).end())
}

fn not_taken(why: &NotTaken) -> Answer {
    match why {
        NotTaken::Bad(arrived) => bad_lines(arrived),
        NotTaken::Unread(_) => error(StatusCode::BAD_REQUEST, &why.to_string()),
        NotTaken::Behind(_) | NotTaken::Refused(Refused::Busy) => {
            later(StatusCode::TOO_MANY_REQUESTS, &why.to_string())
        }
        NotTaken::Refused(_) => later(StatusCode::SERVICE_UNAVAILABLE, &why.to_string()),
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
    let place = first_error(arrived, 0);
    let why = format!("{place}; no line was taken (`?on-bad=skip` takes the others)");
    let object = Object::new().field("error", why).end();
    let rest = told(arrived, 0).end();
    json(StatusCode::BAD_REQUEST, format!("{},{}", &object[..object.len() - 1], &rest[1..]))
}
