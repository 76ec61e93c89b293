//! Wire types of a context file's history.

use lore_wire::wire;

use super::Change;
use crate::protocol::Position;

/// Arguments of `context_history`.
#[wire(args(at_least, agent))]
#[derive(Default)]
pub struct ContextHistoryArgs {
    /// A project's id, a path in it, or `current`.
    #[serde(alias = "project")]
    pub project_id: String,
    /// The file type of the context file.
    pub file_type: String,
    /// Maximum number of versions, 1 to 500 (default 50).
    pub limit: Option<u64>,
    /// `next` of the previous page.
    pub next: Option<String>,
}

/// A version of a context file.
#[wire]
pub struct ContextVersion {
    /// Its number.
    pub version: u64,
    /// Position of its event.
    pub position: Position,
    /// Time of the write, RFC 3339.
    pub at: String,
    /// Its agent; `file` for an edit by hand.
    pub agent: String,
    /// The kind of change.
    pub change: Change,
    /// Length of the content.
    pub bytes: u64,
    /// Number of template errors when it was written.
    pub errors: u64,
    /// Number of template warnings when it was written.
    pub warnings: u64,
    /// The version it was based on, if that is not the previous one.
    pub base: Option<u64>,
    /// A concurrent version whose changes are not in this one.
    pub beside: Option<u64>,
    /// Keys of entries and sections that both this edit and `beside` changed; this version has the edit's lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<String>,
    /// The reason that the writer gave.
    pub reason: Option<String>,
    /// Keys of the sections that differ from the previous version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_sections: Vec<String>,
}

/// Reply of `context_history`.
#[wire(reply)]
pub struct ContextHistoryReply {
    /// The project.
    pub project: String,
    /// The file type.
    pub file_type: String,
    /// The versions, the newest first.
    pub versions: Vec<ContextVersion>,
    /// `next` for the following page; absent at the end.
    pub next: Option<String>,
}

/// Arguments of `diff_context`.
#[wire(args(at_least, agent))]
#[derive(Default)]
pub struct DiffContextArgs {
    /// A project's id, a path in it, or `current`.
    #[serde(alias = "project")]
    pub project_id: String,
    /// The file type of the context file.
    pub file_type: String,
    /// The earlier version; default: the one before `to`. 0 is the empty file.
    pub from: Option<u64>,
    /// The later version; default: the newest.
    pub to: Option<u64>,
}

/// Reply of `diff_context`.
#[wire(reply)]
pub struct DiffContextReply {
    /// The project.
    pub project: String,
    /// The file type.
    pub file_type: String,
    /// The earlier version.
    pub from: u64,
    /// The later version.
    pub to: u64,
    /// Keys of the sections that differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_sections: Vec<String>,
    /// Number of added lines.
    pub added: u64,
    /// Number of removed lines.
    pub removed: u64,
    /// The changes as a unified diff.
    pub diff: String,
}
