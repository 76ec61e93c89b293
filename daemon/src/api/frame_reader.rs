//! Reads frames from a stream, with limits on size, time and memory. Cancel-safe between any two
//! bytes: received bytes are retained.

use std::io;
use std::time::Duration;

use lore::protocol::frame::{FrameError, frame_length};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

use super::incoming::{self, Incoming, in_time};
use super::limits::{Budget, MemoryPermit};

/// If at least this many bytes of a frame remain, they are read directly into its body.
/// This starts after as many bytes came through the stream's buffer.
const DIRECT_BYTES_MIN: usize = 16 * 1024;
const DIRECT_AFTER_BYTES: usize = 4 * 1024;

/// A complete frame and its memory permit.
pub type Frame = (Vec<u8>, MemoryPermit);

/// Reason why a frame could not be read.
#[derive(Debug)]
pub enum ReadError {
    /// The stream failed or ended inside a frame.
    Io(io::Error),
    /// The frame is invalid.
    Frame(FrameError),
    /// The memory limit of all peers is reached.
    Busy,
    /// The frame did not arrive in time.
    Slow,
}

impl From<incoming::ReadError> for ReadError {
    fn from(error: incoming::ReadError) -> Self {
        match error {
            incoming::ReadError::Io(error) => Self::Io(error),
            incoming::ReadError::Slow => Self::Slow,
        }
    }
}

/// Reads frames one after the other.
pub struct FrameReader {
    bytes_max: usize,
    prefix: Vec<u8>,
    length: Option<usize>,
    incoming: Incoming,
}

impl FrameReader {
    /// Accepts frames of at most `bytes_max` that arrive within `wait_max`, from first to last byte.
    #[must_use]
    pub fn new(bytes_max: usize, wait_max: Duration) -> Self {
        Self {
            bytes_max,
            prefix: Vec::with_capacity(4),
            length: None,
            incoming: Incoming::new(wait_max),
        }
    }

    /// Returns the next frame; `None` at the end of the stream.
    ///
    /// # Errors
    /// [`ReadError`]; the stream cannot be read further.
    pub async fn next<R: AsyncBufRead + Unpin>(
        &mut self,
        reader: &mut R,
        budget: &Budget,
    ) -> Result<Option<Frame>, ReadError> {
        loop {
            if let Some(left) = self.left_to_read_directly() {
                self.read_directly(reader, left, budget).await?;
            } else {
                let arrived = in_time(self.incoming.deadline(), reader.fill_buf()).await?;
                if arrived.is_empty() {
                    return match self.incoming.deadline() {
                        None => Ok(None),
                        Some(_) => Err(ReadError::Io(io::ErrorKind::UnexpectedEof.into())),
                    };
                }
                self.incoming.begin();
                let taken = self.take(arrived, budget)?;
                reader.consume(taken);
            }
            let body = &self.incoming.body;
            if self.length.is_some_and(|length| body.len() == length) {
                self.prefix.clear();
                self.length = None;
                return Ok(Some(self.incoming.finish()));
            }
        }
    }

    /// Returns the number of missing bytes of a large frame, once its beginning has arrived.
    fn left_to_read_directly(&self) -> Option<usize> {
        let received = self.incoming.body.len();
        let left = self.length?.checked_sub(received)?;
        (received >= DIRECT_AFTER_BYTES && left >= DIRECT_BYTES_MIN).then_some(left)
    }

    /// Reads a piece of a large frame. The buffer grows only with received bytes: a claimed length alone reserves nothing.
    async fn read_directly<R: AsyncBufRead + Unpin>(
        &mut self,
        reader: &mut R,
        left: usize,
        budget: &Budget,
    ) -> Result<(), ReadError> {
        let received = self.incoming.body.len();
        let piece = left.min(received * 3);
        self.pay(received + left, received + piece, budget)?;
        let deadline = self.incoming.deadline();
        let body = &mut self.incoming.body;
        body.reserve(piece);
        let mut limited = reader.take(piece as u64);
        match in_time(deadline, limited.read_buf(body)).await? {
            0 => Err(ReadError::Io(io::ErrorKind::UnexpectedEof.into())),
            _ => Ok(()),
        }
    }

    /// Takes the received bytes that belong to this frame and returns their number.
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
        let received = self.incoming.body.len();
        let body = rest.get(..length - received).unwrap_or(rest);
        self.pay(length, received + body.len(), budget)?;
        // The buffer grows with the received bytes, not with the claimed length.
        self.incoming.body.extend_from_slice(body);
        Ok(head.len() + body.len())
    }

    fn pay(&mut self, length: usize, bytes: usize, budget: &Budget) -> Result<(), ReadError> {
        match self.incoming.pay(length, bytes, budget) {
            true => Ok(()),
            false => Err(ReadError::Busy),
        }
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

    /// Frames arrive complete however the bytes are split and however often a read is cancelled.
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
                // Polled once and dropped, as `select!` does.
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

    /// A large frame bypasses the stream's buffer; the bytes after it stay in the buffer.
    #[tokio::test]
    async fn a_large_frame_is_read_directly() {
        let (mut client, server) = tokio::io::duplex(30_000);
        let mut server = BufReader::with_capacity(8192, server);
        let large: Vec<u8> = (0..700_000_u32).map(|n| n as u8).collect();
        let length = u32::try_from(large.len()).unwrap().to_be_bytes();
        let sent = [&length[..], &large, &[0, 0, 0, 1, 9]].concat();
        let writing = async move {
            client.write_all(&sent).await.unwrap();
        };
        let reading = async move {
            let (budget, mut frames) = (Budget::new(1 << 20), reader());
            let mut found = Vec::new();
            while let Some((body, _)) = frames.next(&mut server, &budget).await.unwrap() {
                found.push(body);
            }
            found
        };
        let ((), found) = tokio::join!(writing, reading);
        assert_eq!(found, [large, vec![9]]);
    }

    /// A claimed length reserves no memory; a length over the limits is refused.
    #[tokio::test]
    async fn claims_cost_nothing() {
        let budget = Budget::new(1 << 20);
        let mut frames = reader();
        let mut bytes: &[u8] = &[0, 0x0f, 0xff, 0xff, 1];
        let cut = frames.next(&mut bytes, &budget).await;
        assert!(matches!(cut, Err(ReadError::Io(_))), "{cut:?}");
        assert!(frames.incoming.body.capacity() < 64);
        let refused = reader().next(&mut &[1, 0, 0, 0, 0][..], &budget).await;
        assert!(matches!(
            refused,
            Err(ReadError::Frame(FrameError::TooLarge { .. }))
        ));
    }

    /// Large frames that together exceed the budget are refused; small frames are not.
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
