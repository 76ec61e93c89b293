//! The refusal of an operation.

use std::fmt;

pub use lore::protocol::Code;
use lore::protocol::ErrorBody;

use crate::budget::Shortage;
use crate::hint::{ArgumentName, Hint, HintForm, arg, hint};
use crate::store;

/// The error of an operation: a code, a message with the fault and the expected value, and a hint.
///
/// Most refusals are the caller's fault and are never logged as errors. If [`Refusal::is_fault`] is true, the fault
/// is internal.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// One of the codes in the operations reference.
    pub code: Code,
    /// The fault and the expected value.
    pub message: String,
    /// The next action for the caller.
    pub hint: Option<Hint>,
    /// Additional data for programs.
    pub details: Option<Box<serde_json::Value>>,
    /// Whether the writer refused the command because its inputs have changed after it was prepared.
    pub is_stale: bool,
}

impl Refusal {
    /// Creates a refusal without a hint.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: None,
            details: None,
            is_stale: false,
        }
    }

    /// Creates a refusal for invalid arguments.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidInput, message)
    }

    /// Adds the next action for the caller.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Hint>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds details for programs.
    #[must_use]
    pub fn details(mut self, details: serde_json::Value) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    /// Marks a write that must be prepared again, because its inputs have changed.
    #[must_use]
    pub fn stale(mut self) -> Self {
        self.is_stale = true;
        self
    }

    /// Whether the fault is internal, not the caller's.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        matches!(
            self.code,
            Code::Internal | Code::Corrupt | Code::StorageUnavailable
        )
    }

    /// Converts the refusal to the wire format, for a program that knows the names of operations.
    #[must_use]
    pub fn to_body(&self) -> ErrorBody {
        self.body(self.hint.as_ref().map(Hint::plain))
    }

    /// Converts the refusal to the wire format, with the hint as this reader calls operations.
    #[must_use]
    pub fn to_body_for(&self, door: HintForm<'_>, argument: &ArgumentName<'_>) -> ErrorBody {
        let hint = self.hint.as_ref();
        self.body(hint.and_then(|hint| hint.render(door, argument)))
    }

    fn body(&self, hint: Option<String>) -> ErrorBody {
        ErrorBody {
            code: self.code,
            status: self.code.status(),
            message: self.message.clone(),
            hint,
            retryable: self.code.retryable(),
            details: self.details.clone(),
        }
    }
}

impl From<ErrorBody> for Refusal {
    fn from(body: ErrorBody) -> Self {
        Self {
            code: body.code,
            message: body.message,
            hint: body.hint.map(Hint::from),
            details: body.details,
            is_stale: false,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.message)
    }
}

impl std::error::Error for Refusal {}

impl From<Shortage> for Refusal {
    fn from(shortage: Shortage) -> Self {
        let message = shortage.to_string();
        match shortage {
            Shortage::Call { .. } => Self::new(Code::ResponseTooLarge, message).hint(hint![
                "Ask for less: fewer names, one value of a step by its name, or a part of the text.";
                "A smaller ", arg("limit"), " helps too."
            ]),
            Shortage::Connection { .. } | Shortage::Daemon { .. } => {
                Self::new(Code::ResourceExhausted, message)
                    .hint("Repeat the call when others have ended, or ask for less.")
            }
            Shortage::Disconnected => Self::new(Code::ResourceExhausted, message),
            Shortage::Stopping => Self::new(Code::StorageUnavailable, message).hint(hint![
                "Repeat the call; the next daemon answers it.";
                "Repeat a write with the same ", arg("key"), "."
            ]),
        }
    }
}

impl From<store::Error> for Refusal {
    fn from(error: store::Error) -> Self {
        if error.is_full() {
            return Self::new(
                Code::StorageUnavailable,
                format!("nothing was recorded: {error}"),
            )
            .hint(
                "Free some space; writes then continue automatically. Reads are served meanwhile.",
            );
        }
        match &error {
            store::Error::LongKey { .. } => Self::new(Code::InvalidInput, error.to_string())
                .hint("Use a shorter name."),
            store::Error::OverBudget => Self::new(Code::ResponseTooLarge, error.to_string()),
            store::Error::Corrupt { .. } => Self::new(Code::Corrupt, error.to_string())
                .hint("Run `lored verify` for the extent; other data is served as before."),
            store::Error::Engine(_) if error.is_engine_damage() => {
                Self::new(Code::Corrupt, error.to_string()).hint(
                    "Restart the daemon, or run `lored repair`: what can be read is put into a new store.",
                )
            }
            store::Error::Engine(_)
            | store::Error::File { .. }
            | store::Error::Foreign { .. }
            | store::Error::Newer { .. }
            | store::Error::Locked(_)
            | store::Error::Ended { .. }
            | store::Error::Stopped { .. }
            | store::Error::Full { .. } => Self::new(Code::StorageUnavailable, error.to_string())
                .hint(hint![
                    "The daemon restarts into recovery.";
                    "Repeat the call with the same ", arg("key"), "."
                ]),
        }
    }
}
