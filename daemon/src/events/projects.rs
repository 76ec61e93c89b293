//! Events of a project: initialised, worktrees seen, and context files written, drafted and cleared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteArray;

use super::steps::Text;
use super::{BlobHash, Event, body};
use crate::log::{EventKind, LoggedEvent};
use crate::store::Error;

pub use super::ProjectEvent;

/// A directory became a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectInitialised {
    /// Display name.
    pub name: String,
    /// Directory; for a repository, the main worktree's directory.
    pub path: String,
    /// Signs that identify its git repository wherever it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub git: Vec<String>,
}

/// A worktree of a project was used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeSeen {
    /// Directory of the worktree.
    pub path: String,
    /// The checked-out branch, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

/// Kind of change of a context file's version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// An agent replaced the whole content.
    Updated,
    /// An agent added an entry.
    Appended,
    /// A manual edit of the file.
    Edited,
    /// A manual edit and a concurrent update of an agent were merged.
    Merged,
    /// The file was emptied.
    Cleared,
}

/// A context file has a new version. The body; empty for a cleared file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextWritten {
    /// The whole content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Text>,
    /// The writer's reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The metadata of a [`ContextWritten`] that folding needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionMeta {
    /// Type of the file.
    pub file_type: String,
    /// Version number, from 1 without gaps.
    pub version: u64,
    /// Origin of the version.
    pub change: Change,
    /// SHA-256 of the content; for a cleared file, of the empty content.
    pub hash: ByteArray<32>,
    /// Length of the content, in bytes.
    pub bytes: u64,
    /// Number of template errors; only a manual edit has any.
    #[serde(default)]
    pub errors: u32,
    /// Number of template warnings.
    #[serde(default)]
    pub warnings: u32,
    /// Number of the agent's attempts, including previous failed ones; 0 for a manual edit.
    #[serde(default)]
    pub attempt: u32,
    /// The version on which it is based, if that is not the previous one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<u64>,
    /// A concurrent version whose changes are not in this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<u64>,
    /// Keys of the entries and sections that both this version and `beside` changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<String>,
    /// What makes its text suspicious, as names of `lored_suspicion::Kind`: it gives orders to a model, claims an
    /// identity or rewrites facts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspect: Vec<String>,
    /// Hashes of the blobs that the body names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<BlobHash>,
}

/// A reference to a version of a context file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FileVersion {
    /// The project.
    pub project: String,
    /// Type of the file.
    pub file_type: String,
    /// Version number.
    pub version: u64,
}

impl FileVersion {
    /// Returns the version that an event created; `None` when it created none or its content was forgotten.
    pub fn made_by(event: &LoggedEvent) -> Result<Option<Self>, Error> {
        let Some(project) = &event.header.project else {
            return Ok(None);
        };
        Ok(match Event::of(event)? {
            Some(Event::Project(ProjectEvent::Written(version))) => Some(Self {
                project: project.clone(),
                file_type: version.file_type,
                version: version.version,
            }),
            Some(_) | None => None,
        })
    }
}

/// An update did not fit its template, so its content is stored as a draft.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftSaved {
    /// The whole content.
    pub content: Text,
}

/// The metadata of a [`DraftSaved`] that folding needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftMeta {
    /// Type of the file.
    pub file_type: String,
    /// Number of the agent's failed attempts in a row, from 1.
    pub attempt: u32,
    /// Whether the content is an entry that was to be appended, not a whole file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_entry: bool,
    /// Hashes of the blobs that the body names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<BlobHash>,
}

/// A change of another user's access to the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectShared {
    /// UID of the user.
    pub user: u32,
    /// The granted access; absent: access was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<ShareAccess>,
}

/// A user's access to a shared project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShareAccess {
    /// Read its context files.
    Read,
    /// Read and write them.
    Write,
}

/// Returns an event's content and its reason, if one was given; the content is `None` when the file was cleared.
pub fn imported(event: &LoggedEvent) -> Result<(Option<Text>, Option<String>), Error> {
    if event.header.kind == EventKind::ContextDrafted {
        let DraftSaved { content } = body(event)?;
        return Ok((Some(content), None));
    }
    let ContextWritten { content, reason } = body(event)?;
    Ok((content, reason))
}
