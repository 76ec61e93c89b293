//! The lines of an exported session, version 1: docs/session-format.md as types.
//!
//! They differ from stored events, which may express the same facts otherwise and refer to
//! their own log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::payloads::{
    Checkpoint, Closed, Created, Extractor, Found, Mapping, Mark, Message, Pruned, Related,
    Resolved, Step, Tool, Unpruned, Updated,
};

use crate::log::EventKind;

/// Value of `format` in the first line.
pub const FORMAT: &str = "lore-session";
/// The only version that is written and read.
pub const VERSION: u32 = 1;

/// The first line. It contains no time, position or store, so repeated exports of the same events are equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// `lore-session`.
    pub format: String,
    /// 1.
    pub version: u32,
    /// The id of the session.
    pub session: String,
    /// Its project at the time of the export.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub project: Option<String>,
}

/// Every line between the first and the last: one event.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Line<P> {
    /// Its number: from 1, without gaps.
    pub n: u64,
    /// Time of the event, RFC 3339; the order is that of the lines.
    pub at: String,
    /// The agent that caused it, if it has a name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub agent: String,
    /// Kind of the event.
    pub kind: String,
    /// Content of the event.
    pub payload: P,
}

/// The last line: without it the file is truncated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LastLine {
    /// Totals for verification.
    pub end: EndLine,
}

/// What [`LastLine`] says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndLine {
    /// Number of events.
    pub events: u64,
}

/// Declares every kind of exported event, with the type of its payload.
macro_rules! kinds {
    ($($name:ident($payload:ident),)*) => {
        /// Content of an event.
        #[derive(Clone, Debug)]
        pub enum Payload { $(
            $name(Box<$payload>),
        )* }

        impl Payload {
            /// Every kind by name.
            pub const KINDS: &[&str] = &[$(stringify!($name),)*];

            /// The kind of the event.
            #[must_use]
            pub fn kind(&self) -> EventKind {
                match self { $(Self::$name(_) => EventKind::$name,)* }
            }

            /// Parses a payload of a kind; `None` when the kind is unknown.
            ///
            /// # Errors
            /// When the payload does not match its type.
            pub fn read(kind: &str, json: &str) -> Option<Result<Self, serde_json::Error>> {
                match kind {
                    $(stringify!($name) => {
                        Some(serde_json::from_str(json).map(|payload| Self::$name(Box::new(payload))))
                    })*
                    _ => None,
                }
            }

            /// Returns the JSON Schemas of all payloads, by kind.
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
