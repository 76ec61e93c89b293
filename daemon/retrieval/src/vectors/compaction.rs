//! Compaction: neighbouring segments written anew as one, without the rows that are gone.
//!
//! In two steps, so that searches and writes go on during the long first one: what changed
//! meanwhile is seen by the second. A kill between them, or within, loses nothing: the new file
//! takes the first one's name whole, and the others' rows, should they still lie there, are the same.

use std::collections::HashSet;
use std::fs::{self, File};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::format::MAX_BLOCK;
use super::segment::{MAX_ROWS, Segment, failed};
use super::{VectorError, VectorStore};

/// Segments with fewer rows than this are joined with their neighbours.
const SMALL: usize = MAX_ROWS / 8;
/// The name of a segment being made. One left behind by a kill is written over.
const DRAFT: &str = "compaction.draft";

/// Segments written anew as one, not yet in their place.
#[derive(Debug)]
pub struct CompactedSegments {
    segments: Range<usize>,
    /// The files they were made of, in order.
    from: Vec<PathBuf>,
    segment: Segment,
}

impl VectorStore {
    /// Segments worth rewriting now, if any: a quarter of their rows gone, many small ones in a
    /// row, or rows that came one by one. All but the last, which is being written.
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

    /// Closes the segment that is being written, so that it can be compacted, if that is worth it.
    ///
    /// # Errors
    /// The system refuses.
    pub fn finish(&mut self) -> Result<(), VectorError> {
        let worth = self
            .segments
            .last()
            .is_some_and(|segment| segment.keys.len() > MAX_BLOCK && wasteful(segment));
        if worth { self.begin() } else { Ok(()) }
    }

    /// Writes every segment anew that holds a row that is gone, so that no file has it any more. Takes as
    /// long as those segments are.
    ///
    /// # Errors
    /// Rows are not what was written, or the system refuses.
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

    /// The first step: writes some settled segments anew, on the disk when it returns.
    ///
    /// # Errors
    /// Rows are not what was written, or the system refuses.
    pub fn rewrite(&self, segments: Range<usize>) -> Result<CompactedSegments, VectorError> {
        let draft = self.folder().join(DRAFT);
        match fs::remove_file(&draft) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(&draft)(error)),
        }
        self.write_draft(&draft, segments).inspect_err(|_| {
            // The disk may be full; if it stays, the next one writes over it.
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

    /// The second step: puts the new segment in the place of the old ones. Quick, apart from one sync.
    ///
    /// Returns the bytes given back; nothing changes, and the draft goes, if the segments are no
    /// longer those it was made of.
    ///
    /// # Errors
    /// The system refuses.
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
            // What was changed or deleted meanwhile has no live row in the old segments any more.
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

    /// Keys deleted in these segments whose rows still lie in earlier ones.
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

/// A quarter of the rows is gone, or they came one by one.
fn wasteful(segment: &Segment) -> bool {
    segment.crumbled() || segment.live * 4 < segment.keys.len() * 3
}

/// Rows on their way into a new segment.
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
