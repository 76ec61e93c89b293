//! The store: the segments of one generation in a folder, and the row of each key.

use std::fs;
use std::path::{Path, PathBuf};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

use super::format::MAX_BLOCK;
use super::quantized::round_row;
use super::segment::{Change, ROW_BITS, Segment, failed};
use super::{Generation, MAX_DIMENSION, MAX_MODEL, VectorError};

const SUFFIX: &str = ".vectors";
/// Limit on the segments: a row's number has 32 bits.
const MAX_SEGMENTS: usize = 1 << (32 - ROW_BITS);

/// Vectors by key, of one generation. It allows one writer at a time and any number of searches.
#[derive(Debug)]
pub struct VectorStore {
    folder: PathBuf,
    pub(super) generation: Generation,
    pub(super) segments: Vec<Segment>,
    rows: RowsByKey,
}

/// Result of opening a store.
#[derive(Debug)]
pub struct OpenOutcome {
    /// The store.
    pub store: VectorStore,
    /// Number of incomplete bytes that were cut off; their vectors come again from the log.
    pub cut: u64,
}

impl VectorStore {
    /// Opens the store in a folder, or creates one there.
    ///
    /// Data left incomplete by a kill is cut off after the last complete block, together with all later segments.
    /// [`VectorStore::position`] then returns the position from which the log must be read again.
    pub fn open(folder: &Path, generation: Generation) -> Result<OpenOutcome, VectorError> {
        if !(1..=MAX_DIMENSION).contains(&generation.dimension)
            || generation.model.len() > MAX_MODEL
        {
            return Err(VectorError::Unfit);
        }
        fs::create_dir_all(folder).map_err(failed(folder))?;
        let mut store = Self {
            folder: folder.into(),
            generation,
            segments: Vec::new(),
            rows: RowsByKey::default(),
        };
        let mut cut = 0;
        let mut whole = true;
        for number in segment_numbers(folder)? {
            let path = store.path(number);
            if whole && store.segments.len() < MAX_SEGMENTS {
                let lost = store.open_segment(&path)?;
                whole = lost == 0;
                cut += lost;
            } else {
                cut += fs::metadata(&path).map_err(failed(&path))?.len();
                fs::remove_file(&path).map_err(failed(&path))?;
            }
        }
        Ok(OpenOutcome { store, cut })
    }

    /// Opens one more segment; returns the number of incomplete bytes cut off.
    fn open_segment(&mut self, path: &Path) -> Result<u64, VectorError> {
        let number = self.segments.len();
        let (rows, segments) = (&mut self.rows, &mut self.segments);
        let mut gone = Vec::new();
        let (segment, cut) = Segment::open(path, &self.generation, |segment, change| {
            let mut keys_of = Vec::new();
            match change {
                Change::Rows(first) => {
                    for (within, key) in segment.keys.iter().enumerate().skip(first) {
                        keys_of.push((*key, Some(row(number, within))));
                    }
                }
                Change::Deletions(keys) => keys_of.extend(keys.into_iter().map(|key| (key, None))),
            }
            for (key, at) in keys_of {
                let key_of = |row| key_at(segments, Some(segment), row);
                gone.extend(match at {
                    Some(at) => rows.put(key, at, key_of),
                    None => rows.take(key, key_of),
                });
            }
        })?;
        match segment {
            Some(segment) => self.segments.push(segment),
            None => fs::remove_file(path).map_err(failed(path))?,
        }
        gone.into_iter().for_each(|row| self.kill(row));
        Ok(cut)
    }

    /// Returns the generation of the vectors.
    #[must_use]
    pub fn generation(&self) -> &Generation {
        &self.generation
    }

