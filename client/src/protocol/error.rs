//! Refusals and faults as a caller sees them: a code from a closed list, a sentence, a hint.

use lore_wire::wire;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident $text:literal $status:literal $retryable:literal,)*) => {
        /// What kind of error it is; a closed list.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $($(#[$doc])* $variant,)* }

        impl Code {
            /// Every code there is.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The code as it is written, `SESSION_NOT_FOUND` for instance.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The HTTP status that says the same.
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
    /// An argument is missing, unknown, or out of its bounds.
    InvalidInput "INVALID_INPUT" 400 false,
    /// No session has this id.
    SessionNotFound "SESSION_NOT_FOUND" 404 false,
    /// The session has no such step or attempt.
    StepNotFound "STEP_NOT_FOUND" 404 false,
    /// No checkpoint has this id.
    CheckpointNotFound "CHECKPOINT_NOT_FOUND" 404 false,
    /// No project has this id.
    ProjectNotFound "PROJECT_NOT_FOUND" 404 false,
    /// Something else is not there.
    NotFound "NOT_FOUND" 404 false,
    /// No operation has this name.
    UnknownOperation "UNKNOWN_OPERATION" 404 false,
    /// The caller did not show who it is.
    Unauthorized "UNAUTHORIZED" 401 false,
    /// The session is closed for writes.
    SessionClosed "SESSION_CLOSED" 409 false,
    /// A quota of the store is used up.
    StorageQuotaExceeded "STORAGE_QUOTA_EXCEEDED" 413 false,
    /// The store takes no writes at the moment; the outcome of a write is unknown.
    StorageUnavailable "STORAGE_UNAVAILABLE" 503 true,
    /// A stored record is damaged.
    Corrupt "CORRUPT" 500 false,
    /// Another writer was first.
    Conflict "CONFLICT" 409 false,
    /// The idempotency key was used for another body.
    IdempotencyConflict "IDEMPOTENCY_CONFLICT" 409 false,
    /// The caller may not do this.
    Forbidden "FORBIDDEN" 403 false,
    /// The session has expired.
    SessionExpired "SESSION_EXPIRED" 410 false,
    /// Too much at once; slower callers pass.
    RateLimited "RATE_LIMITED" 429 true,
    /// The memory for calls in flight is used up.
    ResourceExhausted "RESOURCE_EXHAUSTED" 429 true,
    /// A frame, line or body is over its limit.
    FrameTooLarge "FRAME_TOO_LARGE" 413 false,
    /// The two sides speak different versions.
    VersionMismatch "VERSION_MISMATCH" 426 false,
    /// A deadline passed.
    Timeout "TIMEOUT" 504 true,
    /// The daemon broke.
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
    /// A code that a newer daemon knows and this library does not reads as `INTERNAL`: its
    /// sentence and hint still reach the person.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let known = Self::ALL.iter().find(|code| code.as_str() == text);
        Ok(known.copied().unwrap_or(Self::Internal))
    }
}

/// An error as it crosses the wire.
#[wire]
#[derive(thiserror::Error)]
#[error("{message}")]
pub struct ErrorBody {
    /// From the closed list.
    #[schema(with = "String")]
    pub code: Code,
    /// The HTTP status that says the same.
    pub status: u16,
    /// What was wrong and what would be right, as a sentence.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// Facts for programs.
    #[schema(with = "serde_json::Map<String, serde_json::Value>")]
    pub details: Option<Box<serde_json::Value>>,
}

impl ErrorBody {
    /// An error with the status and the retryability that its code has.
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

    /// The same with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with facts for programs.
    #[must_use]
    pub fn details(mut self, details: serde_json::Value) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    /// The error as compact JSON.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        // Text, numbers and JSON: there is nothing in it that could fail to serialise.
        serde_json::to_vec(self).unwrap_or_else(|_| b"{}".to_vec())
    }

    /// Reads what [`ErrorBody::to_json`] wrote; anything else becomes an `INTERNAL` that shows it.
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
        assert_eq!(texts.len(), 22);
    }
}
