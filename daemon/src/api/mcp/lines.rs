//! Reads lines from a stream, with limits on size, time and memory. Cancel-safe between any two
//! bytes: received bytes are retained.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

use crate::api::incoming::{self, Incoming, in_time};
use crate::api::limits::{Budget, MemoryPermit};

/// Retained beginning of a refused line, in bytes: enough to find its id.
pub const HEAD_BYTES: usize = 4 * 1024;

/// Result of reading up to a line break.
#[derive(Debug)]
pub enum Line {
    /// The whole line and its memory permit; small lines reserve nothing.
    Whole(Vec<u8>, MemoryPermit),
    /// The first [`HEAD_BYTES`] of a line over the limit; the rest is skipped as it arrives.
    TooLong(Vec<u8>),
    /// The first [`HEAD_BYTES`] of a line that exceeds the memory of all peers.
    Busy(Vec<u8>),
}

/// Reason why there is no next line.
#[derive(Debug)]
pub enum ReadError {
    /// The stream failed.
    Io(io::Error),
    /// A line did not end in time; contains its first [`HEAD_BYTES`].
    Slow(Vec<u8>),
}

/// Reads lines one after the other.
pub struct LineReader {
    bytes_max: usize,
    is_skipping: bool,
    incoming: Incoming,
}

enum Piece {
    Taken,
    TooLong,
    Busy,
}

impl LineReader {
    /// Accepts lines of at most `bytes_max` that arrive within `wait_max`, from the first byte to the line break.
    #[must_use]
    pub fn new(bytes_max: usize, wait_max: Duration) -> Self {
        Self {
            bytes_max,
            is_skipping: false,
            incoming: Incoming::new(wait_max),
        }
    }

    /// Returns the next line without its break; `None` at the end of the stream. The last line needs no break.
    ///
    /// # Errors
    /// [`ReadError`]; the stream cannot be read further.
    pub async fn next<R: AsyncBufRead + Unpin>(
        &mut self,
        reader: &mut R,
        budget: &Budget,
    ) -> Result<Option<Line>, ReadError> {
        loop {
            let read = in_time(self.incoming.deadline(), reader.fill_buf()).await;
            let arrived = match read {
                Ok(arrived) => arrived,
                Err(incoming::ReadError::Io(error)) => return Err(ReadError::Io(error)),
                Err(incoming::ReadError::Slow) => return Err(ReadError::Slow(self.give_up())),
            };
            if arrived.is_empty() {
                let is_left = !self.incoming.body.is_empty();
                return Ok(is_left.then(|| self.finish()));
            }
            self.incoming.begin();
            let end = arrived.iter().position(|byte| *byte == b'\n');
            let (piece, _) = arrived.split_at(end.unwrap_or(arrived.len()));
            let taken = self.take(piece, budget);
            let used = piece.len() + usize::from(end.is_some());
            reader.consume(used);
            match taken {
                Piece::Taken => {
                    if end.is_some() && !std::mem::take(&mut self.is_skipping) {
                        return Ok(Some(self.finish()));
                    }
                }
                Piece::TooLong => return Ok(Some(Line::TooLong(self.skip(end)))),
                Piece::Busy => return Ok(Some(Line::Busy(self.skip(end)))),
            }
            if end.is_some() {
                self.incoming.end();
            }
        }
    }

    fn take(&mut self, piece: &[u8], budget: &Budget) -> Piece {
        if self.is_skipping {
            return Piece::Taken;
        }
        let length = self.incoming.body.len() + piece.len();
        if length > self.bytes_max {
            self.keep_head(piece);
            return Piece::TooLong;
        }
        if !self.incoming.pay(length, length, budget) {
            self.keep_head(piece);
            return Piece::Busy;
        }
        // The buffer grows with the received bytes.
        self.incoming.body.extend_from_slice(piece);
        Piece::Taken
    }

    fn keep_head(&mut self, piece: &[u8]) {
        let room = HEAD_BYTES.saturating_sub(self.incoming.body.len());
        let head = piece.get(..room).unwrap_or(piece);
        self.incoming.body.extend_from_slice(head);
    }

