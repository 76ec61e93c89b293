//! Client of lored, the shared memory of the AI agents on one machine.
//!
//! In reading order:
//! - [`protocol`]: what goes over the socket, as types and as bytes; the daemon uses it too.
//! - [`places`]: where socket, data and logs are; the daemon uses it too.
//! - [`connection`]: one blocking connection.
//! - [`manager`]: who runs the daemon.
//! - [`start`]: starting the daemon when nobody serves.
//! - [`client`]: the three together, for programs that just want to call.
//! - [`bridge`]: MCP over stdio, through the daemon.
//! - [`shown`]: what was recorded, as a person sees it.
//! - [`say`]: words for people, as far as anybody reads them.
//! - [`pages`]: manual pages and completions, made of a command line.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod bridge;
pub mod client;
pub mod connection;
pub mod manager;
pub mod pages;
pub mod paths;
pub mod protocol;
pub mod sanitize;
pub mod start;
pub mod terminal;
