//! What happens in a conversation: something is said, a tool is at work.

use serde::{Deserialize, Serialize};

use super::BlobHash;
use super::entities::Mention;
use super::steps::Text;
use crate::store::BlobRef;

/// Declares a closed list of names, stored as words and, in rows, as a number each.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $number:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$variant_doc])* $variant = $number,)* }

        impl $name {
            /// The one of a row's number.
            #[must_use]
            pub fn of_number(number: u8) -> Option<Self> {
                match number {
                    $($number => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

names! {
    /// Who says something.
    Sender {
        /// The person.
        User = 0,
        /// The model.
        Assistant = 1,
        /// Whoever sets the frame.
        System = 2,
        /// A tool.
        Tool = 3,
    }
}

names! {
    /// What a message is.
    Kind {
        /// Something is asked.
        Query = 0,
        /// Something is answered.
        Response = 1,
        /// A tool returned something.
        ToolResult = 2,
        /// Something failed.
        Error = 3,
    }
}

names! {
    /// How far the execution of a tool is.
    Status {
        /// It was asked for.
        Starting = 0,
        /// It runs.
        Running = 1,
        /// It ended well.
        Completed = 2,
        /// It failed.
        Error = 3,
    }
}

/// Something was said. What the caller brought; prepared before the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageRecorded {
    /// What was said, whole.
    pub content: Text,
    /// Tools that were used to make it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolUse>,
    /// The context pack that it was made with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pack: Option<String>,
    /// Where the content came out of context packs, in bytes: start and end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quoted: Vec<(u32, u32)>,
}

/// A tool that a message used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUse {
    /// Its name.
    pub name: String,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// What it returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Text>,
}

impl MessageRecorded {
    /// Every blob that the event names.
    pub fn blobs(&self) -> impl Iterator<Item = BlobRef> {
        let results = self.tools.iter().filter_map(|tool| tool.result.as_ref());
        std::iter::once(&self.content)
            .chain(results)
            .filter_map(Text::blob)
    }
}

/// What folding needs of a [`MessageRecorded`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageMeta {
    /// Its id, unique in its session.
    pub id: String,
    /// Who said it.
    pub sender: Sender,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Tokens of its content, without what came out of context packs.
    pub tokens: u32,
    /// How many tools were used to make it.
    #[serde(default)]
    pub tools: u32,
    /// The version of the rules that recognised what it mentions.
    #[serde(default, with = "serde_bytes")]
    pub rules: Vec<u8>,
    /// The last position of the state in which names were known.
    #[serde(default)]
    pub known_at: u64,
    /// What it mentions, each entity once, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Mention>,
    /// Hashes of the blobs that the body names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<BlobHash>,
}

/// The execution of a tool went on. What the caller brought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolRecorded {
    /// Name of the tool.
    pub tool: String,
    /// JSON, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Text>,
    /// What it returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Text>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Text>,
}

impl ToolRecorded {
    /// Every blob that the event names.
    pub fn blobs(&self) -> impl Iterator<Item = BlobRef> {
        [&self.parameters, &self.result, &self.error]
            .into_iter()
            .flatten()
            .filter_map(Text::blob)
    }
}

/// What folding needs of a [`ToolRecorded`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCallMeta {
    /// Which execution: an id, unique in its session.
    pub id: String,
    /// How far it is.
    pub status: Status,
    /// The version of the rules that recognised what its result mentions.
    #[serde(default, with = "serde_bytes")]
    pub rules: Vec<u8>,
    /// What its result mentions, each entity once, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Mention>,
    /// Hashes of the blobs that the body names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<BlobHash>,
}

/// The metadata of an event of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageEvent {
    /// Something was said.
    Message(MessageMeta),
    /// A tool was at work.
    ToolCall(ToolCallMeta),
}

impl MessageEvent {
    /// Hashes of the blobs that the event names.
    #[must_use]
    pub fn blobs(&self) -> &[BlobHash] {
        match self {
            Self::Message(message) => &message.blobs,
            Self::ToolCall(call) => &call.blobs,
        }
    }
}
