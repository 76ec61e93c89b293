//! Wire types of a context file's history.

use serde::{Deserialize, Serialize};

use super::Change;
use crate::protocol::{Position, lenient};

/// Arguments of `context_history`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextHistoryArgs {
    /// A project's id, a path in it, or `current`.
    pub project_id: String,
    /// Which context file.
    pub file_type: String,
    /// How many versions at most: 1 to 500; absent: 50.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub limit: Option<u64>,
    /// Where the last page ended: its `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub next: Option<String>,
    /// Wait until this position can be read.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub at_least: Option<Position>,
    /// Who asks, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// A version of a context file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextVersion {
    /// Its number.
    pub version: u64,
    /// Position of its event.
    pub position: Position,
    /// When it was written, RFC 3339.
    pub at: String,
    /// By which agent; `file` for an edit by hand.
    pub agent: String,
    /// How it came about.
    pub change: Change,
    /// Length of the content.
    pub bytes: u64,
    /// Errors that it had by its template when it was written.
    pub errors: u64,
    /// Warnings likewise.
    pub warnings: u64,
    /// The version that it was made from, where that is not the one before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub base: Option<u64>,
    /// A version made at the same time whose changes are not in this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub beside: Option<u64>,
    /// Why, as the writer said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub reason: Option<String>,
    /// Keys of the sections that differ from the version before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_sections: Vec<String>,
}

/// Reply of `context_history`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextHistoryReply {
    /// The project.
    pub project: String,
    /// Which file.
    pub file_type: String,
    /// The newest first.
    pub versions: Vec<ContextVersion>,
    /// Where to read on; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub next: Option<String>,
    /// Position of the snapshot that was read.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Arguments of `diff_context`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiffContextArgs {
    /// A project's id, a path in it, or `current`.
    pub project_id: String,
    /// Which context file.
    pub file_type: String,
    /// The earlier version; absent: the one before `to`. 0 is the empty file.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub from: Option<u64>,
    /// The later version; absent: the newest.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub to: Option<u64>,
    /// Wait until this position can be read.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub at_least: Option<Position>,
    /// Who asks, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// Reply of `diff_context`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiffContextReply {
    /// The project.
    pub project: String,
    /// Which file.
    pub file_type: String,
    /// The earlier version.
    pub from: u64,
    /// The later version.
    pub to: u64,
    /// Keys of the sections that differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_sections: Vec<String>,
    /// Lines that are new.
    pub added: u64,
    /// Lines that are gone.
    pub removed: u64,
    /// What changed, as a unified diff.
    pub diff: String,
    /// Position of the snapshot that was read.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