    /// Returns the log position of the last complete block; 0 if there is none.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.segments.last().map_or(0, |segment| segment.position)
    }

    /// Returns the number of keys with a vector.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.table.len()
    }

    /// Whether the store is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a key has a vector.
    #[must_use]
    pub fn contains(&self, key: u64) -> bool {
        self.find(key).is_some()
    }

    /// Iterates over the keys with a vector, in no particular order.
    pub fn keys(&self) -> impl Iterator<Item = u64> + '_ {
        self.segments.iter().flat_map(|segment| {
            let rows = segment.keys.iter().zip(&segment.dead);
            rows.filter(|(_, is_dead)| !**is_dead).map(|(key, _)| *key)
        })
    }

    /// Returns the size on disk, in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.segments.iter().map(Segment::size).sum()
    }

    /// Stores vectors; each replaces the earlier vector of its key. After a kill, only complete blocks remain.
    ///
    /// `position` is the log position that the vectors bring the store up to. It never decreases.
    ///
    /// # Errors
    /// A vector's dimension differs from the store's. After an I/O error, no later block is stored.
    pub fn append(&mut self, vectors: &[(u64, &[f32])], position: u64) -> Result<(), VectorError> {
        let wanted = self.generation.dimension;
        if let Some(found) = vectors
            .iter()
            .map(|(_, vector)| vector.len())
            .find(|found| *found != wanted)
        {
            return Err(VectorError::Dimension { found, wanted });
        }
        let before = self.position();
        let mut rest = vectors.len();
        for some in vectors.chunks(MAX_BLOCK) {
            rest -= some.len();
            let keys: Vec<u64> = some.iter().map(|(key, _)| *key).collect();
            let mut rows = Vec::with_capacity(some.len() * wanted);
            let scales: Vec<f32> = some
                .iter()
                .map(|(_, vector)| round_row(vector, &mut rows))
                .collect();
            // Only the last block has the new position: before it, the vectors are incomplete.
            let position = if rest == 0 {
                position.max(before)
            } else {
                before
            };
            let number = self.current(some.len())?;
            let Some(segment) = self.segments.get_mut(number) else {
                break;
            };
            let first = segment.append(&keys, &scales, &rows, position)?;
            for (key, within) in keys.into_iter().zip(first..) {
                let gone = self.rows.put(key, row(number, within), |row| {
                    key_at(&self.segments, None, row)
                });
                gone.into_iter().for_each(|row| self.kill(row));
            }
        }
        Ok(())
    }

    /// Deletes the vectors of keys; keys without a vector are skipped.
    ///
    /// # Errors
    /// After an I/O error, no later block is deleted.
    pub fn delete(&mut self, keys: &[u64], position: u64) -> Result<(), VectorError> {
        let before = self.position();
        let known: Vec<u64> = keys
            .iter()
            .copied()
            .filter(|key| self.contains(*key))
            .collect();
        let mut blocks = known.chunks(MAX_BLOCK).peekable();
        if blocks.peek().is_none() {
            return self.advance(position);
        }
        while let Some(keys) = blocks.next() {
            let position = if blocks.peek().is_none() {
                position.max(before)
            } else {
                before
            };
            let number = self.current(0)?;
            let Some(segment) = self.segments.get_mut(number) else {
                break;
            };
            segment.delete(keys, position)?;
            for key in keys {
                let gone = self
                    .rows
                    .take(*key, |row| key_at(&self.segments, None, row));
                gone.into_iter().for_each(|row| self.kill(row));
            }
        }
        Ok(())
    }

    /// Advances the log position without a change of vectors.
    pub fn advance(&mut self, position: u64) -> Result<(), VectorError> {
        if position <= self.position() {
            return Ok(());
        }
        let number = self.current(0)?;
        self.segments
            .get_mut(number)
            .map_or(Ok(()), |segment| segment.delete(&[], position))
    }

    /// Syncs the store; all data is durable when it returns. Without a sync, a power failure may lose the latest data.
    pub fn sync(&self) -> Result<(), VectorError> {
        self.segments.last().map_or(Ok(()), Segment::sync)
    }

    /// Returns the number of the segment to write to; begins a new one if `rows` more rows do not fit.
    fn current(&mut self, rows: usize) -> Result<usize, VectorError> {
        if !self
            .segments
            .last()
            .is_some_and(|segment| segment.has_room(rows))
        {
            self.begin()?;
        }
        Ok(self.segments.len().saturating_sub(1))
    }

    /// Begins a new segment; earlier segments receive no more writes.
    pub(super) fn begin(&mut self) -> Result<(), VectorError> {
        if self.segments.len() >= MAX_SEGMENTS {
            return Err(VectorError::Unfit);
        }
        let position = self.position();
        self.sync()?;
        let number = segment_numbers(&self.folder)?
            .last()
            .map_or(1, |last| last + 1);
        let mut segment = Segment::create(&self.path(number), &self.generation)?;
        segment.delete(&[], position)?;
        self.segments.push(segment);
        Ok(())
    }

    pub(super) fn find(&self, key: u64) -> Option<u32> {
        self.rows.get(key, |row| key_at(&self.segments, None, row))
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Rebuilds the index of rows by key, after segments were replaced.
    pub(super) fn index(&mut self) {
        let mut rows = RowsByKey::default();
        for (number, segment) in self.segments.iter().enumerate() {
            let live = segment
                .keys
                .iter()
                .enumerate()
                .filter(|(within, _)| segment.dead.get(*within) == Some(&false));
            for (within, key) in live {
                rows.put(*key, row(number, within), |row| {
                    key_at(&self.segments, None, row)
                });
            }
        }
        self.rows = rows;
    }

    fn kill(&mut self, row: u32) {
        let (number, within) = parts(row);
        if let Some(segment) = self.segments.get_mut(number) {
            segment.kill(within);
        }
    }

    fn path(&self, number: u64) -> PathBuf {
        self.folder.join(format!("{number:010}{SUFFIX}"))
    }
}

