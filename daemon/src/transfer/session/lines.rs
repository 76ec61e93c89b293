//! The lines of an exported session, version 1; [`kinds`](super::kinds) has the payloads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Value of `format` in the first line.
pub const FORMAT: &str = "lore-session";
/// The only version that is written and read.
pub const VERSION: u32 = 1;

/// The first line. It contains no time, position or store, so repeated exports of the same events are equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// `lore-session`.
    pub format: String,
    /// 1.
    pub version: u32,
    /// The id of the session.
    pub session: String,
    /// Its project at the time of the export.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub project: Option<String>,
}

/// Every line between the first and the last: one event.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Line<P> {
    /// Its number: from 1, without gaps.
    pub n: u64,
    /// Time of the event, RFC 3339; the order is that of the lines.
    pub at: String,
    /// The agent that caused it, if it has a name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub agent: String,
    /// Kind of the event.
    pub kind: String,
    /// Content of the event.
    pub payload: P,
}

/// The last line: without it the file is truncated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LastLine {
    /// Totals for verification.
    pub end: EndLine,
}

/// What [`LastLine`] says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndLine {
    /// Number of events.
    pub events: u64,
}
