//! A segment: one file, with the key, scale and deletion state of each row in memory.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use xxhash_rust::xxh3::xxh3_64;

use super::format::{self, BlockHeader, HEAD, HEADER, Kind, MAX_BLOCK};
use super::sketch::Sketches;
use super::{Generation, VectorError};

/// Limit on the rows of a segment: a row's number within it has [`ROW_BITS`] bits.
pub(super) const MAX_ROWS: usize = 1 << ROW_BITS;
/// Bits of a row's number that identify the row within its segment.
pub(super) const ROW_BITS: u32 = 18;

/// A file of vectors.
#[derive(Debug)]
pub(super) struct Segment {
    path: PathBuf,
    file: File,
    /// File offset of the next block.
    end: u64,
    dimension: usize,
    pub position: u64,
    pub blocks: Vec<Block>,
    pub keys: Vec<u64>,
    pub scales: Vec<f32>,
    /// Whether each row is deleted or replaced.
    pub dead: Vec<bool>,
    pub live: usize,
}

/// Location of a block's rows.
#[derive(Debug)]
pub(super) struct Block {
    /// Number of the block's first row within the segment.
    pub first: usize,
    pub count: usize,
    /// File offset of the block's rows.
    pub offset: u64,
    rows_hash: u64,
    /// Whether the rows were verified against their hash since the segment was opened.
    checked: AtomicBool,
    /// Their sketches, made by the first search that needs them.
    pub sketches: OnceLock<Sketches>,
}

/// A block's head, its keys and, for a block of rows, their scales.
type WholeBlock = (BlockHeader, Vec<u64>, Vec<f32>);

/// Effect of a block that was read or written.
#[derive(Debug)]
pub(super) enum Change {
    /// Rows were added, starting with this number.
    Rows(usize),
    /// The rows of these keys were deleted.
    Deletions(Vec<u64>),
}

impl Segment {
    /// Creates a new segment; the file must not exist.
    pub fn create(path: &Path, generation: &Generation) -> Result<Self, VectorError> {
        let header = format::header(generation).ok_or(VectorError::Unfit)?;
        let fail = failed(path);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(&fail)?;
        file.write_all_at(&header, 0).map_err(&fail)?;
        Ok(Self::of(path, file, generation.dimension))
    }

    /// Opens a segment and reports its changes in order. An incomplete end is cut off.
    ///
    /// Returns the segment, or `None` if its header is incomplete, and the number of bytes cut off.
    pub fn open(
        path: &Path,
        generation: &Generation,
        mut reported: impl FnMut(&Self, Change),
    ) -> Result<(Option<Self>, u64), VectorError> {
        let fail = failed(path);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(&fail)?;
        let length = file.metadata().map_err(&fail)?.len();
        let mut header = [0; HEADER];
        if length < HEADER as u64 {
            return Ok((None, length.max(1)));
        }
        file.read_exact_at(&mut header, 0).map_err(&fail)?;
        let Some(found) = format::read_header(&header) else {
            return Ok((None, length.max(1)));
        };
        if found != *generation {
            return Err(VectorError::Other {
                path: path.into(),
                found: found.into(),
                wanted: generation.clone().into(),
            });
        }
        let mut segment = Self::of(path, file, generation.dimension);
        while let Some((head, keys, scales)) = segment.next(length).map_err(&fail)? {
            let change = segment.take(&head, keys, scales);
            reported(&segment, change);
        }
        let cut = length - segment.end;
        if cut > 0 {
            segment.file.set_len(segment.end).map_err(&fail)?;
        }
        Ok((Some(segment), cut))
    }

    fn of(path: &Path, file: File, dimension: usize) -> Self {
        Self {
            path: path.into(),
            file,
            end: HEADER as u64,
            dimension,
            position: 0,
            blocks: Vec::new(),
            keys: Vec::new(),
            scales: Vec::new(),
            dead: Vec::new(),
            live: 0,
        }
    }

    /// Reads the block after the known ones; `None` if it is missing or incomplete.
    fn next(&self, length: u64) -> io::Result<Option<WholeBlock>> {
        let Some(room) = length
            .checked_sub(self.end)
            .filter(|room| *room >= HEAD as u64)
        else {
            return Ok(None);
        };
        let mut head = [0; HEAD];
        self.file.read_exact_at(&mut head, self.end)?;
        let Some(head) = BlockHeader::read(&head) else {
            return Ok(None);
        };
        let size = HEAD + head.table() + head.rows(self.dimension);
        if room < size as u64
            || head.position < self.position
            || self.keys.len() + head.count > MAX_ROWS
        {
            return Ok(None);
        }
        let mut table = vec![0; head.table()];
        self.file
            .read_exact_at(&mut table, self.end + HEAD as u64)?;
        let Some((keys, scales)) = format::read_table(&head, &table) else {
            return Ok(None);
        };
        // Only the last block can be torn. Earlier blocks are verified when they are first searched.
        let last = room == size as u64;
        if last && head.kind == Kind::Rows {
            let mut rows = vec![0; head.rows(self.dimension)];
            self.file
                .read_exact_at(&mut rows, self.end + (HEAD + table.len()) as u64)?;
            if xxh3_64(&rows) != head.rows_hash {
                return Ok(None);
            }
        }
        Ok(Some((head, keys, scales)))
    }

    /// Registers a block at the end of the segment.
    fn take(&mut self, head: &BlockHeader, keys: Vec<u64>, scales: Vec<f32>) -> Change {
        let offset = self.end + (HEAD + head.table()) as u64;
        self.end = offset + head.rows(self.dimension) as u64;
        self.position = head.position;
        match head.kind {
            Kind::Deletions => Change::Deletions(keys),
            Kind::Rows => {
                let first = self.keys.len();
                let checked = AtomicBool::new(false);
                self.blocks.push(Block {
                    first,
                    count: head.count,
                    offset,
                    rows_hash: head.rows_hash,
                    checked,
                    sketches: OnceLock::new(),
                });
                self.live += keys.len();
                self.keys.extend(keys);
                self.scales.extend(scales);
                self.dead.resize(self.keys.len(), false);
                Change::Rows(first)
            }
        }
    }

