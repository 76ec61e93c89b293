//! Wire types of exporting and importing all that is recorded, as lines of docs/export-format.md.

use serde::{Deserialize, Serialize};

use super::super::{Position, SessionId, lenient};

/// Arguments of `export_log`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExportLogArgs {
    /// This session alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// This project alone, with its sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub project: Option<String>,
    /// End the page after about so many bytes, at most 33554432; absent: 262144.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub bytes_max: Option<u64>,
    /// `next` of the last reply, unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub next: Option<String>,
}

/// Reply of `export_log`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExportLogReply {
    /// Whole lines.
    pub content: String,
    /// Where it goes on; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub next: Option<String>,
    /// Everything up to this position is exported, and nothing behind it.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What is not in it, though it is recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Arguments of `import_log`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportLogArgs {
    /// Lines of an exported log, at most 33554432 bytes: all of them, or whole sessions and other lines of
    /// a longer one.
    pub content: String,
    /// Which line of the whole the first one is; absent: 1.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub line: Option<u64>,
    /// Only check it, and tell what an import would record.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::boolean"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub dry_run: Option<bool>,
    /// Who acts, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// Reply of `import_log`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportLogReply {
    /// Sessions that were recorded.
    pub sessions: u64,
    /// Sessions that were there and went on: what is new of them was recorded.
    #[serde(default)]
    pub continued: u64,
    /// Events of all these sessions that were recorded.
    pub events: u64,
    /// Projects that were recorded.
    pub projects: u64,
    /// Versions of context files that were recorded.
    pub versions: u64,
    /// Documents that were recorded: those that were sent, for the others are read where they are.
    #[serde(default)]
    pub documents: u64,
    /// Sessions, projects, versions and documents that were there already.
    pub there: u64,
    /// Paths of sources of documents that are files: they are not recorded, `add_source` makes them known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Nothing was recorded, as was asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// Position of the newest event.
    pub position: Position,
    /// Whether it is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
