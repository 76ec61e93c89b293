//! The types of a finished context pack.

use super::inputs::Source;

/// A finished context pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltPack {
    /// The prompt: the sections' texts joined by [`super::labels::BETWEEN`].
    pub prompt: String,
    /// Size of the prompt, in tokens.
    pub tokens: usize,
    /// The included sections, in order.
    pub sections: Vec<Section>,
    /// The relevant pieces that are not included.
    pub left_out: Vec<Omission>,
}

/// One section of a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The section's name.
    pub name: SectionName,
    /// The rendered text.
    pub text: String,
    /// Tokens of the text and of the blank line after it; the sections add up to the prompt's tokens.
    pub tokens: usize,
    /// The sources of its pieces, in order.
    pub sources: Vec<Source>,
}

/// The sections, in pack order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SectionName {
    /// Earlier messages and tool results.
    History,
    /// Relevant entities.
    Entities,
    /// Values that are referenced by name.
    Values,
    /// Passages of context files.
    ContextFiles,
    /// The session's topic.
    Topic,
    /// The message or the task.
    Message,
    /// The closing instruction.
    Instruction,
}

impl SectionName {
    /// Returns the name that events use.
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

    /// Returns the section with this name.
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

/// A piece, or a part of one, that is not in the pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omission {
    /// The source of the piece.
    pub source: Source,
    /// The omitted part.
    pub part: OmittedPart,
    /// The reason.
    pub why: OmissionReason,
}

/// The part of a piece that was omitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OmittedPart {
    /// The whole piece.
    Whole,
    /// This many bytes of its text.
    Bytes(u64),
    /// The details line of an entity.
    Details,
    /// The relations line of an entity.
    Relations,
}

/// The reason for an omission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OmissionReason {
    /// The piece does not fit into the budget.
    Budget,
    /// The pack already has the same content, for example as the message itself.
    Duplicate,
    /// A pruning removed it from the working set.
    Pruned,
    /// It only repeats text of an earlier pack.
    Quoted,
    /// Its kind has used up its share of the budget.
    Share,
}

/// The budget is too small for the message and the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetTooSmall {
    /// The smallest sufficient budget, in tokens.
    pub least: usize,
}
