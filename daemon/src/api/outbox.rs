//! Output of a connection of frames that waits to be written.

use std::io;
use std::time::Duration;

use lore::protocol::frame;
use serde_json::value::RawValue;
use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::budget::CallBudget;
use crate::operation::Reply;

/// Interval of looking whether a peer that sends nothing more has gone, while calls of it are in flight.
const GONE_CHECK: Duration = Duration::from_millis(100);
/// Answers are buffered up to this many bytes before a write. This bounds the cost of a peer that does not read.
const GATHER_BYTES: usize = 16 * 1024;
/// Replies of at least this many bytes are written without a copy.
const LARGE_BYTES: usize = 64 * 1024;

/// Pending output for a peer: small answers in a buffer, large replies by reference.
#[derive(Default)]
pub(super) struct Outbox {
    /// Small answers and frames, encoded.
    pub bytes: Vec<u8>,
    /// Large replies, each with its offset in `bytes`, and the memory that it is in.
    large: Vec<(usize, Box<RawValue>, Option<CallBudget>)>,
}

impl Outbox {
    /// Queues an answer.
    pub fn put(&mut self, id: u64, reply: Reply, meta: Option<&[u8]>) {
        let Reply { json, memory, .. } = reply;
        let text = json.get().as_bytes();
        if text.len() < LARGE_BYTES {
            frame::encode_answer(&mut self.bytes, id, text, meta);
        } else {
            let place = frame::encode_answer_around(&mut self.bytes, id, text, meta);
            self.large.push((place, json, memory));
        }
    }

    /// Returns whether the output must be written before the next read.
    pub fn is_due(&self) -> bool {
        self.bytes.len() >= GATHER_BYTES || !self.large.is_empty()
    }

    /// Writes the output to the peer; it stays until it is recycled.
    pub async fn write<W: AsyncWrite + Unpin>(&self, writer: &mut W) -> io::Result<()> {
        let mut from = 0;
        for (place, json, _) in &self.large {
            writer
                .write_all(self.bytes.get(from..*place).unwrap_or_default())
                .await?;
            writer.write_all(json.get().as_bytes()).await?;
            from = *place;
        }
        writer
            .write_all(self.bytes.get(from..).unwrap_or_default())
            .await
    }

    /// Clears the buffer for reuse; an unusually large one shrinks.
    pub fn recycle(&mut self) {
        self.large.clear();
        self.bytes.clear();
        self.bytes.shrink_to(GATHER_BYTES);
    }
}

/// Waits until a peer that sends nothing more does not read either. Until then it waits for its answers.
pub(super) async fn is_gone<W: AsyncWrite + Unpin>(writer: &mut W) {
    loop {
        tokio::time::sleep(GONE_CHECK).await;
        // An empty write sends nothing; it fails once the peer has closed its side.
        if writer.write(&[]).await.is_err() {
            return;
        }
    }
}
