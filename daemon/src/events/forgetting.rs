//! That something was forgotten on request, or by the rules of retention: what it came to.

use serde::{Deserialize, Serialize};

pub use crate::log::{EventsErased, EventsForgotten};

/// Content was forgotten: the last event of the commit whose tombstones say where. All of it is decided,
/// so it is the fact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentForgotten {
    /// Events.
    pub events: u64,
    /// What they held, in bytes.
    pub bytes: u64,
    /// Whole sessions.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sessions: u64,
    /// Sessions that go on.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sessions_in_part: u64,
    /// Whole projects.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub projects: u64,
    /// Versions and drafts of context files.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub context_versions: u64,
    /// Whole sources of documents.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sources: u64,
    /// Documents whose texts went; one whose texts go in several commits is in each of them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub documents: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl ContentForgotten {
    /// Both together.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            events: self.events + other.events,
            bytes: self.bytes + other.bytes,
            sessions: self.sessions + other.sessions,
            sessions_in_part: self.sessions_in_part + other.sessions_in_part,
            projects: self.projects + other.projects,
            context_versions: self.context_versions + other.context_versions,
            sources: self.sources + other.sources,
            documents: self.documents + other.documents,
        }
    }
}

/// The metadata of an event that says what was forgotten while the rest goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForgettingEvent {
    /// Some events of a stream.
    Events(EventsForgotten),
    /// They are gone from the disk.
    EventsErased(EventsErased),
    /// What a request or a rule came to.
    Content(ContentForgotten),
}
