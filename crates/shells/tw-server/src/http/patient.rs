//! A connection whose other side has to read: who takes nothing for a while is let go, and what waits for him with him.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// What is written to it goes through in time, or fails.
pub struct Patient<T> {
    inner: T,
    patience: Duration,
    /// Begun when nothing more could be written.
    stuck: Option<Pin<Box<Sleep>>>,
}

impl<T> Patient<T> {
    /// Waits so long for a write.
    pub fn new(inner: T, patience: Duration) -> Self {
        Self { inner, patience, stuck: None }
    }

    fn wrote<R>(&mut self, context: &mut Context<'_>, wrote: Poll<io::Result<R>>) -> Poll<io::Result<R>> {
        if wrote.is_ready() {
            self.stuck = None;
            return wrote;
        }
        let patience = self.patience;
        let stuck = self.stuck.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        match stuck.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Patient<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Patient<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.wrote(context, wrote)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.inner).poll_write_vectored(context, parts);
        self.wrote(context, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let wrote = Pin::new(&mut self.inner).poll_flush(context);
        self.wrote(context, wrote)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let wrote = Pin::new(&mut self.inner).poll_shutdown(context);
        self.wrote(context, wrote)
    }
}

#[cfg(test)]
mod tests {
    use super::Patient;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[test]
    fn who_does_not_read_is_let_go() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let (ours, _theirs) = tokio::io::duplex(16);
            let mut ours = Patient::new(ours, Duration::from_millis(50));
            let wrote = ours.write_all(&[1; 100]).await.map_err(|error| error.kind());
            assert_eq!(wrote, Err(std::io::ErrorKind::TimedOut));
            // Who reads slowly, but reads, is not.
            let (ours, mut slow) = tokio::io::duplex(16);
            let mut ours = Patient::new(ours, Duration::from_millis(50));
            let read = async {
                let mut got = 0;
                while got < 100 {
                    tokio::time::sleep(Duration::from_millis(15)).await;
                    got += slow.read(&mut [0; 10]).await.expect("bytes");
                }
            };
            let (wrote, ()) = futures_util::future::join(ours.write_all(&[1; 100]), read).await;
            assert!(wrote.is_ok());
        });
    }
}
