//! Wire types of the review of suspicious texts.

use lore_wire::wire;

use super::search::Origin;
use super::{Position, SessionId};

/// What a person says about a text.
#[wire]
pub enum Judgement {
    /// It may be given to models, whatever the rules say.
    Accepted,
    /// It is given to no model.
    Rejected,
    /// The rules decide again.
    Open,
}

/// Arguments of `list_suspects`.
#[wire(args(agent, at_least))]
#[derive(Default)]
pub struct ListSuspectsArgs {
    /// Only of this project, by its id or `current`; default: all, and all documents.
    pub project: Option<String>,
    /// Also what a person has accepted or rejected.
    pub include_reviewed: Option<bool>,
    /// Maximum number, the newest first.
    #[schema(extend("default" = 50, "minimum" = 1, "maximum" = 500))]
    pub limit: Option<u64>,
}

/// A text that gives orders to a model, claims an identity or rewrites facts, or that a person has judged.
#[wire]
pub struct Suspect {
    /// Position of its event, for `review`.
    pub position: Position,
    /// What it does, such as `override`, `identity`, `rewrite`, `exfiltration`, `tools`, `secrecy`, `concealment` or
    /// `encoding`. Empty for a text that a person has rejected and that the rules find harmless.
    pub suspicions: Vec<String>,
    /// What a person says.
    pub judgement: Judgement,
    /// Whose words it is.
    pub origin: Origin,
    /// Its message, step, document or context file.
    pub source: String,
    /// Its session.
    pub session: Option<SessionId>,
    /// Its author.
    pub agent: Option<String>,
    /// Path of the document.
    pub file_path: Option<String>,
    /// Time of recording, RFC 3339.
    pub at: String,
    /// The suspicious place, with what is around it.
    pub excerpt: String,
}

/// Reply of `list_suspects`.
#[wire(reply(
    position = "Position of the last event that it knows.",
    durable,
    warnings
))]
pub struct ListSuspectsReply {
    /// The texts, the newest first.
    pub suspects: Vec<Suspect>,
    /// Number of further ones.
    pub more: u64,
}

/// Arguments of `review`.
#[wire(args(agent))]
pub struct ReviewArgs {
    /// Position of the event with the text.
    pub event: Position,
    /// What is said about it.
    pub judgement: Judgement,
}

/// Reply of `review`.
#[wire(reply(position, durable, warnings))]
pub struct ReviewReply {
    /// Position of the event with the text.
    pub event: Position,
    /// What is said about it from now on.
    pub judgement: Judgement,
}
