//! Bodies within a budget: what arrives slowly, and what is read slowly, takes memory that others cannot have meanwhile.

use super::answer::{Answer, error, later, of_kind};
use crate::limits::Held;
use crate::server::Shared;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::StatusCode;
use futures_util::{StreamExt, stream};
use std::convert::Infallible;

/// Bytes of a body that is not counted: there are no more of these than connections.
const SMALL: usize = 64 << 10;
/// What is said where there is no memory for a body now.
const BUSY: &str = "too many large bodies and answers are on their way";

/// Why a body cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// It is longer than this.
    TooLong(usize),
    /// Its sender went away.
    Cut,
    /// It did not come in time.
    TooSlow,
    /// There is no memory for it now.
    Busy,
}

impl std::fmt::Display for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unread::TooLong(limit) => write!(f, "the body is longer than {limit} bytes"),
            Unread::Cut => f.write_str("the body is not whole"),
            Unread::TooSlow => f.write_str("the body did not arrive in time"),
            Unread::Busy => f.write_str(BUSY),
        }
    }
}

/// Reads a body of a request, or has the answer to who sent it. It is held as long as the second part of what is returned.
pub async fn read(shared: &Shared, body: Body, limit: usize) -> Result<(Bytes, Held), Box<Answer>> {
    gather(shared, body, limit).await.map_err(|why| {
        let status = match why {
            Unread::TooLong(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Unread::Cut => StatusCode::BAD_REQUEST,
            Unread::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Unread::Busy => return Box::new(busy()),
        };
        Box::new(error(status, &why.to_string()))
    })
}

/// Reads a body of a request.
pub async fn gather(shared: &Shared, body: Body, limit: usize) -> Result<(Bytes, Held), Unread> {
    let mut held = shared.budget.hold();
    let read = tokio::time::timeout(shared.config.limits.patience, pieces(body, limit, &mut held)).await;
    read.unwrap_or(Err(Unread::TooSlow)).map(|body| (body, held))
}

async fn pieces(body: Body, limit: usize, held: &mut Held) -> Result<Bytes, Unread> {
    let said = body.size_hint().exact();
    if said.is_some_and(|said| said > limit as u64) {
        return Err(Unread::TooLong(limit));
    }
    if said.is_some_and(|said| said <= SMALL as u64) {
        return axum::body::to_bytes(body, SMALL).await.map_err(|_| Unread::Cut);
    }
    let (mut pieces, mut whole) = (body.into_data_stream(), Vec::new());
    while let Some(piece) = pieces.next().await {
        let Ok(piece) = piece else { return Err(Unread::Cut) };
        if whole.len() + piece.len() > limit {
            return Err(Unread::TooLong(limit));
        }
        let more = piece.len().max(if whole.is_empty() { SMALL } else { 0 });
        if !held.grow(more) {
            return Err(Unread::Busy);
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole.into())
}

/// An answer that does not depend on the body. That is taken first, as far as one may be long, and dropped: who is answered before
/// everything is sent finds a connection that is gone, and no answer.
pub async fn unread(shared: &Shared, body: Body, answer: Answer) -> Answer {
    let limits = shared.config.limits;
    let drop_all = async {
        let (mut pieces, mut left) = (body.into_data_stream(), limits.body);
        while let Some(Ok(piece)) = pieces.next().await {
            match left.checked_sub(piece.len()) {
                Some(less) => left = less,
                None => return,
            }
        }
    };
    // Whether it came in time or not: the answer is the same.
    let _ = tokio::time::timeout(limits.patience, drop_all).await;
    answer
}

/// There is no memory for it now.
pub fn busy() -> Answer {
    later(StatusCode::SERVICE_UNAVAILABLE, BUSY)
}

/// An answer that is held as long as it is on its way.
pub fn holding(kind: &'static str, body: Vec<u8>, mut held: Held) -> Answer {
    if body.len() <= SMALL {
        return of_kind(StatusCode::OK, kind, body);
    }
    if !held.grow(body.len()) {
        return busy();
    }
    let pieces = stream::unfold((Bytes::from(body), held), |(mut rest, held)| async move {
        let piece = rest.split_to(rest.len().min(SMALL));
        (!piece.is_empty()).then_some((Ok::<_, Infallible>(piece), (rest, held)))
    });
    of_kind(StatusCode::OK, kind, Body::from_stream(pieces))
}
