//! Pack citations: text from a context pack that is recorded again is recognised and not counted as new.
//!
//! This module has no events. The hashes come from the events of packs; the modules that record text look them up.

mod pieces;
mod view;

pub use pieces::{PIECE_BYTES, PieceHash, STRIDE, outside, pieces, quoted_spans, whole};
pub use view::{CitedPieces, KEPT_PACKS, PackOwner, SPACE, forget, remember};
