//! Compaction: rewrites adjacent segments as one, without the deleted rows.
//!
//! It has two steps, so that searches and writes continue during the long first one. The second step applies the
//! changes made meanwhile. A kill at any moment loses nothing: the new file atomically replaces the first old one.
//! If other old files remain, they hold the same rows.

use std::collections::HashSet;
use std::fs::{self, File};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::format::MAX_BLOCK;
use super::segment::{MAX_ROWS, Segment, failed};
use super::{VectorError, VectorStore};

/// Segments with fewer live rows than this are merged with their neighbours.
const SMALL: usize = MAX_ROWS / 8;
/// File name of an unfinished segment. A leftover of a kill is overwritten.
const DRAFT: &str = "compaction.draft";

/// Rewritten segments that are not in place yet.
#[derive(Debug)]
pub struct CompactedSegments {
    segments: Range<usize>,
    /// Files of the old segments, in order.
    from: Vec<PathBuf>,
    segment: Segment,
}

impl VectorStore {
    /// Returns the segments worth rewriting, if any: with a quarter of the rows deleted, several small ones in
    /// sequence, or rows that were written one by one. The last segment is excluded, because it is being written.
    #[must_use]
    pub fn worth_compacting(&self) -> Option<Range<usize>> {
        let settled = self.segments.len().saturating_sub(1);
        let settled_segments = || self.segments.iter().take(settled).enumerate();
        if let Some((number, _)) = settled_segments().find(|(_, segment)| wasteful(segment)) {
            return Some(number..number + 1);
        }
        let small = |segment: &Segment| segment.live < SMALL;
        let first = settled_segments().find(|(number, segment)| {
            small(segment)
                && *number + 1 < settled
                && self.segments.get(number + 1).is_some_and(small)
        })?;
        let count = self
            .segments
            .iter()
            .take(settled)
            .skip(first.0)
            .take(8)
            .take_while(|segment| small(segment))
            .count();
        Some(first.0..first.0 + count)
    }

    /// Closes the current segment so that it can be compacted, if that is worthwhile.
    pub fn finish(&mut self) -> Result<(), VectorError> {
        let worth = self
            .segments
            .last()
            .is_some_and(|segment| segment.keys.len() > MAX_BLOCK && wasteful(segment));
        if worth { self.begin() } else { Ok(()) }
    }

    /// Rewrites every segment with a deleted row, so that no file holds the row any more. Takes time in proportion to
    /// the size of those segments.
    pub fn purge(&mut self) -> Result<(), VectorError> {
        let has_gone = |segment: &Segment| segment.live < segment.keys.len();
        if self.segments.last().is_some_and(has_gone) {
            self.begin()?;
        }
        for number in 0..self.segments.len().saturating_sub(1) {
            if self.segments.get(number).is_some_and(has_gone) {
                let rewritten = self.rewrite(number..number + 1)?;
                self.adopt(rewritten)?;
            }
        }
        Ok(())
    }

