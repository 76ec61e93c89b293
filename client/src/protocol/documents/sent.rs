//! Wire types of `put_document`, `remove_document` and `list_documents`.

use serde::{Deserialize, Serialize};

use super::PutStatus;
use crate::protocol::{Position, lenient};

/// Arguments of `put_document`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PutDocumentArgs {
    /// What it is called, with the extension that says what it is: `plan.md`, `reports/2026/costs.pdf`.
    pub name: String,
    /// What it holds, when that is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub text: Option<String>,
    /// What it holds, as Base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub base64: Option<String>,
    /// Its title; absent: what it says itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub title: Option<String>,
    /// The source that it belongs to, by its id or its path, one with `sent`; absent: `sent`, which is there by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub source: Option<String>,
    /// When it was changed last, RFC 3339; absent: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub modified: Option<String>,
    /// Idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub key: Option<String>,
    /// Who sends it, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// Reply of `put_document`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PutDocumentReply {
    /// Its id.
    pub document: String,
    /// Its source.
    pub source: String,
    /// Its title.
    pub title: String,
    /// What was done.
    pub status: PutStatus,
    /// Position of the last event.
    pub position: Position,
    /// Whether that is on disk.
    pub durable: bool,
    /// What could not be read as it should, and what was redacted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Arguments of `remove_document`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RemoveDocumentArgs {
    /// The document's id.
    pub document: String,
    /// Idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub key: Option<String>,
    /// Who removes it, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// Reply of `remove_document`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RemoveDocumentReply {
    /// Its id.
    pub document: String,
    /// The source that it was of.
    pub source: String,
    /// Position of the event.
    pub position: Position,
    /// Whether that is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Arguments of `list_documents`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListDocumentsArgs {
    /// The source, by its id or its path.
    pub source: String,
    /// How many a page has, at most 1000; by default 100.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 100, "minimum" = 1, "maximum" = 1000), with = "u64"))]
    pub max_items: Option<u64>,
    /// Where the page before ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub next: Option<String>,
    /// Who asks, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
    /// Wait until this position can be seen.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub at_least: Option<Position>,
}

/// A document as its source has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedDocument {
    /// Its id.
    pub document: String,
    /// Where it is in its source.
    pub name: String,
    /// Its title.
    pub title: String,
    /// SHA-256 of the bytes that it was made of, in hexadecimal digits.
    pub sha256: String,
    /// How many they are.
    pub bytes: u64,
    /// Whether its source says something else about it since it was taken in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
}

/// Reply of `list_documents`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListDocumentsReply {
    /// By their names.
    pub documents: Vec<ListedDocument>,
    /// Where the next page begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub next: Option<String>,
    /// Position of the last event.
    pub position: Position,
    /// Whether what the reply rests on is on disk.
    pub durable: bool,
}
