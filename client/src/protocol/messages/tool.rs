//! Wire types of `record_tool`.

use lore_wire::wire;
use serde_json::{Map, Value};

use super::ToolStatus;
use crate::protocol::{Body, SessionId};

/// Arguments of `record_tool`.
#[wire(args(session_or_new, .., fence, key, agent))]
#[derive(Default)]
pub struct RecordToolArgs {
    /// The execution to continue: the id of an earlier reply; default: a new one.
    pub execution: Option<String>,
    /// Name of the tool.
    pub tool: String,
    /// Its status; default: `completed`, or `error` if an error is given.
    pub status: Option<ToolStatus>,
    /// Parameters of the call.
    pub parameters: Option<Map<String, Value>>,
    /// The result: text or any JSON.
    #[serde(deserialize_with = "Body::present")]
    pub result: Option<Body>,
    /// The error.
    pub error: Option<String>,
}

/// Reply of `record_tool`.
#[wire(reply(position, durable, chosen_by, project, warnings))]
pub struct RecordToolReply {
    /// Its session.
    pub session: SessionId,
    /// Its id: give it in later calls about this execution.
    pub execution: String,
    /// Its status.
    pub status: ToolStatus,
}
