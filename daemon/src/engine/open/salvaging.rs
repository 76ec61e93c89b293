//! Opens the engine, or what can be read of it: a damaged manifest or table must not keep the rest of the log from being
//! served.

use std::ops::ControlFlow;
use std::path::PathBuf;

use super::{DataFolder, OpenError, look};
use crate::clock::Clock;
use crate::engine::Settings;
use crate::log::{KEPT_ROWS, Log, Position};
use crate::store::recovery::{self, RecoveryError, RecoveryScan};
use crate::store::salvage::{Salvaged, salvage};
use crate::store::watermark::DurableHead;
use crate::store::{Error, Keyspace, Store, StoreId};

/// Opens the engine of a store. If its files are damaged, everything that can be read of the log is put into a new one,
/// and the views are folded again. Also returns what is missing then.
pub(super) fn open_or_salvage(
    folder: &DataFolder,
    id: StoreId,
    spaces: &[Keyspace],
    recorded: Option<DurableHead>,
    settings: &Settings,
    clock: &Clock,
) -> Result<(RecoveryScan, Store, Option<String>), OpenError> {
    let dir = folder.store();
    let open = || -> Result<_, OpenError> {
        let look = look(folder, recorded, clock)?;
        let (store, _) = Store::open(&dir, spaces, &settings.store)?;
        Ok((look, store))
    };
    let mark = unreadable(folder, id);
    if !mark.exists() {
        match open() {
            Ok((look, store)) => return Ok((look, store, None)),
            Err(error) if is_damage(&error) => {
                tracing::error!(%error, "the storage engine refuses its files");
            }
            Err(error) => return Err(error),
        }
    }
    salvage_now(folder, spaces, settings, clock)?;
    // If it stays, the next start does the same again.
    let _ = std::fs::remove_file(&mark);
    let (look, store) = open()?;
    let lost = gaps(&store)?;
    Ok((look, store, lost))
}

/// Puts everything that can be read of a damaged store into a new one.
///
/// # Errors
/// [`Error`]; the old store is unchanged.
pub fn salvage_now(
    folder: &DataFolder,
    spaces: &[Keyspace],
    settings: &Settings,
    clock: &Clock,
) -> Result<Salvaged, Error> {
    let kept = folder
        .damaged()
        .join(format!("store-{}", clock.now() / 1_000_000));
    let salvaged = salvage(&folder.store(), spaces, &KEPT_ROWS, &kept, &settings.store)?;
    tracing::warn!(
        rows = salvaged.rows,
        damaged_blocks = salvaged.damaged_blocks,
        kept = %salvaged.kept.display(),
        "what can be read of the damaged store was put into a new one"
    );
    Ok(salvaged)
}

/// Leaves a mark that the engine's files cannot be read, so that the next start reads them block by block.
///
/// # Errors
/// The system's error.
pub fn mark_unreadable(folder: &DataFolder, id: StoreId) -> std::io::Result<()> {
    std::fs::write(unreadable(folder, id), "")
}

fn unreadable(folder: &DataFolder, id: StoreId) -> PathBuf {
    folder.seals.join(format!("{id}.unreadable"))
}

pub(super) fn is_damage(error: &OpenError) -> bool {
    match error {
        OpenError::Store(error) | OpenError::Settle(RecoveryError::Store(error)) => {
            error.is_engine_damage()
        }
        OpenError::Recovery(error) => matches!(
            error,
            recovery::Error::NoStore(_)
                | recovery::Error::Version(_)
                | recovery::Error::Manifest(_)
                | recovery::Error::Table(_)
        ),
        _ => false,
    }
}

/// Describes the positions that the log lacks; `None` when it is whole.
fn gaps(store: &Store) -> Result<Option<String>, Error> {
    let mut expected = 1;
    let mut gaps = Vec::new();
    Log::new(store).walk_all(Position(1), &mut |at, _, _| {
        if at.0 > expected {
            gaps.push(format!("{expected} to {}", at.0 - 1));
        }
        expected = at.0 + 1;
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(match gaps.is_empty() {
        true => None,
        false => Some(format!(
            "files of the storage engine were damaged, and the positions {} could not be read",
            gaps.join(", ")
        )),
    })
}
