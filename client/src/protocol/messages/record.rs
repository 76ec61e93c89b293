//! Wire types of `record_message`.

use lore_wire::wire;

use super::{MessageType, Recognised, Sender, ToolUse};
use crate::protocol::SessionId;

/// Arguments of `record_message`.
#[wire(args(session_or_new, .., fence, key, agent))]
pub struct RecordMessageArgs {
    /// Its sender.
    pub sender: Sender,
    /// The complete text of the message.
    pub content: String,
    /// Its type; default: that of its sender, such as `query` for a user.
    #[serde(rename = "type")]
    pub kind: Option<MessageType>,
    /// Tools that were used for it.
    #[serde(deserialize_with = "super::tool_use::uses")]
    pub tools: Vec<ToolUse>,
    /// The context pack it was built from: `pack` in the reply of `enrich_message`.
    pub pack: Option<String>,
}

/// Reply of `record_message`.
#[wire(reply(position, durable, chosen_by, project, warnings))]
pub struct RecordMessageReply {
    /// Its session.
    pub session: SessionId,
    /// Its id.
    pub message: String,
    /// Number of o200k tokens of the content, without pack citations.
    pub tokens: u64,
    /// Entities that it mentions, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<Mentioned>,
    /// Entities that a pronoun, an ordinal or a partial name may refer to: no mentions, but evidence for context packs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub possible: Vec<PossibleEntity>,
    /// Bytes of the content that cite a context pack: they are stored, and not counted as new.
    pub quoted_bytes: Option<u64>,
}

/// An entity that was recognised.
#[wire]
pub struct Mentioned {
    /// Its kind, such as `device` or `file_path`.
    pub kind: String,
    /// Its name as written.
    pub name: String,
    /// Its canonical name.
    pub key: String,
    /// How it was recognised.
    pub how: Recognised,
    /// How well the text names it, above 0 and at most 1, if only a part or a misspelling of its name is there.
    pub score: Option<f64>,
}

/// An entity that a text may refer to.
#[wire]
pub struct PossibleEntity {
    /// Its kind, such as `device` or `file_path`.
    pub kind: String,
    /// Its name as last written.
    pub name: String,
    /// Its canonical name.
    pub key: String,
    /// How prominent it is in the conversation, above 0 and at most 1.
    pub score: f64,
}
