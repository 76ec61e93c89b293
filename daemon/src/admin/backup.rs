//! `lored backup`, `restore` and `verify --backup`: copy a store to another folder and restore it.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use lore::connection::Connection;
use lore::paths::{Paths, ensure_folder};
use lore::protocol::Position;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::{Outcome, PROGRESS_EVERY, StartError, folder, lock_for, open, text};
use crate::backup::check::{BackupContents, check};
use crate::backup::make::{BackupOptions, Report, make};
use crate::backup::manifest::Manifest;
use crate::backup::restore::restore_to;
use crate::backup::{BackupSnapshot, DaemonSource, OfflineSource, Source};
use crate::clock::Clock;
use crate::config::Config;
use crate::engine::seal_key;
use crate::projections::Projections;
use crate::service::Lock;
use crate::store::seal::{ForgettingCopies, SealFile, SealKey};
use crate::store::{Blobs, StoreId, creation};

/// Files of a data folder without content: the locks of the daemon and of clients that start one.
const LOCKS: [&str; 2] = ["lored.lock", "spawn.lock"];

/// Backs up the store to a folder: through the running daemon, or else by opening the store.
///
/// # Errors
/// A sentence, when there is no new backup; an existing one is unchanged.
pub fn backup(config: &Config, paths: &Paths, to: &Path, choices: BackupOptions) -> Outcome {
    let to = &std::path::absolute(to).map_err(text)?;
    if is_inside(to, &paths.data) {
        return Err(format!(
            "{} lies in the data folder {}: it would be lost with it; give a folder elsewhere, best \
             on another disk",
            to.display(),
            paths.data.display()
        ));
    }
    let report = match lock_for("backup", paths) {
        Ok(_lock) => {
            let opened = open(config, paths)?;
            if let Some(damage) = &opened.damage {
                lore::errln!(
                    "lored: the store is damaged, and is backed up as far as it is whole: {damage}"
                );
            }
            let blobs = Blobs::open(&folder(paths).blobs()).map_err(text)?;
            let shelf = BackupSnapshot {
                rows: &opened.store,
                blobs: &blobs,
                fold: &Projections,
                tail: opened.tail,
                store: opened.store.id(),
            };
            let mut own = OfflineSource {
                shelf,
                data: &paths.data,
            };
            run(&mut own, to, choices)?
        }
        Err(StartError::Served(_)) => {
            let connection = Connection::connect(&paths.socket, &Default::default());
            run(&mut DaemonSource(connection.map_err(text)?), to, choices)?
        }
        Err(StartError::Never(why)) => return Err(why),
    };
    print(&report, to);
    Ok(true)
}

fn run(source: &mut dyn Source, to: &Path, choices: BackupOptions) -> Result<Report, String> {
    let mut meter = ProgressLine::new();
    let report = make(source, to, &Clock::System, choices, &mut |at, aim| {
        meter.show(&format!("{at} of {aim}"));
    });
    meter.end();
    report.map_err(text)
}

fn print(report: &Report, to: &Path) {
    let new = report.position.0 - report.before.0.min(report.position.0);
    lore::outln!(
        "{} holds positions 1 to {}: {new} events new, {} blobs and {} bytes written",
        to.display(),
        report.position,
        report.blobs,
        report.written
    );
    if report.forgotten_since > 0 {
        lore::outln!(
            "since it was begun, content was forgotten {} times, and is still in it: `lored backup \
             --full` takes it out",
            report.forgotten_since
        );
    }
}

/// Returns whether a path is in a folder or is that folder; both must exist.
fn is_inside(path: &Path, folder: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else {
        return path.starts_with(folder);
    };
    let real = path.ancestors().find_map(|part| {
        let real = part.canonicalize().ok()?;
        Some(real.join(path.strip_prefix(part).unwrap_or(Path::new(""))))
    });
    real.is_none_or(|real| real.starts_with(folder))
}

/// Moves the seal that a restore has left in the data folder to the seals, as its first daemon would.
fn adopt_seal(paths: &Paths, key: &SealKey, store: StoreId) -> Result<(), String> {
    let folder = super::folder(paths);
    super::repair::put_aside_here(&folder)?;
    let end = SealFile::open(&folder.restored(), key, store).map_err(text)?;
    SealFile::create(&folder.seals, key, store, end.end()).map_err(text)?;
    ForgettingCopies::of(&folder.seals, store)
        .remove()
        .map_err(text)?;
    // If it stays, it is not read any more.
    let _ = std::fs::remove_dir_all(folder.restored());
    Ok(())
}

