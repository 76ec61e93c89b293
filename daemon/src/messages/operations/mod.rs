//! The operations of messages.

mod list;
mod record;
mod tool;
mod wire;

use crate::operation::Operation;

pub(crate) use super::command::RecordMessage as MessageCommand;
pub(crate) use record::{RememberedArgs, prepare as prepare_message, prepare_remembered, suspect};
pub use wire::{mentioned, message, possible};

/// The operations.
pub const OPERATIONS: &[Operation] = &[
    Operation::of::<record::RecordMessage>(),
    Operation::of::<tool::RecordTool>(),
    Operation::of::<list::ListMessages>(),
];

/// Maximum length of a content and of each result, in bytes.
const TEXT_BYTES_MAX: usize = 16 << 20;
/// Maximum length of a tool's name, in bytes.
pub(crate) const TOOL_BYTES_MAX: usize = 256;
/// Maximum number of tools of a message.
pub(crate) const TOOLS_MAX: usize = 100;
/// Maximum length of text that is prepared on the event loop, in bytes; a longer text goes to a blocking thread.
const PREPARE_INLINE_BYTES_MAX: usize = 8 * 1024;
