//! OpenTelemetry (OTLP) over gRPC: one question, one answer, over HTTP/2 on the same port as everything else.
//!
//! Of gRPC this needs five bytes before each message and a status behind it, so it is spoken by hand.

use super::answer::Answer;
use super::body;
use super::otlp::{to, unread, unusable};
use crate::ingest::Packing;
use crate::otlp::{self, Outcome, Signal, Wrong};
use crate::server::Shared;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, Response, header};
use hyper::body::Frame;
use std::borrow::Cow;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Instant;

const STATUS: HeaderName = HeaderName::from_static("grpc-status");
const MESSAGE: HeaderName = HeaderName::from_static("grpc-message");

/// Exports traces.
pub async fn traces(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Answer {
    answer(&shared, Signal::Traces, request).await
}

/// Exports logs.
pub async fn logs(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Answer {
    answer(&shared, Signal::Logs, request).await
}

async fn answer(shared: &Arc<Shared>, signal: Signal, request: Request<Body>) -> Answer {
    let began = Instant::now();
    let taken = take(shared, signal, request).await;
    if matches!(taken, Err(Wrong::Later(_) | Wrong::Busy(_))) {
        shared.figures.turned_away.fetch_add(1, Ordering::Relaxed);
    }
    shared.figures.ingested(began.elapsed());
    told(taken)
}

async fn take(shared: &Arc<Shared>, signal: Signal, request: Request<Body>) -> Result<Outcome, Wrong> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if !kind.is_some_and(|kind| kind.starts_with("application/grpc")) {
        let found = kind.unwrap_or_default();
        return Err(Wrong::Kind(format!("Content-Type: found `{found}`, expected application/grpc")));
    }
    let to = to(shared, None, &request);
    let encoding =
        request.headers().get("grpc-encoding").map(|value| value.to_str().unwrap_or("?").to_string());
    let packing = Packing::named(encoding.as_deref());
    let limits = shared.config.limits;
    let (body, mut held) = body::gather(shared, request.into_body(), limits.body).await.map_err(unread)?;
    let message = match message(&body)? {
        (true, message) => match packing {
            Some(packing) => (packing, message),
            None => {
                let found = encoding.unwrap_or_default();
                return Err(Wrong::Kind(format!(
                    "grpc-encoding: found `{found}`, expected gzip, zstd or none"
                )));
            }
        },
        (false, message) => (Packing::Plain, message),
    };
    let unpack = || -> Result<Cow<'_, [u8]>, Wrong> {
        let (packing, message) = message;
        packing.unpack(message, limits.unpacked, &mut held).map_err(unusable)
    };
    otlp::take(shared, signal, false, &to, body.len(), unpack).await
}

/// The one message of a body, and whether it is packed.
fn message(body: &[u8]) -> Result<(bool, &[u8]), Wrong> {
    let unread = |why: &str| Err(Wrong::Unread(format!("{why}, expected one message of gRPC")));
    let Some((&[packed, a, b, c, d], message)) = body.split_first_chunk() else {
        return unread("found a body of less than five bytes");
    };
    let length = u32::from_be_bytes([a, b, c, d]);
    match packed {
        _ if length as usize != message.len() => unread("found a body that is not as long as it says"),
        0 | 1 => Ok((packed == 1, message)),
        _ => unread("found a message of a form that there is not"),
    }
}

fn told(taken: Result<Outcome, Wrong>) -> Answer {
    let (mut trailers, mut data) = (HeaderMap::new(), None);
    match taken {
        Ok(outcome) => {
            let message = outcome.protobuf();
            let mut framed = vec![0];
            framed.extend_from_slice(&(message.len() as u32).to_be_bytes());
            framed.extend_from_slice(&message);
            data = Some(Bytes::from(framed));
            trailers.insert(STATUS, HeaderValue::from_static("0"));
        }
        Err(wrong) => {
            trailers.insert(STATUS, HeaderValue::from(wrong.code()));
            if let Ok(message) = HeaderValue::from_str(&escaped(wrong.why())) {
                trailers.insert(MESSAGE, message);
            }
            if matches!(wrong, Wrong::Busy(_)) {
                trailers.insert("retry-after", HeaderValue::from_static("1"));
            }
        }
    }
    let mut answer = Response::new(Body::new(Unary { data, trailers: Some(trailers) }));
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    answer
}

/// A text as gRPC puts it into a header.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b' '..=b'~' if byte != b'%' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// A message and what stands behind it.
struct Unary {
    data: Option<Bytes>,
    trailers: Option<HeaderMap>,
}

impl hyper::body::Body for Unary {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = self.data.take().map(Frame::data);
        Poll::Ready(data.or_else(|| self.trailers.take().map(Frame::trailers)).map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        self.data.is_none() && self.trailers.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_one_message() {
        assert_eq!(message(b"\0\0\0\0\x02ab").ok(), Some((false, &b"ab"[..])));
        assert_eq!(message(b"\x01\0\0\0\0").ok(), Some((true, &b""[..])));
        for bad in [&b""[..], b"\0\0\0\0", b"\0\0\0\0\x01", b"\0\0\0\0\0a", b"\x02\0\0\0\0"] {
            assert!(matches!(message(bad), Err(Wrong::Unread(_))), "{bad:?}");
        }
        assert_eq!(escaped("a b%\u{e9}\n"), "a b%25%C3%A9%0A");
    }
}
