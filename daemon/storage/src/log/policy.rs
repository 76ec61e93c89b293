//! The policy of each event kind: how the daemon's modules treat it, defined in one place.

use super::EventKind;

/// The policy of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Whether it records a forget; such an event is never forgotten itself.
    pub records_forgetting: bool,
    /// Whether it changes its session's entry in lists; clients that subscribed to lists are notified.
    pub changes_lists: bool,
    /// Effect of a partial forget of its session.
    pub in_part: PartialForget,
    /// Whether it can be forgotten outside sessions while its stream continues.
    pub may_go_alone: bool,
    /// Visibility in forks.
    pub inheritance: Inheritance,
    /// Treatment in a session's export.
    pub transfer: TransferPolicy,
    /// Whether it is part of the conversation, which is searched together with its previous events.
    pub is_talk: bool,
}

/// The effect on an event when some events of its session are forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialForget {
    /// It records the session's state and is only forgotten with the whole session.
    Stays,
    /// It is derived from other events or records a read; it is forgotten with its sources.
    Derived,
    /// As [`Self::Derived`] when the daemon recorded it, otherwise as [`Self::Own`].
    DerivedByDaemon,
    /// It is forgotten when it is selected.
    Own,
}

/// The visibility of a shared past event in a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inheritance {
    /// Visible in the fork, too.
    Shared,
    /// It concerns only the parent.
    ParentOnly,
    /// Each session has a separate event of this kind.
    OnePerSession,
}

/// The treatment of an event in a session's export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferPolicy {
    /// It is exported as a line.
    Line,
    /// Not exported: it is meaningful only in its own log.
    Local,
    /// Not exported: it never belongs to a session.
    OutsideSessions,
}

/// The default policy of a session's event.
const IN_SESSION: Policy = Policy {
    records_forgetting: false,
    changes_lists: false,
    in_part: PartialForget::Own,
    may_go_alone: false,
    inheritance: Inheritance::Shared,
    transfer: TransferPolicy::Line,
    is_talk: false,
};

const LOCAL: Policy = Policy {
    transfer: TransferPolicy::Local,
    ..IN_SESSION
};

const FORGETTING: Policy = Policy {
    records_forgetting: true,
    ..LOCAL
};

const OUTSIDE_SESSIONS: Policy = Policy {
    transfer: TransferPolicy::OutsideSessions,
    ..IN_SESSION
};

impl EventKind {
    /// Returns the policy of this kind.
    #[must_use]
    pub const fn policy(self) -> Policy {
        match self {
            Self::SessionCreated => Policy {
                changes_lists: true,
                in_part: PartialForget::Stays,
                inheritance: Inheritance::OnePerSession,
                ..IN_SESSION
            },
            Self::SessionUpdated => Policy {
                changes_lists: true,
                inheritance: Inheritance::ParentOnly,
                ..IN_SESSION
            },
            Self::SessionClosed => Policy {
                changes_lists: true,
                in_part: PartialForget::Stays,
                inheritance: Inheritance::ParentOnly,
                ..IN_SESSION
            },
            Self::SessionLeased | Self::LeaseReleased => Policy {
                in_part: PartialForget::Stays,
                ..LOCAL
            },
            Self::SessionForgotten => Policy {
                changes_lists: true,
                ..FORGETTING
            },
            Self::SessionErased | Self::EventsForgotten | Self::EventsErased => FORGETTING,
            Self::ContentForgotten => Policy {
                transfer: TransferPolicy::OutsideSessions,
                ..FORGETTING
            },
            Self::StepRecorded | Self::MessageRecorded | Self::ToolRecorded => Policy {
                is_talk: true,
                ..IN_SESSION
            },
            Self::ExtractorRegistered | Self::FieldMappingRegistered => Policy {
                may_go_alone: true,
                ..IN_SESSION
            },
            Self::EntitiesRelated
            | Self::EntitiesUnmerged
            | Self::CheckpointSaved
            | Self::KeyMarked => IN_SESSION,
            Self::EntitiesFound
            | Self::EntitiesMerged
            | Self::ContextPruned
            | Self::ContextUnpruned => Policy {
                in_part: PartialForget::Derived,
                ..IN_SESSION
            },
            Self::EntityResolved => Policy {
                in_part: PartialForget::DerivedByDaemon,
                ..IN_SESSION
            },
            Self::PackMade => Policy {
                in_part: PartialForget::Derived,
                may_go_alone: true,
                ..LOCAL
            },
            Self::CheckpointsDeleted => LOCAL,
            Self::HostObserved | Self::ObservationRepeated => Policy {
                inheritance: Inheritance::ParentOnly,
                ..LOCAL
            },
            Self::CapturePaused | Self::CaptureResumed => Policy {
                in_part: PartialForget::Stays,
                ..LOCAL
            },
            // Without the event that it is about, it says nothing.
            Self::SuspicionReviewed | Self::EventsUndone | Self::EventsRedone => Policy {
                in_part: PartialForget::Stays,
                ..LOCAL
            },
            Self::ContextWritten | Self::ContextDrafted => Policy {
                may_go_alone: true,
                ..OUTSIDE_SESSIONS
            },
            Self::ProjectInitialised
            | Self::WorktreeNoted
            | Self::ProjectShared
            | Self::SourceAdded
            | Self::SourceRemoved
            | Self::DocumentTaken
            | Self::DocumentContinued
            | Self::DocumentTouched
            | Self::DocumentGone
            | Self::FileFailed
            | Self::FailureGone => OUTSIDE_SESSIONS,
        }
    }
}