/// The row of each key. It stores only row numbers, in five bytes for each key; the keys are in the segments.
#[derive(Debug, Default)]
struct RowsByKey {
    table: HashTable<u32>,
}

impl RowsByKey {
    fn get(&self, key: u64, key_of: impl Fn(u32) -> Option<u64>) -> Option<u32> {
        self.table
            .find(hash(key), |row| key_of(*row) == Some(key))
            .copied()
    }

    /// Sets the row of a key and returns the previous one.
    fn put(&mut self, key: u64, row: u32, key_of: impl Fn(u32) -> Option<u64>) -> Option<u32> {
        if let Some(known) = self
            .table
            .find_mut(hash(key), |row| key_of(*row) == Some(key))
        {
            return Some(std::mem::replace(known, row));
        }
        self.table
            .insert_unique(hash(key), row, |row| hash(key_of(*row).unwrap_or(key)));
        None
    }

    fn take(&mut self, key: u64, key_of: impl Fn(u32) -> Option<u64>) -> Option<u32> {
        let entry = self
            .table
            .find_entry(hash(key), |row| key_of(*row) == Some(key))
            .ok()?;
        Some(entry.remove().0)
    }
}

fn hash(key: u64) -> u64 {
    FxBuildHasher.hash_one(key)
}

/// Combines the numbers of a segment and of a row within it into the row's number in the store.
pub(super) fn row(segment: usize, within: usize) -> u32 {
    u32::try_from((segment << ROW_BITS) | within).unwrap_or(u32::MAX)
}

/// Splits a row's number into the numbers of its segment and of the row within it.
pub(super) fn parts(row: u32) -> (usize, usize) {
    (
        (row >> ROW_BITS) as usize,
        (row & ((1 << ROW_BITS) - 1)) as usize,
    )
}

/// Returns the key of a row. `next` is a segment that is about to become the last.
fn key_at(segments: &[Segment], next: Option<&Segment>, row: u32) -> Option<u64> {
    let (number, within) = parts(row);
    let segment = segments
        .get(number)
        .or(if number == segments.len() { next } else { None })?;
    segment.keys.get(within).copied()
}

/// Returns the numbers of a folder's segments, ascending; other files are ignored.
fn segment_numbers(folder: &Path) -> Result<Vec<u64>, VectorError> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed(folder))? {
        let name = entry.map_err(failed(folder))?.file_name();
        let number = name
            .to_str()
            .and_then(|name| name.strip_suffix(SUFFIX))
            .filter(|name| name.len() == 10);
        numbers.extend(number.and_then(|number| number.parse::<u64>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}
