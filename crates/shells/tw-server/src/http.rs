//! The door: connections, and which path leads where.

mod answer;
mod assets;
mod cluster;
mod events;
mod feed;
mod found;
mod guard;
mod look;
mod page;
mod sources;
mod specs;

use crate::server::Shared;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::get;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Bytes of a request's head.
const HEAD: usize = 64 << 10;
/// How long a head may take to arrive, and how long a connection may be idle.
const HEAD_PATIENCE: Duration = Duration::from_secs(30);

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
        .route("/v1/plan", get(cluster::plan))
        .route("/v1/sources", get(sources::list))
        .route("/v1/violations", get(found::violations))
        .route("/v1/properties", get(found::properties))
        .route("/v1/feed", get(feed::events))
        .route("/v1/feed/ws", get(feed::socket))
        .route("/v1/specs", get(specs::list))
        .route("/v1/specs/{name}", get(specs::get).put(specs::put).delete(specs::delete))
        .route("/v1/specs/{name}/try", axum::routing::post(specs::try_past))
        .merge(look::router())
        .fallback(answer::nowhere)
        .layer(axum::middleware::from_fn(guard::guard))
        .layer(DefaultBodyLimit::disable())
        .with_state(shared)
}

/// Serves connections as they come.
pub async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let service = TowerToHyperService::new(router(shared.clone()));
    let room = Arc::new(Semaphore::new(shared.config.limits.connections));
    loop {
        // Who comes when there is no room waits before the door, where it costs nothing here.
        let Ok(place) = room.clone().acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(_) => {
                // No more files may be open, say: others will be closed.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        let service = service.clone();
        tokio::spawn(async move {
            let mut http = hyper::server::conn::http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEAD_PATIENCE).max_buf_size(HEAD);
            let served = http.serve_connection(TokioIo::new(stream), service).with_upgrades().await;
            // A client that goes away in between is no fault of ours.
            drop(served);
            drop(place);
        });
    }
}
