//! Vector search: scans all rows that pass the filter, piece by piece.

use std::cell::Cell;
use std::ops::RangeInclusive;

use super::quantized::Query;
use super::segment::{Block, Segment};
use super::sketch::{SketchedQuery, Sketches};
use super::store::{parts, row};
use super::{MAX_HITS, VectorError, VectorStore};
use crate::top_hits::{Hit, ScoredHit, TopHits};

/// Number of bytes read at once, if as many remain: larger than a block, smaller than the CPU cache.
const PIECE: usize = 512 << 10;
/// Number of additional candidates scored again in f32: far more than rounding the query can displace.
const SPARE: usize = 100;
/// Of more rows than these, sketches are compared first: reading all of them would take longer.
const SKETCHED_MIN: usize = 8192;
/// Rows that are read after their sketches were compared, in addition to as many as there are hits: this many for each hit,
/// within bounds.
const SPARE_FOR_EACH: usize = 3;
const SKETCHED_SPARE: RangeInclusive<usize> = 200..=2000;
/// A row is not read if its estimate is so far below the lowest cosine that is wanted: four times the estimate's standard
/// error in 256 dimensions.
const MARGIN: f32 = 0.2;
/// Rows whose estimates are compared with the lowest that is wanted at once.
const TOGETHER: usize = 16;
/// Near rows that are counted one by one, and of how many others one stands for all.
const COUNTED_FIRST: usize = 1024;
const COUNTED_EACH: usize = 8;
/// Rows are read together if at most this many bytes lie between their beginnings, and at most [`PIECE`] bytes at once.
const APART_MAX: u64 = 4096;

impl VectorStore {
    /// Returns the `limit` rows nearest to a query by cosine, among the keys that `wanted` accepts. The best is first;
    /// ties go to the lower key.
    ///
    /// Scores use the original query and the stored rows: exact except for the rows' rounding. Of more than
    /// [`SKETCHED_MIN`] rows, the best are found by their sketches, so a row at the end of the list may be missed.
    /// `wanted` is called once for each key, before its row is scored.
    pub fn search(
        &self,
        query: &[f32],
        limit: usize,
        wanted: impl Fn(u64) -> bool,
    ) -> Result<Vec<Hit>, VectorError> {
        self.search_near(query, limit, f32::NEG_INFINITY, wanted)
    }

    /// Like [`VectorStore::search`], without rows whose cosine is below `lowest`.
    pub fn search_near(
        &self,
        query: &[f32],
        limit: usize,
        lowest: f32,
        wanted: impl Fn(u64) -> bool,
    ) -> Result<Vec<Hit>, VectorError> {
        let exact = self.query(query)?;
        let limit = limit.min(MAX_HITS);
        let mut hits = if limit > 0 && self.len() > SKETCHED_MIN {
            let sketched = SketchedQuery::new(query);
            let mut best = TopHits::new(limit + spare(limit));
            // Most rows are too far away: looking up whether they are wanted takes longer than the estimate.
            let least = Cell::new(lowest - MARGIN);
            self.each_estimate(&sketched, &least, |score, key, row| {
                if wanted(key) {
                    best.offer(ScoredHit {
                        score,
                        key,
                        data: row,
                    });
                    least.set(best.worst().max(lowest - MARGIN));
                }
            })?;
            self.score_read(&exact, best, limit)?
        } else {
            self.scan_rows(&exact, limit, wanted)?
        };
        hits.retain(|hit| !is_below(hit.score, lowest));
        Ok(hits)
    }

