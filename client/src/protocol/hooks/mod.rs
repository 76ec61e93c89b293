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

/// A folder with transcripts.
#[wire]
pub struct TranscriptFolder {
    /// A home folder, or the own folder of `host`; or one file of it. Absolute.
    pub path: String,
    /// The host whose own folder it is.
    pub host: Option<String>,
}

/// Arguments of `import_transcripts`. Repeating it records nothing twice.
#[wire(args(agent))]
#[derive(Default)]
pub struct ImportTranscriptsArgs {
    /// The hosts, such as `claude-code`; default: all.
    pub hosts: Vec<String>,
    /// Where to look; default: the home folder of the daemon's user.
    pub folders: Vec<TranscriptFolder>,
    /// Only report what there is.
    pub dry_run: Option<bool>,
    /// `next` of the last reply: continues this import. The other arguments are not needed then.
    pub next: Option<String>,
}

/// The transcripts of one host.
#[wire]
pub struct HostTranscripts {
    /// The host.
    pub host: String,
    /// Number of files.
    pub files: u64,
    /// Number of sessions, without those of subagents.
    pub sessions: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// When the file that has not changed for the longest time changed last, RFC 3339.
    pub from: Option<String>,
    /// When a file changed last, RFC 3339.
    pub to: Option<String>,
}

/// Records of a type that this release does not know.
#[wire]
pub struct UnknownRecords {
    /// The host.
    pub host: String,
    /// The type; empty if the record has none.
    pub kind: String,
    /// How many.
    pub count: u64,
}

/// A file or folder that was not read.
#[wire]
pub struct UnreadFile {
    /// Its path.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// Reply of `import_transcripts`. The numbers of what was recorded are those since the last reply.
#[wire(reply(position, durable, warnings))]
#[derive(Default)]
pub struct ImportTranscriptsReply {
    /// What was found, in the first reply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<HostTranscripts>,
    /// Files in all.
    pub files: u64,
    /// Files that are done.
    pub files_done: u64,
    /// Bytes in all.
    pub bytes: u64,
    /// Bytes that are done.
    pub bytes_done: u64,
    /// Sessions so far that something was recorded in.
    pub sessions: u64,
    /// Observations that were recorded.
    pub recorded: u64,
    /// Observations that had been recorded before, from a transcript or a hook.
    pub duplicates: u64,
    /// Observations that the settings or a pause leave out.
    pub left_out: u64,
    /// Records that are too long to be read.
    pub too_long: u64,
    /// Records of unknown types.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<UnknownRecords>,
    /// What was not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<UnreadFile>,
    /// Continues the import; absent when it is done.
    pub next: Option<String>,
}
