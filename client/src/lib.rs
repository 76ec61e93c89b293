//! Client of lored, the shared memory of the AI agents on one machine.
//!
//! In reading order:
//! - [`protocol`]: what goes over the socket, as types and as bytes; the daemon uses it too.
//! - [`places`]: where socket, data and logs are; the daemon uses it too.
//! - [`connection`]: one blocking connection.
//! - [`start`]: starting the daemon when nobody serves.
//! - [`client`]: the three together, for programs that just want to call.
//! - [`bridge`]: MCP over stdio, through the daemon.
#![forbid(unsafe_code)]

pub mod bridge;
pub mod client;
pub mod connection;
pub mod places;
pub mod protocol;
pub mod start;
