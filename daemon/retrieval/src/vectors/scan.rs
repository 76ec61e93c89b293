//! The search: over every row that passes the filter, read piece by piece.

use super::quantized::Query;
use super::segment::{Block, Segment};
use super::store::{parts, row};
use super::top_vectors::{Candidate, TopVectors};
use super::{Hit, MAX_HITS, VectorError, VectorStore};

/// Bytes read at once, at least as long as there are more: larger than a block, smaller than the cache.
const PIECE: usize = 512 << 10;
/// Rows looked at again in f32, beyond those asked for: far more than rounding the query could swap.
const SPARE: usize = 100;

impl VectorStore {
    /// The `limit` rows nearest to a query by cosine, among the keys that `wanted` lets through,
    /// best first; of equals, the lower key first.
    ///
    /// Scores are those of the query as given with the rows as stored: exact up to the rows' own
    /// rounding. `wanted` is asked once for each key, before anything is scored.
    ///
    /// # Errors
    /// The query has another length, rows are not what was written, or the system refuses.
    pub fn search(
        &self,
        query: &[f32],
        limit: usize,
        wanted: impl Fn(u64) -> bool,
    ) -> Result<Vec<Hit>, VectorError> {
        let dimension = self.generation.dimension;
        if query.len() != dimension {
            return Err(VectorError::Dimension {
                found: query.len(),
                wanted: dimension,
            });
        }
        let query = Query::new(query);
        let limit = limit.min(MAX_HITS);
        let mut best = TopVectors::new(if limit == 0 { 0 } else { limit + SPARE });
        let mut bytes = Vec::new();
        for (number, segment) in self
            .segments
            .iter()
            .enumerate()
            .filter(|(_, segment)| segment.live > 0)
        {
            let mut scan = Scan {
                number,
                segment,
                dimension,
                query: &query,
                best: &mut best,
                rows: Vec::new(),
            };
            for blocks in pieces(&segment.blocks, dimension) {
                scan.piece(blocks, &wanted, &mut bytes)?;
            }
        }
        self.score_exactly(&query, best, limit)
    }

    /// The cosines of these keys with a query, in their order, as [`VectorStore::search`] scores them; keys
    /// without a vector are left out.
    ///
    /// # Errors
    /// The query has another length, or the system refuses.
    pub fn scores(&self, query: &[f32], keys: &[u64]) -> Result<Vec<Hit>, VectorError> {
        let dimension = self.generation.dimension;
        if query.len() != dimension {
            return Err(VectorError::Dimension {
                found: query.len(),
                wanted: dimension,
            });
        }
        let query = Query::new(query);
        let mut bytes = vec![0; dimension];
        let mut hits = Vec::with_capacity(keys.len());
        for (key, row) in keys.iter().filter_map(|key| Some((*key, self.find(*key)?))) {
            let scale = self.read_row(row, &mut bytes)?;
            hits.push(Hit {
                key,
                score: query.exact(&bytes) * scale,
            });
        }
        Ok(hits)
    }

    /// The vector of a key as it is stored; nothing if it has none.
    ///
    /// # Errors
    /// The system refuses.
    pub fn vector(&self, key: u64) -> Result<Option<Vec<f32>>, VectorError> {
        let Some(row) = self.find(key) else {
            return Ok(None);
        };
        let mut bytes = vec![0; self.generation.dimension];
        let scale = self.read_row(row, &mut bytes)?;
        Ok(Some(
            bytes
                .iter()
                .map(|byte| f32::from(byte.cast_signed()) * scale)
                .collect(),
        ))
    }

    fn score_exactly(
        &self,
        query: &Query<'_>,
        best: TopVectors,
        limit: usize,
    ) -> Result<Vec<Hit>, VectorError> {
        let mut bytes = vec![0; self.generation.dimension];
        let mut candidates = Vec::new();
        for candidate in best.into_candidates() {
            let scale = self.read_row(candidate.row, &mut bytes)?;
            candidates.push(Candidate {
                score: query.exact(&bytes) * scale,
                ..candidate
            });
        }
        candidates.sort_unstable_by(|left, right| right.cmp(left));
        Ok(candidates
            .into_iter()
            .take(limit)
            .map(|candidate| Hit {
                key: candidate.key,
                score: candidate.score,
            })
            .collect())
    }

    /// Reads a row's numbers; returns its scale.
    fn read_row(&self, row: u32, bytes: &mut [u8]) -> Result<f32, VectorError> {
        let (number, within) = parts(row);
        let Some(segment) = self.segments.get(number) else {
            return Ok(0.0);
        };
        let (Some(offset), Some(scale)) = (segment.place(within), segment.scales.get(within))
        else {
            return Ok(0.0);
        };
        segment.read(bytes, offset)?;
        Ok(*scale)
    }
}

/// Blocks that lie one behind the other, in groups of about [`PIECE`] bytes.
fn pieces(blocks: &[Block], dimension: usize) -> impl Iterator<Item = &[Block]> {
    let mut rest = blocks;
    std::iter::from_fn(move || {
        let start = rest.first()?.offset;
        let end = |block: &Block| block.offset + (block.count * dimension) as u64;
        let count = rest
            .iter()
            .take_while(|block| end(block) - start <= PIECE as u64)
            .count()
            .max(1);
        let (piece, after) = rest.split_at_checked(count)?;
        rest = after;
        Some(piece)
    })
}

/// One segment being searched.
struct Scan<'a> {
    number: usize,
    segment: &'a Segment,
    dimension: usize,
    query: &'a Query<'a>,
    best: &'a mut TopVectors,
    /// The rows of a piece that are wanted, by their numbers; kept to save allocations.
    rows: Vec<usize>,
}

impl Scan<'_> {
    fn piece(
        &mut self,
        blocks: &[Block],
        wanted: impl Fn(u64) -> bool,
        bytes: &mut Vec<u8>,
    ) -> Result<(), VectorError> {
        let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else {
            return Ok(());
        };
        let segment = self.segment;
        let keys = segment.keys.iter().zip(&segment.dead).enumerate();
        let keys = keys
            .skip(first.first)
            .take(last.first + last.count - first.first);
        self.rows.clear();
        self.rows.extend(
            keys.filter(|(_, (key, dead))| !**dead && wanted(**key))
                .map(|(within, _)| within),
        );
        if self.rows.is_empty() {
            return Ok(());
        }
        let length = last.offset - first.offset + (last.count * self.dimension) as u64;
        bytes.resize(usize::try_from(length).unwrap_or(0), 0);
        segment.read(bytes, first.offset)?;
        let mut rows = self.rows.iter().copied().peekable();
        for block in blocks {
            let start = usize::try_from(block.offset - first.offset).unwrap_or(usize::MAX);
            let numbers = bytes
                .get(start..)
                .and_then(|bytes| bytes.get(..block.count * self.dimension))
                .unwrap_or_default();
            segment.check(block, numbers)?;
            while let Some(within) = rows.next_if(|within| *within < block.first + block.count) {
                let start = (within - block.first) * self.dimension;
                let (Some(numbers), Some(scale), Some(key)) = (
                    numbers.get(start..start + self.dimension),
                    segment.scales.get(within),
                    segment.keys.get(within),
                ) else {
                    continue;
                };
                let score = self.query.near(numbers) * scale;
                self.best.offer(Candidate {
                    score,
                    key: *key,
                    row: row(self.number, within),
                });
            }
        }
        Ok(())
    }
}
