//! Feeds: what is told, the moment it is, as server-sent events or over a WebSocket.
//!
//! With `since` (or the header that a browser sends when it comes back) the violations from that number on come first. Who
//! reads slower than is told misses something, and is told that.

use super::answer::Answer;
use super::found::{filter, number};
use crate::server::Shared;
use crate::tokens::Rights;
use crate::verdicts::{Filter, Told};
use axum::body::{Body, Bytes};
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use futures_util::future::{Either, select};
use futures_util::stream;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

/// How often a silent feed shows that it is there.
const BEAT: Duration = Duration::from_secs(15);
/// Violations of the past in one go.
const PAST: usize = 1000;
/// Bytes that are put into one piece.
const PIECE: usize = 64 << 10;

/// Who listens.
struct Listener {
    shared: Arc<Shared>,
    news: Receiver<Arc<Told>>,
    filter: Filter,
    /// Violations from this number on were not told yet; none before.
    next: Option<u64>,
    waiting: VecDeque<Arc<Told>>,
}

/// What comes next.
enum Next {
    Told(Arc<Told>),
    /// So many were missed.
    Missed(u64),
    /// Nothing, for a while.
    Beat,
    Over,
}

impl Listener {
    fn new(
        shared: Arc<Shared>,
        query: Option<&str>,
        rights: Rights,
        headers: &HeaderMap,
    ) -> Result<Self, Box<Answer>> {
        let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse::<u64>().ok());
        let since = number(query, "since")?;
        // First listen, then look back: nothing falls in between.
        let news = shared.verdicts.listen();
        let next = last.map(|last| last + 1).or(since);
        Ok(Self { news, filter: filter(query, rights), next, waiting: VecDeque::new(), shared })
    }

    /// Of what is told, what this one wants and does not have.
    fn takes(&mut self, told: &Told) -> bool {
        if let (Some(next), Some(number)) = (self.next, told.number) {
            // An older one was told; before a later one some were missed, and the log has them all.
            if number != next {
                return false;
            }
            self.next = Some(number + 1);
        }
        self.filter.takes(&told.stream, &told.property)
    }

    async fn look_back(&mut self) {
        let Some(next) = self.next else { return };
        if !self.waiting.is_empty() || next >= self.shared.verdicts.end() {
            return;
        }
        let (shared, filter) = (self.shared.clone(), self.filter.clone());
        let list = move || shared.verdicts.list(&filter, next, PAST);
        if let Ok(Ok((found, next))) = tokio::task::spawn_blocking(list).await {
            self.waiting.extend(found);
            self.next = Some(next);
        }
    }

    async fn next(&mut self) -> Next {
        self.look_back().await;
        loop {
            // A token that is none any more.
            if self.filter.rights.as_ref().is_some_and(Rights::over) {
                return Next::Over;
            }
            if let Some(told) = self.waiting.pop_front() {
                return Next::Told(told);
            }
            match tokio::time::timeout(BEAT, self.news.recv()).await {
                Err(_) => return Next::Beat,
                Ok(Ok(told)) if self.takes(&told) => return Next::Told(told),
                Ok(Ok(_)) => {}
                Ok(Err(RecvError::Lagged(missed))) => return Next::Missed(missed),
                Ok(Err(RecvError::Closed)) => return Next::Over,
            }
        }
    }

    /// What comes next, if it is there already.
    fn ready(&mut self) -> Option<Next> {
        loop {
            if let Some(told) = self.waiting.pop_front() {
                return Some(Next::Told(told));
            }
            match self.news.try_recv() {
                Ok(told) if self.takes(&told) => return Some(Next::Told(told)),
                Ok(_) => {}
                Err(TryRecvError::Lagged(missed)) => return Some(Next::Missed(missed)),
                Err(_) => return None,
            }
        }
    }
}

fn write_event(next: &Next, out: &mut String) {
    match next {
        Next::Told(told) => {
            if let Some(number) = told.number {
                out.push_str(&format!("id: {number}\n"));
            }
            out.extend(["event: ", told.kind, "\ndata: ", &told.json, "\n\n"]);
        }
        Next::Missed(missed) => out.push_str(&format!("event: missed\ndata: {{\"missed\":{missed}}}\n\n")),
        Next::Beat => out.push_str(": here\n\n"),
        Next::Over => {}
    }
}

/// `GET /v1/feed`.
pub async fn events(
    State(shared): State<Arc<Shared>>,
    RawQuery(query): RawQuery,
    rights: Rights,
    headers: HeaderMap,
) -> Answer {
    let listener = match Listener::new(shared, query.as_deref(), rights, &headers) {
        Ok(listener) => listener,
        Err(answer) => return *answer,
    };
    let pieces = stream::unfold((listener, true), |(mut listener, first)| async move {
        let mut text = String::new();
        if first {
            // So that the client knows that it listens.
            text.push_str(": listening\n\n");
            return Some((Ok::<_, Infallible>(Bytes::from(text)), (listener, false)));
        }
        let mut next = listener.next().await;
        loop {
            if matches!(next, Next::Over) {
                return (!text.is_empty()).then_some((Ok(Bytes::from(text)), (listener, false)));
            }
            write_event(&next, &mut text);
            // What is taken is told: no piece is full before it is known that there is more.
            let more = if text.len() < PIECE { listener.ready() } else { None };
            match more {
                Some(more) => next = more,
                None => return Some((Ok(Bytes::from(text)), (listener, false))),
            }
        }
    });
    let mut answer = Response::new(Body::from_stream(pieces));
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    *answer.status_mut() = StatusCode::OK;
    answer
}

/// `GET /v1/feed/ws`: objects `{"kind": …, "number": …, "told": …}`.
pub async fn socket(
    State(shared): State<Arc<Shared>>,
    RawQuery(query): RawQuery,
    rights: Rights,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response<Body> {
    let listener = match Listener::new(shared, query.as_deref(), rights, &headers) {
        Ok(listener) => listener,
        Err(answer) => return *answer,
    };
    upgrade.max_message_size(1 << 16).on_upgrade(move |socket| speak(socket, listener))
}

async fn speak(mut socket: WebSocket, mut listener: Listener) {
    loop {
        // What the client says is read for the sake of its farewell alone.
        let next = {
            let told = std::pin::pin!(listener.next());
            let said = std::pin::pin!(socket.recv());
            match select(told, said).await {
                Either::Left((next, _)) => next,
                Either::Right((Some(Ok(Message::Close(_)) | Err(_)) | None, _)) => return,
                Either::Right(_) => continue,
            }
        };
        let message = match next {
            Next::Told(told) => {
                let number = told.number.map_or("null".to_string(), |number| number.to_string());
                let text =
                    format!("{{\"kind\":\"{}\",\"number\":{number},\"told\":{}}}", told.kind, told.json);
                Message::Text(text.into())
            }
            Next::Missed(missed) => {
                Message::Text(format!("{{\"kind\":\"missed\",\"missed\":{missed}}}").into())
            }
            Next::Beat => Message::Ping(Bytes::new()),
            Next::Over => return,
        };
        if socket.send(message).await.is_err() {
            return;
        }
    }
}
