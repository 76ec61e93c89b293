//! Wire types of the templates of context files.

use lore_wire::wire;
use serde_json::{Map, Value};

use super::TemplateOrigin;

/// Arguments of `get_template`.
#[wire(args(agent))]
#[derive(Default)]
pub struct GetTemplateArgs {
    /// The file type.
    pub file_type: String,
    /// The project, by its id, a path in it, or `current`; default: the caller's project.
    #[serde(alias = "project")]
    pub project_id: Option<String>,
}

/// Reply of `get_template`.
#[wire(reply)]
pub struct GetTemplateReply {
    /// The file type.
    pub file_type: String,
    /// The title of the file.
    pub title: String,
    /// Its purpose.
    pub description: String,
    /// The origin of the template.
    pub origin: TemplateOrigin,
    /// Its file, unless it is built in.
    pub path: Option<String>,
    /// The source of the template, TOML.
    pub template: String,
    /// A complete valid file.
    pub example: String,
    /// The required sections.
    pub required_sections: Vec<String>,
    /// Sections, entries and rules, as JSON.
    pub schema: Map<String, Value>,
    /// The project.
    pub project: Option<String>,
}

/// Arguments of `list_templates`.
#[wire(args(agent))]
#[derive(Default)]
pub struct ListTemplatesArgs {
    /// The project, by its id, a path in it, or `current`; default: the caller's project.
    #[serde(alias = "project")]
    pub project_id: Option<String>,
}

/// An active template.
#[wire]
pub struct TemplateLine {
    /// The file type of the template.
    pub file_type: String,
    /// The title of the file.
    pub title: String,
    /// Its purpose.
    pub description: String,
    /// Its origin.
    pub origin: TemplateOrigin,
    /// Its file, unless it is built in.
    pub path: Option<String>,
    /// The required sections.
    pub required_sections: Vec<String>,
}

/// An invalid template file, which is not used.
#[wire]
pub struct BrokenTemplate {
    /// The file.
    pub path: String,
    /// The line, from 1.
    pub line: u64,
    /// The error, and the expected form.
    pub reason: String,
}

/// Reply of `list_templates`.
#[wire(reply)]
pub struct ListTemplatesReply {
    /// The templates, by file type.
    pub templates: Vec<TemplateLine>,
    /// Invalid files; their previous templates stay active.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<BrokenTemplate>,
    /// The project.
    pub project: Option<String>,
}
