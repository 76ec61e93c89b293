//! The contents of the log: every event of this version, as types.
//!
//! An event has a kind, metadata and a body. The metadata is small and decided by the writer; folding needs only
//! the metadata and a few small bodies. The body is the caller's content. [`Event`] is the closed list: code that
//! handles events matches it without a default arm, or [`EventKind`] where only the header is known.
//! [`Event::encode`] and [`Event::of`] are the only mapping between metadata and stored bytes.

pub mod checkpoints;
pub mod documents;
pub mod entities;
pub mod forgetting;
pub mod messages;
pub mod packs;
pub mod projects;
pub mod sessions;
pub mod steps;

use serde::de::DeserializeOwned;

use crate::log::{Body, EncodedEvent, EventKind, ImportOrigin, Kind, LOG, LoggedEvent, codec};
use crate::store::{BlobRef, Error};

use checkpoints::{CheckpointEvent, CheckpointSaved};
use documents::DocumentEvent;
use entities::EntityEvent;
use forgetting::ForgettingEvent;
use messages::{MessageEvent, MessageRecorded, ToolRecorded};
use packs::PackEvent;
use projects::ProjectEvent;
use sessions::{SessionEvent, SessionOrigin};
use steps::{StepEvent, StepRecorded};

/// The hash of a blob, as stored in metadata.
pub type BlobHash = serde_bytes::ByteArray<32>;

/// The metadata of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// An event of a session.
    Session(SessionEvent),
    /// An event of steps.
    Step(StepEvent),
    /// A message or a tool call.
    Message(MessageEvent),
    /// An event of entities.
    Entity(EntityEvent),
    /// A pack was built, or a session was pruned.
    Pack(PackEvent),
    /// An event of checkpoints.
    Checkpoint(CheckpointEvent),
    /// An event of a project.
    Project(ProjectEvent),
    /// An event of documents.
    Document(DocumentEvent),
    /// Content was forgotten.
    Forgetting(ForgettingEvent),
}

/// Declares the conversions between one family of events and [`Event`].
macro_rules! families {
    ($($name:ident($family:ty),)*) => {$(
        impl From<$family> for Event {
            fn from(event: $family) -> Self {
                Self::$name(event)
            }
        }

        impl $family {
            /// Decodes the metadata of an event of this family; `None` for another family or when [`Event::of`] has none.
            ///
            /// # Errors
            /// [`Error::Corrupt`] when the event does not decode.
            pub fn of(event: &LoggedEvent) -> Result<Option<Self>, Error> {
                Ok(match Event::of(event)? {
                    Some(Event::$name(event)) => Some(event),
                    Some(_) | None => None,
                })
            }
        }
    )*};
}

families! {
    Session(SessionEvent),
    Step(StepEvent),
    Message(MessageEvent),
    Entity(EntityEvent),
    Pack(PackEvent),
    Checkpoint(CheckpointEvent),
    Project(ProjectEvent),
    Document(DocumentEvent),
    Forgetting(ForgettingEvent),
}

