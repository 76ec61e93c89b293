//! The lines of uploaded documents; since version 2.

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

/// An uploaded document, with the first part of its text. It comes after its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Name of its source.
    pub source: String,
    /// Its name: a path such as `reports/may.pdf`.
    pub name: String,
    /// Size of the uploaded file, in bytes.
    pub bytes: u64,
    /// SHA-256 of the uploaded file, hexadecimal; absent: the file must be uploaded again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub sha256: Option<String>,
    /// Modification time of the uploaded file, as the sender reported it, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub modified: Option<String>,
    /// Its extension in lower case, or the usual extension of its file type.
    pub file_type: String,
    /// Its title.
    pub title: String,
    /// The context that it belongs to.
    pub context_id: String,
    /// Name of the context.
    pub context_name: String,
    /// Category.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub category: Option<String>,
    /// Its tags, including those of its source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Other values of its front matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "RawObject")]
    pub custom: Option<RawObject>,
    /// Problems while reading it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Number of chunks in all parts.
    pub chunks: u32,
    /// Number of parts, including the first.
    pub parts: u32,
    /// Length of the whole text, in bytes.
    pub text_bytes: u64,
    /// The first part.
    pub part: DocumentPiece,
}

/// A further part of a document. It comes after the previous part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentPart {
    /// Name of the document's source.
    pub source: String,
    /// Name of the document.
    pub name: String,
    /// Its number, from 2.
    pub number: u32,
    /// Number of its first chunk in the document, from 0.
    pub first_chunk: u32,
    /// The part.
    pub part: DocumentPiece,
}

/// A part of a document's text and its chunks, which are found and cited separately.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentPiece {
    /// Offset in the whole text, in bytes.
    pub start: u64,
    /// The text.
    pub text: String,
    /// Heading paths of chunks, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<Vec<String>>,
    /// For each chunk: start and end in this text, in bytes, and the index of its heading path in `headings`, from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chunks: Vec<(u32, u32, u32)>,
}

impl Source {
    /// Converts a source to its line. Of a source of local files only the path is exported.
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

    /// Returns the settings of a source of uploaded documents.
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
    /// Takes the document and its warnings out of a line, without its part. `suspect` is what makes its text suspicious.
    #[must_use]
    pub fn imported(&mut self, suspect: Vec<String>, blobs: &[PendingBlob]) -> ImportedDocument {
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
            suspect,
            blobs: hashes(blobs),
        };
        ImportedDocument {
            source: std::mem::take(&mut self.source),
            taken,
        }
    }

    /// Formats the modification time of an uploaded file.
    #[must_use]
    pub fn modified(stamp: FileFingerprint) -> Option<String> {
        let micros = u64::try_from(stamp.mtime / 1000).ok()?;
        Some(format_time(micros))
    }
}

impl DocumentPart {
    /// Takes the part's metadata out of a line.
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
    /// Converts a stored part to its line.
    pub fn of(part: TextPart, blobs: &Blobs) -> Result<Self, Error> {
        Ok(Self {
            start: part.start,
            text: part.text.read(blobs)?,
            headings: part.headings,
            chunks: part.chunks,
        })
    }

    /// Converts the part to its stored form.
    pub fn keep(self, blobs: &Blobs, pending: &mut Vec<PendingBlob>) -> Result<TextPart, Error> {
        Ok(TextPart {
            start: self.start,
            text: Text::keep(blobs, self.text, pending)?,
            headings: self.headings,
            chunks: self.chunks,
        })
    }

    /// The number of chunks.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.chunks.len()).unwrap_or(u32::MAX)
    }
}
