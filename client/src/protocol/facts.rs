//! Wire types of facts: what was said that lasts, with its versions.

use lore_wire::wire;

use super::{Position, SessionId};

/// Arguments of `list_facts`.
#[wire(args(.., at_least, agent))]
#[derive(Default)]
pub struct ListFactsArgs {
    /// The project, by its id or `current`; default: that of the caller's folder.
    pub project: Option<String>,
    /// Only facts that are disputed or whose cited code has changed.
    pub doubtful: Option<bool>,
    /// Also what was replaced, and what another statement repeats.
    pub include_replaced: Option<bool>,
    /// Maximum number.
    #[schema(extend("default" = 50, "minimum" = 1, "maximum" = 500))]
    pub limit: Option<u64>,
    /// `next` of the previous page.
    pub next: Option<String>,
}

/// Another statement about the same.
#[wire]
pub struct FactVersion {
    /// Position of its message.
    pub position: Position,
    /// Its session.
    pub session: Option<SessionId>,
    /// ID of its message.
    pub message: String,
    /// What it says.
    pub text: String,
    /// The agent to which or by which it was said.
    pub agent: Option<String>,
    /// Whether the user said it.
    pub by_user: bool,
    /// When it was said, RFC 3339.
    pub at: String,
}

/// What became of a statement.
#[wire]
pub enum FactState {
    /// It stands.
    Current,
    /// Someone else contradicts it, and neither is settled.
    Disputed,
    /// A later one replaced it.
    Replaced,
    /// Another one says the same and stands for it.
    Repeated,
}

/// Whether the code that a statement cites is as it was.
#[wire]
pub enum CitedCode {
    /// It is.
    Fresh,
    /// A cited line changed.
    Changed,
    /// A cited file is gone.
    Gone,
}

/// What was said that lasts.
#[wire]
pub struct Fact {
    /// Position of its message: by it, `review` and `remember` name it.
    pub position: Position,
    /// Its session.
    pub session: Option<SessionId>,
    /// ID of its message.
    pub message: String,
    /// What it says.
    pub text: String,
    /// What it is: `fact`, `decision`, `preference`, `rule`, `correction`, `finding`, `choice` or `remember`.
    pub kind: String,
    /// The agent to which or by which it was said.
    pub agent: Option<String>,
    /// Whether the user said it.
    pub by_user: bool,
    /// Whether it was recorded to be remembered.
    pub remembered: bool,
    /// When it was said, RFC 3339.
    pub at: String,
    /// What became of it.
    pub state: FactState,
    /// Whether the code that it cites is as it was; absent if it cites none.
    pub cited_code: Option<CitedCode>,
    /// What it replaced, the last one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<FactVersion>,
    /// Statements of others that contradict it, while the dispute is open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disputed_with: Vec<FactVersion>,
}

/// Reply of `list_facts`.
#[wire(reply(position, durable, project, warnings))]
pub struct ListFactsReply {
    /// The facts: the newest first, or with `doubtful` the oldest first.
    pub facts: Vec<Fact>,
    /// Number of further ones.
    pub more: u64,
    /// `next` for the following page; absent at the end.
    pub next: Option<String>,
}
