//! What happens to steps: recorded results, registered extractors and mappings.

use serde::{Deserialize, Serialize};

use super::BlobHash;
use crate::store::{BlobRef, Blobs, Error, PendingBlob};

/// Texts up to this many bytes stand in the event; longer ones are blobs.
pub const INLINE_BYTES_MAX: usize = 64 * 1024;

/// A text of an event: in it, or as a blob that it names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Text {
    /// The text itself.
    Inline(String),
    /// A blob.
    Blob {
        /// SHA-256 of the text.
        #[serde(with = "serde_bytes")]
        blob: [u8; 32],
        /// Its length in bytes.
        bytes: u64,
    },
}

impl Text {
    /// The blob that this names, if it does.
    #[must_use]
    pub fn blob(&self) -> Option<BlobRef> {
        match self {
            Self::Inline(_) => None,
            Self::Blob { blob, bytes } => Some(BlobRef {
                hash: *blob,
                bytes: *bytes,
            }),
        }
    }

    /// A text as an event holds it: a long one becomes a blob, which is pending until the event is
    /// committed.
    ///
    /// # Errors
    /// [`Error`] when the blob cannot be written.
    pub fn keep(
        blobs: &Blobs,
        text: String,
        pending: &mut Vec<PendingBlob>,
    ) -> Result<Self, Error> {
        if text.len() <= INLINE_BYTES_MAX {
            return Ok(Self::Inline(text));
        }
        let blob = blobs.put(text.as_bytes())?;
        let BlobRef { hash, bytes } = blob.reference();
        pending.push(blob);
        Ok(Self::Blob { blob: hash, bytes })
    }

    /// Length in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Inline(text) => text.len() as u64,
            Self::Blob { bytes, .. } => *bytes,
        }
    }

    /// The text, from the blob if need be.
    ///
    /// # Errors
    /// [`Error`] when the blob is missing or damaged.
    pub fn read(self, blobs: &Blobs) -> Result<String, Error> {
        let Some(blob) = self.blob() else {
            return match self {
                Self::Inline(text) => Ok(text),
                Self::Blob { .. } => Ok(String::new()),
            };
        };
        String::from_utf8(blobs.get(&blob)?).map_err(|_| Error::Corrupt {
            space: "blobs",
            key: blob.hex(),
            reason: "the content is not UTF-8".to_owned(),
        })
    }
}

/// A tool returned something. What the caller brought; prepared before the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRecorded {
    /// Name of the tool.
    pub tool: String,
    /// JSON, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Text>,
    /// Why it was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// What it returned, as it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Text>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Text>,
}

/// What the decision adds to [`StepRecorded`]: all that folding needs, so that the writer never
/// decodes a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepAssigned {
    /// Step number, from 1, per session.
    pub step: u32,
    /// Attempt, from 1, per step number.
    pub attempt: u32,
    /// Whether it succeeded, as given or judged when it was recorded.
    pub success: bool,
    /// Hashes of the blobs that the body names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<BlobHash>,
}

impl StepRecorded {
    /// Every blob that the event names.
    pub fn blobs(&self) -> impl Iterator<Item = BlobRef> {
        [&self.parameters, &self.result, &self.error]
            .into_iter()
            .flatten()
            .filter_map(Text::blob)
    }
}

/// An extractor of the caller's own was registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtractorRegistered {
    /// Its name, which is also the type of its values.
    pub name: String,
    /// Regular expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Capture group to take; 0 is the whole match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
    /// JSON field names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
}

/// Other names of a field were registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldMappingRegistered {
    /// The field.
    pub field: String,
    /// What it may be called.
    pub aliases: Vec<String>,
}

/// The metadata of an event of steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepEvent {
    /// A tool returned something.
    Recorded(StepAssigned),
    /// An extractor was registered.
    ExtractorRegistered,
    /// A field mapping was registered.
    MappingRegistered,
}

impl StepEvent {
    /// Hashes of the blobs that the event names.
    #[must_use]
    pub fn blobs(&self) -> &[BlobHash] {
        match self {
            Self::Recorded(assigned) => &assigned.blobs,
            Self::ExtractorRegistered | Self::MappingRegistered => &[],
        }
    }
}
