//! `lored repair`: shows damage, and lets a person accept what is left.

use std::ops::ControlFlow;
use std::path::PathBuf;

use lore::paths::Paths;

use super::{Outcome, folder, lock_for, open, opened_store, text};
use crate::clock::Clock;
use crate::config::Config;
use crate::engine::{
    DataFolder, OpenError, OpenedStore, SealedLog, mark_unreadable, newest_forgetting, replay,
    seal, seal_key,
};
use crate::log::{Log, Position};
use crate::projections::Projections;
use crate::service::Lock;
use crate::store::recovery;
use crate::store::seal::{ForgettingCopies, KeyError, Origin, SealFile, SealKey, Sealer, place};
use crate::store::watermark::{DurableHead, WatermarkFile};
use crate::store::{Direction, Error, Rows, Store, StoreId};

/// Shows the damage and, with `accept`, accepts it.
///
/// # Errors
/// A message, when a daemon is running or the store cannot be opened.
pub fn repair(config: &Config, paths: &Paths, accept: bool) -> Outcome {
    let data = folder(paths);
    if !data.store().exists() && (data.watermark_path().exists() || sealed_here(&data).is_some()) {
        return repair_vanished(paths, accept);
    }
    let _lock = lock_for("repair", paths)?;
    let mut opened = match (opened_store(config, &data), accept) {
        (Err(error @ OpenError::OtherStore { before, .. }), true) => {
            lore::outln!("{error}");
            put_aside(&data, before)?;
            open(config, paths)?
        }
        (Err(error @ OpenError::Unforgotten { .. }), true) => {
            lore::outln!("{error}");
            put_aside(&data, Store::identify(&data.store()).map_err(text)?)?;
            open(config, paths)?
        }
        (opened, _) => opened.map_err(text)?,
    };
    if let Err(error) = readable(&opened.store) {
        lore::outln!("{error}; what can be read is put into a new store");
        mark_unreadable(&data, opened.store.id()).map_err(text)?;
        drop(opened);
        opened = open(config, paths)?;
    }
    let Some(damage) = &opened.damage else {
        lore::outln!(
            "nothing is damaged: {} events, the last one acknowledged",
            opened.tail.position
        );
        return Ok(true);
    };
    lore::outln!("{damage}");
    if !accept {
        lore::outln!(
            "The log is there up to position {}. To go on from there, run `lored repair --accept`; copies of damaged \
             journals stay in {}.",
            opened.tail.position,
            data.damaged().display()
        );
        return Ok(false);
    }
    begin_followers_anew(&data)?;
    recovery::accept(&data.damaged()).map_err(text)?;
    // The log continues as it is, and other events may get their positions.
    let copies = ForgettingCopies::of(&data.seals, opened.store.id());
    copies.remove().map_err(text)?;
    opened.store = rebuilt(config, &data, opened.store)?;
    let head = DurableHead {
        position: opened.tail.position.0,
        link: opened.tail.link.0,
    };
    WatermarkFile::create(&data.watermark_path(), opened.store.id().0, head).map_err(text)?;
    seal_accepted(&data, &opened)?;
    lore::outln!(
        "accepted: the log continues after position {}",
        opened.tail.position
    );
    Ok(true)
}

/// Reads every row once.
fn readable(store: &Store) -> Result<(), Error> {
    for space in store.keyspaces() {
        store.scan(
            space,
            &[],
            &[u8::MAX; 64],
            Direction::Forward,
            &mut |_, _| Ok(ControlFlow::Continue(())),
        )?;
    }
    Ok(())
}

/// Folds every view again: rows of events that are not accepted must not remain. What is not genuine by the old seal
/// becomes part of the log now, so nothing is checked with it.
fn rebuilt(config: &Config, data: &DataFolder, store: Store) -> Result<Store, String> {
    let store = store.with_sealer(None);
    replay::clear(&store, &Projections).map_err(text)?;
    let skipped = replay::catch_up(&store, &Projections, config.engine.progress).map_err(text)?;
    if let Some(lost) = skipped.describe() {
        lore::outln!("{lost}; they stay in the log, and reading them fails");
    }
    store.flush().map_err(text)?;
    remove_scratch(data);
    Ok(store)
}

/// A verification that was killed leaves its folder.
fn remove_scratch(data: &DataFolder) {
    if let Err(error) = crate::log_admin::verify::remove_left_over(&data.scratch()) {
        lore::errln!("{error}");
    }
}

