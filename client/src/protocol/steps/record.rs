//! Wire types for recording tool results.

use lore_wire::wire;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::super::{Body, Position, SessionId};

/// Arguments of `record_step`.
#[wire(args(session_or_new, .., fence, key, agent))]
pub struct RecordStepArgs {
    /// Step number from 1; default: the next one. A repeated number is another attempt.
    pub step: Option<u64>,
    /// Name of the called tool.
    pub tool: String,
    /// Parameters of the call.
    pub parameters: Option<Map<String, Value>>,
    /// The purpose of the call.
    pub purpose: Option<String>,
    /// The complete result: text or any JSON. Optional if `error` is given.
    #[serde(deserialize_with = "Body::present")]
    pub result: Option<Body>,
    /// The error, if it failed.
    pub error: Option<String>,
    /// Whether it succeeded; default: derived from the result.
    pub success: Option<bool>,
    /// Report what was extracted.
    pub explain: Option<bool>,
}

/// Reply of `record_step`.
#[wire(reply(durable, chosen_by, project, warnings))]
pub struct RecordStepReply {
    /// Its session.
    pub session: SessionId,
    /// Its number.
    pub step: u64,
    /// The attempt at this number, from 1.
    pub attempt: u64,
    /// Position of the write in the log.
    pub position: Position,
    /// Number of extracted values of each type, if `explain` is set.
    pub extracted: Option<BTreeMap<String, u64>>,
    /// Number of secrets that were redacted.
    pub redacted: Option<u64>,
}
