//! A read-only reader of fjall's journal. It returns the items and the place where the journal is damaged.
//!
//! While fjall opens a journal, it truncates it at the first bad record, also in the middle. To know the losses,
//! the journal must be read before. The format is that of fjall 3.1.13, which is pinned exactly; a test compares
//! this reader with fjall's own recovery. Compressed journals are refused, because the store never enables
//! compression.
//!
//! The reader relies on these properties of 3.1.13:
//! - A store has `N.jnl` files, N without gaps; only the highest is written to. A sealed one is synced before its
//!   successor exists, and the lowest are deleted first, once every keyspace has flushed past them.
//! - A new file is 64 MiB of zeros, sparse. When fjall reopens it, it cuts it to the last complete batch and
//!   appends from there, so zeros end a journal and nothing may follow them.
//! - Every batch takes the next number of one counter, which flushes and compactions use too: numbers increase,
//!   with gaps. At an open the counter continues after the highest number of the keyspaces that still exist. So a
//!   batch of only dropped keyspaces may have any number; fjall skips it, and so does the order check.
//! - Keyspace names are not in any journal. They are in tables of keyspace 0, which cannot be opened without
//!   writing to them. Numbers are assigned in the order of creation, from [`FIRST_KEYSPACE`]. So the caller creates
//!   the log's keyspace first in a new store and recognises its items by that number and the shape of their keys.

mod batch;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
pub(in crate::store) mod sample;
mod source;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests;

pub use batch::{BatchError, BatchExtent, ItemKind, JournalItem};

use batch::{Read, ValidBatch};
use source::Source;
use std::{
    collections::BTreeSet,
    io,
    ops::Range,
    path::{Path, PathBuf},
};

/// The number of the first keyspace created in a store.
pub const FIRST_KEYSPACE: u64 = 1;

/// Maximum number of passes over the rest of a file to search for complete batches after a bad one.
const RESYNC_PASSES: u64 = 16;

/// The reason why a journal cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused.
    #[error("reading {}: {source}", path.display())]
    Io {
        /// Path of the file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file with the suffix `.jnl` has no number as its name; fjall also refuses such a store.
    #[error("{} is not the name of a journal", .0.display())]
    Name(PathBuf),
    /// A batch is compressed.
    #[error("the journal is compressed, which this store never asks for")]
    Compressed,
}

/// A journal file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalFile {
    /// Number in the file name.
    pub number: u64,
    /// Path of the file.
    pub path: PathBuf,
}

/// Whether a batch survives when the journal is cut at its first flaw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchState {
    /// Before any flaw of its file.
    Kept,
    /// Complete, but after a flaw.
    Behind,
}

/// The first place in a file that is not a complete batch, and the content after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corruption {
    /// The journal file.
    pub file: JournalFile,
    /// The type of flaw.
    pub batch_error: BatchError,
    /// Range from the end of the last good batch to the last non-zero byte.
    pub lost: Range<u64>,
    /// Number of complete batches after it in the same file.
    pub good_batches_after: u64,
    /// The search for complete batches was given up, because too many bytes look like batches.
    pub search_given_up: bool,
}

/// The state of a store's journals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tail {
    /// Complete up to the last non-zero byte.
    Clean,
    /// The last batch of the last journal is bad, and no good batch follows.
    TornTail {
        /// The last journal.
        file: JournalFile,
        /// End of its last good batch.
        offset: u64,
    },
    /// A bad batch is followed by good ones, in the same file or a later one.
    Damage {
        /// The first damaged journal.
        file: JournalFile,
        /// End of its last good batch before the flaw.
        offset: u64,
        /// Number of complete batches after the flaw in that file.
        good_batches_after: u64,
    },
}

/// The result of walking all journals of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalScan {
    /// The journals, lowest number first.
    pub files: Vec<JournalFile>,
    /// Numbers without a file between the lowest and the highest.
    pub missing: Vec<u64>,
    /// Number of batches before any flaw of their file.
    pub batches: u64,
    /// At most one flaw per file, in the order of the files.
    pub corruptions: Vec<Corruption>,
}

