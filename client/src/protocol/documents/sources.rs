//! Wire types of `add_source`, `remove_source`, `rescan` and `list_sources`.

use lore_wire::wire;

use super::SourceState;

/// Arguments of `add_source`.
#[wire(args(key, agent))]
#[derive(Default)]
pub struct AddSourceArgs {
    /// A folder or file: absolute, or relative to the caller's working directory. With `sent`: the
    /// name of the source.
    pub path: String,
    /// Whether its documents are sent by `put_document`; then no file is read or watched.
    #[schema(extend("default" = false))]
    pub sent: Option<bool>,
    /// The context of its documents; default: the name of each document's folder.
    pub context_id: Option<String>,
    /// The name of that context.
    pub context_name: Option<String>,
    /// The default category of its documents.
    pub category: Option<String>,
    /// Tags of all its documents, in addition to their own.
    pub tags: Vec<String>,
    /// Patterns of files to include, for instance `*.md` or `docs/**`.
    pub include: Vec<String>,
    /// Patterns of files and folders to exclude, in addition to `.gitignore` and `.loreignore`.
    pub exclude: Vec<String>,
    /// Whether changes are ingested as they happen (default true).
    #[schema(extend("default" = true))]
    pub watch: Option<bool>,
}

/// Reply of `add_source`.
#[wire(reply)]
pub struct AddSourceReply {
    /// Its id.
    pub source: String,
    /// The folder or file, with links resolved.
    pub path: String,
    /// Number of its files; they are ingested in the background.
    pub found: u64,
    /// Whether it is new; otherwise its settings were replaced.
    pub created: bool,
}

/// Arguments of `remove_source`.
#[wire(args(key, agent))]
#[derive(Default)]
pub struct RemoveSourceArgs {
    /// The source, by id or path.
    pub source: String,
}

/// Reply of `remove_source`.
#[wire(reply(position, durable, warnings))]
pub struct RemoveSourceReply {
    /// Its id.
    pub source: String,
    /// Its folder or file, which is not changed.
    pub path: String,
    /// Number of removed documents.
    pub documents: u64,
}

/// Arguments of `rescan`.
#[wire(args(agent))]
#[derive(Default)]
pub struct RescanArgs {
    /// A source, by id or path; default: all sources.
    pub source: Option<String>,
    /// Whether to retry failed files that have not changed.
    pub retry: Option<bool>,
}

/// Reply of `rescan`.
#[wire(reply(position, durable, warnings))]
pub struct RescanReply {
    /// The sources that are scanned in the background.
    pub sources: Vec<String>,
}

/// Arguments of `list_sources`.
#[wire(args(agent, at_least))]
#[derive(Default)]
pub struct ListSourcesArgs {
    /// Only this source, by id or path, with all its failures.
    pub source: Option<String>,
}

/// A file that could not be ingested.
#[wire]
pub struct FileFailure {
    /// Its name within the source.
    pub path: String,
    /// The reason, and a remedy.
    pub reason: String,
    /// Time of the failure, RFC 3339.
    pub at: String,
}

/// A source of documents.
#[wire]
pub struct Source {
    /// Its id.
    pub source: String,
    /// The folder or file, or the name.
    pub path: String,
    /// Whether its documents are sent by `put_document`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sent: bool,
    /// The context of its documents, if it sets one.
    pub context_id: Option<String>,
    /// The name of that context.
    pub context_name: Option<String>,
    /// The category that it sets.
    pub category: Option<String>,
    /// The tags that it adds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Patterns of included files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// Patterns of excluded files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// Its current activity.
    pub state: SourceState,
    /// Whether changes are noticed as they happen; otherwise the reason and the fallback.
    pub watching: String,
    /// Number of ingested documents.
    pub documents: u64,
    /// Number of their chunks.
    pub chunks: u64,
    /// Total size of their files in bytes.
    pub bytes: u64,
    /// Number of files that the current or last scan found.
    pub found: Option<u64>,
    /// Number of files that the current scan still has to ingest.
    pub left: Option<u64>,
    /// Number of failed files.
    pub failed: u64,
    /// The latest failures; all of them if one source is requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FileFailure>,
    /// Problems of the scan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Completion of the last scan, RFC 3339.
    pub scanned_at: Option<String>,
    /// Time it was added, RFC 3339.
    pub added_at: String,
}

/// Reply of `list_sources`.
#[wire(reply)]
pub struct ListSourcesReply {
    /// The sources, by path.
    pub sources: Vec<Source>,
}
