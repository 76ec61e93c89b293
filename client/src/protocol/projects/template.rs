//! Wire types of the templates of context files.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::TemplateOrigin;
use crate::protocol::Position;

/// Arguments of `get_template`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GetTemplateArgs {
    /// Which kind of file.
    pub file_type: String,
    /// For which project, by its id, a path in it, or `current`; absent: the caller's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub project_id: Option<String>,
    /// Who asks, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// Reply of `get_template`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GetTemplateReply {
    /// Which kind of file.
    pub file_type: String,
    /// What people call it.
    pub title: String,
    /// What it is for.
    pub description: String,
    /// Where the template is from.
    pub origin: TemplateOrigin,
    /// Its file, when it is not built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub path: Option<String>,
    /// The template as it is written, TOML.
    pub template: String,
    /// A whole file that fits.
    pub example: String,
    /// Sections that must be there.
    pub required_sections: Vec<String>,
    /// Sections, entries and rules, as JSON.
    pub schema: Map<String, Value>,
    /// For which project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub project: Option<String>,
    /// Position of the last event.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Arguments of `list_templates`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListTemplatesArgs {
    /// For which project, by its id, a path in it, or `current`; absent: the caller's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub project_id: Option<String>,
    /// Who asks, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// A template in force.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TemplateLine {
    /// The kind of file that it is for.
    pub file_type: String,
    /// What people call it.
    pub title: String,
    /// What it is for.
    pub description: String,
    /// Where it is from.
    pub origin: TemplateOrigin,
    /// Its file, when it is not built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub path: Option<String>,
    /// Sections that must be there.
    pub required_sections: Vec<String>,
}

/// A template file that is not in force.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BrokenTemplate {
    /// The file.
    pub path: String,
    /// In which line, from 1.
    pub line: u64,
    /// What is wrong, and what would be right.
    pub reason: String,
}

/// Reply of `list_templates`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListTemplatesReply {
    /// By file type.
    pub templates: Vec<TemplateLine>,
    /// Files that cannot be used: what was in force before still is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<BrokenTemplate>,
    /// For which project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub project: Option<String>,
    /// Position of the last event.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
