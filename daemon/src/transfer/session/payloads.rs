//! What the events of an exported session say, kind by kind.

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
        /// What it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        title: Option<String>,
        /// Whose it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        user: Option<String>,
        /// What is talked about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        topic: Option<String>,
        /// Words to find it by.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tags: Vec<String>,
        /// Preferences, by name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "RawObject")]
        preferences: Option<RawObject>,
    }
}

object! {
    /// Fields of the session were set; what is absent stays as it was.
    Updated {
        /// What it is about; empty takes it away.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        title: Option<String>,
        /// What is talked about; empty takes it away.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        topic: Option<String>,
        /// All its tags.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Vec<String>")]
        tags: Option<Vec<String>>,
        /// Tags that came.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        add_tags: Vec<String>,
        /// Tags that went.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        remove_tags: Vec<String>,
        /// Preferences that were set, by name; null takes one away.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "RawObject")]
        preferences: Option<RawObject>,
    }
}

object! {
    /// The session was closed.
    Closed {
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        reason: Option<String>,
    }
}

object! {
    /// Something was said.
    Message {
        /// Its id, unique in the session: letters, digits, `-` and `_`.
        message: String,
        /// Who said it.
        sender: Sender,
        /// What it is.
        #[serde(rename = "type")]
        kind: MessageType,
        /// What was said, whole.
        content: String,
        /// Tools that were used to make it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tools: Vec<ToolUse>,
        /// The id of the context pack that it was made with; the pack itself is of its log alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        pack: Option<String>,
        /// Where the content came out of context packs, in bytes: start and end.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        quoted: Vec<(u32, u32)>,
        /// Its tokens as o200k counts them, without what is quoted; absent: they are counted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u32")]
        tokens: Option<u32>,
        /// The version of the rules that recognised what it mentions, hexadecimal.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        rules: String,
        /// What it mentions, each entity once, in order; absent: nothing.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        mentions: Vec<Mention>,
    }
}

object! {
    /// A tool that a message used.
    ToolUse {
        /// Its name.
        name: String,
        /// How it ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "ToolStatus")]
        status: Option<ToolStatus>,
        /// What it returned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        result: Option<String>,
    }
}

object! {
    /// The execution of a tool began or went on.
    Tool {
        /// Its id, the same on every line about it: letters, digits, `-` and `_`.
        execution: String,
        /// How far it is.
        status: ToolStatus,
        /// Name of the tool.
        tool: String,
        /// What it was called with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "RawObject")]
        parameters: Option<RawObject>,
        /// What it returned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        result: Option<String>,
        /// What went wrong.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        error: Option<String>,
        /// The version of the rules that recognised what its result mentions, hexadecimal.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        rules: String,
        /// What its result mentions, each entity once, in order; absent: nothing.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        mentions: Vec<Mention>,
    }
}

object! {
    /// A tool returned something that later calls refer to.
    Step {
        /// Its number, 1 to 1000000.
        step: u32,
        /// Its attempt, from 1: of the lines of one step each has a greater number.
        attempt: u32,
        /// Whether it succeeded.
        success: bool,
        /// Name of the tool.
        tool: String,
        /// What it was called with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "RawObject")]
        parameters: Option<RawObject>,
        /// Why it was called.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        purpose: Option<String>,
        /// What it returned, as it came.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        result: Option<String>,
        /// What went wrong.
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
        /// The group to take; 0 is the whole match.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u32")]
        group: Option<u32>,
        /// JSON field names.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        fields: Vec<String>,
    }
}

object! {
    /// Other names of a field were registered for the session.
    Mapping {
        /// The field.
        field: String,
        /// What it may be called.
        aliases: Vec<String>,
    }
}

object! {
    /// Entities were found in what stands on earlier lines.
    Found {
        /// The version of the rules that found them, hexadecimal.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        rules: String,
        /// What was searched, and what stands in it.
        found: Vec<FoundIn>,
    }
}

object! {
    /// What was found in one text.
    FoundIn {
        /// In which.
        source: Source,
        /// What.
        mentions: Vec<Mention>,
    }
}

object! {
    /// Two entities were related by hand.
    Related {
        /// From this one.
        from: Entity,
        /// How: `connected_to` and the like; `parent` makes it belong to the other.
        relation: String,
        /// To this one.
        to: Entity,
    }
}

object! {
    /// An entity was looked up in another system.
    Resolved {
        /// Which, by the name that it has there.
        entity: Entity,
        /// Its id there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        id: Option<String>,
        /// Its name in addresses there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        slug: Option<String>,
        /// Who said so.
        resolver: String,
        /// Until when the data counts as fresh, RFC 3339.
        expires: String,
        /// What it belongs to, as the data says.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parents: Vec<EntityRef>,
        /// The others that the data names.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        around: Vec<Mention>,
        /// What that system says of it: any JSON.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "RawJson")]
        data: Option<RawJson>,
    }
}

object! {
    /// A context was saved. Those that were deleted are not exported, nor that they were.
    Checkpoint {
        /// Its id, a UUID; where it is taken, it gets another one.
        checkpoint: String,
        /// SHA-256 of the context's canonical JSON, hexadecimal; absent: it is not compared.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        hash: Option<String>,
        /// The whole context.
        context: RawObject,
        /// What was said about it: `name`, `tags` and any other.
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
        /// The mark was taken back.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unmarked: bool,
    }
}

object! {
    /// The session's working set was pruned: what is named here stays, with all that comes later.
    Pruned {
        /// How much was to be kept.
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
        /// How many messages, tool executions and entities went.
        went: (u64, u64, u64),
    }
}

object! {
    /// The last pruning that was not yet undone was undone.
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
        /// Its canonical name, by which it is known.
        key: String,
        /// Its name as it was written.
        name: String,
    }
}

object! {
    /// What names an entity.
    EntityRef {
        /// Its kind.
        kind: String,
        /// Its canonical name.
        key: String,
    }
}

object! {
    /// An entity that a text names.
    Mention {
        /// Its kind: `device`, `file_path` and the like.
        kind: String,
        /// Its canonical name, by which it is known.
        key: String,
        /// Its name as it was written.
        name: String,
        /// How it was recognised.
        how: How,
        /// Where it stands first, in bytes: start and end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "(u32, u32)")]
        span: Option<(u32, u32)>,
        /// The id that another system gave it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        id: Option<String>,
        /// Its name in addresses of that system.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        slug: Option<String>,
        /// What it belongs to, as the text says.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parents: Vec<EntityRef>,
        /// It stands only in the data of another one.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        nested: bool,
    }
}

/// Something on an earlier line.
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

/// Declares a closed list of words, each the same as a stored one.
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
    /// Who says something.
    Sender = messages::Sender { User Assistant System Tool }
}
words! {
    /// What a message is.
    MessageType = messages::Kind { Query Response ToolResult Error }
}
words! {
    /// How far the execution of a tool is.
    ToolStatus = messages::Status { Starting Running Completed Error }
}
words! {
    /// How an entity was recognised.
    How = entities::MentionSource { Pattern Known Reference Json }
}
words! {
    /// How much is kept of a working set.
    Strategy = packs::Strategy { Comprehensive Conservative Aggressive }
}
