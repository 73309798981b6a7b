//! Lines that flow: `POST /v1/streams/NAME/events/flow`, a body that may be as long as its sender likes and is answered at its end,
//! and `GET /v1/streams/NAME/events/ws`, messages of lines over a WebSocket, each of which is answered.
//!
//! What has arrived is taken at once, whatever comes later: a flow is no unit. Where the stream has no room, nothing more is read until
//! there is.

use super::answer::{Answer, error, json};
use super::events::{how, without};
use crate::intake::{Given, How, Intake, NotTaken, OnTheWay, first_error};
use crate::log::Refused;
use crate::server::Shared;
use axum::body::{Body, BodyDataStream, Bytes};
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, RawQuery, State};
use axum::http::{Request, StatusCode, header};
use axum::response::Response;
use futures_util::{SinkExt, StreamExt};
use memchr::{memchr_iter, memrchr};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tracewise::findings::json::Object;

/// Messages whose lines may be on their way to the disk.
const MESSAGES: usize = 256;
/// How long more is read of a flow that was ended, so that its sender hears why.
const FAREWELL: Duration = Duration::from_secs(1);

fn intake(shared: &Shared, name: &str) -> Result<Intake, Box<Answer>> {
    Intake::new(shared, name).map_err(|why| Box::new(without(why)))
}

/// A body that flows.
struct Flow {
    intake: Intake,
    how: How,
    /// Bytes that one line may have.
    longest: usize,
    /// The line that has not ended.
    open: Vec<u8>,
    on_the_way: OnTheWay,
    /// Lines that came before those at hand, …
    lines: u64,
    /// … positions that are known to be where they are asked to be, …
    taken: u64,
    /// … and lines that were left out.
    bad: u64,
}

/// Why a flow ends before its end.
struct Ended {
    status: StatusCode,
    why: String,
}

impl Ended {
    fn of(why: NotTaken, lines: u64) -> Self {
        let status = match &why {
            NotTaken::Behind(_) | NotTaken::Refused(Refused::Busy) => StatusCode::TOO_MANY_REQUESTS,
            NotTaken::Refused(_) => StatusCode::SERVICE_UNAVAILABLE,
            NotTaken::Bad(_) | NotTaken::Unread(_) => StatusCode::BAD_REQUEST,
        };
        let why = match &why {
            NotTaken::Bad(arrived) => first_error(arrived, lines),
            other => other.to_string(),
        };
        Self { status, why }
    }

    fn refused(why: Refused) -> Self {
        Self::of(NotTaken::Refused(why), 0)
    }
}

impl Flow {
    /// Takes what has come.
    async fn take(&mut self, bytes: &[u8], shared: &Shared) -> Result<(), Ended> {
        let Some(end) = memrchr(b'\n', bytes) else {
            self.open.extend_from_slice(bytes);
            return self.within();
        };
        let (whole, rest) = bytes.split_at(end + 1);
        if self.open.is_empty() {
            self.give(whole, shared).await?;
        } else {
            let mut joined = std::mem::take(&mut self.open);
            joined.extend_from_slice(whole);
            self.give(&joined, shared).await?;
        }
        self.open.extend_from_slice(rest);
        self.within()
    }

    fn within(&self) -> Result<(), Ended> {
        match self.open.len() > self.longest {
            true => Err(Ended {
                status: StatusCode::BAD_REQUEST,
                why: format!(
                    "line {}: it is longer than {} bytes, the most that is accepted",
                    self.lines + 1,
                    self.longest
                ),
            }),
            false => Ok(()),
        }
    }

    async fn give(&mut self, lines: &[u8], shared: &Shared) -> Result<(), Ended> {
        let patience = shared.config.limits.idle;
        let given = match self.intake.give(lines, self.how, patience).await {
            Ok(given) => given,
            // Those before the first bad one are good.
            Err(NotTaken::Bad(arrived)) => {
                let good = arrived.bad.first().map_or(0, |first| *first as usize - 1);
                let end = good.checked_sub(1).and_then(|last| memchr_iter(b'\n', lines).nth(last));
                if let Some(end) = end {
                    let given = self.intake.give(&lines[..=end], self.how, patience).await;
                    let given = given.map_err(|why| Ended::of(why, self.lines))?;
                    self.count(given).await?;
                }
                return Err(Ended::of(NotTaken::Bad(arrived), self.lines));
            }
            Err(why) => return Err(Ended::of(why, self.lines)),
        };
        self.lines += given.arrived.lines;
        self.count(given).await
    }

    async fn count(&mut self, given: Given) -> Result<(), Ended> {
        self.bad += given.arrived.bad.len() as u64;
        self.taken += self.on_the_way.push(given).await.map_err(Ended::refused)?;
        Ok(())
    }

    /// Waits for what is on its way.
    async fn end(&mut self) -> Result<(), Ended> {
        while !self.on_the_way.is_empty() {
            self.taken += self.on_the_way.first().await.map_err(Ended::refused)?;
        }
        Ok(())
    }
}