/// Restores a backup as a data folder: at the configured paths or elsewhere.
///
/// # Errors
/// A sentence, when nothing was restored.
pub fn restore(config: &Config, paths: &Paths, from: &Path, into: Option<&Path>) -> Outcome {
    let data = match into {
        Some(into) => std::path::absolute(into).map_err(text)?,
        None => paths.data.clone(),
    };
    let _turn = clear_the_way(&data)?;
    let manifest = Manifest::read(from).map_err(text)?;
    let is_here = data == paths.data;
    let key = match seal_key(&super::folder(paths), &Clock::System) {
        Ok(key) => Some(key),
        Err(error) if is_here => return Err(text(error)),
        // The first daemon there seals the log.
        Err(error) => {
            lore::errln!("lored: the restored log is not sealed yet: {error}");
            None
        }
    };
    let mut meter = ProgressLine::new();
    let held = restore_to(
        from,
        &manifest,
        &data,
        &Projections,
        &config.engine,
        key.as_ref(),
        &mut |what, at| {
            if at.0.is_multiple_of(PROGRESS_EVERY) {
                meter.show(&format!("{what} up to {at}"));
            }
        },
    );
    meter.end();
    let held = held.map_err(text)?;
    if let Some(key) = key.filter(|_| is_here) {
        adopt_seal(paths, &key, manifest.store_id(from).map_err(text)?)?;
    }
    lore::outln!(
        "restored to {}: {}; indexes for searching are rebuilt by the daemon",
        data.display(),
        summary(&held)
    );
    Ok(true)
}

/// Ensures that the target does not exist and that no other restore creates it: removes an empty folder, refuses a
/// full one.
fn clear_the_way(data: &Path) -> Result<RestoreLock, String> {
    let parent = data.parent().ok_or("a data folder has a name")?;
    if !parent.exists() {
        ensure_folder(parent).map_err(text)?;
    }
    let turn = RestoreLock::take(data)?;
    if data.symlink_metadata().is_ok() {
        let lock = data.join("lored.lock").exists();
        let lock = lock.then(|| Lock::take(&data.join("lored.lock")));
        let _held = lock.transpose().map_err(text)?;
        let entries =
            std::fs::read_dir(data).map_err(|error| format!("{}: {error}", data.display()))?;
        let names = entries.flatten().map(|entry| entry.file_name());
        let names: Vec<String> = names
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        if let Some(name) = names.iter().find(|name| !LOCKS.contains(&name.as_str())) {
            return Err(format!(
                "{} is not empty (it has `{name}`), and a restore overwrites nothing: move it away, or name \
                 another folder with --into",
                data.display()
            ));
        }
        for name in names {
            std::fs::remove_file(data.join(name)).map_err(text)?;
        }
        std::fs::remove_dir(data).map_err(text)?;
    }
    // Remove the leftovers of a killed restore next to it.
    creation::sweep(data).map_err(text)?;
    Ok(turn)
}

/// The right to restore to a place, held by a locked file next to it. Without the lock, a second restore would remove
/// the folder that the first one builds.
struct RestoreLock {
    path: PathBuf,
    _file: File,
}

impl RestoreLock {
    fn take(data: &Path) -> Result<Self, String> {
        let mut name = OsString::from(".");
        name.push(data.file_name().ok_or("a data folder has a name")?);
        name.push(".restoring");
        let path = data.with_file_name(name);
        let reported = |error: io::Error| format!("{}: {error}", path.display());
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&path)
            .map_err(reported)?;
        let is_free = match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => true,
            Err(Errno::WOULDBLOCK) => false,
            Err(error) => return Err(reported(error.into())),
        };
        // The previous holder removes the file on release, and a lock on an unlinked file has no effect.
        let ours = file.metadata().map_err(reported)?;
        let named = path.symlink_metadata();
        let is_named =
            named.is_ok_and(|named| (named.dev(), named.ino()) == (ours.dev(), ours.ino()));
        if !is_free || !is_named {
            return Err(format!(
                "another restore to {} is going on: wait for it",
                data.display()
            ));
        }
        Ok(Self { path, _file: file })
    }
}

impl Drop for RestoreLock {
    fn drop(&mut self) {
        // If it stays, the next restore takes it over.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Verifies a backup without restoring it.
///
/// # Errors
/// A sentence, when the backup is damaged or the folder is not a backup.
pub fn verify(from: &Path) -> Outcome {
    let manifest = Manifest::read(from).map_err(text)?;
    let mut meter = ProgressLine::new();
    let held = check(from, &manifest, &mut |at: Position| {
        if at.0.is_multiple_of(PROGRESS_EVERY) {
            meter.show(&format!("verified {at} of {}", manifest.position));
        }
    });
    meter.end();
    match held {
        Ok(held) => {
            lore::outln!(
                "the backup of {} holds {}: all is well",
                manifest.made_at,
                summary(&held)
            );
            Ok(true)
        }
        Err(error) => {
            lore::outln!("{error}");
            Ok(false)
        }
    }
}

fn summary(held: &BackupContents) -> String {
    let BackupContents {
        events,
        forgotten,
        objects,
        blobs,
        ..
    } = held;
    let forgotten = match forgotten {
        0 => String::new(),
        count => format!(" ({count} of them forgotten on purpose)"),
    };
    format!("{events} events{forgotten}, {objects} objects, {blobs} blobs")
}

/// A progress line for people.
struct ProgressLine {
    is_shown: bool,
    shows: bool,
}

impl ProgressLine {
    fn new() -> Self {
        Self {
            is_shown: false,
            shows: std::io::stderr().is_terminal(),
        }
    }

    fn show(&mut self, text: &str) {
        if self.shows {
            lore::err!("\r{text}");
            self.is_shown = true;
        }
    }

    fn end(&mut self) {
        if self.is_shown {
            lore::errln!("");
        }
    }
}
