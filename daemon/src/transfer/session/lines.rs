//! The lines of an exported session, version 1: what docs/session-format.md says, as types.
//!
//! They are no stored events: those may say the same in other words, and name what is of their log
//! alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::payloads::{
    Checkpoint, Closed, Created, Extractor, Found, Mapping, Mark, Message, Pruned, Related,
    Resolved, Step, Tool, Unpruned, Updated,
};

use crate::log::EventKind;

/// What the first line says it is.
pub const FORMAT: &str = "lore-session";
/// The version that is written, and the only one that is read.
pub const VERSION: u32 = 1;

/// The first line. Nothing in it changes from one export of the same events to the next: no time, no
/// position, no store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// `lore-session`.
    pub format: String,
    /// 1.
    pub version: u32,
    /// The id of the session.
    pub session: String,
    /// Its project, where it was exported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub project: Option<String>,
}

/// Every line between the first and the last: one event.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Line<P> {
    /// Its number: 1 for the first event, and no gaps.
    pub n: u64,
    /// When it happened, RFC 3339; the order is that of the lines.
    pub at: String,
    /// The agent that caused it, if it gave a name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub agent: String,
    /// What happened.
    pub kind: String,
    /// What it says.
    pub payload: P,
}

/// The last line: by it a file that was cut short is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LastLine {
    /// What there should be before.
    pub end: EndLine,
}

/// What [`LastLine`] says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndLine {
    /// How many events there are.
    pub events: u64,
}

/// Declares every kind of event that is exported, with the type of its payload.
macro_rules! kinds {
    ($($name:ident($payload:ident),)*) => {
        /// What an event says.
        #[derive(Clone, Debug)]
        pub enum Payload { $(
            $name(Box<$payload>),
        )* }

        impl Payload {
            /// Every kind, as it is written.
            pub const KINDS: &[&str] = &[$(stringify!($name),)*];

            /// Its kind.
            #[must_use]
            pub fn kind(&self) -> EventKind {
                match self { $(Self::$name(_) => EventKind::$name,)* }
            }

            /// Reads the payload of a kind; `None` when there is no such kind.
            ///
            /// # Errors
            /// What does not fit.
            pub fn read(kind: &str, json: &str) -> Option<Result<Self, serde_json::Error>> {
                match kind {
                    $(stringify!($name) => {
                        Some(serde_json::from_str(json).map(|payload| Self::$name(Box::new(payload))))
                    })*
                    _ => None,
                }
            }

            /// JSON Schemas of all payloads, by kind.
            #[must_use]
            pub fn schemas(from: &mut schemars::SchemaGenerator) -> Vec<(&'static str, schemars::Schema)> {
                vec![$((stringify!($name), from.subschema_for::<$payload>()),)*]
            }
        }

        impl Serialize for Payload {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                match self { $(Self::$name(payload) => payload.serialize(to),)* }
            }
        }
    };
}

kinds! {
    SessionCreated(Created),
    SessionUpdated(Updated),
    SessionClosed(Closed),
    MessageRecorded(Message),
    ToolRecorded(Tool),
    StepRecorded(Step),
    ExtractorRegistered(Extractor),
    FieldMappingRegistered(Mapping),
    EntitiesFound(Found),
    EntitiesRelated(Related),
    EntityResolved(Resolved),
    CheckpointSaved(Checkpoint),
    KeyMarked(Mark),
    ContextPruned(Pruned),
    ContextUnpruned(Unpruned),
}
