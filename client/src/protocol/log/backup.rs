//! Wire types of a backup: the log as it is kept, page by page, and what its events name. Bytes are
//! Base64 with padding (RFC 4648, section 4).

use serde::{Deserialize, Serialize};

use super::super::{Position, lenient};

/// Arguments of `backup`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BackupArgs {
    /// The last position that the caller has; absent: none.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub after: Option<Position>,
    /// End the page after about so many bytes of records, at most 16777216; absent: 4194304.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub bytes_max: Option<u64>,
    /// Also give the files beside the log that cannot be made from it.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::boolean"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub beside: Option<bool>,
}

/// Reply of `backup`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BackupReply {
    /// The id of the store, hexadecimal.
    pub store: String,
    /// The link of the event at `after`, hexadecimal; zeros before the first event. Absent: the log
    /// does not reach so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub link: Option<String>,
    /// Records, each some events in their stored bytes, in order.
    pub records: Vec<String>,
    /// The last position in them; `after`, when there are none.
    pub last: Position,
    /// Objects that their events name and that are kept: values of checkpoints.
    pub objects: Vec<NamedObject>,
    /// Objects that are no longer kept as the last event here that names them says: they are gone, or were
    /// saved again in another form, which is told by events behind these.
    pub objects_gone: u64,
    /// Blobs that their events name: large texts.
    pub blobs: Vec<NamedBlob>,
    /// The files beside the log, when they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<FileBeside>,
    /// Position of the newest event.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
}

/// An object that an event names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedObject {
    /// SHA-256 of its content, hexadecimal.
    pub object: String,
    /// Tells one way of keeping it from another: the beginning of the SHA-256 of its row, hexadecimal.
    pub tag: String,
}

/// A blob that an event names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedBlob {
    /// SHA-256 of its content, hexadecimal.
    pub blob: String,
    /// The length of its content, in bytes.
    pub bytes: u64,
}

/// A file beside the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileBeside {
    /// Its name in the data folder.
    pub name: String,
    /// Its bytes.
    pub content: String,
}

/// Arguments of `backup_objects`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BackupObjectsArgs {
    /// SHA-256 of each object's content, hexadecimal; at most 256.
    pub objects: Vec<String>,
}

/// Reply of `backup_objects`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BackupObjectsReply {
    /// Those that are kept.
    pub objects: Vec<KeptObject>,
    /// Position of the newest event: of what was asked for and is not here, an event up to it says
    /// that it went.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
}

/// An object as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeptObject {
    /// SHA-256 of its content, hexadecimal.
    pub object: String,
    /// Its row.
    pub row: String,
}

/// Arguments of `backup_blob`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BackupBlobArgs {
    /// SHA-256 of its content, hexadecimal.
    pub blob: String,
    /// The length of its content, in bytes.
    #[serde(deserialize_with = "lenient::number")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub bytes: u64,
    /// From which byte on; absent: 0.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub from: Option<u64>,
}

/// Reply of `backup_blob`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BackupBlobReply {
    /// At most 8388608 bytes of it; absent: it went, as an event up to `position` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub content: Option<String>,
    /// Position of the newest event.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
}