impl Event {
    /// Returns kind and metadata in stored form.
    #[must_use]
    pub fn encode(&self) -> (EventKind, Vec<u8>) {
        use EventKind as Kind;
        let empty = || codec::EMPTY.to_vec();
        match self {
            Self::Session(session) => match session {
                SessionEvent::Created(origin) if *origin == SessionOrigin::default() => {
                    (Kind::SessionCreated, empty())
                }
                SessionEvent::Created(origin) => (Kind::SessionCreated, codec::encode(origin)),
                SessionEvent::Updated => (Kind::SessionUpdated, empty()),
                SessionEvent::Closed => (Kind::SessionClosed, empty()),
                SessionEvent::Leased(leased) => (Kind::SessionLeased, codec::encode(leased)),
                SessionEvent::Released(released) => (Kind::LeaseReleased, codec::encode(released)),
                SessionEvent::Forgotten(reported) => {
                    (Kind::SessionForgotten, codec::encode(reported))
                }
                SessionEvent::Erased => (Kind::SessionErased, empty()),
            },
            Self::Step(step) => match step {
                StepEvent::Recorded(assigned) => (Kind::StepRecorded, codec::encode(assigned)),
                StepEvent::ExtractorRegistered => (Kind::ExtractorRegistered, empty()),
                StepEvent::MappingRegistered => (Kind::FieldMappingRegistered, empty()),
            },
            Self::Message(message) => match message {
                MessageEvent::Message(meta) => (Kind::MessageRecorded, codec::encode(meta)),
                MessageEvent::ToolCall(meta) => (Kind::ToolRecorded, codec::encode(meta)),
            },
            Self::Entity(entity) => match entity {
                EntityEvent::Extracted(found) => (Kind::EntitiesFound, codec::encode(found)),
                EntityEvent::Related(related) => (Kind::EntitiesRelated, codec::encode(related)),
                EntityEvent::Resolved(resolved) => (Kind::EntityResolved, codec::encode(resolved)),
            },
            Self::Pack(pack) => match pack {
                PackEvent::Built(built) => (Kind::PackMade, codec::encode(built)),
                PackEvent::Pruned(pruned) => (Kind::ContextPruned, codec::encode(pruned)),
                PackEvent::Unpruned(undone) => (Kind::ContextUnpruned, codec::encode(undone)),
            },
            Self::Checkpoint(checkpoint) => match checkpoint {
                CheckpointEvent::Saved(saved) => (Kind::CheckpointSaved, codec::encode(saved)),
                CheckpointEvent::Deleted(gone) => (Kind::CheckpointsDeleted, codec::encode(gone)),
                CheckpointEvent::KeyMarked(marked) => (Kind::KeyMarked, codec::encode(marked)),
            },
            Self::Project(project) => match project {
                ProjectEvent::Initialised(made) => (Kind::ProjectInitialised, codec::encode(made)),
                ProjectEvent::WorktreeSeen(seen) => (Kind::WorktreeNoted, codec::encode(seen)),
                ProjectEvent::Written(version) => (Kind::ContextWritten, codec::encode(version)),
                ProjectEvent::DraftSaved(draft) => (Kind::ContextDrafted, codec::encode(draft)),
                ProjectEvent::Shared(shared) => (Kind::ProjectShared, codec::encode(shared)),
            },
            Self::Document(document) => match document {
                DocumentEvent::SourceAdded(added) => (Kind::SourceAdded, codec::encode(added)),
                DocumentEvent::SourceRemoved => (Kind::SourceRemoved, empty()),
                DocumentEvent::Ingested(meta) => (Kind::DocumentTaken, codec::encode(meta)),
                DocumentEvent::PartAdded(meta) => (Kind::DocumentContinued, codec::encode(meta)),
                DocumentEvent::Restatted(meta) => (Kind::DocumentTouched, codec::encode(meta)),
                DocumentEvent::Removed(removed) => (Kind::DocumentGone, codec::encode(removed)),
                DocumentEvent::FileFailed(failed) => (Kind::FileFailed, codec::encode(failed)),
                DocumentEvent::FailureCleared(path) => (Kind::FailureGone, codec::encode(path)),
            },
            Self::Forgetting(reported) => match reported {
                ForgettingEvent::Events(reported) => {
                    (Kind::EventsForgotten, codec::encode(reported))
                }
                ForgettingEvent::EventsErased(reported) => {
                    (Kind::EventsErased, codec::encode(reported))
                }
                ForgettingEvent::Content(reported) => {
                    (Kind::ContentForgotten, codec::encode(reported))
                }
            },
        }
    }

    /// Decodes the metadata of a stored event. Returns `None` when its content was forgotten, or when a newer version
    /// wrote a kind that this version does not know; such events are skipped.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the event does not decode.
    pub fn of(event: &LoggedEvent) -> Result<Option<Self>, Error> {
        let (Some(payload), Kind::Known(kind)) = (&event.payload, &event.header.kind) else {
            return Ok(None);
        };
        let meta = StoredBytes(event, &payload.meta);
        Ok(Some(match kind {
            EventKind::SessionCreated => SessionEvent::Created(meta.read()?).into(),
            EventKind::SessionUpdated => SessionEvent::Updated.into(),
            EventKind::SessionClosed => SessionEvent::Closed.into(),
            EventKind::SessionLeased => SessionEvent::Leased(meta.read()?).into(),
            EventKind::LeaseReleased => SessionEvent::Released(meta.read()?).into(),
            EventKind::SessionForgotten => SessionEvent::Forgotten(meta.read()?).into(),
            EventKind::SessionErased => SessionEvent::Erased.into(),
            EventKind::EventsForgotten => ForgettingEvent::Events(meta.read()?).into(),
            EventKind::EventsErased => ForgettingEvent::EventsErased(meta.read()?).into(),
            EventKind::ContentForgotten => ForgettingEvent::Content(meta.read()?).into(),
            EventKind::StepRecorded => StepEvent::Recorded(meta.read()?).into(),
            EventKind::ExtractorRegistered => StepEvent::ExtractorRegistered.into(),
            EventKind::FieldMappingRegistered => StepEvent::MappingRegistered.into(),
            EventKind::MessageRecorded => MessageEvent::Message(meta.read()?).into(),
            EventKind::ToolRecorded => MessageEvent::ToolCall(meta.read()?).into(),
            EventKind::EntitiesFound => EntityEvent::Extracted(meta.read()?).into(),
            EventKind::EntitiesRelated => EntityEvent::Related(meta.read()?).into(),
            EventKind::EntityResolved => EntityEvent::Resolved(meta.read()?).into(),
            EventKind::PackMade => PackEvent::Built(meta.read()?).into(),
            EventKind::ContextPruned => PackEvent::Pruned(meta.read()?).into(),
            EventKind::ContextUnpruned => PackEvent::Unpruned(meta.read()?).into(),
            EventKind::CheckpointSaved => CheckpointEvent::Saved(meta.read()?).into(),
            EventKind::CheckpointsDeleted => CheckpointEvent::Deleted(meta.read()?).into(),
            EventKind::KeyMarked => CheckpointEvent::KeyMarked(meta.read()?).into(),
            EventKind::ProjectInitialised => ProjectEvent::Initialised(meta.read()?).into(),
            EventKind::WorktreeNoted => ProjectEvent::WorktreeSeen(meta.read()?).into(),
            EventKind::ContextWritten => ProjectEvent::Written(meta.read()?).into(),
            EventKind::ContextDrafted => ProjectEvent::DraftSaved(meta.read()?).into(),
            EventKind::ProjectShared => ProjectEvent::Shared(meta.read()?).into(),
            EventKind::SourceAdded => DocumentEvent::SourceAdded(meta.read()?).into(),
            EventKind::SourceRemoved => DocumentEvent::SourceRemoved.into(),
            EventKind::DocumentTaken => DocumentEvent::Ingested(meta.read()?).into(),
            EventKind::DocumentContinued => DocumentEvent::PartAdded(meta.read()?).into(),
            EventKind::DocumentTouched => DocumentEvent::Restatted(meta.read()?).into(),
            EventKind::DocumentGone => DocumentEvent::Removed(meta.read()?).into(),
            EventKind::FileFailed => DocumentEvent::FileFailed(meta.read()?).into(),
            EventKind::FailureGone => DocumentEvent::FailureCleared(meta.read()?).into(),
        }))
    }

