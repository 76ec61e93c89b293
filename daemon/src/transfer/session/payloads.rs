//! Payloads of the events in an exported session, by kind.

use lore::protocol::{RawJson, RawObject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{entities, messages, packs};

/// Declares a payload or a part of one: an object with these fields and no others.
macro_rules! object {
    ($(#[$doc:meta])* $name:ident { $($(#[$attr:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name { $($(#[$attr])* pub $field: $type,)* }
    };
}

object! {
    #[derive(Default)]
    /// The session began: the first event, and the only one of its kind.
    Created {
        /// Title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        title: Option<String>,
        /// User who owns the session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        user: Option<String>,
        /// Topic of the conversation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        topic: Option<String>,
        /// Tags.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tags: Vec<String>,
        /// Preferences, by name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "RawObject")]
        preferences: Option<RawObject>,
    }
}

object! {
    /// Fields of the session were set; absent fields did not change.
    Updated {
        /// Title; empty removes it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        title: Option<String>,
        /// Topic; empty removes it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        topic: Option<String>,
        /// The new list of tags.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Vec<String>")]
        tags: Option<Vec<String>>,
        /// Added tags.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        add_tags: Vec<String>,
        /// Removed tags.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        remove_tags: Vec<String>,
        /// Preferences that were set, by name; null removes one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "RawObject")]
        preferences: Option<RawObject>,
    }
}

object! {
    /// The session was closed.
    Closed {
        /// Reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        reason: Option<String>,
    }
}

object! {
    /// A message.
    Message {
        /// Its id, unique in the session: letters, digits, `-` and `_`.
        message: String,
        /// The sender.
        sender: Sender,
        /// Type of the message.
        #[serde(rename = "type")]
        kind: MessageType,
        /// The complete text.
        content: String,
        /// Tools that were used to write it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tools: Vec<ToolUse>,
        /// The id of the context pack used to write it; the pack itself is not exported.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        pack: Option<String>,
        /// Ranges of the content that quote context packs, in bytes: start and end.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        quoted: Vec<(u32, u32)>,
        /// Number of o200k tokens without quotations; absent: counted on import.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u32")]
        tokens: Option<u32>,
        /// Version of the rules that recognised the mentions, hexadecimal.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        rules: String,
        /// Mentioned entities, each once, in order; absent: none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        mentions: Vec<Mention>,
    }
}

object! {
    /// A tool that a message used.
    ToolUse {
        /// Its name.
        name: String,
        /// Its final status.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "ToolStatus")]
        status: Option<ToolStatus>,
        /// Its result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        result: Option<String>,
    }
}

object! {
    /// A tool execution began or continued.
    Tool {
        /// Its id, the same on every line about it: letters, digits, `-` and `_`.
        execution: String,
        /// Current status.
        status: ToolStatus,
        /// Name of the tool.
        tool: String,
        /// Parameters of the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "RawObject")]
        parameters: Option<RawObject>,
        /// Result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        result: Option<String>,
        /// Error message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        error: Option<String>,
        /// Version of the rules that recognised the mentions in the result, hexadecimal.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        rules: String,
        /// Entities mentioned in the result, each once, in order; absent: none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        mentions: Vec<Mention>,
    }
}

object! {
    /// A tool result that later calls can refer to.
    Step {
        /// Its number, 1 to 1000000.
        step: u32,
        /// Attempt, from 1; it increases from line to line of one step.
        attempt: u32,
        /// Whether it succeeded.
        success: bool,
        /// Name of the tool.
        tool: String,
        /// Parameters of the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "RawObject")]
        parameters: Option<RawObject>,
        /// Purpose of the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        purpose: Option<String>,
        /// Result, unchanged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        result: Option<String>,
        /// Error message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        error: Option<String>,
    }
}

object! {
    /// An extractor was registered for the session.
    Extractor {
        /// Its name, which is also the type of its values.
        name: String,
        /// A regular expression with at most one capture group.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        pattern: Option<String>,
        /// The capture group to use; 0 is the whole match.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u32")]
        group: Option<u32>,
        /// JSON field names.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        fields: Vec<String>,
    }
}

object! {
    /// Aliases of a field were registered for the session.
    Mapping {
        /// The field.
        field: String,
        /// Its other names.
        aliases: Vec<String>,
    }
}

object! {
    /// Entities were found in earlier lines.
    Found {
        /// Version of the rules that found them, hexadecimal.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        rules: String,
        /// The searched texts and the entities found in them.
        found: Vec<FoundIn>,
    }
}

object! {
    /// Entities found in one text.
    FoundIn {
        /// The searched text.
        source: Source,
        /// The entities found.
        mentions: Vec<Mention>,
    }
}

object! {
    /// Two entities were related manually.
    Related {
        /// First entity.
        from: Entity,
        /// Relation: `connected_to` and the like; `parent` makes the first entity belong to the second.
        relation: String,
        /// Second entity.
        to: Entity,
    }
}

object! {
    /// An entity was looked up in another system.
    Resolved {
        /// The entity, with its name in that system.
        entity: Entity,
        /// Its id in that system.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        id: Option<String>,
        /// Its name in URLs of that system.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        slug: Option<String>,
        /// The resolver.
        resolver: String,
        /// Expiry time of the data, RFC 3339.
        expires: String,
        /// Entities that it belongs to, according to the data.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parents: Vec<EntityRef>,
        /// Other entities named in the data.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        around: Vec<Mention>,
        /// Data of that system about it: any JSON.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "RawJson")]
        data: Option<RawJson>,
    }
}

object! {
    /// A context was saved. Deleted checkpoints are not exported, nor are their deletions.
    Checkpoint {
        /// Its id, a UUID; if the id is taken on import, it gets another one.
        checkpoint: String,
        /// SHA-256 of the context's canonical JSON, hexadecimal; absent: not verified.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        hash: Option<String>,
        /// The whole context.
        context: RawObject,
        /// Metadata: `name`, `tags` and any other.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "RawObject")]
        metadata: Option<RawObject>,
        /// The id of the checkpoint that it was forked from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        forked_from: Option<String>,
    }
}

object! {
    /// A top-level key of the session's contexts was marked critical.
    Mark {
        /// The key.
        key: String,
        /// Whether the mark was removed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unmarked: bool,
    }
}

object! {
    /// The session's working set was pruned: the entries named here stay, with all later ones.
    Pruned {
        /// Pruning strategy.
        strategy: Strategy,
        /// Tokens of the working set before.
        tokens_before: u64,
        /// Tokens of the working set after.
        tokens_after: u64,
        /// Messages that stay, by their ids, in time order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        messages: Vec<String>,
        /// Steps and tool executions that stay, in time order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tools: Vec<Source>,
        /// Entities that stay, the most relevant first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        entities: Vec<EntityRef>,
        /// Number of removed messages, tool executions and entities.
        went: (u64, u64, u64),
    }
}

object! {
    /// The last pruning in effect was undone.
    Unpruned {
        /// Tokens of the working set before.
        tokens_before: u64,
        /// Tokens of the working set after.
        tokens_after: u64,
    }
}

object! {
    /// An entity.
    Entity {
        /// Its kind: `device`, `file_path` and the like.
        kind: String,
        /// Its canonical name, which identifies it.
        key: String,
        /// Its name as it was written.
        name: String,
    }
}

object! {
    /// Reference to an entity.
    EntityRef {
        /// Its kind.
        kind: String,
        /// Its canonical name.
        key: String,
    }
}

object! {
    /// A mention of an entity in a text.
    Mention {
        /// Its kind: `device`, `file_path` and the like.
        kind: String,
        /// Its canonical name, which identifies it.
        key: String,
        /// Its name as it was written.
        name: String,
        /// How it was recognised.
        how: How,
        /// Range of the first mention, in bytes: start and end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "(u32, u32)")]
        span: Option<(u32, u32)>,
        /// The id that another system gave it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        id: Option<String>,
        /// Its name in URLs of that system.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        slug: Option<String>,
        /// Entities that it belongs to, according to the text.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parents: Vec<EntityRef>,
        /// Whether it is only in the data of another entity.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        nested: bool,
    }
}

/// Reference to an earlier line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Source {
    /// A message, by its id.
    Message(String),
    /// An attempt of a step.
    Step {
        /// Step number.
        step: u32,
        /// Attempt.
        attempt: u32,
    },
    /// The execution of a tool, by its id.
    Tool(String),
}

/// Declares an enumeration whose values equal those of a stored one.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident = $room:ident::$stored:ident { $($word:ident)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($word,)* }

        impl From<$name> for $room::$stored {
            fn from(word: $name) -> Self {
                match word { $($name::$word => Self::$word,)* }
            }
        }

        impl From<$room::$stored> for $name {
            fn from(word: $room::$stored) -> Self {
                match word { $($room::$stored::$word => Self::$word,)* }
            }
        }
    };
}

words! {
    /// Sender of a message.
    Sender = messages::Sender { User Assistant System Tool }
}
words! {
    /// Type of a message.
    MessageType = messages::Kind { Query Response ToolResult Error }
}
words! {
    /// Status of a tool execution.
    ToolStatus = messages::Status { Starting Running Completed Error }
}
words! {
    /// How an entity was recognised.
    How = entities::MentionSource { Pattern Known Reference Json }
}
words! {
    /// Strategy for pruning a working set.
    Strategy = packs::Strategy { Comprehensive Conservative Aggressive }
}
