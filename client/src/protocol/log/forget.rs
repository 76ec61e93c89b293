//! Wire types of `forget`.

use serde::{Deserialize, Serialize};

use crate::protocol::{AsOf, Position, SessionId, lenient};

/// Arguments of `forget`. At least one of `session`, `project`, `of_agent`, `origin`, `from` and `to`;
/// several narrow each other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForgetArgs {
    /// What is in this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// What is in this project: its sessions, its context files with their history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub project: Option<String>,
    /// What this agent recorded; `agent` is who asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub of_agent: Option<String>,
    /// Where it came from: `source:ID` (a removed source of documents), `file:/PATH` (a file or folder),
    /// `tool:NAME`, `resolver:NAME`, or `import` (imported sessions).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub origin: Option<String>,
    /// What was recorded at this position or RFC 3339 time, or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "AsOf"))]
    pub from: Option<AsOf>,
    /// What was recorded at this position or RFC 3339 time, or earlier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "AsOf"))]
    pub to: Option<AsOf>,
    /// Only tell what would go (default false).
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::boolean"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub dry_run: Option<bool>,
    /// Idempotency key, at most 256 bytes: the same call again gives the first reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub key: Option<String>,
    /// Who acts, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// Reply of `forget`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForgetReply {
    /// Events whose content is forgotten.
    pub events: u64,
    /// What they held, in bytes: payloads, and the blobs and objects that nothing else needed.
    pub bytes: u64,
    /// Sessions that are gone whole.
    pub sessions: u64,
    /// Sessions that go on without some of their events.
    pub sessions_in_part: u64,
    /// Projects that are gone, with their context files.
    pub projects: u64,
    /// Versions and drafts of context files, those of whole projects included.
    pub context_versions: u64,
    /// Sources of documents that are gone.
    pub sources: u64,
    /// Documents of which one version or more is gone.
    pub documents: u64,
    /// What was meant and stays, and why; at most 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
    /// Position of the event that says so; of the newest event when nothing was forgotten.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What the caller should know; also what could not be erased from the disk yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
