//! Wire types of `forget_session`.

use lore_wire::wire;

use crate::protocol::SessionId;

/// Arguments of `forget_session`.
#[wire(args(key, agent))]
pub struct ForgetSessionArgs {
    /// The session to forget.
    pub session: SessionId,
    /// Only report what would be removed (default false).
    pub dry_run: Option<bool>,
}

/// Reply of `forget_session`.
#[wire(reply(
    position = "Position of the tombstone in the log; for a dry run of the newest event.",
    durable,
    warnings = "Warnings, including data that could not be erased from disk yet."
))]
pub struct ForgetSessionReply {
    /// The session.
    pub session: SessionId,
    /// Number of its events.
    pub events: u64,
    /// Bytes of their payloads, and of blobs and objects that nothing else needed.
    pub bytes: u64,
}
