//! The log: every event in order, chained by hashes, and the indexes that belong to it.
//!
//! What is here never changes its bytes: [`LoggedEvent`] (one event), the record (several events of a
//! group in one row), the index rows of [`index`], the [`objects`] that events name, and the [`texts`]
//! beside them. Views are elsewhere and may be rebuilt.

pub mod codec;
mod event;
pub mod forgotten;
pub mod index;
mod json;
mod kind;
pub mod names;
mod nesting;
pub mod objects;
mod policy;
mod ranges;
mod read;
mod record;
pub mod texts;

pub use event::{
    Actor, Body, ChainError, EncodedEvent, EventScope, Hash, Header, ImportOrigin, KeyMark,
    LoggedEvent, Payload, key_hash, link, payload_hash,
};
pub use forgotten::{EventsErased, EventsForgotten, FORGOTTEN, StreamName};
pub use json::payload_json;
pub use kind::{EventKind, Kind};
pub use names::BLOB_NAMES;
pub use policy::{Inheritance, PartialForget, Policy, TransferPolicy};
pub use ranges::PositionSet;
pub use read::{EventVisitor, Log, Stream};
pub use record::{
    RECORD_BYTES_MAX, RecordBuilder, RecordKey, decode as decode_record, encode as encode_record,
    record_positions,
};

pub use lore::protocol::Position;

use crate::store::Keyspace;
use crate::store::salvage::KeyspaceRows;

/// Keyspace of the records, by the position of their first event.
pub const LOG: Keyspace = Keyspace::new("log");

/// Keyspace of the log's index: idempotency keys, streams, step numbers, blobs.
pub const INDEX: Keyspace = Keyspace::new("index");

/// Keyspace of the objects that events name, by the hash of their content.
pub const OBJECTS: Keyspace = Keyspace::new("objects");

/// The keyspaces that no fold writes: the log and the objects that events name.
pub const KEPT: [Keyspace; 2] = [LOG, OBJECTS];

/// The same, each with what its rows look like.
pub const KEPT_ROWS: [KeyspaceRows; 2] = [(LOG, record::is_row), (OBJECTS, objects::is_row)];