/// Seals the log as it is. Codes of events that this key made stay in force.
fn seal_accepted(data: &DataFolder, opened: &OpenedStore) -> Result<(), String> {
    let clock = Clock::System;
    let key = match seal_key(data, &clock) {
        // The seals of the lost key prove nothing any more.
        Err(KeyError::Missing(path)) => SealKey::read_or_create(&path, None, &clock),
        other => other,
    }
    .map_err(text)?;
    let id = opened.store.id();
    let log = SealedLog {
        tail: opened.tail,
        forgotten: newest_forgetting(&opened.store).map_err(text)?,
        origin: Origin::Accepted,
        from: first_sealed(&opened.store, &key).map_err(text)?,
    };
    seal(data, &key, id, &log, &clock).map_err(text)?;
    Ok(())
}

/// Returns the position after the last event without a code of this key.
fn first_sealed(store: &Store, key: &SealKey) -> Result<Position, Error> {
    let sealer = Sealer::new(key, store.id(), 1);
    let mut from = Position(1);
    Log::new(store).walk_all(Position(1), &mut |at, event, _| {
        let genuine = event.is_ok_and(|event| event.check_genuine(Some(&sealer)).is_ok());
        if !genuine {
            from = Position(at.0 + 1);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(from)
}

/// Returns the store that was in this data folder last, by the seals.
fn sealed_here(data: &DataFolder) -> Option<StoreId> {
    let key = seal_key(data, &Clock::System).ok()?;
    SealFile::store_at(&data.seals, &key, place(&data.data))
}

/// Puts the seal of whatever store was in this folder out of the way.
///
/// # Errors
/// A message, when it cannot be renamed.
pub(super) fn put_aside_here(data: &DataFolder) -> Result<(), String> {
    sealed_here(data).map_or(Ok(()), |before| put_aside(data, before))
}

/// Puts a seal out of the way; it is kept under another name.
fn put_aside(data: &DataFolder, store: StoreId) -> Result<(), String> {
    let path = SealFile::path(&data.seals, store);
    std::fs::rename(&path, aside_of(&path)).map_err(text)
}

fn aside_of(path: &std::path::Path) -> PathBuf {
    path.with_extension("replaced")
}

/// Repairs a missing store whose head file or seal exists: only an empty store remains to be served.
fn repair_vanished(paths: &Paths, accept: bool) -> Outcome {
    let _lock = Lock::take(&paths.daemon_lock()).map_err(text)?;
    let data = folder(paths);
    let head = data.watermark_path();
    let recorded = WatermarkFile::peek(&head).map(|recorded| recorded.position);
    let store = data.store();
    match &recorded {
        Ok(position) => lore::outln!(
            "the store {} is gone; it held {position} events",
            store.display()
        ),
        Err(error) => lore::outln!("the store {} is gone, and {error}", store.display()),
    }
    if !accept {
        lore::outln!("Put it back, or run `lored repair --accept` to start again.");
        return Ok(false);
    }
    begin_followers_anew(&data)?;
    put_aside_here(&data)?;
    let mut kept = String::new();
    if head.exists() {
        let aside = head.with_extension(match recorded {
            Ok(position) => format!("of-{position}-events"),
            Err(_) => "broken".to_owned(),
        });
        std::fs::rename(&head, &aside).map_err(text)?;
        kept = format!("; the old head is kept as {}", aside.display());
    }
    lore::outln!("accepted: the next start continues from this log{kept}");
    Ok(true)
}

/// Deletes data derived from the log in separate files, because other events will get the lost positions.
fn begin_followers_anew(folder: &DataFolder) -> Result<(), String> {
    let removed = [
        std::fs::remove_dir_all(folder.index()),
        std::fs::remove_file(folder.followed()),
    ];
    let is_failure = |error: &std::io::Error| error.kind() != std::io::ErrorKind::NotFound;
    match removed.into_iter().filter_map(Result::err).find(is_failure) {
        Some(error) => Err(format!("what follows the log was not removed: {error}")),
        None => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Derived data is deleted; its absence is not an error.
    #[test]
    fn followers_begin_anew() {
        let dir = tempfile::tempdir().unwrap();
        let folder = DataFolder::new(dir.path(), dir.path().join("state"));
        begin_followers_anew(&folder).unwrap();
        std::fs::create_dir_all(folder.index().join("text")).unwrap();
        std::fs::write(folder.followed(), "7").unwrap();
        begin_followers_anew(&folder).unwrap();
        assert!(!folder.index().exists() && !folder.followed().exists());
        std::fs::write(folder.index(), "no folder").unwrap();
        assert!(begin_followers_anew(&folder).is_err());
    }
}
