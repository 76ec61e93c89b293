//! The lines of an exported log, versions 1 and 2, that stand outside its sessions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::sources::{Document, DocumentPart};
use crate::projects;
use crate::transfer::session::{generator, insert, session_schemas};

/// What the first line says it is.
pub const FORMAT: &str = "lore-export";
/// The versions that are read. The least that can say what is exported is written: 2 where there are documents
/// that were sent.
pub const VERSIONS: std::ops::RangeInclusive<u32> = 1..=2;

/// The first line. It has no time, no position and no store, so two exports can be compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// `lore-export`.
    pub format: String,
    /// 1, or 2 where there are documents that were sent.
    pub version: u32,
}

/// A line of no session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Line<P> {
    /// When it was recorded first, RFC 3339.
    pub at: String,
    /// The agent that recorded it, if it gave a name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub agent: String,
    /// What it is.
    pub kind: String,
    /// What it says.
    pub payload: P,
}

/// A directory with context files of its own. It stands before them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// Its id: 1 to 100 characters of `a-z`, `0-9`, `_` and `-`.
    pub project: String,
    /// What people call it.
    pub name: String,
    /// Its directory.
    pub path: String,
}

/// A version of a context file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextVersion {
    /// The project, by its id.
    pub project: String,
    /// Which of its files: 1 to 64 characters of `a-z`, `0-9` and `_`, beginning with a letter.
    pub file_type: String,
    /// Its number, from 1: of the lines of one file each has a greater one.
    pub version: u64,
    /// How it came about.
    pub change: Change,
    /// The whole content, Markdown; absent when it was cleared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub content: Option<String>,
    /// Why, as the writer said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub reason: Option<String>,
    /// Errors and warnings that it has by its template; absent: none.
    #[serde(default, skip_serializing_if = "is_none_at_all")]
    #[serde(rename = "flaws")]
    pub diagnostics: (u32, u32),
    /// Which attempt of its agent it was; absent: an edit by hand, or not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    pub attempt: Option<u32>,
    /// The version that it was made from, where that is not the one before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub base: Option<u64>,
    /// A version made at the same time whose changes are not in this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub beside: Option<u64>,
}

fn is_none_at_all(diagnostics: &(u32, u32)) -> bool {
    *diagnostics == (0, 0)
}

/// A source of documents. Of one that reads files the path alone is told, and an import does not read it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The folder or file; of documents that were sent what they are called together.
    pub path: String,
    /// Its documents were sent: they stand behind it. This and what follows since version 2.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sent: bool,
    /// The context of its documents, unless they say one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub context_id: Option<String>,
    /// What that context is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub context_name: Option<String>,
    /// Their category, unless they say one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub category: Option<String>,
    /// Tags of all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Globs of files that are sent; none: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// Globs of files that are not sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
}

/// How a version of a context file came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// An agent gave the whole content.
    Updated,
    /// An agent added an entry.
    Appended,
    /// Somebody edited the file by hand.
    Edited,
    /// An edit by hand and an agent's update, made at the same time, were joined.
    Merged,
    /// It was emptied.
    Cleared,
}

impl From<projects::Change> for Change {
    fn from(stored: projects::Change) -> Self {
        match stored {
            projects::Change::Updated => Self::Updated,
            projects::Change::Appended => Self::Appended,
            projects::Change::Edited => Self::Edited,
            projects::Change::Merged => Self::Merged,
            projects::Change::Cleared => Self::Cleared,
        }
    }
}

impl From<Change> for projects::Change {
    fn from(reported: Change) -> Self {
        match reported {
            Change::Updated => Self::Updated,
            Change::Appended => Self::Appended,
            Change::Edited => Self::Edited,
            Change::Merged => Self::Merged,
            Change::Cleared => Self::Cleared,
        }
    }
}

/// The last line: by it a file that was cut short is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LastLine {
    /// What there should be before.
    pub end: EndLine,
}

/// What [`LastLine`] says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndLine {
    /// How many lines there are before it.
    pub lines: u64,
}

/// The kinds of lines that stand outside sessions.
pub const KINDS: [&str; 5] = [
    "Project",
    "ContextVersion",
    "Source",
    "Document",
    "DocumentPart",
];

/// JSON Schema (2020-12) of each line of an exported log: of one outside sessions, or of a session.
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
