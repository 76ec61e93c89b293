//! Wire types of messages and tool executions.

mod list;
mod record;
mod remember;
mod tool;
mod tool_use;

pub use list::{ListMessagesArgs, ListMessagesReply, Message, UsedTool};
pub use record::{Mentioned, PossibleEntity, RecordMessageArgs, RecordMessageReply};
pub use remember::{RememberArgs, RememberReply, RememberedKind};
pub use tool::{RecordToolArgs, RecordToolReply};
pub use tool_use::ToolUse;

use lore_wire::wire;

/// Sender of a message.
#[wire]
pub enum Sender {
    /// The user.
    User,
    /// The model.
    Assistant,
    /// The system, which sets the instructions.
    System,
    /// A tool.
    Tool,
}

/// Type of a message.
#[wire]
pub enum MessageType {
    /// A question or request.
    Query,
    /// An answer.
    Response,
    /// The result of a tool.
    ToolResult,
    /// An error.
    Error,
}

/// Status of a tool execution.
#[wire]
pub enum ToolStatus {
    /// Requested.
    Starting,
    /// Running.
    Running,
    /// Completed successfully.
    Completed,
    /// Failed.
    Error,
}

/// How an entity was recognised.
#[wire]
pub enum Recognised {
    /// By the pattern of its name.
    Pattern,
    /// By a name that was already known.
    Known,
    /// By a part or a misspelling of a known name.
    Near,
    /// By a word that refers to it.
    Reference,
    /// By a field of a JSON value.
    Json,
}

/// Sort order of a list.
#[wire]
pub enum Order {
    /// The oldest first.
    Oldest,
    /// The newest first.
    Newest,
}
