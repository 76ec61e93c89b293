//! Wire types of `metrics`.

use lore_wire::wire;

use crate::protocol::{Position, SessionId};

/// Arguments of `metrics`.
#[wire(args(session, .., as_of, at_least, agent))]
#[derive(Default)]
pub struct MetricsArgs {
    /// The window in milliseconds; default: `sessions.metrics_keep_ms`, an hour by default.
    pub since_ms: Option<u64>,
    /// Maximum number of points, the newest: 1 to 10000 (default 1000).
    pub limit: Option<u64>,
}

/// The metrics of a session after one event.
#[wire]
pub struct MetricsPoint {
    /// The event of this point: a message or a pruning.
    pub position: Position,
    /// Time, RFC 3339.
    pub at: String,
    /// Tokens of the messages in its working set.
    pub context_size: u64,
    /// Number of known entities.
    pub entity_count: u64,
    /// Tokens of all its messages.
    pub token_usage: u64,
}

/// Reply of `metrics`.
#[wire(reply(position, durable, chosen_by, warnings))]
pub struct MetricsReply {
    /// The session.
    pub session: SessionId,
    /// Current tokens of the messages in its working set.
    pub context_size: u64,
    /// Current number of known entities.
    pub entity_count: u64,
    /// Current tokens of all its messages.
    pub token_usage: u64,
    /// The points, the oldest first.
    pub points: Vec<MetricsPoint>,
}