/// A body that flows.
pub async fn post(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    request: Request<Body>,
) -> Answer {
    let packed = request.headers().get(header::CONTENT_ENCODING);
    if packed.is_some_and(|packed| packed != "identity") {
        return error(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "Content-Encoding: a body that flows is lines of JSON as they are; `…/events` takes packed ones",
        );
    }
    let prepared = how(request.uri().query()).and_then(|how| Ok((how, intake(&shared, &name)?)));
    let (how, intake) = match prepared {
        Ok(prepared) => prepared,
        Err(answer) => return *answer,
    };
    let longest = shared.config.limits.line;
    let mut flow = Flow {
        intake,
        how,
        longest,
        open: Vec::new(),
        on_the_way: OnTheWay::default(),
        lines: 0,
        taken: 0,
        bad: 0,
    };
    let mut pieces = request.into_body().into_data_stream();
    let flowed = flowed(&mut flow, &mut pieces, &shared).await;
    let ended = flow.end().await;
    if flowed.is_err() {
        // An answer is lost where what follows it is not read.
        let rest = async { while let Some(Ok(_)) = pieces.next().await {} };
        let _ = tokio::time::timeout(FAREWELL, rest).await;
    }
    let (status, why) = match flowed.and(ended) {
        Ok(()) if how.durable => (StatusCode::OK, None),
        Ok(()) => (StatusCode::ACCEPTED, None),
        Err(Ended { status, why }) => (status, Some(why)),
    };
    let mut object = Object::new();
    if let Some(why) = why {
        object = object.field("error", why);
    }
    let bad = (flow.bad > 0).then_some(flow.bad);
    json(status, object.field("taken", flow.taken).maybe("bad_lines", bad).end())
}

async fn flowed(flow: &mut Flow, pieces: &mut BodyDataStream, shared: &Shared) -> Result<(), Ended> {
    loop {
        let over = |status, why: &str| Err(Ended { status, why: why.into() });
        match tokio::time::timeout(shared.config.limits.idle, pieces.next()).await {
            Ok(Some(Ok(piece))) => flow.take(&piece, shared).await?,
            Ok(Some(Err(_))) => return over(StatusCode::BAD_REQUEST, "the body is not whole"),
            Ok(None) => break,
            Err(_) => return over(StatusCode::REQUEST_TIMEOUT, "nothing came for long"),
        }
    }
    // The last line needs no end.
    match std::mem::take(&mut flow.open) {
        rest if rest.is_empty() => Ok(()),
        mut rest => {
            rest.push(b'\n');
            flow.give(&rest, shared).await
        }
    }
}

/// Messages of lines.
pub async fn socket(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
    upgrade: WebSocketUpgrade,
) -> Response<Body> {
    let prepared = how(query.as_deref()).and_then(|how| Ok((how, intake(&shared, &name)?)));
    match prepared {
        Ok((how, intake)) => {
            let limits = shared.config.limits;
            let most = limits.unpacked.min(16 << 20).max(limits.line);
            upgrade
                .max_message_size(most)
                .max_frame_size(most)
                .on_upgrade(move |socket| hear(socket, shared, intake, how))
        }
        Err(answer) => *answer,
    }
}

/// What is to be answered to a message.
enum Reply {
    /// When its lines are on disk.
    Given(Given),
    /// That they were not taken.
    Not(NotTaken),
}

async fn hear(socket: WebSocket, shared: Arc<Shared>, intake: Intake, how: How) {
    let (mut out, mut messages) = socket.split();
    let (replies, mut waiting) = mpsc::channel::<Reply>(MESSAGES);
    // Answers are given in the order of the messages, while others come in.
    let answering = tokio::spawn(async move {
        while let Some(reply) = waiting.recv().await {
            let mut message = answered(reply).await;
            // What can be answered already goes out with it.
            while let Ok(next) = waiting.try_recv() {
                if out.feed(message).await.is_err() {
                    return;
                }
                message = answered(next).await;
            }
            if out.send(message).await.is_err() {
                return;
            }
        }
        let _ = out.close().await;
    });
    let idle = shared.config.limits.idle;
    while let Ok(Some(Ok(message))) = tokio::time::timeout(idle, messages.next()).await {
        let bytes = match message {
            Message::Text(text) => Bytes::from(text),
            Message::Binary(bytes) => bytes,
            // The library answers a ping by itself.
            Message::Ping(_) | Message::Pong(_) => continue,
            Message::Close(_) => break,
        };
        // The last line needs no end.
        let given = match bytes.last() {
            None | Some(b'\n') => intake.give(&bytes, how, idle).await,
            Some(_) => intake.give(&[&bytes, &b"\n"[..]].concat(), how, idle).await,
        };
        let reply = match given {
            Ok(given) => Reply::Given(given),
            Err(why) => Reply::Not(why),
        };
        if replies.send(reply).await.is_err() {
            break;
        }
    }
    drop(replies);
    // A client that reads nothing more is not waited for.
    let _ = tokio::time::timeout(shared.config.limits.patience, answering).await;
}

async fn answered(reply: Reply) -> Message {
    let not = |why: NotTaken| Object::new().field("error", why.to_string()).field("taken", 0_u64).end();
    let text = match reply {
        Reply::Not(why) => not(why),
        Reply::Given(given) => match given.written().await {
            Ok(arrived) => {
                let bad = (!arrived.bad.is_empty()).then_some(arrived.bad.len());
                Object::new().field("taken", arrived.positions).maybe("bad_lines", bad).end()
            }
            Err(why) => not(NotTaken::Refused(why)),
        },
    };
    Message::Text(text.into())
}
