//! What happens to documents: a folder becomes a source, its files are taken in, change, go, or cannot
//! be read.
//!
//! In the header of these events the source stands as the project: so they are a stream of their own,
//! and whoever looks back at a session does not read them.

use serde::{Deserialize, Serialize};
use serde_bytes::ByteArray;

use super::steps::Text;
use super::{BlobHash, body, unexpected};
use crate::log::{EventKind, LoggedEvent};
use crate::store::{BlobRef, Error};

/// Size, time and place of a file: what changes when the file does.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct FileFingerprint {
    /// Its length in bytes.
    pub bytes: u64,
    /// When it was last written, in nanoseconds since 1970; the least there is when that is not to be
    /// relied on.
    pub mtime: i64,
    /// Its inode, which stays when it is moved.
    pub inode: u64,
}

/// A folder or file is a source of documents from now on, with these settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceAdded {
    /// Where it is, absolute and without links; where its documents are sent: what it is called.
    pub path: String,
    /// The context of its documents, unless they say one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_id: Option<String>,
    /// What people call that context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_name: Option<String>,
    /// Their category, unless they say one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Tags of all of them, besides their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Globs of files that are taken; none: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// Globs of files and folders that are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// Whether changes are taken in as they happen.
    pub watch: bool,
    /// Whether its documents are sent: no file is looked at.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sent: bool,
}

impl SourceAdded {
    /// Whether both settings say the same about the documents that there are.
    #[must_use]
    pub fn says_the_same(&self, other: &Self) -> bool {
        self.context_id == other.context_id
            && self.context_name == other.context_name
            && self.category == other.category
            && self.tags == other.tags
    }
}

/// A source is none any more; its documents are known no more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRemoved {}

/// What folding needs of a file that was taken in: all that is known of the document but its text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentMeta {
    /// Its id; stays when the file changes or moves within its source.
    pub document: String,
    /// Where it is in its source; for a source that is a file, its name.
    pub path: String,
    /// How the file was.
    pub stamp: FileFingerprint,
    /// SHA-256 of the file.
    pub hash: ByteArray<32>,
    /// The file's extension in lower case, or that of its kind.
    pub file_type: String,
    /// Its title.
    pub title: String,
    /// Its context.
    pub context_id: String,
    /// What people call that.
    pub context_name: String,
    /// Its category.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Its tags, with those of its source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What its front matter says besides: a JSON object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom: Option<String>,
    /// Chunks in all its parts.
    pub chunks: u32,
    /// Parts, this event's included.
    pub parts: u32,
    /// Bytes of its text, in all its parts.
    pub text_bytes: u64,
    /// Hashes of the blobs that the body names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<BlobHash>,
}

/// A file was taken in. What was read: the first part of its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentIngested {
    /// The first part.
    pub part: TextPart,
    /// What could not be read as it should.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A part of a document's text, with its chunks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextPart {
    /// Where it begins in the whole text, in bytes. Parts may begin before the end of the one before:
    /// a sentence is told again.
    pub start: u64,
    /// The text.
    pub text: Text,
    /// Headings that chunks stand under, each list once.
    pub headings: Vec<Vec<String>>,
    /// Of each chunk where it begins and ends in this part's text, and the number of its headings.
    pub chunks: Vec<(u32, u32, u32)>,
}

/// What folding needs of a further part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartMeta {
    /// Of which document.
    pub document: String,
    /// Its title.
    pub title: String,
    /// The number of its first chunk, from 0 in the document.
    pub first_chunk: u32,
    /// Hashes of the blobs that the body names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<BlobHash>,
}

/// A further part of a document; in the same commit as the one before it, unless the document comes from
/// another store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartAdded {
    /// The part.
    pub part: TextPart,
}

/// A file was written without being changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentRestatted {
    /// The document.
    pub document: String,
    /// How the file is now.
    pub stamp: FileFingerprint,
}

/// A document's file is not there any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentRemoved {
    /// The document.
    pub document: String,
}

/// A file could not be taken in; the document that it was before stays as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFailed {
    /// Where it is in its source.
    pub path: String,
    /// Why.
    pub reason: String,
    /// How the file was: until it changes, it is not tried again.
    pub stamp: FileFingerprint,
}

/// A file that could not be taken in is not there any more, or not to be taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IngestFailureCleared {
    /// Where it was in its source.
    pub path: String,
}

/// The metadata of an event of documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentEvent {
    /// There is a source.
    SourceAdded(SourceAdded),
    /// A source is none any more.
    SourceRemoved,
    /// A file was taken in.
    Ingested(Box<DocumentMeta>),
    /// A further part of it.
    PartAdded(PartMeta),
    /// It was written without being changed.
    Restatted(DocumentRestatted),
    /// It is not there any more.
    Removed(DocumentRemoved),
    /// A file could not be taken in.
    FileFailed(FileFailed),
    /// Such a file is not there any more.
    FailureCleared(IngestFailureCleared),
}

impl DocumentEvent {
    /// Hashes of the blobs that the event names.
    #[must_use]
    pub fn blobs(&self) -> &[BlobHash] {
        match self {
            Self::Ingested(meta) => &meta.blobs,
            Self::PartAdded(meta) => &meta.blobs,
            Self::SourceAdded(_)
            | Self::SourceRemoved
            | Self::Restatted(_)
            | Self::Removed(_)
            | Self::FileFailed(_)
            | Self::FailureCleared(_) => &[],
        }
    }
}

/// The part of a document's text that an event brought; `None` when it brings none, or was forgotten.
///
/// # Errors
/// [`Error::Corrupt`] when it does not decode.
pub fn part_of(event: &LoggedEvent) -> Result<Option<TextPart>, Error> {
    if event.payload.is_none() {
        return Ok(None);
    }
    if event.header.kind == EventKind::DocumentTaken {
        return Ok(Some(body::<DocumentIngested>(event)?.part));
    }
    if event.header.kind == EventKind::DocumentContinued {
        return Ok(Some(body::<PartAdded>(event)?.part));
    }
    Ok(None)
}

/// The part that a row says an event brought.
///
/// # Errors
/// [`Error::Corrupt`] when it brings none, was forgotten, or does not decode.
pub fn imported(event: &LoggedEvent) -> Result<TextPart, Error> {
    part_of(event)?.ok_or_else(|| unexpected(event, "a part of a document"))
}

/// Every blob that an event names.
///
/// # Errors
/// [`Error::Corrupt`] when the event does not decode.
pub(super) fn blobs_of(event: &LoggedEvent) -> Result<Vec<BlobRef>, Error> {
    let blob = part_of(event)?.and_then(|part| part.text.blob());
    Ok(blob.into_iter().collect())
}