impl JournalScan {
    /// Walks all journals of a store and visits each item of each complete batch, in order.
    ///
    /// A batch is verified before its items are visited. One item is in memory at a time, and never more bytes than the
    /// file contains.
    ///
    /// # Errors
    /// See [`Error`]. Bad batches are not an error; the survey lists them.
    pub fn read(
        store: &Path,
        mut visit: impl FnMut(BatchState, &BatchExtent, &JournalItem<'_>),
    ) -> Result<Self, Error> {
        let files = list(store)?;
        let live = live_keyspaces(store)?;
        let mut journal_scan = Self {
            missing: gaps(&files),
            files,
            batches: 0,
            corruptions: Vec::new(),
        };
        let mut highest = None;
        for file in journal_scan.files.clone() {
            let source = Source::open(&file.path).map_err(|source| io_at(&file.path, source))?;
            let mut walk = FileWalk {
                file: &file,
                source,
                live: &live,
                highest: &mut highest,
                buffer: Vec::new(),
                visit: &mut visit,
            };
            let (batches, corruption) = walk.file()?;
            journal_scan.batches += batches;
            journal_scan.corruptions.extend(corruption);
        }
        Ok(journal_scan)
    }

    /// Returns the state of the journals.
    #[must_use]
    pub fn tail(&self) -> Tail {
        let Some(corruption) = self.corruptions.first() else {
            return Tail::Clean;
        };
        if self.is_last(&corruption.file) && corruption.is_torn() {
            Tail::TornTail {
                file: corruption.file.clone(),
                offset: corruption.lost.start,
            }
        } else {
            Tail::Damage {
                file: corruption.file.clone(),
                offset: corruption.lost.start,
                good_batches_after: corruption.good_batches_after,
            }
        }
    }

    fn is_last(&self, file: &JournalFile) -> bool {
        self.files.last() == Some(file)
    }
}

impl Corruption {
    /// Returns whether no good batch follows in this file, so that an unfinished write explains the flaw.
    #[must_use]
    pub fn is_torn(&self) -> bool {
        self.good_batches_after == 0 && !self.search_given_up
    }
}

struct FileWalk<'a> {
    file: &'a JournalFile,
    source: Source,
    live: &'a BTreeSet<u64>,
    /// The highest sequence number of a batch that fjall would use, over all previous files.
    highest: &'a mut Option<u64>,
    buffer: Vec<u8>,
    visit: &'a mut dyn FnMut(BatchState, &BatchExtent, &JournalItem<'_>),
}

