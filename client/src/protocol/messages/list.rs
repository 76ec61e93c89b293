//! Wire types of `list_messages`.

use lore_wire::wire;

use super::{Mentioned, MessageType, Order, PossibleEntity, RememberedKind, Sender, ToolStatus};
use crate::protocol::{AsOf, Position, RawJson, SessionId};

/// Arguments of `list_messages`.
#[wire(args(session, .., as_of, at_least, agent))]
#[derive(Default)]
pub struct ListMessagesArgs {
    /// Only this message, with its whole content.
    pub message: Option<String>,
    /// Maximum number, 1 to 500 (default 50).
    pub limit: Option<u64>,
    /// `next` of the previous page.
    pub next: Option<String>,
    /// After this position, or from this time on.
    pub since: Option<AsOf>,
    /// Only this type.
    #[serde(rename = "type")]
    pub kind: Option<MessageType>,
    /// Only this sender.
    pub sender: Option<Sender>,
    /// Sort order; default: oldest first.
    pub order: Option<Order>,
}

/// A tool that was used for a message.
#[wire]
pub struct UsedTool {
    /// Its name.
    pub name: String,
    /// Its final status.
    pub status: Option<ToolStatus>,
    /// The result: an object or a list, or a text; the beginning of a long one as text.
    pub result: Option<RawJson>,
}

/// A message of a session.
#[wire]
pub struct Message {
    /// Its id.
    pub message: String,
    /// Its place in the log.
    pub position: Position,
    /// Its sender.
    pub sender: Sender,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: MessageType,
    /// The content; in a list the beginning of a long one.
    pub content: String,
    /// Total length in bytes, if only the beginning is shown.
    pub bytes: Option<u64>,
    /// Tools that were used for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<UsedTool>,
    /// Number of its tokens.
    pub tokens: u64,
    /// Entities that it mentions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<Mentioned>,
    /// Entities that it may refer to: no mentions, but evidence for context packs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub possible: Vec<PossibleEntity>,
    /// The context pack it was built from.
    pub pack: Option<String>,
    /// What it is, if it is to be remembered.
    pub remembered: Option<RememberedKind>,
    /// Positions of the events that it stands on, if it is to be remembered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Position>,
    /// Time of recording, RFC 3339.
    pub at: String,
    /// Its author.
    pub agent: String,
}

/// Reply of `list_messages`.
#[wire(reply(position, durable, chosen_by, warnings))]
pub struct ListMessagesReply {
    /// The session.
    pub session: SessionId,
    /// The messages, in the requested order.
    pub messages: Vec<Message>,
    /// `next` for the following page; absent at the end.
    pub next: Option<String>,
}
