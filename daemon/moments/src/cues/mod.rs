//! Cues: phrases by which a sentence shows that it holds for longer than its turn.

mod chinese;
mod english;
mod french;
mod german;
mod pattern;
mod shape;
mod spanish;

use crate::durable::{DurableKind, Speaker};
use crate::text::language::Language;
use crate::text::tokens::Token;

pub use pattern::Cues;
pub use shape::{is_ban, is_declarative, is_state, is_universal};

/// Who has to say a phrase for it to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Anyone.
    Anyone,
    /// The user: what an agent says so describes code.
    User,
    /// An agent.
    Agent,
}

impl By {
    const fn includes(self, speaker: Speaker) -> bool {
        match self {
            Self::Anyone => true,
            Self::User => matches!(speaker, Speaker::User),
            Self::Agent => matches!(speaker, Speaker::Agent),
        }
    }
}

/// What the cues of a sentence add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CueSum {
    /// Sum of the weights; negative ones are hedges, plans and reports.
    pub weight: f32,
    /// The kind that the heaviest cue shows.
    pub kind: Option<DurableKind>,
}

/// Adds up the cues of a sentence: for each kind only the heaviest, because phrases of one kind overlap.
#[must_use]
pub fn sum(sentence: &str, tokens: &[Token], language: Language, speaker: Speaker) -> CueSum {
    let cues = match language {
        Language::English => english::cues(),
        Language::German => german::cues(),
        Language::French => french::cues(),
        Language::Spanish => spanish::cues(),
        Language::Chinese => return chinese::sum(sentence, speaker),
    };
    cues.sum(tokens, speaker)
}
