//! Events of documents: sources are added, and their files are ingested, change, disappear or cannot be read.
//!
//! In the header of these events, the source takes the project's field. So they form a separate stream, and readers
//! of a session skip them.

use serde::{Deserialize, Serialize};
use serde_bytes::ByteArray;

use super::steps::Text;
use super::{BlobHash, body, unexpected};
use crate::log::{EventKind, LoggedEvent};
use crate::store::Error;

pub use super::DocumentEvent;

/// Size, time and inode of a file, to detect changes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct FileFingerprint {
    /// Length in bytes.
    pub bytes: u64,
    /// Modification time, in nanoseconds since 1970; the minimum value when it is not reliable.
    pub mtime: i64,
    /// Inode number, which stays the same when the file is moved.
    pub inode: u64,
}

/// A folder or file became a source of documents, with these settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceAdded {
    /// Absolute path without symbolic links; for a source with sent documents, its name.
    pub path: String,
    /// Default context of its documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_id: Option<String>,
    /// Display name of that context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_name: Option<String>,
    /// Default category of its documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Tags of all its documents, in addition to their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Globs of included files; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// Globs of excluded files and folders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// Whether changes are ingested as they happen.
    pub watch: bool,
    /// Whether its documents are sent by callers instead of read from files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sent: bool,
}

impl SourceAdded {
    /// Returns whether both settings say the same about the existing documents.
    #[must_use]
    pub fn says_the_same(&self, other: &Self) -> bool {
        self.context_id == other.context_id
            && self.context_name == other.context_name
            && self.category == other.category
            && self.tags == other.tags
    }
}

/// A source was removed, with its documents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRemoved {}

/// Metadata of an ingested file: everything that folding needs, without the text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentMeta {
    /// Document ID; stays when the file changes or moves within its source.
    pub document: String,
    /// Path in its source; for a source that is a file, the file name.
    pub path: String,
    /// Fingerprint of the ingested file.
    pub stamp: FileFingerprint,
    /// SHA-256 of the file.
    pub hash: ByteArray<32>,
    /// The file extension in lower case, or the extension of the file's kind.
    pub file_type: String,
    /// Title of the document.
    pub title: String,
    /// Context of the document.
    pub context_id: String,
    /// Display name of the context.
    pub context_name: String,
    /// Category of the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Tags of the document, including those of its source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Further front matter: a JSON object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom: Option<String>,
    /// Number of chunks in all parts.
    pub chunks: u32,
    /// Number of parts, including this event's.
    pub parts: u32,
    /// Size of the text in all parts, in bytes.
    pub text_bytes: u64,
    /// What makes its text suspicious, as names of `lored_suspicion::Kind`: it gives orders to a model, claims an
    /// identity or rewrites facts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspect: Vec<String>,
    /// Hashes of the blobs that the body names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<BlobHash>,
}

/// A file was ingested. The body, with the first part of the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentIngested {
    /// The first part.
    pub part: TextPart,
    /// Problems while reading the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A part of a document's text, with its chunks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextPart {
    /// Offset in the whole text, in bytes. A part may overlap the previous part, because a sentence is repeated.
    pub start: u64,
    /// The text.
    pub text: Text,
    /// Headings of the chunks, each list once.
    pub headings: Vec<Vec<String>>,
    /// For each chunk: start and end in this part's text, and the number of its headings.
    pub chunks: Vec<(u32, u32, u32)>,
}

/// Metadata of a further part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartMeta {
    /// ID of the document.
    pub document: String,
    /// Title of the document.
    pub title: String,
    /// Number of its first chunk, from 0 in the document.
    pub first_chunk: u32,
    /// Hashes of the blobs that the body names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<BlobHash>,
}

/// A further part of a document. It is in the same commit as the previous part, unless the document is imported
/// from another store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartAdded {
    /// The part.
    pub part: TextPart,
}

/// A file was written without a change of content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentRestatted {
    /// ID of the document.
    pub document: String,
    /// The file's new fingerprint.
    pub stamp: FileFingerprint,
}

/// A document's file was removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentRemoved {
    /// ID of the document.
    pub document: String,
}

/// A file could not be ingested; its previous document stays unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFailed {
    /// Path in its source.
    pub path: String,
    /// Reason of the failure.
    pub reason: String,
    /// Fingerprint of the file: it is not tried again until this changes.
    pub stamp: FileFingerprint,
}

/// A file that could not be ingested was removed or is excluded now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IngestFailureCleared {
    /// Path in its source.
    pub path: String,
}

/// Returns the part of a document's text in an event; `None` when it has none or was forgotten.
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

/// Returns the part of an event that must contain one, according to a row.
pub fn imported(event: &LoggedEvent) -> Result<TextPart, Error> {
    part_of(event)?.ok_or_else(|| unexpected(event, "a part of a document"))
}
