//! Wire types of `add_source`, `remove_source`, `rescan` and `list_sources`.

use serde::{Deserialize, Serialize};

use super::SourceState;
use crate::protocol::{Position, lenient};

/// Arguments of `add_source`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AddSourceArgs {
    /// A folder or a file, absolute; a relative path starts from the caller's working directory. With `sent`: what people call the source.
    pub path: String,
    /// Whether its documents are sent by `put_document`: no file is read or watched then.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::boolean"
    )]
    #[cfg_attr(feature = "schema", schemars(extend("default" = false), with = "bool"))]
    pub sent: Option<bool>,
    /// The context of its documents; absent: the name of the folder that each is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub context_id: Option<String>,
    /// What people call that context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub context_name: Option<String>,
    /// The category of documents that say none themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub category: Option<String>,
    /// Tags of all its documents, besides their own.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "lenient::texts"
    )]
    pub tags: Vec<String>,
    /// Globs: only files that match one are taken, for instance `*.md` or `docs/**`.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "lenient::texts"
    )]
    pub include: Vec<String>,
    /// Globs: files and folders that match one are left out, besides what `.gitignore` and `.loreignore` name.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "lenient::texts"
    )]
    pub exclude: Vec<String>,
    /// Whether changes are taken in as they happen; by default they are.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::boolean"
    )]
    #[cfg_attr(feature = "schema", schemars(extend("default" = true), with = "bool"))]
    pub watch: Option<bool>,
    /// Idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub key: Option<String>,
    /// Who adds it, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// Reply of `add_source`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AddSourceReply {
    /// Its id.
    pub source: String,
    /// The folder or file, without links.
    pub path: String,
    /// Files that it holds now; they are taken in behind this answer.
    pub found: u64,
    /// Whether it is new; otherwise it was known, and its settings are these now.
    pub created: bool,
    /// Position of the event.
    pub position: Position,
    /// Whether that is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Arguments of `remove_source`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RemoveSourceArgs {
    /// The source's id, or its path.
    pub source: String,
    /// Idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub key: Option<String>,
    /// Who removes it, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// Reply of `remove_source`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RemoveSourceReply {
    /// Its id.
    pub source: String,
    /// Its folder or file, which is left as it is.
    pub path: String,
    /// Documents that are known no more.
    pub documents: u64,
    /// Position of the event.
    pub position: Position,
    /// Whether that is on disk.
    pub durable: bool,
}

/// Arguments of `rescan`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RescanArgs {
    /// A source's id, or its path; absent: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub source: Option<String>,
    /// Whether files that failed are tried again although they have not changed.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::boolean"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub retry: Option<bool>,
    /// Who asks, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// Reply of `rescan`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RescanReply {
    /// What is looked through now, behind this answer.
    pub sources: Vec<String>,
    /// Position of the last event.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
}

/// Arguments of `list_sources`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListSourcesArgs {
    /// This one alone, by its id or its path, with all its failures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub source: Option<String>,
    /// Who asks, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
    /// Wait until this position can be seen.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub at_least: Option<Position>,
}

/// A file that could not be taken in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileFailure {
    /// Where it is in its source.
    pub path: String,
    /// Why, and what would help.
    pub reason: String,
    /// When that was found, RFC 3339.
    pub at: String,
}

/// A source of documents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Source {
    /// Its id.
    pub source: String,
    /// The folder or file, or what it is called.
    pub path: String,
    /// Whether its documents are sent by `put_document`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sent: bool,
    /// The context of its documents, when it sets one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub context_id: Option<String>,
    /// What people call that context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub context_name: Option<String>,
    /// The category it gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub category: Option<String>,
    /// The tags it gives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Files it takes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// Files it leaves out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// What is being done with it.
    pub state: SourceState,
    /// Whether changes are seen as they happen; otherwise why not, and what is done instead.
    pub watching: String,
    /// Documents taken in.
    pub documents: u64,
    /// Chunks that they have.
    pub chunks: u64,
    /// Bytes of their files.
    pub bytes: u64,
    /// Files that the scan has found so far, or the last one found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub found: Option<u64>,
    /// Files that are still to be taken in by the scan that goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub left: Option<u64>,
    /// Files that could not be taken in.
    pub failed: u64,
    /// The latest of these; all of them when one source is asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FileFailure>,
    /// What the scan could not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// When it was last looked through to the end, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub scanned_at: Option<String>,
    /// When it was added, RFC 3339.
    pub added_at: String,
}

/// Reply of `list_sources`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListSourcesReply {
    /// By their paths.
    pub sources: Vec<Source>,
    /// Position of the last event.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
