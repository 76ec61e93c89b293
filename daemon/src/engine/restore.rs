//! A store built from a log that comes from elsewhere, before any thread runs.

use std::path::Path;

use super::{Fold, Settings, open, replay};
use crate::store::{Changes, Error, Store, StoreId};

/// Makes an empty store of this id in `dir`, and opens it.
///
/// # Errors
/// [`Error`] when a file call or the engine fails.
pub fn begin(
    dir: &Path,
    id: StoreId,
    fold: &dyn Fold,
    settings: &Settings,
) -> Result<Store, Error> {
    let spaces = open::keyspaces(fold);
    std::fs::create_dir_all(dir).map_err(Error::file("creating", dir))?;
    Store::build(dir, id, &spaces, &settings.store)?;
    let (store, _) = Store::open(dir, &spaces, &settings.store)?;
    Ok(store)
}

/// Writes rows and makes them durable.
///
/// # Errors
/// [`Error`] when the disk does not take them.
pub fn write(store: &Store, changes: Changes) -> Result<(), Error> {
    store.commit(&changes, true)?;
    store.sync()?;
    store.throttle();
    Ok(())
}

/// Folds every view from the log.
///
/// # Errors
/// [`Error`] when the log cannot be read or the store not be written.
pub fn fold(store: &Store, fold: &dyn Fold) -> Result<(), Error> {
    replay::catch_up(store, fold, |_, _| {})
}
