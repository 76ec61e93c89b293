//! Wire types of `create_session`.

use lore_wire::wire;
use serde_json::{Map, Value};

use crate::protocol::SessionId;

/// Arguments of `create_session`.
#[wire(args(key, agent))]
#[derive(Default)]
pub struct CreateSessionArgs {
    /// Your own id; default: a new one.
    pub session: Option<SessionId>,
    /// Its title.
    pub title: Option<String>,
    /// Its user.
    pub user: Option<String>,
    /// Its project, if not that of the working directory.
    pub project: Option<String>,
    /// Its current topic.
    pub topic: Option<String>,
    /// Tags to find it by.
    pub tags: Vec<String>,
    /// Preferences, by name; the others are those that this user set last.
    pub preferences: Option<Map<String, Value>>,
}

/// Reply of `create_session`.
#[wire(reply(position, durable, project, warnings))]
pub struct CreateSessionReply {
    /// Its id.
    pub session: SessionId,
}