    /// Returns the hashes of the blobs that the event names.
    #[must_use]
    pub fn blobs(&self) -> &[BlobHash] {
        match self {
            Self::Step(step) => step.blobs(),
            Self::Message(message) => message.blobs(),
            Self::Project(project) => project.blobs(),
            Self::Document(document) => document.blobs(),
            Self::Session(_)
            | Self::Entity(_)
            | Self::Pack(_)
            | Self::Checkpoint(_)
            | Self::Forgetting(_) => &[],
        }
    }
}

/// An event and the bytes of its payload.
struct StoredBytes<'e>(&'e LoggedEvent, &'e [u8]);

impl StoredBytes<'_> {
    fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        codec::decode_part(self.0, self.1)
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
    MessageRecorded => MessageRecorded,
    messages::ToolCallMeta => ToolRecorded,
    ToolRecorded => ToolRecorded,
    entities::EntityData => EntityResolved,
    packs::PackBuilt => PackMade,
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
///
/// # Errors
/// [`Error::Corrupt`] when the event does not decode.
pub fn blobs_of(event: &LoggedEvent) -> Result<Vec<BlobRef>, Error> {
    if event.payload.is_none() {
        return Ok(Vec::new());
    }
    Ok(match Event::of(event)? {
        Some(Event::Step(StepEvent::Recorded(_))) => body::<StepRecorded>(event)?.blobs().collect(),
        Some(Event::Message(message)) => match message {
            MessageEvent::Message(_) => body::<MessageRecorded>(event)?.blobs().collect(),
            MessageEvent::ToolCall(_) => body::<ToolRecorded>(event)?.blobs().collect(),
        },
        Some(Event::Project(project)) => projects::blobs_of(event, &project)?,
        Some(Event::Document(DocumentEvent::Ingested(_) | DocumentEvent::PartAdded(_))) => {
            documents::blobs_of(event)?
        }
        Some(
            Event::Session(
                SessionEvent::Created(_)
                | SessionEvent::Updated
                | SessionEvent::Closed
                | SessionEvent::Leased(_)
                | SessionEvent::Released(_)
                | SessionEvent::Forgotten(_)
                | SessionEvent::Erased,
            )
            | Event::Step(StepEvent::ExtractorRegistered | StepEvent::MappingRegistered)
            | Event::Entity(
                EntityEvent::Extracted(_) | EntityEvent::Related(_) | EntityEvent::Resolved(_),
            )
            | Event::Pack(PackEvent::Built(_) | PackEvent::Pruned(_) | PackEvent::Unpruned(_))
            | Event::Checkpoint(
                CheckpointEvent::Saved(_)
                | CheckpointEvent::Deleted(_)
                | CheckpointEvent::KeyMarked(_),
            )
            | Event::Document(
                DocumentEvent::SourceAdded(_)
                | DocumentEvent::SourceRemoved
                | DocumentEvent::Restatted(_)
                | DocumentEvent::Removed(_)
                | DocumentEvent::FileFailed(_)
                | DocumentEvent::FailureCleared(_),
            )
            | Event::Forgetting(
                ForgettingEvent::Events(_)
                | ForgettingEvent::EventsErased(_)
                | ForgettingEvent::Content(_),
            ),
        )
        | None => Vec::new(),
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
