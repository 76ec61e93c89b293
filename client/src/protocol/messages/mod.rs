//! Wire types of messages and tool executions.

mod list;
mod record;
mod tool;
mod tool_use;

pub use list::{ListMessagesArgs, ListMessagesReply, Message};
pub use record::{Mentioned, RecordMessageArgs, RecordMessageReply};
pub use tool::{RecordToolArgs, RecordToolReply};
pub use tool_use::ToolUse;

use lore_wire::wire;

/// Who says something.
#[wire]
pub enum Sender {
    /// The person.
    User,
    /// The model.
    Assistant,
    /// Whoever sets the frame.
    System,
    /// A tool.
    Tool,
}

/// What a message is.
#[wire]
pub enum MessageType {
    /// Something is asked.
    Query,
    /// Something is answered.
    Response,
    /// A tool returned something.
    ToolResult,
    /// Something failed.
    Error,
}

/// How far the execution of a tool is.
#[wire]
pub enum ToolStatus {
    /// It was asked for.
    Starting,
    /// It runs.
    Running,
    /// It ended well.
    Completed,
    /// It failed.
    Error,
}

/// How an entity was recognised.
#[wire]
pub enum Recognised {
    /// By the form of its name.
    Pattern,
    /// By its name, which was known already.
    Known,
    /// By a word that refers to it.
    Reference,
    /// By a field of a JSON value.
    Json,
}

/// What comes first in a list.
#[wire]
pub enum Order {
    /// The oldest.
    Oldest,
    /// The newest.
    Newest,
}
