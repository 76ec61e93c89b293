//! Builds a store from an external log, before any thread runs.

use std::path::Path;

use super::{Fold, Settings, open, replay};
use crate::store::{Changes, Error, Store, StoreId};

/// Creates an empty store with this ID in `dir` and opens it.
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
pub fn write(store: &Store, changes: Changes) -> Result<(), Error> {
    store.commit(&changes, true)?;
    store.sync()?;
    store.throttle();
    Ok(())
}

/// Folds every view from the log.
pub fn fold(store: &Store, fold: &dyn Fold) -> Result<(), Error> {
    let skipped = replay::catch_up(store, fold, |_, _| {})?;
    match skipped.first {
        None => Ok(()),
        Some((_, why)) => Err(Error::corrupt("log", &[], why)),
    }
}
