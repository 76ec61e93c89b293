//! What happens to a project: it becomes known, its worktrees do, and its context files are written,
//! drafted, cleared.

use serde::{Deserialize, Serialize};
use serde_bytes::ByteArray;

use crate::log::{LOG, Stamped, codec};
use crate::steps::Text;
use crate::store::{BlobRef, Error};

/// A directory became a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectInitialised {
    /// What people call it.
    pub name: String,
    /// Its directory: of a repository the main worktree's.
    pub path: String,
}

impl ProjectInitialised {
    /// The kind as stored.
    pub const KIND: &'static str = "ProjectInitialised";
}

/// A worktree of a project was worked in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeNoted {
    /// Its directory.
    pub path: String,
    /// The branch that was checked out, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

impl WorktreeNoted {
    /// The kind as stored.
    pub const KIND: &'static str = "WorktreeNoted";
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

impl ContextWritten {
    /// The kind as stored.
    pub const KIND: &'static str = "ContextWritten";
}

/// What folding needs of a [`ContextWritten`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
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
    pub blobs: Vec<ByteArray<32>>,
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
    pub fn made_by(event: &Stamped) -> Result<Option<Self>, Error> {
        let Some(project) = &event.header.project else {
            return Ok(None);
        };
        Ok(match ProjectFact::of(event)? {
            Some(ProjectFact::Written(written)) => Some(Self {
                project: project.clone(),
                file_type: written.file_type,
                version: written.version,
            }),
            Some(
                ProjectFact::Initialised(_)
                | ProjectFact::Worktree(_)
                | ProjectFact::Drafted(_)
                | ProjectFact::Shared(_),
            )
            | None => None,
        })
    }
}

/// An update did not fit its template: the content is kept as a draft.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextDrafted {
    /// The whole content.
    pub content: Text,
}

impl ContextDrafted {
    /// The kind as stored.
    pub const KIND: &'static str = "ContextDrafted";
}

/// What folding needs of a [`ContextDrafted`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drafted {
    /// Which file of the project.
    pub file_type: String,
    /// Which failed attempt of its agent in a row, from 1.
    pub attempt: u32,
    /// Hashes of the blobs that the body names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<ByteArray<32>>,
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

impl ProjectShared {
    /// The kind as stored.
    pub const KIND: &'static str = "ProjectShared";
}

/// What folding needs of an event of this room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProjectFact {
    /// It is shared with somebody, or no more.
    Shared(ProjectShared),
    /// A directory became a project.
    Initialised(ProjectInitialised),
    /// A worktree was worked in.
    Worktree(WorktreeNoted),
    /// A context file has a new version.
    Written(Written),
    /// An update did not fit.
    Drafted(Drafted),
}

impl ProjectFact {
    /// Reads an event's fact; `None` when it is of another room, or its content was forgotten.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when it does not decode.
    pub fn of(event: &Stamped) -> Result<Option<Self>, Error> {
        let Some(payload) = &event.payload else {
            return Ok(None);
        };
        let fact = &payload.fact;
        Ok(match event.header.kind.as_str() {
            ProjectInitialised::KIND => Some(Self::Initialised(codec::decode_part(event, fact)?)),
            WorktreeNoted::KIND => Some(Self::Worktree(codec::decode_part(event, fact)?)),
            ContextWritten::KIND => Some(Self::Written(codec::decode_part(event, fact)?)),
            ProjectShared::KIND => Some(Self::Shared(codec::decode_part(event, fact)?)),
            ContextDrafted::KIND => Some(Self::Drafted(codec::decode_part(event, fact)?)),
            _ => None,
        })
    }

    /// Hashes of the blobs that the event names.
    #[must_use]
    pub fn blobs(&self) -> &[ByteArray<32>] {
        match self {
            Self::Initialised(_) | Self::Worktree(_) | Self::Shared(_) => &[],
            Self::Written(written) => &written.blobs,
            Self::Drafted(drafted) => &drafted.blobs,
        }
    }
}

/// The content that an event of this room brought, and why as far as that was said; `None` when it
/// cleared the file.
///
/// # Errors
/// [`Error::Corrupt`] when the event brings none, was forgotten, or does not decode.
pub fn brought(event: &Stamped) -> Result<(Option<Text>, Option<String>), Error> {
    match (&event.payload, event.header.kind.as_str()) {
        (Some(payload), ContextWritten::KIND) => {
            let body: ContextWritten = codec::decode_part(event, &payload.body)?;
            Ok((body.content, body.reason))
        }
        (Some(payload), ContextDrafted::KIND) => {
            let body: ContextDrafted = codec::decode_part(event, &payload.body)?;
            Ok((Some(body.content), None))
        }
        (payload, kind) => {
            let reason = match payload {
                Some(_) => format!("the event is a {kind} where a context file was expected"),
                None => format!("the content of a {kind} was forgotten"),
            };
            let key = event.position().0.to_be_bytes();
            Err(Error::corrupt(LOG.name(), &key, reason))
        }
    }
}

/// Every blob that an event of this room names.
///
/// # Errors
/// [`Error::Corrupt`] when the event does not decode.
pub fn blobs_of(event: &Stamped) -> Result<Vec<BlobRef>, Error> {
    match (&event.payload, event.header.kind.as_str()) {
        (Some(_), ContextWritten::KIND | ContextDrafted::KIND) => {
            let (content, _) = brought(event)?;
            Ok(content
                .and_then(|content| content.blob())
                .into_iter()
                .collect())
        }
        _ => Ok(Vec::new()),
    }
}
