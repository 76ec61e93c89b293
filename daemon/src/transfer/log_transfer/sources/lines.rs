//! The lines of documents that were sent; since version 2.

use lore::protocol::RawObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteArray;

use crate::clock::{format_time, parse_time};
use crate::documents::events::{DocumentMeta, SourceAdded, TextPart};
use crate::documents::sources::FileFingerprint;
use crate::documents::{ImportedDocument, ImportedPart};
use crate::log::Hash;
use crate::steps::Text;
use crate::store::{Blobs, Error, PendingBlob};
use crate::transfer::log_transfer::lines::Source;

/// A document that was sent, with the first part of its text. It stands behind its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// What its source is called.
    pub source: String,
    /// What it is called: a path such as `reports/may.pdf`.
    pub name: String,
    /// How many bytes were sent.
    pub bytes: u64,
    /// SHA-256 of these, hexadecimal; absent: what was sent is to be sent again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub sha256: Option<String>,
    /// When they were last changed, as the sender said, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub modified: Option<String>,
    /// Its extension in lower case, or the usual one of its kind.
    pub file_type: String,
    /// Its title.
    pub title: String,
    /// The context that it belongs to.
    pub context_id: String,
    /// What that is called.
    pub context_name: String,
    /// What sort of document it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub category: Option<String>,
    /// Its tags, with those of its source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What its front matter says besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "RawObject")]
    pub custom: Option<RawObject>,
    /// What could not be read as it should.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// How many chunks all its parts have.
    pub chunks: u32,
    /// How many parts it has, the first included.
    pub parts: u32,
    /// How many bytes its whole text has.
    pub text_bytes: u64,
    /// The first part.
    pub part: DocumentPiece,
}

/// A further part of a document. It stands behind the one before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentPart {
    /// What the source of the document is called.
    pub source: String,
    /// What the document is called.
    pub name: String,
    /// Its number, from 2.
    pub number: u32,
    /// The number of its first chunk, from 0 in the document.
    pub first_chunk: u32,
    /// The part.
    pub part: DocumentPiece,
}

/// A part of a document's text and how it is cut into chunks, each of which is found and quoted alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentPiece {
    /// Where it begins in the whole text, in bytes.
    pub start: u64,
    /// The text.
    pub text: String,
    /// Headings that chunks stand under, each list once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<Vec<String>>,
    /// Of each chunk where it begins and ends in this text, in bytes, and which of `headings` it stands under,
    /// from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chunks: Vec<(u32, u32, u32)>,
}

impl Source {
    /// The source as its line says it. Of one that reads files its path is enough.
    #[must_use]
    pub fn of(added: SourceAdded) -> Self {
        let path = added.path;
        if !added.sent {
            return Self {
                path,
                ..Self::default()
            };
        }
        Self {
            path,
            sent: true,
            context_id: added.context_id,
            context_name: added.context_name,
            category: added.category,
            tags: added.tags,
            include: added.include,
            exclude: added.exclude,
        }
    }

    /// The settings of a source of documents that were sent.
    #[must_use]
    pub fn added(self) -> SourceAdded {
        SourceAdded {
            path: self.path,
            context_id: self.context_id,
            context_name: self.context_name,
            category: self.category,
            tags: self.tags,
            include: self.include,
            exclude: self.exclude,
            watch: false,
            sent: self.sent,
        }
    }
}

impl Document {
    /// The document of a line, and what could not be read of it. Its part is taken out.
    #[must_use]
    pub fn imported(&mut self, blobs: &[PendingBlob]) -> ImportedDocument {
        let mtime = self.modified.as_deref().and_then(parse_time);
        let mtime = mtime.and_then(|time| i64::try_from(time).ok());
        let hash = self
            .sha256
            .as_deref()
            .and_then(|hash| hash.parse::<Hash>().ok());
        let taken = DocumentMeta {
            document: String::new(),
            path: std::mem::take(&mut self.name),
            stamp: FileFingerprint {
                bytes: self.bytes,
                mtime: mtime
                    .and_then(|time| time.checked_mul(1000))
                    .unwrap_or(i64::MIN),
                inode: 0,
            },
            hash: ByteArray::new(hash.unwrap_or_default().0),
            file_type: std::mem::take(&mut self.file_type),
            title: std::mem::take(&mut self.title),
            context_id: std::mem::take(&mut self.context_id),
            context_name: std::mem::take(&mut self.context_name),
            category: self.category.take(),
            tags: std::mem::take(&mut self.tags),
            custom: self.custom.take().map(|custom| custom.into_string()),
            chunks: self.chunks,
            parts: self.parts,
            text_bytes: self.text_bytes,
            blobs: hashes(blobs),
        };
        ImportedDocument {
            source: std::mem::take(&mut self.source),
            taken,
        }
    }

    /// When what was sent was last changed, as a line says it.
    #[must_use]
    pub fn modified(stamp: FileFingerprint) -> Option<String> {
        let micros = u64::try_from(stamp.mtime / 1000).ok()?;
        Some(format_time(micros))
    }
}

impl DocumentPart {
    /// The part of a line, but for its text.
    #[must_use]
    pub fn imported(&mut self, chunks: u32, blobs: &[PendingBlob]) -> ImportedPart {
        ImportedPart {
            source: std::mem::take(&mut self.source),
            name: std::mem::take(&mut self.name),
            number: self.number,
            first_chunk: self.first_chunk,
            chunks,
            blobs: hashes(blobs),
        }
    }
}

fn hashes(blobs: &[PendingBlob]) -> Vec<ByteArray<32>> {
    let hashes = blobs.iter().map(|blob| blob.reference().hash.into());
    hashes.collect()
}

impl DocumentPiece {
    /// A part as it is recorded, as a line says it.
    ///
    /// # Errors
    /// When its text cannot be read.
    pub fn of(part: TextPart, blobs: &Blobs) -> Result<Self, Error> {
        Ok(Self {
            start: part.start,
            text: part.text.read(blobs)?,
            headings: part.headings,
            chunks: part.chunks,
        })
    }

    /// The part as it is recorded.
    ///
    /// # Errors
    /// When a long text cannot be put away.
    pub fn keep(self, blobs: &Blobs, pending: &mut Vec<PendingBlob>) -> Result<TextPart, Error> {
        Ok(TextPart {
            start: self.start,
            text: Text::keep(blobs, self.text, pending)?,
            headings: self.headings,
            chunks: self.chunks,
        })
    }

    /// How many chunks it has.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.chunks.len()).unwrap_or(u32::MAX)
    }
}
