//! Prepares a content before the writer decides: checks it, hashes it, and stores a long one as a blob.

use lored_suspicion::Origin;
use serde_bytes::ByteArray;

use super::command::{DraftContext, MergedVersion, ProjectSubject, Report, WriteContext};
use super::feature::ProjectState;
use super::validate::Validation;
use crate::clock::Micros;
use crate::error::Refusal;
use crate::events::projects::{Change, ContextWritten, DraftSaved};
use crate::hint::{Tool, arg, hint};
use crate::log::{Body, Hash, codec};
use crate::operation::Context;
use crate::steps::Text;
use crate::store::PendingBlob;
use crate::trust;

/// Refuses an invalid entry for a context file.
///
/// # Errors
/// `INVALID_INPUT` if the entry is empty, too long or binary.
pub fn check_entry(entry: &str, bytes_max: u64) -> Result<(), Refusal> {
    if is_empty(entry) {
        return Err(Refusal::invalid("the entry is empty").hint(hint![
            "Give the new entry alone, as ", arg("entry"),
            ": one line such as `Login fails after a restart` becomes its heading, or Markdown with a heading. \
             The rest of the file stays as it is.";
            Tool::GetContext, " shows the entries of the file, or its template."
        ]));
    }
    check_content(entry, bytes_max)
}

fn is_empty(content: &str) -> bool {
    content.trim_start_matches('\u{feff}').trim().is_empty()
}

/// Refuses invalid content of a context file.
///
/// # Errors
/// `INVALID_INPUT` if the content is empty, too long or binary.
pub fn check_content(content: &str, bytes_max: u64) -> Result<(), Refusal> {
    if is_empty(content) {
        return Err(Refusal::invalid("the content is empty").hint(hint![
            "Give the whole content of the file.";
            Tool::ClearContext, " empties a file on purpose."
        ]));
    }
    if content.len() as u64 > bytes_max {
        return Err(Refusal::invalid(format!(
            "the content has {} bytes; at most {bytes_max} are kept",
            content.len()
        ))
        .hint(
            "Keep context files short enough to be read whole; `projects.content_bytes_max` in the \
             config sets the limit.",
        ));
    }
    let is_binary =
        |char: &char| char.is_control() && !matches!(char, '\n' | '\r' | '\t' | '\u{c}');
    if let Some(found) = content.chars().find(is_binary) {
        return Err(Refusal::invalid(format!(
            "the content holds the control character U+{:04X}: it is not Markdown text",
            u32::from(found)
        )));
    }
    Ok(())
}

/// Returns the numbers of errors and warnings.
#[must_use]
pub fn counts(validation: &Validation) -> (u32, u32) {
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    (
        number(validation.error_count),
        number(validation.warning_count),
    )
}

/// A content that is ready to be recorded.
pub struct PreparedContent {
    hash: ByteArray<32>,
    bytes: u64,
    suspect: Vec<String>,
    body: Body,
    blobs: Vec<PendingBlob>,
}

impl PreparedContent {
    /// Prepares a new version.
    ///
    /// # Errors
    /// A long content cannot be stored as a blob.
    pub fn written(cx: &Context, content: String, reason: Option<String>) -> Result<Self, Refusal> {
        Self::of(cx, content, |content| {
            codec::encode(&ContextWritten {
                content: Some(content),
                reason,
            })
        })
    }

    /// Returns the version that merges a manual edit with the version `beside`.
    #[must_use]
    pub fn merged(
        self,
        diagnostics: (u32, u32),
        beside: u64,
        conflicts: Vec<String>,
    ) -> MergedVersion {
        MergedVersion {
            hash: self.hash,
            bytes: self.bytes,
            diagnostics,
            suspect: self.suspect,
            beside: (!conflicts.is_empty()).then_some(beside),
            conflicts,
            body: Some(self.body),
            blobs: self.blobs,
        }
    }

