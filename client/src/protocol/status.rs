//! Wire types of `status`: how the daemon is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Position, lenient};

/// Arguments of `status`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatusArgs {
    /// Also as text that Prometheus reads, with metrics of the sessions in use (default false).
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::boolean"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub prometheus: Option<bool>,
}

/// A resolver: an MCP server that says what names stand for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Resolver {
    /// Its name in the settings.
    pub name: String,
    /// `idle`, `running` or `broken`.
    pub state: String,
    /// Calls to its server since the daemon's start.
    pub calls: u64,
    /// How many of them had no answer.
    pub failures: u64,
    /// Asks that an earlier answer served.
    pub cached: u64,
}

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

/// What the rules of retention come to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Retention {
    /// When they are carried out next, RFC 3339; absent while none is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub next: Option<String>,
    /// When something was forgotten by them last since the daemon's start, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub last: Option<String>,
    /// How many events then.
    pub events: u64,
    /// What they held, in bytes.
    pub bytes: u64,
}

/// What the daemon gave up before it served, so that whoever takes it over has little of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Confinement {
    /// What the kernel refuses it by Landlock: `full: ABI …`, `partial: ABI …, without …`, `none: …`.
    pub landlock: String,
    /// Whether no program that it starts can get more rights than it has.
    pub no_new_privs: bool,
    /// Whether a crash may leave its memory on disk.
    pub core_dumps: bool,
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
    /// What says which things names stand for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resolvers: Vec<Resolver>,
    /// What it gave up before it served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Confinement"))]
    pub confinement: Option<Confinement>,
    /// How many secrets of which kind were redacted in what came in, since the daemon's start.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub redactions: BTreeMap<String, u64>,
    /// All of it as text that Prometheus reads, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub prometheus: Option<String>,
    /// What is forgotten by itself, if any rule is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Retention"))]
    pub retention: Option<Retention>,
    /// Every limit, by its name.
    pub limits: BTreeMap<String, u64>,
    /// What a person should look at.
    pub warnings: Vec<String>,
}