    /// Compares all rows with the query, as they are stored.
    fn scan_rows(
        &self,
        query: &Query<'_>,
        limit: usize,
        wanted: impl Fn(u64) -> bool,
    ) -> Result<Vec<Hit>, VectorError> {
        let dimension = self.generation.dimension;
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
                query,
                best: &mut best,
                rows: Vec::new(),
            };
            for blocks in pieces(&segment.blocks, dimension) {
                scan.piece(blocks, &wanted, &mut bytes)?;
            }
        }
        self.score_exactly(query, best, limit)
    }

    /// Returns the number of rows whose cosine is at least `lowest`, among the keys that `wanted` accepts, but at most
    /// [`MAX_HITS`]. Many rows are counted by their sketches, and of those beyond the first ones one in
    /// [`COUNTED_EACH`] stands for all, so their number is an estimate.
    pub fn count_near(
        &self,
        query: &[f32],
        lowest: f32,
        wanted: impl Fn(u64) -> bool,
    ) -> Result<usize, VectorError> {
        if self.len() <= SKETCHED_MIN {
            let hits = self.search_near(query, MAX_HITS, lowest, wanted)?;
            return Ok(hits.len());
        }
        let sketched = SketchedQuery::new(query);
        let (mut near, mut count) = (0_usize, 0);
        self.each_estimate(&sketched, &Cell::new(lowest), |_, key, _| {
            near += 1;
            let weight = match near {
                ..=COUNTED_FIRST => 1,
                _ if near.is_multiple_of(COUNTED_EACH) => COUNTED_EACH,
                _ => return,
            };
            count += if wanted(key) { weight } else { 0 };
        })?;
        Ok(count.min(MAX_HITS))
    }

    /// Like [`VectorStore::search_near`], among these keys. Keys without a vector are omitted.
    pub fn search_keys(
        &self,
        query: &[f32],
        limit: usize,
        lowest: f32,
        keys: impl Iterator<Item = u64>,
    ) -> Result<Vec<Hit>, VectorError> {
        let exact = self.query(query)?;
        let limit = limit.min(MAX_HITS);
        // Rows are verified when they are sketched.
        for segment in &self.segments {
            self.sketch(segment)?;
        }
        let sketched = SketchedQuery::new(query);
        let read_max = if limit == 0 { 0 } else { limit + spare(limit) };
        let mut best = TopHits::new(read_max);
        for (key, row) in keys.filter_map(|key| Some((key, self.find(key)?))) {
            let (number, within) = parts(row);
            let segment = self.segments.get(number);
            let Some((block, within)) = segment.and_then(|segment| segment.block_of(within)) else {
                continue;
            };
            let estimate = block
                .sketches
                .get()
                .and_then(|sketches| sketches.estimate(within, &sketched));
            best.offer(ScoredHit {
                score: estimate.unwrap_or_default(),
                key,
                data: row,
            });
        }
        let mut hits = self.score_read(&exact, best, limit)?;
        hits.retain(|hit| !is_below(hit.score, lowest));
        Ok(hits)
    }

    /// Calls a function with the estimated score, the key and the number of each row whose estimate is at least `least`,
    /// which the function may raise.
    fn each_estimate(
        &self,
        query: &SketchedQuery,
        least: &Cell<f32>,
        mut each: impl FnMut(f32, u64, u32),
    ) -> Result<(), VectorError> {
        let mut scores = Vec::new();
        for (number, segment) in (0..).zip(&self.segments) {
            if segment.live == 0 {
                continue;
            }
            self.sketch(segment)?;
            for block in &segment.blocks {
                let rows = block.first..block.first + block.count;
                let (Some(sketches), Some(keys), Some(dead)) = (
                    block.sketches.get(),
                    segment.keys.get(rows.clone()),
                    segment.dead.get(rows.clone()),
                ) else {
                    continue;
                };
                sketches.estimates(query, &mut scores);
                for (first, some) in rows.step_by(TOGETHER).zip(scores.chunks(TOGETHER)) {
                    let bar = least.get();
                    // Without a branch for each of them; nearly always none is near.
                    if !some.iter().fold(false, |any, score| any | (*score >= bar)) {
                        continue;
                    }
                    let among = first - block.first..;
                    let (Some(keys), Some(dead)) = (keys.get(among.clone()), dead.get(among))
                    else {
                        continue;
                    };
                    let some = (first..).zip(some).zip(keys.iter().zip(dead));
                    for ((within, score), (key, dead)) in some {
                        if *score >= least.get() && !*dead {
                            each(*score, *key, row(number, within));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Sketches the blocks that have no sketches, piece by piece.
    fn sketch(&self, segment: &Segment) -> Result<(), VectorError> {
        let dimension = self.generation.dimension;
        let mut bytes = Vec::new();
        let lacks = |block: &Block| block.sketches.get().is_none();
        for blocks in segment
            .blocks
            .chunk_by(|one, next| lacks(one) == lacks(next))
        {
            if !blocks.first().is_some_and(lacks) {
                continue;
            }
            for blocks in pieces(blocks, dimension) {
                segment.read_blocks(blocks, &mut bytes, |block, rows| {
                    let scales = segment.scales.get(block.first..block.first + block.count);
                    let sketches = Sketches::new(rows, scales.unwrap_or_default(), dimension);
                    // Two searches make the same ones.
                    let _ = block.sketches.set(sketches);
                })?;
            }
        }
        Ok(())
    }

    /// Reads the rows of candidates in the order of the files, and returns the best.
    fn score_read(
        &self,
        query: &Query<'_>,
        candidates: TopHits<u32>,
        limit: usize,
    ) -> Result<Vec<Hit>, VectorError> {
        let dimension = self.generation.dimension as u64;
        let found = candidates.into_hits().filter_map(|(Hit { key, .. }, row)| {
            let (number, within) = parts(row);
            let segment = self.segments.get(number)?;
            let scale = *segment.scales.get(within)?;
            Some((number, segment.place(within)?, scale, key))
        });
        let mut found: Vec<(usize, u64, f32, u64)> = found.collect();
        found.sort_unstable_by_key(|(number, place, ..)| (*number, *place));
        let (mut bytes, mut rest) = (Vec::new(), found.as_slice());
        let mut best = TopHits::new(limit);
        while let Some((number, from, ..)) = rest.first() {
            let nexts = rest.iter().zip(rest.iter().skip(1));
            let together = nexts.take_while(|(one, next)| {
                let (is_same, length) =
                    (next.0 == *number, next.1.saturating_sub(*from) + dimension);
                is_same && length <= PIECE as u64 && next.1 - one.1 <= APART_MAX
            });
            let (run, after) = rest.split_at(1 + together.count());
            rest = after;
            let last = run.last().map_or(*from, |(_, place, ..)| *place);
            let Some(segment) = self.segments.get(*number) else {
                continue;
            };
            let length = last - from + dimension;
            bytes.resize(usize::try_from(length).unwrap_or(0), 0);
            segment.read(&mut bytes, *from)?;
            for (_, place, scale, key) in run {
                let start = usize::try_from(place - from).unwrap_or(usize::MAX);
                let numbers = bytes
                    .get(start..)
                    .and_then(|bytes| bytes.get(..self.generation.dimension));
                best.offer(ScoredHit {
                    score: scale * query.exact(numbers.unwrap_or_default()),
                    key: *key,
                    data: (),
                });
            }
        }
        Ok(best.into_hits().map(|(hit, ())| hit).collect())
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

/// Returns whether a score is below a limit. One that is not a number is not.
fn is_below(score: f32, limit: f32) -> bool {
    score < limit
}

/// Returns how many rows more than hits are read after their sketches were compared.
fn spare(limit: usize) -> usize {
    (limit * SPARE_FOR_EACH).clamp(*SKETCHED_SPARE.start(), *SKETCHED_SPARE.end())
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
        let mut rows = self.rows.iter().copied().peekable();
        segment.read_blocks(blocks, bytes, |block, numbers| {
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
        })
    }
}
