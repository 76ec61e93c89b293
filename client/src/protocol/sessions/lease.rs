//! Wire types of leases: exclusive, time-limited rights to write to a session.

use lore_wire::wire;

use crate::protocol::{Position, SessionId};

/// Arguments of `lease_session`.
#[wire(args(session, .., key, agent))]
#[derive(Default)]
pub struct LeaseSessionArgs {
    /// The name of the lease (default `session`).
    pub name: Option<String>,
    /// Duration in milliseconds, 1000 to 3600000 (default 30000).
    pub ms: Option<u64>,
    /// The token of the lease to renew; without it a new lease is taken.
    pub token: Option<Position>,
}

/// Reply of `lease_session`.
#[wire(reply(position, durable, chosen_by, project, warnings))]
pub struct LeaseSessionReply {
    /// The session.
    pub session: SessionId,
    /// The name of the lease.
    pub name: String,
    /// Proves the lease: give it as `fence` with writes, and as `token` to renew or release it.
    /// Tokens of later holders are greater.
    pub token: Position,
    /// Its end unless renewed, RFC 3339.
    pub until: String,
    /// Whether an active lease was renewed.
    pub renewed: bool,
}

/// Arguments of `release_session`.
#[wire(args(session, .., key, agent))]
#[derive(Default)]
pub struct ReleaseSessionArgs {
    /// The token of the lease.
    pub token: Position,
}

/// Reply of `release_session`.
#[wire(reply(position, durable, chosen_by, project, warnings))]
pub struct ReleaseSessionReply {
    /// The session.
    pub session: SessionId,
    /// The name of the lease.
    pub name: String,
}
