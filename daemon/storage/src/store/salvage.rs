//! Reads the rows of a store that the storage engine cannot open, or not read, from the blocks of its tables and from its
//! journals, and builds a new store of them.
//!
//! One flipped bit in a manifest or a table makes fjall refuse the whole store. But every block of a table says where it
//! begins, how long it is and what its checksum is. So tables are searched for blocks, whatever their indexes and
//! manifests say, and only damaged blocks are lost. Only the keyspaces that no view can be rebuilt from are read. Of
//! several versions of a row the newest counts.

use std::collections::HashMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use lsm_tree::coding::Decode;
use lsm_tree::table::block::decoder::ParsedItem;
use lsm_tree::table::block::{BlockType, Header};
use lsm_tree::table::{Block, DataBlock};
use lsm_tree::{CompressionType, InternalValue, ValueType};

use super::durable::{parent, sync_folder};
use super::journal::{ItemKind, JournalScan};
use super::{Error, Keyspace, Limits, RowsMut, Store, Transaction};

/// The bytes with which every block begins (lsm-tree 3.1, `file.rs`).
const BLOCK_BEGINS: [u8; 4] = *b"LSM\x03";
/// Maximum size of a block, uncompressed, in bytes; the engine writes blocks of some KiB, and larger ones for large rows.
const BLOCK_BYTES_MAX: u32 = 64 << 20;
/// Bytes of rows per commit.
const BATCH_BYTES: usize = 4 << 20;
/// Keyspace of fjall that holds the names of the others, as `n` and the number (big-endian).
const NAMES: u64 = 0;

/// A keyspace that is read, and whether a row (key and value) may be one of its rows.
pub type KeyspaceRows = (Keyspace, fn(&[u8], &[u8]) -> bool);

/// The result of a salvage.
#[derive(Debug)]
pub struct Salvaged {
    /// Number of rows in the new store.
    pub rows: u64,
    /// Number of damaged blocks.
    pub damaged_blocks: u64,
    /// Where the old store is now.
    pub kept: PathBuf,
}

/// Builds a store in the place of a damaged one, with the rows of the keyspaces `wanted` that can be read. The old one is
/// moved to `kept`. A kill at any moment leaves the old store or the new one.
///
/// # Errors
/// [`Error`]; the old store is where it was, or complete in `kept`.
pub fn salvage(
    dir: &Path,
    spaces: &[Keyspace],
    wanted: &[KeyspaceRows],
    kept: &Path,
    limits: &Limits,
) -> Result<Salvaged, Error> {
    let id = Store::identify(dir)?;
    let engine = Store::engine_dir(dir);
    let aside = aside(dir);
    match std::fs::remove_dir_all(&aside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(Error::file("removing", &aside)(error));
        }
        Ok(()) | Err(_) => {}
    }
    std::fs::create_dir_all(&aside).map_err(Error::file("creating", &aside))?;
    Store::build(&aside, id, spaces, limits)?;
    let (store, _) = Store::open(&aside, spaces, limits)?;
    let mut files = EngineFiles::of(&engine, wanted)?;
    let mut newest: HashMap<(usize, Vec<u8>), u64> = HashMap::new();
    files.each_row(&mut |row| {
        let of = newest.entry((row.space, row.key.to_vec())).or_default();
        *of = (*of).max(row.seqno);
        Ok(())
    })?;
    files.damaged_blocks = 0;
    let mut copied = Copied {
        store: &store,
        tx: Some(Transaction::new(&store)),
        bytes: 0,
        rows: 0,
    };
    files.each_row(&mut |row| {
        let (Some(value), Some((space, _))) = (row.value, wanted.get(row.space)) else {
            return Ok(());
        };
        // Removed once copied: a row may be in a table and still in a journal.
        let key = (row.space, row.key.to_vec());
        match newest.get(&key) {
            Some(seqno) if *seqno == row.seqno => newest.remove(&key),
            Some(_) | None => return Ok(()),
        };
        copied.put(*space, row.key, value)
    })?;
    let rows = copied.finish()?;
    store.flush()?;
    drop(store);
    let moved = |from: &Path, to: &Path| {
        std::fs::rename(from, to)
            .and_then(|()| sync_folder(parent(to)))
            .map_err(Error::file("renaming", from))
    };
    std::fs::create_dir_all(parent(kept)).map_err(Error::file("creating", parent(kept)))?;
    moved(dir, kept)?;
    moved(&aside, dir)?;
    Ok(Salvaged {
        rows,
        damaged_blocks: files.damaged_blocks,
        kept: kept.to_path_buf(),
    })
}

