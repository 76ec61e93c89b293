//! Copies of damaged journals, and reports that refuse writes until a person accepts the damage.
//!
//! A finding is a folder `<unix-seconds>-N` with `report.json` and the journals that are about to be cut. It is
//! built under a hidden name, synced and renamed, so that a folder with a real name is complete. A finding with an
//! `accepted` file is closed.

use super::report::bare;
use super::{Damage, Error, LossCause, Positions, RecoveryPaths, io_at};
use crate::store::{
    creation,
    durable::{parent, sync_folder},
    journal::Corruption,
};
use std::{
    fs::{DirBuilder, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

const REPORT: &str = "report.json";
const ACCEPTED: &str = "accepted";
/// Beginning of the name of a whole store that was put into a new one.
pub const STORE_COPY: &str = "store-";
/// Maximum number of findings per second.
const NUMBERS_MAX: u32 = 10_000;
/// Maximum size of a report, in bytes; far above any real one.
const REPORT_BYTES_MAX: u64 = 1 << 20;

/// Accepts every finding in the folder of damaged journals, so that later starts do not refuse writes for it.
/// Nothing is deleted.
pub fn accept(damaged: &Path) -> Result<(), Error> {
    for report in reports(damaged)? {
        if let Some(folder) = &report.folder {
            accept_one(folder)?;
        }
    }
    Ok(())
}

/// Reports positions that could not be read from damaged files, so that later starts refuse writes until a person accepts
/// it. Returns the report.
///
/// # Errors
/// [`Error::Io`].
pub fn report_unreadable(site: &RecoveryPaths<'_>, lost: Vec<Positions>) -> Result<Damage, Error> {
    let mut damage = Damage {
        positions_lost: lost,
        ..bare(LossCause::Unreadable, None, None)
    };
    if !reports(site.damaged)?
        .iter()
        .any(|known| known.covers(&damage))
    {
        keep(site, &[], &mut damage)?;
    }
    Ok(damage)
}

/// Removes the copies of journals and of stores, because they may contain forgotten content. The reports stay. Returns
/// the number of removed copies.
pub fn remove_copies(damaged: &Path) -> Result<usize, Error> {
    let mut removed = 0;
    for folder in folders_of(damaged)? {
        let name = folder.file_name().unwrap_or_default();
        if name.as_encoded_bytes().starts_with(STORE_COPY.as_bytes()) {
            std::fs::remove_dir_all(&folder).map_err(|source| io_at(&folder, source))?;
            sync_folder(damaged).map_err(|source| io_at(damaged, source))?;
            removed += 1;
            continue;
        }
        let before = removed;
        let remove = || -> io::Result<usize> {
            let mut copies = 0;
            for entry in std::fs::read_dir(&folder)? {
                let path = entry?.path();
                if path.extension().is_some_and(|extension| extension == "jnl") {
                    std::fs::remove_file(&path)?;
                    copies += 1;
                }
            }
            Ok(copies)
        };
        removed += remove().map_err(|source| io_at(&folder, source))?;
        if removed > before {
            sync_folder(&folder).map_err(|source| io_at(&folder, source))?;
        }
    }
    Ok(removed)
}

/// Accepts one finding.
pub(super) fn accept_one(folder: &Path) -> Result<(), Error> {
    let path = folder.join(ACCEPTED);
    let mark = || -> io::Result<()> {
        private()
            .create(true)
            .truncate(true)
            .open(&path)?
            .sync_all()?;
        sync_folder(folder)
    };
    mark().map_err(|source| io_at(&path, source))
}

/// Lists the findings that are not accepted, oldest first.
pub(super) fn reports(damaged: &Path) -> Result<Vec<Damage>, Error> {
    let mut folders = Vec::new();
    for path in folders_of(damaged)? {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let numbers = name
            .split_once('-')
            .map(|(seconds, n)| (seconds.parse::<u64>(), n.parse::<u32>()));
        if let Some((Ok(seconds), Ok(n))) = numbers {
            folders.push(((seconds, n), path));
        }
    }
    folders.sort();
    let mut open = Vec::new();
    for (_, folder) in folders {
        if folder.join(ACCEPTED).exists() {
            continue;
        }
        let mut damage = report(&folder)?;
        damage.folder = Some(folder);
        if damage.cause != LossCause::TornTail {
            open.push(damage);
        }
    }
    Ok(open)
}

fn report(folder: &Path) -> Result<Damage, Error> {
    let path = folder.join(REPORT);
    let mut bytes = Vec::new();
    File::open(&path)
        .and_then(|file| file.take(REPORT_BYTES_MAX).read_to_end(&mut bytes))
        .and_then(|_| serde_json::from_slice(&bytes).map_err(io::Error::from))
        .map_err(|source| io_at(&path, source))
}

/// Stores copies of the damaged journals and a report; sets the folder in `damage`.
pub(super) fn keep(
    site: &RecoveryPaths<'_>,
    corruptions: &[Corruption],
    damage: &mut Damage,
) -> Result<(), Error> {
    let io = |source| io_at(site.damaged, source);
    match DirBuilder::new().mode(0o700).create(site.damaged) {
        Ok(()) => sync_folder(parent(site.damaged)).map_err(io)?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(io(error)),
    }
    let folder = free_name(site).map_err(io)?;
    let built = creation::create(&folder, |aside| -> io::Result<()> {
        for corruption in corruptions {
            copy(corruption, aside)?;
        }
        let text = serde_json::to_vec_pretty(damage)?;
        private()
            .create_new(true)
            .open(aside.join(REPORT))?
            .write_all(&text)
    });
    match built {
        Ok(()) => {
            damage.folder = Some(folder);
            Ok(())
        }
        Err(creation::Error::Build { path, source } | creation::Error::Io { path, source }) => {
            Err(io_at(&path, source))
        }
        Err(creation::Error::Exists(path)) => {
            Err(io_at(&path, io::ErrorKind::AlreadyExists.into()))
        }
    }
}

/// Removes incomplete copies that were interrupted before the rename; their journals are unchanged.
pub(super) fn sweep(damaged: &Path) -> Result<(), Error> {
    for path in folders_of(damaged)? {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if name.starts_with('.') && name.contains(".creating-") {
            std::fs::remove_dir_all(&path).map_err(|source| io_at(&path, source))?;
        }
    }
    Ok(())
}

fn folders_of(damaged: &Path) -> Result<Vec<PathBuf>, Error> {
    let io = |source| io_at(damaged, source);
    let entries = match std::fs::read_dir(damaged) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io(error)),
    };
    let mut folders = Vec::new();
    for entry in entries {
        let entry = entry.map_err(io)?;
        if entry.file_type().map_err(io)?.is_dir() {
            folders.push(entry.path());
        }
    }
    Ok(folders)
}

fn free_name(site: &RecoveryPaths<'_>) -> io::Result<PathBuf> {
    (0..NUMBERS_MAX)
        .map(|n| site.damaged.join(format!("{}-{n}", site.unix_seconds)))
        .find(|folder| folder.symlink_metadata().is_err())
        .ok_or_else(|| io::ErrorKind::AlreadyExists.into())
}

/// Copies a journal up to its last non-zero byte, and sets the copy to the same length.
fn copy(corruption: &Corruption, folder: &Path) -> io::Result<()> {
    let source = File::open(&corruption.file.path)?;
    let len = source.metadata()?.len();
    let target = folder.join(format!("{}.jnl", corruption.file.number));
    let mut target = private().create_new(true).open(target)?;
    io::copy(&mut source.take(corruption.lost.end), &mut target)?;
    target.set_len(len)
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}
