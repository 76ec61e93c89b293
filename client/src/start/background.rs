//! Starts the daemon for a caller that does not wait for it.

use std::fs::TryLockError;
use std::time::Instant;

use super::{Backoff, StartError, StartedDaemon, check_place, open_lock};
use crate::connection::Error;
use crate::manager;
use crate::paths::{self, Paths, PlaceError};

/// Starts the daemon if none is running and `may_start` allows it. Waits only until the daemon holds its lock, so that no
/// other client starts a second one, and no longer than until `until`.
///
/// # Errors
/// When another client is starting it, it cannot be started, or it may not be started here.
pub fn begin(until: Instant, paths: &Paths, may_start: impl FnOnce() -> bool) -> Result<(), Error> {
    if manager::in_charge(paths).is_some() {
        return Ok(());
    }
    check_place(paths)?;
    paths::ensure_folder(&paths.data)?;
    let path = paths.spawn_lock();
    let spawning = open_lock(&path)?;
    match spawning.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(StartError::SpawnLock(0, path).into()),
        Err(TryLockError::Error(error)) => return Err(PlaceError::Io { path, error }.into()),
    }
    if manager::holder(&paths.daemon_lock())?.is_some() || !may_start() {
        return Ok(());
    }
    let mut started = StartedDaemon::spawn(paths)?;
    let mut pause = Backoff::default();
    while Instant::now() < until && manager::holder(&paths.daemon_lock())?.is_none() {
        started.check()?;
        pause.take();
    }
    started.leave();
    Ok(())
}
