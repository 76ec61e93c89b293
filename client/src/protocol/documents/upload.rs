//! Wire types of `put_document`, `remove_document` and `list_documents`.

use lore_wire::wire;

use super::PutStatus;

/// Arguments of `put_document`.
#[wire(args(key, agent))]
#[derive(Default)]
pub struct PutDocumentArgs {
    /// Its name, with the extension of its format: `plan.md`, `reports/2026/costs.pdf`.
    pub name: String,
    /// The content as text.
    pub text: Option<String>,
    /// The content as Base64.
    pub base64: Option<String>,
    /// Its title; default: the document's own title.
    pub title: Option<String>,
    /// The source it belongs to, by id or path, one added with `sent`; default: the built-in source
    /// `sent`.
    pub source: Option<String>,
    /// Last change, RFC 3339; default: now.
    pub modified: Option<String>,
}

/// Reply of `put_document`.
#[wire(reply(
    position,
    durable,
    warnings = "Problems while reading it, and what was redacted."
))]
pub struct PutDocumentReply {
    /// Its id.
    pub document: String,
    /// Its source.
    pub source: String,
    /// Its title.
    pub title: String,
    /// The result.
    pub status: PutStatus,
}

/// Arguments of `remove_document`.
#[wire(args(key, agent))]
#[derive(Default)]
pub struct RemoveDocumentArgs {
    /// The document's id.
    pub document: String,
}

/// Reply of `remove_document`.
#[wire(reply)]
pub struct RemoveDocumentReply {
    /// Its id.
    pub document: String,
    /// Its former source.
    pub source: String,
}

/// Arguments of `list_documents`.
#[wire(args(agent, at_least))]
#[derive(Default)]
pub struct ListDocumentsArgs {
    /// The source, by id or path.
    pub source: String,
    /// Documents per page, at most 1000 (default 100).
    #[schema(extend("default" = 100, "minimum" = 1, "maximum" = 1000))]
    #[serde(alias = "limit")]
    pub max_items: Option<u64>,
    /// `next` of the previous page.
    pub next: Option<String>,
}

/// A document of a source.
#[wire]
pub struct ListedDocument {
    /// Its id.
    pub document: String,
    /// Its name within the source.
    pub name: String,
    /// Its title.
    pub title: String,
    /// SHA-256 of the ingested bytes, hexadecimal.
    pub sha256: String,
    /// Number of these bytes.
    pub bytes: u64,
    /// Whether the source's settings changed since it was ingested.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
}

/// Reply of `list_documents`.
#[wire(reply(position, durable))]
pub struct ListDocumentsReply {
    /// The documents, by name.
    pub documents: Vec<ListedDocument>,
    /// `next` for the following page.
    pub next: Option<String>,
}
