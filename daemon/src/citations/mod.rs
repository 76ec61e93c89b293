//! Quotes: text that came out of a context pack and is recorded again, which is recognised and not
//! counted as new.
//!
//! A small room without events of its own: the packs' events bring what is to be remembered, and
//! whoever records a text asks.

mod pieces;
mod view;

pub use pieces::{PIECE_BYTES, PieceHash, STRIDE, outside, pieces, quoted_spans, whole};
pub use view::{CitedPieces, KEPT_PACKS, PackOwner, SPACE, forget, remember};