    /// Performs the first step: rewrites closed segments as one, durable when it returns.
    pub fn rewrite(&self, segments: Range<usize>) -> Result<CompactedSegments, VectorError> {
        let draft = self.folder().join(DRAFT);
        match fs::remove_file(&draft) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(&draft)(error)),
        }
        self.write_draft(&draft, segments).inspect_err(|_| {
            // Deletion may fail if the disk is full; the next compaction overwrites the draft.
            let _ = fs::remove_file(&draft);
        })
    }

    fn write_draft(
        &self,
        draft: &Path,
        segments: Range<usize>,
    ) -> Result<CompactedSegments, VectorError> {
        let old = self.segments.get(segments.clone()).unwrap_or_default();
        let mut new = Segment::create(draft, &self.generation)?;
        self.deletions_still_needed(&segments)?
            .chunks(MAX_BLOCK)
            .try_for_each(|keys| new.delete(keys, 0))?;
        let position = old.last().map_or(0, |segment| segment.position);
        let mut pending = Pending::default();
        for segment in old {
            self.copy_live(segment, &mut pending, &mut new)?;
        }
        pending.flush(&mut new)?;
        new.delete(&[], position)?;
        new.sync()?;
        Ok(CompactedSegments {
            segments,
            from: old
                .iter()
                .map(|segment| segment.path().to_owned())
                .collect(),
            segment: new,
        })
    }

    /// Performs the second step: replaces the old segments with the new one. Fast, except for one sync.
    ///
    /// Returns the bytes freed. If the segments have changed since the first step, it only deletes the draft.
    pub fn adopt(&mut self, rewritten: CompactedSegments) -> Result<u64, VectorError> {
        let CompactedSegments {
            segments,
            from,
            mut segment,
        } = rewritten;
        let old = self.segments.get(segments.clone()).unwrap_or_default();
        let same = !from.is_empty()
            && old
                .iter()
                .map(Segment::path)
                .eq(from.iter().map(PathBuf::as_path));
        let Some(path) = from.first().filter(|_| same) else {
            fs::remove_file(segment.path()).map_err(failed(segment.path()))?;
            return Ok(0);
        };
        let before: u64 = old.iter().map(Segment::size).sum();
        let (first, keys) = (segments.start, segment.keys.clone());
        for (within, key) in keys.into_iter().enumerate() {
            // A row that was changed or deleted meanwhile has no live row in the old segments.
            let live = self
                .find(key)
                .is_some_and(|row| segments.contains(&super::store::parts(row).0));
            if !live {
                segment.kill(within);
            }
        }
        fs::rename(segment.path(), path).map_err(failed(path))?;
        segment.moved(path);
        let after = segment.size();
        self.segments.splice(first..segments.end, [segment]);
        self.index();
        for old in from.iter().skip(1) {
            fs::remove_file(old).map_err(failed(old))?;
        }
        File::open(self.folder())
            .and_then(|folder| folder.sync_all())
            .map_err(failed(self.folder()))?;
        Ok(before.saturating_sub(after))
    }

    /// Returns the keys deleted in these segments that still have rows in earlier ones.
    fn deletions_still_needed(&self, segments: &Range<usize>) -> Result<Vec<u64>, VectorError> {
        let earlier = self.segments.iter().take(segments.start);
        let gone: HashSet<u64> = earlier
            .flat_map(|segment| segment.keys.iter().zip(&segment.dead))
            .filter(|(_, dead)| **dead)
            .map(|(key, _)| *key)
            .collect();
        let mut needed = Vec::new();
        for segment in self.segments.get(segments.clone()).unwrap_or_default() {
            needed.extend(
                segment
                    .deletions()?
                    .into_iter()
                    .filter(|key| gone.contains(key)),
            );
        }
        needed.sort_unstable();
        needed.dedup();
        Ok(needed)
    }

    fn copy_live(
        &self,
        segment: &Segment,
        pending: &mut Pending,
        new: &mut Segment,
    ) -> Result<(), VectorError> {
        let dimension = self.generation.dimension;
        let mut bytes = Vec::new();
        for block in &segment.blocks {
            bytes.resize(block.count * dimension, 0);
            segment.read(&mut bytes, block.offset)?;
            segment.check(block, &bytes)?;
            let rows = segment
                .keys
                .iter()
                .zip(&segment.scales)
                .zip(&segment.dead)
                .skip(block.first)
                .zip(bytes.chunks_exact(dimension));
            for (((key, scale), dead), row) in rows {
                if !dead {
                    pending.keys.push(*key);
                    pending.scales.push(*scale);
                    pending.rows.extend_from_slice(row);
                }
                if pending.keys.len() == MAX_BLOCK {
                    pending.flush(new)?;
                }
            }
        }
        Ok(())
    }
}

/// Whether a quarter of the rows is deleted, or rows were written one by one.
fn wasteful(segment: &Segment) -> bool {
    segment.crumbled() || segment.live * 4 < segment.keys.len() * 3
}

/// Rows to be written to a new segment.
#[derive(Default)]
struct Pending {
    keys: Vec<u64>,
    scales: Vec<f32>,
    rows: Vec<u8>,
}

impl Pending {
    fn flush(&mut self, new: &mut Segment) -> Result<(), VectorError> {
        if !self.keys.is_empty() {
            new.append(&self.keys, &self.scales, &self.rows, 0)?;
        }
        self.keys.clear();
        self.scales.clear();
        self.rows.clear();
        Ok(())
    }
}
