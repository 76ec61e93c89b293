//! Wire types of a backup: stored records of the log, page by page, and the data that its events reference.
//! Bytes are Base64 with padding (RFC 4648, section 4).

use lore_wire::wire;

use super::super::Position;

/// Arguments of `backup`.
#[wire(args)]
#[derive(Default)]
pub struct BackupArgs {
    /// The last position that the caller has; default: none.
    pub after: Option<Position>,
    /// Approximate page size in bytes of records, at most 16777216 (default 4194304).
    pub bytes_max: Option<u64>,
    /// Also return the files beside the log that cannot be derived from it.
    pub beside: Option<bool>,
}

/// Reply of `backup`.
#[wire(reply(position, durable))]
#[derive(Default)]
pub struct BackupReply {
    /// The id of the store, hexadecimal.
    pub store: String,
    /// The link of the event at `after`, hexadecimal; zeros before the first event. Absent if the
    /// log is shorter.
    pub link: Option<String>,
    /// Records, each with one or more events in their stored bytes, in order.
    pub records: Vec<String>,
    /// The last position in the records; `after` if there are none.
    pub last: Position,
    /// Existing objects that their events name: values of checkpoints.
    pub objects: Vec<NamedObject>,
    /// Objects that no longer exist in the form that the last event of this page names: they were
    /// removed, or saved again in another form. Later events record that.
    pub objects_gone: u64,
    /// Blobs that their events name: large texts.
    pub blobs: Vec<NamedBlob>,
    /// The files beside the log, if requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<DataFile>,
}

/// An object that an event references.
#[wire]
pub struct NamedObject {
    /// SHA-256 of its content, hexadecimal.
    pub object: String,
    /// Identifies its stored form: the beginning of the SHA-256 of its row, hexadecimal.
    pub tag: String,
}

/// A blob that an event references.
#[wire]
pub struct NamedBlob {
    /// SHA-256 of its content, hexadecimal.
    pub blob: String,
    /// Length of its content, in bytes.
    pub bytes: u64,
}

/// A file next to the log.
#[wire]
pub struct DataFile {
    /// Its name in the data folder.
    pub name: String,
    /// The bytes as Base64.
    pub content: String,
}

/// Arguments of `backup_objects`.
#[wire(args)]
#[derive(Default)]
pub struct BackupObjectsArgs {
    /// SHA-256 of each object's content, hexadecimal; at most 256.
    #[wire(required)]
    pub objects: Vec<String>,
}

/// Reply of `backup_objects`.
#[wire(reply(
    position = "Position of the newest event. If a requested object is missing, an event up to it records the removal.",
    durable
))]
#[derive(Default)]
pub struct BackupObjectsReply {
    /// The existing objects.
    pub objects: Vec<StoredObject>,
}

/// A stored object.
#[wire]
pub struct StoredObject {
    /// SHA-256 of its content, hexadecimal.
    pub object: String,
    /// Its row.
    pub row: String,
}

/// Arguments of `backup_blob`.
#[wire(args)]
#[derive(Default)]
pub struct BackupBlobArgs {
    /// SHA-256 of its content, hexadecimal.
    pub blob: String,
    /// Length of its content, in bytes.
    #[schema(with = "u64")]
    pub bytes: u64,
    /// The first byte (default 0).
    pub from: Option<u64>,
}

/// Reply of `backup_blob`.
#[wire(reply(position, durable))]
#[derive(Default)]
pub struct BackupBlobReply {
    /// At most 8388608 bytes of it; absent if it was removed, as an event up to `position` records.
    pub content: Option<String>,
}
