//! Wire types of `fork_session`.

use lore_wire::wire;

use super::SessionParent;
use crate::protocol::{AsOf, SessionId};

/// Arguments of `fork_session`.
#[wire(args(key, agent))]
pub struct ForkSessionArgs {
    /// The session.
    pub session: SessionId,
    /// The moment up to which the past is shared: a position or RFC 3339 time; default: now.
    pub at: Option<AsOf>,
    /// Your own id; default: a new one.
    pub new_session: Option<SessionId>,
    /// The title of the new session; default: that of its parent.
    pub title: Option<String>,
}

/// Reply of `fork_session`.
#[wire(reply(position, durable, project, warnings))]
pub struct ForkSessionReply {
    /// The new session.
    pub session: SessionId,
    /// The session whose past it shares, and the last shared position.
    pub parent: SessionParent,
}
