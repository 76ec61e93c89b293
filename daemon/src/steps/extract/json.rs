//! The `json` extractor: whole top-level objects and arrays, nesting kept.

use crate::steps::parse::{Block, ParsedResult};
use std::collections::HashSet;

/// The objects and arrays of a result, each text once, in order.
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
