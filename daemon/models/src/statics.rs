//! Static embeddings: the vector of a text is the mean of its word pieces' rows.

use super::weights::{Matrix, Weights};
use super::{MAX_DIMENSION, ModelError, STATIC_PIECES, WordPiece, normalise};

/// Name of the embedding matrix.
pub(super) const ROWS: &str = "embeddings";

/// A matrix with one row for each word piece.
pub(super) struct Statics {
    rows: Matrix,
}

impl Statics {
    pub fn new(weights: &Weights, tokenizer: &WordPiece) -> Result<Self, ModelError> {
        let (rows, width) = weights.shape(ROWS)?;
        if rows != tokenizer.size() || width == 0 || width > MAX_DIMENSION {
            let size = tokenizer.size();
            return Err(ModelError::weights(format!(
                "{ROWS} is {rows} x {width}; the vocabulary has {size} pieces"
            )));
        }
        Ok(Self {
            rows: weights.matrix(ROWS, rows, width)?,
        })
    }

    pub fn dimension(&self) -> usize {
        self.rows.width
    }

    /// Embeds a text; unknown pieces are ignored.
    pub fn embed(&self, tokenizer: &WordPiece, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0; self.dimension()];
        for piece in tokenizer.pieces(text, STATIC_PIECES) {
            if piece != tokenizer.unknown() {
                self.rows.add_row(piece as usize, &mut sum);
            }
        }
        normalise(&mut sum);
        sum
    }
}
