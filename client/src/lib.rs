//! Client of lored, the shared memory of the AI agents on one machine.
//!
//! In reading order:
//! - [`protocol`]: the messages on the socket, as types and as bytes; also used by the daemon.
//! - [`paths`]: the paths of socket, data and logs; also used by the daemon.
//! - [`connection`]: one blocking connection.
//! - [`manager`]: detects the service manager that runs the daemon.
//! - [`start`]: starts the daemon when none is running.
//! - [`client`]: the three together, for programs that only make calls.
//! - [`host_session`]: which conversation of which host a client belongs to.
//! - [`mailbox`]: requests and answers as files, where a sandbox refuses sockets; for both sides.
//! - [`spool`]: payloads of hooks that wait for the daemon; also used by the daemon.
//! - [`bridge`]: MCP over stdio, through the daemon.
//! - [`sanitize`]: makes recorded text safe to display.
//! - [`event_words`]: describes events for people.
//! - [`terminal`]: output for people, which tolerates a closed reader.
//! - [`pages`]: manual pages and shell completions, generated from a command line.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod bridge;
pub mod client;
pub mod connection;
pub mod event_words;
pub mod host_session;
pub mod local_time;
pub mod mailbox;
pub mod manager;
pub mod pages;
pub mod paths;
pub mod protocol;
pub mod sanitize;
pub mod spool;
pub mod start;
pub mod terminal;
