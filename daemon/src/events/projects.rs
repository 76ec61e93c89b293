//! What happens to a project: it becomes known, its worktrees do, and its context files are written,
//! drafted, cleared.

use serde::{Deserialize, Serialize};
use serde_bytes::ByteArray;

use super::steps::Text;
use super::{BlobHash, Event, body};
use crate::log::{EventKind, LoggedEvent};
use crate::store::{BlobRef, Error};

/// A directory became a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectInitialised {
    /// What people call it.
    pub name: String,
    /// Its directory: of a repository the main worktree's.
    pub path: String,
}

/// A worktree of a project was worked in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeSeen {
    /// Its directory.
    pub path: String,
    /// The branch that was checked out, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

/// How a version of a context file came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// It was emptied; earlier versions stay in the history.
    Cleared,
}

/// A context file has a new version. What was brought; empty for one that was cleared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextWritten {
    /// The whole content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Text>,
    /// Why, as the writer said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What folding needs of a [`ContextWritten`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionMeta {
    /// Which file of the project.
    pub file_type: String,
    /// The version, from 1 without gaps.
    pub version: u64,
    /// How it came about.
    pub change: Change,
    /// SHA-256 of the content; of nothing when it was cleared.
    pub hash: ByteArray<32>,
    /// Length of the content.
    pub bytes: u64,
    /// Errors that it has by its template: only an edit by hand has any.
    #[serde(default)]
    pub errors: u32,
    /// Warnings that it has by its template.
    #[serde(default)]
    pub warnings: u32,
    /// Which attempt of its agent this was, failed ones before it included; 0 for an edit by hand.
    #[serde(default)]
    pub attempt: u32,
    /// The version that it was made from, where that is not the one before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<u64>,
    /// A version made at the same time whose changes are not in this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<u64>,
    /// Hashes of the blobs that the body names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<BlobHash>,
}

/// A version of a context file, named so that others can rest on it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FileVersion {
    /// The project.
    pub project: String,
    /// Which of its files.
    pub file_type: String,
    /// The version.
    pub version: u64,
}

impl FileVersion {
    /// The version that an event made; `None` when it made none, or its content was forgotten.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the event does not decode.
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

/// An update did not fit its template: the content is kept as a draft.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftSaved {
    /// The whole content.
    pub content: Text,
}

/// What folding needs of a [`DraftSaved`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftMeta {
    /// Which file of the project.
    pub file_type: String,
    /// Which failed attempt of its agent in a row, from 1.
    pub attempt: u32,
    /// Hashes of the blobs that the body names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<BlobHash>,
}

/// What another user of the machine may do with the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectShared {
    /// The user's number.
    pub user: u32,
    /// What; absent: nothing any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<ShareAccess>,
}

/// What a user may do with a project that is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShareAccess {
    /// Read its context files.
    Read,
    /// Read and write them.
    Write,
}

/// The metadata of an event of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProjectEvent {
    /// A directory became a project.
    Initialised(ProjectInitialised),
    /// A worktree was worked in.
    WorktreeSeen(WorktreeSeen),
    /// A context file has a new version.
    Written(VersionMeta),
    /// An update did not fit.
    DraftSaved(DraftMeta),
    /// It is shared with somebody, or no more.
    Shared(ProjectShared),
}

impl ProjectEvent {
    /// Hashes of the blobs that the event names.
    #[must_use]
    pub fn blobs(&self) -> &[BlobHash] {
        match self {
            Self::Initialised(_) | Self::WorktreeSeen(_) | Self::Shared(_) => &[],
            Self::Written(version) => &version.blobs,
            Self::DraftSaved(draft) => &draft.blobs,
        }
    }
}

/// The content that an event brought, and why as far as that was said; `None` when it cleared the file.
///
/// # Errors
/// [`Error::Corrupt`] when the event brings none, was forgotten, or does not decode.
pub fn imported(event: &LoggedEvent) -> Result<(Option<Text>, Option<String>), Error> {
    if event.header.kind == EventKind::ContextDrafted {
        let DraftSaved { content } = body(event)?;
        return Ok((Some(content), None));
    }
    let ContextWritten { content, reason } = body(event)?;
    Ok((content, reason))
}

/// Every blob that an event names.
///
/// # Errors
/// [`Error::Corrupt`] when the event does not decode.
pub(super) fn blobs_of(event: &LoggedEvent, meta: &ProjectEvent) -> Result<Vec<BlobRef>, Error> {
    match meta {
        ProjectEvent::Written(_) | ProjectEvent::DraftSaved(_) => {
            let (content, _) = imported(event)?;
            let blob = content.and_then(|content| content.blob());
            Ok(blob.into_iter().collect())
        }
        ProjectEvent::Initialised(_) | ProjectEvent::WorktreeSeen(_) | ProjectEvent::Shared(_) => {
            Ok(Vec::new())
        }
    }
}
