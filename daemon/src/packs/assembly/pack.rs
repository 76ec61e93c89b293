//! The types of a finished context pack.

use std::ops::Range;

use lore::protocol::names::{Part, SectionName, WhyLeftOut};

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
    pub name: SectionName,
    pub text: String,
    /// Tokens of the text and of the blank line after it; the sections add up to the prompt's tokens.
    pub tokens: usize,
    /// The sources of its pieces, in order.
    pub sources: Vec<Source>,
    /// The ranges of these pieces in the text, in bytes.
    pub ranges: Vec<Range<usize>>,
}

/// A piece, or a part of one, that is not in the pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omission {
    pub source: Source,
    pub part: Part,
    /// Number of omitted bytes of a text.
    pub bytes: Option<u64>,
    pub why: WhyLeftOut,
}

impl Omission {
    /// Omits a part other than text.
    pub fn of(source: &Source, part: Part, why: WhyLeftOut) -> Self {
        Self {
            source: source.clone(),
            part,
            bytes: None,
            why,
        }
    }

    /// Omits this many bytes of a text.
    pub fn of_text(source: &Source, bytes: u64, why: WhyLeftOut) -> Self {
        Self {
            bytes: Some(bytes),
            ..Self::of(source, Part::Text, why)
        }
    }
}

/// The budget is too small for the message and the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetTooSmall {
    /// The smallest sufficient budget, in tokens.
    pub least: usize,
}
