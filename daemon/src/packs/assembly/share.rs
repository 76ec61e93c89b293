//! What passages of context files may have of a budget, so that they never crowd out what was said.

use super::fit::TEXT_TOKENS_LEAST;
use super::pieces::{RenderedPiece, TextPiece};
use crate::tokens::Tokens;

/// Passages have one in so many tokens of the budget at most.
const SHARE: usize = 4;

/// Passages within their share of the budget.
pub struct Shared {
    /// Tokens that the section may have, its label included.
    pub most: usize,
    pieces: Vec<(TextPiece, usize)>,
}

impl Shared {
    /// Gives each passage, the most relevant first, what the ones before it leave, cut if need be; the
    /// first that would be cut too short is not among them, and none behind it.
    pub fn of(pieces: impl Iterator<Item = TextPiece>, label: usize, max_tokens: usize) -> Self {
        let most = max_tokens / SHARE;
        let mut room = most.saturating_sub(label);
        let within = pieces.map_while(|piece| {
            let given = piece.tokens.min(room);
            if given < piece.tokens.min(TEXT_TOKENS_LEAST) {
                return None;
            }
            room -= given;
            Some((piece, given))
        });
        Self {
            most,
            pieces: within.collect(),
        }
    }

    /// Tokens of each passage.
    pub fn sizes(&self) -> Vec<usize> {
        self.pieces.iter().map(|(_, given)| *given).collect()
    }

    /// How many passages are within the share.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// The passages as they are shown, when no text has more tokens than these.
    pub fn render(&self, text_max: usize, tokens: &Tokens) -> impl Iterator<Item = RenderedPiece> {
        let pieces = self.pieces.iter();
        pieces.map(move |(piece, given)| piece.within(tokens, text_max.min(*given)))
    }

    /// Whether a passage is cut by the share, not by the budget.
    pub fn is_cut(&self, at: usize, text_max: usize) -> bool {
        let piece = self.pieces.get(at);
        piece.is_some_and(|(piece, given)| *given < piece.tokens && *given <= text_max)
    }
}
