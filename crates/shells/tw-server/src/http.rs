//! Which path leads where. Connections come in by the [`door`], requests past the [`guard`].

mod access;
mod alerts;
mod answer;
mod assets;
mod body;
mod cluster;
mod door;
mod events;
mod feed;
mod flow;
mod found;
mod grpc;
mod guard;
mod look;
mod otlp;
mod page;
mod patient;
mod protocol;
mod sources;
mod specs;

use crate::server::Shared;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
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
        .route("/v1/streams/{name}/events/flow", post(flow::post))
        .route("/v1/streams/{name}/events/ws", get(flow::socket))
        .route("/v1/streams/{name}/otlp/v1/traces", post(otlp::traces_of))
        .route("/v1/streams/{name}/otlp/v1/logs", post(otlp::logs_of))
        .route("/v1/traces", post(otlp::traces))
        .route("/v1/logs", post(otlp::logs))
        .route("/opentelemetry.proto.collector.trace.v1.TraceService/Export", post(grpc::traces))
        .route("/opentelemetry.proto.collector.logs.v1.LogsService/Export", post(grpc::logs))
        .route("/v1/plan", get(cluster::plan))
        .route("/v1/sources", get(sources::list))
        .route("/v1/violations", get(found::violations))
        .route("/v1/properties", get(found::properties))
        .route("/v1/feed", get(feed::events))
        .route("/v1/feed/ws", get(feed::socket))
        .route("/v1/specs", get(specs::list))
        .route("/v1/specs/{name}", get(specs::get).put(specs::put).delete(specs::delete))
        .route("/v1/specs/{name}/try", post(specs::try_past))
        .merge(look::router())
        .merge(alerts::router())
        .fallback(answer::nowhere)
        .layer(axum::middleware::from_fn_with_state(shared.clone(), guard::guard))
        .layer(DefaultBodyLimit::disable())
        .with_state(shared)
}
