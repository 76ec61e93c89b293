//! Wire types of `record_message`.

use serde::{Deserialize, Serialize};

use super::{MessageType, Recognised, Sender, ToolUse};
use crate::protocol::{Position, SessionId, lenient};

/// Arguments of `record_message`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordMessageArgs {
    /// Into which session; absent: the current one, or a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// Who said it.
    pub sender: Sender,
    /// What was said, whole.
    pub content: String,
    /// What it is; absent: `query` of a user or the system, `response` of an assistant, `tool_result` of a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "MessageType"))]
    #[serde(rename = "type")]
    pub kind: Option<MessageType>,
    /// Tools that were used to make it.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "super::tool_use::uses"
    )]
    pub tools: Vec<ToolUse>,
    /// The context pack that it was made with: the `pack` of a reply of `enrich_message`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub pack: Option<String>,
    /// Token of a lease that must still be held.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub fence: Option<Position>,
    /// Idempotency key, at most 256 bytes: the same call again gives the first reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub key: Option<String>,
    /// Who acts, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// Reply of `record_message`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordMessageReply {
    /// Its session.
    pub session: SessionId,
    /// Its id.
    pub message: String,
    /// How many tokens its content has, as o200k counts them; without what came out of a context pack.
    pub tokens: u64,
    /// What was recognised in it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<Mentioned>,
    /// How much of the content came out of a context pack, in bytes: it is kept, and not counted as new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub quoted_bytes: Option<u64>,
    /// Position of the write in the log.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// The project it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub project: Option<String>,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// An entity that was recognised.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mentioned {
    /// Its kind: `device`, `file_path` and the like.
    pub kind: String,
    /// As it was written.
    pub name: String,
    /// Its canonical name.
    pub key: String,
    /// How it was recognised.
    pub how: Recognised,
}
