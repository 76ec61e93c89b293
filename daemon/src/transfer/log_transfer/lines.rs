//! The lines outside sessions in an exported log, versions 1 and 2.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::sources::{Document, DocumentPart};
use crate::projects::Change;
use crate::transfer::session::{generator, insert, session_schemas};

/// Value of `format` in the first line.
pub const FORMAT: &str = "lore-export";
/// The supported versions. The export uses the lowest version that can represent it: 2 with uploaded documents.
pub const VERSIONS: std::ops::RangeInclusive<u32> = 1..=2;

/// The first line. It contains no time, position or store, so two exports can be compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// `lore-export`.
    pub format: String,
    /// 1, or 2 with uploaded documents.
    pub version: u32,
}

/// A line outside sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Line<P> {
    /// Time of the first recording, RFC 3339.
    pub at: String,
    /// The agent that recorded it, if it has a name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub agent: String,
    /// Kind of the line.
    pub kind: String,
    /// Content of the line.
    pub payload: P,
}

/// A directory with separate context files. It comes before them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// Its id: 1 to 100 characters of `a-z`, `0-9`, `_` and `-`.
    pub project: String,
    /// Display name.
    pub name: String,
    /// Directory.
    pub path: String,
}

/// A version of a context file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextVersion {
    /// The project, by its id.
    pub project: String,
    /// The file type: 1 to 64 characters of `a-z`, `0-9` and `_`, beginning with a letter.
    pub file_type: String,
    /// Version number, from 1; it increases from line to line of one file.
    pub version: u64,
    /// Kind of change.
    pub change: Change,
    /// The whole content, Markdown; absent when the file was cleared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub content: Option<String>,
    /// Reason given by the author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub reason: Option<String>,
    /// Number of errors and warnings according to its template; absent: none.
    #[serde(default, skip_serializing_if = "is_none_at_all")]
    #[serde(rename = "flaws")]
    pub diagnostics: (u32, u32),
    /// Attempt number of the agent; absent: a manual edit, or unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    pub attempt: Option<u32>,
    /// The base version, if it is not the previous one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub base: Option<u64>,
    /// A concurrent version whose changes are not in this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub beside: Option<u64>,
    /// Titles of the entries and sections that both versions changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<String>,
}

fn is_none_at_all(diagnostics: &(u32, u32)) -> bool {
    *diagnostics == (0, 0)
}

/// A source of documents. A source of local files is exported by its path only, and an import does not read it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The folder or file; for uploaded documents the name of the collection.
    pub path: String,
    /// Whether its documents are uploaded: they follow it. This field and the following ones exist since version 2.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sent: bool,
    /// Default context of its documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub context_id: Option<String>,
    /// Name of that context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub context_name: Option<String>,
    /// Default category of its documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub category: Option<String>,
    /// Tags of all its documents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Globs of files to upload; absent: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// Globs of files not to upload.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
}

/// The last line: without it the file is truncated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LastLine {
    /// Totals for verification.
    pub end: EndLine,
}

/// What [`LastLine`] says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndLine {
    /// Number of lines before it.
    pub lines: u64,
}

/// The kinds of lines outside sessions.
pub const KINDS: [&str; 5] = [
    "Project",
    "ContextVersion",
    "Source",
    "Document",
    "DocumentPart",
];

/// Builds the JSON Schema (2020-12) of each line of an exported log: outside sessions, or of a session.
#[must_use]
pub fn schema() -> Value {
    let mut from = generator();
    let mut first = Value::from(from.subschema_for::<Header>());
    insert(&mut first, "format", json!({"const": FORMAT}));
    insert(
        &mut first,
        "version",
        json!({"enum": VERSIONS.collect::<Vec<_>>()}),
    );
    let mut all = vec![first];
    let payloads = [
        Value::from(from.subschema_for::<Project>()),
        Value::from(from.subschema_for::<ContextVersion>()),
        Value::from(from.subschema_for::<Source>()),
        Value::from(from.subschema_for::<Document>()),
        Value::from(from.subschema_for::<DocumentPart>()),
    ];
    let line = Value::from(from.subschema_for::<Line<serde_json::Map<String, Value>>>());
    for (kind, payload) in KINDS.into_iter().zip(payloads) {
        let mut line = line.clone();
        insert(&mut line, "kind", json!({ "const": kind }));
        insert(&mut line, "payload", payload);
        all.push(line);
    }
    all.extend(session_schemas(&mut from));
    all.push(Value::from(from.subschema_for::<LastLine>()));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of an exported log, versions 1 and 2",
        "anyOf": all,
    })
}
