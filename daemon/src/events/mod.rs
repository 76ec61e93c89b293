//! The contents of the log: every event of this version, as types.
//!
//! An event has a kind, metadata and a body. The metadata is small and decided by the writer; folding needs only
//! the metadata and a few small bodies. The body is the caller's content. [`Event`] is the closed list: code that
//! handles events matches it without a default arm, or [`EventKind`] where only the header is known.
//! [`Event::encode`] and [`Event::of`] are the only mapping between metadata and stored bytes. Functions that decode an
//! event return [`Error::Corrupt`] if it does not decode, and, where they expect a kind, if it is another one or was
//! forgotten.

/// Describes an enumeration of words in JSON Schemas, by its words only.
macro_rules! words {
    ($name:ident { $($word:ident)* }) => {
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": "string", "enum": [$(Self::$word),*]})
            }
        }
    };
}

pub mod capture;
pub mod checkpoints;
pub mod documents;
pub mod entities;
pub mod forgetting;
pub mod messages;
pub mod packs;
pub mod projects;
pub mod sessions;
pub mod steps;
mod summary;
pub mod trust;

use serde::de::DeserializeOwned;

use crate::log::{Body, EncodedEvent, EventKind, ImportOrigin, Kind, LOG, LoggedEvent, codec};
use crate::store::{BlobRef, Error};

use checkpoints::CheckpointSaved;
use messages::{MessageRecorded, ToolRecorded};
use steps::StepRecorded;

/// The hash of a blob, as stored in metadata.
pub type BlobHash = serde_bytes::ByteArray<32>;

