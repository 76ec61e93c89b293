//! Puts damaged events that forgot something back in their places, so that what they forgot stays forgotten.

use super::DataFolder;
use crate::engine::{Fold, replay};
use crate::log::{LOG, Log, codec};
use crate::store::seal::ForgettingCopies;
use crate::store::{Error, RowsMut, Store, Transaction};

/// Replaces every damaged or missing event of the log that has a copy. The copies are removed once everything that they
/// forgot is erased, so there are few.
///
/// # Errors
/// When the log cannot be read or written.
pub(super) fn put_back(folder: &DataFolder, store: &Store, fold: &dyn Fold) -> Result<(), Error> {
    let Some(sealer) = store.shared_sealer() else {
        // Nothing shows that a copy is genuine.
        return Ok(());
    };
    let copies = ForgettingCopies::of(&folder.seals, store.id());
    let read = copies
        .read()
        .map_err(Error::file("reading", &folder.seals))?;
    let Some(end) = Log::new(store).last()?.map(|last| last.position()) else {
        return Ok(());
    };
    let mut tx = Transaction::new(store);
    let mut put_back = 0;
    for stored in &read {
        let Ok(copy) = codec::decode_event(stored) else {
            continue;
        };
        let at = copy.position();
        // A log that ends earlier is an older copy, which is refused.
        let is_whole =
            at > end || matches!(Log::new(&tx).at(at), Ok(Some(event)) if event.payload.is_some());
        if is_whole || copy.check_genuine(Some(&sealer)).is_err() {
            continue;
        }
        let (record, value) = Log::new(&tx).row_with(at, stored)?;
        tx.put(LOG, &record.to_bytes(), &value);
        put_back += 1;
        tracing::warn!(position = %at, "a damaged event that forgot something was put back from its copy");
    }
    if put_back > 0 {
        store.commit(&tx.into_changes(), true)?;
        store.sync()?;
        // They were folded without it.
        replay::clear(store, fold)?;
    }
    Ok(())
}
