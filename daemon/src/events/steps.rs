//! Events of steps: recorded results, registered extractors and mappings.

use serde::{Deserialize, Serialize};

use super::BlobHash;
use crate::budget;
use crate::store::{BlobRef, Blobs, Error, PendingBlob};

pub use super::StepEvent;

/// Maximum size of an inline text, in bytes; longer texts are blobs.
pub const INLINE_BYTES_MAX: usize = 64 * 1024;

/// A text of an event: inline, or in a blob.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Text {
    /// The text.
    Inline(String),
    /// Reference to a blob.
    Blob {
        /// SHA-256 of the text.
        #[serde(with = "serde_bytes")]
        blob: [u8; 32],
        /// Length in bytes.
        bytes: u64,
    },
}

impl Text {
    /// Returns the reference to the blob, if the text is in one.
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

    /// Converts a text for an event. A long one is written to a blob, which is pending until the event is committed.
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

    /// Returns the length in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Inline(text) => text.len() as u64,
            Self::Blob { bytes, .. } => *bytes,
        }
    }

    /// Returns the text, reading the blob if necessary. Its size is reserved from the budget of the current call before.
    pub fn read(self, blobs: &Blobs) -> Result<String, Error> {
        budget::reserve(usize::try_from(self.bytes()).unwrap_or(usize::MAX))?;
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

/// A tool returned a result: the caller's content, prepared before the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRecorded {
    /// Name of the tool.
    pub tool: String,
    /// Arguments as JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Text>,
    /// Reason of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// Unmodified result of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Text>,
    /// Error of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Text>,
}

/// The metadata that the decision adds to [`StepRecorded`]: everything that folding needs, so that the writer never
/// decodes a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepAssigned {
    /// Step number, from 1, per session.
    pub step: u32,
    /// Attempt, from 1, per step number.
    pub attempt: u32,
    /// Whether the step succeeded, as stated by the caller or judged when it was recorded.
    pub success: bool,
    /// What makes its text suspicious, as names of `lored_suspicion::Kind`: it gives orders to a model, claims an
    /// identity or rewrites facts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspect: Vec<String>,
    /// Hashes of the blobs that the body names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<BlobHash>,
}

impl StepRecorded {
    /// Returns every blob that the event names.
    pub fn blobs(&self) -> impl Iterator<Item = BlobRef> {
        [&self.parameters, &self.result, &self.error]
            .into_iter()
            .flatten()
            .filter_map(Text::blob)
    }
}

/// A caller-defined extractor was registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtractorRegistered {
    /// Name of the extractor, which is also the type of its values.
    pub name: String,
    /// Regular expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Capture group to extract; 0 is the whole match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
    /// JSON field names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
}

/// Aliases of a field were registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldMappingRegistered {
    /// Name of the field.
    pub field: String,
    /// Aliases of the field.
    pub aliases: Vec<String>,
}
