//! Wire types of what agents do together: handoffs, who works on what, and what others do.

use lore_wire::wire;

use super::{Position, SessionId};

/// Arguments of `handoff`.
#[wire(args(session, .., at_least, agent))]
#[derive(Default)]
pub struct HandoffArgs {
    /// The host whose agent continues the work, such as `codex`.
    #[schema(extend("enum" = ["aider", "claude-code", "cline", "codex", "copilot", "cursor", "gemini", "goose", "opencode", "pi", "qwen", "vscode"]))]
    pub to: Option<String>,
    /// Maximum number of tokens.
    #[schema(extend("default" = 2000, "minimum" = 1, "maximum" = 16000))]
    pub max_tokens: Option<u64>,
}

/// Reply of `handoff`.
#[wire(reply(
    session = "The session that is handed over.",
    ..,
    position = "The position up to which it was read.",
    durable,
    chosen_by,
    project,
    warnings
))]
pub struct HandoffReply {
    /// What another agent needs to continue the work: give it as its first prompt, with the marks around it. By them the
    /// session that gets it is linked to this one.
    pub text: String,
    /// Number of its o200k tokens.
    pub tokens: u64,
    /// The pack that records where it comes from.
    pub pack: String,
}

/// Arguments of `continue_session`.
#[wire(args(.., key, agent))]
pub struct ContinueSessionArgs {
    /// The session to continue.
    pub from: SessionId,
    /// Maximum number of tokens.
    #[schema(extend("default" = 2000, "minimum" = 1, "maximum" = 16000))]
    pub max_tokens: Option<u64>,
}

/// Reply of `continue_session`.
#[wire(reply(
    session = "The caller's session, which continues the other one.",
    ..,
    position,
    durable,
    chosen_by,
    project,
    warnings
))]
pub struct ContinueSessionReply {
    /// The session that it continues.
    pub from: SessionId,
    /// What was asked, decided and done there, and what is left open.
    pub text: String,
    /// Number of its o200k tokens.
    pub tokens: u64,
    /// The pack that records where it comes from.
    pub pack: String,
}

/// A session that continues another one, or is continued.
#[wire]
pub struct ContinuedSession {
    /// The other session.
    pub session: SessionId,
    /// The position at which the work was handed over.
    pub position: Position,
}

/// Arguments of `who`.
#[wire(args(.., at_least, agent))]
#[derive(Default)]
pub struct WhoArgs {
    /// The project, by its id or `current`; default: that of the caller's folder.
    pub project: Option<String>,
}

/// A file that a session works on: it has changed it, or is about to, and has neither committed it nor ended since.
#[wire]
pub struct WorkedFile {
    /// Its path.
    pub path: String,
    /// When it began to change it, RFC 3339.
    pub since: String,
    /// When it last did, RFC 3339.
    pub at: String,
    /// Other sessions that work on the same file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<SessionId>,
}

/// A session that is being worked in.
#[wire]
pub struct WorkingSession {
    /// Its id.
    pub session: SessionId,
    /// Its agent.
    pub agent: String,
    /// Whether it is the caller's own.
    pub own: bool,
    /// The session whose subagent it is.
    pub parent: Option<SessionId>,
    /// The folder in which it works: worktrees of a repository have one each.
    pub folder: Option<String>,
    /// The branch on which it works.
    pub branch: Option<String>,
    /// What it was asked last.
    pub task: Option<String>,
    /// Time of its last event, RFC 3339.
    pub at: String,
    /// The files that it works on, the last touched first; at most 50.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<WorkedFile>,
}

/// Reply of `who`.
#[wire(reply(position, durable, project, warnings))]
pub struct WhoReply {
    /// The sessions in which something happened in the last 30 minutes and that have not ended, the last active first.
    pub sessions: Vec<WorkingSession>,
}

/// Arguments of `watch`.
#[wire(args(session, .., agent))]
#[derive(Default)]
pub struct WatchArgs {
    /// Only what came after this position: that of the last reply. Default: what comes from now on.
    pub after: Option<Position>,
    /// Time to wait for something, in milliseconds, at most 30000 (default 0).
    pub wait_ms: Option<u64>,
}

/// Something that another session did and that matters to this one.
#[wire]
pub struct WatchedEvent {
    /// Its position.
    pub position: Position,
    /// Its session.
    pub session: SessionId,
    /// What it was.
    pub what: WatchedKind,
    /// The same as a line of text.
    pub line: String,
}

/// What another session did.
#[wire]
pub enum WatchedKind {
    /// It changed a file that this one has read or changed.
    Changed,
    /// It is about to change a file that this one works on.
    Begins,
    /// Something was said that is to be remembered in the project.
    Remembered,
    /// It started.
    Started,
    /// It ended.
    Ended,
    /// It continues this one.
    Continues,
}

/// Reply of `watch`.
#[wire(reply(
    session = "The session that is watched for.",
    ..,
    position = "Give it as `after` in the next call.",
    durable,
    chosen_by,
    project,
    warnings
))]
pub struct WatchReply {
    /// What happened, in the order of the log; at most 200.
    pub events: Vec<WatchedEvent>,
}
