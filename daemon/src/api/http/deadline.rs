//! A writer that fails when its peer reads nothing for too long.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::AsyncWrite;
use tokio::time::{Sleep, sleep};

/// A writer with a deadline for each write.
pub struct DeadlineWriter<W> {
    writer: W,
    wait_max: Duration,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl<W> DeadlineWriter<W> {
    /// Limits each write to `wait_max`.
    pub fn new(writer: W, wait_max: Duration) -> Self {
        Self {
            writer,
            wait_max,
            sleep: None,
        }
    }

    fn within<T>(
        &mut self,
        cx: &mut Context<'_>,
        done: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.sleep = None;
            return done;
        }
        let wait_max = self.wait_max;
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep(wait_max)));
        match sleep.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for DeadlineWriter<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.writer).poll_write(cx, bytes);
        self.within(cx, done)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.writer).poll_flush(cx);
        self.within(cx, done)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.writer).poll_shutdown(cx);
        self.within(cx, done)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    /// Small output passes; a peer that does not read causes a timeout.
    #[tokio::test]
    async fn a_peer_that_takes_nothing_is_given_up() {
        let (peer, writer) = tokio::io::duplex(8);
        let mut writer = DeadlineWriter::new(writer, Duration::from_millis(10));
        assert!(writer.write_all(b"12345678").await.is_ok());
        let late = writer.write_all(b"9").await.map_err(|error| error.kind());
        assert_eq!(late, Err(io::ErrorKind::TimedOut));
        drop(peer);
    }
}
