//! Wire types for changing a context file: names and fields of the replies as in "Local MCP Context
//! Manager Implementation Plan".

use lore_wire::wire;

use super::{FlawType, Severity, UpdateStatus};

/// Arguments of `update_context`.
#[wire(args(key, agent))]
#[derive(Default)]
pub struct UpdateContextArgs {
    /// A project's id, a path in it, or `current`.
    #[serde(alias = "project")]
    pub project_id: String,
    /// The file type: `mental_model`, `session_summary`, `bugs`, `features`, or another one with a
    /// template.
    pub file_type: String,
    /// The complete new content, Markdown.
    pub content: String,
    /// Fail with `CONFLICT` unless this is the newest version; 0: nothing was ever written.
    pub expected_version: Option<u64>,
}

/// Arguments of `append_context`.
#[wire(args(key, agent))]
#[derive(Default)]
pub struct AppendContextArgs {
    /// A project's id, a path in it, or `current`.
    #[serde(alias = "project")]
    pub project_id: String,
    /// The file type; its template has to define where entries go.
    pub file_type: String,
    /// The entry, Markdown with its heading. One line is enough: it becomes the heading.
    pub entry: String,
    /// Fail with `CONFLICT` unless this is the newest version; default: append to any version.
    pub expected_version: Option<u64>,
}

/// A violation of a template.
#[wire]
pub struct ValidationError {
    /// The kind of problem.
    #[serde(rename = "type")]
    pub kind: FlawType,
    /// The section, by its key.
    pub section: Option<String>,
    /// The line, from 1.
    pub line: u64,
    /// The problem.
    pub message: String,
    /// Whether it rejects an update.
    pub severity: Severity,
    /// How to correct it.
    pub correction_prompt: String,
    /// An example of the correct form; it is shortened or left out if there are many problems.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub template_example: String,
}

/// Validation of a content.
#[wire]
pub struct ValidationResult {
    /// Whether it has no errors; warnings are allowed.
    pub valid: bool,
    /// Errors and warnings, in the order of their lines. Of a rejected update they are in `validation_errors`.
    pub errors: Option<Vec<ValidationError>>,
    /// Number of further problems.
    pub more: Option<u64>,
    /// From 0 to 1: lower for every error and warning.
    pub confidence: f64,
}

/// Correction of a content, the worst error first.
#[wire]
pub struct CorrectionGuidance {
    /// The worst problem.
    pub primary_issue: String,
    /// The correction, step by step.
    pub step_by_step_fix: Vec<String>,
    /// The form to follow.
    pub template_to_follow: String,
    /// Your own content, corrected; each `<...>` is a gap that you have to fill in.
    pub example_fix: String,
    /// How to try again.
    pub retry_instructions: String,
}

/// Problems of a context file that were there before.
#[wire]
pub struct EarlierIssues {
    /// The version that brought them.
    pub since_version: Option<u64>,
    /// Its agent; `file` for an edit by hand.
    pub by: Option<String>,
    /// The problems with their lines, one for each section or entry.
    pub problems: Vec<String>,
    /// Number of further sections and entries with problems.
    pub more: Option<u64>,
}

/// Reply of `update_context` and `append_context`.
#[wire(reply)]
pub struct UpdateContextReply {
    /// Whether it was written.
    pub success: bool,
    /// The outcome.
    pub status: UpdateStatus,
    /// The outcome as a sentence.
    pub message: String,
    /// The project.
    pub project: String,
    /// The file type.
    pub file_type: String,
    /// The newest version: the new one on success.
    pub version: Option<u64>,
    /// The number of this attempt in a row.
    pub attempt_count: u64,
    /// The validation of the content; of an append, of the entry.
    pub validation_result: Option<ValidationResult>,
    /// The errors and warnings, if they reject the update.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub validation_errors: Vec<ValidationError>,
    /// Problems of other parts of the file, which were there before. They do not reject the update.
    pub earlier_issues: Option<EarlierIssues>,
    /// How to correct it.
    pub correction_guidance: Option<CorrectionGuidance>,
    /// The next steps.
    pub next_steps: Option<String>,
    /// The path of the file, for reading and editing.
    pub path: String,
}

/// Arguments of `clear_context`.
#[wire(args(key, agent))]
#[derive(Default)]
pub struct ClearContextArgs {
    /// A project's id, a path in it, or `current`.
    #[serde(alias = "project")]
    pub project_id: String,
    /// The file type of the context file.
    pub file_type: String,
    /// The reason, for the history.
    pub reason: Option<String>,
    /// Fail with `CONFLICT` unless this is the newest version.
    pub expected_version: Option<u64>,
}

/// Reply of `clear_context`.
#[wire(reply)]
pub struct ClearContextReply {
    /// The project.
    pub project: String,
    /// The file type.
    pub file_type: String,
    /// The empty version.
    pub version: u64,
    /// The last version with content, for reading with `version`; absent without one.
    pub archived_version: Option<u64>,
    /// Whether any content was removed.
    pub cleared: bool,
}
