//! The write side: one writer that decides, appends, folds and commits a group at a time, a second
//! thread that syncs, and the last durable state for readers.
//!
//! A command waits in a bounded queue; the writer decides it against the rows as every earlier
//! command left them, stamps its events, folds them into the views, and commits the whole group as
//! one batch. Only when the sync has returned is the state published and are the callers answered.

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

use std::sync::Arc;

pub use compaction::CompactionResult;
pub use handle::{Engine, QueuedWrite};
pub use health::{Health, WriteState};
pub use open::{DataFolder, OpenError, OpenedStore};

use crate::clock::Micros;
use crate::error::Refusal;
use crate::events::{Event, NewEvent};
use crate::log::{Actor, Hash, Header, Log, LoggedEvent, Position, RecordKey, key_hash};
use crate::store::{Error, Keyspace, Rows, RowsMut, Snapshot};

/// What folds events into rows: the sum of all views and of the log's own index.
pub trait Fold: Send + Sync {
    /// The spaces whose rows [`Self::apply`] makes, each with the name of its version.
    fn keyspaces(&self) -> &'static [Keyspace];

    /// Folds one event. Pure: rows follow from events alone, of which `past` has those before it. `meta` is its
    /// metadata, if it has any that this version knows.
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

    /// Whether what an event says was forgotten, though its bytes may still be in a record.
    ///
    /// # Errors
    /// [`Error`] when a row cannot be read.
    fn is_forgotten(&self, rows: &dyn Rows, header: &Header) -> Result<bool, Error>;
}

/// The events before the one at hand: a stream of which something is forgotten is folded again.
pub trait EventLookup {
    /// An event by its record and position.
    ///
    /// # Errors
    /// [`Error`] when its record cannot be read.
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

/// What a command may look at.
pub struct DecisionContext<'d> {
    /// The rows as every earlier command left them.
    pub rows: &'d dyn Rows,
    /// The time the events will have.
    pub now: Micros,
    /// Who asks.
    pub actor: &'d Actor,
    /// What earlier commands of the same group decided: not in a record yet.
    group: &'d [Arc<LoggedEvent>],
}

impl DecisionContext<'_> {
    /// An event of the log, or of the same group.
    ///
    /// # Errors
    /// [`Error`] when its record cannot be read.
    pub fn event(&self, record: RecordKey, position: Position) -> Result<Arc<LoggedEvent>, Error> {
        group::in_group_or_log(self.group, self.rows, record, position)
    }
}

/// Something a caller wants to happen. Prepared in parallel, decided by the writer.
pub trait Command: Send {
    /// Decides: the events that happen, or why not. The reply is made from the last event.
    ///
    /// # Errors
    /// The [`Refusal`] that the caller gets; nothing is recorded then.
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal>;

    /// Puts the objects that the events name, and lets those go that no event names any more; in
    /// the same commit, once the events are folded.
    ///
    /// # Errors
    /// [`Error`] when a row cannot be read; nothing is recorded then.
    fn keep(&mut self, _rows: &mut dyn RowsMut) -> Result<(), Error> {
        Ok(())
    }
}

/// An idempotency key and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyClaim {
    /// The key as given, up to 256 bytes.
    pub text: String,
    /// SHA-256 of uid, agent and key.
    pub hash: Hash,
    /// SHA-256 of the operation's name and its canonical arguments.
    pub body: Hash,
}

impl KeyClaim {
    /// Claims `text` for this actor and body.
    #[must_use]
    pub fn new(text: &str, actor: &Actor, body: Hash) -> Self {
        Self {
            text: text.to_owned(),
            hash: key_hash(text, actor),
            body,
        }
    }
}

/// What a write came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The event that the reply is made from.
    pub event: Arc<LoggedEvent>,
    /// Its metadata, as it was decided.
    pub meta: Event,
    /// Whether it was recorded by an earlier call with the same key.
    pub replayed: bool,
    /// Whether the answer waited for the sync.
    pub durable: bool,
}

/// The state that readers see: everything in it is as durable as the config promises.
pub struct PublishedState {
    /// The rows.
    pub snapshot: Snapshot,
    /// The last event in them.
    pub tail: Tail,
}

/// The end of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Tail {
    /// Position of the last event; 0 for an empty log.
    pub position: Position,
    /// Its link; zeros for an empty log.
    pub link: Hash,
    /// Its time.
    pub time: Micros,
}

/// How the engine works. Every limit has its name, unit and default in the config.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Answer only after the sync; otherwise after the commit.
    pub durable: bool,
    /// Bytes of commands that may wait, beyond which callers wait.
    pub queue_bytes_max: usize,
    /// Commands in one group.
    pub group_commands_max: usize,
    /// Bytes of events in one group.
    pub group_bytes_max: usize,
    /// How long a group waits for callers of the last one, in microseconds.
    pub linger_us_max: u64,
    /// Free space under which writes are refused, in bytes.
    pub disk_free_bytes_min: u64,
    /// Kept allocated, to have room to recover in, in bytes.
    pub reserve_bytes: u64,
    /// Idle time after which memtables are flushed, in milliseconds.
    pub flush_idle_ms: u64,
    /// Bytes of removed rows under which no compaction starts by itself.
    pub compact_freed_bytes_min: u64,
    /// Told how far views are folded, while a store is opened whose views are behind its log.
    pub progress: replay::ReplayProgress,
    /// The storage engine's limits.
    pub store: crate::store::Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            durable: true,
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

#[cfg(test)]
pub(crate) mod tests;