    /// Appends at most [`MAX_BLOCK`] rows and returns the number of the first.
    pub fn append(
        &mut self,
        keys: &[u64],
        scales: &[f32],
        rows: &[u8],
        position: u64,
    ) -> Result<usize, VectorError> {
        let block = format::rows_block(keys, scales, rows, position).ok_or(VectorError::Unfit)?;
        match self.write(&block)? {
            Change::Rows(first) => Ok(first),
            Change::Deletions(_) => Err(VectorError::Unfit),
        }
    }

    /// Appends at most [`MAX_BLOCK`] deletions; without keys, it only advances the position.
    pub fn delete(&mut self, keys: &[u64], position: u64) -> Result<(), VectorError> {
        let block = format::deletions_block(keys, position).ok_or(VectorError::Unfit)?;
        self.write(&block).map(|_| ())
    }

    /// Writes a block and registers it. The next block overwrites a block that failed half-way.
    fn write(&mut self, block: &[u8]) -> Result<Change, VectorError> {
        let head = block
            .first_chunk()
            .and_then(BlockHeader::read)
            .ok_or(VectorError::Unfit)?;
        let table = block.get(HEAD..HEAD + head.table()).unwrap_or_default();
        let (keys, scales) = format::read_table(&head, table).ok_or(VectorError::Unfit)?;
        self.file
            .write_all_at(block, self.end)
            .map_err(failed(&self.path))?;
        Ok(self.take(&head, keys, scales))
    }

    /// Whether `rows` more rows fit.
    pub fn has_room(&self, rows: usize) -> bool {
        self.keys.len() + rows <= MAX_ROWS
    }

    /// Marks a row as deleted.
    pub fn kill(&mut self, row: usize) {
        if let Some(dead) = self.dead.get_mut(row).filter(|dead| !**dead) {
            *dead = true;
            self.live -= 1;
        }
    }

    /// Reads bytes at `offset` until `bytes` is full.
    pub fn read(&self, bytes: &mut [u8], offset: u64) -> Result<(), VectorError> {
        self.file
            .read_exact_at(bytes, offset)
            .map_err(failed(&self.path))
    }

    /// Reads the rows of consecutive blocks at once, into `bytes`, and calls a function with each block's rows.
    pub fn read_blocks(
        &self,
        blocks: &[Block],
        bytes: &mut Vec<u8>,
        mut each: impl FnMut(&Block, &[u8]),
    ) -> Result<(), VectorError> {
        let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else {
            return Ok(());
        };
        let length = last.offset - first.offset + (last.count * self.dimension) as u64;
        bytes.resize(usize::try_from(length).unwrap_or(0), 0);
        self.read(bytes, first.offset)?;
        for block in blocks {
            let start = usize::try_from(block.offset - first.offset).unwrap_or(usize::MAX);
            let rows = bytes
                .get(start..)
                .and_then(|bytes| bytes.get(..block.count * self.dimension))
                .unwrap_or_default();
            self.check(block, rows)?;
            each(block, rows);
        }
        Ok(())
    }

    /// Verifies a block's rows against their hash, the first time they are read.
    pub fn check(&self, block: &Block, rows: &[u8]) -> Result<(), VectorError> {
        if block.checked.load(Ordering::Relaxed) {
            return Ok(());
        }
        if xxh3_64(rows) != block.rows_hash {
            return Err(VectorError::Damaged {
                path: self.path.clone(),
                at: block.offset,
                what: "rows do not have the hash they were written with",
            });
        }
        block.checked.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Returns the file offset of a row.
    pub fn place(&self, row: usize) -> Option<u64> {
        let (block, within) = self.block_of(row)?;
        Some(block.offset + (within * self.dimension) as u64)
    }

    /// Returns the block of a row, and the row's number within it.
    pub fn block_of(&self, row: usize) -> Option<(&Block, usize)> {
        let after = self.blocks.partition_point(|block| block.first <= row);
        let block = self.blocks.get(after.checked_sub(1)?)?;
        Some((block, row - block.first))
    }

    /// Returns all keys in this segment's deletion blocks.
    pub fn deletions(&self) -> Result<Vec<u64>, VectorError> {
        let mut again = Self::of(
            &self.path,
            self.file.try_clone().map_err(failed(&self.path))?,
            self.dimension,
        );
        let mut deletions = Vec::new();
        while let Some((head, keys, scales)) = again.next(self.end).map_err(failed(&self.path))? {
            if let Change::Deletions(keys) = again.take(&head, keys, scales) {
                deletions.extend(keys);
            }
        }
        Ok(deletions)
    }

    /// Returns the size of the file, in bytes.
    pub fn size(&self) -> u64 {
        self.end
    }

    /// Whether blocks are much smaller than they could be.
    pub fn crumbled(&self) -> bool {
        self.blocks.len() > 16 && self.keys.len() < self.blocks.len() * (MAX_BLOCK / 8)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn moved(&mut self, path: &Path) {
        self.path = path.into();
    }

    /// Syncs the file; all data is durable when it returns.
    pub fn sync(&self) -> Result<(), VectorError> {
        self.file.sync_data().map_err(failed(&self.path))
    }
}

/// Adds the path to an I/O error.
pub(super) fn failed(path: &Path) -> impl Fn(io::Error) -> VectorError {
    move |source| VectorError::Io {
        path: path.into(),
        source,
    }
}
