//! A reader that fails when a line is too long, so that no oversized message is held in memory.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// A reader with a limit on line length.
pub struct Limited<R> {
    reader: R,
    line_bytes: usize,
    line_bytes_max: usize,
    /// Set when a line was too long, for callers that see only the end of the reader.
    is_too_long: Arc<AtomicBool>,
}

impl<R> Limited<R> {
    /// Creates a reader with lines of at most `line_bytes_max`, excluding line ends.
    pub fn new(reader: R, line_bytes_max: usize, is_too_long: &Arc<AtomicBool>) -> Self {
        Self {
            reader,
            line_bytes: 0,
            line_bytes_max,
            is_too_long: Arc::clone(is_too_long),
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Limited<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        ready!(Pin::new(&mut self.reader).poll_read(cx, into))?;
        let read = into.filled().get(before..).unwrap_or_default();
        // Reads are much smaller than the limit: a line that ends within a read is counted when the next
        // line begins.
        match read.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => self.line_bytes = read.len() - end - 1,
            None => self.line_bytes += read.len(),
        }
        if self.line_bytes > self.line_bytes_max {
            // A failed read must leave the buffer unchanged.
            into.set_filled(before);
            self.is_too_long.store(true, Ordering::Release);
            let message = format!("a message of over {} bytes", self.line_bytes_max);
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, message)));
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    /// Any number of lines up to the limit pass; a longer one is an error.
    #[tokio::test]
    async fn long_lines_fail() {
        let mut text = String::new();
        let is_too_long = Arc::default();
        let mut good = Limited::new(&b"12345678\n12345678\n1234"[..], 8, &is_too_long);
        assert_eq!(good.read_to_string(&mut text).await.ok(), Some(22));
        assert!(!is_too_long.load(Ordering::Acquire));
        let mut long = Limited::new(&b"123456789"[..], 8, &is_too_long);
        let refused = long
            .read_to_string(&mut text)
            .await
            .map_err(|error| error.kind());
        assert_eq!(refused, Err(io::ErrorKind::InvalidData));
        assert!(is_too_long.load(Ordering::Acquire));
    }
}
