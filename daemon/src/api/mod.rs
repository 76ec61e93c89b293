//! The transports: one operation table, three protocols on one socket.
//!
//! Transports only translate. The first byte of a connection selects the protocol: 0 begins a frame
//! of the compact protocol, `{` is MCP over JSON lines, a capital letter is HTTP.

pub mod alone;
mod changes;
mod connection_slots;
mod dispatch;
mod frame_reader;
mod frames;
mod hints;
mod http;
mod incoming;
pub mod limits;
mod listener;
mod long_polls;
mod mcp;
mod operations;
mod outbox;
mod page;
mod redacting;
pub mod reference;
mod resources;
mod sharing;
#[cfg(test)]
mod test_operations;
mod tool_selection;

pub use alone::LoneCall;
pub use changes::ChangeSet;
pub use connection_slots::ConnectionSlots;
pub use dispatch::{Dispatch, prepared};
pub use frames::{Endpoint, caller_of};
pub use http::{DeadlineWriter, HttpAuth, Service as HttpService};
pub use limits::{Budget, Limits};
pub use listener::{Peer, TenantHandle, TenantResolver, Transports};
pub use mcp::{
    Catalog, ContentSetting, ReplyShape, ResourceChanges, ResultEncoder, ToolCall,
    check as check_mcp_line,
};
pub use operations::TABLE;
pub use page::{PageServer, TenantsByUser};
pub use resources::{RESOURCES, Resources};
pub use tool_selection::ToolSelection;
