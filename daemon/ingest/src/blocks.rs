//! The blocks of a text by kind. A text may have a block for each line, so blocks are stored compactly.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Kind of a block, which decides how it may be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// A heading's own line; stays with the text after it.
    Heading,
    /// Sentences.
    Prose,
    /// A list: cut between its items.
    List,
    /// Independent lines, such as a table's rows or data: cut between them.
    Rows,
    /// Source code: cut between blocks and functions.
    Code,
}

/// Kinds by code.
const SORTS: [BlockKind; 5] = [
    BlockKind::Heading,
    BlockKind::Prose,
    BlockKind::List,
    BlockKind::Rows,
    BlockKind::Code,
];
/// Bits of a kind's code.
const SORT_BITS: u32 = 3;
/// Payload bits of a byte; the highest bit marks that more bytes follow.
const BYTE_BITS: u32 = 7;
const MORE: u8 = 1 << BYTE_BITS;

/// A range of the text with one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Kind of the block.
    pub sort: BlockKind,
    /// Byte range in the text.
    pub range: Range<usize>,
}

/// Blocks in insertion order. Each is two numbers: its distance from the end of the previous block, combined with
/// its kind, and its length. Most blocks take two bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocks {
    packed: Vec<u8>,
    /// End of the last block.
    end: usize,
}

impl Blocks {
    /// Appends a block.
    pub fn push(&mut self, block: Block) {
        let Block { sort, range } = block;
        let (ahead, back) = (
            range.start.saturating_sub(self.end) as u64,
            self.end.saturating_sub(range.start) as u64,
        );
        // Backward steps are odd numbers, as in zigzag encoding.
        let step = (ahead << 1) | (back << 1).saturating_sub(1);
        self.number((step << SORT_BITS) | sort as u64);
        self.number(range.len() as u64);
        self.end = range.start + range.len();
    }

    /// Iterates over the blocks, in order.
    pub fn iter(&self) -> Iter<'_> {
        Iter {
            packed: self.packed.iter(),
            end: 0,
        }
    }

    fn number(&mut self, mut number: u64) {
        while number >= u64::from(MORE) {
            self.packed.push(number as u8 | MORE);
            number >>= BYTE_BITS;
        }
        self.packed.push(number as u8);
    }
}

impl FromIterator<Block> for Blocks {
    fn from_iter<I: IntoIterator<Item = Block>>(blocks: I) -> Self {
        let mut all = Self::default();
        blocks.into_iter().for_each(|block| all.push(block));
        all
    }
}

impl<'b> IntoIterator for &'b Blocks {
    type Item = Block;
    type IntoIter = Iter<'b>;

    fn into_iter(self) -> Iter<'b> {
        self.iter()
    }
}

/// Iterator over blocks.
#[derive(Debug, Clone)]
pub struct Iter<'b> {
    packed: std::slice::Iter<'b, u8>,
    /// End of the previous block.
    end: usize,
}

impl Iter<'_> {
    fn number(&mut self) -> Option<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = *self.packed.next()?;
            number |= u64::from(byte & !MORE).checked_shl(shift)?;
            if byte & MORE == 0 {
                return Some(number);
            }
            shift += BYTE_BITS;
        }
    }
}

impl Iterator for Iter<'_> {
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
        let first = self.number()?;
        let length = usize::try_from(self.number()?).ok()?;
        let sort = *SORTS.get((first & ((1 << SORT_BITS) - 1)) as usize)?;
        let step = first >> SORT_BITS;
        let far = usize::try_from(step.div_ceil(2)).ok()?;
        let start = match step & 1 {
            0 => self.end.checked_add(far)?,
            _ => self.end.checked_sub(far)?,
        };
        self.end = start + length;
        Some(Block {
            sort,
            range: start..self.end,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Blocks are decoded unchanged, in any order.
        #[test]
        fn blocks_are_kept(put in prop::collection::vec((0..5_usize, 0..1_usize << 40, 0..1_usize << 30), 0..50)) {
            let blocks: Vec<Block> = put
                .into_iter()
                .filter_map(|(sort, start, length)| {
                    let sort = SORTS.get(sort).copied()?;
                    Some(Block { sort, range: start..start + length })
                })
                .collect();
            let packed: Blocks = blocks.iter().cloned().collect();
            prop_assert_eq!(packed.iter().collect::<Vec<_>>(), blocks);
        }
    }

    /// A block for each line takes fewer bytes than the line.
    #[test]
    fn blocks_are_small() {
        let lines = (0..1000).map(|line| Block {
            sort: BlockKind::Prose,
            range: line * 4..line * 4 + 3,
        });
        assert_eq!(lines.collect::<Blocks>().packed.len(), 2000);
    }
}
