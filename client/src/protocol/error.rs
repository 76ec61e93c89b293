//! Errors as a caller sees them: a code from a closed list, a message and a hint.

use lore_wire::wire;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident $text:literal $status:literal $retryable:literal,)*) => {
        /// Error code from a closed list.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $($(#[$doc])* $variant,)* }

        impl Code {
            /// All codes.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the code as text, for example `SESSION_NOT_FOUND`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// Returns the equivalent HTTP status.
            #[must_use]
            pub const fn status(self) -> u16 {
                match self { $(Self::$variant => $status,)* }
            }

            /// Whether the same call may succeed later.
            #[must_use]
            pub const fn retryable(self) -> bool {
                match self { $(Self::$variant => $retryable,)* }
            }
        }
    };
}

codes! {
    /// An argument is missing, unknown or out of range.
    InvalidInput "INVALID_INPUT" 400 false,
    /// No session has this id.
    SessionNotFound "SESSION_NOT_FOUND" 404 false,
    /// The session has no such step or attempt.
    StepNotFound "STEP_NOT_FOUND" 404 false,
    /// No checkpoint has this id.
    CheckpointNotFound "CHECKPOINT_NOT_FOUND" 404 false,
    /// No project has this id.
    ProjectNotFound "PROJECT_NOT_FOUND" 404 false,
    /// Another object does not exist.
    NotFound "NOT_FOUND" 404 false,
    /// No operation has this name.
    UnknownOperation "UNKNOWN_OPERATION" 404 false,
    /// The caller is not authenticated.
    Unauthorized "UNAUTHORIZED" 401 false,
    /// The session is closed for writes.
    SessionClosed "SESSION_CLOSED" 409 false,
    /// A storage quota is exhausted.
    StorageQuotaExceeded "STORAGE_QUOTA_EXCEEDED" 413 false,
    /// The store accepts no writes at present; the outcome of a write is unknown.
    StorageUnavailable "STORAGE_UNAVAILABLE" 503 true,
    /// A stored record is damaged.
    Corrupt "CORRUPT" 500 false,
    /// Another writer changed the state first.
    Conflict "CONFLICT" 409 false,
    /// The idempotency key was used for another request body.
    IdempotencyConflict "IDEMPOTENCY_CONFLICT" 409 false,
    /// The caller lacks permission.
    Forbidden "FORBIDDEN" 403 false,
    /// The session has expired.
    SessionExpired "SESSION_EXPIRED" 410 false,
    /// Too many calls at once; a slower rate succeeds.
    RateLimited "RATE_LIMITED" 429 true,
    /// The memory for calls in flight is exhausted.
    ResourceExhausted "RESOURCE_EXHAUSTED" 429 true,
    /// A frame, line or body exceeds its limit.
    FrameTooLarge "FRAME_TOO_LARGE" 413 false,
    /// The reply would exceed the limit of a frame: ask for less.
    ReplyTooLarge "REPLY_TOO_LARGE" 413 false,
    /// The two sides use different versions.
    VersionMismatch "VERSION_MISMATCH" 426 false,
    /// A deadline passed.
    Timeout "TIMEOUT" 504 true,
    /// An internal error of the daemon.
    Internal "INTERNAL" 500 false,
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    /// Reads a code of a newer daemon that this library does not know as `INTERNAL`. Its message and hint
    /// still reach the user.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let known = Self::ALL.iter().find(|code| code.as_str() == text);
        Ok(known.copied().unwrap_or(Self::Internal))
    }
}

/// An error of the protocol.
#[wire]
#[derive(thiserror::Error)]
#[error("{message}")]
pub struct ErrorBody {
    /// Code from the closed list.
    #[schema(with = "String")]
    pub code: Code,
    /// The equivalent HTTP status.
    pub status: u16,
    /// Description of the fault and of the expected input, as a sentence.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// Details for programs.
    #[schema(with = "serde_json::Map<String, serde_json::Value>")]
    pub details: Option<Box<serde_json::Value>>,
}

impl ErrorBody {
    /// Creates an error with the status and retryability of its code.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            status: code.status(),
            message: message.into(),
            hint: None,
            retryable: code.retryable(),
            details: None,
        }
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds details for programs.
    #[must_use]
    pub fn details(mut self, details: serde_json::Value) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    /// Returns the error as compact JSON.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        // Text, numbers and JSON always serialise.
        serde_json::to_vec(self).unwrap_or_else(|_| b"{}".to_vec())
    }

    /// Parses the output of [`ErrorBody::to_json`]; any other text becomes an `INTERNAL` error that shows it.
    #[must_use]
    pub fn from_json(json: &[u8]) -> Self {
        serde_json::from_slice(json).unwrap_or_else(|_| {
            let shown: String = String::from_utf8_lossy(json).chars().take(200).collect();
            Self::new(
                Code::Internal,
                format!("the daemon sent an error that cannot be read: {shown}"),
            )
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_error_reads_back_as_it_was_written() {
        let error = ErrorBody::new(Code::SessionNotFound, "no session s1")
            .hint("near: s2")
            .details(serde_json::json!({"near": ["s2"]}));
        assert_eq!(ErrorBody::from_json(&error.to_json()), error);
        let text = String::from_utf8(error.to_json()).unwrap();
        assert!(
            text.starts_with(r#"{"code":"SESSION_NOT_FOUND","status":404,"message":"#),
            "{text}"
        );
    }

    #[test]
    fn a_code_of_the_future_keeps_its_sentence() {
        let json = br#"{"code":"NEW","status":418,"message":"tea","retryable":false}"#;
        let error = ErrorBody::from_json(json);
        assert_eq!(
            (error.code, error.status, error.message.as_str()),
            (Code::Internal, 418, "tea")
        );
        assert_eq!(ErrorBody::from_json(b"\xff").code, Code::Internal);
    }

    #[test]
    fn codes_are_distinct() {
        let mut texts: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), 23);
    }
}
