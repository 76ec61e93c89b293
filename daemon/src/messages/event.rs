//! What happens in a conversation: something is said, a tool is at work.

use serde::{Deserialize, Serialize};

use crate::entities::Mention;
use crate::log::{LOG, Stamped, codec};
use crate::steps::Text;
use crate::store::{BlobRef, Error};

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
    /// The kind as stored.
    pub const KIND: &'static str = "MessageRecorded";

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
pub struct Said {
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
    pub blobs: Vec<serde_bytes::ByteArray<32>>,
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
    /// The kind as stored.
    pub const KIND: &'static str = "ToolRecorded";

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
pub struct Executed {
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
    pub blobs: Vec<serde_bytes::ByteArray<32>>,
}

/// What folding needs of an event of this room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageFact {
    /// Something was said.
    Said(Said),
    /// A tool was at work.
    Executed(Executed),
}

impl MessageFact {
    /// Reads an event's fact; `None` when it is of another room, or its content was forgotten.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when it does not decode.
    pub fn of(event: &Stamped) -> Result<Option<Self>, Error> {
        let Some(payload) = &event.payload else {
            return Ok(None);
        };
        let fact = &payload.fact;
        Ok(match event.header.kind.as_str() {
            MessageRecorded::KIND => Some(Self::Said(codec::decode_part(event, fact)?)),
            ToolRecorded::KIND => Some(Self::Executed(codec::decode_part(event, fact)?)),
            _ => None,
        })
    }

    /// Hashes of the blobs that the event names.
    #[must_use]
    pub fn blobs(&self) -> &[serde_bytes::ByteArray<32>] {
        match self {
            Self::Said(said) => &said.blobs,
            Self::Executed(executed) => &executed.blobs,
        }
    }
}

fn unexpected(event: &Stamped, wanted: &str) -> Error {
    let kind = &event.header.kind;
    let reason = match &event.payload {
        Some(_) => format!("the event is a {kind} where {wanted} was expected"),
        None => format!("the content of a {kind} was forgotten"),
    };
    Error::corrupt(LOG.name(), &event.position().0.to_be_bytes(), reason)
}

/// Fact and body of a message.
///
/// # Errors
/// [`Error::Corrupt`] when the event is no message, was forgotten, or does not decode.
pub fn decode_message(event: &Stamped) -> Result<(Said, MessageRecorded), Error> {
    match &event.payload {
        Some(payload) if event.header.kind == MessageRecorded::KIND => Ok((
            codec::decode_part(event, &payload.fact)?,
            codec::decode_part(event, &payload.body)?,
        )),
        Some(_) | None => Err(unexpected(event, "a message")),
    }
}

/// Fact and body of a tool execution.
///
/// # Errors
/// [`Error::Corrupt`] when the event is none, was forgotten, or does not decode.
pub fn decode_tool(event: &Stamped) -> Result<(Executed, ToolRecorded), Error> {
    match &event.payload {
        Some(payload) if event.header.kind == ToolRecorded::KIND => Ok((
            codec::decode_part(event, &payload.fact)?,
            codec::decode_part(event, &payload.body)?,
        )),
        Some(_) | None => Err(unexpected(event, "a tool execution")),
    }
}

/// The context pack that a message was made with, if the event is a message and tells one.
///
/// # Errors
/// [`Error::Corrupt`] when the event does not decode.
pub fn pack_of(event: &Stamped) -> Result<Option<String>, Error> {
    if event.payload.is_none() || event.header.kind != MessageRecorded::KIND {
        return Ok(None);
    }
    Ok(decode_message(event)?.1.pack)
}

/// Every blob that an event of this room names.
///
/// # Errors
/// [`Error::Corrupt`] when the event does not decode.
pub fn blobs_of(event: &Stamped) -> Result<Vec<BlobRef>, Error> {
    if event.payload.is_none() {
        return Ok(Vec::new());
    }
    Ok(match event.header.kind.as_str() {
        MessageRecorded::KIND => decode_message(event)?.1.blobs().collect(),
        ToolRecorded::KIND => decode_tool(event)?.1.blobs().collect(),
        _ => Vec::new(),
    })
}
