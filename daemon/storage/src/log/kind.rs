//! Event kinds: the closed list of this version, and the stored names.

use std::fmt;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as NameError, StrDeserializer};

use super::policy::Policy;

/// The kind of an event, in the past tense. A variant is spelled as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[allow(missing_docs)] // the types of crate::events document each one
pub enum EventKind {
    SessionCreated,
    SessionUpdated,
    SessionClosed,
    SessionLeased,
    LeaseReleased,
    SessionForgotten,
    SessionErased,
    EventsForgotten,
    EventsErased,
    ContentForgotten,
    StepRecorded,
    ExtractorRegistered,
    FieldMappingRegistered,
    MessageRecorded,
    ToolRecorded,
    EntitiesFound,
    EntitiesRelated,
    EntityResolved,
    EntitiesMerged,
    EntitiesUnmerged,
    PackMade,
    ContextPruned,
    ContextUnpruned,
    CheckpointSaved,
    CheckpointsDeleted,
    KeyMarked,
    ProjectInitialised,
    WorktreeNoted,
    ContextWritten,
    ContextDrafted,
    ProjectShared,
    SourceAdded,
    SourceRemoved,
    DocumentTaken,
    DocumentContinued,
    DocumentTouched,
    DocumentGone,
    FileFailed,
    FailureGone,
    HostObserved,
    ObservationRepeated,
    CapturePaused,
    CaptureResumed,
    SuspicionReviewed,
    EventsUndone,
    EventsRedone,
}

impl EventKind {
    /// Returns the stored name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SessionCreated => "SessionCreated",
            Self::SessionUpdated => "SessionUpdated",
            Self::SessionClosed => "SessionClosed",
            Self::SessionLeased => "SessionLeased",
            Self::LeaseReleased => "LeaseReleased",
            Self::SessionForgotten => "SessionForgotten",
            Self::SessionErased => "SessionErased",
            Self::EventsForgotten => "EventsForgotten",
            Self::EventsErased => "EventsErased",
            Self::ContentForgotten => "ContentForgotten",
            Self::StepRecorded => "StepRecorded",
            Self::ExtractorRegistered => "ExtractorRegistered",
            Self::FieldMappingRegistered => "FieldMappingRegistered",
            Self::MessageRecorded => "MessageRecorded",
            Self::ToolRecorded => "ToolRecorded",
            Self::EntitiesFound => "EntitiesFound",
            Self::EntitiesRelated => "EntitiesRelated",
            Self::EntityResolved => "EntityResolved",
            Self::EntitiesMerged => "EntitiesMerged",
            Self::EntitiesUnmerged => "EntitiesUnmerged",
            Self::PackMade => "PackMade",
            Self::ContextPruned => "ContextPruned",
            Self::ContextUnpruned => "ContextUnpruned",
            Self::CheckpointSaved => "CheckpointSaved",
            Self::CheckpointsDeleted => "CheckpointsDeleted",
            Self::KeyMarked => "KeyMarked",
            Self::ProjectInitialised => "ProjectInitialised",
            Self::WorktreeNoted => "WorktreeNoted",
            Self::ContextWritten => "ContextWritten",
            Self::ContextDrafted => "ContextDrafted",
            Self::ProjectShared => "ProjectShared",
            Self::SourceAdded => "SourceAdded",
            Self::SourceRemoved => "SourceRemoved",
            Self::DocumentTaken => "DocumentTaken",
            Self::DocumentContinued => "DocumentContinued",
            Self::DocumentTouched => "DocumentTouched",
            Self::DocumentGone => "DocumentGone",
            Self::FileFailed => "FileFailed",
            Self::FailureGone => "FailureGone",
            Self::HostObserved => "HostObserved",
            Self::ObservationRepeated => "ObservationRepeated",
            Self::CapturePaused => "CapturePaused",
            Self::CaptureResumed => "CaptureResumed",
            Self::SuspicionReviewed => "SuspicionReviewed",
            Self::EventsUndone => "EventsUndone",
            Self::EventsRedone => "EventsRedone",
        }
    }

    /// Returns the kind of this name, if this version has it.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let name: StrDeserializer<'_, NameError> = name.into_deserializer();
        Self::deserialize(name).ok()
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The kind in a header. A log written by a newer version may contain unknown kinds. Such an event retains its
/// place in the chain and updates its session's time; it has no other effect here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A kind of this version.
    Known(EventKind),
    /// A kind of a newer version, with its name.
    Unknown(Box<str>),
}

impl Kind {
    /// Returns whether such an event makes stored content forgotten: an older copy of the log would bring it back.
    #[must_use]
    pub fn forgets(&self) -> bool {
        matches!(
            self,
            Self::Known(
                EventKind::SessionForgotten
                    | EventKind::EventsForgotten
                    | EventKind::ContentForgotten
            )
        )
    }

    /// Returns the kind of this name.
    #[must_use]
    pub fn of(name: &str) -> Self {
        match EventKind::parse(name) {
            Some(kind) => Self::Known(kind),
            None => Self::Unknown(name.into()),
        }
    }

    /// Returns the kind, if this version has it.
    #[must_use]
    pub const fn known(&self) -> Option<EventKind> {
        match self {
            Self::Known(kind) => Some(*kind),
            Self::Unknown(_) => None,
        }
    }

    /// Returns whether this version has the kind and its policy satisfies the condition.
    #[must_use]
    pub fn has(&self, is_such: impl FnOnce(&Policy) -> bool) -> bool {
        self.known().is_some_and(|kind| is_such(&kind.policy()))
    }

    /// Returns whether the event records a forget; such an event is never forgotten itself.
    #[must_use]
    pub fn records_forgetting(&self) -> bool {
        self.has(|policy| policy.records_forgetting)
    }

    /// Returns the stored name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(kind) => kind.name(),
            Self::Unknown(name) => name,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<EventKind> for Kind {
    fn from(kind: EventKind) -> Self {
        Self::Known(kind)
    }
}

impl PartialEq<EventKind> for Kind {
    fn eq(&self, other: &EventKind) -> bool {
        self.known() == Some(*other)
    }
}

impl PartialEq<&str> for Kind {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Names read back as their kinds; unknown names are retained unchanged.
    #[test]
    fn names_read_back() {
        for kind in [
            EventKind::SessionCreated,
            EventKind::DocumentContinued,
            EventKind::FailureGone,
        ] {
            assert_eq!(EventKind::parse(kind.name()), Some(kind));
        }
        let newer = Kind::of("OfANewerVersion");
        assert_eq!((newer.known(), newer.as_str()), (None, "OfANewerVersion"));
    }
}
