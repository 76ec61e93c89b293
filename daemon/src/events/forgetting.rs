//! Events that record the result of forgetting on request or by retention rules.

use serde::{Deserialize, Serialize};

pub use crate::log::{EventsErased, EventsForgotten};

pub use super::ForgettingEvent;

/// Content was forgotten. This is the last event of a commit whose tombstones name the streams. All fields are
/// metadata, because the writer decides them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentForgotten {
    /// Number of events.
    pub events: u64,
    /// Size of their content, in bytes.
    pub bytes: u64,
    /// Number of whole sessions.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sessions: u64,
    /// Number of sessions that continue.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sessions_in_part: u64,
    /// Number of whole projects.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub projects: u64,
    /// Number of versions and drafts of context files.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub context_versions: u64,
    /// Number of whole document sources.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sources: u64,
    /// Number of documents with forgotten texts; a document whose texts span several commits counts in each.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub documents: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl ContentForgotten {
    /// Adds two results.
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
