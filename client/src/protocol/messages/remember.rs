//! Wire types of `remember`.

use lore_wire::wire;

use super::Sender;
use crate::protocol::facts::FactVersion;
use crate::protocol::{Position, SessionId};

/// What is to be remembered.
#[wire]
#[derive(Default)]
pub enum RememberedKind {
    /// How things are.
    #[default]
    Fact,
    /// What was decided.
    Decision,
    /// What someone likes better.
    Preference,
}

/// Arguments of `remember`.
#[wire(args(session_or_new, .., key, agent))]
pub struct RememberArgs {
    /// What to remember, in words that hold by themselves: at most 1024 bytes.
    pub text: String,
    /// What it is; default: `fact`.
    pub kind: Option<RememberedKind>,
    /// What it stands on: positions of events.
    pub evidence: Vec<Position>,
    /// Positions of statements that it replaces.
    pub replaces: Vec<Position>,
    /// Whose words it is, `user` or `assistant`; default: the user's from a terminal, otherwise the model's.
    pub sender: Option<Sender>,
}

/// Reply of `remember`.
#[wire(reply(position, durable, chosen_by, project, warnings))]
pub struct RememberReply {
    /// Its session.
    pub session: SessionId,
    /// ID of the message that holds it.
    pub message: String,
    /// What it is.
    pub kind: RememberedKind,
    /// What it replaces: no longer served, but kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<FactVersion>,
    /// What others said that contradicts it: both are served until a person or a newer statement settles it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradicts: Vec<FactVersion>,
}
