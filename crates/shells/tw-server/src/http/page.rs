//! What is there for people and machines that look after the server.

use super::answer::{Answer, error, json, of_kind};
use crate::metrics;
use crate::server::Shared;
use crate::tokens::Rights;
use axum::extract::State;
use axum::http::StatusCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tracewise::findings::json::{Object, array};

/// `GET /healthz`: the process runs; which sources do not is said.
pub async fn healthy(State(shared): State<Arc<Shared>>) -> Answer {
    let sources = shared.sources();
    let failing = sources.iter().filter(|source| !source.state().connected);
    let failing: Vec<String> = failing.map(|source| format!("\"{}\"", source.config.name)).collect();
    let object = Object::new().field("status", "ok");
    let object = match failing.is_empty() {
        true => object,
        false => object.raw("sources_failing", &array(failing)),
    };
    let alone = shared.cluster.as_ref().and_then(|cluster| cluster.view().why.clone());
    let object = object.maybe("cluster_failing", alone);
    json(StatusCode::OK, object.end())
}

/// `GET /readyz`: events can be taken.
pub async fn ready(State(shared): State<Arc<Shared>>) -> Answer {
    if shared.ending.load(Ordering::SeqCst) {
        return error(StatusCode::SERVICE_UNAVAILABLE, "the server is ending");
    }
    let failing =
        shared.streams().iter().find_map(|stream| Some((stream.name.clone(), stream.commit.failing()?)));
    match failing {
        // Who asks need not have a token.
        Some(_) if shared.guarded() => {
            error(StatusCode::SERVICE_UNAVAILABLE, "a stream cannot be written to disk")
        }
        Some((name, why)) => {
            error(StatusCode::SERVICE_UNAVAILABLE, &format!("stream {name} cannot be written to disk: {why}"))
        }
        None => json(StatusCode::OK, r#"{"status":"ok"}"#),
    }
}

/// `GET /metrics`.
pub async fn metrics(State(shared): State<Arc<Shared>>, rights: Rights) -> Answer {
    match tokio::task::spawn_blocking(move || metrics::text(&shared, &rights)).await {
        Ok(text) => of_kind(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", text),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "the figures cannot be read"),
    }
}

/// `GET /openapi.json`.
pub async fn openapi() -> Answer {
    json(StatusCode::OK, include_str!("openapi.json"))
}