/// Declares every event. A family has a variant of [`Event`] and an enum; an event has a variant of that enum, its
/// metadata if it has any, and its stored name.
macro_rules! events {
    ($($(#[$doc:meta])* $family:ident($name:ident) {
        $($(#[$event_doc:meta])* $event:ident$(($meta:ty))? = $kind:ident,)*
    })*) => {
        /// The metadata of an event.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Event { $($(#[$doc])* $family($name),)* }

        impl Event {
            /// Returns kind and metadata in stored form.
            #[must_use]
            pub fn encode(&self) -> (EventKind, Vec<u8>) {
                match self { $($(
                    Self::$family($name::$event$((name_of!($meta, meta)))?) => {
                        (EventKind::$kind, encoded!($($meta, meta)?))
                    }
                )*)* }
            }

            /// Decodes the metadata of a stored event. Returns `None` when its content was forgotten, or when a newer
            /// version wrote a kind that this version does not know; such events are skipped.
            pub fn of(event: &LoggedEvent) -> Result<Option<Self>, Error> {
                let (Some(payload), Kind::Known(kind)) = (&event.payload, &event.header.kind) else {
                    return Ok(None);
                };
                Ok(Some(match kind { $($(
                    EventKind::$kind => {
                        Self::$family($name::$event$((decoded!($meta, event, &payload.meta)))?)
                    }
                )*)* }))
            }
        }

        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq, Eq)]
            pub enum $name { $($(#[$event_doc])* $event$(($meta))?,)* }

            impl From<$name> for Event {
                fn from(event: $name) -> Self {
                    Self::$family(event)
                }
            }

            impl $name {
                /// Decodes the metadata of an event of this family; `None` for another family or when [`Event::of`]
                /// has none.
                pub fn of(event: &LoggedEvent) -> Result<Option<Self>, Error> {
                    Ok(match Event::of(event)? {
                        Some(Event::$family(event)) => Some(event),
                        Some(_) | None => None,
                    })
                }
            }
        )*
    };
}

/// The pattern that binds metadata of this type.
macro_rules! name_of {
    ($meta:ty, $name:ident) => {
        $name
    };
}

/// Metadata in stored form; an empty map if there is none.
macro_rules! encoded {
    () => {
        codec::EMPTY.to_vec()
    };
    ($meta:ty, $name:ident) => {
        codec::encode($name)
    };
}

macro_rules! decoded {
    ($meta:ty, $event:ident, $bytes:expr) => {
        codec::decode_part::<$meta>($event, $bytes)?
    };
}

events! {
    /// An event of a session.
    Session(SessionEvent) {
        /// A session began.
        Created(sessions::SessionOrigin) = SessionCreated,
        /// Fields were set.
        Updated = SessionUpdated,
        /// The session ended.
        Closed = SessionClosed,
        /// A lease was acquired or renewed.
        Leased(sessions::SessionLeased) = SessionLeased,
        /// A lease was released.
        Released(sessions::LeaseReleased) = LeaseReleased,
        /// The content was forgotten.
        Forgotten(sessions::SessionForgotten) = SessionForgotten,
        /// The forgotten content was erased from the disk.
        Erased = SessionErased,
    }

    /// An event of steps.
    Step(StepEvent) {
        /// A tool result was recorded.
        Recorded(steps::StepAssigned) = StepRecorded,
        /// An extractor was registered.
        ExtractorRegistered = ExtractorRegistered,
        /// A field mapping was registered.
        MappingRegistered = FieldMappingRegistered,
    }

    /// A message or a tool call.
    Message(MessageEvent) {
        /// A message was recorded.
        Message(messages::MessageMeta) = MessageRecorded,
        /// A tool call was recorded.
        ToolCall(messages::ToolCallMeta) = ToolRecorded,
    }

    /// An event of entities.
    Entity(EntityEvent) {
        /// Entities were found.
        Extracted(entities::EntitiesExtracted) = EntitiesFound,
        /// Two entities were related.
        Related(entities::EntitiesRelated) = EntitiesRelated,
        /// An entity was looked up.
        Resolved(entities::EntityResolved) = EntityResolved,
        /// Entities turned out to be one.
        Merged(entities::EntityMerges) = EntitiesMerged,
        /// Merged entities were separated.
        Unmerged(entities::EntityMerges) = EntitiesUnmerged,
    }

    /// A pack was built, or a session was pruned.
    Pack(PackEvent) {
        /// A pack was built.
        Built(packs::PackBuilt) = PackMade,
        /// A session was pruned.
        Pruned(packs::ContextPruned) = ContextPruned,
        /// A pruning was undone.
        Unpruned(packs::ContextUnpruned) = ContextUnpruned,
    }

    /// An event of checkpoints.
    Checkpoint(CheckpointEvent) {
        /// A context was saved.
        Saved(Box<checkpoints::CheckpointSaved>) = CheckpointSaved,
        /// Checkpoints were deleted.
        Deleted(checkpoints::CheckpointsDeleted) = CheckpointsDeleted,
        /// A key was marked.
        KeyMarked(checkpoints::KeyMarked) = KeyMarked,
    }

    /// An event of a project.
    Project(ProjectEvent) {
        /// A directory became a project.
        Initialised(projects::ProjectInitialised) = ProjectInitialised,
        /// A worktree was used.
        WorktreeSeen(projects::WorktreeSeen) = WorktreeNoted,
        /// A context file has a new version.
        Written(projects::VersionMeta) = ContextWritten,
        /// An update did not fit its template.
        DraftSaved(projects::DraftMeta) = ContextDrafted,
        /// Access was granted or revoked.
        Shared(projects::ProjectShared) = ProjectShared,
    }

    /// An event of documents.
    Document(DocumentEvent) {
        /// A source was added.
        SourceAdded(documents::SourceAdded) = SourceAdded,
        /// A source was removed.
        SourceRemoved = SourceRemoved,
        /// A file was ingested.
        Ingested(Box<documents::DocumentMeta>) = DocumentTaken,
        /// A further part of a document.
        PartAdded(documents::PartMeta) = DocumentContinued,
        /// A file was written without a change of content.
        Restatted(documents::DocumentRestatted) = DocumentTouched,
        /// A document's file was removed.
        Removed(documents::DocumentRemoved) = DocumentGone,
        /// A file could not be ingested.
        FileFailed(documents::FileFailed) = FileFailed,
        /// A file with an ingest failure was removed.
        FailureCleared(documents::IngestFailureCleared) = FailureGone,
    }

    /// A host of an agent reported something.
    Capture(CaptureEvent) {
        /// A hook or a transcript reported what happened.
        Observed(capture::Observation) = HostObserved,
        /// The other of the two reported it, too.
        Repeated(capture::ObservationRepeated) = ObservationRepeated,
        /// A person or agent paused the recording by hooks, in a project or everywhere.
        Paused(capture::CapturePaused) = CapturePaused,
        /// The recording continues.
        Resumed = CaptureResumed,
    }

    /// A person judged what was recorded, or it was undone.
    Trust(TrustEvent) {
        /// A person accepted or rejected a text.
        Reviewed(trust::SuspicionReviewed) = SuspicionReviewed,
        /// Events are no longer given to models.
        Undone(trust::UndoneEvents) = EventsUndone,
        /// Undone events are given to models again.
        Redone(trust::UndoneEvents) = EventsRedone,
    }

    /// Content was forgotten.
    Forgetting(ForgettingEvent) {
        /// Some events of a stream.
        Events(forgetting::EventsForgotten) = EventsForgotten,
        /// The forgotten events were erased from the disk.
        EventsErased(forgetting::EventsErased) = EventsErased,
        /// The result of a forget request or retention rule.
        Content(forgetting::ContentForgotten) = ContentForgotten,
    }
}

/// The metadata or body of one kind of event, for readers whose row implies the kind.
pub trait KindDecoder: DeserializeOwned {
    /// The kind of the event.
    const KIND: EventKind;
}

/// Declares the event kind of a body, or of metadata that is read by itself.
macro_rules! of_kind {
    ($($name:ty => $kind:ident,)*) => {$(
        impl KindDecoder for $name {
            const KIND: EventKind = EventKind::$kind;
        }
    )*};
}

of_kind! {
    sessions::SessionCreated => SessionCreated,
    sessions::SessionUpdated => SessionUpdated,
    sessions::SessionClosed => SessionClosed,
    steps::StepAssigned => StepRecorded,
    StepRecorded => StepRecorded,
    steps::ExtractorRegistered => ExtractorRegistered,
    steps::FieldMappingRegistered => FieldMappingRegistered,
    messages::MessageMeta => MessageRecorded,
    messages::MessageHead => MessageRecorded,
    messages::MessageQuotes => MessageRecorded,
    MessageRecorded => MessageRecorded,
    messages::ToolCallMeta => ToolRecorded,
    ToolRecorded => ToolRecorded,
    entities::EntityData => EntityResolved,
    packs::PackBuilt => PackMade,
    capture::Observation => HostObserved,
    capture::ObservationDetails => HostObserved,
    capture::ObservationRepeated => ObservationRepeated,
    capture::CapturePaused => CapturePaused,
    trust::SuspicionReviewed => SuspicionReviewed,
    CheckpointSaved => CheckpointSaved,
    checkpoints::CheckpointDescribed => CheckpointSaved,
    projects::ContextWritten => ContextWritten,
    projects::DraftSaved => ContextDrafted,
    documents::DocumentIngested => DocumentTaken,
    documents::PartAdded => DocumentContinued,
}

/// Decodes the body of an event of a known kind.
///
/// # Errors
/// [`Error::Corrupt`] when the event is of another kind, was forgotten, or does not decode.
pub fn body<B: KindDecoder>(event: &LoggedEvent) -> Result<B, Error> {
    match &event.payload {
        Some(payload) if event.header.kind == B::KIND => codec::decode_part(event, &payload.body),
        Some(_) | None => Err(unexpected(event, B::KIND.name())),
    }
}

/// Decodes the metadata of an event of a known kind.
///
/// # Errors
/// [`Error::Corrupt`] when the event is of another kind, was forgotten, or does not decode.
pub fn meta<M: KindDecoder>(event: &LoggedEvent) -> Result<M, Error> {
    match &event.payload {
        Some(payload) if event.header.kind == M::KIND => codec::decode_part(event, &payload.meta),
        Some(_) | None => Err(unexpected(event, M::KIND.name())),
    }
}

/// Decodes metadata and body of an event of a known kind.
///
/// # Errors
/// [`Error::Corrupt`] when the event is of another kind, was forgotten, or does not decode.
pub fn both<M: KindDecoder, B: KindDecoder>(event: &LoggedEvent) -> Result<(M, B), Error> {
    Ok((meta(event)?, body(event)?))
}

/// Creates an error for an event that is not what its reader expected.
#[must_use]
pub fn unexpected(event: &LoggedEvent, expected: &str) -> Error {
    let kind = &event.header.kind;
    let reason = match &event.payload {
        Some(_) => format!("got a {kind}, expected {expected}"),
        None => format!("the content of a {kind} was forgotten"),
    };
    Error::corrupt(LOG.name(), &event.position().0.to_be_bytes(), reason)
}

/// Returns every blob that an event names, with its length; empty when its content was forgotten.
pub fn blobs_of(event: &LoggedEvent) -> Result<Vec<BlobRef>, Error> {
    let Some(meta) = Event::of(event)? else {
        return Ok(Vec::new());
    };
    Ok(match meta {
        Event::Step(StepEvent::Recorded(_)) => body::<StepRecorded>(event)?.blobs().collect(),
        Event::Message(MessageEvent::Message(_)) => {
            body::<MessageRecorded>(event)?.blobs().collect()
        }
        Event::Message(MessageEvent::ToolCall(_)) => body::<ToolRecorded>(event)?.blobs().collect(),
        Event::Project(ProjectEvent::Written(_) | ProjectEvent::DraftSaved(_)) => {
            let (content, _) = projects::imported(event)?;
            content.and_then(|text| text.blob()).into_iter().collect()
        }
        Event::Document(_) => {
            let part = documents::part_of(event)?;
            part.and_then(|part| part.text.blob()).into_iter().collect()
        }
        Event::Step(StepEvent::ExtractorRegistered | StepEvent::MappingRegistered)
        | Event::Project(
            ProjectEvent::Initialised(_) | ProjectEvent::WorktreeSeen(_) | ProjectEvent::Shared(_),
        )
        | Event::Session(_)
        | Event::Entity(_)
        | Event::Pack(_)
        | Event::Checkpoint(_)
        | Event::Capture(_)
        | Event::Trust(_)
        | Event::Forgetting(_) => Vec::new(),
    })
}

/// An event that a command has decided, before it has a log position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEvent {
    /// Metadata of the event.
    pub event: Event,
    /// Session of the event.
    pub session: Option<String>,
    /// Project of the event.
    pub project: Option<String>,
    /// The caller's content.
    pub body: Body,
    /// Original time and actor of an imported event.
    pub origin: Option<ImportOrigin>,
}

impl NewEvent {
    /// Creates an event of a session.
    #[must_use]
    pub fn in_session(
        session: impl Into<String>,
        project: Option<String>,
        event: impl Into<Event>,
        body: Body,
    ) -> Self {
        Self {
            session: Some(session.into()),
            project,
            ..Self::global(event, body)
        }
    }

    /// Creates an event of a project or a source, outside sessions.
    #[must_use]
    pub fn in_project(project: impl Into<String>, event: impl Into<Event>, body: Body) -> Self {
        Self {
            project: Some(project.into()),
            ..Self::global(event, body)
        }
    }

    /// Creates an event without a session and project, or before they are known.
    #[must_use]
    pub fn global(event: impl Into<Event>, body: Body) -> Self {
        Self {
            event: event.into(),
            session: None,
            project: None,
            body,
            origin: None,
        }
    }

    /// Estimates the size in the log, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.event.encode().1.len() + self.body.bytes.len() + 512
    }

    /// Returns the encoded event and its metadata.
    #[must_use]
    pub fn encode(self) -> (Event, EncodedEvent) {
        let (kind, meta) = self.event.encode();
        let encoded = EncodedEvent {
            kind,
            session: self.session,
            project: self.project,
            meta,
            body: self.body,
            origin: self.origin,
        };
        (self.event, encoded)
    }
}

/// Creates an empty body.
#[must_use]
pub fn empty_body(salt: [u8; 16]) -> Body {
    Body::new(codec::EMPTY.to_vec(), salt)
}
