//! Erasure: rewrites records without forgotten content, a batch at a time, while others write.
//!
//! A batch is prepared outside the writer from a published state. This is safe because nothing else changes a
//! record, and batches run one after another. The writer commits and syncs a batch between two groups.

use tokio::sync::oneshot;

use super::handle::Engine;
use super::health::WriteState;
use super::writer::{Message, Writer};
use super::{Fold, PublishedState};
use crate::error::{Code, Refusal};
use crate::log::{EventScope, LOG, Log, Position, RecordKey, encode_record};
use crate::store::{Changes, Error, Rows, RowsMut, Transaction};

/// Approximate size of a batch, in bytes of records.
const BATCH_BYTES: usize = 1 << 20;
/// Maximum number of the stream's events examined for one batch.
const BATCH_EVENTS: usize = 10_000;

/// A batch of rewritten records.
pub struct Batch {
    changes: Changes,
    /// Bytes saved by the rewrite.
    pub freed_bytes: u64,
    /// Position after which the next batch starts; `None` at the end.
    pub next: Option<Position>,
}

impl Batch {
    /// Returns the changes to commit.
    #[cfg(test)]
    pub(crate) fn changes(&self) -> &Changes {
        &self.changes
    }
}

/// Rewrites the next records, after a position, that contain forgotten events of a stream. Payload, salt and key
/// text are removed; header, hashes and links stay.
pub fn batch(
    rows: &dyn Rows,
    fold: &dyn Fold,
    stream: EventScope<'_>,
    after: Position,
) -> Result<Batch, Error> {
    let log = Log::new(rows);
    let end = Position(u64::MAX - 1);
    let found = log.stream(stream, after, end, BATCH_EVENTS)?;
    let mut next = match found.len() < BATCH_EVENTS {
        true => None,
        false => found.last().map(|(position, _)| *position),
    };
    let mut tx = Transaction::new(rows);
    let (mut bytes, mut freed_bytes) = (0, 0);
    for of_record in found.chunk_by(|a, b| a.1 == b.1) {
        let Some((last, record)) = of_record.last() else {
            continue;
        };
        if let Some((before, now)) = erased(&log, rows, fold, stream, *record)? {
            freed_bytes += before.saturating_sub(now.len()) as u64;
            bytes += before;
            tx.put(LOG, &record.to_bytes(), &now);
        }
        if bytes >= BATCH_BYTES {
            next = Some(*last);
            break;
        }
    }
    Ok(Batch {
        changes: tx.into_changes(),
        freed_bytes,
        next,
    })
}

/// Returns a record's length and its bytes without the forgotten content of a stream; `None` when it has none.
fn erased(
    log: &Log<'_>,
    rows: &dyn Rows,
    fold: &dyn Fold,
    stream: EventScope<'_>,
    record: RecordKey,
) -> Result<Option<(usize, Vec<u8>)>, Error> {
    let mut events = log.record(record)?;
    let before = encode_record(&events).len();
    let mut holds = false;
    for event in &mut events {
        let is_its = event.scope() == stream;
        let says = event.payload.is_some() || event.key.is_some();
        if is_its && says && fold.is_forgotten(rows, &event.header)? {
            event.payload = None;
            event.key = None;
            holds = true;
        }
    }
    Ok(holds.then(|| (before, encode_record(&events))))
}

impl Engine {
    /// Commits and syncs a batch of rewritten records. Run one batch at a time: the next one must be prepared from a
    /// state that includes this one.
    pub async fn rewrite(&self, batch: Batch) -> Result<(), Refusal> {
        if batch.changes.is_empty() {
            return Ok(());
        }
        let (reply, answer) = oneshot::channel();
        self.queue
            .send(Message::Rewrite(batch.changes, reply))
            .map_err(|_| closed())?;
        answer.await.unwrap_or_else(|_| Err(closed()))?;
        self.note_freed(batch.freed_bytes);
        Ok(())
    }
}

impl Writer {
    /// Commits, syncs and publishes rewritten records. Every earlier commit must be synced.
    pub(super) fn rewrite(
        &mut self,
        changes: &Changes,
        reply: oneshot::Sender<Result<(), Refusal>>,
    ) {
        let answer = match (self.health.get(), self.store.clone()) {
            (WriteState::Open, Some(store)) => {
                let written = store.commit(changes, false).and_then(|()| store.sync());
                if let Err(error) = written {
                    // The reply comes first, because waiting for a full disk can take long.
                    let message = format!("records were not rewritten: {error}");
                    let _ = reply.send(Err(Refusal::new(Code::StorageUnavailable, message)));
                    self.fail(&error, Vec::new());
                    return;
                }
                self.sync_stage.publish(PublishedState {
                    snapshot: store.snapshot(),
                    tail: self.tail,
                });
                Ok(())
            }
            (_, _) => Err(self.health.refusal().unwrap_or_else(closed)),
        };
        let _ = reply.send(answer);
    }
}

fn closed() -> Refusal {
    Refusal::new(Code::StorageUnavailable, "the store is closed")
        .hint("What was forgotten stays hidden; its bytes go once the daemon serves again.")
}
