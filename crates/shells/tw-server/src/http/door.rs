//! Connections: how many there may be, how long they may do nothing, with what they are secured.

use super::access::Peer;
use super::patient::Patient;
use super::protocol::{self, Begun};
use super::router;
use crate::limits::Places;
use crate::server::Shared;
use axum::Router;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// Bytes of a request's head.
const HEAD: usize = 64 << 10;
/// Those for whom there is no room and who are told so, at one time; others are let go without a word.
const TOLD: usize = 64;
/// How long that may take.
const FAREWELL: Duration = Duration::from_secs(1);

/// What who comes when there is no room is told.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-type: application/json\r\n\
                      content-length: 38\r\n\r\n{\"error\":\"there are no more places\"}\r\n";

/// Serves connections as they come.
pub async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let service = TowerToHyperService::new(router(shared.clone()));
    let limits = shared.config.limits;
    let room = Arc::new(Semaphore::new(limits.connections));
    let places = Places::new(limits.address);
    let told = Arc::new(Semaphore::new(TOLD));
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(_) => {
                // No more files may be open, say: others will be closed.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        let place = room.clone().try_acquire_owned().ok().zip(places.take(peer.ip()));
        let Some(place) = place else {
            shared.figures.turned_away.fetch_add(1, Ordering::Relaxed);
            if let (None, Ok(told)) = (&shared.tls, told.clone().try_acquire_owned()) {
                tokio::spawn(async move {
                    let _ = tokio::time::timeout(FAREWELL, turn_away(stream)).await;
                    drop(told);
                });
            }
            continue;
        };
        let (service, shared) = (service.clone(), shared.clone());
        tokio::spawn(async move {
            let patience = limits.patience;
            match shared.tls.as_ref().map(|tls| tls.acceptor()) {
                None => connection(stream, peer, service, patience).await,
                Some(acceptor) => {
                    if let Ok(Ok(stream)) = tokio::time::timeout(patience, acceptor.accept(stream)).await {
                        connection(stream, peer, service, patience).await;
                    }
                }
            }
            drop(place);
        });
    }
}

/// Serves what comes over one connection.
async fn connection<S>(stream: S, peer: SocketAddr, service: TowerToHyperService<Router>, patience: Duration)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Peer(peer));
        service.call(request)
    });
    // A client that goes away in between is no fault of ours.
    let Ok(Ok(stream)) = tokio::time::timeout(patience, Begun::new(Patient::new(stream, patience))).await
    else {
        return;
    };
    if stream.is_http2() {
        drop(protocol::http2(patience, HEAD).serve_connection(TokioIo::new(stream), service).await);
    } else {
        let mut http = hyper::server::conn::http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(patience).max_buf_size(HEAD);
        drop(http.serve_connection(TokioIo::new(stream), service).with_upgrades().await);
    }
}

/// Waits for the head of a request, so that the answer is not lost with what was not read, and says that there is no room.
async fn turn_away(mut stream: TcpStream) {
    let (mut head, mut piece) = (Vec::new(), [0; 4096]);
    while head.len() < HEAD && !head.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return,
            Ok(read) => head.extend_from_slice(&piece[..read]),
        }
    }
    if stream.write_all(FULL).await.is_ok() {
        let _ = stream.shutdown().await;
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_length_is_that_of_the_text() {
        let text = std::str::from_utf8(super::FULL).expect("text");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        assert!(head.contains(&format!("content-length: {}", body.len())), "{}", body.len());
    }
}
