//! The write side: a writer that decides, appends, folds and commits one group at a time, a second thread that
//! syncs, and the last durable state for readers.
//!
//! A command waits in a bounded queue. The writer decides it against the rows after every earlier command, assigns
//! positions to its events, folds them into the views, and commits the whole group as one batch. After the sync,
//! the state is published and the callers are answered.

mod activity;
mod compaction;
pub mod erasure;
mod fault;
mod group;
mod handle;
mod health;
mod linger;
mod open;
pub mod replay;
pub mod restore;
mod sync;
mod time;
mod writer;
mod written_files;

use std::sync::Arc;

pub use activity::{AFTER_START, ActivityListener};
pub use compaction::CompactionResult;
pub use handle::{Engine, QueuedWrite};
pub use health::{DAMAGE_MET, Health, Verification, WriteState};
pub use open::{
    DataFolder, OpenError, OpenedStore, SealCheck, SealedLog, mark_unreadable, newest_forgetting,
    salvage_now, seal, seal_key,
};
pub use written_files::{ChangedFiles, WrittenFiles};

use crate::clock::Micros;
use crate::error::Refusal;
use crate::events::{Event, NewEvent};
use crate::log::{Actor, Hash, Header, Log, LoggedEvent, Position, RecordKey, key_hash};
use crate::store::{Error, Keyspace, Rows, RowsMut, Snapshot};

/// Folds events into rows: all views and the log's index.
pub trait Fold: Send + Sync {
    /// Returns the keyspaces whose rows [`Self::apply`] writes, each with its version name.
    fn keyspaces(&self) -> &'static [Keyspace];

    /// Folds one event. Pure: rows follow from events alone; `past` returns earlier events. `meta` is the event's
    /// metadata, if this version knows its kind.
    ///
    /// # Errors
    /// [`Error`] when a row cannot be read or the event does not decode.
    fn apply(
        &self,
        rows: &mut dyn RowsMut,
        event_lookup: &dyn EventLookup,
        event: &LoggedEvent,
        meta: Option<&Event>,
        record: RecordKey,
    ) -> Result<(), Error>;

    /// Returns whether an event's content was forgotten, even if its bytes are still in a record.
    fn is_forgotten(&self, rows: &dyn Rows, header: &Header) -> Result<bool, Error>;
}

/// Access to earlier events: after a partial forget, the stream is folded again.
pub trait EventLookup {
    /// Reads an event by its record and position.
    fn event(&self, record: RecordKey, position: Position) -> Result<Arc<LoggedEvent>, Error>;
}

impl EventLookup for Log<'_> {
    fn event(&self, record: RecordKey, position: Position) -> Result<Arc<LoggedEvent>, Error> {
        Log::event(self, record, position).map(Arc::new)
    }
}

impl EventLookup for DecisionContext<'_> {
    fn event(&self, record: RecordKey, position: Position) -> Result<Arc<LoggedEvent>, Error> {
        DecisionContext::event(self, record, position)
    }
}

/// The inputs of a decision.
pub struct DecisionContext<'d> {
    /// The rows after every earlier command.
    pub rows: &'d dyn Rows,
    /// Time of the new events.
    pub now: Micros,
    /// The calling actor.
    pub actor: &'d Actor,
    /// Events of earlier commands in the same group, which are not in a record yet.
    group: &'d [Arc<LoggedEvent>],
}

impl DecisionContext<'_> {
    /// Reads an event of the log or of the same group.
    pub fn event(&self, record: RecordKey, position: Position) -> Result<Arc<LoggedEvent>, Error> {
        group::in_group_or_log(self.group, self.rows, record, position)
    }

    /// Returns the event at a position of the log or of the same group; `None` if there is none.
    pub fn at(&self, position: Position) -> Result<Option<Arc<LoggedEvent>>, Error> {
        let in_group = self.group.iter().find(|one| one.position() == position);
        match in_group {
            Some(event) => Ok(Some(Arc::clone(event))),
            None => Ok(Log::new(self.rows).at(position)?.map(Arc::new)),
        }
    }
}

