//! Wire types of `get_context` and `list_contexts`.

use lore_wire::wire;

use super::{Change, ValidationResult};

/// Arguments of `get_context`.
#[wire(args(as_of, at_least, agent))]
#[derive(Default)]
pub struct GetContextArgs {
    /// A project's id, a path in it, or `current`.
    #[serde(alias = "project")]
    pub project_id: String,
    /// The file type: `mental_model`, `session_summary`, `bugs`, `features`, or another one with a
    /// template.
    pub file_type: String,
    /// Only this section, by its heading or its key such as `open_issues`.
    pub section: Option<String>,
    /// This version, as in `context_history`; default: the newest.
    pub version: Option<u64>,
    /// Return the caller's last invalid update instead of the file (default false).
    pub draft: Option<bool>,
    /// Maximum number of tokens of the content; it is cut at the end of a line.
    pub max_tokens: Option<u64>,
}

/// The template of a file that is not written yet.
#[wire]
pub struct FileContent {
    /// The purpose of the file.
    pub description: String,
    /// The required sections.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_sections: Vec<String>,
    /// A complete valid file.
    pub example: String,
    /// How to write it.
    pub next_steps: String,
}

/// Reply of `get_context`.
#[wire(reply)]
pub struct GetContextReply {
    /// The project.
    pub project: String,
    /// The file type.
    pub file_type: String,
    /// Its content; absent if nothing is written.
    pub content: Option<String>,
    /// Its version; 0 if nothing was ever written.
    pub version: u64,
    /// Time of the write, RFC 3339.
    pub updated_at: Option<String>,
    /// Its agent; `file` for an edit by hand.
    pub updated_by: Option<String>,
    /// The kind of change.
    pub change: Option<Change>,
    /// The validation against its template.
    pub validation: Option<ValidationResult>,
    /// The template, if nothing is written yet.
    pub template: Option<FileContent>,
    /// Keys of its sections, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<String>,
    /// For a draft: the number of invalid attempts in a row.
    pub attempt_count: Option<u64>,
    /// Number of tokens of the whole content, if `max_tokens` was given.
    pub tokens: Option<u64>,
    /// Whether the content was cut.
    pub truncated: Option<bool>,
    /// The path of the file, for reading and editing.
    pub path: String,
}

/// Arguments of `list_contexts`.
#[wire(args(at_least, agent))]
#[derive(Default)]
pub struct ListContextsArgs {
    /// A project's id, a path in it, or `current`.
    #[serde(alias = "project")]
    pub project_id: String,
}

/// A context file of a project.
#[wire]
pub struct ContextFile {
    /// The file type.
    pub file_type: String,
    /// Its purpose; empty without a template.
    pub description: String,
    /// Whether it has content.
    pub written: bool,
    /// Its newest version; 0 if nothing was ever written.
    pub version: u64,
    /// Time of that version, RFC 3339.
    pub updated_at: Option<String>,
    /// Its agent; `file` for an edit by hand.
    pub updated_by: Option<String>,
    /// Length of the content.
    pub bytes: u64,
    /// Number of template errors when it was written; only an edit by hand can have errors.
    pub errors: u64,
    /// Agents whose last update was invalid.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drafts: Vec<String>,
    /// The path of the file, for reading and editing.
    pub path: String,
}

/// Reply of `list_contexts`.
#[wire(reply)]
pub struct ListContextsReply {
    /// The project.
    pub project: String,
    /// The context files, by file type: existing ones, and those with a template.
    pub contexts: Vec<ContextFile>,
}
