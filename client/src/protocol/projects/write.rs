//! Wire types of what changes a context file: names and fields of the replies as in "Local MCP Context
//! Manager Implementation Plan".

use serde::{Deserialize, Serialize};

use super::{FlawType, Severity, UpdateStatus};
use crate::protocol::{Position, lenient};

/// Arguments of `update_context`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UpdateContextArgs {
    /// A project's id, a path in it, or `current`.
    pub project_id: String,
    /// Which context file: `mental_model`, `session_summary`, `bugs`, `features`, or another that has a template.
    pub file_type: String,
    /// The whole new content, Markdown.
    pub content: String,
    /// Refuse with `CONFLICT` unless this is the newest version; 0: nothing was ever written.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub expected_version: Option<u64>,
    /// Idempotency key, at most 256 bytes: the same call again gives the first reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub key: Option<String>,
    /// Who acts, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// Arguments of `append_context`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppendContextArgs {
    /// A project's id, a path in it, or `current`.
    pub project_id: String,
    /// Which context file; one whose template says where entries go.
    pub file_type: String,
    /// The entry, Markdown with its heading.
    pub entry: String,
    /// Refuse with `CONFLICT` unless this is the newest version; absent: the entry is added to whatever is there.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub expected_version: Option<u64>,
    /// Idempotency key, at most 256 bytes: the same call again gives the first reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub key: Option<String>,
    /// Who acts, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// Something that does not fit a template.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ValidationError {
    /// What kind of thing is wrong.
    #[serde(rename = "type")]
    pub kind: FlawType,
    /// In which section, by its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub section: Option<String>,
    /// In which line, from 1.
    pub line: u64,
    /// What is wrong.
    pub message: String,
    /// Whether it stands in the way of an update.
    pub severity: Severity,
    /// What to do about it.
    pub correction_prompt: String,
    /// What it would look like.
    pub template_example: String,
}

/// What is right and wrong with a content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ValidationResult {
    /// Whether there is no error; warnings may be.
    pub valid: bool,
    /// Errors and warnings, in the order of their lines.
    pub errors: Vec<ValidationError>,
    /// How many more there are than are told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub more: Option<u64>,
    /// From 0 to 1: less for every error and warning.
    pub confidence: f64,
}

/// How to mend a content, the worst error first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CorrectionGuidance {
    /// What is worst.
    pub primary_issue: String,
    /// What to do, step by step.
    pub step_by_step_fix: Vec<String>,
    /// What it is to look like.
    pub template_to_follow: String,
    /// The content's own part as it could be.
    pub example_fix: String,
    /// How to try again.
    pub retry_instructions: String,
}

/// Reply of `update_context` and `append_context`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UpdateContextReply {
    /// Whether it was written.
    pub success: bool,
    /// What came of it.
    pub status: UpdateStatus,
    /// The same in a sentence.
    pub message: String,
    /// The project.
    pub project: String,
    /// Which file.
    pub file_type: String,
    /// The newest version now: the new one on success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub version: Option<u64>,
    /// Which attempt in a row this was.
    pub attempt_count: u64,
    /// What is right and wrong with the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "ValidationResult"))]
    pub validation_result: Option<ValidationResult>,
    /// The errors and warnings once more, where they stand in the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub validation_errors: Vec<ValidationError>,
    /// How to mend it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "CorrectionGuidance"))]
    pub correction_guidance: Option<CorrectionGuidance>,
    /// What to do now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub next_steps: Option<String>,
    /// The file, for people to read and edit.
    pub path: String,
    /// Position of the event.
    pub position: Position,
    /// Whether it is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Arguments of `clear_context`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClearContextArgs {
    /// A project's id, a path in it, or `current`.
    pub project_id: String,
    /// Which context file.
    pub file_type: String,
    /// Why, for the history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub reason: Option<String>,
    /// Refuse with `CONFLICT` unless this is the newest version.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub expected_version: Option<u64>,
    /// Idempotency key, at most 256 bytes: the same call again gives the first reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub key: Option<String>,
    /// Who acts, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// Reply of `clear_context`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClearContextReply {
    /// The project.
    pub project: String,
    /// Which file.
    pub file_type: String,
    /// The version that is empty.
    pub version: u64,
    /// The last one with content, to be read with `version`; absent when there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub archived_version: Option<u64>,
    /// Whether there was anything to clear.
    pub cleared: bool,
    /// Position of the event.
    pub position: Position,
    /// Whether it is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
