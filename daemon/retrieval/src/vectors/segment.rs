//! One segment: its file, and of each row the key, the scale and whether it is still there.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use xxhash_rust::xxh3::xxh3_64;

use super::format::{self, BlockHeader, HEAD, HEADER, Kind, MAX_BLOCK};
use super::{Generation, VectorError};

/// Rows of a segment, at most: a row's number within it fits [`ROW_BITS`] bits.
pub(super) const MAX_ROWS: usize = 1 << ROW_BITS;
/// Bits of a row's number that tell the row within its segment.
pub(super) const ROW_BITS: u32 = 18;

/// One file of vectors.
#[derive(Debug)]
pub(super) struct Segment {
    path: PathBuf,
    file: File,
    /// Where the next block goes.
    end: u64,
    dimension: usize,
    pub position: u64,
    pub blocks: Vec<Block>,
    pub keys: Vec<u64>,
    pub scales: Vec<f32>,
    /// Rows that are gone.
    pub dead: Vec<bool>,
    pub live: usize,
}

/// Where rows of a block are.
#[derive(Debug)]
pub(super) struct Block {
    /// Number of its first row within the segment.
    pub first: usize,
    pub count: usize,
    /// Where its rows begin in the file.
    pub offset: u64,
    rows_hash: u64,
    /// Whether its rows were compared with their hash since the segment was opened.
    checked: AtomicBool,
}

/// A head, its keys and, if it is of rows, their scales.
type WholeBlock = (BlockHeader, Vec<u64>, Vec<f32>);

/// What a block that was read or written changes.
#[derive(Debug)]
pub(super) enum Change {
    /// Rows were added, from this number on.
    Rows(usize),
    /// These keys are gone.
    Deletions(Vec<u64>),
}

impl Segment {
    /// Makes a new segment; there must be no file of that name.
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

    /// Opens a segment and tells its changes in order. What is not whole at its end is cut off.
    ///
    /// Returns the segment, or nothing if not even its header is whole, and how many bytes were cut.
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

    /// The block at the end of what is known; nothing if none is there, or none that is whole.
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
        // Only the last block can be torn; those before it are checked when they are first searched.
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

    /// Takes a block in that lies at the end.
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
                });
                self.live += keys.len();
                self.keys.extend(keys);
                self.scales.extend(scales);
                self.dead.resize(self.keys.len(), false);
                Change::Rows(first)
            }
        }
    }

    /// Appends rows, at most [`MAX_BLOCK`], and returns the number of the first.
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

    /// Appends deletions, at most [`MAX_BLOCK`]; with none it only moves the position.
    pub fn delete(&mut self, keys: &[u64], position: u64) -> Result<(), VectorError> {
        let block = format::deletions_block(keys, position).ok_or(VectorError::Unfit)?;
        self.write(&block).map(|_| ())
    }

    /// Writes a block and takes it in. A block that fails half-way is written over by the next.
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

    /// Whether that many more rows fit.
    pub fn has_room(&self, rows: usize) -> bool {
        self.keys.len() + rows <= MAX_ROWS
    }

    /// A row is gone.
    pub fn kill(&mut self, row: usize) {
        if let Some(dead) = self.dead.get_mut(row).filter(|dead| !**dead) {
            *dead = true;
            self.live -= 1;
        }
    }

    /// Fills `bytes` from `offset` on.
    pub fn read(&self, bytes: &mut [u8], offset: u64) -> Result<(), VectorError> {
        self.file
            .read_exact_at(bytes, offset)
            .map_err(failed(&self.path))
    }

    /// Compares a block's rows with their hash, the first time they are read.
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

    /// Where a row's numbers are in the file.
    pub fn place(&self, row: usize) -> Option<u64> {
        let after = self.blocks.partition_point(|block| block.first <= row);
        let block = self.blocks.get(after.checked_sub(1)?)?;
        Some(block.offset + ((row - block.first) * self.dimension) as u64)
    }

    /// All keys that deletions of this segment name.
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

    /// Bytes of the file.
    pub fn size(&self) -> u64 {
        self.end
    }

    /// Blocks are much smaller than they could be.
    pub fn crumbled(&self) -> bool {
        self.blocks.len() > 16 && self.keys.len() < self.blocks.len() * (MAX_BLOCK / 8)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn moved(&mut self, path: &Path) {
        self.path = path.into();
    }

    /// Has everything on the disk when it returns.
    pub fn sync(&self) -> Result<(), VectorError> {
        self.file.sync_data().map_err(failed(&self.path))
    }
}

/// Says which file failed.
pub(super) fn failed(path: &Path) -> impl Fn(io::Error) -> VectorError {
    move |source| VectorError::Io {
        path: path.into(),
        source,
    }
}
