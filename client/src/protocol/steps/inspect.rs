//! Wire types for reading steps.

use lore_wire::wire;
use std::collections::BTreeMap;

use serde_json::Value;

use super::super::{Position, SessionId};

/// Arguments of `get_step`.
#[wire(args(session, .., as_of, at_least, agent))]
pub struct GetStepArgs {
    /// Its number.
    pub step: u64,
    /// The attempt; default: the one that resolves variables.
    pub attempt: Option<u64>,
    /// For a large result: return only a part of it, from this byte on, without `parsed` and `extracted`.
    pub from: Option<u64>,
    /// Maximum size of that part in bytes, 1024 to 4194304 (default 1048576).
    pub bytes_max: Option<u64>,
}

/// Reply of `get_step`.
#[wire(reply(durable, chosen_by, warnings))]
pub struct GetStepReply {
    /// The session.
    pub session: SessionId,
    /// Its number.
    pub step: u64,
    /// The attempt.
    pub attempt: u64,
    /// Number of attempts.
    pub attempts: u64,
    /// The tool.
    pub tool: String,
    /// Parameters of the call.
    pub parameters: Value,
    /// The purpose of the call.
    pub purpose: Option<String>,
    /// The result, as text.
    pub result: String,
    /// `from` of the next part, if `result` is a part and not the last one.
    pub next_from: Option<u64>,
    /// Whether it succeeded.
    pub success: bool,
    /// The error.
    pub error: Option<String>,
    /// Time, RFC 3339.
    pub at: String,
    /// The agent that recorded it.
    pub agent: String,
    /// Its position in the log.
    pub position: Position,
    /// The parsed result, if it is JSON or has fields.
    pub parsed: Option<Value>,
    /// The extracted values, by type.
    pub extracted: BTreeMap<String, Vec<Value>>,
}

/// Arguments of `list_steps`.
#[wire(args(session, .., as_of, at_least, agent))]
pub struct ListStepsArgs {
    /// Maximum number.
    pub limit: Option<u64>,
    /// `next` of the previous page.
    pub next: Option<String>,
}

/// A step in a list.
#[wire]
pub struct StepSummary {
    /// Its number.
    pub step: u64,
    /// The attempt that resolves variables.
    pub attempt: u64,
    /// Number of attempts.
    pub attempts: u64,
    /// The tool.
    pub tool: String,
    /// The purpose of the call.
    pub purpose: Option<String>,
    /// Whether it succeeded.
    pub success: bool,
    /// The error; of a long one the first 4096 bytes.
    pub error: Option<String>,
    /// Time, RFC 3339.
    pub at: String,
    /// The agent that recorded it.
    pub agent: String,
    /// Its position in the log.
    pub position: Position,
    /// Size of the result in bytes.
    pub bytes: u64,
}

/// Reply of `list_steps`.
#[wire(reply(position, durable, chosen_by, warnings))]
pub struct ListStepsReply {
    /// The session.
    pub session: SessionId,
    /// The steps, by number.
    pub steps: Vec<StepSummary>,
    /// `next` for the following page; absent at the end.
    pub next: Option<String>,
}
