//! Wire types of `status`: the state of the daemon.

use lore_wire::wire;
use std::collections::BTreeMap;

use super::Position;

/// Arguments of `status`.
#[wire(args)]
#[derive(Default)]
pub struct StatusArgs {
    /// Also return the status as Prometheus text, with metrics of the active sessions (default
    /// false).
    pub prometheus: Option<bool>,
}

/// A resolver: an MCP server that resolves names of entities.
#[wire]
pub struct Resolver {
    /// Its name in the settings.
    pub name: String,
    /// `idle`, `running` or `broken`.
    pub state: String,
    /// Number of calls to its server since the daemon's start.
    pub calls: u64,
    /// Number of calls without an answer.
    pub failures: u64,
    /// Number of requests answered from the cache.
    pub cached: u64,
}

/// A follower of the log.
#[wire]
pub struct Follower {
    /// Its name.
    pub name: String,
    /// Its position in the log.
    pub position: Position,
    /// Number of events it is behind.
    pub lag: u64,
}

/// Progress of the second tier of search, which embeds texts in the background.
#[wire]
pub struct Embedding {
    /// Number of texts that it has embedded.
    pub embedded: u64,
    /// Number of texts that wait. Until there are none, the first tier ranks.
    pub missing: u64,
    /// Seconds until they are embedded, at the pace of the last ones; absent while the pace is unknown.
    pub seconds_left: Option<u64>,
}

/// The last verification of the whole log, its views, blobs and objects.
#[wire]
pub struct Verified {
    /// End of the log that was verified.
    pub position: Position,
    /// When it ended, RFC 3339.
    pub time: String,
    /// Number of findings; a view that was wrong has been rebuilt.
    pub findings: u64,
}

/// State of the retention rules.
#[wire]
pub struct Retention {
    /// Time of the next run, RFC 3339; absent without a rule.
    pub next: Option<String>,
    /// Time they last forgot data since the daemon's start, RFC 3339.
    pub last: Option<String>,
    /// Number of events forgotten then.
    pub events: u64,
    /// Bytes of their content.
    pub bytes: u64,
}

/// Privileges that the daemon dropped before serving, to limit the damage if it is compromised.
#[wire]
pub struct Confinement {
    /// What Landlock denies the daemon: `full: ABI …`, `partial: ABI …, without …`, `none: …`.
    pub landlock: String,
    /// Whether programs that it starts cannot gain privileges.
    pub no_new_privs: bool,
    /// Whether a crash may write its memory to disk.
    pub core_dumps: bool,
}

/// Reply of `status`.
#[wire(reply())]
pub struct StatusReply {
    /// The daemon's version.
    pub version: String,
    /// Its process id.
    pub pid: u32,
    /// The id of its store, hexadecimal.
    pub store: String,
    /// The newest position.
    pub position: Position,
    /// Whether a reply means that the write is on disk.
    pub durable: bool,
    /// Whether writes are accepted.
    pub writable: bool,
    /// Time since its start, in seconds.
    pub uptime: u64,
    /// How the log came to be what it is, if it did not begin here: restored from a backup, accepted by a person after
    /// damage, or taken over from a release without seals; with the position and the time.
    pub origin: Option<String>,
    /// The last verification of everything since its start; absent if there was none.
    pub verified: Option<Verified>,
    /// Number of connections.
    pub clients: u64,
    /// Its socket.
    pub socket: String,
    /// Its data folder.
    pub data: String,
    /// Counts by name.
    pub counts: BTreeMap<String, u64>,
    /// Sizes in bytes, by name.
    pub sizes: BTreeMap<String, u64>,
    /// The followers of the log.
    pub followers: Vec<Follower>,
    /// The second tier of search, while texts wait for it.
    pub embedding: Option<Embedding>,
    /// The resolvers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resolvers: Vec<Resolver>,
    /// The state of its sandbox.
    pub confinement: Option<Confinement>,
    /// Number of redacted secrets by kind, since the daemon's start.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub redactions: BTreeMap<String, u64>,
    /// The status as Prometheus text, if requested.
    pub prometheus: Option<String>,
    /// Automatic forgetting, if a rule is set.
    pub retention: Option<Retention>,
    /// All limits, by name.
    pub limits: BTreeMap<String, u64>,
    /// Warnings for a person; empty if there are none.
    pub warnings: Vec<String>,
}
