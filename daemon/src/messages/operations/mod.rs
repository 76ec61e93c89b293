//! The message lines of the operation table.

mod list;
mod record;
mod tool;
mod wire;

use crate::operation::Operation;

pub use wire::{mentioned, message};

/// The lines.
pub const OPERATIONS: &[Operation] = &[
    Operation::of::<record::RecordMessage>(),
    Operation::of::<tool::RecordTool>(),
    Operation::of::<list::ListMessages>(),
];

/// The longest content and the longest result, each, in bytes.
const TEXT_BYTES_MAX: usize = 16 << 20;
/// Name of a tool, in bytes.
pub(crate) const TOOL_BYTES_MAX: usize = 256;
/// Tools of one message.
pub(crate) const TOOLS_MAX: usize = 100;
/// Texts longer than this are prepared off the event loop, in bytes.
const PREPARE_INLINE_BYTES_MAX: usize = 8 * 1024;
