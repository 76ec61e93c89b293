//! Wire types of `forget`.

use lore_wire::wire;

use crate::protocol::{AsOf, SessionId};

/// Arguments of `forget`. At least one of `session`, `project`, `of_agent`, `origin`, `from` and `to`
/// is required; their conditions are combined with AND.
#[wire(args(key, agent))]
#[derive(Default)]
pub struct ForgetArgs {
    /// Content of this session.
    pub session: Option<SessionId>,
    /// Content of this project: its sessions, and its context files with their history.
    pub project: Option<String>,
    /// What this agent recorded; `agent` is the caller.
    pub of_agent: Option<String>,
    /// Data by its origin: `source:ID` (a removed document source), `file:/PATH` (a file or
    /// folder), `tool:NAME`, `resolver:NAME`, or `import` (imported sessions).
    pub origin: Option<String>,
    /// What was recorded at this position or RFC 3339 time, or later.
    pub from: Option<AsOf>,
    /// What was recorded at this position or RFC 3339 time, or earlier.
    pub to: Option<AsOf>,
    /// Only report what would be removed (default false).
    pub dry_run: Option<bool>,
}

/// Reply of `forget`.
#[wire(reply(
    position = "Position of the event that records it; of the newest event if nothing was forgotten.",
    durable,
    warnings = "Warnings, including data that could not be erased from disk yet."
))]
#[derive(Default)]
pub struct ForgetReply {
    /// Number of forgotten events.
    pub events: u64,
    /// Bytes of their payloads, and of blobs and objects that nothing else needed.
    pub bytes: u64,
    /// Sessions that were forgotten as a whole.
    pub sessions: u64,
    /// Sessions that continue without some of their events.
    pub sessions_in_part: u64,
    /// Projects that were forgotten, with their context files.
    pub projects: u64,
    /// Number of versions and drafts of context files, including those of whole projects.
    pub context_versions: u64,
    /// Document sources that were forgotten.
    pub sources: u64,
    /// Number of documents of which at least one version was forgotten.
    pub documents: u64,
    /// Selected data that stays, with the reason; at most 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
}
