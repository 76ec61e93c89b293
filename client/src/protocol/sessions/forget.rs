//! Wire types of `forget_session`.

use lore_wire::wire;

use crate::protocol::SessionId;

/// Arguments of `forget_session`.
#[wire(args(key, agent))]
pub struct ForgetSessionArgs {
    /// The layer.
    pub session: SessionId,
    /// Only report what would be removed (default false).
    pub dry_run: Option<bool>,
}

/// Reply of `forget_session`.
#[wire(reply(
    position = "Position of the tombstone in the log; of the newest event in a dry run.",
    durable,
    warnings = "What the caller should know; also what could not be erased from the disk yet."
))]
pub struct ForgetSessionReply {
    /// The session to forget.
    pub session: SessionId,
    /// Number of its events.
    pub events: u64,
    /// Bytes of their payloads, and of blobs and objects that nothing else needed.
    pub bytes: u64,
}
