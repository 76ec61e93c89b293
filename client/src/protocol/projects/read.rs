//! Wire types of `get_context` and `list_contexts`.

use serde::{Deserialize, Serialize};

use super::{Change, ValidationResult};
use crate::protocol::{AsOf, Position, lenient};

/// Arguments of `get_context`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GetContextArgs {
    /// A project's id, a path in it, or `current`.
    pub project_id: String,
    /// Which context file: `mental_model`, `session_summary`, `bugs`, `features`, or another that has a template.
    pub file_type: String,
    /// This section alone, by its heading or its key such as `open_issues`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub section: Option<String>,
    /// This version, as `context_history` tells it; absent: the newest.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub version: Option<u64>,
    /// The caller's last content that did not fit, instead of the file (default false).
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::boolean"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub draft: Option<bool>,
    /// As it was at this position or time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "AsOf"))]
    pub as_of: Option<AsOf>,
    /// At most so many tokens of content; what is beyond is left off at the end of a line.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub max_tokens: Option<u64>,
    /// Wait until this position can be read.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub at_least: Option<Position>,
    /// Who asks, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// What a file is to look like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToWrite {
    /// What the file is for.
    pub description: String,
    /// Sections that must be there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_sections: Vec<String>,
    /// A whole file that fits.
    pub example: String,
    /// How to write it.
    pub next_steps: String,
}

/// Reply of `get_context`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GetContextReply {
    /// The project.
    pub project: String,
    /// Which file.
    pub file_type: String,
    /// What it says; absent when nothing is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub content: Option<String>,
    /// Which version it is; 0 when nothing was ever written.
    pub version: u64,
    /// When it was written, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub updated_at: Option<String>,
    /// By which agent; `file` for an edit by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub updated_by: Option<String>,
    /// How it came about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Change"))]
    pub change: Option<Change>,
    /// What is right and wrong with it by its template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "ValidationResult"))]
    pub validation: Option<ValidationResult>,
    /// What to write, when nothing is written yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "ToWrite"))]
    pub template: Option<ToWrite>,
    /// The keys of its sections, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<String>,
    /// Of a draft: how many attempts in a row did not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub attempt_count: Option<u64>,
    /// How many tokens the whole content has, when `max_tokens` was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub tokens: Option<u64>,
    /// Whether some of the content was left off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub truncated: Option<bool>,
    /// The file, for people to read and edit.
    pub path: String,
    /// Position of the snapshot that was read.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Arguments of `list_contexts`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListContextsArgs {
    /// A project's id, a path in it, or `current`.
    pub project_id: String,
    /// Wait until this position can be read.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub at_least: Option<Position>,
    /// Who asks, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// A context file of a project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextFile {
    /// Which file.
    pub file_type: String,
    /// What it is for; empty when it has no template any more.
    pub description: String,
    /// Whether there is content.
    pub written: bool,
    /// Its newest version; 0 when nothing was ever written.
    pub version: u64,
    /// When that was written, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub updated_at: Option<String>,
    /// By which agent; `file` for an edit by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub updated_by: Option<String>,
    /// Length of the content.
    pub bytes: u64,
    /// Errors that it had by its template when it was written: only an edit by hand has any.
    pub errors: u64,
    /// Agents whose last update did not fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drafts: Vec<String>,
    /// The file, for people to read and edit.
    pub path: String,
}

/// Reply of `list_contexts`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListContextsReply {
    /// The project.
    pub project: String,
    /// By file type: those that are written, and those that could be.
    pub contexts: Vec<ContextFile>,
    /// Position of the snapshot that was read.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
