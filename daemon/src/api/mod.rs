//! The doors: one operation table, three ways in on one socket.
//!
//! Doors only translate. The first byte of a connection decides which one it is: 0 begins a frame
//! of the compact protocol, `{` is MCP over JSON lines, a capital letter is HTTP.

mod changes;
mod dispatch;
mod frame_reader;
mod frames;
mod http;
pub mod limits;
mod listener;
mod mcp;
mod operations;
mod redacting;
pub mod reference;
mod resources;
mod seats;
mod sharing;
mod toolbox;
#[cfg(test)]
mod trial;
mod waiting;

pub use dispatch::Dispatch;
pub use frames::Door;
pub use http::Gate;
pub use limits::{Budget, Limits};
pub use listener::{Doors, Find, Guest, Peer};
pub use mcp::check as check_mcp_line;
pub use operations::TABLE;
pub use resources::{RESOURCES, Resources};
