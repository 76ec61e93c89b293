//! Wire types of `export_session` and `import_session`.

use lore_wire::wire;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::protocol::SessionId;

/// Format of an exported session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// JSON lines: for `import_session`, and for other programs.
    #[default]
    Jsonl,
    /// Markdown: for people.
    Markdown,
}

/// Hand-written, because some hosts refuse the derived list of alternatives.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for ExportFormat {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ExportFormat".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "enum": ["jsonl", "markdown"] })
    }
}

/// Arguments of `export_session`.
#[wire(args(session, .., as_of = "The state at an earlier moment: a position or RFC 3339 time. For the first page; the others use the same moment.", at_least, agent))]
#[derive(Default)]
pub struct ExportSessionArgs {
    /// The format (default `jsonl`).
    pub format: Option<ExportFormat>,
    /// Approximate page size in bytes, 1 to 33554432 (default 262144). An event is never split.
    pub bytes_max: Option<u64>,
    /// `next` of the previous page. The concatenated contents of all pages are the export.
    pub next: Option<String>,
}

/// Reply of `export_session`.
#[wire(reply(
    position = "The last position of the export, the same for all pages.",
    durable,
    chosen_by,
    warnings = "Data of the session that this page omits."
))]
pub struct ExportSessionReply {
    /// The session.
    pub session: SessionId,
    /// The format.
    pub format: ExportFormat,
    /// The content of this page.
    pub content: String,
    /// `next` for the following page; absent at the end.
    pub next: Option<String>,
}

/// Arguments of `import_session`.
#[wire(args(key, agent))]
#[derive(Default)]
pub struct ImportSessionArgs {
    /// The complete export as JSON lines: at most 33554432 bytes and 100000 lines.
    pub content: String,
    /// Your own id; default: the exported one.
    pub session: Option<SessionId>,
    /// Its project; default: the exported one.
    pub project: Option<String>,
    /// Check everything and record nothing.
    pub dry_run: Option<bool>,
}

/// Reply of `import_session`.
#[wire(reply(
    position = "Position of the last event in the log; for a dry run that of the snapshot.",
    durable,
    project,
    warnings = "Differences from the export: checkpoints whose ids are taken here."
))]
pub struct ImportSessionReply {
    /// Its id in this store.
    pub session: SessionId,
    /// Number of its events.
    pub events: u64,
    /// Number of events of each kind.
    pub kinds: BTreeMap<String, u64>,
    /// Whether nothing was recorded because of `dry_run`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}
