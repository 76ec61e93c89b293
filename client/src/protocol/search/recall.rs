//! Wire types of `recall`.

use lore_wire::wire;

use super::{Kind, Origin};
use crate::protocol::messages::RememberedKind;
use crate::protocol::{Position, SessionId};

/// Arguments of `recall`.
#[wire(args(agent, at_least))]
#[derive(Default)]
pub struct RecallArgs {
    /// The question, or what it is about.
    #[serde(alias = "query")]
    pub question: String,
    /// Only this project, by its id or `current`. Without it, yours comes first.
    pub project: Option<String>,
    /// Maximum number of sources.
    #[schema(extend("default" = 5, "minimum" = 1, "maximum" = 20))]
    #[serde(alias = "max_results")]
    pub limit: Option<u64>,
}

/// Something that is known, in the words of its source.
#[wire]
pub struct RecalledItem {
    /// What the source says: its best sentences, if it is long.
    pub text: String,
    /// The kind of the source.
    pub kind: Kind,
    /// What it is, if it was recorded to be remembered.
    pub remembered: Option<RememberedKind>,
    /// The source: a message, `step N`, a part of a document, a context file or a checkpoint.
    pub source: String,
    /// Path of the document.
    pub file_path: Option<String>,
    /// Its session.
    pub session: Option<SessionId>,
    /// Its author.
    pub agent: Option<String>,
    /// Time of recording or of the file's last change, RFC 3339.
    pub at: String,
    /// How often a source with such matches was right on test collections, from 0 to 1.
    pub score: f64,
    /// True for what is not of the caller's project.
    pub elsewhere: Option<bool>,
    /// Whose words it is.
    pub origin: Option<Origin>,
    /// Earlier statements among the sources that it replaces, and that are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<RecalledVersion>,
    /// Statements of others among the sources that contradict it; neither is settled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disputed_with: Vec<RecalledVersion>,
    /// The event that recorded it.
    pub position: Position,
}

/// Another statement about the same.
#[wire]
pub struct RecalledVersion {
    /// What it says.
    pub text: String,
    /// Its author.
    pub agent: Option<String>,
    /// Time of recording, RFC 3339.
    pub at: String,
    /// The event that recorded it.
    pub position: Position,
}

/// Reply of `recall`.
#[wire(reply(
    position = "Position of the last event that was searched.",
    durable,
    warnings
))]
pub struct RecallReply {
    /// What is known, the caller's project and the best first.
    pub known: Vec<RecalledItem>,
    /// The reason if nothing is known.
    pub reason: Option<String>,
}
