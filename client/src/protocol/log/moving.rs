//! Wire types for exporting and importing all recorded data, as lines of docs/export-format.md.

use lore_wire::wire;

use super::super::SessionId;

/// Arguments of `export_log`.
#[wire(args)]
#[derive(Default)]
pub struct ExportLogArgs {
    /// Only this session.
    pub session: Option<SessionId>,
    /// Only this project, with its sessions.
    pub project: Option<String>,
    /// Approximate page size in bytes, at most 33554432 (default 262144).
    pub bytes_max: Option<u64>,
    /// `next` of the previous page, unchanged.
    pub next: Option<String>,
}

/// Reply of `export_log`.
#[wire(reply(
    position = "The export covers everything up to this position.",
    durable,
    warnings = "Recorded data that the export omits."
))]
#[derive(Default)]
pub struct ExportLogReply {
    /// Complete lines.
    pub content: String,
    /// `next` for the following page; absent at the end.
    pub next: Option<String>,
}

/// Arguments of `import_log`.
#[wire(args(agent))]
#[derive(Default)]
pub struct ImportLogArgs {
    /// Lines of an exported log, at most 33554432 bytes: all lines, or whole sessions and other
    /// lines of a longer log.
    pub content: String,
    /// The line number of the first line in the whole log (default 1).
    pub line: Option<u64>,
    /// Only check it, and report what an import would record.
    pub dry_run: Option<bool>,
}

/// Reply of `import_log`.
#[wire(reply)]
#[derive(Default)]
pub struct ImportLogReply {
    /// Number of recorded sessions.
    pub sessions: u64,
    /// Existing sessions that were continued with their new events.
    #[serde(default)]
    pub continued: u64,
    /// Number of recorded events of all these sessions.
    pub events: u64,
    /// Number of recorded projects.
    pub projects: u64,
    /// Number of recorded versions of context files.
    pub versions: u64,
    /// Number of recorded documents: sent ones, because the others are read from their files.
    #[serde(default)]
    pub documents: u64,
    /// Number of sessions, projects, versions and documents that already existed.
    pub there: u64,
    /// Paths of document sources with files: they are not recorded; add them with `add_source`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Nothing was recorded, as requested.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}