    /// Prepares a draft.
    ///
    /// # Errors
    /// A long content cannot be stored as a blob.
    pub fn drafted(cx: &Context, content: String) -> Result<Self, Refusal> {
        Self::of(cx, content, |content| {
            codec::encode(&DraftSaved { content })
        })
    }

    /// Prepares the clearing of a file.
    #[must_use]
    pub fn cleared(cx: &Context, reason: Option<String>) -> Self {
        let body = ContextWritten {
            content: None,
            reason,
        };
        Self {
            hash: Hash::of(b"").0.into(),
            bytes: 0,
            suspect: Vec::new(),
            body: Body::new(codec::encode(&body), cx.engine.clock().random()),
            blobs: Vec::new(),
        }
    }

    fn of(
        cx: &Context,
        content: String,
        encode: impl FnOnce(Text) -> Vec<u8>,
    ) -> Result<Self, Refusal> {
        let mut blobs = Vec::new();
        let hash = Hash::of(content.as_bytes()).0.into();
        let bytes = content.len() as u64;
        let suspect = trust::suspicions([(&*content, Origin::Document)]);
        let content = Text::keep(&cx.blobs, content, &mut blobs)?;
        Ok(Self {
            hash,
            bytes,
            suspect,
            body: Body::new(encode(content), cx.engine.clock().random()),
            blobs,
        })
    }

    /// Returns the command that records the content as a version, whatever the newest version is.
    ///
    /// # Errors
    /// `INTERNAL` if the daemon was started without projects.
    pub fn write(
        self,
        cx: &Context,
        subject: ProjectSubject,
        file_type: &str,
        change: Change,
    ) -> Result<WriteContext, Refusal> {
        Ok(WriteContext {
            subject,
            file_type: file_type.to_owned(),
            change,
            hash: self.hash,
            bytes: self.bytes,
            diagnostics: (0, 0),
            suspect: self.suspect,
            follows: None,
            base: None,
            beside: None,
            conflicts: Vec::new(),
            merged: None,
            attempts_kept: attempts_kept(cx)?,
            body: Some(self.body),
            blobs: self.blobs,
            report: Report::default(),
        })
    }

    /// Returns the command that records the content as a draft.
    ///
    /// # Errors
    /// `INTERNAL` if the daemon was started without projects.
    pub fn draft(
        self,
        cx: &Context,
        subject: ProjectSubject,
        file_type: &str,
        is_entry: bool,
    ) -> Result<DraftContext, Refusal> {
        Ok(DraftContext {
            subject,
            is_entry,
            file_type: file_type.to_owned(),
            attempts_kept: attempts_kept(cx)?,
            body: Some(self.body),
            blobs: self.blobs,
        })
    }
}

fn attempts_kept(cx: &Context) -> Result<Micros, Refusal> {
    Ok(ProjectState::of(cx)?
        .limits
        .attempts_kept_ms
        .saturating_mul(1000))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Binary content is refused with the reason; all line endings and a byte order mark are accepted.
    #[test]
    fn contents_are_texts() {
        for (content, reported) in [
            ("", "empty"),
            (" \r\n\t", "empty"),
            ("\u{feff}\n", "empty"),
            ("# A\0", "U+0000"),
            ("# A\u{1b}[31m", "U+001B"),
            ("# 123456789", "11 bytes"),
        ] {
            let refused = check_content(content, 10).unwrap_err();
            assert!(refused.message.contains(reported), "{content:?}: {refused}");
        }
        check_content("\u{feff}# A\r\n", 10).unwrap();
    }

    /// An empty entry is told apart from an empty file: the advice is how to append.
    #[test]
    fn an_empty_entry_is_told_how_to_append() {
        for entry in ["", "\u{feff} \n"] {
            let refused = check_entry(entry, 10).unwrap_err();
            assert!(refused.message.contains("entry is empty"), "{refused}");
        }
        let refused = check_entry("# A\0", 10).unwrap_err();
        assert!(refused.message.contains("U+0000"), "{refused}");
        check_entry("A", 10).unwrap();
    }
}
