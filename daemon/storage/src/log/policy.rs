//! What the parts of the daemon ask of a kind of event, answered for every kind in one place.

use super::EventKind;

/// The answers for one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Whether it says what was forgotten: such an event is never forgotten itself.
    pub tells_of_forgetting: bool,
    /// Whether it changes what lists say of its session: clients that subscribed to lists are notified.
    pub changes_lists: bool,
    /// What becomes of it when some events of its session are forgotten.
    pub in_part: PartialForget,
    /// Whether it may be forgotten outside sessions while its stream goes on.
    pub may_go_alone: bool,
    /// What a fork has of it.
    pub inheritance: Inheritance,
    /// What it comes to when its session is exported.
    pub transfer: TransferPolicy,
    /// Whether it is part of the conversation: it is searched together with what stands before it.
    pub is_talk: bool,
}

/// What becomes of an event of a session when some events of that session are forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialForget {
    /// It says how the session stands, and goes only with all of it.
    Stays,
    /// It was found out from other events, or tells what was read: it goes with what it came from.
    Derived,
    /// As [`Self::Derived`] where the daemon recorded it, and as [`Self::Own`] otherwise.
    DerivedByDaemon,
    /// It goes when it is meant.
    Own,
}

/// What a fork has of an event of the past that it shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inheritance {
    /// It is in the fork, too.
    Shared,
    /// It is about the parent alone.
    ParentOnly,
    /// Each session has one of its own.
    OnePerSession,
}

/// What an event comes to when its session is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferPolicy {
    /// A line.
    Line,
    /// Nothing: it means something in its own log alone.
    Local,
    /// Nothing: it is never of a session.
    OutsideSessions,
}

/// What a session says, unless said otherwise.
const IN_SESSION: Policy = Policy {
    tells_of_forgetting: false,
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
    tells_of_forgetting: true,
    ..LOCAL
};

const OUTSIDE_SESSIONS: Policy = Policy {
    transfer: TransferPolicy::OutsideSessions,
    ..IN_SESSION
};

impl EventKind {
    /// The answers for this kind.
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
            Self::StepRecorded | Self::MessageRecorded => Policy {
                is_talk: true,
                ..IN_SESSION
            },
            Self::ExtractorRegistered | Self::FieldMappingRegistered => Policy {
                may_go_alone: true,
                ..IN_SESSION
            },
            Self::ToolRecorded
            | Self::EntitiesRelated
            | Self::CheckpointSaved
            | Self::KeyMarked => IN_SESSION,
            Self::EntitiesFound | Self::ContextPruned | Self::ContextUnpruned => Policy {
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
