//! Erasure: records are rewritten without what was forgotten, a batch at a time, while others write.
//!
//! A record is prepared off the writer from a published state: nobody else changes one, and who erases
//! does so one batch after the other. The writer commits a batch between two groups, and syncs it.

use tokio::sync::oneshot;

use super::handle::Engine;
use super::health::WriteState;
use super::writer::{Message, Writer};
use super::{Fold, PublishedState};
use crate::error::{Code, Refusal};
use crate::log::{EventScope, LOG, Log, Position, RecordKey, encode_record};
use crate::store::{Changes, Error, Rows, RowsMut, Transaction};

/// A batch holds about so many bytes of records.
const BATCH_BYTES: usize = 1 << 20;
/// Events of the stream looked at for one batch.
const BATCH_EVENTS: usize = 10_000;

/// Records to be rewritten.
pub struct Batch {
    changes: Changes,
    /// How many bytes shorter they are.
    pub freed_bytes: u64,
    /// After which position to go on; none at the end.
    pub next: Option<Position>,
}

impl Batch {
    /// What is to be committed.
    #[cfg(test)]
    pub(crate) fn changes(&self) -> &Changes {
        &self.changes
    }
}

/// The next records that hold something forgotten of a stream, from after a position on: payload,
/// salt and key text are left out of them; header, hashes and links stay.
///
/// # Errors
/// [`Error`] when a record cannot be read.
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

/// A record's length and what it is without what was forgotten of a stream; `None` when it holds
/// nothing of it.
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
    /// Commits a batch of rewritten records and syncs it. One at a time: the next batch is prepared
    /// from a state that has this one.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE` when nothing can be written.
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
    /// Commits and syncs rewritten records, and publishes them. Nothing may be committed and not
    /// synced.
    pub(super) fn rewrite(
        &mut self,
        changes: &Changes,
        reply: oneshot::Sender<Result<(), Refusal>>,
    ) {
        let answer = match (self.health.get(), self.store.clone()) {
            (WriteState::Open, Some(store)) => {
                let written = store.commit(changes, false).and_then(|()| store.sync());
                if let Err(error) = written {
                    // A full disk is waited out here: the caller need not wait for that.
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
