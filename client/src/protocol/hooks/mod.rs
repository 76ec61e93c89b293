//! Wire types of hooks: what the host of an agent hands to a hook, and what the hook prints.

use lore_wire::wire;

/// Arguments of `record_hook`.
#[wire(args)]
pub struct RecordHookArgs {
    /// The host whose file named the hook, such as `claude-code`.
    pub host: String,
    /// The host's name of the event, if the command line has it; otherwise it is in the payload.
    pub event: Option<String>,
    /// What the host handed to the hook, as it is.
    pub payload: String,
    /// Time of arrival in milliseconds since 1970; default: now. The same payload with the same time is recorded once.
    pub received_at: Option<i64>,
    /// The host's process, as `process:PID:START`: programs of a host that gives them no id belong to its session.
    pub process: Option<String>,
    /// Working folder of the hook, if the payload has none; default: that of the connection.
    pub folder: Option<String>,
    /// Exit status of the command that ended, where the host's transcript has it and the payload does not.
    pub exit_status: Option<i64>,
    /// How long the hook waits for the answer, in milliseconds from its arrival; default 100.
    pub waits_ms: Option<u64>,
}

/// Reply of `record_hook`.
#[wire(reply(position, durable, warnings))]
pub struct RecordHookReply {
    /// What the hook has to print, in the host's own form. May be empty.
    pub output: String,
    /// Number of observations that were recorded.
    pub recorded: u64,
    /// Number of observations that had been recorded before.
    pub duplicates: u64,
}

/// Arguments of `brief`.
#[wire(args(agent, at_least))]
#[derive(Default)]
pub struct BriefArgs {
    /// The project, by its id or `current`; default: that of the caller's folder.
    pub project: Option<String>,
    /// Maximum number of tokens.
    #[schema(extend("default" = 2000, "minimum" = 100, "maximum" = 16000))]
    pub max_tokens: Option<u64>,
}

/// Reply of `brief`.
#[wire(reply(
    position = "Position of the last event that it knows.",
    durable,
    project,
    warnings
))]
pub struct BriefReply {
    /// What the project's last sessions were asked, did and left open, and what is to be remembered. Empty if nothing is
    /// known.
    pub text: String,
    /// Number of its o200k tokens.
    pub tokens: u64,
}

/// Arguments of `pause_capture`.
#[wire(args(key, agent))]
#[derive(Default)]
pub struct PauseCaptureArgs {
    /// Only in this project, by its id or `current`; default: everywhere.
    pub project: Option<String>,
    /// How long, in milliseconds, at most 366 days; default: until `resume_capture`.
    pub ms: Option<u64>,
}

/// Arguments of `resume_capture`. Repeating it ends nothing more.
#[wire(args(agent))]
#[derive(Default)]
pub struct ResumeCaptureArgs {
    /// Only in this project, by its id or `current`; default: everywhere, and in all projects.
    pub project: Option<String>,
}

/// Reply of `pause_capture`.
#[wire(reply(position, durable, project, warnings))]
pub struct PauseCaptureReply {
    /// When recording continues by itself, RFC 3339.
    pub until: Option<String>,
}

/// Reply of `resume_capture`.
#[wire(reply(position, durable, warnings))]
pub struct ResumeCaptureReply {
    /// Number of pauses that ended.
    pub ended: u64,
}
