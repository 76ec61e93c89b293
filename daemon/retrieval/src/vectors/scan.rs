//! Vector search: scans all rows that pass the filter, piece by piece.

use super::quantized::Query;
use super::segment::{Block, Segment};
use super::store::{parts, row};
use super::{MAX_HITS, VectorError, VectorStore};
use crate::top_hits::{Hit, ScoredHit, TopHits};

/// Number of bytes read at once, if as many remain: larger than a block, smaller than the CPU cache.
const PIECE: usize = 512 << 10;
/// Number of additional candidates scored again in f32: far more than rounding the query can displace.
const SPARE: usize = 100;

impl VectorStore {
    /// Returns the `limit` rows nearest to a query by cosine, among the keys that `wanted` accepts. The best is first;
    /// ties go to the lower key.
    ///
    /// Scores use the original query and the stored rows: exact except for the rows' rounding. `wanted` is called once
    /// for each key, before its row is scored.
    pub fn search(
        &self,
        query: &[f32],
        limit: usize,
        wanted: impl Fn(u64) -> bool,
    ) -> Result<Vec<Hit>, VectorError> {
        let dimension = self.generation.dimension;
        let query = self.query(query)?;
        let limit = limit.min(MAX_HITS);
        let mut best = TopHits::new(if limit == 0 { 0 } else { limit + SPARE });
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

    /// Returns the cosines of keys with a query, in the order of `keys`, scored as by [`VectorStore::search`]. Keys
    /// without a vector are omitted.
    pub fn scores(&self, query: &[f32], keys: &[u64]) -> Result<Vec<Hit>, VectorError> {
        let query = self.query(query)?;
        let mut bytes = vec![0; self.generation.dimension];
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

    /// Quantizes a query of the store's dimension.
    fn query<'q>(&self, query: &'q [f32]) -> Result<Query<'q>, VectorError> {
        let (found, wanted) = (query.len(), self.generation.dimension);
        match found == wanted {
            true => Ok(Query::new(query)),
            false => Err(VectorError::Dimension { found, wanted }),
        }
    }

    /// Returns the stored vector of a key, if any.
    pub fn vector(&self, key: u64) -> Result<Option<Vec<f32>>, VectorError> {
        let Some(row) = self.find(key) else {
            return Ok(None);
        };
        let mut bytes = vec![0; self.generation.dimension];
        let scale = self.read_row(row, &mut bytes)?;
        let numbers = bytes.into_iter().map(|byte| f32::from(byte.cast_signed()));
        Ok(Some(numbers.map(|number| number * scale).collect()))
    }

    fn score_exactly(
        &self,
        query: &Query<'_>,
        best: TopHits<u32>,
        limit: usize,
    ) -> Result<Vec<Hit>, VectorError> {
        let mut bytes = vec![0; self.generation.dimension];
        let mut exact = TopHits::new(limit);
        for (Hit { key, .. }, row) in best.into_hits() {
            let score = self.read_row(row, &mut bytes)? * query.exact(&bytes);
            let data = ();
            exact.offer(ScoredHit { score, key, data });
        }
        Ok(exact.into_hits().map(|(hit, ())| hit).collect())
    }

    /// Reads a row's numbers into `bytes` and returns its scale.
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

/// Groups consecutive blocks into pieces of about [`PIECE`] bytes.
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

/// The scan of one segment.
struct Scan<'a> {
    number: usize,
    segment: &'a Segment,
    dimension: usize,
    query: &'a Query<'a>,
    best: &'a mut TopHits<u32>,
    /// Numbers of the selected rows in the current piece; reused to avoid allocations.
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
                self.best.offer(ScoredHit {
                    score: self.query.near(numbers) * scale,
                    key: *key,
                    data: row(self.number, within),
                });
            }
        }
        Ok(())
    }
}
