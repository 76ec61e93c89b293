//! Frames from a stream, with limits on size, time and memory. Safe to cancel between any two
//! bytes: what has arrived is kept.

use std::io;
use std::time::Duration;

use lore::protocol::frame::{FrameError, frame_length};
use tokio::io::{AsyncBufRead, AsyncBufReadExt};
use tokio::time::{Instant, timeout_at};

use super::limits::{Budget, Paid, SMALL_BYTES};

/// A large frame is paid for in pieces of this size, in bytes.
const PIECE_BYTES: usize = 256 * 1024;

/// A whole frame, and the memory it has paid for.
pub type Frame = (Vec<u8>, Paid);

/// Why a frame did not arrive.
#[derive(Debug)]
pub enum ReadError {
    /// The stream failed, or ended in the middle.
    Io(io::Error),
    /// The frame is not acceptable.
    Frame(FrameError),
    /// The memory of all peers is used up.
    Busy,
    /// It took too long.
    Slow,
}

/// Reads one frame after the other.
pub struct FrameReader {
    bytes_max: usize,
    wait_max: Duration,
    prefix: Vec<u8>,
    length: Option<usize>,
    body: Vec<u8>,
    paid: Paid,
    paid_bytes: usize,
    deadline: Option<Instant>,
}

impl FrameReader {
    /// Frames of at most `bytes_max`, each within `wait_max` from its first byte to its last.
    #[must_use]
    pub fn new(bytes_max: usize, wait_max: Duration) -> Self {
        Self {
            bytes_max,
            wait_max,
            prefix: Vec::with_capacity(4),
            length: None,
            body: Vec::new(),
            paid: Paid::default(),
            paid_bytes: 0,
            deadline: None,
        }
    }

    /// The next frame; `None` at the end of the stream.
    ///
    /// # Errors
    /// [`ReadError`]; nothing more can be read then.
    pub async fn next<R: AsyncBufRead + Unpin>(
        &mut self,
        reader: &mut R,
        budget: &Budget,
    ) -> Result<Option<Frame>, ReadError> {
        loop {
            let arrived = match self.deadline {
                // Between frames a peer may be silent for as long as it likes.
                None => reader.fill_buf().await,
                Some(deadline) => match timeout_at(deadline, reader.fill_buf()).await {
                    Ok(arrived) => arrived,
                    Err(_) => return Err(ReadError::Slow),
                },
            }
            .map_err(ReadError::Io)?;
            if arrived.is_empty() {
                return match self.deadline {
                    None => Ok(None),
                    Some(_) => Err(ReadError::Io(io::ErrorKind::UnexpectedEof.into())),
                };
            }
            self.deadline
                .get_or_insert_with(|| Instant::now() + self.wait_max);
            let taken = self.take(arrived, budget)?;
            reader.consume(taken);
            if self.length.is_some_and(|length| self.body.len() == length) {
                return Ok(Some(self.finish()));
            }
        }
    }

    /// Takes what belongs to this frame from what has arrived; how much that was.
    fn take(&mut self, arrived: &[u8], budget: &Budget) -> Result<usize, ReadError> {
        let (head, rest) = arrived.split_at(arrived.len().min(4 - self.prefix.len()));
        self.prefix.extend_from_slice(head);
        let length = match (self.length, <[u8; 4]>::try_from(self.prefix.as_slice())) {
            (Some(length), _) => length,
            (None, Ok(prefix)) => {
                let length = frame_length(prefix, self.bytes_max).map_err(ReadError::Frame)?;
                *self.length.insert(length)
            }
            (None, Err(_)) => return Ok(head.len()),
        };
        let body = rest.get(..length - self.body.len()).unwrap_or(rest);
        if length > SMALL_BYTES {
            while self.paid_bytes < self.body.len() + body.len() {
                if !budget.large(&mut self.paid, PIECE_BYTES) {
                    return Err(ReadError::Busy);
                }
                self.paid_bytes += PIECE_BYTES;
            }
        }
        // Grows with what has arrived, whatever the length claims.
        self.body.extend_from_slice(body);
        Ok(head.len() + body.len())
    }

    fn finish(&mut self) -> Frame {
        self.prefix.clear();
        self.length = None;
        self.deadline = None;
        self.paid_bytes = 0;
        (
            std::mem::take(&mut self.body),
            std::mem::take(&mut self.paid),
        )
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tokio::io::{AsyncWriteExt, BufReader};

    use super::*;

    fn reader() -> FrameReader {
        FrameReader::new(1 << 20, Duration::from_secs(60))
    }

    /// Frames come whole, however the bytes are cut up and however often waiting is given up.
    #[tokio::test]
    async fn frames_arrive_whole_from_single_bytes() {
        let (mut client, server) = tokio::io::duplex(1);
        let mut server = BufReader::with_capacity(3, server);
        let budget = Budget::new(1 << 20);
        let mut frames = reader();
        let writing = async move {
            client
                .write_all(&[0, 0, 0, 2, 7, 8, 0, 0, 0, 1, 9])
                .await
                .unwrap();
        };
        let reading = async move {
            let mut found = Vec::new();
            loop {
                let next = frames.next(&mut server, &budget);
                // Polled once and dropped: as a select does.
                match futures_util::FutureExt::now_or_never(next) {
                    Some(Ok(Some((body, _)))) => found.push(body),
                    Some(Ok(None)) => return found,
                    Some(Err(error)) => panic!("{error:?}"),
                    None => tokio::task::yield_now().await,
                }
            }
        };
        let ((), found) = tokio::join!(writing, reading);
        assert_eq!(found, [vec![7, 8], vec![9]]);
    }

    /// A claimed length costs nothing until bytes come; over the limits it is refused.
    #[tokio::test]
    async fn claims_cost_nothing() {
        let budget = Budget::new(1 << 20);
        let mut frames = reader();
        let mut bytes: &[u8] = &[0, 0x0f, 0xff, 0xff, 1];
        let cut = frames.next(&mut bytes, &budget).await;
        assert!(matches!(cut, Err(ReadError::Io(_))), "{cut:?}");
        assert!(frames.body.capacity() < 64);
        let refused = reader().next(&mut &[1, 0, 0, 0, 0][..], &budget).await;
        assert!(matches!(
            refused,
            Err(ReadError::Frame(FrameError::TooLarge { .. }))
        ));
    }

    /// Large frames that together exceed the budget are refused, small ones are not.
    #[tokio::test]
    async fn the_budget_is_for_large_frames() {
        let budget = Budget::new(1 << 20);
        let large = [&[0, 0x08, 0, 0][..], &vec![0; 0x80000]].concat();
        let held = reader()
            .next(&mut &large[..], &budget)
            .await
            .unwrap()
            .unwrap();
        let busy = reader().next(&mut &large[..], &budget).await;
        assert!(matches!(busy, Err(ReadError::Busy)));
        assert!(
            reader()
                .next(&mut &[0, 0, 0, 1, 5][..], &budget)
                .await
                .is_ok()
        );
        drop(held);
        assert!(reader().next(&mut &large[..], &budget).await.is_ok());
    }
}
