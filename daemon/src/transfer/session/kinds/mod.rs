//! The kinds of events in an exported session, docs/session-format.md as types: for each its payload, how it is
//! exported, checked, imported and rendered. The files follow the families of events.
//!
//! Payloads differ from stored events, which may express the same facts otherwise and refer to their own log.

mod checkpoint;
mod entity;
mod message;
mod mirror;
mod pack;
mod session;
mod step;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};

use super::check::Checker;
use super::import::{Parts, SessionImportBuilder};
use super::markdown::Section;
use crate::canonical::Canonical;
use crate::checkpoints::ImportBuilder;
use crate::error::Refusal;
use crate::log::EventKind;

pub use checkpoint::{Checkpoint, Mark};
pub use entity::{
    Entity, EntityRef, Found, Mention, Merged, PossibleMention, Related, Resolved, Unmerged,
};
pub use message::{Message, Tool};
pub use mirror::Mirror;
pub use pack::{Pruned, Unpruned};
pub use session::{Closed, Created, Updated};
pub use step::{Extractor, Mapping, Step};

/// The payload of one kind of event.
pub trait LinePayload: Serialize + DeserializeOwned + JsonSchema {
    /// Validates the payload, alone and in relation to earlier lines: as strictly as the operation that records it.
    fn check(&self, earlier: &mut Checker) -> Result<(), String>;

    /// Prepares the event for recording; `None` when the import of checkpoints decides it.
    fn import(self, to: &mut SessionImportBuilder<'_>) -> Result<Option<Parts>, Refusal>;

    /// Registers an existing event, because later events may depend on it. `context` is that of a checkpoint.
    fn know(&self, _context: Option<&Canonical>, _to: &mut ImportBuilder<'_>) {}

    /// Renders the event, if it is relevant for people.
    fn render(&self, _to: &mut Section<'_>) {}
}

/// Declares every kind of exported event, with the type of its payload.
macro_rules! kinds {
    ($($name:ident($payload:ident),)*) => {
        /// Content of an event.
        #[derive(Clone, Debug)]
        pub enum Payload { $(
            $name(Box<$payload>),
        )* }

        $(
            impl From<$payload> for Payload {
                fn from(payload: $payload) -> Self {
                    Self::$name(Box::new(payload))
                }
            }
        )*

        impl Payload {
            /// Every kind by name.
            pub const KINDS: &[&str] = &[$(stringify!($name),)*];

            /// The kind of the event.
            #[must_use]
            pub fn kind(&self) -> EventKind {
                match self { $(Self::$name(_) => EventKind::$name,)* }
            }

            /// Parses a payload of a kind; `None` when the kind is unknown.
            pub fn read(kind: &str, json: &str) -> Option<Result<Self, serde_json::Error>> {
                match kind {
                    $(stringify!($name) => Some(serde_json::from_str::<$payload>(json).map(Self::from)),)*
                    _ => None,
                }
            }

            /// Returns the JSON Schemas of all payloads, by kind.
            #[must_use]
            pub fn schemas(from: &mut SchemaGenerator) -> Vec<(&'static str, Schema)> {
                vec![$((stringify!($name), from.subschema_for::<$payload>()),)*]
            }

            /// As [`LinePayload::check`].
            pub fn check(&self, earlier: &mut Checker) -> Result<(), String> {
                match self { $(Self::$name(payload) => payload.check(earlier),)* }
            }

            /// As [`LinePayload::import`].
            pub fn import(self, to: &mut SessionImportBuilder<'_>) -> Result<Option<Parts>, Refusal> {
                match self { $(Self::$name(payload) => payload.import(to),)* }
            }

            /// As [`LinePayload::know`].
            pub fn know(&self, context: Option<&Canonical>, to: &mut ImportBuilder<'_>) {
                match self { $(Self::$name(payload) => payload.know(context, to),)* }
            }

            /// As [`LinePayload::render`].
            pub fn render(&self, to: &mut Section<'_>) {
                match self { $(Self::$name(payload) => payload.render(to),)* }
            }
        }

        impl Serialize for Payload {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
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
    EntitiesMerged(Merged),
    EntitiesUnmerged(Unmerged),
    CheckpointSaved(Checkpoint),
    KeyMarked(Mark),
    ContextPruned(Pruned),
    ContextUnpruned(Unpruned),
}
