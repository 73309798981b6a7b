//! `GET /v1/sources`: brokers that events are read from.

use super::answer::{Answer, json};
use crate::server::Shared;
use crate::sources::Source;
use axum::extract::State;
use axum::http::StatusCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tracewise::findings::json::{Object, array};

/// How each of them does. Who we are to it, and how we prove that, is not told.
pub async fn list(State(shared): State<Arc<Shared>>) -> Answer {
    let one = |source: &Arc<Source>| {
        let (config, state) = (&source.config, source.state());
        Object::new()
            .field("source", &*config.name)
            .field("kind", config.kind.name())
            .field("broker", config.address.host.as_str())
            .field("from", config.from.as_str())
            .field("stream", config.into.as_str())
            .field("connected", state.connected)
            .maybe("why", state.why.as_deref())
            .maybe("position", state.position.as_deref())
            .field("messages", source.messages.load(Ordering::Relaxed))
            .field("left_out", source.left_out.load(Ordering::Relaxed))
            .maybe("last_left_out", state.last_left_out.as_deref())
            .field("failures", source.failures.load(Ordering::Relaxed))
            .end()
    };
    json(StatusCode::OK, Object::new().raw("sources", &array(shared.sources().iter().map(one))).end())
}
