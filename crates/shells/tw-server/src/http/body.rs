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

/// Reads a body of a request. It is held as long as the second part of what is returned.
pub async fn read(shared: &Shared, body: Body, limit: usize) -> Result<(Bytes, Held), Box<Answer>> {
    let mut held = shared.budget.hold();
    let read = tokio::time::timeout(shared.config.limits.patience, pieces(body, limit, &mut held)).await;
    match read {
        Ok(Ok(body)) => Ok((body, held)),
        Ok(Err(answer)) => Err(answer),
        Err(_) => Err(Box::new(error(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time"))),
    }
}

async fn pieces(body: Body, limit: usize, held: &mut Held) -> Result<Bytes, Box<Answer>> {
    let too_long = || {
        let why = format!("the body is longer than {limit} bytes");
        Err(Box::new(error(StatusCode::PAYLOAD_TOO_LARGE, &why)))
    };
    let cut = || Err(Box::new(error(StatusCode::BAD_REQUEST, "the body is not whole")));
    let said = body.size_hint().exact();
    if said.is_some_and(|said| said > limit as u64) {
        return too_long();
    }
    if said.is_some_and(|said| said <= SMALL as u64) {
        return match axum::body::to_bytes(body, SMALL).await {
            Ok(body) => Ok(body),
            Err(_) => cut(),
        };
    }
    let (mut pieces, mut whole) = (body.into_data_stream(), Vec::new());
    while let Some(piece) = pieces.next().await {
        let Ok(piece) = piece else { return cut() };
        if whole.len() + piece.len() > limit {
            return too_long();
        }
        let more = piece.len().max(if whole.is_empty() { SMALL } else { 0 });
        if !held.grow(more) {
            return Err(Box::new(busy()));
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole.into())
}

/// There is no memory for it now.
pub fn busy() -> Answer {
    later(StatusCode::SERVICE_UNAVAILABLE, "too many large bodies and answers are on their way")
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