/// A write command. Commands are prepared in parallel and decided by the writer.
pub trait Command: Send {
    /// Decides the command and returns its events. The reply is built from the last event.
    ///
    /// # Errors
    /// The [`Refusal`] for the caller; nothing is recorded.
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal>;

    /// Stores the objects that the events name and removes objects that no event names any more. Runs in the same
    /// commit, after the events are folded.
    ///
    /// # Errors
    /// [`Error`] when a row cannot be read; nothing is recorded.
    fn keep(&mut self, _rows: &mut dyn RowsMut) -> Result<(), Error> {
        Ok(())
    }
}

/// An idempotency key and the request that it identifies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyClaim {
    /// The caller's key, at most 256 bytes.
    pub text: String,
    /// SHA-256 of UID, agent and key.
    pub hash: Hash,
    /// SHA-256 of the operation name and its canonical arguments.
    pub body: Hash,
}

impl KeyClaim {
    /// Creates a claim of `text` for this actor and body.
    #[must_use]
    pub fn new(text: &str, actor: &Actor, body: Hash) -> Self {
        Self {
            text: text.to_owned(),
            hash: key_hash(text, actor),
            body,
        }
    }
}

/// Result of a write.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The event from which the reply is built.
    pub event: Arc<LoggedEvent>,
    /// The event's metadata, as decided.
    pub meta: Event,
    /// Whether an earlier call with the same key recorded it.
    pub replayed: bool,
    /// Whether the answer waited for the sync, and the data folder is on a disk.
    pub durable: bool,
}

/// The state that readers see. All of it is as durable as the config promises.
pub struct PublishedState {
    /// Snapshot of the rows.
    pub snapshot: Snapshot,
    /// End of the log in the snapshot.
    pub tail: Tail,
}

/// The end of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Tail {
    /// Position of the last event; 0 for an empty log.
    pub position: Position,
    /// Chain link of the last event; zeros for an empty log.
    pub link: Hash,
    /// Time of the last event.
    pub time: Micros,
}

/// Settings of the engine. The config has the name, unit and default of each limit.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Answer after the sync; otherwise after the commit.
    pub durable: bool,
    /// The data folder is in memory: nothing is durable, although all is synced.
    pub in_memory: bool,
    /// Maximum size of waiting commands, in bytes; beyond it, callers wait.
    pub queue_bytes_max: usize,
    /// Maximum number of commands per group.
    pub group_commands_max: usize,
    /// Maximum size of events per group, in bytes.
    pub group_bytes_max: usize,
    /// Maximum time a group waits for callers of the last one, in microseconds.
    pub linger_us_max: u64,
    /// Free space below which writes are refused, in bytes.
    pub disk_free_bytes_min: u64,
    /// Size of the ballast file for recovery from a full disk, in bytes.
    pub reserve_bytes: u64,
    /// Idle time before memtables are flushed, in milliseconds.
    pub flush_idle_ms: u64,
    /// Minimum size of removed rows for an automatic compaction, in bytes.
    pub compact_freed_bytes_min: u64,
    /// Progress callback while views are folded at the opening of a store.
    pub progress: replay::ReplayProgress,
    /// Limits of the storage engine.
    pub store: crate::store::Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            durable: true,
            in_memory: false,
            queue_bytes_max: 64 << 20,
            group_commands_max: 1024,
            group_bytes_max: 4 << 20,
            linger_us_max: 150,
            disk_free_bytes_min: 64 << 20,
            reserve_bytes: 8 << 20,
            flush_idle_ms: 5_000,
            compact_freed_bytes_min: 4 << 20,
            progress: |_, _| {},
            store: crate::store::Limits::default(),
        }
    }
}

impl Settings {
    /// Returns whether what was answered survives a power cut.
    #[must_use]
    pub const fn is_durable(&self) -> bool {
        self.durable && !self.in_memory
    }
}

#[cfg(test)]
pub(crate) mod tests;
