//! The error of a text without a canonical form.

/// Longest excerpt of a text in a message, in characters.
const SHOWN_MAX: usize = 200;

/// Reason why a text has no canonical form, with its position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CanonicalError(pub(super) String);

impl CanonicalError {
    /// Creates the error of a text that is not JSON.
    pub(super) fn invalid(reason: &str) -> Self {
        Self(format!("invalid JSON: {reason}"))
    }
}

/// Describes a position: the offset in bytes, and the line from 1.
pub(super) fn place(text: &[u8], byte: usize) -> String {
    let before = text.get(..byte).unwrap_or(text);
    let line = 1 + memchr::memchr_iter(b'\n', before).count();
    format!("at byte {byte} (line {line})")
}

/// Shortens a text that is too long for a message.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned() + "…",
        None => text.to_owned(),
    }
}
