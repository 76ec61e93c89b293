//! Messages and tool executions of sessions.

mod command;
pub mod operations;
pub mod quotations;
mod read;
mod view;

use crate::sessions::WantedContent;

pub use crate::events::messages::{
    Kind, MessageEvent, MessageHead, MessageMeta, MessageRecorded, RememberedKind, Sender, Status,
    ToolCallMeta, ToolRecorded, ToolUse,
};
pub use read::{Execution, ExecutionKind, StoredMessage, at, executions, executions_of, read};
pub use view::{
    MessageRow, MessageTotals, RememberedRow, SPACE, ToolUseRow, ToolUseState, apply, apply_step,
    by_id, execution, forget, newest, oldest, remembered_at, remembered_since, totals, uses,
};

/// Asks for a session with messages.
#[must_use]
pub const fn content() -> WantedContent {
    WantedContent::new("messages", |rows, lines, _| {
        Ok(totals(rows, lines)?.messages > 0)
    })
}

/// Returns who wrote a message, as recognition and references see it.
#[must_use]
pub const fn text_source(sender: Sender) -> lored_recognise::TextSource {
    match sender {
        Sender::User => lored_recognise::TextSource::Person,
        Sender::Assistant | Sender::System => lored_recognise::TextSource::Agent,
        Sender::Tool => lored_recognise::TextSource::Result,
    }
}

/// Returns whose words a message is, as the search for orders to models sees it.
#[must_use]
pub const fn origin(sender: Sender) -> lored_suspicion::Origin {
    match sender {
        Sender::User => lored_suspicion::Origin::User,
        // Hosts and other agents write what no person did.
        Sender::Assistant | Sender::System => lored_suspicion::Origin::Agent,
        Sender::Tool => lored_suspicion::Origin::Tool,
    }
}

// For the engine's tests, which decide real commands.
#[cfg(test)]
pub(crate) mod decided {
    pub(crate) use super::command::{RecordMessage, RecordTool};
}
