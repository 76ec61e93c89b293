//! Verifies the small files of a store that fjall trusts without verification.
//!
//! Each keyspace has a `current` file: the number of its table of contents `vN`, the XXH3 of that whole file, and a
//! type byte. lsm-tree writes the checksum and never compares it. A flipped bit in `vN` can give a table a higher
//! sequence number; then all journal rows of that keyspace are skipped silently at the open. If `current` is
//! missing, fjall deletes the keyspace's folder; if `version` is missing, it creates an empty store. Of the tables,
//! only the end is checked (see [`super::archive`]), because each block is verified when it is read.

use super::{Error, archive, io_at};
use std::{fs::File, io, path::Path};
use xxhash_rust::xxh3::Xxh3;

const VERSION: [u8; 4] = *b"FJL\x03";
const CURRENT_BYTES: usize = 25;
const TABLE_ROW_BYTES: usize = 33;

/// Checks the `version` file of a store.
///
/// # Errors
/// [`Error::NoStore`], [`Error::Version`], [`Error::Io`].
pub(super) fn version(store: &Path) -> Result<(), Error> {
    let version = store.join("version");
    match std::fs::read(&version) {
        // fjall reads the first four bytes and accepts further ones.
        Ok(bytes) if bytes.first_chunk() == Some(&VERSION) => Ok(()),
        Ok(_) => Err(Error::Version(version)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(Error::NoStore(store.to_path_buf()))
        }
        Err(source) => Err(io_at(&version, source)),
    }
}

/// Checks the table of contents of each keyspace.
///
/// # Errors
/// [`Error::Manifest`], [`Error::Io`].
pub(super) fn keyspaces(store: &Path) -> Result<(), Error> {
    let folder = store.join("keyspaces");
    let mut has_names = false;
    for entry in std::fs::read_dir(&folder).map_err(|source| io_at(&folder, source))? {
        let entry = entry.map_err(|source| io_at(&folder, source))?;
        if entry
            .file_type()
            .map_err(|source| io_at(&entry.path(), source))?
            .is_dir()
        {
            keyspace(&entry.path())?;
            has_names |= entry.file_name() == "0" && entry.path().join("current").exists();
        }
    }
    // Keyspace 0 contains the names of the others; without it fjall deletes them all.
    if has_names {
        Ok(())
    } else {
        Err(Error::Manifest(folder.join("0")))
    }
}

fn keyspace(folder: &Path) -> Result<(), Error> {
    let damaged = || Error::Manifest(folder.to_path_buf());
    let current = folder.join("current");
    let bytes = match std::fs::read(&current) {
        Ok(bytes) => bytes,
        // A keyspace whose creation was interrupted has no tables yet, and fjall removes it correctly.
        Err(error) if error.kind() == io::ErrorKind::NotFound && !has_tables(folder)? => {
            return Ok(());
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(damaged()),
        Err(source) => return Err(io_at(&current, source)),
    };
    let bytes: [u8; CURRENT_BYTES] = bytes.try_into().map_err(|_| damaged())?;
    let (number, rest) = bytes.split_first_chunk::<8>().ok_or_else(damaged)?;
    let (sum, kind) = rest.split_first_chunk::<16>().ok_or_else(damaged)?;
    let contents = folder.join(format!("v{}", u64::from_le_bytes(*number)));
    let found = match digest(&contents) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(damaged()),
        Err(source) => return Err(io_at(&contents, source)),
    };
    if found != u128::from_le_bytes(*sum) || kind != [0] {
        return Err(damaged());
    }
    let ids = table_ids(&contents).map_err(|source| io_at(&contents, source))?;
    for id in ids.ok_or_else(damaged)? {
        table(&folder.join("tables").join(id.to_string()))?;
    }
    Ok(())
}

/// Checks that a table can be opened; its content is verified when it is read.
fn table(path: &Path) -> Result<(), Error> {
    match archive::sections(path) {
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err(Error::Table(path.to_path_buf())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(Error::Table(path.to_path_buf()))
        }
        Err(source) => Err(io_at(path, source)),
    }
}

/// Returns the tables that a manifest names. Others are leftovers of interrupted work, which fjall removes.
fn table_ids(manifest: &Path) -> io::Result<Option<Vec<u64>>> {
    let Some(sections) = archive::sections(manifest)? else {
        return Ok(None);
    };
    let Some((_, range)) = sections.into_iter().find(|(name, _)| name == b"tables") else {
        return Ok(None);
    };
    let bytes = std::fs::read(manifest)?;
    let from = usize::try_from(range.start).unwrap_or(usize::MAX);
    let to = usize::try_from(range.end).unwrap_or(usize::MAX);
    Ok(bytes.get(from..to).and_then(ids_of))
}

/// Parses levels (u8) of runs (u8) of tables (u32), each an id u64, checksum type u8, checksum (16), sequence
/// number u64.
fn ids_of(bytes: &[u8]) -> Option<Vec<u64>> {
    let mut ids = Vec::new();
    let (levels, mut rest) = bytes.split_first()?;
    for _ in 0..*levels {
        let (runs, after) = rest.split_first()?;
        rest = after;
        for _ in 0..*runs {
            let (tables, after) = rest.split_first_chunk::<4>()?;
            rest = after;
            for _ in 0..u32::from_le_bytes(*tables) {
                let (row, after) = rest.split_first_chunk::<TABLE_ROW_BYTES>()?;
                ids.push(u64::from_le_bytes(*row.first_chunk()?));
                rest = after;
            }
        }
    }
    rest.is_empty().then_some(ids)
}

fn has_tables(folder: &Path) -> Result<bool, Error> {
    let tables = folder.join("tables");
    match std::fs::read_dir(&tables) {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(io_at(&tables, source)),
    }
}

fn digest(path: &Path) -> io::Result<u128> {
    let mut hasher = Hasher(Xxh3::new());
    io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok(hasher.0.digest128())
}

struct Hasher(Xxh3);

impl io::Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
