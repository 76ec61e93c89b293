//! The state that all handlers share, and what every write and read does with it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use lore::protocol::Position;
use lored_redact::Redactor;

use super::{Caller, Extensions};
use crate::cache::Cache;
use crate::clock::Micros;
use crate::engine::{
    Command, DataFolder, DecisionContext, Engine, Fold, KeyClaim, Outcome, PublishedState,
    QueuedWrite,
};
use crate::error::{Code, Refusal};
use crate::events::NewEvent;
use crate::hint::{Tool, hint};
use crate::log::{EventScope, index, objects};
use crate::store::Blobs;

/// Maximum time that `at_least` waits for a position.
const AT_LEAST_MAX: Duration = Duration::from_secs(10);

/// The state that all handlers share.
pub struct Context {
    /// The writer and the last durable state.
    pub engine: Engine,
    /// The blob store.
    pub blobs: Blobs,
    /// All folds combined.
    pub fold: Arc<dyn Fold>,
    /// Cache of data derived from events.
    pub cache: Cache,
    /// In-memory state of the feature modules.
    pub extensions: Extensions,
    /// Redacts secrets in incoming data.
    pub redactor: Redactor,
    /// The files of the data folder.
    pub folder: DataFolder,
    /// Path of the daemon's socket.
    pub socket: PathBuf,
    /// Start time of the daemon.
    pub started: Micros,
    /// Number of open connections.
    pub clients: AtomicU64,
    /// Whether the daemon reads, watches and writes its users' files. False in a daemon for all users.
    pub reaches_files: bool,
}

/// Number of ended writes with new blobs after which those without an event are looked for.
const RELEASED_BLOBS_MAX: usize = 256;

impl Context {
    /// Submits a write for a caller.
    ///
    /// # Errors
    /// The refusals of [`Engine::write`].
    pub async fn write(
        &self,
        caller: &Caller,
        key: Option<KeyClaim>,
        bytes: usize,
        command: impl Command + 'static,
    ) -> Result<Outcome, Refusal> {
        let outcome = self
            .engine
            .write(QueuedWrite {
                command: Box::new(command),
                actor: Arc::clone(&caller.actor),
                key,
                bytes,
            })
            .await?;
        if outcome.replayed {
            self.note_repeated(caller, &outcome).await?;
        }
        Ok(outcome)
    }

    /// Notes the session of a repeated write as the first call noted it.
    async fn note_repeated(&self, caller: &Caller, outcome: &Outcome) -> Result<(), Refusal> {
        let header = &outcome.event.header;
        let Some(session) = &header.session else {
            return Ok(());
        };
        let published = self.read(None).await?;
        // A write that makes its session appends its own event right behind.
        let created = index::first(&published.snapshot, EventScope::Session(session))?;
        let is_first = created.is_some_and(|created| created.0 + 1 == header.position.0);
        caller.session_use.note_repeated(session, is_first);
        Ok(())
    }

    /// Removes the blobs of refused writes: at once after a refusal, otherwise once many writes have ended.
    pub(super) async fn settle_blobs(self: &Arc<Self>, is_refused: bool) {
        let released = self.blobs.released();
        if released == 0 || (!is_refused && released < RELEASED_BLOBS_MAX) {
            return;
        }
        let shared = Arc::clone(self);
        let removed = tokio::task::spawn_blocking(move || shared.remove_released_blobs()).await;
        if let Ok(Err(error)) = removed {
            tracing::warn!(%error, "blobs of refused writes were not removed");
        }
    }

    /// Removes the blobs of writes that ended without an event, and returns their number. After a failed commit they
    /// stay until the log is certain again.
    ///
    /// # Errors
    /// [`crate::store::Error`] when a row cannot be read; the next call tries again.
    pub fn remove_released_blobs(&self) -> Result<usize, crate::store::Error> {
        match self.engine.health().is_log_certain() {
            true => self.blobs.remove_released(|blob| self.is_blob_named(blob)),
            false => Ok(0),
        }
    }

    /// Returns whether an event or object names a blob.
    ///
    /// # Errors
    /// [`crate::store::Error`] when a row cannot be read.
    pub fn is_blob_named(&self, blob: &[u8; 32]) -> Result<bool, crate::store::Error> {
        match self.engine.published() {
            // After a failed commit, an event may exist that is not published.
            Some(published) if self.engine.health().is_log_certain() => {
                let rows = &published.snapshot;
                Ok(index::is_blob_named(rows, blob)? || objects::is_blob_named(rows, blob)?)
            }
            Some(_) | None => Ok(true),
        }
    }

    /// Returns the outcome of the first call with this key, if any. A repeated call needs no preparation
    /// and gets the first reply, whatever has changed.
    ///
    /// # Errors
    /// `IDEMPOTENCY_CONFLICT` when the first call was different, `NOT_FOUND` when its content was forgotten.
    pub async fn repeated(
        &self,
        caller: &Caller,
        key: Option<&KeyClaim>,
    ) -> Result<Option<Outcome>, Refusal> {
        let Some(key) = key else { return Ok(None) };
        let published = self.read(None).await?;
        if index::get_key(&published.snapshot, &key.hash)?.is_none() {
            return Ok(None);
        }
        let outcome = self.write(caller, Some(key.clone()), 0, RepeatedCall).await;
        outcome.map(Some)
    }

    /// Refuses operations on files in a daemon that does not access its users' files.
    ///
    /// # Errors
    /// `FORBIDDEN`.
    pub fn check_reaches_files(&self) -> Result<(), Refusal> {
        if self.reaches_files {
            return Ok(());
        }
        let message = "this daemon serves all users of the machine, and reads no files of theirs";
        Err(Refusal::new(Code::Forbidden, message.to_owned())
            .hint(hint![
                "Send the documents: `lore docs add` does it by itself.";
                Tool::PutDocument, " sends one.";
                "Or run a daemon of your own: `lore service install`, or unset LORE_SOCKET."
            ])
            .details(serde_json::json!({"reaches_files": false})))
    }

    /// Returns the state for a read, at position `at_least` or later.
    ///
    /// # Errors
    /// `TIMEOUT` when that position is not reached.
    pub async fn read(&self, at_least: Option<Position>) -> Result<Arc<PublishedState>, Refusal> {
        match at_least {
            None => self.engine.read().await,
            Some(position) => self.engine.read_at_least(position, AT_LEAST_MAX).await,
        }
    }
}

/// Command of a repeated call: the writer answers from the first call's event.
struct RepeatedCall;

impl Command for RepeatedCall {
    fn decide(&mut self, _on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        Err(Refusal::new(
            Code::Internal,
            "a key that was used is not known to the writer",
        ))
    }
}
