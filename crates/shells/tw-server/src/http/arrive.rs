//! The body of a request, within its limits.

use crate::config::ClientLimits;
use axum::body::{Body, Bytes};

/// Why a body cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// It is not whole, or too large.
    TooLarge(String),
    /// It did not come in time.
    TooSlow(&'static str),
}

/// A whole body.
pub async fn body_of(body: Body, limits: ClientLimits) -> Result<Bytes, Unread> {
    match tokio::time::timeout(limits.patience, axum::body::to_bytes(body, limits.body)).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(_)) => {
            Err(Unread::TooLarge(format!("the body is not whole, or longer than {} bytes", limits.body)))
        }
        Err(_) => Err(Unread::TooSlow("the body did not arrive in time")),
    }
}
