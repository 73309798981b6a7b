//! Which path leads where. Connections come in by the [`door`], requests past the [`guard`].

mod access;
mod alerts;
mod answer;
mod assets;
mod body;
mod door;
mod events;
mod feed;
mod found;
mod guard;
mod look;
mod page;
mod patient;
mod specs;

use crate::server::Shared;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::get;
use std::sync::Arc;

pub use access::Gatekeeper;
pub use door::serve;

/// All paths.
fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/", get(assets::index))
        .route("/page/{name}", get(assets::file))
        .route("/healthz", get(page::healthy))
        .route("/readyz", get(page::ready))
        .route("/metrics", get(page::metrics))
        .route("/openapi.json", get(page::openapi))
        .route("/v1/streams", get(found::streams))
        .route("/v1/streams/{name}/events", get(found::events).post(events::post))
        .route("/v1/violations", get(found::violations))
        .route("/v1/properties", get(found::properties))
        .route("/v1/feed", get(feed::events))
        .route("/v1/feed/ws", get(feed::socket))
        .route("/v1/specs", get(specs::list))
        .route("/v1/specs/{name}", get(specs::get).put(specs::put).delete(specs::delete))
        .route("/v1/specs/{name}/try", axum::routing::post(specs::try_past))
        .merge(look::router())
        .merge(alerts::router())
        .fallback(answer::nowhere)
        .layer(axum::middleware::from_fn_with_state(shared.clone(), guard::guard))
        .layer(DefaultBodyLimit::disable())
        .with_state(shared)
}
