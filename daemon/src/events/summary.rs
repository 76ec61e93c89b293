//! What every event's metadata says alike: the blobs of its body, and what makes its text suspicious.

use super::{BlobHash, CaptureEvent, DocumentEvent, Event, MessageEvent, ProjectEvent, StepEvent};

impl Event {
    /// Returns what makes the event's text suspicious: names of kinds, in which texts give orders to a model.
    #[must_use]
    pub fn suspect(&self) -> &[String] {
        match self {
            Self::Step(StepEvent::Recorded(meta)) => &meta.suspect,
            Self::Message(MessageEvent::Message(meta)) => &meta.suspect,
            Self::Message(MessageEvent::ToolCall(meta)) => &meta.suspect,
            Self::Project(ProjectEvent::Written(meta)) => &meta.suspect,
            Self::Document(DocumentEvent::Ingested(meta)) => &meta.suspect,
            Self::Capture(CaptureEvent::Observed(meta)) => &meta.suspect,
            Self::Step(StepEvent::ExtractorRegistered | StepEvent::MappingRegistered)
            | Self::Project(
                ProjectEvent::Initialised(_)
                | ProjectEvent::WorktreeSeen(_)
                | ProjectEvent::DraftSaved(_)
                | ProjectEvent::Shared(_),
            )
            | Self::Document(
                DocumentEvent::SourceAdded(_)
                | DocumentEvent::SourceRemoved
                | DocumentEvent::PartAdded(_)
                | DocumentEvent::Restatted(_)
                | DocumentEvent::Removed(_)
                | DocumentEvent::FileFailed(_)
                | DocumentEvent::FailureCleared(_),
            )
            | Self::Capture(
                CaptureEvent::Repeated(_) | CaptureEvent::Paused(_) | CaptureEvent::Resumed,
            )
            | Self::Session(_)
            | Self::Entity(_)
            | Self::Pack(_)
            | Self::Checkpoint(_)
            | Self::Trust(_)
            | Self::Forgetting(_) => &[],
        }
    }

    /// Returns the hashes of the blobs that the event names.
    #[must_use]
    pub fn blobs(&self) -> &[BlobHash] {
        match self {
            Self::Step(StepEvent::Recorded(meta)) => &meta.blobs,
            Self::Message(MessageEvent::Message(meta)) => &meta.blobs,
            Self::Message(MessageEvent::ToolCall(meta)) => &meta.blobs,
            Self::Project(ProjectEvent::Written(meta)) => &meta.blobs,
            Self::Project(ProjectEvent::DraftSaved(meta)) => &meta.blobs,
            Self::Document(DocumentEvent::Ingested(meta)) => &meta.blobs,
            Self::Document(DocumentEvent::PartAdded(meta)) => &meta.blobs,
            Self::Step(StepEvent::ExtractorRegistered | StepEvent::MappingRegistered)
            | Self::Project(
                ProjectEvent::Initialised(_)
                | ProjectEvent::WorktreeSeen(_)
                | ProjectEvent::Shared(_),
            )
            | Self::Document(
                DocumentEvent::SourceAdded(_)
                | DocumentEvent::SourceRemoved
                | DocumentEvent::Restatted(_)
                | DocumentEvent::Removed(_)
                | DocumentEvent::FileFailed(_)
                | DocumentEvent::FailureCleared(_),
            )
            | Self::Session(_)
            | Self::Entity(_)
            | Self::Pack(_)
            | Self::Checkpoint(_)
            | Self::Capture(_)
            | Self::Trust(_)
            | Self::Forgetting(_) => &[],
        }
    }
}
