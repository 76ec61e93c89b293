//! The `json` extractor: whole top-level objects and arrays, with their nesting.

use crate::steps::parse::{Block, ParsedResult};
use std::collections::HashSet;

/// Finds the objects and arrays of a result, in order. Equal texts count once.
pub(super) fn find(parsed: &ParsedResult) -> Vec<Block> {
    let flat = parsed.nodes().flat();
    let mut seen = HashSet::new();
    let blocks = parsed
        .documents()
        .iter()
        .flat_map(|document| &document.blocks);
    blocks
        .filter(|block| seen.insert(flat.get(block.span)))
        .copied()
        .collect()
}
