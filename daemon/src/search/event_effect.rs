//! What each kind of event means to search: which text it adds, and which texts it removes.

use crate::events::Event;
use crate::events::capture::CaptureEvent;
use crate::events::checkpoints::{CheckpointEvent, CheckpointSaved, CheckpointsDeleted};
use crate::events::documents::{DocumentEvent, DocumentMeta, PartMeta};
use crate::events::entities::EntityEvent;
use crate::events::forgetting::{EventsForgotten, ForgettingEvent};
use crate::events::messages::{MessageEvent, MessageMeta, ToolCallMeta};
use crate::events::packs::PackEvent;
use crate::events::projects::{ProjectEvent, VersionMeta};
use crate::events::sessions::SessionEvent;
use crate::events::steps::StepEvent;

/// What an event means to search.
pub(super) enum EventEffect<'e> {
    /// It has no searchable text and removes none.
    Nothing,
    /// A step; its result is searchable.
    Step,
    /// A message.
    Message(&'e MessageMeta),
    /// A tool call; its result is searchable, and replaces an earlier one of the same call.
    ToolCall(&'e ToolCallMeta),
    /// A document, which replaces its earlier version, with its first part.
    Document(&'e DocumentMeta),
    /// A further part of a document.
    DocumentPart(&'e PartMeta),
    /// A version of a context file, which replaces the earlier one.
    Version(&'e VersionMeta),
    /// A checkpoint; its metadata are searchable.
    Checkpoint(&'e CheckpointSaved),
    /// A document was removed.
    DocumentRemoved(&'e str),
    /// Checkpoints were deleted.
    CheckpointsDeleted(&'e CheckpointsDeleted),
    /// A source was removed, with its documents.
    SourceRemoved,
    /// A session was forgotten.
    SessionForgotten,
    /// Events of a stream were forgotten.
    EventsForgotten(&'e EventsForgotten),
}

impl<'e> EventEffect<'e> {
    /// Classifies an event. It has no default arm, so a new event does not compile until search handles it.
    pub fn of(meta: &'e Event) -> Self {
        match meta {
            Event::Step(StepEvent::Recorded(_)) => Self::Step,
            Event::Message(MessageEvent::Message(meta)) => Self::Message(meta),
            Event::Message(MessageEvent::ToolCall(meta)) => Self::ToolCall(meta),
            Event::Document(DocumentEvent::Ingested(meta)) => Self::Document(meta),
            Event::Document(DocumentEvent::PartAdded(meta)) => Self::DocumentPart(meta),
            Event::Document(DocumentEvent::Removed(removed)) => {
                Self::DocumentRemoved(&removed.document)
            }
            Event::Document(DocumentEvent::SourceRemoved) => Self::SourceRemoved,
            Event::Project(ProjectEvent::Written(version)) => Self::Version(version),
            Event::Checkpoint(CheckpointEvent::Saved(saved)) => Self::Checkpoint(saved),
            Event::Checkpoint(CheckpointEvent::Deleted(deleted)) => {
                Self::CheckpointsDeleted(deleted)
            }
            Event::Session(SessionEvent::Forgotten(_)) => Self::SessionForgotten,
            Event::Forgetting(ForgettingEvent::Events(events)) => Self::EventsForgotten(events),
            Event::Session(
                SessionEvent::Created(_)
                | SessionEvent::Updated
                | SessionEvent::Closed
                | SessionEvent::Leased(_)
                | SessionEvent::Released(_)
                | SessionEvent::Erased,
            )
            | Event::Step(StepEvent::ExtractorRegistered | StepEvent::MappingRegistered)
            | Event::Entity(
                EntityEvent::Extracted(_)
                | EntityEvent::Related(_)
                | EntityEvent::Resolved(_)
                | EntityEvent::Merged(_)
                | EntityEvent::Unmerged(_),
            )
            | Event::Pack(PackEvent::Built(_) | PackEvent::Pruned(_) | PackEvent::Unpruned(_))
            | Event::Checkpoint(CheckpointEvent::KeyMarked(_))
            | Event::Trust(_)
            | Event::Capture(
                CaptureEvent::Observed(_)
                | CaptureEvent::Repeated(_)
                | CaptureEvent::Paused(_)
                | CaptureEvent::Resumed,
            )
            | Event::Project(
                ProjectEvent::Initialised(_)
                | ProjectEvent::WorktreeSeen(_)
                | ProjectEvent::DraftSaved(_)
                | ProjectEvent::Shared(_),
            )
            | Event::Document(
                DocumentEvent::SourceAdded(_)
                | DocumentEvent::Restatted(_)
                | DocumentEvent::FileFailed(_)
                | DocumentEvent::FailureCleared(_),
            )
            | Event::Forgetting(ForgettingEvent::EventsErased(_) | ForgettingEvent::Content(_)) => {
                Self::Nothing
            }
        }
    }
}
