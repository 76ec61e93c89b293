//! Wire types of `export_session` and `import_session`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::protocol::{AsOf, Position, SessionId, lenient};

/// How a session is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// JSON lines: for `import_session`, and for other programs.
    #[default]
    Jsonl,
    /// Markdown: for people.
    Markdown,
}

/// Derived, it would be a list of alternatives, which some hosts refuse.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for ExportFormat {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ExportFormat".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "enum": ["jsonl", "markdown"] })
    }
}

/// Arguments of `export_session`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExportSessionArgs {
    /// Which one; absent: the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// How it is written; absent: `jsonl`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "ExportFormat"))]
    pub format: Option<ExportFormat>,
    /// As it was at an earlier moment: a position or RFC 3339 time. For the first page; the others are of
    /// the same moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "AsOf"))]
    pub as_of: Option<AsOf>,
    /// A page ends once it has so many bytes: 1 to 33554432; absent: 262144. An event is never divided.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub bytes_max: Option<u64>,
    /// Where the last page ended: its `next`. The contents of all pages, one behind the other, are the
    /// export.
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

/// Reply of `export_session`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExportSessionReply {
    /// Which session.
    pub session: SessionId,
    /// How it is written.
    pub format: ExportFormat,
    /// This page.
    pub content: String,
    /// Where to read on; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub next: Option<String>,
    /// The last position that counts, for all pages.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What is in the session and not in this page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Arguments of `import_session`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportSessionArgs {
    /// The whole export, JSON lines: at most 33554432 bytes and 100000 lines.
    pub content: String,
    /// An id of your own; absent: the one that it had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// Its project; absent: the one that it had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub project: Option<String>,
    /// Check everything and record nothing.
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

/// Reply of `import_session`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportSessionReply {
    /// Its id here.
    pub session: SessionId,
    /// How many events it has.
    pub events: u64,
    /// How many of each kind.
    pub kinds: BTreeMap<String, u64>,
    /// Whether nothing was recorded, as `dry_run` asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// Position of the last event in the log; of a dry run, of the snapshot that was read.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// The project it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub project: Option<String>,
    /// What is not as it was: checkpoints whose ids are taken here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