impl FileWalk<'_> {
    fn file(&mut self) -> Result<(u64, Option<Corruption>), Error> {
        let mut batches = 0;
        let mut at = 0;
        loop {
            let Some(content) = self.io(|walk| walk.source.first_content(at))? else {
                return Ok((batches, None));
            };
            let batch_error = if content > at {
                BatchError::Shape
            } else {
                match self.io(|walk| batch::read(&mut walk.source, at, walk.live))? {
                    Read::Whole(whole) if self.follows(&whole) => {
                        self.show(BatchState::Kept, at, &whole)?;
                        batches += 1;
                        at = whole.end;
                        continue;
                    }
                    Read::Whole(_) => BatchError::Sequence,
                    Read::Compressed => return Err(Error::Compressed),
                    Read::Bad { batch_error, .. } => batch_error,
                }
            };
            return Ok((batches, Some(self.corruption(at, batch_error)?)));
        }
    }

    /// Returns whether a batch's number is above all previous ones; if so, records it as the highest.
    fn follows(&mut self, whole: &ValidBatch) -> bool {
        if !whole.live {
            return true;
        }
        let follows = self.highest.is_none_or(|highest| whole.seqno > highest);
        if follows {
            *self.highest = Some(whole.seqno);
        }
        follows
    }

    /// Searches the rest of the file for complete batches.
    fn corruption(&mut self, at: u64, batch_error: BatchError) -> Result<Corruption, Error> {
        let end = self.io(|walk| walk.source.content_end(at))?;
        // A batch with a wrong number is itself complete; anything else is bad from its first byte.
        let mut next = at;
        let mut budget = (end - at)
            .saturating_mul(RESYNC_PASSES)
            .saturating_add(1 << 20);
        let mut good_batches_after = 0;
        while let Some(candidate) = self.io(|walk| walk.candidate(next, end))? {
            match self.io(|walk| batch::read(&mut walk.source, candidate, walk.live))? {
                Read::Whole(whole) => {
                    self.show(BatchState::Behind, candidate, &whole)?;
                    good_batches_after += 1;
                    next = whole.end;
                }
                Read::Compressed => next = candidate + 1,
                Read::Bad { seen_bytes, .. } => {
                    budget = budget.saturating_sub(seen_bytes);
                    next = candidate + 1;
                }
            }
            if budget == 0 {
                break;
            }
        }
        Ok(Corruption {
            file: self.file.clone(),
            batch_error,
            lost: at..end,
            good_batches_after,
            search_given_up: budget == 0,
        })
    }

    /// Returns the next offset in `from..end` at which a batch could start.
    fn candidate(&mut self, mut from: u64, end: u64) -> io::Result<Option<u64>> {
        while let Some(content) = self
            .source
            .first_content(from)?
            .filter(|content| *content < end)
        {
            let block = self.source.chunk(content)?;
            let block = block.get(..block.len().min(4096)).unwrap_or(block);
            let block_end = content + block.len() as u64;
            let Some(inside) = block.iter().position(|byte| *byte == 1) else {
                from = block_end;
                continue;
            };
            let found = content + inside as u64;
            let head = self.source.bytes(found, batch::START_BYTES)?;
            if found < end && head.and_then(batch::start).is_some() {
                return Ok(Some(found));
            }
            from = found + 1;
        }
        Ok(None)
    }

    fn show(&mut self, standing: BatchState, at: u64, whole: &ValidBatch) -> Result<(), Error> {
        let extent = BatchExtent {
            journal: self.file.number,
            range: at..whole.end,
            seqno: whole.seqno,
            items: whole.items,
        };
        let Self { visit, buffer, .. } = self;
        let mut each = |item: &JournalItem<'_>| visit(standing, &extent, item);
        batch::items(&mut self.source, extent.range.clone(), buffer, &mut each)
            .map_err(|source| io_at(&self.file.path, source))
    }

    fn io<T>(&mut self, read: impl FnOnce(&mut Self) -> io::Result<T>) -> Result<T, Error> {
        read(self).map_err(|source| io_at(&self.file.path, source))
    }
}

/// Lists the journals of a store, lowest number first.
pub(super) fn list(store: &Path) -> Result<Vec<JournalFile>, Error> {
    let mut files = Vec::new();
    for entry in entries(store)? {
        let path = entry.path();
        if path
            .extension()
            .is_none_or(|end| !end.eq_ignore_ascii_case("jnl"))
        {
            continue;
        }
        let stem = path
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| name.strip_suffix(".jnl"));
        match stem.and_then(|stem| stem.parse().ok()) {
            Some(number) => files.push(JournalFile { number, path }),
            None => return Err(Error::Name(path)),
        }
    }
    files.sort_by_key(|file| file.number);
    Ok(files)
}

/// Returns the numbers of the keyspaces that have a folder, without fjall's own.
fn live_keyspaces(store: &Path) -> Result<BTreeSet<u64>, Error> {
    let mut live = BTreeSet::new();
    for entry in entries(&store.join("keyspaces"))? {
        if let Some(number) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        {
            live.insert(number);
        }
    }
    live.remove(&0);
    Ok(live)
}

fn entries(folder: &Path) -> Result<Vec<std::fs::DirEntry>, Error> {
    std::fs::read_dir(folder)
        .and_then(Iterator::collect)
        .map_err(|source| io_at(folder, source))
}

/// Returns the missing numbers; for very distant numbers, only the first few thousand.
fn gaps(files: &[JournalFile]) -> Vec<u64> {
    let next = files.iter().skip(1);
    files
        .iter()
        .zip(next)
        .flat_map(|(one, next)| one.number.saturating_add(1)..next.number)
        .take(4096)
        .collect()
}

pub(super) fn io_at(path: &Path, source: io::Error) -> Error {
    Error::Io {
        path: path.to_path_buf(),
        source,
    }
}
