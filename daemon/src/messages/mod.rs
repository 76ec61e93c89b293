//! Messages and tool executions: what was said in a session, and what was done for it.

mod command;
pub mod operations;
pub mod quotes;
mod read;
mod view;

pub use crate::events::messages::{
    Kind, MessageEvent, MessageMeta, MessageRecorded, Sender, Status, ToolCallMeta, ToolRecorded,
    ToolUse,
};
pub use read::{Execution, Of, Told, at, executions, executions_of, told};
pub use view::{
    Done, MessageRow, SPACE, Totals, Use, apply, apply_step, by_id, execution, forget, newest,
    oldest, totals, uses,
};

// For the engine's own tests, which decide real commands.
#[cfg(test)]
pub(crate) mod decided {
    pub(crate) use super::command::{RecordMessage, RecordTool};
}
