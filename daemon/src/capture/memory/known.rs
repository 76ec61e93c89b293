//! Sentences that hold for longer than their turn.

use lored_moments::{DurableKind, DurableSentence, Speaker};
use lored_suspicion::Origin;

use crate::clock::Micros;
use crate::events::messages::{MessageMeta, RememberedKind, Sender};
use crate::events::trust::Judgement;
use crate::log::{EventScope, Header, Position};
use crate::state::State;
use crate::store::Error;
use crate::trust;

/// Memory of a sentence beside its text, in bytes.
const OWN_BYTES: usize = 200;

/// A sentence that holds for longer than its turn.
#[derive(Clone, Debug)]
pub struct KnownSentence {
    /// Position of its message.
    pub position: Position,
    /// ID of its message.
    pub message: String,
    /// Time of the message.
    pub at: Micros,
    /// The agent to which or by which it was said.
    pub agent: String,
    /// Who said it.
    pub speaker: Speaker,
    /// The turn in which it was said.
    pub turn: u32,
    /// The sentence.
    pub sentence: DurableSentence,
    /// Whether it was recorded to be remembered in the project.
    pub is_remembered: bool,
    /// Positions of the statements that it replaces, as it was recorded.
    pub replaces: Vec<u64>,
    /// Whether a person accepted it.
    pub is_accepted: bool,
}

impl KnownSentence {
    /// Returns what a message says that was recorded to be remembered.
    pub(super) fn remembered(
        header: &Header,
        said: &MessageMeta,
        (text, replaces): (&str, Vec<u64>),
        turn: u32,
    ) -> Self {
        let kind = match said.remembered {
            Some(RememberedKind::Decision) => DurableKind::Decision,
            Some(RememberedKind::Preference) => DurableKind::Preference,
            Some(RememberedKind::Fact) | None => DurableKind::Fact,
        };
        Self {
            position: header.position,
            message: said.id.clone(),
            at: header.happened_at(),
            agent: header.actor.agent.clone(),
            speaker: match said.sender {
                Sender::User => Speaker::User,
                _ => Speaker::Agent,
            },
            turn,
            sentence: DurableSentence::remembered(text, kind),
            is_remembered: true,
            replaces,
            is_accepted: false,
        }
    }

    /// Notes whether a person accepted it.
    pub(super) fn judged(self, state: &State, session: &str) -> Result<Self, Error> {
        let scope = EventScope::Session(session);
        let judgement = trust::judgement(state, scope, self.position)?;
        Ok(Self {
            is_accepted: judgement == Judgement::Accepted,
            ..self
        })
    }

    /// Whether it is given to no model, because it gives orders to one or a person has rejected it.
    pub(super) fn is_left_out(&self, state: &State, session: &str) -> Result<bool, Error> {
        let origin = match self.speaker {
            Speaker::User => Origin::User,
            Speaker::Agent => Origin::Agent,
        };
        let place = (EventScope::Session(session), self.position);
        trust::is_left_out(state, place, &self.sentence.text, origin)
    }

    /// Returns its size in memory, in bytes.
    pub(super) fn bytes(&self) -> usize {
        OWN_BYTES + self.sentence.text.len()
    }
}