/// Completes a salvage that was killed between its last two steps.
///
/// # Errors
/// The system's error.
pub fn finish(dir: &Path) -> Result<(), Error> {
    let aside = aside(dir);
    if dir.exists() || !aside.exists() {
        return Ok(());
    }
    std::fs::rename(&aside, dir)
        .and_then(|()| sync_folder(parent(dir)))
        .map_err(Error::file("renaming", &aside))
}

fn aside(dir: &Path) -> PathBuf {
    dir.with_file_name(".store.salvaged")
}

/// One version of a row; without a value it was removed.
struct Row<'r> {
    space: usize,
    key: &'r [u8],
    seqno: u64,
    value: Option<&'r [u8]>,
}

type RowVisitor<'v> = &'v mut dyn FnMut(Row<'_>) -> Result<(), Error>;

/// The files of a damaged engine, with the keyspaces that are wanted.
struct EngineFiles {
    engine: PathBuf,
    /// Number of each keyspace and its index in the list of the wanted ones.
    numbers: HashMap<u64, usize>,
    damaged_blocks: u64,
}

impl EngineFiles {
    fn of(engine: &Path, wanted: &[KeyspaceRows]) -> Result<Self, Error> {
        let mut files = Self {
            engine: engine.to_path_buf(),
            numbers: HashMap::new(),
            damaged_blocks: 0,
        };
        let mut names: HashMap<u64, (u64, String)> = HashMap::new();
        files.tables(NAMES, &mut |item| {
            let number = item.key.user_key.strip_prefix(b"n");
            let number = number.and_then(|number| <[u8; 8]>::try_from(number).ok());
            if let Some(number) = number.map(u64::from_be_bytes)
                && let Ok(name) = std::str::from_utf8(&item.value)
            {
                let newest = names.entry(number).or_default();
                if item.key.seqno >= newest.0 {
                    *newest = (item.key.seqno, name.to_owned());
                }
            }
            Ok(())
        })?;
        let index = |name: &str| wanted.iter().position(|(space, _)| space.name() == name);
        files.numbers = names
            .iter()
            .filter_map(|(number, (_, name))| Some((*number, index(name)?)))
            .collect();
        if files.numbers.len() < wanted.len() {
            let named: Vec<u64> = names.into_keys().collect();
            files.recognise(wanted, &named)?;
        }
        Ok(files)
    }

    /// Finds keyspaces whose names are lost: all of their rows may be rows of a wanted one, and no other's are. If all rows
    /// can be read and none is of a wanted one, that is empty.
    ///
    /// # Errors
    /// When it is unknown where the rows of a wanted keyspace are.
    fn recognise(&mut self, wanted: &[KeyspaceRows], named: &[u64]) -> Result<(), Error> {
        let lost: Vec<usize> = (0..wanted.len())
            .filter(|space| !self.numbers.values().any(|known| known == space))
            .collect();
        let mut unnamed = Self {
            engine: self.engine.clone(),
            // Here a number stands for itself.
            numbers: self
                .keyspaces()?
                .into_iter()
                .filter(|number| *number != NAMES && !named.contains(number))
                .filter_map(|number| Some((number, usize::try_from(number).ok()?)))
                .collect(),
            damaged_blocks: 0,
        };
        let mut may_be: HashMap<usize, Vec<usize>> = HashMap::new();
        unnamed.each_row(&mut |row| {
            let of = may_be.entry(row.space).or_insert_with(|| lost.clone());
            of.retain(|space| {
                let fits = wanted.get(*space).map(|(_, fits)| fits);
                fits.is_some_and(|fits| row.value.is_none_or(|value| fits(row.key, value)))
            });
            Ok(())
        })?;
        for space in lost {
            let mut found = may_be.iter().filter(|(_, of)| of.contains(&space));
            match (found.next(), found.next()) {
                (Some((number, _)), None) => drop(self.numbers.insert(*number as u64, space)),
                (None, _) if unnamed.damaged_blocks == 0 => {}
                (Some(_) | None, _) => {
                    return Err(Error::corrupt(
                        "engine",
                        &[],
                        "the names of its keyspaces are lost, so they cannot be read; restore a backup",
                    ));
                }
            }
        }
        Ok(())
    }

    /// Lists the numbers of the keyspaces.
    fn keyspaces(&self) -> Result<Vec<u64>, Error> {
        let folder = self.engine.join("keyspaces");
        let io = Error::file("listing", &folder);
        let entries = std::fs::read_dir(&folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let entries = entries.map_err(io)?;
        let names = entries.iter().map(std::fs::DirEntry::file_name);
        Ok(names
            .filter_map(|name| name.to_str()?.parse().ok())
            .collect())
    }

    /// Visits every version of every row, from tables and journals, in no order.
    fn each_row(&mut self, visit: RowVisitor<'_>) -> Result<(), Error> {
        for (number, space) in self.numbers.clone() {
            self.tables(number, &mut |item| {
                visit(Row {
                    space,
                    key: &item.key.user_key,
                    seqno: item.key.seqno,
                    value: (item.key.value_type == ValueType::Value).then_some(&*item.value),
                })
            })?;
        }
        let mut result = Ok(());
        let numbers = &self.numbers;
        let scanned = JournalScan::read(&self.engine, |_, batch, item| {
            let Some(space) = numbers.get(&item.keyspace).filter(|_| result.is_ok()) else {
                return;
            };
            result = visit(Row {
                space: *space,
                key: item.key,
                seqno: batch.seqno,
                value: (item.kind == ItemKind::Value).then_some(item.value),
            });
        });
        if let Err(error) = scanned {
            tracing::warn!(%error, "the journals were not read");
        }
        result
    }

    /// Visits the rows in every table of a keyspace.
    fn tables(
        &mut self,
        number: u64,
        visit: &mut dyn FnMut(InternalValue) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let folder = self.engine.join(format!("keyspaces/{number}/tables"));
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::file("listing", &folder)(error)),
        };
        for entry in entries {
            let path = entry.map_err(Error::file("listing", &folder))?.path();
            // A table has some MiB.
            let bytes = std::fs::read(&path).map_err(Error::file("reading", &path))?;
            self.damaged_blocks += blocks(&bytes, visit)?;
        }
        Ok(())
    }
}

