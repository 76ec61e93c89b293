//! Wire types of `export_trace`: which lines of files were written by which session.

use lore_wire::wire;

use super::SessionId;

/// Arguments of `export_trace`.
#[wire(args(.., at_least, agent))]
#[derive(Default)]
pub struct ExportTraceArgs {
    /// The project, by its id or `current`; default: that of the caller's folder.
    pub project: Option<String>,
}

/// A range of lines, from 1, both included.
#[wire]
pub struct LineRange {
    /// The first line.
    pub start_line: u64,
    /// The last line.
    pub end_line: u64,
}

/// Lines of a file that one session wrote.
#[wire]
pub struct TracedConversation {
    /// The session.
    pub session: SessionId,
    /// Its agent.
    pub agent: String,
    /// The model that it used last, as the host names it.
    pub model: Option<String>,
    /// The lines.
    pub ranges: Vec<LineRange>,
}

/// A file of the project with the sessions that wrote lines of it.
#[wire]
pub struct TracedFile {
    /// Its path in the project.
    pub path: String,
    /// The sessions.
    pub conversations: Vec<TracedConversation>,
}

/// Reply of `export_trace`.
#[wire(reply(position, durable, project, warnings))]
pub struct ExportTraceReply {
    /// The project's folder.
    pub root: String,
    /// The files, by path.
    pub files: Vec<TracedFile>,
}
