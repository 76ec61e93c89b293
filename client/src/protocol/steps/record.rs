//! Recording what a tool returned.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::{Body, Position, SessionId, lenient};

/// Arguments of `record_step`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordStepArgs {
    /// To this session; absent: the caller's current one, or a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "SessionId"))]
    pub session: Option<SessionId>,
    /// Step number from 1; absent: the next one. The same number again is another attempt.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub step: Option<u64>,
    /// Name of the tool that was called.
    pub tool: String,
    /// What it was called with.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::object"
    )]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "serde_json::Map<String, serde_json::Value>")
    )]
    pub parameters: Option<Map<String, Value>>,
    /// Why it was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub purpose: Option<String>,
    /// What it returned, whole: text or any JSON. May be left out when `error` is given.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "Body::present"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Body"))]
    pub result: Option<Body>,
    /// What went wrong, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub error: Option<String>,
    /// Whether it succeeded; absent: judged from the result.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::boolean"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub success: Option<bool>,
    /// Token of a lease that must still be held.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub fence: Option<Position>,
    /// Idempotency key, at most 256 bytes: the same call again gives the first reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub key: Option<String>,
    /// Say what was extracted.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::boolean"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub explain: Option<bool>,
    /// Who acts, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// Reply of `record_step`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordStepReply {
    /// The session it was recorded in.
    pub session: SessionId,
    /// Its number.
    pub step: u64,
    /// Which attempt at this number, from 1.
    pub attempt: u64,
    /// Position of the write in the log.
    pub position: Position,
    /// How many values of each type were found, when explained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, u64>"))]
    pub extracted: Option<BTreeMap<String, u64>>,
    /// How many secrets were replaced before it was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub redacted: Option<u64>,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// The project it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub project: Option<String>,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
