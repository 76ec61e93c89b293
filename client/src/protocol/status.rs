//! Wire types of `status`: how the daemon is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Position;

/// Arguments of `status`: none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatusArgs {}

/// Something that follows the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Follower {
    /// Its name.
    pub name: String,
    /// How far it has come.
    pub position: Position,
    /// How many events it is behind.
    pub lag: u64,
}

/// Reply of `status`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatusReply {
    /// The daemon's version.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// The id of its store, hexadecimal.
    pub store: String,
    /// The newest position.
    pub position: Position,
    /// Whether an answer means that the write is on disk.
    pub durable: bool,
    /// Whether writes are taken.
    pub writable: bool,
    /// How long it has been running, in seconds.
    pub uptime: u64,
    /// How many connections there are.
    pub clients: u64,
    /// Its socket.
    pub socket: String,
    /// Its data folder.
    pub data: String,
    /// How many of what.
    pub counts: BTreeMap<String, u64>,
    /// How large is what, in bytes.
    pub sizes: BTreeMap<String, u64>,
    /// What follows the log.
    pub followers: Vec<Follower>,
    /// Every limit, by its name.
    pub limits: BTreeMap<String, u64>,
    /// What a person should look at.
    pub warnings: Vec<String>,
}
