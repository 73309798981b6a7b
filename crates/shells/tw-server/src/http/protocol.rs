//! HTTP/1 or HTTP/2, which gRPC is spoken over: the first bytes of a connection say which.

use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

/// How connections of HTTP/2 begin, and no request of HTTP/1.
const HTTP2: &[u8; 4] = b"PRI ";
/// What one connection of HTTP/2 may ask at once, and bytes of it that may come unread.
const STREAMS: u32 = 32;
const WINDOW: u32 = 1 << 20;

/// A connection whose first bytes were looked at.
pub struct Begun<S> {
    first: [u8; 4],
    /// Of those, the ones that came, …
    came: usize,
    /// … and the ones that were read again.
    read: usize,
    stream: S,
}

impl<S: AsyncRead + Unpin> Begun<S> {
    /// Waits until it is known how a connection begins.
    pub async fn new(mut stream: S) -> io::Result<Self> {
        let (mut first, mut came) = ([0; 4], 0);
        while came < first.len() && first[..came] == HTTP2[..came] {
            match stream.read(&mut first[came..]).await? {
                0 => break,
                count => came += count,
            }
        }
        Ok(Self { first, came, read: 0, stream })
    }

    /// Whether it speaks HTTP/2.
    pub fn is_http2(&self) -> bool {
        self.first[..self.came] == *HTTP2
    }
}

/// For a connection that speaks HTTP/2: it holds no more of what it is sent than a window, before that is read.
pub fn http2(patience: Duration, head: usize) -> hyper::server::conn::http2::Builder<TokioExecutor> {
    let mut http = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
    http.timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .max_header_list_size(u32::try_from(head).unwrap_or(u32::MAX))
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .keep_alive_interval(patience)
        .keep_alive_timeout(patience);
    http
}

impl<S: AsyncRead + Unpin> AsyncRead for Begun<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let own = &mut *self;
        if own.read < own.came {
            let count = (own.came - own.read).min(buffer.remaining());
            buffer.put_slice(&own.first[own.read..own.read + count]);
            own.read += count;
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut own.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Begun<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
        Poll::Ready(Ok(()))
    }
}
