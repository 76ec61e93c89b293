//! Events of capture: what hooks and transcripts of agent hosts report. What is added to a model's context in answer is a pack.
//!
//! What a host reports as said or done is a message or a step. The event here stands directly before it and has what
//! only hosts know: their ids, exit status, files. Other reports, such as the start of a session, are such an event
//! alone.

use serde::{Deserialize, Serialize};

pub use super::CaptureEvent;

/// The event that follows an observation, which it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Following {
    /// A message.
    Message,
    /// A step.
    Step,
}

/// The metadata of an observation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// The host, by its name on the command line.
    pub host: String,
    /// What happened, as a word of `lored_hosts::Observed::kind`.
    pub what: String,
    /// The event that follows directly and belongs to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub following: Option<Following>,
    /// The host session of a process whose own session this becomes: hosts do not tell all their programs an id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joined: Option<String>,
    /// What makes a plan suspicious, as names of `lored_suspicion::Kind`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspect: Vec<String>,
    /// By what a report of the same thing is found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<ContentMark>,
    /// The session whose work this one continues from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<ContinuedSession>,
}

/// A session whose work another one continues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContinuedSession {
    /// Its id.
    pub session: String,
    /// The position up to which it was handed over.
    pub position: u64,
}

/// What a hook and a transcript know of the same thing, where they give it different ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentMark {
    /// The first 8 bytes of a hash of host session, kind and content, big-endian.
    pub content: u64,
    /// Time by the host's clock, or of arrival, in milliseconds since 1970.
    pub at_ms: i64,
    /// Whether a transcript reports it, instead of a hook.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_transcript: bool,
    /// Whether the other one, if it gives an id, too, gives the same.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_common_id: bool,
}

/// A hook reported what a transcript had reported, or the other way round. The key of this event keeps the report from
/// being recorded when it comes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservationRepeated {
    /// Position of the observation.
    pub of: u64,
    /// Its mark.
    pub mark: ContentMark,
}

/// The recording by hooks was paused: in the event's project, otherwise everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapturePaused {
    /// When it continues by itself, in microseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
}

/// The body of an observation. What a message or step has stands there alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservationDetails {
    /// Time by the host's clock, or of arrival, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<i64>,
    /// The host's id of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The host's id of the subagent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// The session here that the subagent's belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The host's id of the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// The working folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The checked-out branch of the folder, or its abbreviated commit, at a start and at a prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// What there is to say in words: a cause, a reason, a summary, a path, a task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Files that are changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<String>,
    /// Files that are read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<String>,
    /// Exit status of the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_status: Option<i64>,
    /// Duration in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Whether a person stopped or refused the call.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_interrupted: bool,
    /// Whether success is only assumed, because the host does not report failures.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_assumed: bool,
    /// Items of a plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plan: Vec<PlannedItem>,
    /// Whether these are all items of the plan.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_whole_plan: bool,
    /// What a call of the model took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenUse>,
    /// Bytes of the payload that were left out because it was too large.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// Names of fields of the payload that this release does not know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_fields: Vec<String>,
}

/// Tokens of one call of a model, as the host counts them: see `lored_hosts::TokenCounts`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUse {
    /// Tokens of the request.
    pub input: u64,
    /// Tokens of the answer.
    pub output: u64,
    /// Tokens of the request that came from the provider's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_read: u64,
    /// Tokens of the request that were put into the cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_written: u64,
}

/// An item of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedItem {
    /// The host's id.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// What is to be done.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The host's word for its state.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub state: String,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_false(value: &bool) -> bool {
    !*value
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_zero(value: &u64) -> bool {
    *value == 0
}
