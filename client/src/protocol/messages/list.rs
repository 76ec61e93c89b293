//! Wire types of `list_messages`.

use serde::{Deserialize, Serialize};

use super::{Mentioned, MessageType, Order, Sender, ToolUse};
use crate::protocol::{AsOf, Position, SessionId, lenient};

/// Arguments of `list_messages`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListMessagesArgs {
    /// Of which session; absent: the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// This one alone, whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub message: Option<String>,
    /// How many at most: 1 to 500; absent: 50.
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
    /// After this position, or from this time on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "AsOf"))]
    pub since: Option<AsOf>,
    /// Of this type alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "MessageType"))]
    #[serde(rename = "type")]
    pub kind: Option<MessageType>,
    /// Of this sender alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Sender"))]
    pub sender: Option<Sender>,
    /// Which comes first; absent: the oldest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Order"))]
    pub order: Option<Order>,
    /// As it was at this position or time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "AsOf"))]
    pub as_of: Option<AsOf>,
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

/// A message of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Message {
    /// Its id.
    pub message: String,
    /// Its place in the log.
    pub position: Position,
    /// Who said it.
    pub sender: Sender,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: MessageType,
    /// What was said; of a long one in a list its beginning.
    pub content: String,
    /// How long it is in all, in bytes, when only its beginning is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub bytes: Option<u64>,
    /// Tools that were used to make it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolUse>,
    /// How many tokens it has.
    pub tokens: u64,
    /// What was recognised in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<Mentioned>,
    /// The context pack that it was made with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub pack: Option<String>,
    /// When it was recorded, RFC 3339.
    pub at: String,
    /// By whom.
    pub agent: String,
}

/// Reply of `list_messages`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListMessagesReply {
    /// Of which session.
    pub session: SessionId,
    /// In the order asked for.
    pub messages: Vec<Message>,
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