    /// Drops a line that may not be complete and returns its head. The deadline of an incomplete line stays: its rest
    /// must arrive, too.
    fn skip(&mut self, end: Option<usize>) -> Vec<u8> {
        self.is_skipping = end.is_none();
        let (body, _) = self.incoming.take();
        if end.is_some() {
            self.incoming.end();
        }
        head_of(body)
    }

    fn give_up(&mut self) -> Vec<u8> {
        let (body, _) = self.incoming.finish();
        head_of(body)
    }

    fn finish(&mut self) -> Line {
        let (body, memory_permit) = self.incoming.finish();
        Line::Whole(body, memory_permit)
    }
}

fn head_of(mut body: Vec<u8>) -> Vec<u8> {
    body.truncate(HEAD_BYTES);
    body.shrink_to_fit();
    body
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use futures_util::FutureExt;
    use tokio::io::{AsyncWriteExt, BufReader};

    use super::*;

    fn reader(bytes_max: usize) -> LineReader {
        LineReader::new(bytes_max, Duration::from_secs(60))
    }

    async fn all(bytes: &[u8], bytes_max: usize, budget: &Budget) -> Vec<String> {
        let mut input = BufReader::with_capacity(7, bytes);
        let mut lines = reader(bytes_max);
        let mut found = Vec::new();
        while let Some(line) = lines.next(&mut input, budget).await.unwrap() {
            let shown = |head: Vec<u8>| String::from_utf8(head).unwrap();
            found.push(match line {
                Line::Whole(body, _) => shown(body),
                Line::TooLong(head) => format!("too long: {}", shown(head)),
                Line::Busy(head) => format!("busy: {}", head.len()),
            });
        }
        found
    }

    /// Lines arrive complete whatever the buffer size. Only the head of an overlong line is retained, and the
    /// next line is read normally.
    #[tokio::test]
    async fn lines_are_cut_at_breaks_and_long_ones_skipped() {
        let budget = Budget::new(1 << 20);
        let found = all(b"one\n\n0123456789abcdefghijk\ntwo\nlast", 12, &budget).await;
        assert_eq!(
            found,
            ["one", "", "too long: 0123456789abcdef", "two", "last"]
        );
        assert_eq!(all(b"0123456789\n", 10, &budget).await, ["0123456789"]);
        assert_eq!(
            all(b"0123456789a\nb\n", 10, &budget).await,
            ["too long: 0123456789a", "b"]
        );
        assert!(all(b"", 10, &budget).await.is_empty());
    }

    /// A large line that exceeds the budget is dropped, and its memory is returned.
    #[tokio::test]
    async fn large_lines_are_paid_for() {
        let budget = Budget::new(1 << 20);
        let large = [vec![b'x'; 1 << 20], b"\nnext\n".to_vec()].concat();
        assert_eq!(all(&large, 2 << 20, &budget).await, ["busy: 4096", "next"]);
        let fits = [vec![b'x'; 1 << 19], b"\n".to_vec()].concat();
        let mut lines = reader(2 << 20);
        let mut input: &[u8] = &fits;
        let held = lines.next(&mut input, &budget).await.unwrap();
        assert!(
            matches!(&held, Some(Line::Whole(body, memory_permit)) if body.len() == 1 << 19 && !memory_permit.is_empty())
        );
        assert_eq!(all(&fits, 2 << 20, &budget).await, ["busy: 4096"]);
        drop(held);
        assert_eq!(all(&fits, 2 << 20, &budget).await.len(), 1);
    }

    /// A cancelled read loses no byte, silence between lines has no deadline, and an unfinished line times out.
    #[tokio::test]
    async fn a_line_has_a_deadline_and_silence_has_none() {
        let (mut client, server) = tokio::io::duplex(64);
        let mut server = BufReader::new(server);
        let budget = Budget::new(1 << 20);
        let mut lines = LineReader::new(100, Duration::from_millis(10));
        assert!(lines.next(&mut server, &budget).now_or_never().is_none());
        assert!(lines.incoming.deadline().is_none());
        client.write_all(b"be").await.unwrap();
        assert!(lines.next(&mut server, &budget).now_or_never().is_none());
        assert!(lines.incoming.deadline().is_some());
        client.write_all(b"gun").await.unwrap();
        let slow = lines.next(&mut server, &budget).await;
        assert!(matches!(slow, Err(ReadError::Slow(head)) if head == b"begun"));
    }
}