/// Visits the rows of every intact block in the bytes of a table; returns the number of damaged blocks.
fn blocks(
    bytes: &[u8],
    visit: &mut dyn FnMut(InternalValue) -> Result<(), Error>,
) -> Result<u64, Error> {
    let mut damaged = 0;
    let mut at = 0;
    while let Some(found) = bytes
        .get(at..)
        .and_then(|rest| memchr::memmem::find(rest, &BLOCK_BEGINS))
    {
        at += found;
        let block = bytes.get(at..).unwrap_or_default();
        at += 1;
        let Ok(header) = Header::decode_from(&mut &*block) else {
            continue;
        };
        let length = Header::serialized_len() + header.data_length as usize;
        let is_data = matches!(header.block_type, BlockType::Data);
        // Its length is covered by the checksum of the header, but not by ours: a crafted one claims anything.
        if length > block.len() || header.uncompressed_length > BLOCK_BYTES_MAX {
            continue;
        }
        at += length - 1;
        if !is_data {
            continue;
        }
        match rows_of(block.get(..length).unwrap_or_default(), &header) {
            Some(rows) => rows.into_iter().try_for_each(&mut *visit)?,
            None => damaged += 1,
        }
    }
    Ok(damaged)
}

/// Decodes the rows of a block; `None` when it is damaged.
fn rows_of(block: &[u8], header: &Header) -> Option<Vec<InternalValue>> {
    // The header does not say whether a block is compressed, and compression may save nothing.
    let is_plain = header.data_length == header.uncompressed_length;
    let plain = is_plain.then(|| decoded(block, CompressionType::None));
    plain
        .flatten()
        .or_else(|| decoded(block, CompressionType::Lz4))
}

fn decoded(block: &[u8], compression: CompressionType) -> Option<Vec<InternalValue>> {
    // The engine's decoder trusts a block whose checksum fits.
    catch_unwind(AssertUnwindSafe(|| {
        let block = DataBlock::new(Block::from_reader(&mut &*block, compression).ok()?);
        let bytes = block.as_slice().clone();
        let rows = block.iter().map(|item| item.materialize(&bytes));
        Some(rows.collect())
    }))
    .ok()
    .flatten()
}

/// The rows that are copied into the new store.
struct Copied<'s> {
    store: &'s Store,
    tx: Option<Transaction<'s>>,
    bytes: usize,
    rows: u64,
}

impl Copied<'_> {
    fn put(&mut self, space: Keyspace, key: &[u8], value: &[u8]) -> Result<(), Error> {
        if let Some(tx) = &mut self.tx {
            tx.put(space, key, value);
        }
        self.rows += 1;
        self.bytes += key.len() + value.len();
        match self.bytes >= BATCH_BYTES {
            true => self.write(),
            false => Ok(()),
        }
    }

    fn write(&mut self) -> Result<(), Error> {
        let full = self.tx.replace(Transaction::new(self.store));
        self.bytes = 0;
        if let Some(full) = full {
            self.store.commit(&full.into_changes(), true)?;
            self.store.sync()?;
            self.store.throttle();
        }
        Ok(())
    }

    fn finish(mut self) -> Result<u64, Error> {
        self.write()?;
        Ok(self.rows)
    }
}
