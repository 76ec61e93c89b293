//! What happens to documents: a folder becomes a source, its files are taken in, change, go, or cannot
//! be read.
//!
//! In the header of these events the source stands as the project: so they are a stream of their own,
//! and whoever looks back at a session does not read them.

use serde::{Deserialize, Serialize};
use serde_bytes::ByteArray;

use super::sources::Stamp;
use crate::log::{LOG, Stamped, codec};
use crate::steps::Text;
use crate::store::{BlobRef, Error};

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
    /// The kind as stored.
    pub const KIND: &'static str = "SourceAdded";

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

impl SourceRemoved {
    /// The kind as stored.
    pub const KIND: &'static str = "SourceRemoved";
}

/// What folding needs of a file that was taken in: all that is known of the document but its text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// Its id; stays when the file changes or moves within its source.
    pub document: String,
    /// Where it is in its source; for a source that is a file, its name.
    pub path: String,
    /// How the file was.
    pub stamp: Stamp,
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
    pub blobs: Vec<ByteArray<32>>,
}

/// A file was taken in. What was read: the first part of its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentTaken {
    /// The first part.
    pub part: Part,
    /// What could not be read as it should.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl DocumentTaken {
    /// The kind as stored.
    pub const KIND: &'static str = "DocumentTaken";
}

/// A part of a document's text, with its chunks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
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
pub struct Continued {
    /// Of which document.
    pub document: String,
    /// Its title.
    pub title: String,
    /// The number of its first chunk, from 0 in the document.
    pub first_chunk: u32,
    /// Hashes of the blobs that the body names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<ByteArray<32>>,
}

/// A further part of a document; in the same commit as the one before it, unless the document comes from
/// another store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentContinued {
    /// The part.
    pub part: Part,
}

impl DocumentContinued {
    /// The kind as stored.
    pub const KIND: &'static str = "DocumentContinued";
}

/// A file was written without being changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentTouched {
    /// The document.
    pub document: String,
    /// How the file is now.
    pub stamp: Stamp,
}

impl DocumentTouched {
    /// The kind as stored.
    pub const KIND: &'static str = "DocumentTouched";
}

/// A document's file is not there any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentGone {
    /// The document.
    pub document: String,
}

impl DocumentGone {
    /// The kind as stored.
    pub const KIND: &'static str = "DocumentGone";
}

/// A file could not be taken in; the document that it was before stays as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFailed {
    /// Where it is in its source.
    pub path: String,
    /// Why.
    pub reason: String,
    /// How the file was: until it changes, it is not tried again.
    pub stamp: Stamp,
}

impl FileFailed {
    /// The kind as stored.
    pub const KIND: &'static str = "FileFailed";
}

/// A file that could not be taken in is not there any more, or not to be taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureGone {
    /// Where it was in its source.
    pub path: String,
}

impl FailureGone {
    /// The kind as stored.
    pub const KIND: &'static str = "FailureGone";
}

/// What folding needs of an event of this room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentFact {
    /// There is a source.
    Added(SourceAdded),
    /// A source is none any more.
    Removed,
    /// A file was taken in.
    Taken(Box<Taken>),
    /// A further part of it.
    Continued(Continued),
    /// It was written without being changed.
    Touched(DocumentTouched),
    /// It is not there any more.
    Gone(DocumentGone),
    /// A file could not be taken in.
    Failed(FileFailed),
    /// Such a file is not there any more.
    FailureGone(FailureGone),
}

impl DocumentFact {
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
            SourceAdded::KIND => Some(Self::Added(codec::decode_part(event, fact)?)),
            SourceRemoved::KIND => Some(Self::Removed),
            DocumentTaken::KIND => Some(Self::Taken(Box::new(codec::decode_part(event, fact)?))),
            DocumentContinued::KIND => Some(Self::Continued(codec::decode_part(event, fact)?)),
            DocumentTouched::KIND => Some(Self::Touched(codec::decode_part(event, fact)?)),
            DocumentGone::KIND => Some(Self::Gone(codec::decode_part(event, fact)?)),
            FileFailed::KIND => Some(Self::Failed(codec::decode_part(event, fact)?)),
            FailureGone::KIND => Some(Self::FailureGone(codec::decode_part(event, fact)?)),
            _ => None,
        })
    }

    /// Hashes of the blobs that the event names.
    #[must_use]
    pub fn blobs(&self) -> &[ByteArray<32>] {
        match self {
            Self::Taken(taken) => &taken.blobs,
            Self::Continued(continued) => &continued.blobs,
            Self::Added(_)
            | Self::Removed
            | Self::Touched(_)
            | Self::Gone(_)
            | Self::Failed(_)
            | Self::FailureGone(_) => &[],
        }
    }
}

/// The part of a document's text that an event brought; `None` when it brings none, or was forgotten.
///
/// # Errors
/// [`Error::Corrupt`] when it does not decode.
pub fn part_of(event: &Stamped) -> Result<Option<Part>, Error> {
    let Some(payload) = &event.payload else {
        return Ok(None);
    };
    Ok(match event.header.kind.as_str() {
        DocumentTaken::KIND => {
            let body: DocumentTaken = codec::decode_part(event, &payload.body)?;
            Some(body.part)
        }
        DocumentContinued::KIND => {
            let body: DocumentContinued = codec::decode_part(event, &payload.body)?;
            Some(body.part)
        }
        _ => None,
    })
}

/// The part that a row says an event brought.
///
/// # Errors
/// [`Error::Corrupt`] when it brings none, was forgotten, or does not decode.
pub fn brought(event: &Stamped) -> Result<Part, Error> {
    part_of(event)?.ok_or_else(|| {
        let key = event.position().0.to_be_bytes();
        let reason = format!(
            "the event is a {} without text where a part of a document was expected",
            event.header.kind
        );
        Error::corrupt(LOG.name(), &key, reason)
    })
}

/// Every blob that an event of this room names.
///
/// # Errors
/// [`Error::Corrupt`] when the event does not decode.
pub fn blobs_of(event: &Stamped) -> Result<Vec<BlobRef>, Error> {
    Ok(part_of(event)?
        .and_then(|part| part.text.blob())
        .into_iter()
        .collect())
}
