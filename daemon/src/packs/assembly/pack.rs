//! What a context pack is, once it is built.

use super::inputs::Source;

/// A context pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltPack {
    /// The prompt: the sections' texts joined by [`super::labels::BETWEEN`].
    pub prompt: String,
    /// Tokens of the prompt.
    pub tokens: usize,
    /// The sections that are in it, in order.
    pub sections: Vec<Section>,
    /// What is not in it, though it belongs there.
    pub left_out: Vec<Omission>,
}

/// One section of a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Which.
    pub name: SectionName,
    /// Its text.
    pub text: String,
    /// Its tokens, with the blank line behind it; they add up to those of the prompt.
    pub tokens: usize,
    /// Where its pieces come from, in order.
    pub sources: Vec<Source>,
}

/// The sections, in the order of a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SectionName {
    /// What was said before.
    History,
    /// What it was about.
    Entities,
    /// Values that are referred to by name.
    Values,
    /// What context files say.
    ContextFiles,
    /// The session's topic.
    Topic,
    /// The message, or the task.
    Message,
    /// What to do with the rest.
    Instruction,
}

impl SectionName {
    /// Its name in events.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::History => "history",
            Self::Entities => "entities",
            Self::Values => "values",
            Self::ContextFiles => "context_files",
            Self::Topic => "topic",
            Self::Message => "message",
            Self::Instruction => "instruction",
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        let all = [
            Self::History,
            Self::Entities,
            Self::Values,
            Self::ContextFiles,
            Self::Topic,
            Self::Message,
            Self::Instruction,
        ];
        all.into_iter().find(|name| name.word() == word)
    }
}

/// Something that is not in the pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omission {
    /// Where it comes from.
    pub source: Source,
    /// Which part of it: all, or what is named.
    pub part: OmittedPart,
    /// Why.
    pub why: OmissionReason,
}

/// How much of a piece was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OmittedPart {
    /// All of it.
    Whole,
    /// So many bytes of its text.
    Bytes(u64),
    /// The line of an entity's data.
    Details,
    /// The line of an entity's relations.
    Relations,
}

/// Why something is not in the pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OmissionReason {
    /// The budget is too small for it.
    Budget,
    /// It is there in other words: the message itself, or what it repeats.
    Duplicate,
    /// The session was pruned.
    Pruned,
    /// It repeats what an earlier pack said.
    Quoted,
    /// Its kind has all that it may have of the budget.
    Share,
}

/// The budget is too small for the message and the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetTooSmall {
    /// The least budget that would do.
    pub least: usize,
}
