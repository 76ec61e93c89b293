//! Events of a conversation: messages and tool calls.

use serde::{Deserialize, Serialize};

use super::BlobHash;
use super::entities::{Mention, PossibleMention};
use super::steps::Text;
use crate::store::BlobRef;

pub use super::MessageEvent;

/// Declares a closed list of names, stored as words and as numbers in rows.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $number:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$variant_doc])* $variant = $number,)* }

        words!($name { $($variant)* });

        impl $name {
            /// Returns the value of a row's number.
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
    /// The sender of a message.
    Sender {
        /// The person.
        User = 0,
        /// The model.
        Assistant = 1,
        /// The system prompt or framework.
        System = 2,
        /// A tool.
        Tool = 3,
    }
}

names! {
    /// The type of a message.
    Kind {
        /// A question.
        Query = 0,
        /// An answer.
        Response = 1,
        /// The result of a tool.
        ToolResult = 2,
        /// A failure.
        Error = 3,
    }
}

names! {
    /// The status of a tool execution.
    Status {
        /// It was requested.
        Starting = 0,
        /// It runs.
        Running = 1,
        /// It succeeded.
        Completed = 2,
        /// It failed.
        Error = 3,
    }
}

names! {
    /// What is to be remembered.
    RememberedKind {
        /// How things are.
        Fact = 0,
        /// What was decided.
        Decision = 1,
        /// What someone likes better.
        Preference = 2,
    }
}

/// A message: the caller's content, prepared before the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageRecorded {
    /// The whole content.
    pub content: Text,
    /// Tools that were used for the message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolUse>,
    /// The context pack that was used for the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pack: Option<String>,
    /// Ranges of the content that were quoted from context packs, in bytes: start and end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quoted: Vec<(u32, u32)>,
    /// Positions of the events on which something to be remembered stands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<u64>,
    /// Positions of the statements that something to be remembered replaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<u64>,
}

/// A tool that a message used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUse {
    /// Name of the tool.
    pub name: String,
    /// Final status of the execution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Result of the execution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Text>,
}

impl MessageRecorded {
    /// Returns every blob that the event names.
    pub fn blobs(&self) -> impl Iterator<Item = BlobRef> {
        let results = self.tools.iter().filter_map(|tool| tool.result.as_ref());
        std::iter::once(&self.content)
            .chain(results)
            .filter_map(Text::blob)
    }
}

/// The metadata of a [`MessageRecorded`] that folding needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageMeta {
    /// Message ID, unique in its session.
    pub id: String,
    /// Sender of the message.
    pub sender: Sender,
    /// Type of the message.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Tokens of its content, without quotes from context packs.
    pub tokens: u32,
    /// Number of tools that were used for the message.
    #[serde(default)]
    pub tools: u32,
    /// Version of the rules that recognised its mentions.
    #[serde(default, with = "serde_bytes")]
    pub rules: Vec<u8>,
    /// Last position of the state from which known names were read.
    #[serde(default)]
    pub known_at: u64,
    /// Mentioned entities, each once, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Mention>,
    /// Entities that pronouns and ordinals may refer to; they are not mentioned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub possible: Vec<PossibleMention>,
    /// Everyday words that are marked as code: a second message that marks one makes it an entity.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marked: Vec<String>,
    /// What it is, if it was recorded to be remembered in its project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remembered: Option<RememberedKind>,
    /// What makes its text suspicious, as names of `lored_suspicion::Kind`: it gives orders to a model, claims an
    /// identity or rewrites facts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspect: Vec<String>,
    /// Hashes of the blobs that the body names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<BlobHash>,
}

/// Who said a message: [`MessageMeta`] without what folding needs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct MessageHead {
    /// Message ID, unique in its session.
    pub id: String,
    /// Sender of the message.
    pub sender: Sender,
}

/// What a message quotes: [`MessageRecorded`] without what it says.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct MessageQuotes {
    /// Ranges of the content that were quoted from context packs, in bytes: start and end.
    #[serde(default)]
    pub quoted: Vec<(u32, u32)>,
}

/// A tool execution progressed: the caller's content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolRecorded {
    /// Name of the tool.
    pub tool: String,
    /// Arguments as JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Text>,
    /// Result of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Text>,
    /// Error of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Text>,
}

impl ToolRecorded {
    /// Returns every blob that the event names.
    pub fn blobs(&self) -> impl Iterator<Item = BlobRef> {
        [&self.parameters, &self.result, &self.error]
            .into_iter()
            .flatten()
            .filter_map(Text::blob)
    }
}

/// The metadata of a [`ToolRecorded`] that folding needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCallMeta {
    /// Execution ID, unique in its session.
    pub id: String,
    /// Status of the execution.
    pub status: Status,
    /// Version of the rules that recognised the mentions in the result.
    #[serde(default, with = "serde_bytes")]
    pub rules: Vec<u8>,
    /// Entities that the result mentions, each once, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Mention>,
    /// What makes its text suspicious, as names of `lored_suspicion::Kind`: it gives orders to a model, claims an
    /// identity or rewrites facts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspect: Vec<String>,
    /// Hashes of the blobs that the body names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<BlobHash>,
}
