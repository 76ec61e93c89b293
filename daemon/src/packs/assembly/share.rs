//! Limits the share of the budget for context-file passages, so that they do not crowd out the history.

use super::fit::TEXT_TOKENS_LEAST;
use super::pieces::{RenderedPiece, TextPiece};
use crate::tokens::Tokens;

/// Divisor of the budget: passages get at most 1/4 of the tokens.
const SHARE: usize = 4;

/// Passages within their share of the budget.
pub struct Shared {
    /// Tokens of the section at most, including its label.
    pub most: usize,
    pieces: Vec<(TextPiece, usize)>,
}

impl Shared {
    /// Allots the share to the passages, the most relevant first; a passage that does not fit is cut. The first passage
    /// that would be cut too short ends the list.
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

    /// Returns the tokens of each passage.
    pub fn sizes(&self) -> Vec<usize> {
        self.pieces.iter().map(|(_, given)| *given).collect()
    }

    /// Returns the number of passages within the share.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Renders the passages with at most `text_max` tokens each.
    pub fn render(&self, text_max: usize, tokens: &Tokens) -> impl Iterator<Item = RenderedPiece> {
        let pieces = self.pieces.iter();
        pieces.map(move |(piece, given)| piece.within(tokens, text_max.min(*given)))
    }

    /// Returns whether the share, not the budget, cuts a passage.
    pub fn is_cut(&self, at: usize, text_max: usize) -> bool {
        let piece = self.pieces.get(at);
        piece.is_some_and(|(piece, given)| *given < piece.tokens && *given <= text_max)
    }
}
